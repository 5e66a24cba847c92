"""Commands from a CSV file, and the reading of such files."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np

from botz.control.base import ControllerSetup, Measured
from botz.errors import InputError, Problem
from botz.scenario.names import closest
from botz.scenario.schema import TableController

TIME = "time"
MOTIONS = {"twist": ("vx", "vy", "yaw_rate"), "tank": ("left", "right"), "drive": ("forward", "turn")}
"""Commands for a robot as a whole, and their parts: a column `twist.vx` is the first part of `twist`."""
TOOL_TWIST = ("vx", "vy", "vz", "wx", "wy", "wz")
"""Parts of the `twist` of a tool."""
LARGEST_FILE = 200_000_000
"""Bytes: more is a mistake, or does not belong into a table of text."""
MOST_PROBLEMS = 20


class Table:
    """Rows of commands over time. Before the first row nothing is commanded; the last row stays."""

    def __init__(self, spec: TableController):
        self._file = Path(spec.file)
        self._linear = spec.interpolate == "linear"
        columns = read_columns(self._file, required=(TIME,))
        self._time = columns.pop(TIME)
        if not columns:
            choices = ", ".join(f"{motion}.{part}" for motion, parts in MOTIONS.items() for part in parts)
            raise InputError(
                Problem(f"no column besides 'time'; add commands, as {choices} or left/speed", file=self._file)
            )
        self._names = list(columns)
        self._values = np.column_stack(list(columns.values()))

    def reset(self, setup: ControllerSetup) -> None:
        layout = dict(setup.engine.command_layout(setup.robot))
        self._motions = [motion for motion, parts in MOTIONS.items() if layout.get(motion) == len(parts)]
        vectors = {motion: MOTIONS[motion] for motion in self._motions}
        if layout.get("twist") == len(TOOL_TWIST):
            vectors["twist"] = TOOL_TWIST
        joints = {
            channel.local_name: channel.components
            for channel in setup.inputs
            if channel.components and layout.get(channel.local_name) == channel.size
        }
        vectors |= joints
        self._sizes = {name: len(parts) for name, parts in vectors.items()}
        self._parts = {f"{name}.{part}": (name, i) for name, parts in vectors.items() for i, part in enumerate(parts)}
        # The speed of a position that goes over from one row to the next is known.
        self._follows = self._linear and {"position", "speed"} <= set(joints)
        known = [name for name, size in layout.items() if size == 1 and name not in vectors]
        known += self._parts
        problems = [
            Problem(
                f"column {name!r} is no command of robot {setup.robot!r}{closest(name, known)}", file=self._file, line=1
            )
            for name in self._names
            if name not in known
        ]
        problems = problems or self._rivals() or self._missing(joints)
        if problems:
            raise InputError(problems)
        columns = dict(zip(self._names, self._values.T.tolist(), strict=True))
        setup.engine.note_commands(setup.robot, f"in {self._file.name}", columns)

    def _rivals(self) -> list[Problem]:
        """Two commands for the robot as a whole, or for its joints and its tool: one would undo the other."""
        whole = {*self._motions, "twist", "position"}
        given = [name for name in self._names if self._parts.get(name, ("",))[0] in whole]
        return [
            Problem(f"column {name!r} beside {given[0]!r}: use one kind of command", file=self._file, line=1)
            for name in given
            if self._parts[name][0] != self._parts[given[0]][0]
        ]

    def _missing(self, joints: Mapping[str, tuple[str, ...]]) -> list[Problem]:
        """A joint that is left out has no value that could be meant."""
        found = []
        for name, parts in joints.items():
            given = [part for part in parts if f"{name}.{part}" in self._names]
            if given and len(given) < len(parts):
                lost = next(part for part in parts if part not in given)
                message = f"no column '{name}.{lost}'; a {name} needs one for every joint"
                found.append(Problem(message, file=self._file, line=1))
        return found

    def update(self, t: float, measured: Measured) -> dict[str, Any] | None:
        # Half a nanosecond of tolerance: the time of a step may be rounded down below the time of its row.
        index = int(np.searchsorted(self._time, t + 5e-10, side="right")) - 1
        if index < 0:
            return None
        values = self._values[index]
        slopes = np.zeros_like(values)
        if self._linear and index + 1 < self._time.size:
            slopes = (self._values[index + 1] - values) / (self._time[index + 1] - self._time[index])
            values = values + max(0.0, t - self._time[index]) * slopes
        command = self._command(values)
        if self._follows and "position" in command and "speed" not in command:
            command["speed"] = self._command(slopes)["position"]
        return command

    def _command(self, values: np.ndarray) -> dict[str, Any]:
        command: dict[str, Any] = {}
        for name, value in zip(self._names, values.tolist(), strict=True):
            if name in self._parts:
                vector, part = self._parts[name]
                command.setdefault(vector, [0.0] * self._sizes[vector])[part] = value
            else:
                command[name] = value
        return command

    def snapshot(self) -> dict[str, Any]:
        return {}

    def restore(self, saved: dict[str, Any]) -> None:
        """Nothing changes during a run."""


def read_columns(file: Path, *, required: Sequence[str], allowed: Sequence[str] = ()) -> dict[str, np.ndarray]:
    """Columns of a CSV file with a header, by name; `time` must grow. All mistakes at once, each with its line.

    With `allowed` given, other columns than those and the required ones are mistakes. Blank lines and lines that
    begin with # are skipped.
    """
    header, rows, lines = _read_rows(file)
    problems = _header_problems(file, header, lines, required, allowed)
    if problems:
        raise InputError(problems)
    values = np.empty((len(rows), len(header)))
    for number, (row, line) in enumerate(zip(rows, lines[1:], strict=True)):
        if len(row) != len(header):
            problems.append(Problem(f"{len(row)} values, the header has {len(header)} columns", file=file, line=line))
            continue
        for column, text in enumerate(row):
            value = _number(text)
            if value is None:
                problems.append(
                    Problem(f"needs a finite number, not {text.strip()!r}", key=header[column], file=file, line=line)
                )
            else:
                values[number, column] = value
    if not problems:
        if not rows:
            raise InputError(Problem("no rows below the header", file=file))
        problems = _time_problems(file, values[:, header.index(TIME)], lines[1:]) if TIME in header else []
    if problems:
        rest = len(problems) - MOST_PROBLEMS
        more = [Problem(f"{rest} more mistakes of this kind", file=file)] if rest > 0 else []
        raise InputError(problems[:MOST_PROBLEMS] + more)
    return {name: values[:, column].copy() for column, name in enumerate(header)}


def _read_rows(file: Path) -> tuple[list[str], list[list[str]], list[int]]:
    """Header, rows, and the line of the header and of each row."""
    try:
        if file.stat().st_size > LARGEST_FILE:
            raise InputError(Problem(f"larger than {LARGEST_FILE // 1_000_000} MB", file=file))
        found: list[list[str]] = []
        lines: list[int] = []
        with file.open(newline="", encoding="utf-8-sig") as stream:
            reader = csv.reader(stream)
            for row in reader:
                if row and any(cell.strip() for cell in row) and not row[0].lstrip().startswith("#"):
                    found.append(row)
                    lines.append(reader.line_num)
    except FileNotFoundError:
        raise InputError(Problem("no such file; paths are relative to the scenario file", file=file)) from None
    except UnicodeDecodeError:
        raise InputError(Problem("not a text file in UTF-8", file=file)) from None
    except (OSError, csv.Error) as error:
        raise InputError(Problem(f"cannot be read: {error}", file=file)) from None
    if not found:
        raise InputError(Problem("is empty; the first line names the columns", file=file))
    return [cell.strip() for cell in found[0]], found[1:], lines


def _header_problems(
    file: Path, header: list[str], lines: list[int], required: Sequence[str], allowed: Sequence[str]
) -> list[Problem]:
    line = lines[0]
    problems = []
    for name in required:
        if name not in header:
            problems.append(Problem(f"no column {name!r}{closest(name, header)}", file=file, line=line))
    for index, name in enumerate(header):
        if not name:
            problems.append(Problem(f"column {index + 1} has no name", file=file, line=line))
        elif name in header[:index]:
            problems.append(Problem(f"column {name!r} is there twice", file=file, line=line))
        elif allowed and name not in allowed and name not in required:
            known = [*required, *allowed]
            problems.append(Problem(f"unknown column {name!r}{closest(name, known)}", file=file, line=line))
    return problems


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if isfinite(value) else None


def _time_problems(file: Path, time: np.ndarray, lines: list[int]) -> list[Problem]:
    return [
        Problem(f"{time[i + 1]:g} s does not come after {time[i]:g} s", key=TIME, file=file, line=lines[i + 1])
        for i in np.flatnonzero(np.diff(time) <= 0.0)
    ]
