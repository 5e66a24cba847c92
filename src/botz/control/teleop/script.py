"""What a master's hands do, from a table: in place of a device."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from botz.control.table import TIME, read_columns
from botz.control.teleop.messages import TWIST
from botz.errors import InputError, Problem
from botz.scenario.names import closest

FLAGS = {"clutch": True, "stop": False, "reset": False}
"""Columns that are 0 or 1, and what counts where there is none."""
OPENING = "opening"


class MasterTable:
    """Motion of a miniature arm or Cartesian rates over time: straight from row to row. Flags and the gripper hold
    until the next row, and the last row stays. Before the first there is no master."""

    def __init__(self, columns: dict[str, np.ndarray], names: Sequence[str], file: Path | None = None):
        """`names` are the arm's joints."""
        check_columns(list(columns), names, file)
        self.time = columns[TIME]
        self.kind = "joints" if names[0] in columns else "twist"
        self._motion = np.column_stack([columns[name] for name in (names if self.kind == "joints" else TWIST)])
        self._flags = {name: columns[name] for name in FLAGS if name in columns}
        self._opening = columns.get(OPENING)

    @property
    def start(self) -> float:
        return float(self.time[0])

    @property
    def end(self) -> float:
        return float(self.time[-1])

    def at(self, t: float) -> dict[str, Any]:
        """What the master says at that time, as arguments of `MasterEnd.drive`."""
        motion = [float(np.interp(t, self.time, column)) for column in self._motion.T]
        row = max(0, int(np.searchsorted(self.time, t + 5e-10, side="right")) - 1)
        said: dict[str, Any] = {self.kind: motion}
        said |= {name: bool(values[row] >= 0.5) for name, values in self._flags.items()}
        if self._opening is not None:
            said[OPENING] = float(self._opening[row])
        return said


def read_table(file: Path, names: Sequence[str]) -> MasterTable:
    """A master's CSV file for an arm with these joints."""
    return MasterTable(read_columns(file, required=(TIME,)), names, file)


def check_columns(given: Sequence[str], names: Sequence[str], file: Path | None) -> None:
    known = [TIME, *names, *TWIST, *FLAGS, OPENING]
    problems = [f"unknown column {name!r}{closest(name, known)}" for name in given if name not in known]
    joints = [name for name in names if name in given]
    rates = [name for name in TWIST if name in given]
    if joints and rates:
        problems.append(f"columns {joints[0]!r} and {rates[0]!r}: a master has joints or Cartesian rates, not both")
    elif not joints and not rates:
        problems.append(f"no motion; needs the columns {', '.join(names)}, or {', '.join(TWIST)}")
    else:
        problems += [f"no column {name!r}" for name in (names if joints else TWIST) if name not in given]
    if problems:
        raise InputError([Problem(text, file=file, line=None if file is None else 1) for text in problems])
