"""The thrust of a propeller by its speed, fitted to a table of measurements."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from botz.errors import ArgumentProblem, InputError, Problem
from botz.scenario.names import closest
from botz.scenario.units import parse, show

LARGEST_FILE = 10_000_000
MOST_PROBLEMS = 20
SPEED = (("rad", 1.0), ("s", -1.0))
FORCE = (("kg", 1.0), ("m", 1.0), ("s", -2.0))
SPELLINGS = {
    "rad/s": "rad/s", "rad_s": "rad/s", "rpm": "rpm", "rev/min": "rpm", "1/min": "rpm", "deg/s": "deg/s",
    "rev/s": "rev/s", "rps": "rev/s", "n": "N", "newton": "N", "mn": "mN", "kn": "kN", "gf": "gram_force",
    "kgf": "kilogram_force", "kp": "kilogram_force", "lbf": "pound_force", "ozf": "ounce_force",
}  # fmt: skip
"""Units as tables name them, and as units.py does."""


@dataclass(frozen=True, eq=False)
class ThrustColumn:
    name: str
    force: np.ndarray
    """[N]"""


@dataclass(frozen=True, eq=False)
class ThrustTable:
    file: Path
    speed_column: str
    speed: np.ndarray
    """[rad/s]"""
    columns: tuple[ThrustColumn, ...]


@dataclass(frozen=True)
class ThrustFit:
    method: str
    """sums, least-squares or curve."""
    curve: tuple[float, float, float]
    """a, b, c of f = a + b ω + c ω² [N, N·s/rad, N·s²/rad²]."""
    rms: float
    """Root mean square of the residuals [N]."""
    largest: float
    """Residual of the largest size, data minus fit [N]."""
    largest_at: float
    """Speed at which that is [rad/s]."""

    @property
    def coefficient(self) -> float | None:
        """K of f = K ω²; None of a whole curve."""
        return None if self.method == "curve" else self.curve[2]

    def thrust(self, speed: np.ndarray) -> np.ndarray:
        a, b, c = self.curve
        return a + b * speed + c * speed**2


def fit_by_sums(speed: np.ndarray, force: np.ndarray) -> ThrustFit:
    """K such that the fitted forces have the sum of the measured ones: K = Σf / Σω², the source's fit."""
    return _fit("sums", (0.0, 0.0, float(force.sum() / (speed**2).sum())), speed, force)


def fit_by_least_squares(speed: np.ndarray, force: np.ndarray) -> ThrustFit:
    """K with the least sum of squared residuals: K = Σ f ω² / Σ ω⁴."""
    return _fit("least-squares", (0.0, 0.0, float((force * speed**2).sum() / (speed**4).sum())), speed, force)


def fit_curve(speed: np.ndarray, force: np.ndarray) -> ThrustFit:
    """a, b, c of f = a + b ω + c ω² by least squares; needs three different speeds."""
    # By the largest speed, so that the three columns are of one size.
    top = float(np.abs(speed).max())
    u = speed / top
    (a, b, c), *_ = np.linalg.lstsq(np.column_stack([np.ones_like(u), u, u**2]), force, rcond=None)
    return _fit("curve", (float(a), float(b / top), float(c / top**2)), speed, force)


def _fit(method: str, curve: tuple[float, float, float], speed: np.ndarray, force: np.ndarray) -> ThrustFit:
    rest = force - (curve[0] + curve[1] * speed + curve[2] * speed**2)
    worst = int(np.argmax(np.abs(rest)))
    return ThrustFit(method, curve, float(np.sqrt((rest**2).mean())), float(rest[worst]), float(speed[worst]))


def thrust_fits(speed: np.ndarray, force: np.ndarray) -> list[ThrustFit]:
    """All fits that the data allow: a curve needs three different speeds, more than three for its residuals to mean
    anything."""
    found = [fit_by_sums(speed, force), fit_by_least_squares(speed, force)]
    if len(np.unique(speed)) >= 3:
        found.append(fit_curve(speed, force))
    return found


def propeller_lines(fit: ThrustFit) -> str:
    """What to write in a robot file."""
    if fit.coefficient is not None:
        return f"coefficient: {yaml_number(fit.coefficient)}"
    return f"curve: [{', '.join(yaml_number(one) for one in fit.curve)}]"


def yaml_number(value: float) -> str:
    """Nine digits; YAML takes an exponent for a number only with a point before and a sign within."""
    text = f"{value:.9g}"
    mantissa, mark, exponent = text.partition("e")
    return f"{mantissa if '.' in mantissa else mantissa + '.0'}e{exponent}" if mark else text


# --- the table -------------------------------------------------------------------------------------------------------


def read_thrust_table(path: Path, *, speed_column: str | None = None, force_columns: Sequence[str] = ()) -> ThrustTable:
    """Speeds and forces of a CSV file. The first row names the columns with their units, as `speed [rpm]`, `T (N)` or
    `omega_rad_s`. Without choice, the first column of speeds and all of forces are taken. Raises InputError."""
    rows, delimiter = _rows(path)
    line, names = rows[0]
    units = [_unit_of(name) for name in names]
    speed = _chosen_speed(path, line, names, units, speed_column)
    forces = _chosen_forces(path, line, names, units, force_columns, speed)
    needed = [speed, *forces]
    factors = [_factor(path, line, names[k], units[k], SPEED if k == speed else FORCE) for k in needed]
    values: list[list[float]] = []
    problems: list[Problem] = []
    for line, words in rows[1:]:
        found = _row(words, names, needed, delimiter, speed)
        if isinstance(found, str):
            problems.append(Problem(found, file=path, line=line))
        else:
            values.append([value * factor for value, factor in zip(found, factors, strict=True)])
    if problems:
        rest = len(problems) - MOST_PROBLEMS
        more = [Problem(f"{rest} more rows have mistakes", file=path)] if rest > 0 else []
        raise InputError(problems[:MOST_PROBLEMS] + more)
    table = np.array(values).reshape(-1, len(needed))
    if len(table) == 0 or not (table[:, 0] > 0.0).any():
        raise InputError(Problem("has no row with a speed above 0; needs at least one", file=path))
    for k, column in enumerate(forces):
        if not table[:, k + 1].sum() > 0.0:
            message = f"the forces of column {names[column]!r} sum to {table[:, k + 1].sum():g} N; thrust is positive"
            raise InputError(Problem(message, file=path))
    columns = tuple(ThrustColumn(names[column], table[:, k + 1].copy()) for k, column in enumerate(forces))
    return ThrustTable(path, names[speed], table[:, 0].copy(), columns)


def _rows(path: Path) -> tuple[list[tuple[int, list[str]]], str]:
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise InputError(Problem(f"is larger than {LARGEST_FILE // 1_000_000} MB, no table of thrust", file=path))
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except FileNotFoundError:
        raise InputError(Problem("there is no such file; look for a typing error in its path", file=path)) from None
    except UnicodeDecodeError:
        raise InputError(Problem("is no text in UTF-8; save the table as CSV", file=path)) from None
    except OSError as error:
        raise InputError(Problem(f"cannot be read: {error.strerror or error}", file=path)) from None
    full = [(k, line) for k, line in enumerate(lines, start=1) if line.strip() and not line.lstrip().startswith("#")]
    if not full:
        raise InputError(Problem("is empty; needs a row of column names, then rows of numbers", file=path))
    header = full[0][1]
    delimiter = max(";\t,", key=header.count) if any(mark in header for mark in ";\t,") else " "
    try:
        rows = [
            (k, [word.strip() for word in next(csv.reader([line], delimiter=delimiter, skipinitialspace=True))])
            for k, line in full
        ]
    except (csv.Error, StopIteration) as error:
        raise InputError(Problem(f"cannot be read as CSV: {error}", file=path)) from None
    return rows, delimiter


def _unit_of(name: str) -> str | None:
    """The unit that a column's name ends with, as units.py knows it."""
    inside = re.search(r"[\[(]\s*([^\])]*?)\s*[\])]\s*$", name)
    text = inside[1] if inside else name
    known = SPELLINGS.get(text.lower().replace(" ", ""))
    if known is None and inside:
        return inside[1]
    if known is None:
        last = re.search(r"(?:^|[\s_])(rad[_/]s|rpm|rps|n|gf|kgf|lbf)$", name.lower())
        known = SPELLINGS[last[1]] if last else None
    return known


def _kind(unit: str | None) -> tuple[tuple[str, float], ...] | None:
    if not unit:
        return None
    try:
        return parse(f"1 {unit}")[1]
    except ValueError:
        return None


def _index(path: Path, line: int, names: list[str], wanted: str, key: str) -> int:
    """Of the column with this name, or with this name before its unit."""
    for k, name in enumerate(names):
        if wanted in (name, re.sub(r"\s*[\[(][^\])]*[\])]\s*$", "", name)):
            return k
    raise InputError(ArgumentProblem(f"no column {wanted!r}{closest(wanted, names)}", key=key, file=path, line=line))


def _chosen_speed(path: Path, line: int, names: list[str], units: list[str | None], wanted: str | None) -> int:
    if wanted is not None:
        return _index(path, line, names, wanted, "speed_column")
    for k, unit in enumerate(units):
        if _kind(unit) == SPEED:
            return k
    listed = ", ".join(repr(name) for name in names)
    message = f"no column of speeds among {listed}; name its unit in the first row, as 'speed [rpm]' or 'omega [rad/s]'"
    raise InputError(Problem(message, file=path, line=line))


def _chosen_forces(
    path: Path, line: int, names: list[str], units: list[str | None], wanted: Sequence[str], speed: int
) -> list[int]:
    if wanted:
        return [_index(path, line, names, name, "force_column") for name in wanted]
    found = [k for k, unit in enumerate(units) if k != speed and _kind(unit) == FORCE]
    if not found:
        listed = ", ".join(repr(name) for name in names)
        message = f"no column of forces among {listed}; name its unit in the first row, as 'T [N]' or 'thrust [gf]'"
        raise InputError(Problem(message, file=path, line=line))
    return found


def _factor(path: Path, line: int, name: str, unit: str | None, needed: tuple[tuple[str, float], ...]) -> float:
    """To SI, of a column."""
    wanted = "rpm or rad/s" if needed == SPEED else "N or gf"
    if unit is None or _kind(unit) != needed:
        found = "no unit" if unit is None else f"the unit {unit!r}"
        message = f"column {name!r} has {found}; needs {wanted} in brackets after its name"
        raise InputError(Problem(message, file=path, line=line))
    return parse(f"1 {unit}")[0]


def _row(words: list[str], names: list[str], needed: list[int], delimiter: str, speed: int) -> list[float] | str:
    if len(words) != len(names):
        return f"has {len(words)} values, the first row names {len(names)} columns"
    found = []
    for k in needed:
        # A comma is a decimal point where it separates nothing.
        word = words[k].replace(",", ".") if delimiter != "," else words[k]
        try:
            value = float(word) if "_" not in word else math.nan
        except ValueError:
            return f"column {names[k]!r} is {show(words[k])}; needs a number"
        if not math.isfinite(value):
            return f"column {names[k]!r} is {show(words[k])}; needs a finite number"
        if k == speed and value < 0.0:
            return f"column {names[k]!r} is {show(words[k])}; speeds count in the propeller's own sense, from 0"
        found.append(value)
    return found
