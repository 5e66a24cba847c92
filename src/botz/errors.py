"""The few exceptions of Botz. Each carries the exit code that the command line returns for it."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


def printable(text: object) -> str:
    """What came from a file or the network, safe to show on a terminal: control characters, and those that change the
    direction of writing, as escapes such as `\\x1b`. Line ends and tabs stay."""
    shown = str(text)
    return (
        shown if shown.isprintable() else "".join(letter if _harmless(letter) else escaped(letter) for letter in shown)
    )


def escaped(letter: str) -> str:
    return letter.encode("unicode_escape").decode()


def _harmless(letter: str) -> bool:
    return letter.isprintable() or letter in "\n\t" or unicodedata.category(letter) == "Zs"


class BotzError(Exception):
    """Base of everything that Botz raises on purpose."""

    exit_code = 1


@dataclass(frozen=True)
class Problem:
    """One mistake in what a user wrote: the place, the value and the remedy."""

    message: str
    """What is wrong and what to do, with the value and the valid choices."""
    key: str = ""
    """Path of the key in the document, as `robots.rover.wheels.left.radius`."""
    file: Path | None = None
    line: int | None = None

    def __str__(self) -> str:
        place = ""
        if self.file is not None:
            place = f"{self.file}:{self.line}: " if self.line is not None else f"{self.file}: "
        return printable(f"{place}{self.key + ': ' if self.key else ''}{self.message}")


@dataclass(frozen=True)
class ArgumentProblem(Problem):
    """A mistake in an argument of a call; `key` is the argument's name. The command line shows it as the option."""


class InputError(BotzError):
    """Bad input: all problems found, at once."""

    exit_code = 2

    def __init__(self, problems: Problem | str | list[Problem]):
        if isinstance(problems, str):
            problems = Problem(problems)
        self.problems = [problems] if isinstance(problems, Problem) else list(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))


class DivergedError(BotzError):
    """A state stopped being finite: when, and the last rows of channels before and at that moment."""

    def __init__(self, message: str, *, step: int, last_rows: Sequence[Sequence[float]]):
        self.step = step
        self.last_rows = last_rows
        super().__init__(message)


class StoppedError(BotzError):
    """An engine cannot go on, though its state is still finite: why, and the step that failed."""

    def __init__(self, message: str, *, step: int):
        self.step = step
        super().__init__(message)


class ControllerError(BotzError):
    """A controller failed; its own traceback is in `details`."""

    def __init__(self, message: str, details: str = ""):
        self.details = details
        super().__init__(message)


class RecordingError(BotzError):
    """A recording could not be written or read."""
