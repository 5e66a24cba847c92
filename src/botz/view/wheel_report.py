"""What a list of wheels makes of a robot, as plain data and as tables for `botz wheels`."""

from __future__ import annotations

from collections.abc import Sequence
from math import asin, atan2, cos, degrees, hypot, isfinite, pi, remainder, sin
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from rich.text import Text

from botz.engines.wheel_inverse import inverse_kinematics
from botz.engines.wheeled_robot import WheeledRobotModel, centre_of_rotation
from botz.errors import InputError, Problem
from botz.physics import wheel_constraints as wc

TURN = 2.0
"""Radius of the example's turn, in lengths of the robot."""
UNIT_TWISTS = {"forward": (1.0, 0.0, 0.0), "to the left": (0.0, 1.0, 0.0), "turning": (0.0, 0.0, 1.0)}
SECOND_RATES = {wc.CASTOR: "pivot", wc.SWEDISH: "roller", wc.SPHERICAL: "side"}


# --- a motion to show ----------------------------------------------------------------------------------


def example_inputs(model: WheeledRobotModel) -> np.ndarray:
    """Inputs of a motion that shows what the robot can do: the richest one of a few that it can execute.

    First a turn that also moves sideways, then a turn about a point on the fixed axle, wider and wider until the
    steering reaches it, then a straight motion askew or ahead.
    """
    rest = np.zeros(len(model.inputs))
    for twist in _example_twists(model):
        found = inverse_kinematics(model, twist, rest)
        if not found.reason:
            return found.inputs
    rest[: model.n_rates] = 1.0
    return rest


def _example_twists(model: WheeledRobotModel) -> list[np.ndarray]:
    speed = float(f"{model.length:.0e}")
    centres = [TURN * model.length * np.array([-sin(0.35), cos(0.35)])]
    fixed = np.flatnonzero(model.kind == wc.FIXED)
    for reach in (1.0, 1.6, 2.5, 4.0, 8.0):
        foot = np.array([model.x[fixed[0]], model.y[fixed[0]]]) if fixed.size else np.zeros(2)
        axle = (
            np.array([-sin(model.heading[fixed[0]]), cos(model.heading[fixed[0]])])
            if fixed.size
            else np.array([0.0, 1.0])
        )
        centres.append(foot - axle * (axle @ foot) + axle * TURN * reach * model.length)
    turns = []
    for centre in centres:
        rate = speed / float(np.hypot(*centre))
        turns.append(np.array([rate * centre[1], -rate * centre[0], rate]))
    askew = speed * np.array([cos(0.35), sin(0.35), 0.0])
    return [*turns, askew, np.array([speed, 0.0, 0.0]), np.array([0.0, 0.0, 1.0])]


def checked_inputs(model: WheeledRobotModel, inputs: Sequence[float] | np.ndarray | None) -> np.ndarray:
    """The given inputs, or the example's."""
    if inputs is None:
        return example_inputs(model)
    values = np.asarray(inputs, dtype=float).ravel()
    if values.size != len(model.inputs) or not np.isfinite(values).all():
        names = ", ".join(f"{one.name} [{one.unit}]" for one in model.inputs)
        raise InputError(
            Problem(f"needs {len(model.inputs)} finite numbers ({names}), got {values.tolist()}", key="inputs")
        )
    return values


def settled_pivots(model: WheeledRobotModel, twist: np.ndarray) -> np.ndarray:
    """Pivot angle of every passive castor once it has swung in behind this motion; zero for all other wheels.

    It stands still in the body's frame where its lateral velocity vanishes: |v_p| sin(χ − ψ) + θ' d = 0, χ the direction
    of the pivot's velocity v_p. Of the solutions the one that trails is stable.
    """
    pivots = np.zeros(model.kind.size)
    for i in np.flatnonzero((model.kind == wc.CASTOR) & ~model.driven):
        vx, vy = twist[0] - twist[2] * model.y[i], twist[1] + twist[2] * model.x[i]
        speed, offset = hypot(vx, vy), float(model.offset[i])
        if speed < 1e-12 or abs(twist[2] * offset) > speed:
            continue
        lag = asin(twist[2] * offset / speed)
        heading = atan2(vy, vx) + (lag if offset < 0 else pi - lag)
        pivots[i] = remainder(heading - model.heading[i], 2 * pi)
    return pivots


# --- the data ------------------------------------------------------------------------------------------


def wheel_report(model: WheeledRobotModel, inputs: np.ndarray | None = None, theta: float = 0.0) -> dict[str, Any]:
    """Everything that follows from the wheels, ready for JSON: SI units, angles in rad, None where there is nothing.

    `inputs` are the robot's raw inputs (rates, then steering angles), an example's by default; `theta` is the heading
    of the robot in the world, at which J_q and C_q act on q' = (x', y', θ').
    """
    values = checked_inputs(model, inputs)
    steering = values[model.n_rates :]
    psi = model.wheel_headings(steering)
    twist, slip = model.forward(values)
    inverse, rank = model.inverse_matrix(psi)
    rolling, lateral = model.constraint_matrices(theta, steering)
    structure = model.structure()
    standard = np.isin(model.kind, (wc.FIXED, wc.STEERED))
    turned = np.array([[cos(theta), -sin(theta)], [sin(theta), cos(theta)]]) @ twist[:2]
    return {
        "description": model.spec.description,
        "source": model.spec.source,
        "wheels": [_wheel(model, i, psi[i]) for i in range(psi.size)],
        "inputs": [
            {"name": one.name, "unit": one.unit, "description": one.description, "value": float(value),
             "wheels": [model.wheel_names[i] for i in one.wheels]}
            for one, value in zip(model.inputs, values, strict=True)
        ],
        "theta": float(theta),
        "J_q": {"rows": _names(model, model.kind != wc.SUPPORT), "matrix": _plain(rolling)},
        "C_q": {"rows": _names(model, standard), "matrix": _plain(lateral)},
        "mobility": structure.mobility,
        "steerability": structure.steerability,
        "manoeuvrability": structure.manoeuvrability,
        "forward": {
            "columns": [one.name for one in model.inputs[: model.n_rates]],
            "K": _plain(inverse @ model.factors),
            "rank": rank,
            "twist": _plain(twist),
            "world_velocity": _plain(np.array([*turned, twist[2]])),
            "slip": [{"row": name, "velocity": float(v)} for name, v in zip(model.row_names, _plain(slip), strict=True)],
            "largest_slip": float(np.abs(_plain(slip)).max(initial=0.0)),
        },
        "inverse": [_inverse(model, name, np.array(unit), values) for name, unit in UNIT_TWISTS.items()],
        "icr": _icr(twist),
        "rates": [_rates(model, i, psi, twist, values) for i in np.flatnonzero(model.kind != wc.SUPPORT)],
        "free_directions": _plain(model.free_directions()),
    }  # fmt: skip


def _plain(values: np.ndarray) -> list[Any]:
    """As nested lists; rounding dust becomes zero, so that tables read as the textbook writes them."""
    size = float(np.abs(values).max(initial=0.0))
    return (np.where(np.abs(values) < 1e-13 * max(1.0, size), 0.0, values) + 0.0).tolist()


def _names(model: WheeledRobotModel, chosen: np.ndarray) -> list[str]:
    return [model.wheel_names[i] for i in np.flatnonzero(chosen)]


def _wheel(model: WheeledRobotModel, i: int, heading: float) -> dict[str, Any]:
    """One wheel, also in the source's polar parameters: p = l (cos φ, sin φ), ψ = φ + α − 90°."""
    x, y = float(model.x[i]), float(model.y[i])
    phi = atan2(y, x)
    kind = int(model.kind[i])
    turns = kind != wc.SUPPORT
    return {
        "name": model.wheel_names[i],
        "type": model.spec.wheels[model.wheel_names[i]].type,
        "x": x,
        "y": y,
        "l": hypot(x, y),
        "phi": phi,
        "alpha": _wrapped(heading - phi + pi / 2) if turns else None,
        "heading": _wrapped(heading) if turns else None,
        "radius": float(model.radius[i]) if turns else None,
        "roller_angle": float(model.roller_angle[i]) if kind == wc.SWEDISH else None,
        "offset": float(model.offset[i]) if kind == wc.CASTOR else None,
        "driven": bool(model.driven[i]),
        "steered": kind == wc.STEERED or (kind == wc.CASTOR and bool(model.driven[i])),
    }


def _wrapped(angle: float) -> float:
    """The same angle in (−π, π]."""
    angle = remainder(angle, 2 * pi)
    return angle + 2 * pi if angle <= -pi + 1e-12 else angle


def _inverse(model: WheeledRobotModel, name: str, twist: np.ndarray, present: np.ndarray) -> dict[str, Any]:
    """Inputs for one velocity of the body; the steering starts straight, so that the answer is the robot's own."""
    found = inverse_kinematics(model, twist, np.zeros_like(present))
    possible = not found.reason
    inputs = {one.name: float(v) for one, v in zip(model.inputs, _plain(found.inputs), strict=True)}
    return {
        "motion": name,
        "twist": twist.tolist(),
        "possible": possible,
        "inputs": inputs if possible else None,
        "reason": found.reason,
        "nearest_twist": _plain(found.twist),
    }


def _icr(twist: np.ndarray) -> dict[str, Any]:
    """Where the body turns about: a point, or infinitely far along an axis, or nowhere at rest."""
    centre = centre_of_rotation(np.array(_plain(twist)))
    if np.isfinite(centre).all():
        return {"at": "point", "x": float(centre[0] + 0.0), "y": float(centre[1] + 0.0)}
    return {"at": "infinity" if np.isinf(centre).any() else "nowhere", "x": None, "y": None}


def _rates(
    model: WheeledRobotModel, i: int, psi: np.ndarray, twist: np.ndarray, inputs: np.ndarray
) -> dict[str, Any]:
    """How fast a wheel turns, and its second rate; a motor's speed where one sets it."""
    rows = model.rows(psi)
    motor = int(model.motor_of_wheel[i])
    kind = int(model.kind[i])
    first, second = wc.wheel_rates(
        kind, model.radius[i], model.roller_angle[i], model.roller_radius[i], model.offset[i],
        rows[2 * i], rows[2 * i + 1], *twist, inputs[motor] if motor >= 0 else np.nan,
    )  # fmt: skip
    second_motor = int(model.second_motor_of_wheel[i])
    if second_motor >= 0:
        second = inputs[second_motor]
    settled = model.heading[i] + settled_pivots(model, twist)[i]
    free = kind == wc.CASTOR and not model.driven[i]
    return {
        "wheel": model.wheel_names[i],
        "rotation": _clean(first),
        "set_by_motor": motor >= 0,
        "second": _clean(second) if kind in SECOND_RATES else None,
        "second_name": SECOND_RATES.get(kind),
        "settled_heading": _wrapped(float(settled)) if free else None,
    }


def _clean(value: float) -> float:
    return 0.0 if abs(value) < 1e-12 else float(value)


# --- the tables ----------------------------------------------------------------------------------------


def print_wheel_report(report: dict[str, Any], console: Console) -> None:
    """The report as tables, angles in degrees."""
    if report["description"]:
        console.print(Text(report["description"], style="bold"))
    if report["source"]:
        console.print(Text(f"Source: {report['source']}", style="dim"))
    for table in (
        _wheels_table(report),
        _matrix_table(report, "J_q", "rolling"),
        _matrix_table(report, "C_q", "lateral"),
    ):
        console.print(table)
    console.print(
        Text.assemble(
            "Degrees of mobility δ_m = ", (str(report["mobility"]), "bold"),
            ", steerability δ_s = ", (str(report["steerability"]), "bold"),
            ", manoeuvrability δ_M = ", (str(report["manoeuvrability"]), "bold"),
        )
    )  # fmt: skip
    for direction in report["free_directions"]:
        console.print(Text(f"Nothing sets the motion {_vector(direction)}: it stays zero", style="yellow"))
    console.print(_forward_table(report))
    _print_motion(report, console)
    console.print(_rates_table(report))
    console.print(_inverse_table(report))


def _table(title: str, *columns: str, left: int = 1) -> Table:
    table = Table(
        title=title, title_justify="left", title_style="bold", header_style="dim", box=None, pad_edge=False
    )
    for number, name in enumerate(columns):
        table.add_column(name, justify="left" if number < left else "right", no_wrap=number < left)
    return table


def _wheels_table(report: dict[str, Any]) -> Table:
    table = _table(
        "\nWheels", "name", "type", "x [m]", "y [m]", "l [m]", "φ [°]", "α [°]", "ψ [°]", "r [m]", "", left=2
    )
    for wheel in report["wheels"]:
        notes = [word for word in ("driven", "steered") if wheel[word]] or ["passive"]
        if wheel["roller_angle"] is not None:
            notes.append(f"rollers {degrees(wheel['roller_angle']):.4g}°")
        if wheel["offset"] is not None:
            notes.append(f"offset {wheel['offset']:.4g} m")
        table.add_row(
            wheel["name"], wheel["type"], *(_number(wheel[key]) for key in ("x", "y", "l")),
            *(_angle(wheel[key]) for key in ("phi", "alpha", "heading")), _number(wheel["radius"]), ", ".join(notes),
        )  # fmt: skip
    table.columns[-1].justify = "left"
    return table


def _matrix_table(report: dict[str, Any], key: str, kind: str) -> Table:
    steering = [f"{one['name']} {_angle(one['value'])}°" for one in report["inputs"] if one["unit"] == "rad"]
    at = ", ".join([f"θ = {_angle(report['theta'])}°", *steering])
    table = _table(f"\n{key} of the {kind} constraints ({at})", "wheel", "x'", "y'", "θ'")
    for name, row in zip(report[key]["rows"], report[key]["matrix"], strict=True):
        table.add_row(name, *(_number(value) for value in row))
    if not report[key]["rows"]:
        table.add_row("no wheel", "", "", "")
    return table


def _forward_table(report: dict[str, Any]) -> Table:
    forward = report["forward"]
    table = _table("\nForward kinematics: body velocity = K · inputs", "", *forward["columns"])
    for name, row in zip(("v_x [m/s]", "v_y [m/s]", "θ' [rad/s]"), forward["K"], strict=True):
        table.add_row(name, *(_number(value) for value in row))
    return table


def _print_motion(report: dict[str, Any], console: Console) -> None:
    forward = report["forward"]
    console.print(Text("\nThis motion", style="bold"))
    given = ", ".join(f"{one['name']} = {one['value']:.4g} {one['unit']}" for one in report["inputs"])
    console.print(Text(f"inputs: {given}"))
    console.print(Text(f"body velocity: {_vector(forward['twist'])}"))
    icr = report["icr"]
    place = {
        "point": "({x:.4g}, {y:.4g}) m",
        "infinity": "at infinity: straight motion",
        "nowhere": "none: at rest",
    }
    found = place[icr["at"]].format(x=icr["x"], y=icr["y"]) if icr["at"] == "point" else place[icr["at"]]
    console.print(Text(f"centre of rotation: {found}"))
    if forward["largest_slip"] > 1e-9:
        rows = [f"{one['row']} {one['velocity']:.4g}" for one in forward["slip"] if abs(one["velocity"]) > 1e-9]
        console.print(Text(f"the wheels disagree and slip [m/s]: {', '.join(rows)}", style="yellow"))
    else:
        console.print(Text("the wheels agree: no slip"))


def _rates_table(report: dict[str, Any]) -> Table:
    table = _table("\nWheels in this motion", "wheel", "rotation [rad/s]", "second [rad/s]", "")
    for rate in report["rates"]:
        notes = ["set by a motor" if rate["set_by_motor"] else "follows"]
        if rate["second_name"]:
            notes.append(f"second: {rate['second_name']}")
        if rate["settled_heading"] is not None:
            notes.append(f"settles at ψ = {_angle(rate['settled_heading'])}°")
        table.add_row(rate["wheel"], _number(rate["rotation"]), _number(rate["second"]), ", ".join(notes))
    table.columns[-1].justify = "left"
    return table


def _inverse_table(report: dict[str, Any]) -> Table:
    table = _table("\nInverse kinematics", "motion", "velocity", "inputs", left=2)
    table.columns[-1].justify = "left"
    for case in report["inverse"]:
        units = {one["name"]: one["unit"] for one in report["inputs"]}
        answer = ", ".join(f"{name} = {v:.4g} {units[name]}" for name, v in (case["inputs"] or {}).items())
        text = Text(answer) if case["possible"] else Text(f"cannot: {case['reason']}", style="yellow")
        table.add_row(case["motion"], "(" + ", ".join(f"{v:g}" for v in case["twist"]) + ")", text)
    return table


def _vector(twist: Sequence[float]) -> str:
    return "v_x = {:.4g} m/s, v_y = {:.4g} m/s, θ' = {:.4g} rad/s".format(*twist)


def _number(value: float | None) -> str:
    return "" if value is None or not isfinite(value) else f"{value:.4g}"


def _angle(value: float | None) -> str:
    return "" if value is None else f"{round(degrees(value), 2) + 0.0:g}"
