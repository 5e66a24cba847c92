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
    """Base of everything that Botz raises on purpose. `exit_code` is what the command line returns for it.

    >>> issubclass(botz.InputError, botz.BotzError), botz.InputError.exit_code
    (True, 2)
    """

    exit_code = 1
    """What the command line returns for it."""


@dataclass(frozen=True)
class Problem:
    """One mistake in what a user wrote: the place, the value and the remedy.

    >>> from botz.errors import Problem
    >>> print(Problem("needs a length", key="robots.rover.pose.0"))
    robots.rover.pose.0: needs a length
    """

    message: str
    """What is wrong and what to do, with the value and the valid choices."""
    key: str = ""
    """Path of the key in the document, as `robots.rover.wheels.left.radius`."""
    file: Path | None = None
    """The file that it is in, where there is one."""
    line: int | None = None
    """The line of that file, from 1."""

    def __str__(self) -> str:
        place = ""
        if self.file is not None:
            place = f"{self.file}:{self.line}: " if self.line is not None else f"{self.file}: "
        return printable(f"{place}{self.key + ': ' if self.key else ''}{self.message}")


@dataclass(frozen=True)
class ArgumentProblem(Problem):
    """A mistake in an argument of a call; `key` is the argument's name. The command line shows it as the option."""


class InputError(BotzError):
    """Bad input: all problems found, at once, as a list of `Problem` in `problems`.

    >>> try:
    ...     botz.load("differential-circle", overrides={"time.step": "1 kg", "robots.rover.poes": 1})
    ... except botz.InputError as error:
    ...     [problem.key for problem in error.problems]
    ['time.step', 'robots.rover.poes']
    """

    exit_code = 2

    def __init__(self, problems: Problem | str | list[Problem]):
        if isinstance(problems, str):
            problems = Problem(problems)
        self.problems = [problems] if isinstance(problems, Problem) else list(problems)
        """All mistakes found."""
        super().__init__("\n".join(str(problem) for problem in self.problems))


class DivergedError(BotzError):
    """A state stopped being finite: `step` says when, `last_rows` has the last rows of channels before and at that
    moment.

    >>> error = botz.DivergedError("not finite at step 3", step=3, last_rows=[[0.0], [float("inf")]])
    >>> error.step, len(error.last_rows)
    (3, 2)
    """

    def __init__(self, message: str, *, step: int, last_rows: Sequence[Sequence[float]]):
        self.step = step
        """The step at which the state was first not finite."""
        self.last_rows = last_rows
        """The last rows of channels up to that step."""
        super().__init__(message)


class StoppedError(BotzError):
    """An engine cannot go on, though its state is still finite: why, and the step that failed."""

    def __init__(self, message: str, *, step: int):
        self.step = step
        super().__init__(message)


class ControllerError(BotzError):
    """A controller failed; its own traceback is in `details`.

    >>> try:
    ...     botz.simulate(scenario, controllers={"rover": lambda t, measured: 1 / 0})
    ... except botz.ControllerError as error:
    ...     print(error)
    the controller given for 'rover' failed at t = 0 s: ZeroDivisionError: division by zero
    """

    def __init__(self, message: str, details: str = ""):
        self.details = details
        """The controller's own traceback."""
        super().__init__(message)


class RecordingError(BotzError):
    """A recording could not be written or read, for example on a full disk.

    >>> raise botz.RecordingError("no space left")
    Traceback (most recent call last):
    botz.errors.RecordingError: no space left
    """
