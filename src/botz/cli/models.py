"""botz model check and botz model convert: robot models in URDF, SDF, MJCF and YAML files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from botz.cli.common import AsJson, console, print_json, print_pairs
from botz.errors import InputError, Problem, printable

if TYPE_CHECKING:
    from botz.models.check import Finding
    from botz.models.robot_model import RobotModel
    from botz.scenario.multibody.schema import MultibodyRobot

ROBOT_FILES = (".yaml", ".yml")
Source = Annotated[
    str,
    typer.Argument(
        metavar="MODEL", help="A .urdf, .xacro, .sdf or .xml (MJCF) file, a robot file, or a library robot."
    ),
]
Packages = Annotated[
    list[str] | None,
    typer.Option(
        "--package", metavar="NAME=FOLDER", help="Folder of a package:// that the file refers to; may be repeated."
    ),
]
Chosen = Annotated[
    str | None, typer.Option("--model", metavar="NAME", help="Which model of an SDF file that holds several.")
]
Missing = Annotated[
    str | None,
    typer.Option(
        "--missing-meshes",
        metavar="refuse|ignore-visual|ignore",
        help="Meshes that are not there: an error, left out where they are only seen (the default), or all left out.",
    ),
]


def register(app: typer.Typer) -> None:
    group = typer.Typer(
        help="Look at a robot's model file, and write it in another format.",
        no_args_is_help=True,
        rich_markup_mode=None,
    )
    group.command()(check)
    group.command()(convert)
    app.add_typer(group, name="model", rich_help_panel="Models and arms")


# --- botz model check ------------------------------------------------------------------------------------------------


def check(
    model: Source,
    step: Annotated[
        str | None, typer.Option(help="Step to check for, as '1 ms'; that of scenarios that say none by default.")
    ] = None,
    method: Annotated[
        str, typer.Option(help="Method to check for: auto, rk4, euler, implicit or implicit-fast.")
    ] = "auto",
    package: Packages = None,
    chosen: Chosen = None,
    missing_meshes: Missing = None,
    as_json: AsJson = False,
) -> None:
    """Find what breaks simulations: impossible or missing inertia, mixed-up units, mass ratios, too long a step."""
    from botz.models.check import check_model

    seconds = _step(step)
    robot = load(model, packages_of(package), chosen, missing_meshes, check_inertia=False)
    found = check_model(robot, seconds, _method(method))
    if as_json:
        print_json(report(robot, seconds, found))
    else:
        _print_findings(robot, seconds, found)
    raise typer.Exit(2 if any(one.severity == "error" for one in found) else 0)


def _step(text: str | None) -> float:
    from botz.scenario.multibody.schema import MultibodyTime
    from botz.scenario.units import to_si

    if text is None:
        return MultibodyTime().step
    try:
        seconds = to_si(text, "s")
    except InputError as error:
        raise InputError([Problem(problem.message, key="--step") for problem in error.problems]) from None
    if not 0.0 < seconds <= 10.0:
        raise InputError(Problem(f"must be greater than 0 and at most 10 s, not {text}", key="--step"))
    return seconds


def _method(text: str) -> str:
    from botz.models.stiffness import AUTO, METHODS
    from botz.scenario.names import closest

    if text not in (AUTO, *METHODS):
        raise InputError(Problem(f"unknown {text!r}{closest(text, [AUTO, *METHODS])}", key="--method"))
    return text


def report(model: RobotModel, step: float, found: list[Finding]) -> dict[str, Any]:
    notes = [
        {"severity": "note", "place": one.key, "file": _text(one.file), "line": one.line, "message": one.message}
        for one in model.notes
    ]
    findings = [
        {
            "severity": one.severity,
            "place": one.place,
            "file": _text(one.where.file),
            "line": one.where.line,
            "message": one.message,
        }
        for one in found
    ]
    return {**facts(model), "step_s": step, "findings": findings, "notes": notes}


def facts(model: RobotModel) -> dict[str, Any]:
    return {
        "model": model.name,
        "file": _text(model.file),
        "format": model.format,
        "links": len(model.links),
        "joints": {one.name: one.kind for one in model.joints.values()},
        "actuators": {one.joint: one.kind for one in model.actuators.values()},
        "elements": {name: element.type for name, element in model.elements.items()},
        "sensors": {name: sensor.type for name, sensor in model.sensors.items()},
        "mass_kg": sum(link.inertial.mass for link in model.links.values() if link.inertial is not None),
        "fixed_base": model.fixed_base,
    }


def _text(path: Path | None) -> str | None:
    return None if path is None else str(path)


def _print_findings(model: RobotModel, step: float, found: list[Finding]) -> None:
    from rich.table import Table
    from rich.text import Text

    known = facts(model)
    moving = sum(kind != "fixed" for kind in known["joints"].values())
    numbers = f"joints that move {moving}, {known['mass_kg']:.6g} kg, step {step:g} s"
    print(f"{printable(model.name)}: links {known['links']}, {numbers}")
    rows: list[tuple[str, str, int | None, str]] = [
        (one.severity, one.place, one.where.line, one.message) for one in found
    ]
    rows += [("note", one.key, one.line, one.message) for one in model.notes]
    if rows:
        table = Table(box=None, pad_edge=False, header_style="dim")
        for title in ("", "part", "line", "what"):
            table.add_column(title, no_wrap=title in ("", "line"), justify="right" if title == "line" else "left")
        for severity, place, line, message in rows:
            colour = {"error": "red", "warning": "yellow"}.get(severity, "dim")
            number = "" if line is None else str(line)
            table.add_row(Text(severity, style=colour), place, number, message)
        out = console()
        out.width = max(out.width, 110)
        out.print(table)
    counts = {word: sum(one.severity == word for one in found) for word in ("error", "warning")}
    words = [f"{count} {word}{'s' if count > 1 else ''}" for word, count in counts.items() if count]
    print(", ".join(words) if words else "nothing found that breaks a simulation")


# --- botz model convert ----------------------------------------------------------------------------------------------


def convert(
    model: Source,
    out: Annotated[Path, typer.Argument(metavar="OUT", help="File to write: .urdf, .sdf or .xml (MJCF).")],
    fill_inertia: Annotated[
        bool,
        typer.Option(
            "--fill-inertia",
            help="Compute inertias that are missing or impossible, by spreading each link's mass evenly over its "
            "meshes or shapes.",
        ),
    ] = False,
    package: Packages = None,
    chosen: Chosen = None,
    missing_meshes: Missing = None,
    as_json: AsJson = False,
) -> None:
    """Write a model in another format, with its inertias, actuators and force elements; meshes go beside it."""
    from botz.models.files import save_model
    from botz.models.fill import filled
    from botz.models.tree import inertia_problems, tied_if_massless

    robot = load(model, packages_of(package), chosen, missing_meshes, check_inertia=False)
    if robot.file is not None and out.exists() and out.resolve() == robot.file.resolve():
        raise InputError(Problem("is the file that is read; give another name", key="OUT", file=out))
    names: list[str] = []
    if fill_inertia:
        robot, names = filled(robot)
    robot = tied_if_massless(robot)
    if problems := inertia_problems(robot):
        raise InputError(problems)
    notes = [*robot.notes, *save_model(robot, out)]
    if as_json:
        notes_shown = [
            {"file": _text(one.file), "line": one.line, "place": one.key, "message": one.message} for one in notes
        ]
        print_json({**facts(robot), "written": str(out), "filled": names, "notes": notes_shown})
        return
    pairs = {"written": str(out), "model": f"{robot.name}, {len(robot.links)} links, {facts(robot)['mass_kg']:.6g} kg"}
    if fill_inertia:
        pairs["filled"] = ", ".join(names) or "nothing was missing"
    print_pairs(pairs)
    for one in notes:
        print(printable(f"note: {one}"))


# --- what they share -------------------------------------------------------------------------------------------------


def packages_of(given: list[str] | None) -> dict[str, str]:
    """Folders by package; relative ones are meant from where the command runs."""
    found = {}
    for text in given or []:
        name, separator, folder = text.partition("=")
        if not separator or not name or not Path(folder).is_dir():
            raise InputError(Problem(f"{text!r} is not NAME=FOLDER with a folder that there is", key="--package"))
        found[name] = str(Path(folder).resolve())
    return found


def load(
    source: str,
    packages: dict[str, str],
    chosen: str | None = None,
    missing_meshes: str | None = None,
    *,
    check_inertia: bool,
) -> RobotModel:
    """The model of a model file, of a robot file or of a library robot; `chosen` names one of several."""
    from botz.models.files import load_model
    from botz.models.meshes.files import MISSING_MESHES

    if missing_meshes is not None and missing_meshes not in MISSING_MESHES:
        choices = ", ".join(MISSING_MESHES)
        raise InputError(Problem(f"{missing_meshes!r} is unknown; choose from: {choices}", key="--missing-meshes"))
    path = Path(source)
    if path.suffix and path.suffix.lower() not in ROBOT_FILES:
        missing: Any = missing_meshes or MISSING_MESHES[1]
        return load_model(path, packages, model=chosen, check_inertia=check_inertia, missing_meshes=missing)
    from botz.scenario.load import load_robot
    from botz.scenario.multibody.schema import MultibodyRobot

    loaded = load_robot(source)
    if not isinstance(loaded.spec, MultibodyRobot):
        engine = loaded.data["engine"]
        raise InputError(Problem(f"{source!r} is for engine {engine!r}; models are those of engine 'multibody'"))
    laid_over = {"model": chosen, "missing_meshes": missing_meshes}
    robot = loaded.spec.model_copy(update={key: value for key, value in laid_over.items() if value is not None})
    return _of_robot(robot, loaded.file, packages, check_inertia)


def _of_robot(robot: MultibodyRobot, file: Path, packages: dict[str, str], check_inertia: bool) -> RobotModel:
    """The model with what the robot file lays over it."""
    from dataclasses import replace

    from botz.models.files import loaded
    from botz.models.robot_model import GAINS, ModelActuator
    from botz.models.yaml_model import model_of

    folder = file.parent  # what a robot file says is relative to it
    if robot.file is None:
        model = model_of(robot, file.stem, "robot", check_inertia=check_inertia)
        for name, link in model.links.items():
            shapes = (replace(one, file=folder / one.file) if one.file is not None else one for one in link.shapes)
            model.links[name] = replace(link, shapes=tuple(shapes))
    else:
        model = loaded(robot, folder, packages, check_inertia=check_inertia)
    actuators = dict(model.actuators)
    for joint, spec in robot.actuators.items():
        before = actuators.get(joint, ModelActuator(joint, spec.kind))
        said = spec.model_dump(include={"kind", "speed", "lag", "lag_down"}, exclude_unset=True)
        gains = spec.model_dump(include=set(GAINS), exclude_unset=True, exclude_none=True)
        kept = before.gains if before.kind == spec.kind else {}
        actuators[joint] = replace(before, **said, gains={**kept, **gains})
    return replace(
        model,
        actuators=actuators,
        elements={**model.elements, **robot.elements},
        sensors={**model.sensors, **robot.sensors},
        fixed_base=model.fixed_base or robot.base == "fixed",
    )
