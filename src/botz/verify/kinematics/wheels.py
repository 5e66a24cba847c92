"""Wheeled kinematics against independent computations: points in space, NumPy, the source's polar rows."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from botz.errors import InputError
from botz.physics.wheels import constraints as wc
from botz.robots.wheel_inverse import inverse_kinematics
from botz.robots.wheeled_robot import WheeledRobotModel
from botz.verify.checks import EPS, Check, close, same, worst
from botz.verify.kinematics import geometry, robots

KINDS = ("fixed", "steered", "castor", "swedish", "spherical")


def random_wheel(rng: np.random.Generator, kind: str) -> dict[str, Any]:
    wheel: dict[str, Any] = {
        "type": kind,
        "position": list(rng.uniform(-1, 1, 2)),
        "radius": rng.uniform(0.05, 0.5),
        "heading": rng.uniform(-np.pi, np.pi),
    }
    if kind == "castor":
        wheel["offset"] = rng.uniform(0.05, 0.5) * rng.choice([-1, 1])
    if kind == "swedish":
        wheel |= {"roller_angle": rng.uniform(-1.2, 1.2), "roller_radius": rng.uniform(0.01, 0.04)}
    return wheel


def placed(wheel: dict[str, Any], turned: float = 0.0) -> geometry.Wheel:
    """The same wheel for the oracle, its pivot or steering already turned by an angle."""
    x, y = wheel["position"]
    return geometry.Wheel(
        wheel["type"], x, y, wheel["heading"] + turned, wheel["radius"],
        wheel.get("offset", 0.0), wheel.get("roller_angle", 0.0), wheel.get("roller_radius", 0.01),
    )  # fmt: skip


def rows_against_geometry(samples: int) -> Iterator[Check]:
    """A ξ − B u is the velocity of the contact's material point along the directions that the wheel holds."""
    rng = np.random.default_rng(20)
    for kind in KINDS:
        errors = []
        for _ in range(min(samples, 3000)):
            wheel = random_wheel(rng, kind)
            model = robots.model_of({"w": {**wheel, "driven": True}})
            turned = rng.uniform(-1.5, 1.5) if kind in ("steered", "castor") else 0.0
            twist, rates = rng.uniform(-1, 1, 3), rng.uniform(-1, 1, 2)
            psi = model.wheel_headings(np.array([turned]), np.array([turned]))
            second = 0.0 if kind in ("fixed", "steered") else rates[1]
            moved = geometry.contact_velocity(placed(wheel, turned), geometry.Rates(twist, rates[0], second))
            direction = wheel["heading"] + turned + wheel.get("roller_angle", 0.0)
            along = moved @ [np.cos(direction), np.sin(direction), 0.0]
            across = moved @ [-np.sin(direction), np.cos(direction), 0.0]
            slip = model.system(psi) @ twist - model.factors @ rates[: model.n_rates]
            for name, velocity in zip(model.row_names, slip, strict=True):
                errors.append(velocity - (along if name == "w rolling" else across))
            errors.append(moved[2])
        why = "Five-point difference of positions in space; see wheel_geometry.TOLERANCE."
        yield worst(f"rows of a {kind} wheel: motion of the contact point [m/s]", errors, geometry.TOLERANCE, why)


def passive_wheels_follow(samples: int) -> Iterator[Check]:
    """A passive wheel turns, pivots and rolls its rollers so that the point on the ground rests."""
    rng = np.random.default_rng(21)
    for kind, second in (
        ("fixed", None),
        ("castor", "steering_rate"),
        ("swedish", "roller_speed"),
        ("spherical", "side_speed"),
    ):
        errors = []
        for _ in range(min(samples, 1000)):
            wheel = random_wheel(rng, kind)
            if kind == "fixed":
                # It holds the body as well; on the axle of the others it only turns.
                wheel |= {"position": [0.0, rng.uniform(-1, 1)], "heading": 0.0}
            spec = robots.differential(track=0.5)
            spec = robots.robot({**spec.model_dump()["wheels"], "w": wheel})
            engine = robots.engine_of(spec)
            pivot = rng.uniform(-np.pi, np.pi) if kind == "castor" else 0.0
            engine.state.wheels["second"][2] = pivot
            engine.inputs[:] = rng.uniform(-10, 10, 2)
            row = np.zeros(engine.channels.width)
            engine.observe(row)
            twist, spin = robots.value(engine, row, "r/twist"), float(robots.value(engine, row, "r/w/speed"))
            side = float(robots.value(engine, row, f"r/w/{second}")) if second else 0.0
            # One length of time for all: rates of about 1 keep the difference quotient in its range.
            scale = max(1.0, abs(spin), abs(side), *np.abs(twist))
            rates = geometry.Rates(twist / scale, spin / scale, side / scale)
            errors += list(geometry.contact_velocity(placed(wheel, pivot), rates))
        why = "All three components of its velocity, five-point difference; see wheel_geometry.TOLERANCE."
        yield worst(f"passive {kind} wheel: its contact rests [m/s]", errors, geometry.TOLERANCE, why)


def twists_by_numpy(samples: int) -> Iterator[Check]:
    """The engine's twist is the least-squares solution of the source's rows in polar form, by NumPy."""
    rng = np.random.default_rng(22)
    for name, spec in robots.shipped_robots().items():
        model = WheeledRobotModel(spec)
        engine = robots.engine_of(spec)
        errors = []
        for _ in range(min(samples, 400)):
            engine.reset(rng)
            pivots = robots.random_pivots(rng, model)
            engine.state.wheels["second"][:] = pivots
            engine.inputs[:] = robots.random_inputs(rng, model)
            engine.state.groups["steering"][:] = engine.inputs[model.n_rates :]
            row = np.zeros(engine.channels.width)
            engine.observe(row)
            wanted, condition = polar_twist(model, engine.inputs, pivots)
            errors.append(
                np.abs((robots.value(engine, row, "r/twist") - wanted) * [1, 1, model.length]).max() / condition
            )
        why = "Relative to condition · residual and size, some 100 roundings each."
        yield worst(f"twist of random inputs by NumPy: {name}", errors, 400 * EPS, why)


def polar_twist(model: WheeledRobotModel, inputs: np.ndarray, pivots: np.ndarray) -> tuple[np.ndarray, float]:
    """Twist from the rows of [alsina-rodas] at polar (l, φ), α; and the size of its rounding error in eps."""
    steering = inputs[model.n_rates :]
    equations: list[tuple[np.ndarray, float]] = []
    rates = {one.name: value for one, value in zip(model.inputs, inputs, strict=True)}
    psi = dict(zip(model.wheel_names, model.wheel_headings(steering, pivots), strict=True))
    in_gear = {wheel: group for group, drive in model.spec.drives.items() for wheel in drive.wheels}
    gears: dict[str, list[tuple[np.ndarray, float]]] = {}
    for name, wheel in model.spec.wheels.items():
        if wheel.type == "support":
            continue
        l, phi = math.hypot(*wheel.position), math.atan2(wheel.position[1], wheel.position[0])
        gamma = getattr(wheel, "roller_angle", 0.0)
        alpha = psi[name] - phi + np.pi / 2 + gamma
        rolling = np.array([np.sin(phi + alpha), -np.cos(phi + alpha), -l * np.cos(alpha)])
        lateral = np.array([np.cos(phi + alpha), np.sin(phi + alpha), l * np.sin(alpha)])
        if wheel.type in ("fixed", "steered"):
            equations.append((lateral, 0.0))
        if not wheel.driven:
            continue
        if name in in_gear:
            gears.setdefault(in_gear[name], []).append((rolling, wheel.radius))
            continue
        equations.append((rolling, wheel.radius * np.cos(gamma) * rates[f"{name}/speed"]))
        if wheel.type == "castor":
            equations.append(
                (lateral + np.array([0.0, 0.0, wheel.offset]), -wheel.offset * rates[f"{name}/steering_rate"])
            )
        if wheel.type == "spherical":
            equations.append((lateral, wheel.radius * rates[f"{name}/side_speed"]))
    for group, members in gears.items():
        motor = rates[f"{group}/speed"]
        if model.spec.drives[group].coupling == "common":
            equations += [(rolling, radius * motor) for rolling, radius in members]
        else:
            # Mean of the wheels' speeds, both sides times their mean radius so that the row is as large as the others.
            mean = float(np.mean([radius for _, radius in members]))
            row = np.mean([rolling / radius for rolling, radius in members], axis=0)
            equations.append((row * mean, mean * motor))
    matrix = np.array([row for row, _ in equations]) / [1.0, 1.0, model.length]
    right = np.array([value for _, value in equations])
    solution, *_ = np.linalg.lstsq(matrix, right, rcond=1e-9)
    singular = np.linalg.svd(matrix, compute_uv=False)
    singular = singular[singular > 1e-9 * singular.max()]
    condition = singular.max() / singular.min()
    # Perturbation of least squares: κ |ξ| + κ² |residual| / |A|, each times the relative error of A.
    size = condition * np.linalg.norm(solution) + condition**2 * np.linalg.norm(right) / singular.max()
    return solution / [1.0, 1.0, model.length], max(float(size), 1e-300)


def forward_of_inverse(samples: int) -> Iterator[Check]:
    """ξ ↦ u ↦ ξ is the identity for velocities that the robot can do, and no wheel slips."""
    rng = np.random.default_rng(23)
    for name, spec in robots.shipped_robots().items():
        model = WheeledRobotModel(spec)
        identity, residual, refused = [], [], ""
        for _ in range(samples if samples <= 1000 else samples // 10):
            twist = robots.random_admissible_twist(rng, model)
            pivots = robots.random_pivots(rng, model)
            present = robots.random_inputs(rng, model)
            found = inverse_kinematics(model, twist, present, pivots)
            refused = refused or found.reason
            again, slip = model.forward(found.inputs, pivots)
            identity.append(np.abs((again - twist) * [1, 1, model.length]).max())
            residual.append(np.abs(slip).max())
        why = "Speeds up to 1 m/s + 1 rad/s · length; 1e-12 allows for a condition of 1000."
        yield same(f"admissible velocities are accepted: {name}", "", refused, why)
        yield worst(f"forward of inverse is the identity: {name}", identity, 1e-12, why)
        yield worst(f"residual slip of consistent wheels [m/s]: {name}", residual, 1e-12, why)


def impossible_motions_are_refused(samples: int) -> Iterator[Check]:
    """A velocity that an axle, a limit or a missing motor forbids is refused, and the reason names it."""
    del samples
    ball = robots.robot({"ball": {"type": "spherical", "position": [0.0, 0.0], "driven": True}})
    bike = robots.robot(
        {
            "rear": {"type": "fixed", "position": [0.0, 0.0], "driven": True},
            "front": {"type": "steered", "position": [1.0, 0.0], "limit": 0.5},
        }
    )
    cases = {
        "differential drive sideways": (robots.differential(), [0.0, 1.0, 0.0], "sideways"),
        "ball turning": (ball, [0.0, 0.0, 1.0], "rotation"),
        "bicycle beyond its steering limit": (bike, [0.1, 0.0, 1.0], "limit"),
        "skid-steer turning": (robots.skid_steer(half_base=0.2, half_track=0.2), [0.3, 0.0, 1.0], "slip"),
    }
    for name, (spec, twist, word) in cases.items():
        engine = robots.engine_of(spec)
        try:
            engine.resolve_command("r", {"twist": twist})
            said = "accepted"
        except InputError as error:
            said = str(error)
        measured = "refused" if word in said and "cannot" in said else said
        yield same(f"refused with a reason: {name}", "refused", measured, f"({word})")


def pseudo_inverse_by_numpy(samples: int) -> Iterator[Check]:
    """A⁺ of random matrices of rank 1 to 3, against numpy.linalg.pinv."""
    rng = np.random.default_rng(24)
    errors, ranks = [], 0
    for _ in range(samples):
        m, rank = int(rng.integers(1, 17)), int(rng.integers(1, 4))
        matrix = rng.normal(size=(m, rank)) @ rng.normal(size=(rank, 3)) * 10.0 ** rng.uniform(-3, 3)
        inverse, work = np.empty((3, m)), np.empty((m, 3))
        found = wc.pseudo_inverse3(matrix, 1.0, work, inverse)
        singular = np.linalg.svd(matrix, compute_uv=False)[: min(m, rank)]
        if singular.min() < 1e-6 * singular.max():
            continue  # neither algorithm can tell such a matrix from one of lower rank to more than a few digits
        ranks += found != min(m, rank)
        wanted = np.linalg.pinv(matrix, rcond=1e-9)
        errors.append(np.abs(inverse - wanted).max() * singular.min() * singular.min() / singular.max())
    why = (
        "Wedin: |ΔA⁺| ≤ √2 κ |A⁺| p eps for each of the two algorithms, backward "
        "error p eps |A| with p = 3 m ≤ 48; shown in units of κ |A⁺|."
    )
    yield worst("pseudo-inverse: against NumPy, also rank-deficient", errors, 2 * np.sqrt(2) * 48 * EPS, why)
    yield close("pseudo-inverse: matrices whose rank is wrong", 0, ranks, 0, "Rank by construction.")
