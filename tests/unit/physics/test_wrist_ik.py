"""All inverse-kinematic solutions of arms whose last three axes meet: the PUMA 560 and others, regular and singular.

Also runs with NUMBA_DISABLE_JIT=1.
"""

from __future__ import annotations

from math import atan2, pi
from typing import Any

import numpy as np
import pytest
from numba import config

from botz.physics.ik import choice
from botz.physics.ik.wrist import angle_of, fits, regular, wrist_solutions
from botz.physics.ik.wrist_angles import share_turn
from botz.physics.ik.wrist_centre import polished, wrist_frame
from botz.robots.arm_inverse import solver_of
from botz.robots.serial_arm import SerialArm
from botz.scenario.arm.schema import Arm

POSES = 3 if config.DISABLE_JIT else 60
UPPER, OFFSET, SHIFT, FOREARM = 0.4318, 0.0203, 0.15005, 0.4318
STRAIGHT = -float(np.arctan2(FOREARM, OFFSET))
"""θ₃ of the PUMA with its elbow straight."""


def made(*rows: dict[str, Any]) -> SerialArm:
    joints = {f"joint{k}": {"mass": 1.0, **row} for k, row in enumerate(rows, start=1)}
    return SerialArm(Arm.model_validate({"engine": "arm", "joints": joints}))


def general_arm(rng: np.random.Generator, **rows: dict[str, float]) -> SerialArm:
    """Any lengths, twists and offsets, the wrist's axes through a point; `joint1={...}` and so on in place of them."""
    found = []
    for k in range(1, 7):
        row = dict(zip(("a", "d", "theta", "alpha"), rng.uniform(-1, 1, 4) * [0.5, 0.5, 3.0, 3.0], strict=True))
        if k in (4, 5):
            row |= {"a": 0.0, "alpha": pi / 2 if k == 4 else -pi / 2}
        if k == 5:
            row["d"] = 0.0
        found.append(row | rows.get(f"joint{k}", {}))
    return made(*found)


def apart(one: np.ndarray, other: np.ndarray) -> float:
    return float(np.abs((one - other + pi) % (2 * pi) - pi).max())


def check(arm: SerialArm, q: Any, *, present: Any = None, limits: bool = False, tolerance: float = 1e-9):
    """Every solution reproduces the pose, none is there twice."""
    pose = arm.forward(q)
    found = arm.inverse(pose, present=present, limits=limits)
    assert found.status == "solved"
    assert np.abs(arm.forward(found.joints) - pose).max() < tolerance
    for k, joints in enumerate(found.joints):
        assert all(apart(joints, other) > 1e-6 for other in found.joints[:k])
    return found


def check_stays(arm: SerialArm, q: Any, tolerance: float = 1e-6):
    """And of an arm that is there, the nearest solution is to stay."""
    found = check(arm, q, present=q)
    assert np.abs(found.best - q).max() < tolerance
    return found


@pytest.fixture(scope="module")
def puma() -> SerialArm:
    return SerialArm.of("puma560")


@pytest.fixture(scope="module")
def plain() -> SerialArm:
    """A PUMA without offsets and with equal links: its wrist reaches the axes of joints 1 and 2."""
    return made({"alpha": pi / 2}, {"a": 0.4}, {"alpha": -pi / 2}, {"alpha": pi / 2, "d": 0.4}, {"alpha": -pi / 2}, {})


def inside(arm: SerialArm, rng: np.random.Generator) -> np.ndarray:
    low, high = np.where(np.isfinite(arm.lower), arm.lower, -3.0), np.where(np.isfinite(arm.upper), arm.upper, 3.0)
    return rng.uniform(low, high)


# --- which arms ----------------------------------------------------------------------------------------------


def test_the_puma_fits_and_the_titan_does_not(puma: SerialArm):
    assert solver_of(puma.links).kind == "wrist"
    assert not fits(SerialArm.of("titan4").links)


@pytest.mark.parametrize(("row", "change"), [(3, {"a": 0.01}), (4, {"d": 0.01}), (4, {"a": 0.01}), (3, {"sa": 0.0})])
def test_axes_that_do_not_meet_do_not_fit(puma: SerialArm, row: int, change: dict[str, float]):
    links = puma.links.copy()
    for name, value in change.items():
        links[name][row] = value
    assert not fits(links)


def test_three_parallel_axes_that_cannot_lift_the_wrist_do_not_fit(puma: SerialArm):
    links = puma.links.copy()
    links["sa"][0], links["ca"][0] = 0.0, 1.0
    assert not fits(links)
    assert not fits(puma.links[:5])


# --- regular poses -------------------------------------------------------------------------------------------


def test_a_pose_of_the_puma_has_eight_solutions_one_of_each_branch(puma: SerialArm):
    q = np.array([0.3, 0.8, -0.4, 0.5, 0.6, 0.7])
    found = check_stays(puma, q, tolerance=1e-9)
    assert sorted(found.codes) == list(range(8))
    assert found.singular == ()


def test_branches_mean_what_they_say(puma: SerialArm):
    found = check(puma, [0.3, 0.8, -0.4, 0.5, 0.6, 0.7])
    for joints, code in zip(found.joints, found.codes, strict=True):
        frames = puma.frames(joints)
        shoulder, elbow, wrist = frames[0, :3, 3], frames[1, :3, 3], frames[3, :3, 3]
        ahead = np.array([np.cos(joints[0]), np.sin(joints[0]), 0.0])
        assert (ahead @ wrist > 0) == (not code & choice.BACKWARD)
        # The elbow's height over the line from shoulder to wrist, in the plane that moves.
        along, to_elbow = wrist - shoulder, elbow - shoulder
        line = to_elbow @ ahead / (along @ ahead) * along[2]
        assert (to_elbow[2] > line) == (not code & choice.ELBOW_DOWN)
        assert (joints[4] > 0) == (not code & choice.FLIPPED)


def test_random_positions_of_the_puma_inside_its_ranges(puma: SerialArm):
    rng = np.random.default_rng(1)
    for _ in range(POSES):
        q = inside(puma, rng)
        found = check(puma, q, present=q, limits=True)
        assert puma.within(found.joints, 1e-8).all()
        assert np.abs(found.best - q).max() < 1e-6


RIGHT = {"alpha": pi / 2}
SHAPES: dict[str, dict[str, dict[str, float]]] = {
    "general": {},
    "oblique wrist": {"joint4": {"alpha": 1.1}, "joint5": {"alpha": 0.7}},
    "shoulder axes meet": {"joint1": {"a": 0.0}},
    "shoulder axes nearly meet": {"joint1": {"a": 1e-5}},
    "shoulder axes parallel": {"joint1": {"alpha": pi}},
    "elbow axes parallel": {"joint2": {"alpha": 0.0}},
    "elbow axes antiparallel": {"joint1": {"a": 0.0}, "joint2": {"alpha": pi}},
    "industrial": {"joint1": RIGHT, "joint2": {"alpha": 0.0, "d": 0.0, "a": 0.7}, "joint3": RIGHT | {"d": 0.0}},
    "upside down": {"joint1": {"alpha": -pi / 2}, "joint2": {"alpha": 0.0, "a": -0.7}},
}


@pytest.mark.parametrize("shape", SHAPES)
def test_other_arms(shape: str):
    rng = np.random.default_rng(7)
    for _ in range(1 if config.DISABLE_JIT else 12):
        arm = general_arm(rng, **SHAPES[shape])
        assert arm.solver.kind == "wrist"
        for _ in range(POSES // 3):
            q = rng.uniform(-3.0, 3.0, 6)
            found = check_stays(arm, q)
            assert len(set(found.codes)) == len(found.codes)


USUAL: dict[str, dict[str, dict[str, float]]] = {
    "any": {"joint2": {"alpha": 0.0}},
    "antiparallel": {"joint2": {"alpha": pi, "a": -0.6}},
    "shoulder at right angles": {"joint1": RIGHT, "joint2": {"alpha": 0.0}, "joint3": RIGHT},
    "shoulder axes meet": {"joint1": {"a": 0.0, "alpha": -pi / 2}, "joint2": {"alpha": pi, "a": 0.6}},
    "wrist the other way": {"joint2": {"alpha": 0.0}, "joint4": {"alpha": -pi / 2}, "joint5": {"alpha": -pi / 2}},
}


@pytest.mark.parametrize("shape", USUAL)
def test_the_short_way_and_the_way_of_all_arms(shape: str):
    """A cosine of 1e-300 changes no number, but leads the long way."""
    rng = np.random.default_rng(3)
    taken, counts = 0, set()
    for _ in range(4 if config.DISABLE_JIT else 200):
        arm = general_arm(rng, **USUAL[shape])
        long = arm.links.copy()
        long[3].ca = 1e-300
        frame = arm.frames(rng.uniform(-3.0, 3.0, 6))[5]
        flange = np.concatenate([frame[:3, 0], frame[:3, 1], frame[:3, 2], frame[:3, 3]])
        found = []
        for links in (arm.links, long):
            joints, branch = np.zeros((8, 6)), np.zeros(8, dtype=np.int64)
            count, status = wrist_solutions(links, flange, np.zeros(6), np.ones(6), False, joints, branch)
            found.append((count, status, branch[:count].tolist(), joints[:count]))
        assert found[0][:3] == found[1][:3]
        assert apart(found[0][3], found[1][3]) < 1e-9
        counts.add(found[0][0])
        last = arm.links[5]
        axis = last.sa * flange[3:6] + last.ca * flange[6:9]
        centre = flange[9:] - last.a * flange[:3] - last.d * axis
        rows = (np.zeros((8, 6)), np.zeros(8, dtype=np.int64))
        assert regular(long, flange, tuple(axis), *centre, *rows) == -1
        taken += regular(arm.links, flange, tuple(axis), *centre, *rows) == found[0][0]
    assert taken > (1 if config.DISABLE_JIT else 150)
    assert 8 in counts or config.DISABLE_JIT


def test_angles_of_directions():
    rng = np.random.default_rng(5)
    sides = [(y, x) for y in (-1.0, 0.0, 1.0) for x in (-1.0, 0.0, 1.0) if (y, x) != (0.0, 0.0)]
    for y, x in [*sides, *(10.0 ** rng.uniform(-9, 3, (300, 2)) * rng.choice([-1, 1], (300, 2))).tolist()]:
        assert abs((angle_of(y, x) - atan2(y, x) + pi) % (2 * pi) - pi) < 2e-15


def test_solutions_are_all_there_are():
    """Against Newton's steps of the wrist's centre from everywhere."""
    rng = np.random.default_rng(11)
    for shape in ("general", "shoulder axes meet", "shoulder axes parallel", "industrial"):
        arm = general_arm(rng, **SHAPES[shape])
        q = rng.uniform(-3.0, 3.0, 6)
        centre = wrist_frame(arm.links, *q[:3])[9:]
        known = check(arm, q).joints[:, :3]
        for _ in range(10 if config.DISABLE_JIT else 300):
            *start, left = polished(arm.links, *centre, *rng.uniform(-pi, pi, 3), 1e-15)
            if left < 1e-12:
                assert min(apart(np.array(start), one) for one in known) < 1e-5


def test_out_of_reach_is_said_and_nothing_is_returned(puma: SerialArm):
    rng = np.random.default_rng(3)
    for arm in (puma, general_arm(rng), general_arm(rng, **SHAPES["shoulder axes parallel"])):
        for distance in (6.0, 1e9, 1e200):
            pose = arm.forward(np.full(6, 0.4))
            pose[:3, 3] = [distance, 0.3 * distance, -0.2 * distance]
            with np.errstate(all="ignore"):
                found = arm.inverse(pose)
            assert not found
            assert found.status == "out of reach"


def test_an_orientation_that_an_oblique_wrist_cannot_make():
    arm = general_arm(np.random.default_rng(2), joint4={"alpha": 0.4}, joint5={"alpha": 0.3})
    pose = arm.forward(np.zeros(6))
    reached = 0
    for turn in np.linspace(0.0, pi, 7):
        turned = pose.copy()
        turned[:3, :3] = np.array([[np.cos(turn), 0, np.sin(turn)], [0, 1, 0], [-np.sin(turn), 0, np.cos(turn)]])
        found = arm.inverse(turned)
        reached += bool(found)
        assert found.status == ("solved" if found else "out of reach")
        if found:
            assert np.abs(arm.forward(found.joints) - turned).max() < 1e-9
    assert reached < 7


def test_outside_the_ranges_is_said(puma: SerialArm):
    q = np.array([0.3, 0.8, -0.4, 0.5, 0.6, 0.7])
    arm = SerialArm(puma.robot)
    arm.links["lower"], arm.links["upper"] = q + 3.0, q + 3.05
    found = arm.inverse(puma.forward(q))
    assert not found
    assert found.status == "outside the joints' ranges"


# --- singular poses ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("angle", [0.0, 1e-12, 1e-10, 1e-9, 1e-7, pi])
def test_a_straight_wrist(puma: SerialArm, angle: float):
    rng = np.random.default_rng(5)
    for _ in range(max(POSES // 6, 1)):
        q = inside(puma, rng)
        q[4] = angle
        found = check(puma, q, present=q)
        assert "wrist singular" in found.singular
        if angle in (0.0, pi):
            assert np.abs(found.best - q).max() < 1e-6


def test_all_joints_zero(puma: SerialArm):
    found = check_stays(puma, np.zeros(6))
    assert found.singular == ("wrist singular",)
    assert len(found.joints) == 7


@pytest.mark.parametrize("weights", [[1, 1, 1, 1, 1, 1], [1, 1, 1, 3, 1, 1], [1, 1, 1, 0, 0, 0]])
def test_a_straight_wrist_shares_its_turn_by_the_weights(puma: SerialArm, weights: list[float]):
    q = np.array([0.3, 0.8, -0.4, 0.5, 0.0, 0.7])
    present = q + np.array([0.0, 0.0, 0.0, 0.3, 0.0, -0.1])
    found = puma.inverse(puma.forward(q), present=present, weights=weights)
    moved = found.best[[3, 5]] - present[[3, 5]]
    assert moved.sum() == pytest.approx(-0.2)
    share = 0.5 if weights[3] == weights[5] else weights[5] / (weights[3] + weights[5])
    assert moved[0] == pytest.approx(-0.2 * share)


def test_a_straight_wrist_keeps_to_the_ranges(puma: SerialArm):
    wanted, q = np.array([0.0, 0.0, 0.0, 2.9, 0.0, 4.5]), np.zeros(6)
    share_turn(puma.links, wanted, np.ones(6), True, True, 7.4 - 2 * pi, q)
    assert q[3] + q[5] == pytest.approx(7.4)
    assert puma.within(q, 1e-12)
    share_turn(puma.links, wanted, np.ones(6), True, False, -4.0, q)
    assert q[5] - q[3] == pytest.approx(-4.0 + 2 * pi)
    assert puma.within(q, 1e-12)


@pytest.mark.parametrize("off", [0.0, 1e-12, 1e-9, 1e-7, 1e-5])
@pytest.mark.parametrize("bent", [STRAIGHT, STRAIGHT + pi])
def test_a_straight_and_a_folded_elbow(puma: SerialArm, bent: float, off: float):
    rng = np.random.default_rng(6)
    for _ in range(max(POSES // 6, 1)):
        q = inside(puma, rng)
        q[2] = bent + off
        found = check(puma, q)
        assert ("elbow straight" in found.singular) == (off < 1e-6)
        if bent == STRAIGHT:
            assert min(apart(one, q) for one in found.joints) < 1e-6


def test_just_beyond_the_reach_by_what_a_file_with_ten_digits_leaves(puma: SerialArm):
    q = np.array([0.3, 0.8, STRAIGHT, 0.5, 0.6, 0.7])
    frames = puma.frames(q)
    outward = frames[3, :3, 3] - frames[0, :3, 3] - SHIFT * frames[0, :3, 2]
    outward /= np.linalg.norm(outward)
    pose = puma.forward(q)
    pose[:3, 3] += 5e-11 * outward
    found = puma.inverse(pose, limits=False)
    assert np.abs(puma.forward(found.joints) - pose).max() < 1e-9
    pose[:3, 3] += 1e-6 * outward
    assert puma.inverse(pose, limits=False).status == "out of reach"


@pytest.mark.parametrize("off", [0.0, 1e-12, 1e-10, 1e-8, 1e-6])
def test_a_wrist_on_the_axis_of_joint_1(plain: SerialArm, off: float):
    rng = np.random.default_rng(8)
    for _ in range(max(POSES // 10, 1)):
        q = rng.uniform(-3.0, 3.0, 6)
        q[1] = rng.uniform(0.3, 1.3)
        q[2] = float(np.arcsin(np.cos(q[1]))) - q[1] + off  # 0.4 cos θ₂ = 0.4 sin(θ₂ + θ₃)
        if off == 0.0:
            found = check_stays(plain, q)
            assert "shoulder singular" in found.singular
        else:
            check(plain, q)


def test_a_free_shoulder_is_set_where_the_cost_is_least(plain: SerialArm):
    q = np.array([0.4, 0.9, 0.0, 0.5, 0.8, -0.3])
    q[2] = float(np.arcsin(np.cos(q[1]))) - q[1]
    present = q + np.array([0.7, 0.0, 0.0, 0.2, -0.1, 0.4])
    found = check(plain, q, present=present)
    frames = plain.frames(q)
    costs = []
    for turn in np.linspace(-pi, pi, 2001):
        c, s = np.cos(turn), np.sin(turn)
        # The target seen from frame 3 of an arm that has turned on; Rot_x(90°) Rot_z(θ) Rot_x(−90°) = Rot_y(−θ), so
        # the wrist makes Euler's angles about z, y, z.
        r = frames[2, :3, :3].T @ np.array([[c, s, 0], [-s, c, 0], [0, 0, 1]]) @ frames[5, :3, :3]
        bend = np.arctan2(np.hypot(r[0, 2], r[1, 2]), r[2, 2])
        last = np.arctan2(r[1, 2], r[0, 2]), -bend, np.arctan2(r[2, 1], -r[2, 0])
        for wrist in (last, (last[0] + pi, bend, last[2] + pi)):
            off = np.array([q[0] + turn, q[1], q[2], *wrist]) - present
            off[3:] = (off[3:] + pi) % (2 * pi) - pi
            costs.append((off**2).mean())
    assert found.costs[0] <= min(costs) + 1e-12
    assert found.costs[0] == pytest.approx(min(costs), abs=1e-5)
    assert found.costs[0] < ((q - present) ** 2).mean()


def test_a_wrist_on_the_axes_of_joints_1_and_2(plain: SerialArm):
    rng = np.random.default_rng(9)
    for _ in range(max(POSES // 10, 1)):
        q = rng.uniform(-3.0, 3.0, 6)
        q[2] = pi / 2
        if np.linalg.norm(plain.frames(q)[3, :3, 3]) > 0.1:
            q[2] = -pi / 2
        found = check_stays(plain, q)
        assert {"shoulder singular", "elbow straight"} <= set(found.singular)


def test_a_free_shoulder_over_a_straight_wrist(plain: SerialArm):
    q = np.array([0.4, 0.9, 0.0, 0.5, 0.0, -0.3])
    q[2] = float(np.arcsin(np.cos(q[1]))) - q[1]
    check_stays(plain, q)
    # Joints 4 and 6 are free where joint 1 straightens the wrist, though joint 1 is wanted elsewhere.
    present = q + np.array([1e-3, 0.0, 0.0, 0.8, 0.0, -0.8])
    assert check(plain, q, present=present).costs[0] <= 1e-6 / 6 + 1e-12


def test_a_wrist_at_the_distance_of_the_shoulders_offset(puma: SerialArm):
    rng = np.random.default_rng(10)
    for _ in range(max(POSES // 6, 1)):
        q = inside(puma, rng)
        q[1] = rng.uniform(0.3, 2.8)
        q[2] = np.arccos(-UPPER * np.cos(q[1]) / np.hypot(OFFSET, FOREARM)) - q[1] + STRAIGHT
        found = check(puma, q)
        assert "shoulder singular" in found.singular
        assert min(apart(one, q) for one in found.joints) < 1e-6


def test_a_general_arm_where_two_positions_meet():
    """The determinant of the wrist centre's derivatives is zero: the quartic has a double root."""
    rng = np.random.default_rng(12)
    arm = general_arm(rng)

    def determinant(q: np.ndarray) -> float:
        columns = []
        for k in range(3):
            step = np.zeros(3)
            step[k] = 1e-5
            ahead, behind = wrist_frame(arm.links, *(q[:3] + step)), wrist_frame(arm.links, *(q[:3] - step))
            columns.append(np.subtract(ahead[9:], behind[9:]) / 2e-5)
        return float(np.linalg.det(np.array(columns)))

    met = 0
    for _ in range(POSES):
        q = rng.uniform(-3.0, 3.0, 6)
        low, high = q.copy(), q.copy()
        low[2], high[2] = q[2] - 0.7, q[2] + 0.7
        if determinant(low) * determinant(high) > 0:
            continue
        for _ in range(60):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if determinant(low) * determinant(middle) > 0 else (low, middle)
        found = check(arm, low)
        assert "elbow straight" in found.singular
        met += 1
    assert met > 0


# --- where several axes coincide -------------------------------------------------------------------------------


def of_rows(*rows: tuple[float, float, float], wrist: tuple[float, float] = (pi / 2, -pi / 2)) -> SerialArm:
    """Rows (a, d, alpha) of the first three joints and d of the fourth; twists of joints 4 and 5."""
    first = [dict(zip(("a", "d", "alpha"), row, strict=True)) for row in rows[:3]]
    return made(*first, {"d": rows[3][1], "alpha": wrist[0]}, {"alpha": wrist[1]}, {"a": 0.1, "d": 0.2})


SELF_MOTION = ((0.4, 0.1, -pi / 2), (0.4, 0.0, -pi / 2), (0.1, 0.1, pi), (0.0, 0.1, 0.0))
"""With a₁ = a₂, d₂ = 0 and right angles the quartic has one coefficient left, which vanishes at a certain distance."""


def test_an_arm_that_can_move_with_its_wrist_at_rest():
    arm = of_rows(*SELF_MOTION)
    q = np.array([-pi / 2, -pi, -2.879, pi, -pi, pi])
    for present in (np.zeros(6), q, q + 0.3):
        found = check(arm, q, present=present)
        assert "elbow straight" in found.singular
    assert np.abs(check(arm, q, present=q).best - q).max() < 1e-6


def test_an_oblique_wrist_decides_where_the_arm_stands():
    """Of the positions of such an arm few leave the target to a wrist that makes few orientations."""
    arm = of_rows(*SELF_MOTION, wrist=(0.4, 0.5))
    rng = np.random.default_rng(13)
    for q5 in (0.0, 0.7, pi):
        for _ in range(max(POSES // 6, 1)):
            q = np.array([rng.uniform(-3, 3), -pi, *rng.uniform(-3, 3, 2), q5, 0.3])
            check(arm, q, present=np.zeros(6))


@pytest.mark.parametrize("off", [0.0, 1e-8] if config.DISABLE_JIT else [0.0, 1e-11, 1e-10, 1e-9, 1e-8, 1e-7])
@pytest.mark.parametrize("wrist", [(pi / 2, -pi / 2), (0.4, 0.5)])
def test_near_the_axis_of_joint_1_or_2_where_positions_meet(off: float, wrist: tuple[float, float]):
    """Poses that a closed form without steps from both sides of the axis loses."""
    cases = [
        (((0.5, 0.4, 0.0), (0.5, 0.0, pi / 2), (0.5, 0.5, -pi / 2), (0, 0.4, 0)), (pi, -pi / 2, pi)),
        (((0.5, 0.1, -pi / 2), (0.0, 0.0, -pi / 2), (0.0, 0.5, -pi / 2), (0, 0.4, 0)), (pi, pi / 2, -pi / 2)),
        (((0.0, 0.1, -pi / 2), (0.0, 0.4, pi / 2), (-0.4, 0.5, -pi / 2), (0, 0, 0)), (pi, pi, pi / 2)),
        (((-0.4, 0.1, pi / 2), (-0.4, 0.0, -pi / 2), (0.4, 0.0, -pi / 2), (0, -0.4, 0)), (0.0, pi / 2, 0.0)),
        (((0.1, 0.0, pi), (0.1, -0.4, pi / 2), (0.1, 0.4, pi), (0, 0.4, 0)), (-pi / 2, pi, pi)),
        (((0.0, 0.1, -pi / 2), (0.4, 0.0, pi), (0.4, 0.2, 0.0), (0, 0.1, 0)), (-pi, pi / 2, pi)),
    ]
    for rows, angles in cases:
        arm = of_rows(*rows, wrist=wrist)
        assert arm.solver.kind == "wrist"
        for moved in ((0, 1, 0), (0, 0, 1), (1, 1, 1), (0, -1, 1)) if off else ((0, 0, 0),):
            for q5 in (0.0, pi, -pi / 2):
                q = np.array([*(np.array(angles) + off * np.array(moved)), pi / 2, q5, -pi])
                check(arm, q, present=np.zeros(6))
