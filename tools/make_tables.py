"""Writes the tables of the documentation that are made of the code: keys, robots, measured numbers.

    python tools/make_tables.py                 all but the measured numbers
    python tools/make_tables.py --bench         runs `botz bench kinematics` and writes the README's numbers too
    python tools/make_tables.py --bench FILE    the same from the output of `botz bench kinematics --json`

A table stands between `<!-- table: NAME -->` and `<!-- end of table -->`.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from botz.control.capability import capability_of
from botz.engines.wheeled_robot import WheeledRobotModel
from botz.scenario import kinematics, library, schema
from botz.scenario.load import load_robot

ROOT = Path(__file__).resolve().parent.parent
SCENARIO_PAGE = ROOT / "docs" / "scenario-files.md"
CONTROLLER_PAGE = ROOT / "docs" / "controllers.md"
ROBOT_PAGE = ROOT / "docs" / "wheeled-robots.md"
README = ROOT / "README.md"

END = "<!-- end of table -->"

KEYS: list[tuple[Path, str, type[BaseModel]]] = [
    (SCENARIO_PAGE, "scenario", kinematics.KinematicsScenario),
    (SCENARIO_PAGE, "time", kinematics.KinematicsTime),
    (SCENARIO_PAGE, "record", schema.RecordSettings),
    (SCENARIO_PAGE, "process", schema.ProcessSettings),
    (SCENARIO_PAGE, "inputs", schema.InputSettings),
    (SCENARIO_PAGE, "world", kinematics.KinematicsWorld),
    (SCENARIO_PAGE, "robot", kinematics.PlacedWheeledRobot),
    (ROBOT_PAGE, "fixed", kinematics.FixedWheel),
    (ROBOT_PAGE, "steered", kinematics.SteeredWheel),
    (ROBOT_PAGE, "castor", kinematics.CastorWheel),
    (ROBOT_PAGE, "swedish", kinematics.SwedishWheel),
    (ROBOT_PAGE, "spherical", kinematics.SphericalWheel),
    (ROBOT_PAGE, "drives", kinematics.Drive),
    (ROBOT_PAGE, "steering", kinematics.Steering),
    (ROBOT_PAGE, "body", kinematics.Body),
    (ROBOT_PAGE, "encoder", kinematics.Encoder),
    (ROBOT_PAGE, "slip", kinematics.Slip),
    (CONTROLLER_PAGE, "constant", schema.ConstantController),
    (CONTROLLER_PAGE, "table", schema.TableController),
    (CONTROLLER_PAGE, "go-to-pose", schema.GoToPoseController),
    (CONTROLLER_PAGE, "waypoints", schema.WaypointsController),
    (CONTROLLER_PAGE, "trajectory", schema.TrajectoryController),
    (CONTROLLER_PAGE, "user", schema.UserController),
    (CONTROLLER_PAGE, "limits", schema.SpeedLimits),
]
SAID_ONCE = {
    kinematics.WheelBase: ("position", "radius", "width", "encoder", "slip"),
    schema.Controller: ("robot", "rate"),
}
"""Keys that every wheel or every controller has; a page says them once."""


def tables() -> Iterator[tuple[Path, str, str]]:
    """Page, name and text of every table that follows from the code alone."""
    yield ROBOT_PAGE, "degrees", degrees_table()
    yield ROBOT_PAGE, "wheel", keys_table(kinematics.WheelBase, ())
    yield CONTROLLER_PAGE, "controller", keys_table(schema.Controller, ())
    for page, name, model in KEYS:
        left_out = ("type", *(key for base, keys in SAID_ONCE.items() if issubclass(model, base) for key in keys))
        yield page, name, keys_table(model, left_out)


def keys_table(model: type[BaseModel], left_out: tuple[str, ...]) -> str:
    rows = [
        [f"`{name}`", "needed" if field.is_required() else shown_default(field), one_line(field.description)]
        for name, field in model.model_fields.items()
        if name not in left_out
    ]
    return markdown(["key", "default", "meaning"], rows)


def shown_default(field: Any) -> str:
    value = field.default
    if value is None:
        return "none"
    if isinstance(value, BaseModel):
        return "see below"
    if isinstance(value, tuple):
        value = list(value)
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    if isinstance(value, float):
        return f"`{value:.6g}`"
    return f"`{json.dumps(value)}`" if not isinstance(value, str) else (f"`{value}`" if value else "empty")


def degrees_table() -> str:
    rows = []
    for name in library.names("robot"):
        spec = load_robot(name).spec
        if not isinstance(spec, kinematics.WheeledRobot):
            continue
        model = WheeledRobotModel(spec)
        degrees = model.structure()
        capability = capability_of(model)
        inputs = ", ".join(f"`{one.name}`" for one in model.inputs)
        moves = capability.motion.value if capability else "no controller of poses can drive it"
        rows.append(
            [
                f"`{name}`",
                str(degrees.mobility),
                str(degrees.steerability),
                str(degrees.manoeuvrability),
                inputs,
                moves,
            ]
        )
    return markdown(["robot", "δ_m", "δ_s", "δ_M", "inputs", "how it moves"], rows)


def bench_table(result: dict[str, Any]) -> str:
    rows = []
    for one in result["results"]:
        target = "" if one["target"] is None else f"{'≤' if one['unit'] == 's' else '≥'} {number(one['target'])}"
        ratio = "" if one["ratio"] is None else f"{float(format(one['ratio'], '.2g')):g} × {one['peer']}"
        rows.append([one["metric"], f"{number(one['value'])} {one['unit']}", target, ratio])
    return f"On {result['machine']}:\n\n" + markdown(["measured", "value", "target", "peer in the same run"], rows)


def number(value: float) -> str:
    if value >= 1e6:
        return f"{value / 1e6:.3g} million"
    return f"{float(f'{value:.2g}'):,.0f}" if value >= 100 else f"{value:.2g}"


def markdown(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def one_line(text: str | None) -> str:
    return " ".join((text or "").split())


def table_in(text: str, name: str) -> str:
    found = pattern_of(name).search(text)
    return found[2].strip("\n") if found else ""


def with_table(text: str, name: str, table: str) -> str:
    if not pattern_of(name).search(text):
        raise SystemExit(f"no place for the table {name!r}")
    return pattern_of(name).sub(lambda found: f"{found[1]}\n\n{table}\n\n{found[3]}", text)


def pattern_of(name: str) -> re.Pattern[str]:
    return re.compile(rf"(<!-- table: {re.escape(name)} -->)(.*?)({re.escape(END)})", re.DOTALL)


def write(page: Path, name: str, table: str) -> None:
    page.write_text(with_table(page.read_text(encoding="utf-8"), name, table), encoding="utf-8")


def main(arguments: list[str]) -> int:
    for page, name, table in tables():
        write(page, name, table)
    if arguments[:1] == ["--bench"]:
        if len(arguments) > 1:
            text = Path(arguments[1]).read_text(encoding="utf-8")
        else:
            command = [sys.executable, "-m", "botz", "bench", "kinematics", "--json"]
            text = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
        write(README, "bench", bench_table(json.loads(text)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
