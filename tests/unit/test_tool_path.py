"""Lines and arcs of a tool: where it is, how fast, on which branch, and which paths are refused and why."""

from __future__ import annotations

from math import pi, sqrt

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from botz.control.arm.joint_path import JointPath
from botz.control.arm.tool_course import arc, line, turn_between
from botz.control.arm.tool_path import joint_rates, smooth_trapezoid, tool_path
from botz.errors import InputError
from botz.robots.arm_records import transform
from botz.robots.serial_arm import SerialArm
from botz.scenario.arm.schema import Arm
from botz.transforms import rotation_about

SPEED, TURN_RATE = 0.2, 0.8
TITAN_START = np.array([0.3, 0.6, -1.0, 0.2, 0.1, 0.4])
PUMA_START = np.array([0.2, 0.9, -2.2, 0.3, 0.8, -0.4])


@pytest.fixture(scope="module")
def titan() -> SerialArm:
    return SerialArm.of("titan4")


@pytest.fixture(scope="module")
def puma() -> SerialArm:
    return SerialArm.of("puma560")


@pytest.fixture(scope="module")
def scara() -> SerialArm:
    """Four joints, one of which slides: solved numerically."""
    joints = {
        "shoulder": {"a": 0.4, "range": [-2.5, 2.5], "speed": 2.0},
        "elbow": {"a": 0.3, "alpha": pi, "range": [-2.5, 2.5], "speed": 2.0},
        "slide": {"type": "prismatic", "range": [0.0, 0.3], "speed": 0.5},
        "turn": {"range": [-6.0, 6.0], "speed": 5.0},
    }
    return SerialArm(Arm.model_validate({"joints": joints}))


def moved(pose: np.ndarray, by, roll=0.0, pitch=0.0, yaw=0.0) -> np.ndarray:
    """A pose shifted in the world and turned about its own place."""
    found = transform([0.0, 0.0, 0.0, roll, pitch, yaw]) @ pose
    found[:3, 3] = pose[:3, 3] + by
    return found


def go(arm, course, start, duration=None, speed=SPEED, turn_rate=TURN_RATE) -> JointPath:
    return tool_path(arm, course, start, speed=speed, turn_rate=turn_rate, duration=duration)


def refusal(*arguments, **options) -> str:
    with pytest.raises(InputError) as caught:
        go(*arguments, **options)
    (problem,) = caught.value.problems
    return f"{problem.key}: {problem.message}"


def twists(arm, path, t):
    q, v, _ = path.sampled(t)
    return np.einsum("kij,kj->ki", arm.jacobian(q), v)


CASES = {
    "titan4": ("titan", TITAN_START, [-0.2, -0.5, 0.1], {"pitch": 0.4, "yaw": -0.3}),
    "titan4 without turning": ("titan", TITAN_START, [-0.3, -0.4, 0.2], {}),
    "titan4 turning only": ("titan", TITAN_START, [0.0, 0.0, 0.0], {"roll": 0.3, "yaw": -0.4}),
    "puma560": ("puma", PUMA_START, [-0.15, -0.2, 0.1], {"roll": 0.3, "pitch": -0.3}),
    "scara": ("scara", np.array([0.3, 0.8, 0.1, 0.2]), [-0.2, 0.15, 0.05], {"yaw": 0.7}),
}


@pytest.fixture(params=CASES, ids=list(CASES))
def case(request):
    """An arm, the course of a line and the joints at its start."""
    name, start, by, turn = CASES[request.param]
    arm = request.getfixturevalue(name)
    begin = arm.forward(start)
    return arm, line(begin, moved(begin, by, **turn)), start


# --- lines -----------------------------------------------------------------------------------------------------------


def test_the_tool_stays_on_its_line_and_turns_about_one_axis(case):
    """Measured by the arm's forward kinematics, at times that the plan was not made from."""
    arm, course, start = case
    path = go(arm, course, start)
    poses = arm.forward(path.sampled(np.linspace(0.0, path.duration, 3003))[0])
    way = course.end[:3, 3] - course.start[:3, 3]
    along = (poses[:, :3, 3] - course.start[:3, 3]) @ way / max(way @ way, 1e-30)
    assert poses[:, :3, 3] == pytest.approx(course.start[:3, 3] + along[:, None] * way, abs=1e-6)
    turned = Rotation.from_matrix(poses[:, :3, :3] @ course.start[:3, :3].T).as_rotvec()
    full = Rotation.from_matrix(course.end[:3, :3] @ course.start[:3, :3].T).as_rotvec()
    share = along if way @ way > 1e-12 else turned @ full / (full @ full)
    assert turned == pytest.approx(share[:, None] * full, abs=2e-6)
    assert poses[0] == pytest.approx(course.start, abs=1e-9)
    assert poses[-1] == pytest.approx(course.end, abs=1e-6)
    assert (np.diff(share) > -1e-9).all()


def test_speeds_and_accelerations_are_derivatives_and_zero_at_the_ends(case):
    arm, course, start = case
    path = go(arm, course, start)
    t = np.linspace(0.0, path.duration, 20001)
    h = t[1]
    q, v, a = path.sampled(t)
    assert (q[2:] - q[:-2]) / (2.0 * h) == pytest.approx(v[1:-1], abs=1e-6)
    # The jerk jumps where the ramps end: the difference over a jump is off by its share of the step.
    assert (v[2:] - v[:-2]) / (2.0 * h) == pytest.approx(a[1:-1], abs=20.0 * h * np.abs(a).max())
    assert np.abs(np.diff(a, axis=0)).max() < 100.0 * h * np.abs(a).max()
    assert np.abs([v[0], v[-1], a[0], a[-1]]).max() < 1e-9


def test_the_tool_goes_at_its_speed_for_most_of_the_way(case):
    arm, course, start = case
    path = go(arm, course, start, speed=0.05, turn_rate=0.2)
    twist = twists(arm, path, np.linspace(0.0, path.duration, 2001))
    speed, rate = np.linalg.norm(twist[:, :3], axis=1), np.linalg.norm(twist[:, 3:], axis=1)
    assert speed.max() <= 0.05 * (1.0 + 1e-5)
    assert rate.max() <= 0.2 * (1.0 + 1e-5)
    assert max(speed.max() / 0.05, rate.max() / 0.2) == pytest.approx(1.0, abs=1e-5)
    constant = np.abs(twist - twist[1000]).max(axis=1) < 1e-5
    assert constant.mean() > 0.6


def test_without_a_duration_the_joints_limits_slow_the_tool_down(case):
    arm, course, start = case
    path = go(arm, course, start, speed=50.0, turn_rate=50.0)
    _, v, a = path.sampled(np.linspace(0.0, path.duration, 20001))
    shares = (np.abs(v) / arm.speed).max(), (np.abs(a) / arm.acceleration).max()
    assert max(shares) <= 1.0 + 1e-9
    assert max(shares) > 0.999


def test_more_time_than_needed_is_used_and_less_is_refused(case):
    arm, course, start = case
    least = go(arm, course, start).duration
    assert go(arm, course, start, duration=2.5 * least).duration == pytest.approx(2.5 * least)
    named = float(refusal(arm, course, start, duration=0.5 * least).split("the least is ")[1].split(" s")[0])
    assert least * (1.0 - 1e-9) <= named < 1.001 * least
    assert go(arm, course, start, duration=named).duration == named


def test_the_refusal_of_a_duration_names_what_decides(titan):
    begin = titan.forward(TITAN_START)
    shifted, turned = line(begin, moved(begin, [-0.2, -0.5, 0.1])), line(begin, moved(begin, [0, 0, 0], yaw=0.5))
    assert "duration: 1 s are too short: the tool would need 0.6" in refusal(titan, shifted, TITAN_START, 1.0)
    assert "its 'speed' is 0.2 m/s" in refusal(titan, shifted, TITAN_START, 1.0)
    assert "its 'turn_rate' is 0.1 rad/s" in refusal(titan, turned, TITAN_START, 1.0, turn_rate=0.1)
    found = refusal(titan, shifted, TITAN_START, 0.5, speed=5.0)
    assert "joint 'elbow' would need" in found
    assert "its limit is 2 rad/s²" in found


def test_the_branch_is_kept(titan, puma):
    """The solver's own name of the branch, at places along the way."""
    for arm, start, by in ((titan, TITAN_START, [-0.3, -0.6, 0.2]), (puma, PUMA_START, [-0.2, -0.3, 0.1])):
        begin = arm.forward(start)
        path = go(arm, line(begin, moved(begin, by, pitch=0.3)), start)
        own = arm.inverse(begin, present=start).branches[0]
        assert arm.inverse(begin, present=start).best == pytest.approx(start, abs=1e-9)
        for q in path.sampled(np.linspace(0.0, path.duration, 60))[0]:
            found = arm.inverse(arm.forward(q), present=q)
            assert found.best == pytest.approx(q, abs=1e-7)
            assert found.branches[0] == own


def test_angles_go_on_past_half_a_turn(titan):
    start = TITAN_START.copy()
    start[5] = 3.0
    begin = titan.forward(start)
    end = begin.copy()
    end[:3, :3] = rotation_about(begin[:3, 2], np.array([1.0]))[0] @ begin[:3, :3]
    path = go(titan, line(begin, end), start)
    # The last joint turns about the tool's z: it alone moves.
    assert path.end == pytest.approx([*start[:5], 4.0], abs=1e-8)


def test_a_course_without_length_is_no_motion(titan):
    begin = titan.forward(TITAN_START)
    assert go(titan, line(begin, begin), TITAN_START).duration == 0.0
    assert go(titan, line(begin, begin), TITAN_START, duration=2.0).duration == 2.0


# --- arcs ------------------------------------------------------------------------------------------------------------


def test_an_arc_keeps_its_radius_and_passes_its_point(titan):
    begin = titan.forward(TITAN_START)
    end = moved(begin, [-0.1, -0.7, 0.0], yaw=-0.5)
    through = begin[:3, 3] + [-0.3, -0.2, 0.2]
    path = go(titan, arc(begin, through, end), TITAN_START)
    t = np.linspace(0.0, path.duration, 4001)
    places = titan.forward(path.sampled(t)[0])[:, :3, 3]
    # The circle by three planes, not by the formula of the course: equal distances, and the plane of the points.
    a, b, c = begin[:3, 3], through, end[:3, 3]
    normal = np.cross(b - a, c - a)
    rows, right = [2.0 * (b - a), 2.0 * (c - a), normal], [b @ b - a @ a, c @ c - a @ a, normal @ a]
    centre = np.linalg.solve(np.array(rows), np.array(right))
    radius = np.linalg.norm(a - centre)
    assert np.linalg.norm(places - centre, axis=1) == pytest.approx(np.full(len(t), radius), abs=1e-6)
    assert (places - a) @ normal / np.linalg.norm(normal) == pytest.approx(np.zeros(len(t)), abs=1e-6)
    at = np.linalg.norm(places - through, axis=1)
    assert at.min() < 1e-4
    assert 0 < at.argmin() < len(t) - 1
    assert titan.forward(path.end) == pytest.approx(end, abs=1e-6)
    speed = np.linalg.norm(twists(titan, path, t)[:, :3], axis=1)
    assert speed.max() == pytest.approx(SPEED, rel=1e-5)
    # The way is radius times angle: 1/(1 − ramp) of the time at full speed.
    length = np.linalg.norm(np.diff(places, axis=0), axis=1).sum()
    assert length == pytest.approx(arc(begin, through, end).length, rel=1e-5)


def test_an_arc_goes_the_long_way_round_where_its_point_is_there():
    start, end = transform([1.0, 0.0, 0.5, 0, 0, 0]), transform([0.0, 1.0, 0.5, 0, 0, 0])
    short, long = arc(start, [sqrt(0.5), sqrt(0.5), 0.5], end), arc(start, [0.0, -1.0, 0.5], end)
    assert (short.length, long.length) == pytest.approx((0.5 * pi, 1.5 * pi))
    assert long.poses(np.array([1.0 / 3.0]))[0][:3, 3] == pytest.approx([0.0, -1.0, 0.5])
    assert short.poses(np.array([1.0]))[0] == pytest.approx(end)


@pytest.mark.parametrize(
    ("through", "end", "key", "words"),
    [
        ([1.5, 0.0, 0.0], [2.0, 0.0, 0.0], "through", "lie on a straight line"),
        ([1.0, 0.0, 0.0], [2.0, 0.0, 0.0], "through", "lie on a straight line"),
        ([2.0, 0.0, 0.0], [2.0, 0.0, 0.0], "through", "lie on a straight line"),
        ([1.5, 1.0, 0.0], [1.0, 0.0, 0.0], "pose", "go round a circle by two arcs"),
    ],
)
def test_points_that_make_no_circle_are_refused(through, end, key, words):
    with pytest.raises(InputError, match=words) as caught:
        arc(transform([1.0, 0, 0, 0, 0, 0]), np.array(through), transform([*end, 0, 0, 0]))
    assert caught.value.problems[0].key == key


# --- refusals --------------------------------------------------------------------------------------------------------


def test_a_path_out_of_reach_is_refused_where_the_arm_is_stretched(titan):
    """In the plane of the arm with a level hand, the wrist is stretched at a1 + √((a2 + a3)² − z²) from the base."""
    start = np.array([0.0, 0.5, -1.0, 0.5, 0.0, 0.0])
    begin = titan.forward(start)
    a1, a2, a3 = 0.120, 0.851, 0.483
    x0, z = a1 + a2 * np.cos(0.5) + a3 * np.cos(0.5), (a2 - a3) * np.sin(0.5)
    assert begin[0, 3] == pytest.approx(x0 + 0.133 + 0.335)
    share = (a1 + sqrt((a2 + a3) ** 2 - z**2) - x0) / 0.4
    found = refusal(titan, line(begin, moved(begin, [0.4, 0.0, 0.0])), start)
    assert found.startswith(f"pose: at {100.0 * share:.3g} % of the way, at (")
    assert found.endswith("the path leaves the workspace: out of reach")


def test_a_path_out_of_a_joints_range_is_refused_by_its_name(titan):
    start = np.array([0.0, -0.6, -1.0, 0.8, 0.0, 0.0])
    begin = titan.forward(start)
    found = refusal(titan, line(begin, moved(begin, [0.0, 0.0, -0.2])), start)
    assert "the path leaves the range of joint 'shoulder_pitch', -0.6981 to 1.571 rad (needs -" in found
    share = float(found.split("at ")[1].split(" %")[0]) / 100.0
    free = titan.inverse(moved(begin, [0.0, 0.0, -0.2 * share]), present=start, limits=False)
    assert free.best[1] == pytest.approx(titan.lower[1], abs=0.01)


def test_a_path_that_only_another_branch_reaches_is_refused(puma):
    start = np.array([0.2, 0.9, -2.2, 2.7, 0.8, 0.3])
    end = puma.forward(start + np.array([0.0, 0.0, 0.0, 0.5, 0.0, 0.0]))
    assert puma.inverse(end, present=start)
    found = refusal(puma, line(puma.forward(start), end), start)
    assert "the path leaves the range of joint 'wrist_roll', -1.92 to 2.967 rad" in found
    assert "only another branch (" in found
    assert "the tool would have to stop and change over by a joint move" in found


def test_a_path_that_needs_a_whole_turn_back_is_refused(puma):
    start = np.array([0.2, 0.9, -2.2, 0.3, 0.8, 4.5])
    begin = puma.forward(start)
    end = begin.copy()
    end[:3, :3] = rotation_about(begin[:3, 2], np.array([0.6]))[0] @ begin[:3, :3]
    found = refusal(puma, line(begin, end), start)
    assert "the path leaves the range of joint 'tool_roll', -4.643 to 4.643 rad (needs 5.1 rad)" in found
    assert "only a joint a whole turn back reaches it" in found


def test_a_path_through_a_singularity_is_refused(titan):
    """Both ends are in reach and in range; between them the wrist would pass 90°, where two branches meet."""
    start = np.array([0.3, 0.6, -1.0, 0.2, 1.5, 0.4])
    end = titan.forward(start + np.array([0.0, 0.0, 0.0, 0.0, 0.15, 0.0]))
    assert titan.inverse(end, present=start)
    found = refusal(titan, line(titan.forward(start), end), start)
    assert "the path passes a singularity (joint '" in found
    assert "the joints would have to jump to another branch" in found
    share = float(found.split("at ")[1].split(" %")[0]) / 100.0
    place = line(titan.forward(start), end).poses(np.array([share]))[0]
    assert titan.manipulability(titan.inverse(place, present=start).best) < 1e-2 * titan.manipulability(TITAN_START)


def test_a_path_from_a_singularity_is_refused(titan):
    begin = titan.forward(np.zeros(6))
    found = refusal(titan, line(begin, moved(begin, [-0.3, 0.0, 0.0])), np.zeros(6))
    assert found.startswith("pose: the arm is singular where this begins (joint 'elbow')")


def test_a_path_beside_a_singularity_is_refused_unless_its_time_is_given(titan):
    start = np.array([0.346, 0.505, -0.824, -1.634, 1.339, -1.034])
    course = line(titan.forward(start), transform([1.2821, 0.8757, 0.0586, -1.279, 0.73, 0.502]))
    found = refusal(titan, course, start)
    assert "the path passes too near a singularity: because of joint 'wrist_pitch' it would take" in found
    path = go(titan, course, start, duration=float(found.split("would take ")[1].split(" s")[0]))
    _, v, a = path.sampled(np.linspace(0.0, path.duration, 100001))
    assert (np.abs(v) <= titan.speed).all()
    assert (np.abs(a) <= titan.acceleration).all()


# --- parts -----------------------------------------------------------------------------------------------------------


def test_joint_rates_are_derivatives_along_a_course(titan, scara):
    """q' and q'' from the Jacobian, against solutions of inverse kinematics on both sides."""
    begin = titan.forward(TITAN_START)
    course = arc(begin, begin[:3, 3] + [-0.3, -0.2, 0.2], moved(begin, [-0.1, -0.6, 0.0], pitch=0.4))
    h, s = 1e-4, np.array([0.3])
    q = [titan.inverse(course.poses(s + k * h)[0], present=TITAN_START).best for k in (-1, 0, 1)]
    first, second = joint_rates(titan, q[1][None], *course.rates(s))
    assert (q[2] - q[0]) / (2.0 * h) == pytest.approx(first[0], abs=1e-6)
    assert (q[2] - 2.0 * q[1] + q[0]) / h**2 == pytest.approx(second[0], abs=1e-5)
    # With a joint that slides: J' by differences of the Jacobian.
    q, v, a = np.array([0.3, 0.8, 0.1, 0.2]), np.array([0.7, -0.4, 0.3, 1.1]), np.array([0.2, 0.5, -0.1, 0.4])
    change = (scara.jacobian(q + 1e-6 * v) - scara.jacobian(q - 1e-6 * v)) / 2e-6
    twist = scara.jacobian(q) @ v
    rates = joint_rates(scara, q[None], twist[None], (scara.jacobian(q) @ a + change @ v)[None])
    assert rates[0][0] == pytest.approx(v, abs=1e-9)
    assert rates[1][0] == pytest.approx(a, abs=1e-8)


@pytest.mark.parametrize("ramp", [0.1, 0.3, 0.5])
def test_the_smooth_trapezoid_is_smooth_and_as_fast_as_it_says(ramp):
    t = np.linspace(0.0, 1.0, 100001)
    s, first, second = smooth_trapezoid(ramp, t)
    assert (s[0], s[-1], first[0], first[-1], second[0], second[-1]) == pytest.approx((0, 1, 0, 0, 0, 0), abs=1e-12)
    assert first.max() == pytest.approx(1.0 / (1.0 - ramp))
    assert np.abs(second).max() == pytest.approx(1.5 / (1.0 - ramp) / ramp)
    assert np.gradient(s, t)[1:-1] == pytest.approx(first[1:-1], abs=1e-6)
    assert np.gradient(first, t)[1:-1] == pytest.approx(second[1:-1], abs=2e-2)
    middle = (t > ramp) & (t < 1.0 - ramp)
    assert (np.abs(second[middle]) < 1e-9).all()


@pytest.mark.parametrize("angle", [1e-13, 1e-9, 1e-4, 0.5, 2.0, 3.0, pi - 1e-6, pi - 1e-12])
def test_the_turn_between_two_attitudes_is_the_shortest(angle):
    rng = np.random.default_rng(4)
    for _ in range(20):
        one, vector = Rotation.random(rng=rng), rng.normal(size=3)
        axis = vector / np.linalg.norm(vector)
        other = Rotation.from_rotvec(angle * axis) * one
        found, by = turn_between(one.as_matrix(), other.as_matrix())
        assert by == pytest.approx(angle if angle > 1e-12 else 0.0, abs=2e-15 + 1e-8 * angle)
        assert rotation_about(found, np.array([by]))[0] @ one.as_matrix() == pytest.approx(other.as_matrix(), abs=1e-12)


def test_half_a_turn_is_made_about_one_of_both_ways():
    one, other = np.eye(3), np.diag([-1.0, 1.0, -1.0])
    axis, angle = turn_between(one, other)
    assert angle == pytest.approx(pi)
    assert np.abs(axis) == pytest.approx([0.0, 1.0, 0.0])
