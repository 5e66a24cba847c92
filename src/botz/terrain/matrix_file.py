"""Heights from matrices in files: text, CSV and .npy. Every mistake is named with its place."""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

import numpy as np

from botz.errors import InputError, Problem
from botz.scenario.terrain import MOST_POINTS
from botz.scenario.units import show

LARGEST_FILE = 1_000_000_000
"""Bytes: the largest matrix, written with all digits, takes 420 MB."""
LONGEST_LINE = 64 * MOST_POINTS
MOST_PROBLEMS = 20
COMMENT = "#"

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_NOT_FINITE = re.compile(r"[+-]?(nan|inf|infinity)", re.IGNORECASE)


def read_matrix(file: Path, key: str) -> np.ndarray:
    """Heights as the file has them: rows along x, columns along y. Raises InputError."""
    try:
        if file.stat().st_size > LARGEST_FILE:
            raise _wrong(f"larger than {LARGEST_FILE // 1_000_000} MB; use a smaller matrix or .npy", file, key)
        return _read_npy(file, key) if file.suffix.lower() == ".npy" else _read_text(file, key)
    except FileNotFoundError:
        raise _wrong("no such file", file, key) from None
    except UnicodeDecodeError:
        raise _wrong("not a text file in UTF-8", file, key) from None
    except OSError as error:
        raise _wrong(f"cannot be read: {error.strerror or error}", file, key) from None


def check_size(shape: tuple[int, ...], what: tuple[str, str], file: Path, key: str) -> None:
    """Raises InputError for a grid that is too small or too large; `what` names its two directions."""
    for count, name in zip(shape, what, strict=True):
        if count < 2:
            raise _wrong(f"{count} {name}; a terrain needs at least 2 x 2 points", file, key)
        if count > MOST_POINTS:
            raise _wrong(f"{count} {name}, at most {MOST_POINTS}; leave some out or cut a part", file, key)


def _wrong(message: str, file: Path, key: str, line: int | None = None) -> InputError:
    return InputError(Problem(message, key=key, file=file, line=line))


# --- .npy ------------------------------------------------------------------------------------------------------


def _read_npy(file: Path, key: str) -> np.ndarray:
    try:
        # Mapped, so that a header's claims are checked before anything of that size is made.
        found = np.load(file, mmap_mode="r", allow_pickle=False)
    except OSError:
        raise
    except Exception:
        # A broken header fails in many ways, and NumPy's words are about its own options; all of them mean this.
        raise _wrong("not a whole .npy file with an array of numbers", file, key) from None
    if not isinstance(found, np.ndarray):
        found.close()
        raise _wrong("an archive of several arrays (.npz); save one array with numpy.save", file, key)
    if found.dtype.kind not in "iuf":
        raise _wrong(f"its values are of type {found.dtype}; needs real numbers", file, key)
    if found.ndim != 2:
        raise _wrong(f"an array of shape {found.shape}; needs one of two dimensions", file, key)
    check_size(found.shape, ("rows", "columns"), file, key)
    heights = np.array(found, dtype=np.float64, order="C")
    odd = np.argwhere(~np.isfinite(heights))
    if len(odd):
        problems = [
            Problem(f"row {i + 1}, column {j + 1} is {heights[i, j]:g}; needs a finite number", key=key, file=file)
            for i, j in odd[:MOST_PROBLEMS]
        ]
        raise InputError(_with_rest(problems, len(odd), file, key))
    return heights


def _with_rest(problems: list[Problem], total: int, file: Path, key: str) -> list[Problem]:
    rest = total - len(problems)
    return [*problems, Problem(f"{rest} more mistakes of this kind", key=key, file=file)] if rest > 0 else problems


# --- text ------------------------------------------------------------------------------------------------------


def _read_text(file: Path, key: str) -> np.ndarray:
    """By NumPy's fast reader; only where that fails, line by line for the mistake."""
    delimiter = _delimiter(file, key)
    try:
        with _opened(file) as stream, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of blank lines and comments, which do not count as rows
            heights = np.loadtxt(stream, delimiter=delimiter, comments=COMMENT, ndmin=2, max_rows=MOST_POINTS + 1)
    except UnicodeDecodeError:
        raise
    except ValueError as error:
        raise InputError(_text_problems(file, delimiter, key, str(error))) from None
    if heights.shape[0] > MOST_POINTS:
        raise _wrong(f"more than {MOST_POINTS} rows; leave some out or cut a part", file, key)
    check_size(heights.shape, ("rows", "columns"), file, key)
    if not np.isfinite(heights).all():
        raise InputError(_text_problems(file, delimiter, key, "a value is not finite"))
    return heights


def _opened(file: Path) -> TextIO:
    return file.open(encoding="utf-8-sig")


def _delimiter(file: Path, key: str) -> str | None:
    """What separates the numbers of the first row: a semicolon, a comma or (None) blanks. Raises where that row is
    missing or too long, before a large file is read."""
    with _opened(file) as stream:
        while line := stream.readline(LONGEST_LINE + 1):
            if len(line) > LONGEST_LINE:
                raise _wrong(f"a line has more than {LONGEST_LINE} characters, too long for a row", file, key)
            text = line.partition(COMMENT)[0]
            if text.strip():
                delimiter = next((mark for mark in ";," if mark in text), None)
                check_size((2, len(text.split(delimiter))), ("rows", "columns"), file, key)
                return delimiter
    raise _wrong("is empty; needs rows of numbers", file, key)


def _text_problems(file: Path, delimiter: str | None, key: str, otherwise: str) -> list[Problem]:
    """All mistakes with their lines; `otherwise` where this reader finds none."""
    problems: list[Problem] = []
    total = 0
    for message, line in _text_mistakes(file, delimiter):
        total += 1
        if total <= MOST_PROBLEMS:
            problems.append(Problem(message, key=key, file=file, line=line))
    return _with_rest(problems, total, file, key) or [Problem(f"cannot be read: {otherwise}", key=key, file=file)]


def _text_mistakes(file: Path, delimiter: str | None) -> Iterator[tuple[str, int]]:
    row, width, first_line = 0, 0, 0
    with _opened(file) as stream:
        for line, text in enumerate(stream, start=1):
            text = text.partition(COMMENT)[0]
            if not text.strip():
                continue
            row += 1
            words = text.split(delimiter)
            if row == 1:
                width, first_line = len(words), line
            if len(words) != width:
                yield f"row {row} has {len(words)} values, the first one (line {first_line}) has {width}", line
            for column, word in enumerate(words, start=1):
                wrong = _wrong_number(word.strip())
                if wrong:
                    yield f"row {row}, column {column} {wrong}", line


def _wrong_number(word: str) -> str | None:
    if _NUMBER.fullmatch(word):
        return None if math.isfinite(float(word)) else f"is {show(word)}, too large for a number"
    if not word:
        return "is empty; needs a number"
    if _NOT_FINITE.fullmatch(word):
        return f"is {word}; needs a finite number"
    hint = "; write a decimal point" if _NUMBER.fullmatch(word.replace(",", ".")) else ""
    return f"is {show(word)}; needs a number{hint}"
