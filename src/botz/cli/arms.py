"""botz ik: the joint positions that bring an arm's tool to a pose."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from botz.cli.common import AsJson, console, print_json, warn_of_doubt
from botz.cli.scenarios import SetOption
from botz.errors import InputError, Problem

if TYPE_CHECKING:
    from botz.robots.arm_inverse import Solutions
    from botz.robots.serial_arm import SerialArm

POSE = ("m", "m", "m", "rad", "rad", "rad")
SOLVERS = {
    "titan4": "closed form, as for the Titan IV",
    "wrist": "closed form, by the wrist whose axes meet",
    "parallel": "closed form, by the three axes that are parallel",
    "numeric": "damped least squares from many starts; the set may be incomplete",
}
LISTS = ("--pose", "--present", "--weights")
UNITS = {"m", "cm", "mm", "rad", "deg", "°"}
_QUANTITY = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?\s*(?:[A-Za-zµ°%][^\s,;]*)?"
_LIST = re.compile(rf"\s*{_QUANTITY}(?:(?:\s*[,;]\s*|\s+){_QUANTITY})*\s*")


class Cost(StrEnum):
    nearest = "nearest"
    middle = "middle"


def register(app: typer.Typer) -> None:
    app.command(rich_help_panel="Models and arms")(ik)


def ik(
    robot: Annotated[str, typer.Argument(help="An arm of the library (titan4, puma560), or a robot file.")],
    pose: Annotated[
        str,
        typer.Option(
            metavar="X Y Z ROLL PITCH YAW",
            help="The tool's place and attitude in the base's axes, as '1.2 0 0.5 0 90deg 0'; metres and radians where "
            "no unit is given. Attitude: yaw about z, then pitch about y, then roll about x.",
        ),
    ],
    present: Annotated[
        str | None,
        typer.Option(
            metavar="Q1 Q2 …",
            help="Where the joints are now, as '0 45deg -60deg 0 0 0'; middle of the ranges by default.",
        ),
    ] = None,
    cost: Annotated[
        Cost,
        typer.Option(help="Which solution is best: nearest to the present joints, or to the middle of the ranges."),
    ] = Cost.nearest,
    weights: Annotated[
        str | None, typer.Option(metavar="W1 W2 …", help="How much each joint counts in the cost; 1 by default.")
    ] = None,
    no_limits: Annotated[bool, typer.Option("--no-limits", help="Leave the joints' ranges out of it.")] = False,
    set_: SetOption = None,
    as_json: AsJson = False,
) -> None:
    """Show the joint positions that bring an arm's tool to a pose, the best first; exit code 1 where there are none.

    All of them where a closed form fits the arm. Else a numeric search may miss some, and the output says so.
    """
    from botz.robots.arm_records import transform

    arm = arm_of(robot, list(set_ or []))
    if present is not None and cost is Cost.middle:
        raise InputError(Problem("has no use with --cost middle; leave one of them out", key="--present"))
    target = quantities(pose, POSE, "--pose")
    found = arm.inverse(
        transform(target),
        present=None if present is None else quantities(present, joint_units(arm), "--present"),
        cost=cost.value,
        weights=None if weights is None else quantities(weights, ("",) * arm.n, "--weights"),
        limits=not no_limits,
    )
    if as_json:
        print_json(report(arm, robot, target, found))
    elif found:
        print_solutions(arm, found)
    else:
        typer.echo(refusal(arm, robot, target, found), err=True)
    raise typer.Exit(0 if found else 1)


def arm_of(robot: str, overrides: list[str]) -> SerialArm:
    from botz.robots.serial_arm import SerialArm
    from botz.scenario.arm.schema import Arm
    from botz.scenario.load import load_robot

    loaded = load_robot(robot, overrides=overrides)
    if not isinstance(loaded.spec, Arm):
        engine = loaded.data["engine"]
        raise InputError(Problem(f"{robot!r} is for engine {engine!r}; 'ik' solves for robots of engine 'arm'"))
    return SerialArm(loaded.spec)


def joint_units(arm: SerialArm) -> tuple[str, ...]:
    return tuple("rad" if joint.type == "revolute" else "m" for joint in arm.robot.joints.values())


def quantities(text: str, units: tuple[str, ...], option: str) -> list[float]:
    """Numbers with or without units, between spaces or commas: `1.2, 0 0.5 0 90 deg 0`."""
    from botz.scenario.units import to_si

    needs = f"needs {len(units)} values between spaces or commas, each a number or a number with its unit"
    if not _LIST.fullmatch(text):
        raise InputError(Problem(f"{needs}; got {text!r}", key=option))
    parts = [part.strip() for part in re.findall(_QUANTITY, text)]
    if len(parts) != len(units):
        raise InputError(Problem(f"{needs}; got {len(parts)} in {text!r}", key=option))
    found, problems = [], []
    for number, (part, unit) in enumerate(zip(parts, units, strict=True), 1):
        try:
            found.append(to_si(part, unit))
        except InputError as error:
            problems += [Problem(problem.message, key=f"{option}, value {number}") for problem in error.problems]
    if problems:
        raise InputError(problems)
    for number, (part, value, unit) in enumerate(zip(parts, found, units, strict=True), 1):
        warn_of_doubt(part, value, unit, f"{option}, value {number}")
    return found


def with_lists_joined(arguments: list[str]) -> list[str]:
    """`--pose 1 0 0.5 0 90 deg 0` as well as `--pose "1 0 0.5 0 90deg 0"`: numbers that follow become one value."""
    if arguments[:1] != ["ik"]:
        return arguments
    result: list[str] = []
    index = 0
    while index < len(arguments):
        argument = arguments[index]
        result.append(argument)
        index += 1
        if argument not in LISTS:
            continue
        start = index
        while index < len(arguments) and (
            _LIST.fullmatch(arguments[index].rstrip(",")) or (index > start and arguments[index].rstrip(",") in UNITS)
        ):
            index += 1
        if index > start:
            result.append(" ".join(arguments[start:index]))
    return result


def report(arm: SerialArm, robot: str, target: list[float], found: Solutions) -> dict[str, Any]:
    """In SI units: radians and metres."""
    return {
        "robot": robot,
        "pose": target,
        "solver": arm.solver.kind,
        "status": found.status,
        "complete": found.complete,
        "singular": list(found.singular),
        "joints": list(arm.names),
        "solutions": [
            {
                "branch": branch,
                "joints": [float(value) for value in joints],
                "cost": float(cost),
                "inside": bool(arm.within(joints, 1e-8)),
            }
            for branch, joints, cost in zip(found.branches, found.joints, found.costs, strict=True)
        ],
    }


def print_solutions(arm: SerialArm, found: Solutions) -> None:
    from math import degrees

    from rich.table import Table

    revolute = [unit == "rad" for unit in joint_units(arm)]
    table = Table(box=None, pad_edge=False, header_style="dim")
    if any(found.branches):
        table.add_column("branch", no_wrap=True)
    for name, turns in zip(arm.names, revolute, strict=True):
        title = f"{name.replace('_', ' ')} [{'°' if turns else 'm'}]"
        table.add_column(title, justify="right", min_width=8)
    table.add_column("cost", justify="right", min_width=7)
    table.add_column("inside", justify="right", min_width=6)
    for branch, joints, cost in zip(found.branches, found.joints, found.costs, strict=True):
        values = [
            f"{round(degrees(value), 3) + 0.0:.3f}" if turns else f"{round(float(value), 5) + 0.0:.5f}"
            for value, turns in zip(joints, revolute, strict=True)
        ]
        row = [*([branch] if any(found.branches) else []), *values, f"{cost:.5f}"]
        table.add_row(*row, "yes" if arm.within(joints, 1e-8) else "no")
    out = console()
    # A table of numbers is for reading across: on a narrow terminal, and in a pipe, it is better wide than folded.
    out.width = max(out.width, 48 + 12 * arm.n)
    out.print(table)
    count = len(found.joints)
    number = "1 solution" if count == 1 else f"{count} solutions, the best first"
    free = any(word in ("shoulder singular", "wrist singular") for word in found.singular)
    whole = "; the set is complete" if found.complete else ""
    print(f"{found.status}: {number} ({SOLVERS[arm.solver.kind]}{whole})")
    if found.singular:
        rest = "; the free joint is set where the cost is least" if free else "; two solutions meet"
        print(f"singular: {', '.join(found.singular)}{rest}")


def refusal(arm: SerialArm, robot: str, target: list[float], found: Solutions) -> str:
    """Why there is no solution."""
    from botz.robots.arm_records import transform

    words = f"{found.status}: no joint positions bring the tool of {robot} there"
    if found.status == "outside the joints' ranges":
        count = len(arm.inverse(transform(target), limits=False).joints)
        words += f"; {count} would if the joints could turn further, --no-limits shows them"
    return words
