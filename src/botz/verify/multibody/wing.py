"""Surfaces in the air: lift and drag before and after the stall, and a glide."""

from __future__ import annotations

from collections.abc import Iterator
from math import cos, pi, sin

import numpy as np

from botz.verify.checks import EPS, Check, close, worst
from botz.verify.multibody.rig import DENSITY, GRAVITY, WEIGHTLESS, Data, attitude, link, one_body, run_of, shipped

GLIDE = 10.0
"""How long the fixed wing glides [s]."""
HEAVY = 1e6
"""Mass of what must keep its velocity whatever pushes it [kg]."""


def wing_by_equation(p: Data, velocity: np.ndarray, density: float = DENSITY) -> tuple[np.ndarray, np.ndarray, float]:
    """Force and moment (about the span, at the centre of pressure) and α of [costa2022] section 2.3.1.1, by vectors in
    the link's axes; `velocity` is that of the centre of pressure through the air."""
    forward, upward = np.array(p["forward"]), np.array(p["upward"])
    span = np.cross(forward, upward)
    forward, span = forward / np.linalg.norm(forward), span / np.linalg.norm(span)
    up = np.cross(span, forward)
    in_plane = velocity - (velocity @ span) * span
    speed = float(np.linalg.norm(in_plane))
    sweep = speed**2 / float(velocity @ velocity)
    alpha = p["a0"] + float(np.arctan2(-in_plane @ up, in_plane @ forward))
    # A plate that moves backwards meets the air at the angle of the other edge.
    while alpha > pi / 2:
        alpha -= pi
    while alpha < -pi / 2:
        alpha += pi

    def line(slope: float, after: float) -> float:
        size = abs(alpha)
        stall = p["alpha_stall"]
        value = slope * size if size <= stall else slope * stall + after * (size - stall)
        return value if alpha >= 0.0 else -value

    lift = line(p["cla"], p["cla_stall"])
    lift = max(lift, 0.0) if alpha >= 0.0 else min(lift, 0.0)
    drag = abs(line(p["cda"], p["cda_stall"])) + p["cd0"]
    moment = line(p["cma"], p["cma_stall"])
    moment = max(moment, 0.0) if alpha >= 0.0 else min(moment, 0.0)
    pressure = 0.5 * density * speed**2 * p["area"]
    along = in_plane / speed
    force = pressure * sweep * (lift * np.cross(span, along) - drag * along)
    return force, pressure * sweep * moment * span, alpha


WING: Data = {
    "type": "lift-drag", "link": "body", "area": 0.4, "a0": 0.05, "cla": 4.75, "cda": 0.64, "cma": 0.3,
    "alpha_stall": 0.34, "cla_stall": -3.85, "cda_stall": 0.9, "cma_stall": -0.2, "cd0": 0.02,
    "cp": [-0.1, 0.6, 0.05], "forward": [1.0, 0.0, 0.0], "upward": [0.0, 0.0, 1.0],
}  # fmt: skip


def lift_and_drag(samples: int) -> Iterator[Check]:
    """C_L = C_Lα α up to the stall and C_Lα α_s + C_Lαs (α − α_s) beyond it, down to 0; C_D the same with its own
    slopes; F = ½ ρ v² A cos² Λ C, across and against the velocity, at the centre of pressure."""
    rng = np.random.default_rng(62)
    centre = [0.02, -0.03, 0.05]
    robot = {"links": {"body": link(HEAVY, [HEAVY, HEAVY, HEAVY], centre=centre)}, "elements": {"wing": WING}}
    case_errors: dict[str, list[float]] = {"before": [], "after": []}
    moments: list[float] = []
    for k in range(max(min(samples, 2000) // 10, 12)):
        alpha = (rng.uniform(-0.3, 0.25) if k % 2 else rng.uniform(0.4, 1.4) * rng.choice([-1.0, 1.0])) - WING["a0"]
        slip, speed = rng.uniform(-0.4, 0.4), rng.uniform(5.0, 40.0)
        angles, wind = rng.uniform(-1.0, 1.0, 3), rng.uniform(-3.0, 3.0, 3)
        turned, rates = attitude(*angles), rng.uniform(-0.5, 0.5, 3)
        through = speed * np.array([cos(alpha) * cos(slip), sin(slip), -sin(alpha) * cos(slip)])
        velocity = turned @ (through - np.cross(rates, WING["cp"])) + wind
        run = run_of(
            robot, world={**WEIGHTLESS, "wind": {"steady": wind.tolist()}}, pose=[1.0, 2.0, 3.0, *angles.tolist()],
            velocity=velocity.tolist(), angular_velocity=rates.tolist(),
        )  # fmt: skip
        force, moment, found = wing_by_equation(WING, through)
        size = 0.5 * DENSITY * speed**2 * WING["area"]
        wrong = np.abs(run.of("wing/force") - turned @ force).max() / size
        which = "after" if abs(found) > WING["alpha_stall"] else "before"
        case_errors[which] += [float(wrong), abs(float(run.of("wing/alpha")) - found)]
        whole = turned @ (moment + np.cross(np.array(WING["cp"]) - centre, force))
        moments.append(float(np.abs(run.engine.data.xfrc_applied[1, 3:] - whole).max()) / size)
    why = "Rotations there and back, the wind taken off again: 100 roundings of ½ ρ v² A and of speeds of 40 m/s."
    for case, errors in case_errors.items():
        yield worst(f"lift and drag {case} the stall: force by ½ρv²A, and α", errors, 1000 * EPS, why)
    yield worst("moment of lift and drag about the body's centre, by ½ρv²A·m", moments, 1000 * EPS, why)
    step = run_of(
        one_body(1.0, elements={"wing": {**WING, "cp": [0.0, 0.0, 0.0]}}),
        step=1e-5,
        world=WEIGHTLESS,
        velocity=[20.0, 0.0, -2.0],
    )
    force, _, _ = wing_by_equation({**WING, "cp": [0.0, 0.0, 0.0]}, np.array([20.0, 0.0, -2.0]))
    gained = step.steps(1).of("twist")[:3] - [20.0, 0.0, -2.0]
    # F changes by 2F h F/(m v) within the step and the body turns by its moment: half of that, 1e-4 relatively.
    why = "A step of 10 µs: the force changes by 2 F h/m v and the moment turns the body, 1e-3 of 500 N at most."
    yield worst("velocity that lift and drag give to 1 kg in 10 µs [m/s]", gained - force * 1e-5, 1e-3 * 5e-3, why)


# --- a glide ---------------------------------------------------------------------------------------------------------


def trimmed(robot: Data) -> tuple[float, float, float, float]:
    """Speed, angle of attack, glide angle and lift by drag of the fixed wing in a steady glide, flaps at 0: the three
    equations of a plane flight solved by Newton's method on the equations of its surfaces."""
    surfaces = [one for one in robot["elements"].values() if one["type"] == "lift-drag"]
    mass = sum(one["mass"] for one in robot["links"].values())
    centre = (
        sum(one["mass"] * (np.array(one["centre"]) + _place(robot, name)) for name, one in robot["links"].items())
        / mass
    )

    def forces(speed: float, alpha: float) -> tuple[np.ndarray, float]:
        velocity = speed * np.array([cos(alpha), 0.0, -sin(alpha)])
        force, moment = np.zeros(3), np.zeros(3)
        for one in surfaces:
            if one["radial_symmetry"]:
                pushed, turning = -0.5 * DENSITY * one["area"] * one["cd0"] * speed * velocity, np.zeros(3)
            else:
                pushed, turning, _ = wing_by_equation(one, velocity)
            force += pushed
            moment += turning + np.cross(np.array(one["cp"]) - centre, pushed)
        return force, float(moment[1])

    def missing(unknown: np.ndarray) -> np.ndarray:
        speed, alpha, glide = unknown
        force, moment = forces(speed, alpha)
        # The nose is up by θ = α − γ, so that in the body's axes the weight points back and down.
        pitch = alpha - glide
        weight = -mass * GRAVITY * np.array([sin(pitch), 0.0, cos(pitch)])
        return np.array([force[0] + weight[0], force[2] + weight[2], moment])

    unknown = np.array([15.0, 0.0, 0.12])
    for _ in range(50):
        value = missing(unknown)
        slopes = np.empty((3, 3))
        for k, h in enumerate((1e-6, 1e-8, 1e-8)):
            moved = unknown.copy()
            moved[k] += h
            slopes[:, k] = (missing(moved) - value) / h
        unknown = unknown - np.linalg.solve(slopes, value)
    speed, alpha, glide = unknown.tolist()
    force, _ = forces(speed, alpha)
    along = np.array([cos(alpha), 0.0, -sin(alpha)])
    drag = -float(force @ along)
    lift = float(force @ [sin(alpha), 0.0, cos(alpha)])
    return speed, alpha, glide, lift / drag


def _place(robot: Data, name: str) -> np.ndarray:
    """Of a link's frame in the root's, joints at 0; of links that hang on the root."""
    for one in robot["joints"].values():
        if one["child"] == name:
            return np.array(_pose(one["pose"])[:3])
    return np.zeros(3)


POSE = ("x", "y", "z", "roll", "pitch", "yaw")


def _pose(pose: Data | list[float]) -> list[float]:
    return list(pose) if not isinstance(pose, dict) else [pose.get(key, 0.0) for key in POSE]


def glide_ratio(samples: int) -> Iterator[Check]:
    """A steady glide goes L/D as far as it sinks: cot γ = L/D at the angle of attack that trims it, found apart by
    Newton's method on the surfaces' equations."""
    del samples
    robot = shipped("fixed-wing")
    speed, alpha, glide, ratio = trimmed(robot)
    yield close("fixed wing: glide ratio that its file states", 8.336, ratio, 5e-3, "Of its own digits.")
    pitch = glide - alpha  # about y, nose down positive
    run = run_of(
        robot, step=1e-3, pose=[0.0, 0.0, 200.0, 0.0, pitch, 0.0],
        velocity=[speed * cos(glide), 0.0, -speed * sin(glide)],
    )  # fmt: skip
    start = run.of("pose")[:3].copy()
    end = run.run(GLIDE).of("pose")[:3]
    measured = (end[0] - start[0]) / (start[2] - end[2])
    # Newton's method with differences leaves 1e-9 of the trim, and the file's digits a bank of 1e-8 rad/s.
    why = "Ten seconds from a trim that is solved to 1e-9; what is missing to it swings on and does not grow."
    yield close("fixed wing: glide ratio over the glide", ratio, measured, 1e-7 * ratio, why)
    last = float(np.linalg.norm(run.of("twist")[:3]))
    yield close("fixed wing: speed after it [m/s]", speed, last, 1e-7 * speed, why)


FUNCTIONS = (lift_and_drag, glide_ratio)
