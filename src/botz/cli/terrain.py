"""botz terrain: the ground of a scenario as a table and a picture, without running anything."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from botz.cli.common import AsJson, print_json, print_pairs
from botz.cli.scenarios import SetOption
from botz.errors import InputError, Problem


def register(app: typer.Typer) -> None:
    app.command(rich_help_panel="Scenarios and robots")(terrain)


def terrain(
    scenario: Annotated[str, typer.Argument(help="Name of a library scenario (botz list) or a scenario file.")],
    out: Annotated[
        Path | None, typer.Option("-o", "--out", help="Picture: PNG, SVG or PDF; SCENARIO-terrain.png by default.")
    ] = None,
    set_: SetOption = None,
    as_json: AsJson = False,
) -> None:
    """Show the ground of a scenario: sizes, heights, steepest slope, and a picture with two cuts through the start."""
    from botz.scenario.load import load
    from botz.terrain.height_grid import build_grid
    from botz.view.silhouettes import silhouettes_of
    from botz.view.terrain_drawing import draw_terrain, terrain_report

    loaded = load(scenario, overrides=list(set_ or []))
    spec: Any = loaded.spec
    ground = getattr(spec.world, "terrain", None)
    if ground is None:
        kind = "engine" if "terrain" not in type(spec.world).model_fields else "this scenario of engine"
        raise InputError(Problem(f"{kind} {loaded.engine!r} has no terrain", file=loaded.file, key="world.terrain"))
    try:
        grid = build_grid(ground, spec.seed)
    except InputError as error:
        raise loaded.with_places(error) from error
    report = terrain_report(grid, spec.robots)
    path = out or Path(f"{loaded.name}-terrain.png")
    picture = draw_terrain(grid, spec.robots, silhouettes_of(spec), path, title=loaded.name)
    if as_json:
        print_json({"terrain": ground.type, **report, "picture": str(picture)})
    else:
        print_pairs({"terrain": ground.type, **shown(report), "picture": str(picture)})


def shown(report: dict[str, Any]) -> dict[str, str]:
    """The report for people."""
    (x_low, x_high), (y_low, y_high) = report["x_m"], report["y_m"]
    points, spacing = report["points"], report["resolution_m"]
    beyond = {
        "edge": "the height at the edge goes on",
        "mirror": "mirror images go on without end",
        "end": "the run ends",
    }[report["outside"]]
    lines = {
        "size": f"{x_high - x_low:g} m × {y_high - y_low:g} m (x {x_low:g} … {x_high:g}, y {y_low:g} … {y_high:g})",
        "resolution": f"{spacing[0]:.4g} m × {spacing[1]:.4g} m, {points[0]} × {points[1]} points",
        "lowest": f"{report['lowest_m']:.4g} m",
        "highest": f"{report['highest_m']:.4g} m",
        "steepest slope": f"{report['steepest_deg']:.1f}°",
        "outside": f"{report['outside']}: {beyond}",
    }
    for name, start in report["starts"].items():
        x, y = start["position_m"]
        lines[f"start of {name}"] = (
            f"x {x:g} m, y {y:g} m, yaw {start['yaw_deg']:g}°, ground at {start['ground_m']:.4g} m"
        )
    return lines
