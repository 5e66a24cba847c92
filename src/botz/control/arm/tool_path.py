"""Paths of a tool along its course, turned into paths of the joints on one branch of inverse kinematics."""

from __future__ import annotations

from collections.abc import Callable
from math import pi, sqrt

import numpy as np

from botz.control.arm.joint_path import SLACK, JointPath, Limits, Moment, rounded_up, too_much
from botz.control.arm.tool_course import Course
from botz.errors import InputError, Problem
from botz.physics.arm.dh import REVOLUTE
from botz.robots.serial_arm import SerialArm

STRAY = 1e-6
"""How far the tool may be from its course between two points that were solved [m, rad]."""
PIECES = 32
"""Into which a course is cut at first."""
INNER = np.array([0.25, 0.5, 0.75])
"""Where each piece is checked."""
FINEST = 2.0**-22
"""Pieces of a course are not cut below this share: what still does not fit is no path."""
MOST_PIECES = 20_000
SINGULAR = 1e-6
"""Smallest singular value of the Jacobian by the largest, turns counted by the arm's reach, at which an arm is taken as
singular."""
NEARLY_SINGULAR = 1e-2
"""The same, where the reason is looked for why a path does not go on."""
RAMPS = np.linspace(0.1, 0.5, 9)
"""Shares of the time for speeding up, and the same for slowing down, that are tried."""
MOMENTS = np.linspace(0.0, 1.0, 801)
"""Shares of the time at which they are judged."""
SLOWEST = 20.0
"""How many times the usual demand on the joints a single place of a course may ask, where no duration is given."""


def tool_path(
    arm: SerialArm, course: Course, start: np.ndarray, *, speed: float, turn_rate: float, duration: float | None = None
) -> JointPath:
    """The joints from `start` along the course in time, from rest to rest: the tool's speed rises smoothly, stays, and
    falls. As fast as `speed`, `turn_rate` and the joints' limits allow, or in `duration`; InputError where that is
    shorter, or where the course cannot be followed."""
    start = np.asarray(start, dtype=float)
    if course.length < 1e-9 and course.angle < 1e-9:
        return JointPath.hold(start, duration or 0.0)
    limits = Limits.of(arm)
    by_share = follow(arm, course, start)
    needed = [_needed(by_share, course, limits, speed, turn_rate, ramp) for ramp in RAMPS]
    ramp = float(RAMPS[int(np.argmin(needed))])

    def sample(t: np.ndarray) -> Moment:
        return _composed(by_share, *smooth_trapezoid(ramp, t))

    nodes = np.concatenate([ramp * np.linspace(0.0, 1.0, 9), np.linspace(ramp, 1.0 - ramp, PIECES),
                            1.0 - ramp * np.linspace(1.0, 0.0, 9)])  # fmt: skip
    path = _refined(np.unique(nodes), sample, lambda t: course.poses(smooth_trapezoid(ramp, t)[0]), arm, 0.6 * STRAY)
    if isinstance(path, float):
        raise _no_path(arm, course, start, float(smooth_trapezoid(ramp, np.array([path]))[0][0]))
    by_tool = max(course.length / speed, course.angle / turn_rate) / (1.0 - ramp)
    by_joints = path.demand(limits)
    least = max(by_tool, float(by_joints.max()))
    if duration is None:
        _refuse_crawling(course, by_share, path, limits, max(by_tool, 1e-12), ramp)
        return path.stretched(least)
    if duration < least * (1.0 - SLACK):
        why = _tool_demand(course, speed, turn_rate, duration * (1.0 - ramp))
        if by_joints.max() > by_tool:
            why = too_much(path, limits, int(by_joints.max(axis=0).argmax()), duration)
        text = f"{duration:g} s are too short: {why}; the least is {rounded_up(least):g} s"
        raise InputError(Problem(text, key="duration"))
    return path.stretched(duration)


# --- time along a course ---------------------------------------------------------------------------------------------


def smooth_trapezoid(ramp: float, t: np.ndarray) -> Moment:
    """Share of the way and its first and second derivatives by the share t of the time: a speed that rises by
    3 x² − 2 x³ over `ramp`, stays at 1/(1 − ramp), and falls likewise. The acceleration is continuous, and 0 at the
    ends."""
    top = 1.0 / (1.0 - ramp)
    t = np.asarray(t, dtype=float)
    late = t > 0.5
    early = np.where(late, 1.0 - t, t)
    x = np.minimum(early / ramp, 1.0)
    s = top * (ramp * x**3 * (1.0 - 0.5 * x) + np.maximum(early - ramp, 0.0))
    second = 6.0 * top / ramp * x * (1.0 - x)
    return np.where(late, 1.0 - s, s), top * x * x * (3.0 - 2.0 * x), np.where(late, -second, second)


def _composed(by_share: JointPath, s: np.ndarray, s1: np.ndarray, s2: np.ndarray) -> Moment:
    q, first, second = by_share.sampled(np.clip(s, 0.0, 1.0))
    return q, first * s1[:, None], second * s1[:, None] ** 2 + first * s2[:, None]


def _needed(by_share: JointPath, course: Course, limits: Limits, speed: float, turn_rate: float, ramp: float) -> float:
    """Least duration with this share of ramps."""
    _, v, a = _composed(by_share, *smooth_trapezoid(ramp, MOMENTS))
    by_joints = max((np.abs(v) / limits.speed).max(), np.sqrt((np.abs(a) / limits.acceleration).max()))
    return max(max(course.length / speed, course.angle / turn_rate) / (1.0 - ramp), float(by_joints))


def _tool_demand(course: Course, speed: float, turn_rate: float, time: float) -> str:
    if course.length / speed >= course.angle / turn_rate:
        return f"the tool would need {course.length / time:.4g} m/s, its 'speed' is {speed:.4g} m/s"
    return f"the tool would need {course.angle / time:.4g} rad/s, its 'turn_rate' is {turn_rate:.4g} rad/s"


def _refuse_crawling(
    course: Course, by_share: JointPath, path: JointPath, limits: Limits, by_tool: float, ramp: float
) -> None:
    """Beside a singularity a joint has to race while the tool hardly moves: a whole course that creeps because of one
    such place is not what anyone wants, unless they say how long it may take."""
    demand = path.demand(limits)
    usual = float(np.median((np.abs(by_share.sampled(MOMENTS)[1]) / limits.speed).max(axis=1)))
    if demand.max() <= SLOWEST * max(by_tool, usual):
        return
    k, i = np.unravel_index(int(demand.argmax()), demand.shape)
    s = float(smooth_trapezoid(ramp, np.array([0.5 * (path.times[k] + path.times[k + 1])]))[0][0])
    raise InputError(Problem(
        f"{place(course, s)} the path passes too near a singularity: because of joint {limits.names[int(i)]!r} it "
        f"would take {rounded_up(float(demand.max())):g} s instead of {by_tool:.3g} s; keep away, or give 'duration'",
        key="pose",
    ))  # fmt: skip


# --- joints along a course -------------------------------------------------------------------------------------------


def follow(arm: SerialArm, course: Course, start: np.ndarray) -> JointPath:
    """The joints by the share of the course, from `start` on the branch that it is on, the tool on its course within
    STRAY; InputError where there is no such path, with the place and the reason."""
    _refuse_singular_start(arm, start)

    def sample(s: np.ndarray) -> Moment:
        q = _tracked(arm, course, s, start)
        return q, *joint_rates(arm, q, *course.rates(s))

    path = _refined(np.linspace(0.0, 1.0, PIECES + 1), sample, course.poses, arm, 0.2 * STRAY)
    if isinstance(path, float):
        raise _no_path(arm, course, start, path)
    return _within_range(arm, course, path)


def joint_rates(arm: SerialArm, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """First and second derivatives of the joints (N, n) from those of the tool, (N, 6) each:
    J q' = V and J q'' = A − J' q'.

    With the columns (J_v, J_ω) of a chain, w_i = J_ω,i q'_i, v_i = J_v,i q'_i and Ω_i = Σ_{j<i} w_j the last term is
    Σ (2 Ω_i + w_i) × v_i in its linear part and Σ Ω_i × w_i in its angular one.
    """
    jacobians = arm.jacobian(q)
    first = _solved(jacobians, v)
    parts = np.swapaxes(jacobians * first[:, None, :], 1, 2)
    linear, angular = parts[:, :, :3], parts[:, :, 3:]
    before = np.cumsum(angular, axis=1) - angular
    bias = np.hstack([
        np.cross(2.0 * before + angular, linear).sum(axis=1), np.cross(before, angular).sum(axis=1)
    ])  # fmt: skip
    return first, _solved(jacobians, a - bias)


def _solved(jacobians: np.ndarray, right: np.ndarray) -> np.ndarray:
    if jacobians.shape[1] == jacobians.shape[2]:
        try:
            return np.linalg.solve(jacobians, right[:, :, None])[:, :, 0]
        except np.linalg.LinAlgError:
            pass  # singular somewhere: the least solution there, and the piece will not fit
    return (np.linalg.pinv(jacobians) @ right[:, :, None])[:, :, 0]


def _tracked(arm: SerialArm, course: Course, s: np.ndarray, start: np.ndarray) -> np.ndarray:
    """Joints at the shares `s`, each the solution nearest to the one before that lies on the same side of the
    singularities; angles go on past ±180°. Ranges are left out of it: a path that leaves them is to be found."""
    poses = course.poses(s)
    q = np.empty((len(s), arm.n))
    q[0] = start
    if arm.solver.kind == "numeric":
        # From each place the search begins at the one before.
        for k in range(1, len(s)):
            found = arm.inverse(poses[k], present=q[k - 1], limits=False, every=False)
            if not found:
                raise _out_of_reach(arm, course, s[: k + 1], q[:k])
            candidates = _near(arm, found.joints, q[k - 1])
            q[k] = candidates[np.abs(candidates - q[k - 1]).max(axis=1).argmin()]
        return q
    every = arm.inverse_many(poses, present=start, limits=False)
    side = np.sign(_determinants(arm, every.joints.reshape(-1, arm.n))).reshape(every.codes.shape)
    own = np.sign(_determinants(arm, start[None]))[0]
    for k in range(1, len(s)):
        count = int(every.counts[k])
        if count == 0:
            raise _out_of_reach(arm, course, s[: k + 1], q[:k])
        candidates = _near(arm, every.joints[k, :count], q[k - 1])
        far = np.abs(candidates - q[k - 1]).max(axis=1)
        far[side[k, :count] != own] += 1e3
        q[k] = candidates[far.argmin()]
    return q


def _near(arm: SerialArm, candidates: np.ndarray, q: np.ndarray) -> np.ndarray:
    """The same directions of revolute joints, whole turns away, nearest to `q`."""
    turn = np.where(arm.links["kind"] == REVOLUTE, 2.0 * pi, np.inf)
    return candidates - np.where(np.isfinite(turn), 2.0 * pi, 0.0) * np.round((candidates - q) / turn)


def _determinants(arm: SerialArm, q: np.ndarray) -> np.ndarray:
    """Of the Jacobian: its sign changes where a path passes a singularity; 1 of arms for which it has none."""
    return np.linalg.det(arm.jacobian(q)) if arm.n == 6 else np.ones(len(q))


def _refined(
    nodes: np.ndarray,
    sample: Callable[[np.ndarray], Moment],
    poses: Callable[[np.ndarray], np.ndarray],
    arm: SerialArm,
    stray: float,
) -> JointPath | float:
    """Quintic pieces between nodes, halved until the tool is at `poses` within `stray` at three places of each; where
    that does not come to an end, the place."""
    shortest = FINEST * (nodes[-1] - nodes[0])
    while True:
        # Rates at a singularity may be beyond all numbers; such a piece does not fit.
        with np.errstate(over="ignore", invalid="ignore"):
            path = JointPath.hermite(nodes, *sample(nodes))
            inner = (nodes[:-1, None] + path.lengths[:, None] * INNER).ravel()
            off = apart(arm.forward(path.sampled(inner)[0]), poses(inner)).reshape(-1, len(INNER)).max(axis=1)
        bad = np.flatnonzero(~(off <= stray))
        if not len(bad):
            return path
        if path.lengths[bad].min() < shortest or len(nodes) > MOST_PIECES:
            return float(nodes[bad[path.lengths[bad].argmin()]])
        nodes = np.sort(np.concatenate([nodes, 0.5 * (nodes[bad] + nodes[bad + 1])]))


def apart(poses: np.ndarray, others: np.ndarray) -> np.ndarray:
    """How far poses are apart: the distance [m] or the angle [rad], whichever is more. Of small angles ‖R − S‖ is √2
    times the angle."""
    difference = poses - others
    distance = np.linalg.norm(difference[:, :3, 3], axis=1)
    return np.maximum(distance, np.linalg.norm(difference[:, :3, :3], axis=(1, 2)) / sqrt(2.0))


# --- refusals --------------------------------------------------------------------------------------------------------


def place(course: Course, s: float) -> str:
    x, y, z = course.points(np.array([s]))[0][0]
    return f"at {100.0 * s:.3g} % of the way, at ({x:.3f}, {y:.3f}, {z:.3f}),"


def unreachable(arm: SerialArm, pose: np.ndarray, present: np.ndarray) -> str:
    """Why a pose without solutions has none."""
    found = arm.inverse(pose, present=present, limits=False)
    if not found:
        return found.status
    return f"outside {outside_of(Limits.of(arm), found.best)}"


def outside_of(limits: Limits, q: np.ndarray) -> str:
    """The range of the joint that is furthest outside it."""
    i = int(np.maximum(limits.lower - q, q - limits.upper).argmax())
    low, high, unit = limits.lower[i], limits.upper[i], limits.units[i]
    return f"the range of joint {limits.names[i]!r}, {low:.4g} to {high:.4g} {unit} (needs {q[i]:.4g} {unit})"


def _out_of_reach(arm: SerialArm, course: Course, s: np.ndarray, q: np.ndarray) -> InputError:
    """Of a course whose joints are known at all shares but the last, which has none; where they leave a range before
    that, this is what is said."""
    if (error := _out_of_range(arm, course, s[:-1], q)) is not None:
        return error
    good, bad = float(s[-2]), float(s[-1])
    for _ in range(40):
        middle = 0.5 * (good + bad)
        if arm.inverse(course.poses(np.array([middle]))[0], present=q[-1], limits=False, every=False):
            good = middle
        else:
            bad = middle
    status = arm.inverse(course.poses(np.array([bad]))[0], present=q[-1], limits=False, every=False).status
    return InputError(Problem(f"{place(course, bad)} the path leaves the workspace: {status}", key="pose"))


def _within_range(arm: SerialArm, course: Course, path: JointPath) -> JointPath:
    limits = Limits.of(arm)
    low, high = path.extent()
    if (low < limits.lower - SLACK).any() or (high > limits.upper + SLACK).any():
        s = np.union1d(np.linspace(0.0, 1.0, 20 * PIECES + 1), path.times)
        error = _out_of_range(arm, course, s, path.sampled(s)[0])
        if error is not None:
            raise error
    return path


def _out_of_range(arm: SerialArm, course: Course, s: np.ndarray, q: np.ndarray) -> InputError | None:
    """Where and which joint leaves its range first, how far it would go, and what else would reach there."""
    limits = Limits.of(arm)
    beyond = np.maximum(limits.lower - q, q - limits.upper)
    out = np.flatnonzero((beyond > 1e-6).any(axis=1))
    if not len(out):
        return None
    k = int(out[0])
    i = int(beyond[k].argmax())
    worst = q[k].copy()
    worst[i] = q[beyond[:, i].argmax(), i]
    crossing = float(s[k])
    if k > 0:
        crossing -= float((s[k] - s[k - 1]) * beyond[k, i] / (beyond[k, i] - min(beyond[k - 1, i], 0.0)))
    text = f"{place(course, crossing)} the path leaves {outside_of(limits, worst)}"
    others = arm.inverse(course.poses(s[k : k + 1])[0], present=q[k])
    if others:
        turned = np.abs(_near(arm, others.joints, q[k]) - q[k]).max(axis=1).min() < 1e-6
        branch = f" ({others.branches[0]})" if others.branches[0] else ""
        way = "a joint a whole turn back" if turned else f"another branch{branch}"
        text += f"; only {way} reaches it, and the tool would have to stop and change over by a joint move"
    return InputError(Problem(text, key="pose"))


def _weakness(arm: SerialArm, q: np.ndarray) -> tuple[float, str]:
    """How near a position is to a singularity, as the Jacobian's smallest singular value by its largest, and the joint
    that would race there."""
    reach = arm.reach
    _, sizes, right = np.linalg.svd(np.array([1.0, 1.0, 1.0, reach, reach, reach])[:, None] * arm.jacobian(q))
    least = min(6, arm.n) - 1
    return float(sizes[least] / sizes[0]), arm.names[int(np.abs(right[least]).argmax())]


def _refuse_singular_start(arm: SerialArm, q: np.ndarray) -> None:
    share, joint = _weakness(arm, q)
    if share < SINGULAR:
        text = f"the arm is singular where this begins (joint {joint!r}): leave that position by a joint move first"
        raise InputError(Problem(text, key="pose"))


def _no_path(arm: SerialArm, course: Course, start: np.ndarray, s: float) -> InputError:
    """Why no cutting made the pieces fit at s: a singularity there, or solutions that do not hang together."""
    found = arm.inverse(course.poses(np.array([s]))[0], present=start, limits=False)
    weakest = min((_weakness(arm, q) for q in found.joints), default=(1.0, ""))
    if weakest[0] < NEARLY_SINGULAR:
        names = f", {', '.join(found.singular)}" if found.singular else ""
        why = f"passes a singularity (joint {weakest[1]!r}{names}): the joints would have to jump to another branch"
        return InputError(Problem(f"{place(course, s)} the path {why}; go round it, or use a joint move", key="pose"))
    text = f"{place(course, s)} the joints would have to jump to another branch; use a joint move"
    return InputError(Problem(text, key="pose"))
