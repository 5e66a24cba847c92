"""Boxes that stand on, lean on and run into each other in engine `arm`: stacks, edges, beams, drops and collisions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from arm_rig import G, Rig, slider
from test_arm_contacts import FLOOR, far, thing

from botz.engines.arm.boxes import PATCH, Body, face_between, patch_points, press_boxes
from botz.engines.arm.model import axes_of_all

METHODS = pytest.mark.parametrize("method", ["rk4", "semi-implicit"])
TABLE = {"boxes": {"table": {"size": [0.4, 0.4, 0.1], "pose": [0.0, 0.0, 0.05, 0.0, 0.0, 0.0]}}}
"""Its top is at 0.1 m, its edge at x = 0.2 m."""
SOFT = {"contact": {"stiffness": 4e4}}
"""For stacks in single steps of a millisecond, by either method."""
FREE = {"gravity": [0.0, 0.0, 0.0]}


def stack(masses: list[float], shift: float, **world: Any) -> dict[str, Any]:
    """Cubes of 10 cm on the floor, every second one put aside by `shift`."""
    places = [[shift * (k % 2), shift * (k % 2), 0.05 + 0.1 * k, 0.0, 0.0, 0.0] for k in range(len(masses))]
    objects = {
        f"b{k}": thing(mass=mass, pose=place) for k, (mass, place) in enumerate(zip(masses, places, strict=True))
    }
    return {**FLOOR, "objects": objects, **world}


def fastest(rig: Rig) -> float:
    """Of all objects [m/s, rad/s]."""
    return float(np.abs(rig.engine.state.poses[:, 7:]).max())


def stiffness(rig: Rig) -> float:
    return float(rig.engine.model.world[0].stiffness)


def sunk(rig: Rig, masses: list[float]) -> np.ndarray:
    """Each box stands on four points of those below it, which carry all that is above them."""
    carried = np.cumsum(masses[::-1])[::-1]
    return np.cumsum(carried * G / (4.0 * stiffness(rig)))


# --- standing ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [2, 5])
@pytest.mark.parametrize("shift", [0.0, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3])
@METHODS
def test_equal_cubes_stand_on_each_other(count: int, shift: float, method: str):
    masses = [5.0] * count
    world = SOFT if method == "semi-implicit" else {}
    rig = Rig(far(), stack(masses, shift, **world), method=method)
    start = rig.engine.state.poses.copy()
    rig.seconds(4.0 if world else 2.0)  # a softer stack sways longer
    poses = rig.engine.state.poses
    assert fastest(rig) < 1e-3
    assert poses[:, 2] == pytest.approx(start[:, 2] - sunk(rig, masses), abs=3e-5), "each as deep as what it carries"
    assert poses[:, :2] == pytest.approx(start[:, :2], abs=0.2 * shift + 1e-9)


@pytest.mark.parametrize("shift", [0.0, 2e-3])
@pytest.mark.parametrize("masses", [[50.0, 1.0], [1.0, 50.0]])
def test_heavy_on_light_and_light_on_heavy(masses: list[float], shift: float):
    rig = Rig(far(), stack(masses, shift)).seconds(15.0)
    poses = rig.engine.state.poses
    assert fastest(rig) < 1e-3
    assert poses[:, 2] == pytest.approx(np.array([0.05, 0.15]) - sunk(rig, masses), abs=2e-4)
    # Pressed in by 5 mm, the light one leans under a weight that is aside.
    assert poses[:, :2] == pytest.approx(np.array([[0.0, 0.0], [shift, shift]]), abs=shift + 1e-9)


@pytest.mark.parametrize(
    ("x", "y", "method"),
    [
        (0.15, 0.0, "rk4"),
        (0.15, 0.0, "semi-implicit"),
        (0.15 + 1e-9, 0.0, "rk4"),
        (-0.15, 0.1, "rk4"),
        (-0.15, 0.1, "semi-implicit"),
        (0.15, 0.15, "rk4"),
    ],
)
def test_a_cube_stands_flush_with_the_edge_of_a_table(x: float, y: float, method: str):
    world = {**TABLE, **SOFT, "objects": {"box": thing(pose=[x, y, 0.15, 0.0, 0.0, 0.0])}}
    rig = Rig(far(), world, method=method).seconds(2.0)
    assert rig["box/pose"] == pytest.approx([x, y, 0.15 - 5.0 * G / (4 * 4e4), 1.0, 0.0, 0.0, 0.0], abs=1e-4)
    assert fastest(rig) < 1e-3


@METHODS
@pytest.mark.parametrize("yaw", [0.0, 0.3])
@pytest.mark.parametrize(("over", "stands"), [(-0.02, True), (-0.005, True), (0.005, False), (0.02, False)])
def test_a_cube_falls_once_its_middle_is_over_the_edge(over: float, stands: bool, yaw: float, method: str):
    world = {**TABLE, "objects": {"box": thing(pose=[0.2 + over, 0.0, 0.15, 0.0, 0.0, yaw])}}
    rig = Rig(far(), world, method=method).seconds(1.5)
    if stands:
        assert rig["box/pose"][:3] == pytest.approx([0.2 + over, 0.0, 0.15], abs=1e-3) and fastest(rig) < 1e-3
    else:
        assert rig["box/pose"][2] < 0.0


@METHODS
@pytest.mark.parametrize("yaw", [0.0, 0.4, np.pi / 2 - 0.4])
def test_a_plank_lies_across_a_narrow_beam(yaw: float, method: str):
    """No corner of either is on the other: the patch is where their edges cross."""
    world = {"boxes": {"beam": {"size": [0.05, 1.0, 0.05], "pose": [0.0] * 6}}}
    plank = thing(size=[1.0, 0.1, 0.05], pose=[0.0, 0.0, 0.05, 0.0, 0.0, yaw])
    rig = Rig(far(), {**world, "objects": {"plank": plank}}, method=method).seconds(1.0)
    expected = [0.0, 0.0, 0.05 - 5.0 * G / (4 * stiffness(rig)), np.cos(yaw / 2), 0.0, 0.0, np.sin(yaw / 2)]
    assert rig["plank/pose"] == pytest.approx(expected, abs=1e-6) and fastest(rig) < 1e-9


def test_a_plank_whose_middle_is_beside_the_beam_tips_over():
    world = {"boxes": {"beam": {"size": [0.05, 1.0, 0.05], "pose": [0.0] * 6}}}
    plank = thing(size=[1.0, 0.1, 0.05], pose=[0.035, 0.0, 0.05, 0.0, 0.0, 0.0])
    rig = Rig(far(), {**world, "objects": {"plank": plank}}).seconds(1.0)
    assert rig["plank/pose"][2] < 0.02


@pytest.mark.parametrize("friction", [0.8, 0.3])
def test_friction_between_boxes_holds_up_to_its_angle(friction: float):
    """A cube on a board of 25°, tan = 0.466: it stays, or slides with g (sin − μ cos)."""
    slope = np.radians(25.0)
    up = np.array([0.0, -np.sin(slope), np.cos(slope)])
    board = {"size": [1.0, 4.0, 0.1], "pose": [0.0, 0.0, 0.0, slope, 0.0, 0.0], "friction": friction}
    cube = thing(size=[0.2, 0.2, 0.05], pose=[*(0.075 * up), slope, 0.0, 0.0], friction=friction)
    rig = Rig(far(), {"boxes": {"board": board}, "objects": {"cube": cube}}).seconds(1.0)
    way = np.linalg.norm(rig["cube/pose"][:3] - 0.075 * up)
    if friction > np.tan(slope):
        assert way < 1e-3
    else:
        assert way == pytest.approx(0.5 * G * (np.sin(slope) - friction * np.cos(slope)), rel=0.03)


# --- coming to rest ------------------------------------------------------------------------------------------------


def mechanical(rig: Rig) -> float:
    """Energy of cubes of 10 cm without that of the springs [J]."""
    poses = rig.engine.state.poses
    boxes = rig.engine.model.boxes[-len(poses) :]
    moving = 0.5 * boxes["mass"] @ (poses[:, 7:10] ** 2).sum(axis=1) + 0.5 * boxes["ixx"] @ (poses[:, 10:] ** 2).sum(
        axis=1
    )
    return float(moving + G * boxes["mass"] @ poses[:, 2])


@METHODS
@pytest.mark.parametrize("ground", [FLOOR, {"boxes": {"slab": {"size": [2, 2, 0.2], "pose": [0, 0, -0.1, 0, 0, 0]}}}])
@pytest.mark.parametrize("attitude", [(0.3, 0.2, 0.1), (0.78, 0.0, 0.5), (0.6, 0.6, 0.0), (-0.9, 0.4, 1.0)])
def test_a_cube_dropped_tilted_comes_to_rest_and_never_gains(
    attitude: tuple[float, ...], ground: dict[str, Any], method: str
):
    rig = Rig(far(), {**ground, "objects": {"box": thing(pose=[0.0, 0.0, 0.3, *attitude])}}, method=method)
    start = 5.0 * G * 0.3
    most = 0.0
    for _ in range(600):
        rig.steps(5)
        most = max(most, mechanical(rig))
    assert most <= start * (1.0 + 1e-12)
    assert rig["box/pose"][2] == pytest.approx(0.05, abs=5e-4) and fastest(rig) < 1e-6


def test_a_cube_dropped_on_another_loses_and_comes_to_rest():
    world = {**FLOOR, "objects": {"low": thing(), "top": thing(pose=[0.01, 0.005, 0.25, 0.05, 0.03, 0.3])}}
    rig = Rig(far(), world)
    start, most = mechanical(rig), 0.0
    for _ in range(400):
        rig.steps(10)
        most = max(most, mechanical(rig))
    assert most <= start * (1.0 + 1e-12)
    assert fastest(rig) < 1e-3 and rig["top/pose"][2] == pytest.approx(0.15, abs=2e-3)


# --- pushing and colliding -----------------------------------------------------------------------------------------


def test_two_cubes_side_by_side_are_pushed_as_one():
    """The ball pushes the first, the first the second: in the end with the friction of both."""
    pusher = slider("x", joint={"mass": 20.0}, start=[-0.2], servo={"frequency": 50.0})
    pusher["pose"] = [0.0, 0.0, 0.03, 0.0, np.pi / 2, 0.0]
    pusher["tool"] = {"points": [[0.0, 0.0, 0.0]], "radius": 0.015, "friction": 0.0}
    world = {
        "planes": {"floor": {"friction": 0.3}},
        "objects": {
            "one_box": thing(friction=0.3),
            "other_box": thing(friction=0.3, pose=[0.1, 0.0, 0.05, 0.0, 0.0, 0.0]),
        },
    }
    rig = Rig({"one": pusher}, world).command(position=[-0.2], speed=[0.1]).seconds(3.0)
    assert rig["one_box/twist"][0] == pytest.approx(0.1, rel=1e-3)
    assert rig["other_box/twist"][0] == pytest.approx(0.1, rel=1e-3)
    assert rig["other_box/pose"][0] - rig["one_box/pose"][0] == pytest.approx(0.1, abs=5e-4)
    assert rig["one/tool/wrench"][0] == pytest.approx(-0.3 * 10.0 * G, rel=0.02)
    for name in ("one_box", "other_box"):
        assert rig[f"{name}/pose"][1:3] == pytest.approx([0.0, 0.05], abs=5e-4)


def momenta(rig: Rig) -> tuple[np.ndarray, np.ndarray]:
    boxes, poses = rig.engine.model.boxes, rig.engine.state.poses
    linear, angular = np.zeros(3), np.zeros(3)
    for box, pose, axes in zip(boxes, poses, axes_of_all(poses), strict=True):
        linear += box.mass * pose[7:10]
        spin = np.array([box.ixx, box.iyy, box.izz]) * pose[10:13]
        angular += box.mass * np.cross(pose[:3], pose[7:10]) + axes.reshape(3, 3).T @ spin
    return linear, angular


@METHODS
@pytest.mark.parametrize("aside", [0.0, 0.03, 0.08])
def test_a_collision_keeps_momentum_and_loses_energy(aside: float, method: str):
    objects = {"a": thing(pose=[0.0] * 6), "b": thing(mass=2.0, pose=[0.3, aside, 0.02, 0.4, 0.3, 0.2])}
    rig = Rig(far(), {**FREE, "objects": objects}, method=method)
    poses = rig.engine.state.poses
    poses[0, 7], poses[1, 7], poses[1, 10:] = 1.0, -0.5, [1.0, 2.0, 3.0]
    energy = mechanical(rig) - G * rig.engine.model.boxes["mass"] @ poses[:, 2]
    linear, angular = momenta(rig)
    rig.steps(600)
    after, turning = momenta(rig)
    assert poses[0, 7] < 0.9, "they met"
    assert after == pytest.approx(linear, abs=1e-9)
    # Runge and Kutta's method turns the axes with an error of its own.
    assert turning == pytest.approx(angular, abs=1e-6)
    assert mechanical(rig) - G * rig.engine.model.boxes["mass"] @ poses[:, 2] < energy


def test_a_stack_pulled_apart_forgets_its_friction():
    """A box that comes back sticks anew, whatever it stuck to before."""
    world = {**FREE, "objects": {"low": thing(mass=50.0), "top": thing(pose=[0.0, 0.0, 0.1499, 0.0, 0.0, 0.0])}}
    rig = Rig(far(), world)
    poses, bristles = rig.engine.state.poses, rig.engine.state.bristles
    poses[1, 2], poses[1, 7] = 0.1499, 0.3
    rig.steps(3)
    assert np.abs(bristles).max() > 1e-5
    for height in (0.1501, 0.5):
        poses[1, :3], poses[1, 7:] = [0.0, 0.0, height], 0.0
        poses[0, 7:] = 0.0
        rig.steps(1)
        assert not bristles.any()


# --- the patch itself ----------------------------------------------------------------------------------------------


def pair(size: list[float], pose: list[float], other: list[float], place: list[float]) -> tuple[Body, Body]:
    """Two boxes, put where they like: the check of where objects begin is not asked."""
    objects = {"a": thing(size=size, pose=[0.0] * 6), "b": thing(size=other, pose=[9.0, 0.0, 0.0, *place[3:]])}
    engine = Rig(far(), {**FREE, "objects": objects}).engine
    boxes, poses = engine.model.boxes, engine.state.poses
    poses[0, :3], poses[1, :3] = pose[:3], place[:3]
    axes = axes_of_all(poses)
    return Body(boxes[0], poses[0], axes[0], np.zeros(6)), Body(boxes[1], poses[1], axes[1], np.zeros(6))


def met(one: Body, other: Body) -> tuple[np.ndarray, np.ndarray]:
    """Points (x, y, z, depth) of the patch that press, and its normal."""
    patch = np.full((2 * PATCH, 6), np.nan)
    count, *normal = patch_points(one, other, patch)
    found = patch[:count]
    assert len(set(found[:, 4])) == count, "each has a place of its own"
    return found[found[:, 3] > 0.0][:, :4], np.array(normal)


CUBE = [0.1, 0.1, 0.1]
TOP = [0.0, 0.0, 0.0999, 0.0, 0.0, 0.0]


@pytest.mark.parametrize(
    ("place", "corners"),
    [
        (TOP, [(x, y) for x in (-0.05, 0.05) for y in (-0.05, 0.05)]),
        ([0.06, *TOP[1:]], [(x, y) for x in (0.01, 0.05) for y in (-0.05, 0.05)]),
        ([0.06, 0.02, *TOP[2:]], [(x, y) for x in (0.01, 0.05) for y in (-0.03, 0.05)]),
        ([-0.06, 0.02, *TOP[2:]], [(x, y) for x in (-0.05, -0.01) for y in (-0.03, 0.05)]),
        ([1e-4, 1e-4, *TOP[2:]], [(x, y) for x in (-0.0499, 0.05) for y in (-0.0499, 0.05)]),
    ],
)
def test_the_patch_of_two_faces_is_where_they_overlap(place: list[float], corners: list[tuple[float, float]]):
    points, normal = met(*pair(CUBE, [0.0] * 6, CUBE, place))
    assert normal.tolist() == [0.0, 0.0, 1.0]
    found = {(round(x, 9), round(y, 9)) for x, y, _, _ in points}
    assert found == {(round(x, 9), round(y, 9)) for x, y in corners}
    assert points[:, 3] == pytest.approx(1e-4, abs=1e-12)


def test_the_patch_of_two_crossed_boards_is_four_crossings():
    points, normal = met(*pair([1.0, 0.1, 0.1], [0.0] * 6, [0.2, 1.0, 0.1], TOP))
    assert normal.tolist() == [0.0, 0.0, 1.0]
    assert {(round(x, 9), round(y, 9)) for x, y, _, _ in points} == {(x, y) for x in (-0.1, 0.1) for y in (-0.05, 0.05)}


def test_cubes_turned_by_45_degrees_meet_in_an_octagon():
    points, _ = met(*pair(CUBE, [0.0] * 6, CUBE, [*TOP[:5], np.pi / 4]))
    assert len(points) == 8
    assert np.linalg.norm(points[:, :2], axis=1) == pytest.approx(0.05 * np.hypot(1.0, np.sqrt(2.0) - 1.0))


@pytest.mark.parametrize("place", [[0.0, 0.0, 0.1001, 0, 0, 0], [0.09, 0.09, 0.11, 0, 0, 0], [0.13, 0, 0, 0, 0, 0.78]])
def test_boxes_that_are_apart_do_not_meet(place: list[float]):
    points, _ = met(*pair(CUBE, [0.0] * 6, CUBE, place))
    assert not len(points)


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_the_normal_is_from_the_first_to_the_second(axis: int, sign: float):
    place = np.zeros(6)
    place[axis] = 0.0999 * sign
    one, other = pair(CUBE, [0.0] * 6, CUBE, place.tolist())
    points, normal = met(one, other)
    assert normal == pytest.approx(sign * np.eye(3)[axis]) and len(points) >= 4
    overlap, *_ = face_between(one, other, *(other.pose[:3] - one.pose[:3]))
    assert overlap == pytest.approx(1e-4)


def pressed(one: Body, other: Body, dt: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    press_boxes(one, other, 1e5, 200.0, dt, np.full((2 * PATCH, 6), np.nan), np.full((PATCH, 3), 1e-5))
    return one.load, other.load


def test_forces_between_boxes_are_equal_and_opposite():
    """Also their moments, about one point."""
    rng = np.random.default_rng(8)
    touched = 0
    for _ in range(200):
        attitude = rng.uniform(-3.0, 3.0, 3)
        place = [*rng.uniform(-0.1, 0.1, 3), *attitude]
        bodies = pair([0.1, 0.2, 0.15], [0.0] * 6, [0.12, 0.1, 0.05], place)
        for body in bodies:
            body.pose[7:] = rng.normal(size=6)
        one, other = pressed(*bodies, dt=float(rng.choice([0.0, 1e-3])))
        moments = [body.load[3:] + np.cross(body.pose[:3], body.load[:3]) for body in bodies]
        assert one[:3] == pytest.approx(-other[:3], abs=1e-9 * (1.0 + np.abs(one).max()))
        assert moments[0] == pytest.approx(-moments[1], abs=1e-9 * (1.0 + np.abs(moments[0]).max()))
        touched += bool(one.any())
    assert touched > 100


@pytest.mark.parametrize("yaw", [0.0, 0.3, np.pi / 4])
def test_a_patch_is_as_stiff_as_four_points_however_many_it_has(yaw: float):
    _, load = pressed(*pair(CUBE, [0.0] * 6, CUBE, [*TOP[:5], yaw]))
    assert load[2] == pytest.approx(4 * 1e5 * 1e-4, rel=1e-6)
