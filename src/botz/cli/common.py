"""Options and output that several commands share."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from botz.errors import ArgumentProblem, Problem, printable

if TYPE_CHECKING:
    from rich.console import Console

OutFolder = Annotated[
    Path | None,
    typer.Option("-o", "--out", metavar="FOLDER", help="Folder for the results; runs/NAME-TIME by default."),
]
OpenPage = Annotated[bool, typer.Option("--open", help="Open the page in the browser of this machine.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON and nothing else on standard output.")]


def as_option(problem: Problem) -> Problem:
    """A mistake in an argument, under the name of the option that it was written with."""
    if isinstance(problem, ArgumentProblem):
        return Problem(problem.message, f"--{problem.key.replace('_', '-')}", problem.file, problem.line)
    return replace(problem, file=Path("--set")) if problem.file == Path("overrides") else problem


def print_json(value: Any) -> None:
    """JSON that any parser takes: numbers that are not finite become null, control characters escapes."""
    from botz.record.plain_json import finite

    text = json.dumps(finite(value), indent=2, ensure_ascii=False)
    print(text if printable(text) == text else json.dumps(finite(value), indent=2).replace("\x7f", "\\u007f"))


def console(*, stderr: bool = False) -> Console:
    """A terminal that shows texts as they are: nothing in them is markup, and control characters are escapes."""
    from rich.console import Console
    from rich.segment import Segment
    from rich.text import Text

    class PlainConsole(Console):
        def render_str(self, text: str, **options: Any) -> Text:
            return super().render_str(printable(text), **options)

        def render(self, renderable: Any, options: Any = None) -> Iterator[Segment]:
            """Also of texts that are rich's own, and so never were strings here."""
            for one in super().render(renderable, options):
                yield one if one.control else Segment(printable(one.text), one.style)

    return PlainConsole(stderr=stderr, highlight=False, markup=False, emoji=False)


def print_pairs(pairs: dict[str, str]) -> None:
    """Names and values in two columns; never cut, so that a path can be copied or piped."""
    width = max((len(name) for name in pairs), default=0)
    for name, value in pairs.items():
        lines = printable(value).replace("\n", "\n" + " " * (width + 2))
        print(f"{printable(name):<{width}}  {lines}".rstrip())


def warn_of_doubt(text: str, value: float, unit: str, option: str) -> None:
    """An angle of more than a turn that was written without a unit is taken as radians, with a warning."""
    from botz.scenario.units import doubt

    if unit != "rad" or abs(value) <= 2.0 * math.pi:
        return
    try:
        float(text)
    except ValueError:
        return  # it has a unit
    print(f"warning: {option}: {doubt(value)}", file=sys.stderr)
