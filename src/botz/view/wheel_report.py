"""What a list of wheels makes of a robot, as plain data and as tables for `botz wheels`."""

from __future__ import annotations

from math import atan2, cos, degrees, hypot, isfinite, pi, remainder, sin
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from rich.text import Text

from botz.physics.wheels import constraints as wc
from botz.robots.wheel_inverse import inverse_kinematics
from botz.robots.wheeled_robot import WheeledRobotModel, centre_of_rotation
from botz.view.wheel_example import checked_inputs, settled_pivots

UNIT_TWISTS = {"forward": (1.0, 0.0, 0.0), "to the left": (0.0, 1.0, 0.0), "turning": (0.0, 0.0, 1.0)}
SECOND_RATES = {wc.CASTOR: "pivot", wc.SWEDISH: "roller", wc.SPHERICAL: "side"}


# --- the data ------------------------------------------------------------------------------------------


def wheel_report(model: WheeledRobotModel, inputs: np.ndarray | None = None, theta: float = 0.0) -> dict[str, Any]:
    """Everything that follows from the wheels, ready for JSON: SI units, angles in rad, None where none applies.

    `inputs` are the robot's raw inputs (rates, then steering angles), an example's by default; `theta` is the
    heading of the robot in the world, at which J_q and C_q act on q' = (x', y', θ').
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
            "slip": [
                {"row": name, "velocity": velocity}
                for name, velocity in zip(model.row_names, _plain(slip), strict=True)
            ],
            "largest_slip": float(np.abs(_plain(slip)).max(initial=0.0)),
        },
        "inverse": [_inverse(model, name, np.array(unit), values) for name, unit in UNIT_TWISTS.items()],
        "icr": _icr(twist),
        "rates": [_rates(model, i, psi, twist, values) for i in np.flatnonzero(model.kind != wc.SUPPORT).tolist()],
        "free_directions": [_plain(one / np.abs(one).max()) for one in model.free_directions()],
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
    return angle + 2 * pi if angle <= -pi + 1e-9 else angle


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


def _rates(model: WheeledRobotModel, i: int, psi: np.ndarray, twist: np.ndarray, inputs: np.ndarray) -> dict[str, Any]:
    """How fast a wheel turns, and its second rate; a motor's speed where one sets it."""
    rows = model.rows(psi)
    motor = int(model.motor_of_wheel[i])
    kind = int(model.kind[i])
    first, second = wc.wheel_rates(
        kind, model.radius[i], model.roller_angle[i], model.roller_radius[i], model.offset[i], 1.0,
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
    steering = [f"{one['name']} {_angle(one['value'])}°" for one in report["inputs"] if one["unit"] == "rad"]
    at = ", ".join([f"θ = {_angle(report['theta'])}°", *steering])
    _print(console, "Wheels, ψ the direction in which they roll", _wheels_table(report))
    _print(console, "In polar form: x, y = l cos φ, l sin φ and ψ = φ + α − 90°", _polar_table(report))
    _print(console, f"J_q, rolling constraints at {at}", _matrix_table(report["J_q"]))
    _print(console, f"C_q, lateral constraints at {at}", _matrix_table(report["C_q"]))
    console.print(
        Text.assemble(
            "\nMobility δ_m = ", (str(report["mobility"]), "bold"),
            ", steerability δ_s = ", (str(report["steerability"]), "bold"),
            ", manoeuvrability δ_M = ", (str(report["manoeuvrability"]), "bold"),
        )
    )  # fmt: skip
    for direction in report["free_directions"]:
        way = "({:.4g} m/s, {:.4g} m/s, {:.4g} rad/s)".format(*direction)
        console.print(Text(f"Neither a motor nor an axle sets the motion {way}; it stays zero.", style="yellow"))
    _print(console, "Forward kinematics: body velocity for 1 rad/s of each motor (columns of K)", _forward(report))
    _print(console, "This motion", _motion(report))
    _print(console, "Wheels in this motion", _rates_table(report))
    _print(console, "Inverse kinematics: inputs [rad/s, °] for a velocity of the body", _inverse_table(report))
    for case in report["inverse"]:
        if not case["possible"]:
            console.print(Text(f"{case['motion']}: cannot, {case['reason']}", style="yellow"))


def _print(console: Console, title: str, table: Table) -> None:
    console.print(Text(f"\n{title}", style="bold"))
    console.print(table)


def _table(*columns: str, left: int = 1, notes: bool = False) -> Table:
    """Columns of numbers after `left` columns of words; with `notes`, words again in the last one."""
    table = Table(box=None, pad_edge=False, header_style="dim", show_header=any(columns))
    for number, name in enumerate(columns):
        words = number < left or (notes and number == len(columns) - 1)
        table.add_column(Text(name), justify="left" if words else "right", no_wrap=not words or number < left)
    return table


def _wheels_table(report: dict[str, Any]) -> Table:
    extra = {"offset": "offset [m]", "roller_angle": "rollers [°]"}
    shown = [key for key in extra if any(wheel[key] is not None for wheel in report["wheels"])]
    names = ("x [m]", "y [m]", "ψ [°]", "r [m]")
    table = _table("name", "type", "", *names, *(extra[key] for key in shown), left=3)
    for wheel in report["wheels"]:
        numbers = [_number(wheel["x"]), _number(wheel["y"]), _angle(wheel["heading"]), _number(wheel["radius"])]
        numbers += [_number(wheel[key]) if key == "offset" else _angle(wheel[key]) for key in shown]
        table.add_row(wheel["name"], wheel["type"], "driven" if wheel["driven"] else "passive", *numbers)
    return table


def _polar_table(report: dict[str, Any]) -> Table:
    table = _table("name", "l [m]", "φ [°]", "α [°]")
    for wheel in report["wheels"]:
        table.add_row(wheel["name"], _number(wheel["l"]), _angle(wheel["phi"]), _angle(wheel["alpha"]))
    return table


def _matrix_table(named: dict[str, Any]) -> Table:
    table = _table("wheel", "x'", "y'", "θ'")
    for name, row in zip(named["rows"], named["matrix"], strict=True):
        table.add_row(name, *(_number(value) for value in row))
    if not named["rows"]:
        table.add_row("(none)", "", "", "")
    return table


def _forward(report: dict[str, Any]) -> Table:
    forward = report["forward"]
    table = _table("motor", "v_x [m/s]", "v_y [m/s]", "θ' [rad/s]")
    for name, column in zip(forward["columns"], zip(*forward["K"], strict=True), strict=True):
        table.add_row(name, *(_number(value) for value in column))
    return table


def _motion(report: dict[str, Any]) -> Table:
    forward, icr = report["forward"], report["icr"]
    table = _table("", "", left=1, notes=True)
    table.add_row("inputs", ", ".join(_setting(one["name"], one["value"], one["unit"]) for one in report["inputs"]))
    velocity = "v_x = {:.4g} m/s, v_y = {:.4g} m/s, θ' = {:.4g} rad/s".format(*forward["twist"])
    table.add_row("body velocity", velocity)
    where = {"infinity": "at infinity (straight motion)", "nowhere": "none (at rest)"}
    place = where.get(icr["at"]) or f"({icr['x']:.4g}, {icr['y']:.4g}) m"
    table.add_row("centre of rotation", place)
    slips = [f"{one['row']} {one['velocity']:.4g}" for one in forward["slip"] if abs(one["velocity"]) > 1e-9]
    slipping = Text(f"the wheels disagree [m/s]: {', '.join(slips)}", style="yellow")
    table.add_row("slip", slipping if slips else "none: the wheels agree")
    return table


def _rates_table(report: dict[str, Any]) -> Table:
    table = _table("wheel", "rotation [rad/s]", "second [rad/s]", "", notes=True)
    for rate in report["rates"]:
        notes = ["set by a motor" if rate["set_by_motor"] else "follows"]
        if rate["second_name"]:
            notes.append(f"second: {rate['second_name']}")
        if rate["settled_heading"] is not None:
            notes.append(f"settles at ψ = {_angle(rate['settled_heading'])}°")
        table.add_row(rate["wheel"], _number(rate["rotation"]), _number(rate["second"]), ", ".join(notes))
    return table


def _inverse_table(report: dict[str, Any]) -> Table:
    units = ("1 m/s", "1 m/s", "1 rad/s")
    cases = report["inverse"]
    table = _table("input", *(f"{case['motion']} {unit}" for case, unit in zip(cases, units, strict=True)))
    for one in report["inputs"]:
        values = [case["inputs"][one["name"]] if case["possible"] else None for case in cases]
        shown = ["–" if v is None else f"{_angle(v)}°" if one["unit"] == "rad" else _number(v) for v in values]
        table.add_row(one["name"], *shown)
    return table


def _setting(name: str, value: float, unit: str) -> str:
    """One input with its unit, angles in degrees."""
    return f"{name} = {_angle(value)}°" if unit == "rad" else f"{name} = {value:.4g} {unit}"


def _number(value: float | None) -> str:
    return "" if value is None or not isfinite(value) else f"{_clean(value):.4g}"


def _angle(value: float | None) -> str:
    return "" if value is None else f"{round(degrees(value), 2) + 0.0:g}"
