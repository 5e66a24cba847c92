"""A recorded run of serial arms in one picture: their ways in space, and joints, torques and tools over time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from mpl_toolkits.mplot3d.axes3d import Axes3D

from botz.errors import InputError
from botz.record.reader import Recording
from botz.robots.serial_arm import SerialArm
from botz.scenario.arm.schema import ArmScenario
from botz.scenario.load import load_data
from botz.view.arm import drawing
from botz.view.panels import Line, Panel, draw_panel
from botz.view.selection import thin
from botz.view.style import PALETTE, SMALL_SIZE, SOFT_INK, dress, fit_equal, line_look, new_figure, set_title, settle

WIDTH = 10.0
SCENE_HEIGHT = 5.6
ROW_HEIGHT = 1.55
MOMENTS = 6
"""Positions of an arm that are drawn along its way."""
MOST_ARMS = 4
"""Of which the joints are shown."""
FEELS = 1e-6
"""Force below which a tool has touched nothing [N]."""


def overview(recording: Recording, *, title: str, warning: str) -> Figure | None:
    spec = recorded_arms(recording)
    return None if spec is None else arm_figure(recording, spec, title=title, warning=warning)


def recorded_arms(recording: Recording) -> ArmScenario | None:
    """What was recorded of serial arms; None for other families, for a scenario that can no longer be read, and where
    no arm's joints are in the recording."""
    if recording.scenario.get("engine") != "arm":
        return None
    try:
        spec = load_data(recording.scenario).spec
    except InputError:
        return None
    return spec if isinstance(spec, ArmScenario) and any(_is_shown(recording, name) for name in spec.robots) else None


def _is_shown(recording: Recording, name: str) -> bool:
    return f"{name}/position" in recording and len(recording.time(f"{name}/position")) > 0


def arm_figure(recording: Recording, spec: ArmScenario, *, title: str, warning: str = "") -> Figure:
    world = spec.world
    arms = {
        name: SerialArm(robot, gravity=world.gravity, water=world.water)
        for name, robot in spec.robots.items()
        if _is_shown(recording, name)
    }
    panels = [
        panel
        for name, arm in list(arms.items())[:MOST_ARMS]
        for panel in arm_panels(recording, name, arm, alone=len(arms) == 1)
    ]
    heights = [SCENE_HEIGHT] + [ROW_HEIGHT] * len(panels)
    figure = new_figure(WIDTH, sum(heights) + 0.7)
    grid = figure.add_gridspec(len(heights), 1, height_ratios=heights)
    top = grid[0].subgridspec(2, 2, width_ratios=[1.3, 1.0])
    space = figure.add_subplot(top[:, 0], projection="3d")
    assert isinstance(space, Axes3D)
    flat = {name: figure.add_subplot(top[row, 1]) for row, name in enumerate(drawing.VIEWS)}
    scene = Scene(recording, spec, arms)
    scene.draw(space, flat)
    shared: Axes | None = None
    rows: list[Axes] = []
    for number, panel in enumerate(panels):
        axes = figure.add_subplot(grid[1 + number], sharex=shared)
        shared = shared or axes
        rows.append(axes)
        draw_panel(axes, panel, last=number == len(panels) - 1)
    figure.align_ylabels(rows)
    heading = set_title(figure, title, warning=warning)
    settle(figure, heading)
    heading.set_x(rows[0].get_position().x0 if rows else 0.05)
    for name, axes in flat.items():
        along = list(drawing.VIEWS[name])
        fit_equal(axes, scene.low[along], scene.high[along])
    return figure


# --- the scene -----------------------------------------------------------------------------------------


class Scene:
    """Where the arms and the objects were."""

    def __init__(self, recording: Recording, spec: ArmScenario, arms: Mapping[str, SerialArm]):
        self.recording, self.spec, self.arms = recording, spec, arms
        self.bodies = {name: self._bodies(name, arm) for name, arm in arms.items()}
        self.ways = {name: self._way(f"{name}/tool/pose") for name in arms}
        self.things = {name: self._way(f"{name}/pose") for name in spec.world.objects}
        points = [body.links for bodies in self.bodies.values() for body in bodies]
        points += [way for ways in (self.ways, self.things) for way in ways.values() if len(way)]
        points += [drawing.box_corners(b.size, drawing.transform(b.pose)) for b in spec.world.boxes.values()]
        points += [corners for ends in self._thing_boxes().values() for corners in ends]
        low, high = drawing.extent(points)
        for plane in spec.world.planes.values():
            # A floor or wall that is near belongs to the picture.
            normal = np.array(plane.normal) / np.linalg.norm(plane.normal)
            foot = 0.5 * (low + high) - normal * float(normal @ (0.5 * (low + high) - np.array(plane.point)))
            if float(np.linalg.norm(foot - 0.5 * (low + high))) < float((high - low).max()):
                low, high = np.minimum(low, foot), np.maximum(high, foot)
        margin = 0.05 * float((high - low).max())
        self.low, self.high = low - margin, high + margin

    def _way(self, name: str) -> np.ndarray:
        return self.recording[name][:, :3] if name in self.recording else np.zeros((0, 3))

    def _bodies(self, name: str, arm: SerialArm) -> list[drawing.Skeleton]:
        """Moments at equal distances of joint motion, the first and the last among them."""
        q = self.recording[f"{name}/position"]
        moved = np.concatenate([[0.0], np.cumsum(np.nan_to_num(np.linalg.norm(np.diff(q, axis=0), axis=1)))])
        count = MOMENTS if len(self.arms) <= 2 else 3
        wanted = np.linspace(0.0, moved[-1], count) if moved[-1] > 1e-3 else np.zeros(1)
        found = dict.fromkeys(int(k) for k in np.searchsorted(moved, wanted).clip(0, len(q) - 1))
        jaws = f"{name}/gripper/opening"
        opening = _matching(self.recording, jaws, len(q))
        return [
            drawing.skeleton(arm, q[k], None if opening is None else float(opening[k]))
            for k in found
            if np.isfinite(q[k]).all()
        ]

    def _thing_boxes(self) -> dict[str, list[np.ndarray]]:
        """Corners of every object at the start and at the end."""
        found = {}
        for name, thing in self.spec.world.objects.items():
            if f"{name}/pose" in self.recording and len(poses := self.recording[f"{name}/pose"]):
                ends = [poses[0], poses[-1]]
                found[name] = [
                    drawing.box_corners(thing.size, drawing.pose_of(*end)) for end in ends if np.isfinite(end).all()
                ]
        return found

    def draw(self, space: Axes3D, flat: Mapping[str, Axes]) -> None:
        drawing.dress_space(space)
        drawing.draw_world(space, self.spec.world, self.low, self.high)
        for name, axes in flat.items():
            x, y = ("xyz"[k] for k in drawing.VIEWS[name])
            dress(axes, x_label=f"{x} [m]", y_label=f"{y} [m]", ticks=6)
            axes.set_title(name, fontsize=SMALL_SIZE, color=SOFT_INK, loc="left", pad=4)
            drawing.draw_world_flat(axes, self.spec.world, drawing.VIEWS[name], self.low, self.high)
        targets: list[tuple[Any, tuple[int, ...]]] = [(space, (0, 1, 2))]
        targets += [(axes, drawing.VIEWS[name]) for name, axes in flat.items()]
        for axes, pick in targets:
            self._draw_into(axes, pick)
        for corners in self._thing_boxes().values():
            for corner, strength in zip(corners, (0.25, 0.8), strict=False):
                drawing.draw_box(space, corner, drawing.LOOSE, strength=strength, order=2.5)
                for name, axes in flat.items():
                    drawing.outline(axes, corner[:, list(drawing.VIEWS[name])], drawing.LOOSE, strength, 2.5)
        for arm in self.arms.values():
            drawing.draw_base(space, arm, 0.1 * float((self.high - self.low).max()))
        drawing.fit_space(space, self.low, self.high)
        self._legend(space)

    def _draw_into(self, axes: Any, pick: tuple[int, ...]) -> None:
        along = list(pick)
        for number, (name, bodies) in enumerate(self.bodies.items()):
            colour = self.colour(number)
            shades = np.linspace(0.16, 0.34, len(bodies))
            for k, body in enumerate(bodies):
                strength, order = (1.0, 4.0) if k == len(bodies) - 1 else (float(shades[k]), 2.0 + 0.1 * k)
                drawing.draw_skeleton(axes, body, colour, strength=strength, order=order, pick=pick)
            way = self.ways[name]
            if len(way):
                keep = thin(way)
                axes.plot(*way[keep][:, along].T, color=PALETTE[1], linewidth=1.5, zorder=4.6)
                mark: dict[str, Any] = {"color": PALETTE[1], "markersize": 5.5, "zorder": 4.7, "markeredgewidth": 1.4}
                axes.plot(*way[:1][:, along].T, marker="o", markerfacecolor="white", **mark)
                axes.plot(*way[-1:][:, along].T, marker="s", **mark)
        for way in self.things.values():
            if len(way):
                axes.plot(
                    *way[thin(way)][:, along].T, color=drawing.LOOSE, linewidth=1.2, zorder=3.2, linestyle=(0, (3, 2))
                )

    def colour(self, number: int) -> str:
        """Blue, then the others, without the one of the tools' ways."""
        own = [shade for shade in PALETTE if shade != PALETTE[1]]
        return own[number % len(own)]

    def _legend(self, space: Axes3D) -> None:
        handles: list[Any] = [
            Line2D([], [], color=self.colour(number), linewidth=3.6, marker="o", markerfacecolor="white", label=name)
            for number, name in enumerate(self.arms)
        ]
        mark: dict[str, Any] = {"color": PALETTE[1], "markersize": 5.5, "markeredgewidth": 1.4, "linestyle": "none"}
        handles += [
            Line2D([], [], color=PALETTE[1], linewidth=1.5, label="way of the tool"),
            Line2D([], [], marker="o", markerfacecolor="white", label="start", **mark),
            Line2D([], [], marker="s", label="end", **mark),
        ]
        handles += [Patch(facecolor=drawing.LOOSE, alpha=0.8, label=name) for name in self._thing_boxes()]
        look: dict[str, Any] = {"frameon": False, "fontsize": SMALL_SIZE, "handlelength": 2.2, "labelspacing": 0.4}
        space.legend(handles=handles, loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=4, columnspacing=1.4, **look)


# --- over time -----------------------------------------------------------------------------------------


def arm_panels(recording: Recording, name: str, arm: SerialArm, *, alone: bool) -> list[Panel]:
    """Joints and how well they follow; of one arm alone also speeds, torques, gripper and what the tool feels."""
    before = "" if alone else f"{name}: "
    times = recording.time(f"{name}/position")
    q = recording[f"{name}/position"]
    wanted = _matching(recording, f"{name}/reference/position", len(q))
    unit, small = _units(arm, "rad", "m"), _units(arm, "mrad", "mm")
    panels = [_by_joint(f"{before}joints [{unit}]", times, arm, q, wanted)]
    if alone:
        for channel, label in (("speed", f"speed [{_units(arm, 'rad/s', 'm/s')}]"),
                               ("torque", f"torque [{_units(arm, 'N·m', 'N')}]")):  # fmt: skip
            if f"{name}/{channel}" in recording:
                panels.append(
                    _by_joint(label, recording.time(f"{name}/{channel}"), arm, recording[f"{name}/{channel}"])
                )
    if wanted is not None:
        panels.append(_by_joint(f"{before}error [{small}]", times, arm, 1e3 * (q - wanted)))
    if alone:
        panels += _tool_panels(recording, name)
    return panels


def _tool_panels(recording: Recording, name: str) -> list[Panel]:
    panels = []
    opening, force, wrench = f"{name}/gripper/opening", f"{name}/gripper/force", f"{name}/tool/wrench"
    if opening in recording and force in recording and np.ptp(recording[opening]) > 1e-6:
        line = Line("opening", 1e3 * recording[opening], {"color": PALETTE[0]})
        press = Line("force of a pad", recording[force], {"color": PALETTE[1], "linestyle": (0, (4, 1.6))})
        pressed = np.nanmax(np.abs(recording[force]), initial=0.0) > FEELS
        second = ("force [N]", press) if pressed else None
        panels.append(Panel("gripper [mm]", recording.time(opening), (line,), second=second))
    if wrench in recording and np.nanmax(np.abs(recording[wrench][:, :3]), initial=0.0) > FEELS:
        lines = tuple(Line(f"force {axis}", recording[wrench][:, k], line_look(k)) for k, axis in enumerate("xyz"))
        panels.append(Panel("on the tool [N]", recording.time(wrench), lines))
    return panels


def _matching(recording: Recording, name: str, count: int) -> np.ndarray | None:
    return recording[name] if name in recording and len(recording[name]) == count else None


def _by_joint(
    label: str, times: np.ndarray, arm: SerialArm, values: np.ndarray, wanted: np.ndarray | None = None
) -> Panel:
    lines = tuple(Line(joint.replace("_", " "), values[:, k], line_look(k)) for k, joint in enumerate(arm.names))
    below = () if wanted is None else tuple(wanted[:, k] for k in range(arm.n))
    return Panel(label, times, lines, below)


def _units(arm: SerialArm, revolute: str, prismatic: str) -> str:
    kinds = dict.fromkeys(prismatic if kind else revolute for kind in arm.links["kind"])
    return ", ".join(kinds)
