"""botz wheels: a wheeled robot's kinematics as tables and a drawing."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from botz.cli.common import AsJson, console, print_json, warn_of_doubt
from botz.errors import InputError, Problem
from botz.scenario.names import closest

if TYPE_CHECKING:
    import numpy as np

    from botz.robots.wheeled_robot import WheeledRobotModel


def register(app: typer.Typer) -> None:
    app.command(rich_help_panel="Scenarios and robots")(wheels)


def wheels(
    robot: Annotated[str, typer.Argument(help="A robot of the library, or a robot file.")],
    out: Annotated[
        Path | None, typer.Option("-o", "--out", help="Drawing: PNG, SVG or PDF; ROBOT.png by default.")
    ] = None,
    inputs: Annotated[
        list[str] | None,
        typer.Option("--input", metavar="NAME=VALUE", help="An input of the motion shown, as left/speed='60 rpm'."),
    ] = None,
    heading: Annotated[str, typer.Option(help="Heading θ of the robot for J_q and C_q, as '30 deg'.")] = "0",
    set_: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Change a parameter; may be repeated.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show constraints, mobility, forward and inverse kinematics and ICR of a wheeled robot."""
    from botz.robots.wheeled_robot import WheeledRobotModel
    from botz.scenario.kinematics.schema import WheeledRobot
    from botz.scenario.load import load_robot
    from botz.view.wheel_drawing import draw_robot
    from botz.view.wheel_report import print_wheel_report, wheel_report

    loaded = load_robot(robot, overrides=list(set_ or []))
    if not isinstance(loaded.spec, WheeledRobot):
        engine = loaded.data["engine"]
        raise InputError(Problem(f"{robot!r} is for engine {engine!r}; 'wheels' shows robots of engine 'kinematics'"))
    try:
        model = WheeledRobotModel(loaded.spec)
    except ValueError as error:
        raise InputError(Problem(str(error), file=loaded.file)) from error
    values = chosen_inputs(model, inputs) if inputs else None
    report = wheel_report(model, values, theta=angle_of(heading))
    picture = draw_robot(model, out or Path(f"{Path(robot).stem}.png"), inputs=values, title=Path(robot).stem)
    report["drawing"] = str(picture)
    if as_json:
        print_json(report)
    else:
        print_wheel_report(report, console())
        print(f"drawing: {picture}")


def angle_of(text: str) -> float:
    """A heading; one of more than a turn without a unit is taken as radians, with a warning."""
    from botz.scenario.units import to_si

    angle = to_si(text, "rad")
    warn_of_doubt(text, angle, "rad", "--heading")
    return angle


def chosen_inputs(model: WheeledRobotModel, texts: list[str]) -> np.ndarray:
    """The inputs named on the command line; the others are zero."""
    import numpy as np

    from botz.scenario.units import to_si

    units = {one.name: one.unit for one in model.inputs}
    values = dict.fromkeys(units, 0.0)
    for text in texts:
        name, separator, value = text.partition("=")
        if not separator or name not in units:
            raise InputError(Problem(f"unknown input {name!r}{closest(name, units)}; write NAME=VALUE", key="--input"))
        values[name] = to_si(value, units[name])
        warn_of_doubt(value, values[name], units[name], f"--input {name}")
    return np.array(list(values.values()))
