"""Symbols of a wheeled robot seen from above: one for each type of wheel, the body, its frame and its motion."""

from __future__ import annotations

from math import cos, degrees, hypot, pi, sin
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Arc, Circle, FancyArrowPatch, Patch, Polygon, RegularPolygon

from botz.physics.wheels import constraints as wc
from botz.robots.wheeled_robot import WheeledRobotModel
from botz.scene.kinematics.scene import outline_of
from botz.view.style import INK, LABEL_SIZE, PALETTE, SMALL_SIZE, halo

BODY, BODY_EDGE = "#EEF2F6", "#9AA6B2"
DRIVEN, PASSIVE, BALL = "#3A444E", "#FFFFFF", "#A9B3BD"
"""A driven ball is large and carries arrows, so it is paler than a driven wheel."""
AXIS, MOTION, CENTRE = "#8A949E", PALETTE[0], PALETTE[1]
FRAME_X, FRAME_Y = "#B3261E", "#00795A"


def contact(model: WheeledRobotModel, i: int, psi: float) -> np.ndarray:
    """Where a wheel touches the ground: beside its pivot for a castor."""
    ahead = model.offset[i] if model.kind[i] == wc.CASTOR else 0.0
    return np.array([model.x[i] + ahead * cos(psi), model.y[i] + ahead * sin(psi)])


def half_size(model: WheeledRobotModel, i: int) -> tuple[float, float]:
    """Half length and half width of a wheel as drawn: a thin wheel is drawn wide enough to be seen."""
    radius = float(model.radius[i])
    if model.kind[i] == wc.SPHERICAL:
        return radius, radius
    if model.kind[i] == wc.SUPPORT:
        return 0.07 * model.length, 0.07 * model.length
    width = float(model.spec.wheels[model.wheel_names[i]].width)
    return radius, max(0.5 * width, (0.3 if model.kind[i] == wc.SWEDISH else 0.2) * radius)


def corners(model: WheeledRobotModel, i: int, psi: float) -> np.ndarray:
    length, width = half_size(model, i)
    e, a = np.array([cos(psi), sin(psi)]), np.array([-sin(psi), cos(psi)])
    return np.array(
        [contact(model, i, psi) + s * length * e + t * width * a for s, t in ((1, 1), (-1, 1), (-1, -1), (1, -1))]
    )


def draw_body(axes: Axes, model: WheeledRobotModel) -> np.ndarray:
    outline = outline_of(model.spec)
    axes.add_patch(Polygon(outline, facecolor=BODY, edgecolor=BODY_EDGE, linewidth=1.2, joinstyle="round", zorder=1))
    return outline


def draw_wheel(axes: Axes, model: WheeledRobotModel, i: int, psi: float) -> None:
    """One wheel at heading ψ: filled where a motor drives it, hollow where it follows."""
    driven = bool(model.driven[i])
    face, detail = (DRIVEN, "white") if driven else (PASSIVE, INK)
    place = contact(model, i, psi)
    look: dict[str, Any] = {"facecolor": face, "edgecolor": INK, "linewidth": 1.1, "zorder": 5}
    kind = int(model.kind[i])
    length, width = half_size(model, i)
    if kind == wc.SUPPORT:
        axes.add_patch(RegularPolygon(tuple(place), 3, radius=length, **look))
        return
    if kind == wc.SPHERICAL:
        axes.add_patch(Circle(tuple(place), length, **(look | {"facecolor": BALL if driven else PASSIVE})))
        axes.add_patch(
            Arc(tuple(place), 1.1 * length, 1.1 * length, angle=0, theta1=100, theta2=170, color=detail, zorder=6)
        )
        return
    if kind == wc.CASTOR:
        pivot = np.array([model.x[i], model.y[i]])
        axes.plot(*np.transpose([pivot, place]), color=INK, linewidth=2.2, zorder=6, solid_capstyle="round")
        axes.plot(*pivot, marker="o", markersize=5, color="white", markeredgecolor=INK, markeredgewidth=1.2, zorder=7)
    box = Polygon(corners(model, i, psi), joinstyle="round", **look)
    axes.add_patch(box)
    if kind == wc.STEERED:
        axes.plot(*place, marker="o", markersize=3.6, color="white", markeredgecolor=INK, markeredgewidth=0.9, zorder=7)
    if kind == wc.SWEDISH:
        _draw_rollers(axes, place, psi, float(model.roller_angle[i]), length, width, detail, box)


def _draw_rollers(
    axes: Axes, place: np.ndarray, psi: float, roller: float, length: float, width: float, colour: str, box: Patch
) -> None:
    """Rollers as they stand at the ground, along their axes at ψ + γ."""
    count = 5
    spacing = 2.0 * length / count
    reach = 0.33 * spacing if abs(sin(roller)) < 0.25 else 0.75 * width / abs(sin(roller))
    u = reach * np.array([cos(psi + roller), sin(psi + roller)])
    for number in range(count):
        middle = place + (number - (count - 1) / 2) * spacing * np.array([cos(psi), sin(psi)])
        (line,) = axes.plot(*np.transpose([middle - u, middle + u]), color=colour, linewidth=1.5, zorder=6)
        line.set_clip_path(box)


def draw_axles(axes: Axes, places: np.ndarray, psi: np.ndarray, centre: np.ndarray | None, beyond: float) -> None:
    """The lines on which axles lie: to the centre of rotation where they meet it, else across the picture.

    Wheels of one axle share a line, as two dashed ones over each other would look solid.
    """
    look: dict[str, Any] = {"color": AXIS, "linewidth": 1.0, "linestyle": (0, (5, 3)), "zorder": 3}
    origin = np.zeros(2) if centre is None else centre
    drawn: list[tuple[np.ndarray, np.ndarray, bool]] = []
    for k in np.argsort(-np.hypot(*(places - origin).T), kind="stable"):
        along = np.array([-sin(psi[k]), cos(psi[k])])
        to_centre = origin - places[k]
        meets = centre is not None and abs(cross(to_centre, along)) < 1e-6 * (1.0 + hypot(*to_centre))
        along = along if to_centre @ along >= 0 else -along
        same = [
            abs(cross(along, a)) < 1e-6 and abs(cross(places[k] - p, a)) < 1e-6 and (along @ a > 0 or not m)
            for p, a, m in drawn
        ]
        if any(same):
            continue
        drawn.append((places[k], along, meets))
        if meets:
            axes.plot(*np.transpose([places[k] - beyond * along, origin + 0.6 * beyond * along]), **look)
        else:
            axes.axline(tuple(places[k]), tuple(places[k] + along), **look)


def cross(a: np.ndarray, b: np.ndarray) -> float:
    return float(a[0] * b[1] - a[1] * b[0])


def draw_frame(axes: Axes, size: float) -> None:
    """The robot's own axes at its origin."""
    for name, tip, colour, shift in (("x", (size, 0.0), FRAME_X, (0, -8)), ("y", (0.0, size), FRAME_Y, (-8, 0))):
        _arrow(axes, np.zeros(2), np.array(tip), colour, 1.4, 9)
        axes.annotate(
            name, tip, xytext=shift, textcoords="offset points", color=colour, fontsize=LABEL_SIZE,
            fontweight="bold", zorder=9, path_effects=halo(), horizontalalignment="center",
            verticalalignment="center",
        )  # fmt: skip
    axes.plot(0.0, 0.0, marker="o", markersize=4, color=INK, zorder=9.5)


def _arrow(axes: Axes, start: np.ndarray, tip: np.ndarray, colour: str, width: float, order: float) -> None:
    ends = [(float(x), float(y)) for x, y in (start, tip)]
    look: dict[str, Any] = {"color": colour, "linewidth": width, "zorder": order, "shrinkA": 0, "shrinkB": 0}
    axes.add_patch(FancyArrowPatch(*ends, arrowstyle="-|>", mutation_scale=7 + 3 * width, joinstyle="miter", **look))


def draw_motion(axes: Axes, model: WheeledRobotModel, twist: np.ndarray, size: float) -> np.ndarray:
    """Velocities: a thick arrow of the origin, thin ones of the wheels' places, and an arc for the rotation.

    Returns the tips of the arrows (k, 2).
    """
    places = np.column_stack([model.x, model.y])[model.kind != wc.SUPPORT]
    velocities = np.column_stack([twist[0] - twist[2] * places[:, 1], twist[1] + twist[2] * places[:, 0]])
    largest = max(float(np.hypot(*velocities.T).max(initial=0.0)), hypot(*twist[:2]), 1e-12)
    scale = size / largest
    tips = [np.zeros(2)]
    for place, velocity in zip(places, velocities, strict=True):
        if hypot(*velocity) > 0.02 * largest and hypot(*place) > 1e-9:
            tips.append(place + scale * velocity)
            _arrow(axes, place, tips[-1], MOTION, 1.3, 8)
    if hypot(*twist[:2]) > 0.02 * largest:
        tips.append(scale * twist[:2])
        _arrow(axes, np.zeros(2), tips[-1], MOTION, 2.6, 8)
    if abs(twist[2]) * model.length > 0.02 * largest:
        angles = np.sign(twist[2]) * np.linspace(0.3 * pi, 1.6 * pi, 60)
        arc = 0.42 * size * np.column_stack([np.cos(angles), np.sin(angles)])
        axes.plot(*arc[:-3].T, color=MOTION, linewidth=1.8, zorder=8, solid_capstyle="butt")
        _arrow(axes, arc[-4], arc[-1], MOTION, 1.8, 8)
    return np.array(tips)


def draw_centre(axes: Axes, centre: np.ndarray, frame: float) -> None:
    """The instantaneous centre of rotation; its name stands clear of the robot's frame of size `frame`."""
    crowded = -0.5 * frame < centre[0] < 1.2 * frame and abs(centre[1]) < 0.5 * frame
    axes.plot(*centre, marker="o", markersize=11, color="none", markeredgecolor=CENTRE, markeredgewidth=1.8, zorder=10)
    axes.plot(*centre, marker="o", markersize=3.6, color=CENTRE, zorder=10)
    x, y = float(centre[0]) + 0.0, float(centre[1]) + 0.0
    axes.annotate(
        f"ICR ({x:.3g}, {y:.3g}) m", (x, y), xytext=(12, 14 if crowded else 0),
        textcoords="offset points", color=CENTRE, fontsize=LABEL_SIZE, fontweight="bold", zorder=11,
        path_effects=halo(3), verticalalignment="center",
    )  # fmt: skip


def draw_name(axes: Axes, model: WheeledRobotModel, i: int, psi: float, middle: np.ndarray) -> None:
    """A wheel's name, outward of it."""
    shape = corners(model, i, psi)
    place = shape.mean(axis=0)
    above = place[1] >= middle[1] - 1e-9
    at, shift = (place[0], shape[:, 1].max() if above else shape[:, 1].min()), (0, 5 if above else -5)
    sides = ("center", "bottom" if above else "top")
    if hypot(*place) < 0.1 * model.length and model.kind[i] != wc.SPHERICAL:
        # The robot's own frame is drawn here.
        at, shift, sides = (shape[:, 0].min(), place[1]), (-6, 0), ("right", "center")
    axes.annotate(
        model.wheel_names[i].replace("_", " "), at, xytext=shift, textcoords="offset points", fontsize=SMALL_SIZE,
        horizontalalignment=sides[0], verticalalignment=sides[1], color=INK, zorder=11, path_effects=halo(3),
    )  # fmt: skip


def symbol_key(model: WheeledRobotModel, *, axles: bool, centre: bool, moving: bool) -> list[Artist]:
    """Handles of a legend with what is drawn, and nothing else."""
    found: list[Artist] = []
    kinds = set(model.kind.tolist())
    rolling = ~np.isin(model.kind, (wc.SUPPORT, wc.SPHERICAL))
    if (model.driven & rolling).any():
        found.append(Patch(facecolor=DRIVEN, edgecolor=INK, label="driven wheel"))
    if (~model.driven & rolling).any():
        found.append(Patch(facecolor=PASSIVE, edgecolor=INK, label="passive wheel"))
    dot: dict[str, Any] = {"linestyle": "none", "markerfacecolor": "white", "markeredgecolor": INK}
    if wc.STEERED in kinds:
        found.append(Line2D([], [], marker="o", markersize=5, label="steering axis", **dot))
    if wc.CASTOR in kinds:
        found.append(Line2D([], [], marker="o", markersize=7, label="castor pivot", **dot))
    for angle in sorted({round(degrees(g), 1) for g in np.abs(model.roller_angle[model.kind == wc.SWEDISH])}):
        hatch = "---" if angle < 15 else "///"
        found.append(Patch(facecolor="white", edgecolor=INK, hatch=hatch, label=f"rollers at {angle:g}°"))
    if wc.SPHERICAL in kinds:
        driven = bool(model.driven[model.kind == wc.SPHERICAL].any())
        look = {"markerfacecolor": BALL if driven else PASSIVE}
        name = "driven ball" if driven else "passive ball"
        found.append(Line2D([], [], marker="o", markersize=10, label=name, **(dot | look)))
    if wc.SUPPORT in kinds:
        found.append(Line2D([], [], marker="^", markersize=8, label="support", **dot))
    if axles:
        found.append(Line2D([], [], color=AXIS, linewidth=1.2, linestyle=(0, (4, 2)), label="wheel axis"))
    if centre:
        ring = dot | {"markeredgecolor": CENTRE, "markeredgewidth": 1.8}
        found.append(Line2D([], [], marker="o", markersize=9, label="centre of rotation", **ring))
    if moving:
        found.append(Line2D([], [], color=MOTION, linewidth=2.2, marker=">", markevery=[1], label="velocity"))
    return found
