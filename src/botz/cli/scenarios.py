"""botz list, check, show, schema, new: everything about scenario files, none of which runs a user's code."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from botz.cli.common import AsJson, console, print_json
from botz.errors import BotzError, InputError, Problem, printable
from botz.scenario.names import closest

if TYPE_CHECKING:
    from botz.scenario.library import Entry
    from botz.scenario.load import LoadedScenario

NARROW = 70
"""Columns of a terminal below which tables become lists."""
SetOption = Annotated[
    list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Change a setting; may be repeated.")
]


def register(app: typer.Typer) -> None:
    app.command("list", rich_help_panel="Scenarios and robots")(list_library)
    app.command(rich_help_panel="Scenarios and robots")(check)
    app.command(rich_help_panel="Scenarios and robots")(show)
    app.command(rich_help_panel="Scenarios and robots")(schema)
    app.command(rich_help_panel="Scenarios and robots")(new)


def list_library(
    word: Annotated[
        str | None, typer.Argument(help="Only those of this engine, or about this: vehicle, drone, 'rough ground'.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List the scenarios and robots that come with Botz."""
    from botz.scenario.library import list_robots, list_scenarios

    found = {"scenarios": list_scenarios(), "robots": list_robots()}
    if word is not None:
        found = {kind: [entry for entry in entries if is_about(entry, word)] for kind, entries in found.items()}
        if not any(found.values()):
            from botz.scenario.families import FAMILIES

            raise InputError(Problem(f"nothing in the library is about {word!r}{closest(word, FAMILIES)}"))
    if as_json:
        print_json({kind: [entry.data() for entry in entries] for kind, entries in found.items()})
        return
    from rich.table import Table

    out = console()
    for kind, entries in found.items():
        if not entries:
            continue
        if out.width < NARROW:
            # No room for a column of sentences: they go below the names.
            out.print(kind.upper())
            for entry in entries:
                out.print(f"{entry.name} ({entry.engine})\n  {first_sentence(entry.description)}")
        else:
            table = Table(title=kind, title_justify="left", box=None, pad_edge=False)
            table.add_column("name", no_wrap=True)
            table.add_column("engine", no_wrap=True)
            table.add_column("description")
            for entry in entries:
                table.add_row(entry.name, entry.engine, first_sentence(entry.description))
            out.print(table)
        out.print()


def is_about(entry: Entry, words: str) -> bool:
    """An engine's name means that engine alone; other words are looked for as in the lab's library."""
    from botz.scenario.families import FAMILIES
    from botz.scenario.keywords import fits, keywords

    if words.lower() in FAMILIES:
        return entry.engine == words.lower()
    texts = [entry.name, *entry.titles.values(), *entry.descriptions.values()]
    return fits(" ".join([*texts, keywords(entry.name, entry.engine, entry.description)]), words)


def first_sentence(text: str) -> str:
    return " ".join(text.split()).split(". ")[0].rstrip(".")


def check(
    file: Annotated[str, typer.Argument(help="A scenario file, a robot file, or a name of the library.")],
    set_: SetOption = None,
    as_json: AsJson = False,
) -> None:
    """Check a scenario and report all mistakes at once."""
    from botz.scenario.load import RobotFileError, holds_scenario

    overrides = list(set_ or [])
    try:
        summary, problems = check_as_scenario(file, overrides)
    except RobotFileError:
        summary, problems = check_as_robot(file, overrides)
    if problems and not holds_scenario(file):
        # A robot's file is no scenario; the reading that finds less wrong is the one that was meant.
        robot_summary, robot_problems = check_as_robot(file, overrides)
        if len(robot_problems) < len(problems):
            summary, problems = robot_summary, robot_problems
    if as_json:
        print_json({"file": file, "good": not problems, "problems": [problem_data(p) for p in problems]})
    elif not problems:
        print(printable(summary))
    for problem in problems:
        print(problem, file=sys.stderr)
    raise typer.Exit(2 if problems else 0)


def check_as_scenario(file: str, overrides: list[str]) -> tuple[str, list[Problem]]:
    from botz.engines.registry import make_engine
    from botz.run import streams_of
    from botz.scenario.load import RobotFileError, load

    try:
        loaded = load(file, overrides=overrides)
    except RobotFileError:
        raise
    except InputError as error:
        return "", error.problems
    spec: Any = loaded.spec
    problems: list[Problem] = []
    try:
        engine = make_engine(spec, "skip")
        streams_of(spec, engine.channels)
        problems = controller_problems(spec, engine)
    except InputError as error:
        problems = error.problems
    if problems:
        return "", loaded.with_places(InputError(problems)).problems
    print_warnings(loaded)
    robots = f"{len(spec.robots)} robot{'s' if len(spec.robots) != 1 else ''}"
    time = f"{spec.time.duration:g} s in {spec.time.steps} steps of {spec.time.step:g} s"
    return f"{file}: good: a scenario of engine {loaded.engine}, {robots}, {time}", []


def print_warnings(loaded: LoadedScenario) -> None:
    from botz.scenario.load import warnings_of

    for warning in warnings_of(loaded):
        print(f"warning: {warning}", file=sys.stderr)


def controller_problems(spec: Any, engine: Any) -> list[Problem]:
    """What built-in controllers say of their settings; a user's class is a program and is not touched."""
    import numpy as np

    from botz.control.base import ControllerSetup
    from botz.control.registry import at_controller, build
    from botz.scenario.schema import UserController

    problems: list[Problem] = []
    for name, one in spec.controllers.items():
        if isinstance(one, UserController):
            continue
        setup = ControllerSetup(
            robot=one.robot,
            period=1.0 / one.rate,
            rng=np.random.default_rng(spec.seed),
            inputs=tuple(engine.inputs_table.of_robot(one.robot)),
            engine=engine,
        )
        try:
            build(one, allow_user_code=False, name=name).reset(setup)
        except InputError as error:
            problems += [at_controller(name, one, problem) for problem in error.problems]
    return problems


def check_as_robot(file: str, overrides: list[str]) -> tuple[str, list[Problem]]:
    from botz.scenario.load import load_robot

    try:
        robot: Any = load_robot(file, overrides=overrides).spec
    except InputError as error:
        return "", error.problems
    return f"{file}: good: a robot of engine {robot.engine}", []


def problem_data(problem: Problem) -> dict[str, Any]:
    file = str(problem.file) if problem.file else None
    return {"file": file, "line": problem.line, "key": problem.key, "message": problem.message}


def show(
    name: Annotated[str, typer.Argument(help="A name of the library, or a file.")],
    set_: SetOption = None,
    as_json: AsJson = False,
) -> None:
    """Show a scenario or a robot of the library, complete, with everything that it extends."""
    import yaml

    from botz.scenario import library
    from botz.scenario.load import load, load_robot

    is_robot = name not in library.names("scenario") and name in library.names("robot")
    overrides = list(set_ or [])
    data = load_robot(name, overrides=overrides).data if is_robot else load(name, overrides=overrides).data
    if as_json:
        print_json(data)
    else:
        text = yaml.safe_dump(data, sort_keys=False, allow_unicode=True, width=110)
        safe = text if printable(text) == text else yaml.safe_dump(data, sort_keys=False, width=110)
        print(safe, end="")


def schema(robot: Annotated[bool, typer.Option("--robot", help="The schema of robot files.")] = False) -> None:
    """Print the JSON Schema of scenario files, for editors that complete and check."""
    from botz.scenario.json_schema import robot_schema, scenario_schema

    print_json(robot_schema() if robot else scenario_schema())


def new(folder: Annotated[Path, typer.Argument(help="A folder that does not exist yet, or is empty.")]) -> None:
    """Make a folder with a scenario, a controller and a plot to start from."""
    from botz.scenario.library import library_folder

    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(Problem(f"{str(folder)!r} exists and is not an empty folder; name a new one"))
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(Problem(f"cannot make the folder {folder}: {error.strerror}; name another")) from error
    try:
        for template in sorted((library_folder() / "starter").iterdir()):
            if template.is_file():
                text = template.read_text(encoding="utf-8")
                (folder / template.name.removesuffix(".txt")).write_text(text, encoding="utf-8")
    except OSError as error:
        raise BotzError(f"cannot write into {folder}: {error.strerror}") from error
    scenario, plot, first = (shlex.quote(str(folder / name)) for name in ("scenario.yaml", "plot.py", "first"))
    print(f"{folder} holds scenario.yaml, controller.py and plot.py. Try:")
    # The commands as they work from here: this Python has botz, and the one on the path may not.
    botz, python = shlex.join(calling_words()), shlex.quote(sys.executable)
    print(f"  {botz} run {scenario} --out {first}")
    print(f"  {python} {plot} {first}")
    print(f"  {botz} run {scenario} --lab")


def calling_words() -> list[str]:
    """How this command is called: `botz`, the path of `./botz` or of the environment's command, or by Python's `-m`."""
    from shutil import which

    launcher = os.environ.get("BOTZ_LAUNCHER")
    if launcher:
        return [launcher]
    mine = which("botz", path=str(Path(sys.executable).parent))
    if mine is None:
        return [sys.executable, "-m", "botz"]
    found = which("botz")
    return ["botz"] if found and Path(found).resolve() == Path(mine).resolve() else [mine]
