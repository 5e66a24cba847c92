"""Paths of vehicles on the ground that they drove on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable

from botz.errors import InputError
from botz.record.reader import Recording
from botz.scenario.load import load_data
from botz.scenario.vehicle.schema import VehicleScenario
from botz.terrain.height_grid import HeightGrid, build_grid
from botz.view.ground_map import add_height_key, is_level, paint_ground
from botz.view.path_plot import PathPlot
from botz.view.paths import Path2D, bounds


class GroundPlot(PathPlot):
    def __init__(self, ground: HeightGrid | None, note: str):
        self.ground, self.note = ground, note
        self._key: ScalarMappable | None = None

    def draw(self, axes: Axes, paths: Sequence[Path2D], colours: Mapping[str, str]) -> str:
        super().draw(axes, paths, colours)
        if self.ground is not None and not is_level(self.ground):
            self._key = add_height_key(axes, self.ground, *bounds(paths))
        return self.note

    def finish(self, axes: Axes, paths: Sequence[Path2D]) -> None:
        super().finish(axes, paths)
        if self.ground is not None:
            paint_ground(axes, self.ground, self._key)


def path_plot(recording: Recording) -> GroundPlot:
    return GroundPlot(*recorded_ground(recording.scenario))


def recorded_ground(scenario: Mapping[str, Any]) -> tuple[HeightGrid | None, str]:
    """The ground of a recorded scenario, and a note where it has one that cannot be made again."""
    world = scenario.get("world")
    if not isinstance(world, Mapping) or not world.get("terrain"):
        return None, ""
    try:
        spec = load_data(scenario).spec
        if not isinstance(spec, VehicleScenario):
            return None, ""
        return build_grid(spec.world.terrain, spec.seed), ""
    except InputError as error:
        return None, f"without its ground: {error.problems[0]}"
