"""All inverse-kinematic solutions of the Titan IV: in general, at every singularity, and at the edge of its reach."""

from __future__ import annotations

from collections.abc import Callable
from math import pi

import numpy as np
import pytest
from numba import config

from botz.physics.ik import choice
from botz.physics.ik.titan4_free import outside_by
from botz.physics.ik.two_links import reach_of, two_links
from botz.robots.arm_inverse import solver_of
from botz.robots.serial_arm import SerialArm

WRAP = 2.0 * pi


def apart(one: np.ndarray, other: np.ndarray) -> float:
    """Largest difference of two joint vectors, whole turns left out."""
    return float(np.abs((one - other + pi) % WRAP - pi).max())


def by_hand(arm: SerialArm, q: np.ndarray) -> np.ndarray:
    """Eq. 3-2 with plain matrices; tool and base of the library's arm are the last and first frame."""
    pose = np.eye(4)
    for link, value in zip(arm.links, q, strict=True):
        c, s, ca, sa = np.cos(link.theta + value), np.sin(link.theta + value), link.ca, link.sa
        pose = pose @ np.array(
            [
                [c, -s * ca, s * sa, link.a * c],
                [s, c * ca, -c * sa, link.a * s],
                [0, sa, ca, link.d],
                [0, 0, 0, 1],
            ]
        )
    return pose


def check(arm: SerialArm, q: np.ndarray, *, limits: bool = False, tolerance: float = 1e-9) -> list[np.ndarray]:
    """Every solution reproduces the pose, none is there twice, and the nearest to the joints is the joints."""
    q = np.asarray(q, dtype=float)
    pose = by_hand(arm, q)
    found = arm.inverse(pose, present=q, limits=limits)
    assert found.status == "solved"
    for k, joints in enumerate(found.joints):
        assert np.isfinite(joints).all()
        assert np.abs(by_hand(arm, joints) - pose).max() < tolerance
        assert all(apart(joints, other) > 1e-6 for other in found.joints[:k])
        assert not limits or arm.within(joints, 1e-8)
    assert np.abs(found.best - q).max() < 1e-6
    assert (np.diff(found.costs) >= 0).all()
    return list(found.joints)


@pytest.fixture(scope="module")
def titan() -> SerialArm:
    return SerialArm.of("titan4")


def on_the_axis(arm: SerialArm, q2: float, q3: float) -> float:
    """θ₄ that brings the wrist centre onto the axis of joint 1."""
    a = arm.links["a"]
    return float(np.arccos(-(a[0] + a[1] * np.cos(q2) + a[2] * np.cos(q2 + q3)) / a[3]) - q2 - q3)


def test_a_pose_well_inside_has_eight_solutions_one_of_each_branch(titan: SerialArm):
    pose = by_hand(titan, np.array([0.3, 1.2, -1.9, 0.4, 0.5, 0.2]))
    found = titan.inverse(pose, limits=False)
    assert sorted(found.codes) == list(range(8))
    assert found.singular == ()


def test_branches_mean_what_they_say(titan: SerialArm):
    q = np.array([0.3, 1.2, -1.9, 0.4, 0.5, 0.2])
    found = titan.inverse(by_hand(titan, q), limits=False)
    centre = by_hand(titan, q)[:2, 3] - titan.links["d"][5] * by_hand(titan, q)[:2, 2]
    for joints, code in zip(found.joints, found.codes, strict=True):
        forward = np.array([np.cos(joints[0]), np.sin(joints[0])]) @ centre > 0
        assert forward == (not code & choice.BACKWARD)
        assert (np.cos(joints[4]) < 0) == bool(code & choice.FLIPPED)
        shoulder, elbow, wrist = (titan.frames(joints)[k][:3, 3] for k in (0, 1, 2))
        outward = np.array([*centre, 0.0]) / np.hypot(*centre)
        run = (wrist - shoulder) @ outward
        assert run > 0  # this pose is far from the base: the line from joint 2 to joint 4 goes toward it
        share = (elbow - shoulder) @ outward / run
        assert (elbow[2] > shoulder[2] + share * (wrist - shoulder)[2]) == (not code & choice.ELBOW_DOWN)


def test_random_poses_give_back_their_joints(titan: SerialArm):
    rng = np.random.default_rng(5)
    q = rng.uniform(-pi, pi, (300, 6))
    counts = [len(check(titan, one, tolerance=1e-12)) for one in q]
    assert set(counts) == {2, 4, 6, 8}


@pytest.mark.parametrize("signs", [(1, 1, 1), (-1, 1, 1), (1, 1, -1), (-1, -1, 1), (-1, 1, -1)])
def test_right_angles_of_either_sign_offsets_and_negative_lengths(signs: tuple[int, int, int]):
    rng = np.random.default_rng(sum(2**k for k, sign in enumerate(signs) if sign > 0))
    arm = SerialArm.of("titan4")
    arm.links["sa"][[0, 3, 4]] = signs
    arm.links["theta"] = rng.uniform(-pi, pi, 6)
    arm.links["a"][:4] *= rng.choice([-1, 1], 4)
    arm.links["d"][[0, 5]] = rng.uniform(-0.5, 0.5, 2)
    assert solver_of(arm.links).kind == "titan4"
    for q in rng.uniform(-pi, pi, (4, 6)):
        check(arm, q, tolerance=1e-12)
        q[4] = -arm.links["theta"][4]  # W = 0
        check(arm, q)
    q[2] = -arm.links["theta"][2]  # straight
    check(arm, q)


@pytest.mark.parametrize(
    ("row", "field", "value"),
    [(1, "d", 0.1), (4, "a", 0.05), (0, "ca", 0.1), (3, "ca", -1.0), (5, "ca", 0.0), (2, "kind", 1), (2, "a", 0.0)],
)
def test_other_structures_are_left_to_other_solvers(row: int, field: str, value: float):
    links = SerialArm.of("titan4").links
    links[row][field] = value
    assert solver_of(links).kind != "titan4"


def test_all_joints_zero(titan: SerialArm):
    for limits in (False, True):
        check(titan, np.zeros(6), limits=limits)
    found = titan.inverse(titan.forward(np.zeros(6)))
    assert len(found.joints) == 1 and "elbow straight" in found.singular


@pytest.mark.parametrize("small", [0.0, 1e-16, 1e-14, 1e-12, 1e-11, 1e-10, 1e-9, 1e-8, 1e-6])
@pytest.mark.parametrize("side", [1, -1])
def test_wrist_at_and_near_ninety_degrees(titan: SerialArm, small: float, side: int):
    q = np.array([0.4, 0.7, -1.1, 0.5, side * (pi / 2 - small), 0.9])
    check(titan, q)
    check(titan, q, limits=True)
    assert ("wrist singular" in titan.inverse(titan.forward(q)).singular) == (small <= 1e-10)


@pytest.mark.parametrize("small", [0.0, 1e-16, 1e-14, 1e-12, 1e-10, 1e-7, 1e-6])
def test_target_on_and_near_the_axis_of_joint_1(titan: SerialArm, small: float):
    q = np.array([0.4, 1.5, 0.45, on_the_axis(titan, 1.5, 0.45) + small, 0.3, -0.6])
    check(titan, q)
    assert ("shoulder singular" in titan.inverse(titan.forward(q), limits=False).singular) == (small <= 1e-10)


@pytest.mark.parametrize("q5", [pi / 2, -pi / 2, 0.2, 0.0])
def test_target_on_the_axis_with_the_tool_level(titan: SerialArm, q5: float):
    # φ = 0 needs the elbow to bring the wrist centre back: θ₂ and θ₂₃ from two links that end at (−L₂ − L₅, z).
    a = titan.links["a"]
    low, high, scale = reach_of(a[1], a[2])
    _, t2, t3, _ = two_links(a[1], a[2], low, high, scale, -a[0] - a[3], 0.8)
    q = np.array([-0.7, t2, t3, -t2 - t3, q5, 0.4])
    check(titan, q)
    assert {"shoulder singular", "wrist singular"} <= set(titan.inverse(by_hand(titan, q), limits=False).singular)
    if abs(q5) == pi / 2:
        q[3] = on_the_axis(titan, 1.5, 0.45)
        q[1:3] = 1.5, 0.45
        check(titan, q)  # both free, and φ anything


# Each takes seconds as plain Python: far from the axis, near it, and within rounding are enough there.
@pytest.mark.parametrize("power", [2, 8, 15] if config.DISABLE_JIT else range(1, 17))
@pytest.mark.parametrize("digits", [17, 10])
def test_near_the_axis_with_the_wrist_near_ninety_degrees(titan: SerialArm, power: int, digits: int):
    """θ₁ and φ are each known to little or nothing there, and both to all digits together: no pose is lost, and an arm
    that is there stays. Also of poses from a file with ten digits, which are not quite those of any joints."""
    rng = np.random.default_rng(power)
    for side in (1, -1):
        centre = np.array([0.3, 1.5, 0.45, on_the_axis(titan, 1.5, 0.45), side * pi / 2, 0.6])
        for shrink in ([1] * 6, [1, 1e-3, 1e-3, 1e-3, 1, 1], [1, 1, 1, 1, 1e-3, 1]):
            q = centre + 10.0**-power * np.array(shrink) * rng.uniform(-1, 1, 6)
            pose = by_hand(titan, q).round(digits)
            for found in (titan.inverse(pose, limits=False), titan.inverse(pose, present=q, limits=False)):
                assert found.status == "solved"
                assert all(np.abs(by_hand(titan, one) - pose).max() < 1e-9 for one in found.joints)
            assert digits < 17 or np.abs(found.best - q).max() < 1e-6


def test_near_both_singularities_at_the_end_of_the_reach(titan: SerialArm):
    """With the elbow straight as well, a little of φ decides whether the pose is reached at all."""
    a = titan.links["a"]
    upright = np.arccos((0.3 * a[3] - a[0]) / (a[1] + a[2]))
    rng = np.random.default_rng(3)
    for power in range(2, 14):
        q = np.array([0.3, upright, 0.0, np.arccos(-0.3) - upright, pi / 2, 0.6])
        q[[0, 1, 3, 4, 5]] += 10.0**-power * rng.uniform(-1, 1, 5)
        check(titan, q)


@pytest.mark.parametrize("bend", [0.0, 1e-12, 1e-9, 1e-8, 4e-7, 6e-7, 1e-5])
@pytest.mark.parametrize("end", [0.0, pi])
def test_elbow_straight_and_folded(titan: SerialArm, bend: float, end: float):
    found = check(titan, np.array([0.4, 0.7, end - bend, 0.5, 0.3, 0.9]))
    near = [q for q in found if abs(np.sin(q[2])) < 1e-3]
    assert len(near) == (1 if bend < 5e-7 else 2)


def test_equal_links_folded_onto_each_other_reach_the_shoulder():
    arm = SerialArm.of("titan4")
    arm.links["a"][2] = arm.links["a"][1]
    q = np.array([0.4, 0.7, pi, 0.5, 0.3, 0.9])
    pose = by_hand(arm, q)
    found = arm.inverse(pose, present=q, limits=False)
    assert found and all(np.abs(by_hand(arm, one) - pose).max() < 1e-9 for one in found.joints)


@pytest.mark.parametrize("beyond", [0.0, 3e-11, -3e-11])
def test_rounding_at_the_end_of_the_reach_is_a_straight_elbow(titan: SerialArm, beyond: float):
    pose = by_hand(titan, np.zeros(6))
    pose[0, 3] += beyond
    found = titan.inverse(pose)
    assert found and np.abs(by_hand(titan, found.best) - pose).max() < 1e-9
    pose[0, 3] = by_hand(titan, np.zeros(6))[0, 3] + 1e-8
    assert titan.inverse(pose).status == "out of reach"


def nan_free(found) -> bool:
    return np.isfinite(found.joints).all() and np.isfinite(found.costs).all()


@pytest.mark.parametrize(
    "change",
    [
        lambda pose: pose[:3, 3].__imul__(3.0),
        lambda pose: pose.__setitem__((slice(3), 3), [0.0, 0.0, 9.0]),
        lambda pose: pose.__setitem__((slice(3), 3), [1e150, 0.0, 0.0]),
    ],
)
def test_out_of_reach_says_so(titan: SerialArm, change: Callable[[np.ndarray], None]):
    for q in ([0.4, 0.7, -1.1, 0.5, 0.3, 0.9], [0.4, 0.7, -1.1, 0.5, pi / 2, 0.9], [0, 0, 0, 0, 0, 0]):
        pose = by_hand(titan, np.array(q))
        change(pose)
        for limits in (False, True):
            found = titan.inverse(pose, limits=limits)
            assert not found and found.status == "out of reach" and nan_free(found)


@pytest.mark.parametrize("q5", [0.3, pi / 2])
def test_outside_the_ranges_says_so(titan: SerialArm, q5: float):
    # Behind the base, beyond ±120°, with the arm low: only a turned shoulder reaches it.
    pose = by_hand(titan, np.array([pi, 0.1, -0.2, 0.1, q5, 0.0]))
    found = titan.inverse(pose)
    assert not found and found.status == "outside the joints' ranges"
    assert ("wrist singular" in found.singular) == (q5 == pi / 2)
    assert titan.inverse(pose, limits=False)


def cost(arm: SerialArm, q: np.ndarray, wanted: np.ndarray, weights: np.ndarray) -> float:
    turned = wanted + (q - wanted + pi) % WRAP - pi
    return float((weights * (turned - wanted) ** 2).mean())


@pytest.mark.parametrize("seed", range(4))
def test_the_free_wrist_is_where_the_cost_is_least(titan: SerialArm, seed: int):
    """Against a search by brute force that solves the pose for many θ₂ instead of φ."""
    rng = np.random.default_rng(seed)
    q = rng.uniform(-pi, pi, 6)
    q[4] = pi / 2
    wanted, weights = rng.uniform(-pi, pi, 6), rng.uniform(0.1, 2.0, 6)
    pose = by_hand(titan, q)
    best = titan.inverse(pose, present=wanted, weights=weights, limits=False).costs[0]
    a = titan.links["a"]
    low, high, scale = reach_of(a[2], a[3])
    least = np.inf
    centre = pose[:3, 3] - titan.links["d"][5] * pose[:3, 2]
    for backward in (0.0, pi):
        q1 = np.arctan2(centre[1], centre[0]) + backward
        x = np.array([np.cos(q1), np.sin(q1)]) @ centre[:2] - a[0]
        for q2 in np.linspace(-pi, pi, 700):
            x2, z2 = x - a[1] * np.cos(q2), centre[2] - titan.links["d"][0] - a[1] * np.sin(q2)
            number, t23, t4, other = two_links(a[2], a[3], low, high, scale, x2, z2)
            for first, second in [(t23, t4), (other, -t4)][:number]:
                joints = np.array([q1, q2, first - q2, second, 0.0, 0.0])
                joints[4] = pi / 2 if np.cos(q1 - q[0]) > 0 else -pi / 2
                turn = by_hand(titan, joints)[:3, :3].T @ pose[:3, :3]
                joints[5] = np.arctan2(turn[1, 0], turn[0, 0])
                least = min(least, cost(titan, joints, wanted, weights))
    assert best <= least + 1e-12
    assert best > least - 0.05  # and brute force comes near it


def test_a_free_shoulder_that_ends_at_a_range(titan: SerialArm):
    """A curve of solutions leaves the range of θ₃ at its upper end. A turn less would be nearer to what is wanted
    there, and is out of range: the end must not draw the search away from the cheapest point."""
    q = np.array(
        [0.5945735806303909, 1.079634743300487, 1.7175368079329, 0.0, -0.5002117944732862, -2.8845871767246596]
    )
    q[3] = on_the_axis(titan, q[1], q[2])
    wanted = np.array([-1.623133167696238, -0.4590025787218689, -2.1209776147217863, -1.4302362143478855,
                       -1.642510861264467, 1.0959232995604156])  # fmt: skip
    assert titan.within(q)
    pose = by_hand(titan, q)
    best = titan.inverse(pose, present=wanted)
    assert best and titan.within(best.joints, 1e-9).all()
    for turn in np.linspace(-2.0, 2.0, 9):
        for other in titan.inverse(pose, present=q + np.array([turn, 0, 0, 0, 0, 0])).joints:
            other[5] = wanted[5] + (other[5] - wanted[5] + pi) % WRAP - pi
            assert best.costs[0] <= ((other - wanted) ** 2).mean() + 1e-8


@pytest.mark.parametrize("beyond", [0.0, 0.3, 0.5, 0.7, 1.0 - 1e-7, 1.0, 1.0 + 1e-7, 2.0, 1e6])
@pytest.mark.parametrize("wanted", [-3.0, 0.0, 1.0, 4.0])
def test_a_search_and_the_choice_agree_on_what_is_inside(titan: SerialArm, beyond: float, wanted: float):
    link = titan.links[2]
    for value in (link.upper + beyond * choice.SLACK, link.lower - beyond * choice.SLACK):
        at = choice.continued(link, value, wanted)
        within = link.lower - choice.SLACK <= at <= link.upper + choice.SLACK
        off = outside_by(link, at)
        assert within or off >= 0.5 * choice.SLACK
        assert off == 0.0 if beyond < 0.49 else off == pytest.approx(beyond * choice.SLACK, abs=1e-15) or beyond == 0.5


def test_a_narrow_way_through_the_ranges_is_found():
    """The ranges leave 0.002 rad of a curve, less than a tenth of what lies between two samples."""
    q = np.array([0.4, 0.7, -1.1, 0.5, pi / 2, 0.9])
    arm = SerialArm.of("titan4")
    arm.links["lower"], arm.links["upper"] = q - 1e-3, q + 1e-3
    for present in (np.zeros(6), q + 1.0, q - 2.0):
        found = arm.inverse(by_hand(arm, q), present=present)
        assert found and np.abs(found.best - q).max() < 1.1e-3


def test_ranges_of_more_than_a_turn_continue_the_angle(titan: SerialArm):
    arm = SerialArm.of("titan4")
    arm.links["lower"][5], arm.links["upper"][5] = -10.0, 10.0
    q = np.array([0.4, 0.7, -1.1, 0.5, 0.2, 9.5])
    assert np.abs(arm.inverse(by_hand(arm, q), present=q).best - q).max() < 1e-9
    near = q + np.array([0, 0, 0, 0, 0, 0.7])
    # 9.5 is nearest to 10.2; the next turn, 15.8, is out of the range.
    assert np.abs(arm.inverse(by_hand(arm, q), present=near).best - q).max() < 1e-9


def test_batches_are_the_same_as_one_by_one(titan: SerialArm):
    rng = np.random.default_rng(11)
    q = rng.uniform(-1.0, 1.0, (12, 6))
    q[::3, 4] = pi / 2
    poses = titan.forward(q)
    many = titan.inverse_many(poses, present=q)
    for pose, present, found in zip(poses, q, many, strict=True):
        one = titan.inverse(pose, present=present)
        assert np.array_equal(one.joints, found.joints) and one.branches == found.branches
        assert one.status == found.status and one.singular == found.singular
