"""A wheeled robot seen from above: its wheels, their axes, and where they make it turn."""

from __future__ import annotations

from math import hypot
from pathlib import Path
from textwrap import fill
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from botz.physics.wheels import constraints as wc
from botz.robots.wheeled_robot import WheeledRobotModel, centre_of_rotation
from botz.view import wheel_symbols as symbols
from botz.view.style import (
    INK,
    LABEL_SIZE,
    SMALL_SIZE,
    SOFT_INK,
    WARNING,
    dress,
    fit_equal,
    halo,
    new_figure,
    picture_format,
    save,
    set_title,
    settle,
)
from botz.view.wheel_example import checked_inputs, settled_pivots

WIDTH, HEIGHT = 8.4, 5.6
NEAR = 4.0
"""A centre of rotation within so many lengths of the robot is inside the picture."""
MOST_INPUTS = 8


def draw_robot(model: WheeledRobotModel, path: Path, *, inputs: np.ndarray | None = None, title: str = "") -> Path:
    """Draw a robot in motion into `path` (.png, .svg or .pdf) and return it.

    `inputs` are its raw inputs, rates and then steering angles; without them it shows an example. Passive castors
    are drawn as they stand once they have swung in behind this motion.
    """
    path = Path(path)
    picture_format(path)
    values = checked_inputs(model, inputs)
    twist, slip = model.forward(values)
    twist = np.where(np.abs(twist) < 1e-12, 0.0, twist)
    psi = model.wheel_headings(values[model.n_rates :], settled_pivots(model, twist))
    centre = centre_of_rotation(twist)
    near = bool(np.isfinite(centre).all()) and hypot(*centre) <= NEAR * model.length

    figure = new_figure(WIDTH, HEIGHT)
    grid = figure.add_gridspec(1, 2, width_ratios=[1.0, 0.36])
    axes, panel = figure.add_subplot(grid[0]), figure.add_subplot(grid[1])
    dress(axes, x_label="x [m]", y_label="y [m]", ticks=7)
    shape = _draw_parts(axes, model, psi, twist, centre if near else None)
    _draw_panel(panel, model, values, twist, slip, near)
    low, high = _view(shape, centre if near else None, model.length)
    axes.set_xlim(low[0], high[0])
    axes.set_ylim(low[1], high[1])
    heading = set_title(figure, fill(title or model.spec.description or "wheeled robot", 70))
    settle(figure, heading)
    fit_equal(axes, low, high)
    if not near and hypot(*twist[:2]) > 0:
        _point_to_centre(axes, twist, centre, shape)
    return save(figure, path)


def _draw_parts(
    axes: Axes, model: WheeledRobotModel, psi: np.ndarray, twist: np.ndarray, centre: np.ndarray | None
) -> np.ndarray:
    """Everything at its place; the corners of body and wheels and the tips of the arrows (k, 2)."""
    shape = [symbols.draw_body(axes, model)]
    axles = [i for i in range(psi.size) if _has_axle(model, i)]
    places = np.array([symbols.contact(model, i, psi[i]) for i in axles]).reshape(-1, 2)
    symbols.draw_axles(axes, places, psi[axles], centre, 0.35 * model.length)
    for i in range(psi.size):
        shape.append(symbols.corners(model, i, psi[i]))
        symbols.draw_wheel(axes, model, i, psi[i])
    every = np.concatenate(shape)
    middle = 0.5 * (every.min(axis=0) + every.max(axis=0))
    for i in range(psi.size):
        symbols.draw_name(axes, model, i, psi[i], middle)
    size = float(np.ptp(every, axis=0).max())
    symbols.draw_frame(axes, 0.13 * size)
    tips = symbols.draw_motion(axes, model, twist, 0.42 * size)
    if centre is not None:
        symbols.draw_centre(axes, centre, 0.13 * size)
    return np.vstack([every, tips])


def _has_axle(model: WheeledRobotModel, i: int) -> bool:
    """Wheels whose axle must pass through the centre of rotation when nothing slips."""
    return bool(model.kind[i] in (wc.FIXED, wc.STEERED) or (model.kind[i] == wc.CASTOR and not model.driven[i]))


def _view(shape: np.ndarray, centre: np.ndarray | None, length: float) -> tuple[np.ndarray, np.ndarray]:
    points = shape if centre is None else np.vstack([shape, centre])
    low, high = points.min(axis=0), points.max(axis=0)
    margin = 0.16 * float((high - low).max()) + 0.1 * length
    return low - margin, high + margin


def _point_to_centre(axes: Axes, twist: np.ndarray, centre: np.ndarray, shape: np.ndarray) -> None:
    """An arrow towards a centre of rotation outside the picture, across the direction of motion."""
    to_centre = np.array([-twist[1], twist[0]]) * (-1.0 if twist[2] < 0 else 1.0)
    to_centre = to_centre / np.hypot(*to_centre)
    middle = 0.5 * (shape.min(axis=0) + shape.max(axis=0))
    low, high = np.array([axes.get_xlim(), axes.get_ylim()]).T
    reach = min(((high if d > 0 else low)[k] - middle[k]) / d for k, d in enumerate(to_centre) if abs(d) > 1e-9)
    tip, foot = middle + 0.96 * reach * to_centre, middle + 0.78 * reach * to_centre
    axes.annotate(
        "", tip, xytext=foot, zorder=10, arrowprops={"arrowstyle": "-|>", "color": symbols.CENTRE, "linewidth": 1.8}
    )
    away = f"ICR {np.hypot(*centre):.3g} m away" if np.isfinite(centre).all() else "ICR at infinity"
    axes.annotate(
        away, 0.5 * (tip + foot), xytext=(10, 0), textcoords="offset points", color=symbols.CENTRE,
        fontsize=LABEL_SIZE, fontweight="bold", verticalalignment="center", zorder=11, path_effects=halo(3),
    )  # fmt: skip


def _draw_panel(
    panel: Axes, model: WheeledRobotModel, inputs: np.ndarray, twist: np.ndarray, slip: np.ndarray, near: bool
) -> None:
    """Beside the drawing: what its symbols mean, and the numbers of the motion."""
    panel.set_axis_off()
    axles = any(_has_axle(model, i) for i in range(model.kind.size))
    key = symbols.symbol_key(model, axles=axles, centre=near, moving=bool(twist.any()))
    panel.legend(
        handles=key, loc="upper left", bbox_to_anchor=(0.0, 1.0),
        frameon=False, fontsize=SMALL_SIZE, labelcolor=INK, borderaxespad=0.0, labelspacing=0.6, handlelength=1.8,
    )  # fmt: skip
    lines = [
        f"{one.name.replace('_', ' ')}  {np.degrees(value) + 0.0:.3g}°"
        if one.unit == "rad"
        else f"{one.name.replace('_', ' ')}  {value + 0.0:.3g} {one.unit}"
        for one, value in zip(model.inputs, inputs, strict=True)
    ]
    if len(lines) > MOST_INPUTS:
        lines = [*lines[: MOST_INPUTS - 1], f"… and {len(lines) - MOST_INPUTS + 1} more"]
    velocity = [f"forward  {twist[0]:.3g} m/s", f"to the left  {twist[1]:.3g} m/s", f"turning  {twist[2]:.3g} rad/s"]
    structure = model.structure()
    freedom = [f"{name}  {getattr(structure, name)}" for name in ("mobility", "steerability", "manoeuvrability")]
    blocks = [("inputs", lines), ("velocity", velocity), ("degrees", freedom)]
    largest = float(np.abs(slip).max(initial=0.0))
    if largest > 1e-9:
        blocks.append(("slip", [f"up to {largest:.3g} m/s"]))
    up = 0.0
    for name, rows in reversed(blocks):
        colour = WARNING if name == "slip" else INK
        up = _text_above(panel, rows, up, color=colour) + 2.0
        up = _text_above(panel, [name], up, color=SOFT_INK, fontweight="bold") + 9.0


def _text_above(panel: Axes, rows: list[str], up: float, **look: Any) -> float:
    """Lines of text that stand `up` points above the panel's foot; how high they reach [points]."""
    panel.annotate(
        "\n".join(rows), (0.0, 0.0), xytext=(0.0, up), xycoords="axes fraction", textcoords="offset points",
        fontsize=SMALL_SIZE, verticalalignment="bottom", linespacing=1.25, **look,
    )  # fmt: skip
    return up + 1.24 * SMALL_SIZE * len(rows)
