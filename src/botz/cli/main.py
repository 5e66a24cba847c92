"""The `botz` command. Each group of commands is a file; what it needs is imported when a command runs."""

from __future__ import annotations

import os
import sys
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from botz.cli import (
    arms,
    doctor,
    lab,
    meshes,
    models,
    proof,
    recordings,
    running,
    scenarios,
    teleoperation,
    terrain,
    video,
    wheels,
)
from botz.cli.common import as_option
from botz.errors import BotzError, ControllerError, InputError, printable
from botz.interrupts import INTERRUPTED, as_usual, ended_by_one

GROUPS = ("Run", "Scenarios and robots", "Recordings", "Models and arms", "Trust")
"""Headings of the list of commands, in their order; each command names its own when it is registered."""


class GroupedCommands(TyperGroup):
    """Help that lists the commands under their headings, each on one line."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        commands = [command for name in self.list_commands(ctx) if (command := self.get_command(ctx, name))]
        for heading in GROUPS:
            rows = [
                (command.name, command.get_short_help_str(limit=400))
                for command in commands
                if getattr(command, "rich_help_panel", None) == heading
            ]
            with formatter.section(heading):
                formatter.write_dl(rows)


app = typer.Typer(
    name="botz",
    cls=GroupedCommands,
    help="One simulator for robots in motion. Start with: botz demo, botz list, botz run NAME.",
    no_args_is_help=True,
    # Plain text: brackets in help are brackets, and nothing has to be drawn before --help answers.
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for group in (
    running,
    lab,
    video,
    scenarios,
    recordings,
    wheels,
    terrain,
    teleoperation,
    arms,
    meshes,
    models,
    proof,
    doctor,
):
    group.register(app)


def show_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import PackageNotFoundError
        from importlib.metadata import version as version_of

        try:
            print(f"botz {version_of('botz')}")
        except PackageNotFoundError:
            print("botz, from a source tree that is not installed")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    pass


def with_realtime_factor(arguments: list[str]) -> list[str]:
    """`--realtime` may stand alone or with a factor; give it its factor of 1 where none follows."""
    result: list[str] = []
    for index, argument in enumerate(arguments):
        if argument == "--":
            return result + arguments[index:]
        if argument == "--realtime":
            following = arguments[index + 1] if index + 1 < len(arguments) else ""
            try:
                float(following)
            except ValueError:
                argument = "--realtime=1"
        result.append(argument)
    return result


def main(arguments: list[str] | None = None) -> None:
    """Entry point."""
    try:
        as_usual()
        run_command(arguments)
    except SystemExit as ending:
        if ending.code == INTERRUPTED:
            # While Python shuts down, one more Ctrl-C would end it by the signal, with another exit code.
            ended_by_one()
        raise


def run_command(arguments: list[str] | None) -> None:
    """A user's mistake ends with its message and exit code 2, never with a traceback."""
    for stream in (sys.stdout, sys.stderr):
        # Names and messages may hold any letter; an ASCII terminal must not end the run.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    try:
        given = sys.argv[1:] if arguments is None else arguments
        app(with_realtime_factor(arms.with_lists_joined(given)), prog_name="botz")
    except InputError as error:
        for problem in error.problems:
            print(as_option(problem), file=sys.stderr)
        sys.exit(error.exit_code)
    except BotzError as error:
        if isinstance(error, ControllerError) and error.details:
            print(printable(error.details), file=sys.stderr, end="")
        print(printable(f"botz: {error}"), file=sys.stderr)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except BrokenPipeError:
        # The reader of our output has gone (head, less); what is left has nobody to go to.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
