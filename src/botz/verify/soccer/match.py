"""Whole matches: the source's collision with a wall, mirrored fields, repeated and restored runs, goals, placements."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import pi
from typing import Any

import numpy as np

from botz.engines.soccer.engine import SoccerEngine
from botz.errors import InputError
from botz.scenario.soccer.schema import SoccerScenario
from botz.verify.checks import EPS, Check, close, same, worst
from botz.verify.soccer.crowds import OVERLAP, free_places, random_match
from botz.verify.soccer.overlaps import Walls, ball_overlap, deepest_overlap, square_overlap, vertices
from botz.verify.soccer.rig import KINDS, Data, Rig, match, model_of, random_robot, shipped

MOST = 2_000
MIRRORED_STEPS = 1500
REPEATED_STEPS = 800


# --- section 5 -------------------------------------------------------------------------------------------------------


def wall_of_section_5(samples: int) -> Iterator[Check]:
    """A robot without voltage meets the lower wall slantwise: its vertex parts at e times its approach, the robot turns
    and comes to rest."""
    del samples
    for method in ("euler", "rk4"):
        # Without friction, which would turn the robot after the impact and with it the vertex.
        rig = match([shipped()], method=method, pairs={"robot_wall": (0.3, 0.0)}).ball(0.6, 0.5)
        rig.robot(0, [-0.1, -0.58, -pi / 3.0], v=1.0)
        rows = np.vstack([rig.row(), rig.record(3000)])
        pose, twist = rig.value("r0/pose", rows), rig.value("r0/twist", rows)
        corners = vertices(pose, 0.075)
        impacts = rig.value("match/impacts", rows)
        first = int(np.argmax(impacts > 0.0))
        lowest = int(np.argmin(corners[first - 1, :, 1]))
        arm = corners[first - 1, lowest, 0] - pose[first - 1, 0]
        before, after = (twist[k, 0] * np.sin(pose[first - 1, 2]) + twist[k, 2] * arm for k in (first - 1, first))
        rate = model_of(shipped()).rates().max() * 1e-3
        why = "The motors brake within the step of the impact, by h λ of the speed."
        name = f"section 5, {method}"
        yield close(f"{name}: parting speed of the vertex by its approach", 0.3, -after / before, 2.0 * rate, why)
        why = "It goes to rest by e^(−3 s λ)."
        yield worst(f"{name}: speeds at last [m/s, rad/s]", twist[-1], 1e-6, why)
        turned = abs(pose[-1, 2] - pose[0, 2])
        yield close(f"{name}: turned by more than 5° [rad]", 1.0, float(turned > np.radians(5.0)), 0.0, "It turns.")
        off = corners[-1, :, 1].min() + 0.65
        yield close(f"{name}: rebounds, off the wall at last", 1.0, float(off > 1e-4), 0.0, "It rebounds.")
        yield close(f"{name}: overlap [m]", 0.0, max(deepest_overlap(rig, rows), 0.0), OVERLAP, "Rounding.")
        rise = np.diff(rig.value("match/energy", rows)[:, 0]).max()
        yield close(f"{name}: gain of energy in a step [J]", 0.0, max(rise, 0.0), EPS, "Motors without voltage brake.")


# --- mirrors ---------------------------------------------------------------------------------------------------------


def swapped(robot: Mapping[str, Any]) -> Data:
    """The robot with its two sides exchanged."""
    wheels = robot["wheels"]
    return {**robot, "wheels": {"left": wheels["right"], "right": wheels["left"]}}


def pair_of_matches(rng: np.random.Generator, method: str) -> tuple[Rig, Rig, list[Data]]:
    robots = [random_robot(rng) for _ in range(6)]
    for robot in robots:
        # Masses of few digits: their sum does not depend on which wheel comes first.
        for part in (robot, *robot["wheels"].values()):
            part["mass"] = round(part["mass"] * 2**20 + 1) / 2**20
    pairs = {kind: (float(rng.uniform(0.0, 1.0)), float(rng.uniform(0.0, 1.0))) for kind in KINDS}
    return (
        match(robots, method=method, pairs=pairs),
        match([swapped(robot) for robot in robots], method=method, pairs=pairs),
        robots,
    )


def crowd_of(rig: Rig, rng: np.random.Generator, size: float) -> list[tuple[Any, ...]]:
    """Poses, speeds and voltages of all robots, and the ball's place and velocity last."""
    poses, ball = free_places(rig, rng, rng.uniform(-0.5, 0.5, 2), size)
    limits = [rig.engine.model.robots[index].limit_left for index in range(len(rig.names))]
    found: list[tuple[Any, ...]] = [
        (pose, rng.normal(0.0, 0.7), rng.normal(0.0, 8.0), limit * rng.uniform(-1.0, 1.0, 2))
        for pose, limit in zip(poses, limits, strict=True)
    ]
    return [*found, (ball, rng.normal(0.0, 1.5, 2))]


def place_all(rig: Rig, places: list[tuple[Any, ...]], mirror: str = "") -> Rig:
    """As listed, or mirrored about the long axis ('y' changes its sign) or about the short one ('x')."""
    rig.reset()
    for index, (pose, v, w, volts) in enumerate(places[:-1]):
        x, y, heading = pose
        if mirror == "y":
            rig.robot(index, [x, -y, -heading], v, -w).voltages(index, volts[1], volts[0])
        elif mirror == "x":
            rig.robot(index, [-x, y, pi - heading], v, -w).voltages(index, volts[1], volts[0])
        else:
            rig.robot(index, pose, v, w).voltages(index, *volts)
    (x, y), (vx, vy) = places[-1]
    signs = {"y": (1.0, -1.0), "x": (-1.0, 1.0)}.get(mirror, (1.0, 1.0))
    return rig.ball(signs[0] * x, signs[1] * y, signs[0] * vx, signs[1] * vy)


def mirrored_rows(rig: Rig, rows: np.ndarray) -> np.ndarray:
    """Rows of a match as those of its mirror about the long axis."""
    found, table = rows.copy(), rig.engine.channels.slices
    for name in rig.names:
        found[:, table[f"{name}/pose"]] *= [1.0, -1.0, -1.0]
        found[:, table[f"{name}/twist"]] *= [1.0, -1.0, -1.0]
        for quantity in ("angle", "speed", "voltage", "current"):
            left, right = table[f"{name}/left/{quantity}"], table[f"{name}/right/{quantity}"]
            found[:, left], found[:, right] = rows[:, right], rows[:, left]
    found[:, table["ball/pose"]] *= [1.0, -1.0, -1.0]
    found[:, table["ball/velocity"]] *= [1.0, -1.0]
    return found


def one_name_of_pi(rig: Rig, rows: np.ndarray) -> np.ndarray:
    """−π and π are the same heading; which of them a row has is decided by the sign of a zero."""
    for name in (*rig.names, "ball"):
        heading = rows[:, rig.engine.channels.slices[f"{name}/pose"].start + 2]
        heading[heading == -pi] = pi
    return rows


def mirrored_about_the_long_axis(samples: int) -> Iterator[Check]:
    """y, headings and turns change their signs, left and right change places: every number of the match is the mirrored
    one, bit for bit. Random places have no ties."""
    rng = np.random.default_rng(41)
    runs, differing, impacts = min(max(samples // 15, 2), MOST), 0, 0.0
    worst_step = MIRRORED_STEPS
    for number in range(runs):
        if number % 5 == 0:
            one, other, _ = pair_of_matches(rng, "rk4" if number % 2 else "euler")
        places = crowd_of(one, rng, rng.uniform(0.15, 0.4))
        rows = mirrored_rows(one, place_all(one, places).record(MIRRORED_STEPS))
        found = place_all(other, places, "y").record(MIRRORED_STEPS)
        alike = (one_name_of_pi(one, rows) == one_name_of_pi(other, found)).all(axis=1)
        differing += int(not alike.all())
        worst_step = min(worst_step, MIRRORED_STEPS if alike.all() else int(np.argmin(alike)))
        impacts += float(rows[-1, -1])
    why = f"{runs} matches of {MIRRORED_STEPS} steps, {impacts:.0f} impacts; all bits alike up to step {worst_step}."
    yield close("mirrored about the long axis: matches that differ in any bit", 0, differing, 0, why)


SHIFTS = 4
"""Displacements that are tried; one alone may lie where little is magnified."""


def mirrored_about_the_short_axis(samples: int) -> Iterator[Check]:
    """x → −x, θ → π − θ, where cosines round differently: the mirrored match up to rounding, which impacts magnify as
    they do a displacement of 1e-9 m."""
    rng = np.random.default_rng(42)
    errors, used = [], 0
    for number in range(min(max(samples // 5, 4), MOST)):
        if number % 5 == 0:
            one, other, _ = pair_of_matches(rng, "rk4" if number % 2 else "euler")
        places = crowd_of(one, rng, 0.35)
        ends = [columns(place_all(one, places).steps(150), "")]
        impacts = one.value("match/impacts")
        ends.append(columns(place_all(other, places, "x").steps(150), "x"))
        for _ in range(SHIFTS):
            shifted = [(np.asarray(pose) + rng.choice([-1e-9, 1e-9], 3), *rest) for pose, *rest in places[:-1]]
            ends.append(columns(place_all(one, [*shifted, places[-1]]).steps(150), ""))
        growth = np.abs(np.array(ends[2:]) - ends[0]).max() / 1e-9
        if growth < 1e4 and impacts > 0:
            used += 1
            errors.append(np.abs(ends[1] - ends[0]).max() / max(growth, 10.0))
    why = f"{used} matches with impacts that magnify less than 1e4 times: 1e-15 in each of 150 steps, by growth."
    yield worst("mirrored about the short axis: places and speeds, by growth", errors, 1e-11, why)


def columns(rig: Rig, mirror: str) -> np.ndarray:
    """Places and speeds of all bodies, mirrored back; angles as cosine and sine."""
    row, sign = rig.row(), -1.0 if mirror == "x" else 1.0
    found: list[float] = []
    for name in rig.names:
        x, y, heading = rig.value(f"{name}/pose", row)
        v, _, w = rig.value(f"{name}/twist", row)
        found += [sign * x, y, sign * np.cos(heading), np.sin(heading), v, sign * w]
    (x, y, _), (vx, vy) = rig.value("ball/pose", row), rig.value("ball/velocity", row)
    return np.array([*found, sign * x, y, sign * vx, vy])


# --- repeated and restored -------------------------------------------------------------------------------------------


def same_again(samples: int) -> Iterator[Check]:
    """The same match twice, in pieces, and continued from a snapshot in another engine: the same bits."""
    rng = np.random.default_rng(43)
    twice = pieces = restored = 0
    runs = min(max(samples // 30, 2), MOST)
    for _ in range(runs):
        rig = random_match(rng, 3)
        again = Rig(SoccerEngine(rig.engine.scenario))
        places = crowd_of(rig, rng, rng.uniform(0.15, 0.4))
        steps, half = REPEATED_STEPS, REPEATED_STEPS // 2
        rows = place_all(rig, places).record(steps)
        twice += int(not np.array_equal(rows, place_all(again, places).record(steps)))
        place_all(rig, places)
        parts = [rig.record(n) for n in (1, 7, half - 8)]
        kept = rig.engine.snapshot()
        parts.append(rig.record(steps - half))
        pieces += int(not np.array_equal(rows, np.vstack(parts)))
        again.engine.reset(np.random.default_rng(7))
        again.engine.restore(kept)
        again.done = half
        restored += int(not np.array_equal(rows[half:], again.record(steps - half)))
    why = f"{runs} crowded matches of {REPEATED_STEPS} steps at random voltages."
    yield close("again: matches that differ when repeated in another engine", 0, twice, 0, why)
    yield close("again: matches that differ when advanced in pieces", 0, pieces, 0, why)
    yield close("again: matches that differ when continued from a snapshot", 0, restored, 0, why)


# --- goals -----------------------------------------------------------------------------------------------------------


def goals(samples: int) -> Iterator[Check]:
    """A goal counts at the first step after which the whole ball is over the line, |x| > L/2 + r, for the team that
    attacks it, once each time the ball comes in; then the team that conceded kicks off."""
    del samples
    places: Data = {
        "b": {**shipped(), "team": "blue", "pose": [-0.4, 0.3, 0.0], "kick_off_pose": [-0.1, 0.0, 0.0]},
        "y": {**shipped(), "team": "yellow", "pose": [0.4, 0.3, 1.0], "kick_off_pose": [0.1, 0.0, pi]},
    }
    for sign, scorer in ((1.0, "blue"), (-1.0, "yellow")):
        world = {"ball": {"friction": 0.0}}
        data = {"engine": "soccer", "world": world, "robots": places}
        rig = Rig(SoccerEngine(SoccerScenario.model_validate(data)))
        rig.ball(sign * 0.6, 0.0, sign * 1.0, 0.0)
        rows = rig.record(400)
        score = rig.value("match/score", rows)
        step = int(np.argmax(score.sum(axis=1) > 0.0)) + 1
        expected = int(np.floor((0.15 + 0.0215) / 1e-3)) + 1
        why = "0.6 m + n · 1 mm > 0.75 m + 21.5 mm; rounding decides no step."
        yield close(f"goal of {scorer}: step at which it counts", expected, step, 0, why)
        count = "1, 0" if sign > 0.0 else "0, 1"
        yield same(f"goal of {scorer}: score", count, ", ".join(f"{one:g}" for one in score[-1]), "One goal.")
        kicks = "y" if sign > 0.0 else "b"
        errors = []
        for name in places:
            pose = places[name]["kick_off_pose" if name == kicks else "pose"]
            errors += list(rig.value(f"{name}/pose", rows[step - 1]) - pose)
        errors += list(rig.value("ball/pose", rows[-1])[:2])
        why = "The team that conceded kicks off, the ball in the middle; a heading's cosine and sine."
        yield worst(f"goal of {scorer}: places of the kick-off", errors, 4 * EPS, why)
        energy = rig.value("match/energy", rows[-1])
        yield close(f"goal of {scorer}: energy taken out [J]", -0.5 * 0.046, energy[4], 1e-15, "½ m v² of the ball.")
    rig = match([shipped()], ball={"friction": 0.0}, pairs={"ball_wall": (1.0, 0.0)}).ball(0.6, 0.0, 1.0, 0.0)
    score = rig.value("match/score", rig.record(4000))
    # To the back of the goal at 0.85 m − r, to the other one 1.7 m − 2 r away, and over its line 0.1 m − 2 r before.
    first, second = 172, int(np.floor((0.25 - 0.0215 + 1.7 - 2 * 0.0215 - (0.1 - 2 * 0.0215)) / 1e-3)) + 1
    third = second + round((2 * (0.1 - 2 * 0.0215) + 1.5 + 2 * 0.0215) / 1e-3)
    found = [int(np.argmax(score.sum(axis=1) == count)) + 1 for count in (1, 2, 3)]
    why = "An elastic ball along the axis, from goal to goal, counted once each time; a rounding decides one step."
    yield worst("goals with `continue`: steps of the first three", np.array(found) - [first, second, third], 1, why)
    yield same("goals with `continue`: score", "2, 1", ", ".join(f"{one:g}" for one in score[-1]), why)
    rig = match([shipped()], ball={"friction": 0.0}, after_goal="end").ball(0.6, 0.0, 1.0, 0.0)
    rig.record(400)
    yield same("goals with `end`: why", "goal for blue", rig.engine.ended, "The run ends.")
    yield close("goals with `end`: steps taken", 172, rig.engine.steps_taken, 0, "At the goal.")


# --- placements ------------------------------------------------------------------------------------------------------


def is_free(rig: Rig, poses: list[Any], ball: Any) -> float:
    """The largest overlap of a placement [m], by the vertices: negative where all are free."""
    walls, radius = Walls.of(rig), rig.engine.scenario.world.ball.radius
    squares = [vertices(np.asarray(pose)[None], 0.075) for pose in poses]
    place = np.asarray(ball)[None]
    found = [float(walls.ball_overlap(place, radius)[0])]
    for i, square in enumerate(squares):
        found += [float(walls.square_overlap(square)[0]), float(ball_overlap(square, place, radius)[0])]
        found += [float(square_overlap(square, other)[0]) for other in squares[:i]]
    return max(found)


def placements(samples: int) -> Iterator[Check]:
    """A replacement is carried out if nothing overlaps and refused otherwise; judged by the vertices."""
    rng = np.random.default_rng(44)
    rig = match([shipped(), shipped()])
    walls = Walls.of(rig)
    wrong = accepted = 0
    errors = []
    count = min(samples * 3, 20_000)
    for _ in range(count):
        middle = rng.uniform(-1.0, 1.0, 2) * [walls.back, walls.side]
        poses = [[*(middle + rng.uniform(-0.08, 0.08, 2)), rng.uniform(-pi, pi)] for _ in range(2)]
        ball = middle + rng.uniform(-0.1, 0.1, 2)
        overlap = is_free(rig, poses, ball)
        if abs(overlap) < 1e-9:
            continue
        try:
            rig.command(
                "match", ball_at_place=[*ball, 1.0, 2.0], r0_at_place=[*poses[0], 1.0], r1_at_place=[*poses[1], 1.0]
            )
        except InputError:
            wrong += int(overlap < 0.0)
            continue
        wrong += int(overlap > 0.0)
        accepted += 1
        rig.engine.dt = 1e-12  # the bodies where they were put: the step moves nothing
        rig.steps(1)
        rig.engine.dt = 1e-3
        placed = [rig.value(f"r{index}/pose") - poses[index] for index in range(2)]
        errors += [*placed[0], *placed[1], *(rig.value("ball/velocity") - [1.0, 2.0])]
    why = f"{accepted} of {count} at random were free."
    yield close("placements: judged otherwise than by the vertices", 0, wrong, 0, why)
    yield worst("placements: bodies are where they were put", errors, 1e-9, "A step of 1 ps, and angles.")
    refused = {
        "ball in a robot": {"r0_at_place": [0.3, 0.3, 0.0, 1.0], "ball_at_place": [0.31, 0.3, 0.0, 0.0]},
        "robot in a wall": {"r0_at_place": [0.74, 0.4, 0.0, 1.0]},
        "robot outside": {"r0_at_place": [3.0, 0.0, 0.0, 1.0]},
        "robot in a triangle": {"r0_at_place": [0.69, 0.59, 0.0, 1.0]},
        "robot on a post": {"r0_at_place": [0.75, 0.2, 0.5, 1.0]},
        "ball behind the goal": {"ball_at_place": [0.9, 0.0, 0.0, 0.0]},
        "ball beside the goal": {"ball_at_place": [0.8, 0.3, 0.0, 0.0]},
        "ball too fast": {"ball_at_place": [0.0, 0.0, 200.0, 0.0]},
        "a place that is no number": {"ball_at_place": [float("nan"), 0.0, 0.0, 0.0]},
        "robots in each other": {"r0_at_place": [0.0, 0.2, 0.0, 1.0], "r1_at_place": [0.05, 0.2, 1.0, 1.0]},
    }
    rig = match([shipped(), shipped()])
    for name, command in refused.items():
        try:
            rig.command("match", **command)
            answer = "accepted"
        except InputError:
            answer = "refused"
        yield same(f"placement refused: {name}", "refused", answer, "It could not be undone without moving a body.")
    try:
        data = {"engine": "soccer", "robots": {"r": {**shipped(), "team": "blue", "pose": [0.0, 0.01, 0.0]}}}
        SoccerEngine(SoccerScenario.model_validate(data))
        answer = "accepted"
    except InputError:
        answer = "refused"
    yield same("scenario refused: a robot on the ball", "refused", answer, "A start must be free of overlaps.")


FUNCTIONS = (
    wall_of_section_5,
    mirrored_about_the_long_axis,
    mirrored_about_the_short_axis,
    same_again,
    goals,
    placements,
)
