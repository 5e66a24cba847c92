"""Inverse kinematics where it is hard: at singular poses, near them, at the edge of the workspace and beyond it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from botz.verify.arm.inverse import POSE, STANDING, Solved, anywhere, many_of, reachable, wrapped
from botz.verify.arm.rig import SHIPPED, Case, case, put_anywhere, random_turn, shipped, still
from botz.verify.checks import Check, close, same, worst

STEP = 0.05
"""Way from one point of a curve of solutions to the next, in joint space [rad]."""
AROUND = 400
"""Points of a curve: more than one time around."""
DOUBLE = 1e-6
"""Where two solutions meet, a rounding ε of the pose moves them by √ε = 1.5e-8; by lengths beside, 1e-6 [rad]."""


def chosen(q: np.ndarray, one: Case, kind: str) -> np.ndarray:
    """Joints inside the ranges, made singular."""
    q = q.copy()
    if one.arm.solver.kind == "titan4":
        match kind:
            case "all joints at zero":
                q[:] = 0.0
            case "straight elbow":
                q[:, 2] = 0.0
            case "wrist at 90°":
                q[:, 4] = np.pi / 2
            case "wrist at −90°":
                q[:, 4] = -np.pi / 2
            case "on the axis of joint 1":
                q[:, 1:4] = on_the_axis(q[:, 1:4], one)
            case "on the axis of joint 1, wrist at 90°":
                q[:, 1:4] = on_the_axis(q[:, 1:4], one)
                q[:, 4] = np.pi / 2
    else:
        match kind:
            case "all joints at zero":
                q[:] = 0.0
            case "wrist straight":
                q[:, 4] = 0.0
            case "elbow stretched":
                # The forearm, with its offset, in line with the upper arm.
                rows = list(one.arm.robot.joints.values())
                q[:, 2] = -np.pi / 2 + np.arctan2(rows[2].a, rows[3].d) if rows[2].a else -np.pi / 2
            case "elbow stretched, wrist straight":
                q = chosen(chosen(q, one, "elbow stretched"), one, "wrist straight")
    return q


def on_the_axis(q: np.ndarray, one: Case) -> np.ndarray:
    """θ₂, θ₃, θ₄ that put the wrist's centre on the axis of joint 1: θ₂ follows from L₂ + L₃C₂ + L₄C₂₃ + L₅C₂₃₄ = 0."""
    rows = list(one.arm.robot.joints.values())
    l2, l3, l4, l5 = (rows[k].a for k in range(4))
    found = np.zeros_like(q)
    for k, (_, theta3, theta4) in enumerate(q):
        # A chain bent by θ₃ and θ₄, turned as a whole until its end is at −L₂.
        for _ in range(200):
            end = l3 + l4 * np.exp(1j * theta3) + l5 * np.exp(1j * (theta3 + theta4))
            if abs(end) > l2:
                theta2 = np.arccos(-l2 / abs(end)) - np.angle(end)
                if one.arm.lower[1] <= theta2 <= one.arm.upper[1]:
                    break
            theta3, theta4 = one.arm.lower[2:4] + (one.arm.upper - one.arm.lower)[2:4] * _halton(k + 1, theta3)
        found[k] = theta2, theta3, theta4
    return found


def _halton(k: int, seed: float) -> np.ndarray:
    """Two numbers of 0 … 1 from two others: no chance is involved."""
    return np.array([(0.7548776662 * k + 3.3 * seed + 0.5) % 1.0, (0.5698402910 * k + 7.7 * seed + 0.25) % 1.0])


KINDS = {
    "titan4": (
        "all joints at zero",
        "straight elbow",
        "wrist at 90°",
        "wrist at −90°",
        "on the axis of joint 1",
        "on the axis of joint 1, wrist at 90°",
    ),
    "puma560": ("all joints at zero", "wrist straight", "elbow stretched", "elbow stretched, wrist straight"),
}


def cheapest_of_the_curve(one: Case, q: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Least mean square distance to what is wanted along the curve of solutions through each q, by brute force: on
    along the null space of J by small steps, each brought back to the pose by Newton's method; both ways around."""
    chain, arm = one.chain, one.arm
    poses = chain.frames(q)[:, -1]
    best = np.full(len(q), np.inf)
    for sign in (1.0, -1.0):
        now = q.copy()
        before = np.zeros_like(q)
        for _ in range(AROUND):
            away = now - wanted
            # Whole turns are free where the range allows them.
            for turn in (-2.0 * np.pi, 0.0, 2.0 * np.pi):
                moved = now + turn
                legal = (moved >= arm.lower - 1e-9) & (moved <= arm.upper + 1e-9)
                away = np.where(legal & (np.abs(moved - wanted) < np.abs(away)), moved - wanted, away)
            inside = arm.within(wanted + away, 1e-9)
            best = np.where(inside, np.minimum(best, np.mean(away**2, axis=1)), best)
            _, _, right = np.linalg.svd(arm.jacobian(now))
            tangent = right[:, -1]
            ahead = np.sum(tangent * before, axis=1)
            tangent = tangent * np.where(before.any(axis=1), np.sign(ahead) + (ahead == 0.0), sign)[:, None]
            before = tangent
            now = now + STEP * tangent
            for _ in range(2):
                frames = chain.frames(now)[:, -1]
                miss = np.zeros((len(q), 6))
                miss[:, :3] = poses[:, :3, 3] - frames[:, :3, 3]
                turned = poses[:, :3, :3] @ frames[:, :3, :3].swapaxes(1, 2)
                miss[:, 3] = 0.5 * (turned[:, 2, 1] - turned[:, 1, 2])
                miss[:, 4] = 0.5 * (turned[:, 0, 2] - turned[:, 2, 0])
                miss[:, 5] = 0.5 * (turned[:, 1, 0] - turned[:, 0, 1])
                back = np.linalg.pinv(arm.jacobian(now), rcond=1e-4)
                now = now + np.einsum("nij,nj->ni", back, miss)
            # A point that has left the pose ends the search there.
            lost = np.abs(chain.frames(now)[:, -1] - poses).max(axis=(1, 2)) > 1e-7
            now[lost], before[lost] = q[lost], 0.0
    return best


def singular_poses(samples: int) -> Iterator[Check]:
    """At singular poses: solutions that give the pose, the joints that it was made of among them where none is free,
    and a free joint where the cost is least: no dearer than any point of the curve of solutions."""
    rng = np.random.default_rng(40)
    for name, kinds in KINDS.items():
        for kind in kinds:
            count = 1 if kind == "all joints at zero" else max(min(samples // 30, 300), 4)
            one = case(put_anywhere(rng, shipped(name)), STANDING) if count > 1 else still(shipped(name))
            q = chosen(reachable(rng, one, count)[0], one, kind)
            wanted = reachable(rng, one, count)[0]
            poses = one.chain.frames(q)[:, -1]
            solved = Solved.of(one, poses, present=wanted)
            of = f"{name}, {kind}"
            none = int(np.sum(solved.found.counts == 0))
            yield close(f"{of}: of {count} poses without a solution", 0.0, float(none), 0.0, "Each was made of joints.")
            marked = sum(bool(solved.found[k].singular) for k in range(count))
            yield close(f"{of}: marked as singular", float(count), float(marked), 0.0, "All of them.")
            yield worst(f"{of}: pose again [m, 1]", solved.misses(), POSE, "Stated: 1e-9.")
            yield close(f"{of}: solutions there twice", 0.0, float(solved.twice()), 0.0, "Pairs within 1e-6 rad.")
            free = any("singular" in word for k in range(count) for word in solved.found[k].singular)
            if free:
                dearest = cheapest_of_the_curve(one, q, wanted)
                extra = solved.found.costs[:, 0] - dearest
                why = "The curve is followed in steps, and so never cheaper than its best point; pose and cost to 1e-9."
                yield worst(f"{of}: cost above the best of the curve [rad²]", np.maximum(extra, 0.0), 1e-8, why)
            else:
                why = "Where two solutions meet, q is known to the root of a rounding: 1e-6."
                yield worst(f"{of}: the joints it was made of [rad]", solved.nearest(q), DOUBLE, why)


def near_singular_poses(samples: int) -> Iterator[Check]:
    """Poses 1e-1, 1e-2, … 1e-16 from singular ones: nothing explodes, every solution gives the pose again."""
    del samples
    rng = np.random.default_rng(41)
    for name, kinds in KINDS.items():
        misses, none, bad, twice = [], 0, 0, 0
        for kind in kinds:
            one = anywhere(rng, name)
            q = chosen(reachable(rng, one, 20)[0], one, kind)
            for power in range(1, 17):
                near = q + 10.0**-power * rng.uniform(-1.0, 1.0, q.shape)
                solved = Solved.of(one, one.chain.frames(near)[:, -1], limits=False)
                none += int(np.sum(solved.found.counts == 0))
                bad += int(np.sum(~np.isfinite(solved.found.joints))) + int(np.sum(~np.isfinite(solved.found.costs)))
                misses.append(solved.misses().max())
                twice += solved.twice()
        yield worst(f"near singular poses, {name}: pose again [m, 1]", misses, POSE, "Stated: 1e-9.")
        yield close(f"near singular poses, {name}: without a solution", 0.0, float(none), 0.0, "Made of joints.")
        yield close(f"near singular poses, {name}: numbers that are none", 0.0, float(bad), 0.0, "Exactly.")
        yield close(f"near singular poses, {name}: solutions there twice", 0.0, float(twice), 0.0, "Within 1e-6 rad.")


def edge_of_the_workspace(samples: int) -> Iterator[Check]:
    """A stretched arm drawn in and pushed out along its line: solved inside, out of reach by word outside."""
    del samples
    one = still(shipped("titan4"))
    stretched = one.chain.frames(np.zeros((1, 6)))[0, -1]
    outside, inside, misses = 0, 0, []
    for power in range(1, 9):
        for sign in (-1.0, 1.0):
            pose = stretched.copy()
            pose[0, 3] += sign * 10.0**-power
            found = one.arm.inverse(pose, limits=False)
            if sign > 0.0:
                outside += found.status == "out of reach" and not len(found.joints)
            else:
                inside += found.status == "solved"
                misses.append(Solved.of(one, pose[None], limits=False).misses().max())
    why = "From 0.1 m to 10 nm."
    yield close("titan4 stretched and drawn in: solved", 8.0, float(inside), 0.0, why)
    yield worst("titan4 stretched and drawn in: pose again [m, 1]", misses, POSE, "Stated: 1e-9.")
    yield close("titan4 stretched and pushed out: out of reach", 8.0, float(outside), 0.0, why)


def poses_anywhere(samples: int) -> Iterator[Check]:
    """Any pose at all, from the base's origin to a million metres: numbers or a word, never NaN; what is found fits."""
    rng = np.random.default_rng(42)
    for name in SHIPPED:
        one = anywhere(rng, name)
        count = many_of(samples) // 3
        poses = np.zeros((count, 4, 4))
        poses[:, :3, :3] = [random_turn(rng) for _ in range(count)]
        poses[:, 3, 3] = 1.0
        sizes = 10.0 ** rng.uniform(-12.0, 6.0, (count, 1)) * rng.integers(0, 2, (count, 1))
        sizes[: count // 2] = one.chain.reach
        poses[:, :3, 3] = one.chain.base[:3, 3] + sizes * rng.uniform(-1.0, 1.0, (count, 3))
        solved = Solved.of(one, poses)
        bad = int(np.sum(~np.isfinite(solved.found.joints)))
        far = np.linalg.norm(poses[:, :3, 3] - one.chain.base[:3, 3], axis=1) > one.chain.reach
        wrong = sum(solved.found[k].status != "out of reach" for k in np.flatnonzero(far))
        odd = sum((solved.found[k].status == "solved") != (solved.found.counts[k] > 0) for k in range(count))
        yield close(f"any pose, {name}: numbers that are none", 0.0, float(bad), 0.0, "Exactly.")
        yield close(f"any pose, {name}: beyond all lengths, yet in reach", 0.0, float(wrong), 0.0, "Exactly.")
        yield close(f"any pose, {name}: word and number of solutions disagree", 0.0, float(odd), 0.0, "Exactly.")
        yield worst(f"any pose, {name}: pose again [m, 1]", solved.misses(), POSE, "Stated: 1e-9.")


def right_angles(samples: int) -> Iterator[Check]:
    """Joints that are all multiples of 90°: every coincidence of axes at once. The pose is solved, and its solutions
    give it again."""
    rng = np.random.default_rng(43)
    for name in SHIPPED:
        one = anywhere(rng, name)
        q = rng.choice([-np.pi, -np.pi / 2, 0.0, np.pi / 2, np.pi], size=(min(samples, 2000), 6))
        solved = Solved.of(one, one.chain.frames(q)[:, -1], limits=False)
        none = int(np.sum(solved.found.counts == 0))
        yield close(f"right angles, {name}: poses without a solution", 0.0, float(none), 0.0, "Made of joints.")
        yield worst(f"right angles, {name}: pose again [m, 1]", solved.misses(), POSE, "Stated: 1e-9.")


def a_singular_pose_says_so(samples: int) -> Iterator[Check]:
    """Words of the four poses that the arm's users meet first."""
    del samples
    one = still(shipped("titan4"))
    for kind, word in (
        ("all joints at zero", "elbow straight"),
        ("wrist at 90°", "wrist singular"),
        ("on the axis of joint 1", "shoulder singular"),
        ("on the axis of joint 1, wrist at 90°", "shoulder singular, wrist singular"),
    ):
        q = chosen(np.array([[0.3, 0.5, -0.8, 0.9, 0.4, 0.6]]), one, kind)
        found = one.arm.inverse(one.chain.frames(q)[0, -1], present=q[0])
        yield same(f"titan4, {kind}: said", word, ", ".join(found.singular), "Which joint is free.")
        apart = np.abs(wrapped(found.best - q[0])).max() if found else np.inf
        why = "With the joints themselves as the present ones they cost nothing; known to 1e-6 where solutions meet."
        yield worst(f"titan4, {kind}: the present joints [rad]", [apart], DOUBLE, why)


FUNCTIONS = (
    singular_poses,
    near_singular_poses,
    edge_of_the_workspace,
    poses_anywhere,
    right_angles,
    a_singular_pose_says_so,
)
