"""A serial arm to compute with: one position or many, parts of the torque, limits, and what is told of the wrong."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from arm_rig import G, arm, link, slider

from botz.errors import InputError
from botz.robots.arm_records import joined, mass_of, moved, transform
from botz.robots.serial_arm import PARTS, SerialArm
from botz.scenario.arm.schema import Body, PlacedArm
from botz.scenario.arm.world import Water
from botz.transforms import rotation_from_attitude


def made(data: dict[str, Any], **options: Any) -> SerialArm:
    return SerialArm(PlacedArm.model_validate(data), **options)


@pytest.fixture(scope="module")
def titan() -> SerialArm:
    return SerialArm.of("titan4")


@pytest.fixture(scope="module", params=["titan4", "puma560"])
def shipped(request: pytest.FixtureRequest) -> SerialArm:
    return SerialArm.of(request.param)


def states(own: SerialArm, count: int) -> np.ndarray:
    rng = np.random.default_rng(7)
    return np.clip(rng.uniform(-1.5, 1.5, (count, own.n)), own.lower, own.upper)


def test_one_and_many_give_the_same(shipped: SerialArm):
    q = states(shipped, 5)
    qd, qdd = 0.7 * q, -0.3 * q
    wrench = np.array([10.0, -20.0, 30.0, 1.0, 2.0, -3.0])
    calls: dict[str, Any] = {
        "forward": lambda at: shipped.forward(q[at]),
        "frames": lambda at: shipped.frames(q[at]),
        "jacobian": lambda at: shipped.jacobian(q[at]),
        "manipulability": lambda at: shipped.manipulability(q[at]),
        "torques": lambda at: shipped.torques(q[at], qd[at], qdd[at], wrench=wrench),
        "accelerations": lambda at: shipped.accelerations(q[at], qd[at], qdd[at], wrench=wrench),
        "inertia": lambda at: shipped.inertia(q[at]),
        "coriolis": lambda at: shipped.coriolis(q[at], qd[at]),
        "gravity": lambda at: shipped.gravity(q[at]),
        "energy": lambda at: shipped.energy(q[at], qd[at]),
    }
    for name, call in calls.items():
        many = call(slice(None))
        assert len(many) == 5, name
        for k in range(5):
            assert np.array_equal(call(k), many[k]), name


def test_forward_and_inverse_dynamics_undo_each_other(shipped: SerialArm):
    q = states(shipped, 20)
    rng = np.random.default_rng(3)
    qd, qdd, wrench = rng.normal(size=(2, 20, 6)).tolist()[0], rng.normal(size=(20, 6)), rng.normal(size=6) * 50
    torque = shipped.torques(q, qd, qdd, wrench=wrench)
    for method in ("composite-body", "newton-euler"):
        assert shipped.accelerations(q, qd, torque, wrench=wrench, method=method) == pytest.approx(qdd, abs=1e-8)


def test_the_torques_are_the_sum_of_their_parts():
    water = Water(density=1025.0, current=[0.3, -0.2, 0.1])
    own = SerialArm.of("titan4", water=water)
    q = states(own, 4)
    qd, qdd = 0.5 * q, -q
    parts = own.parts(q, qd, qdd)
    assert tuple(parts) == PARTS
    assert sum(parts.values()) == pytest.approx(own.torques(q, qd, qdd), rel=1e-11, abs=1e-9)
    assert parts["inertial"] == pytest.approx(np.einsum("kij,kj->ki", own.inertia(q), qdd), abs=1e-9)
    assert parts["coriolis"] == pytest.approx(np.einsum("kij,kj->ki", own.coriolis(q, qd), qd), abs=1e-9)
    assert np.abs(parts["drag"]).max() > 0.1
    dry = SerialArm.of("titan4").parts(q, qd, qdd)
    assert not dry["drag"].any() and np.abs(dry["gravity"] - parts["gravity"]).max() > 1.0
    again = own.parts(q, qd, qdd)
    assert all(again[name].tobytes() == parts[name].tobytes() for name in PARTS), "the current is there afterwards"


def test_a_wrench_at_the_tool_is_held_by_the_transposed_jacobian(shipped: SerialArm):
    q, zero = states(shipped, 1)[0], np.zeros(6)
    wrench = np.array([100.0, -50.0, 20.0, 5.0, -6.0, 7.0])
    carried = shipped.torques(q, zero, zero, wrench=wrench) - shipped.torques(q, zero, zero)
    assert carried == pytest.approx(-shipped.jacobian(q).T @ wrench, abs=1e-9)


def test_a_base_that_is_moved_and_turned():
    pose = [1.0, 2.0, 3.0, 0.3, -0.4, 2.0]
    upright, placed = made({**arm(3), "pose": [0.0] * 6}), made({**arm(3), "pose": pose})
    q = np.array([0.3, -0.4, 0.5])
    assert placed.forward(q) == pytest.approx(transform(pose) @ upright.forward(q), abs=1e-14)
    turn = rotation_from_attitude(*pose[3:])
    assert placed.jacobian(q)[:3] == pytest.approx(turn @ upright.jacobian(q)[:3], abs=1e-14)
    assert placed.inertia(q) == pytest.approx(upright.inertia(q), abs=1e-14)
    side = made({**arm(3), "pose": [0.0] * 6}, gravity=(turn.T @ [0, 0, -G]).tolist())
    assert placed.gravity(q) == pytest.approx(side.gravity(q), abs=1e-12)


def test_a_payload_is_a_part_of_the_last_link():
    payload = {"mass": 2.0, "centre": [0.1, 0.0, 0.0], "inertia": [0.01, 0.02, 0.02]}
    tool = {"position": [0.2, 0.0, 0.0]}
    own = made({**arm(1), "payload": payload, "tool": tool})
    # A bar of 2 kg about its end, and 2 kg at 0.5 + 0.2 + 0.1 m.
    assert own.inertia([0.0])[0] == pytest.approx([0.042 + 2.0 * 0.0625 + 0.02 + 2.0 * 0.64])
    assert own.gravity([0.0]) == pytest.approx([G * (2.0 * 0.25 + 2.0 * 0.8)])
    without = made({**arm(1), "payload": payload, "tool": tool}, payload=False)
    assert without.gravity([0.0]) == pytest.approx([G * 0.5])
    half = made({**arm(1), "payload": payload, "tool": tool}, scale=0.5)
    assert half.gravity([0.0]) == pytest.approx(0.5 * own.gravity([0.0]))


def test_bodies_joined_turned_and_moved():
    one = mass_of(Body(mass=2.0, centre=[0.1, 0.0, 0.0], inertia=[0.1, 0.2, 0.25, 0.01, 0.02, 0.03]))
    assert one[2][0, 1] == 0.01 and one[2][1, 2] == 0.03 and np.array_equal(one[2], one[2].T)
    mass, centre, inertia = joined(one, one)
    assert mass == 4.0 and centre == pytest.approx(one[1]) and inertia == pytest.approx(2 * one[2])
    nothing = mass_of(Body())
    assert joined(nothing, nothing)[0] == 0.0
    pose = transform([1.0, 2.0, 3.0, 0.0, 0.0, np.pi / 2])
    turned = moved(one, pose)
    assert turned[1] == pytest.approx([1.0, 2.1, 3.0]) and np.diag(turned[2]) == pytest.approx([0.2, 0.1, 0.25])


def test_kinetic_energy_is_that_of_the_inertia_matrix(shipped: SerialArm):
    q = states(shipped, 3)
    qd = 0.4 * q
    expected = 0.5 * np.einsum("ki,kij,kj->k", qd, shipped.inertia(q), qd)
    assert shipped.energy(q, qd)[:, 0] == pytest.approx(expected, rel=1e-12)


def test_manipulability_is_the_root_of_the_determinant(shipped: SerialArm):
    q = states(shipped, 5)
    expected = [np.sqrt(np.linalg.det(j @ j.T)) for j in shipped.jacobian(q)]
    assert shipped.manipulability(q) == pytest.approx(expected, rel=1e-9)
    two = made(arm(2))
    j = two.jacobian([0.3, 0.4])
    assert two.manipulability([0.3, 0.4]) == pytest.approx(np.sqrt(np.linalg.det(j.T @ j)))


def test_singular_directions_of_the_shipped_arms(titan: SerialArm):
    assert titan.singular_directions([0.3, 0.5, -0.8, 0.4, 0.3, 0.2]).shape == (6, 0)
    (count,) = titan.singular_directions([0.3, 0.5, -0.8, 0.4, np.pi / 2, 0.2]).shape[1:]
    assert count >= 1
    assert titan.manipulability([0.3, 0.5, -0.8, 0.4, np.pi / 2, 0.2]) < 1e-7
    assert made(arm(2)).singular_directions([0.3, 0.4]).shape == (6, 4), "two joints leave four"


@pytest.mark.parametrize("q", [[0.3, 0.4, -0.5, 0.2, np.pi / 2, 0.1], [0.2, 0.3, 0.0, 0.0, np.pi / 2, 0.0]])
def test_directions_that_are_lost_are_at_right_angles_to_all_motions(titan: SerialArm, q: list[float]):
    found = titan.singular_directions(q)
    assert found.shape[1] >= 1
    assert np.abs(found.T @ titan.jacobian(q)).max() < 1e-9
    assert np.linalg.norm(found, axis=0) == pytest.approx(1.0)


def test_limits_ranges_and_their_middle():
    joints = {"a": link(range=[-1.0, 3.0], speed=2.0, acceleration=5.0), "b": link(speed=1.5), "c": link()}
    own = made({"joints": joints})
    assert own.lower.tolist() == [-1.0, -np.inf, -np.inf] and own.upper.tolist() == [3.0, np.inf, np.inf]
    assert own.middle.tolist() == [1.0, 0.0, 0.0]
    assert own.speed.tolist() == [2.0, 1.5, np.inf] and own.acceleration.tolist() == [5.0, 3.0, np.inf]
    assert own.within([3.0, 99.0, -99.0]) and not own.within([3.001, 0.0, 0.0]) and own.within([3.001, 0, 0], 0.01)
    assert own.within(np.array([[0.0, 0, 0], [-2.0, 0, 0]])).tolist() == [True, False]


def test_a_slider_is_a_metre_for_a_metre():
    own = made(slider("x"))
    assert own.forward([0.7])[:3, 3] == pytest.approx([0.7, 0.0, 0.0])
    assert own.jacobian([0.7])[:, 0] == pytest.approx([1.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    assert own.inertia([0.7]).tolist() == [[2.0]] and own.gravity([0.7]) == pytest.approx([0.0], abs=1e-12)


def test_right_angles_of_a_table_are_exact(titan: SerialArm):
    assert titan.links["ca"].tolist() == [0.0, 1.0, 1.0, 0.0, 0.0, 1.0]
    assert titan.links["sa"].tolist() == [1.0, 0.0, 0.0, -1.0, -1.0, 0.0]


def test_no_positions_give_nothing(titan: SerialArm):
    none = np.zeros((0, 6))
    assert titan.forward(none).shape == (0, 4, 4) and titan.torques(none, none, none).shape == (0, 6)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda own: own.forward(np.zeros(5)), "needs 6 joint variables, or an array (…, 6), not (5,)"),
        (lambda own: own.jacobian(np.zeros((2, 2, 5))), "or an array (…, 6), not (2, 2, 5)"),
        (lambda own: own.torques(np.zeros(6), np.zeros(5), np.zeros(6)), "qd: has the shape (5,)"),
        (lambda own: own.accelerations(np.zeros(6), np.zeros(6), np.zeros((3, 2))), "torque: has the shape (3, 2)"),
        (
            lambda own: own.torques(*[np.zeros(6)] * 3, wrench=[1, 2, 3]),
            "wrench: needs a force and a moment, 6 numbers",
        ),
        (lambda own: own.torques(*[np.zeros((2, 6))] * 3, wrench=np.zeros((3, 6))), "wrench: needs"),
        (lambda own: own.torques(*[np.zeros(6)] * 3, wrench="up"), "wrench: needs numbers, not 'up'"),
        (lambda own: own.forward("abc"), "q: needs numbers, not 'abc'"),
        (lambda own: own.forward([[0.0] * 6, [0.0] * 5]), "q: needs numbers"),
        (lambda own: own.within(np.zeros(5)), "needs 6 joint variables, or an array (…, 6), not (5,)"),
        (lambda own: own.singular_directions(np.zeros((3, 6))), "q: one position at a time"),
        (lambda own: own.accelerations(*[np.zeros(6)] * 3, method="newton"), "method: unknown method 'newton'"),
        (lambda own: own.inverse(np.eye(4), cost="nearst"), "cost: unknown cost 'nearst'; did you mean 'nearest'?"),
        (lambda own: own.inverse("here"), "pose: needs numbers, not 'here'"),
        (lambda own: own.inverse(np.eye(3)), "pose: needs a pose (4, 4), or an array (…, 4, 4), not (3, 3)"),
        (lambda own: own.inverse(np.full((4, 4), np.nan)), "pose: needs finite numbers"),
        (lambda own: own.inverse(2.0 * np.eye(4)), "pose: pose is not a rigid transformation"),
        (lambda own: own.inverse(np.eye(4), present=np.zeros(5)), "present: needs 6 numbers"),
        (lambda own: own.inverse(np.eye(4), weights=[-1.0] * 6), "weights: none can be negative"),
        (lambda own: SerialArm.of("titn4"), "did you mean 'titan4'?"),
        (lambda own: SerialArm.of("vivi"), "'vivi' is a robot of engine 'vehicle', not an arm"),
    ],
)
def test_wrong_arguments_are_told(titan: SerialArm, call: Any, says: str):
    with pytest.raises(InputError) as caught:
        call(titan)
    assert says in str(caught.value)


def test_an_arm_that_moves_nothing_has_no_accelerations():
    robot = arm(2)
    robot["joints"]["j2"] = {"a": 0.5}
    own = made(robot)
    assert np.isfinite(own.torques([0.1, 0.2], [0.0, 0.0], [1.0, 1.0])).all()
    with pytest.raises(InputError, match="some joint moves nothing that has mass"):
        own.accelerations([0.1, 0.2], [0.0, 0.0], [1.0, 1.0])
