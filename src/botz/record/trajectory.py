"""Plain X Y Z text files, and how far points are from a path."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.spatial import cKDTree

from botz.errors import InputError, Problem

LARGEST_TEXT = 256 << 20
NEIGHBOURS = 8
BLOCK_ELEMENTS = 1 << 20
"""Bound of a temporary array when every point is measured against every segment."""


@dataclass(frozen=True)
class Trajectory:
    """A path in the plane or in space, without times: what `open_track` makes of a text file.

    >>> from botz.record.trajectory import Trajectory
    >>> line = Trajectory("line", np.array([[0.0, -1.0], [1.0, -1.0]]))
    >>> botz.compare(line, [rec]).differences[0].by_time
    False
    """

    name: str
    """What it is called."""
    points: np.ndarray
    """(k, 2) or (k, 3) [m]."""


def load_trajectory(path: str | Path) -> Trajectory:
    """Columns X Y or X Y Z, separated by spaces, tabs or commas; `#` comments and one header line are skipped."""
    path = Path(path)
    try:
        if path.stat().st_size > LARGEST_TEXT:
            raise InputError(Problem(f"larger than {LARGEST_TEXT >> 20} MiB", file=path))
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except UnicodeDecodeError:
        raise InputError(Problem("neither a recording nor a text file", file=path)) from None
    except OSError as error:
        raise InputError(Problem(f"cannot be read: {error.strerror or error}", file=path)) from error
    rows: list[list[float]] = []
    problems: list[Problem] = []
    first = True
    for number, line in enumerate(lines, 1):
        words = line.split("#", 1)[0].replace(",", " ").split()
        if not words:
            continue
        row = [_number(word) for word in words]
        if first and all(value is None for value in row):
            first = False
            continue
        first = False
        good = [value for value in row if value is not None and math.isfinite(value)]
        width = len(rows[0]) if rows else (len(good) if len(good) in (2, 3) else 0)
        if len(good) == len(row) == width:
            rows.append(good)
        elif len(problems) < 10:
            wanted = f"{width} finite numbers" if width else "two or three finite numbers (X Y or X Y Z)"
            problems.append(Problem(f"expected {wanted}, found {line.strip()[:60]!r}", file=path, line=number))
    if problems:
        raise InputError(problems)
    if not rows:
        raise InputError(Problem("holds no points; expected columns X Y or X Y Z", file=path))
    return Trajectory(path.name, np.array(rows))


def _number(word: str) -> float | None:
    try:
        return float(word)
    except ValueError:
        return None


def distance_to_path(points: np.ndarray, path: np.ndarray) -> np.ndarray:
    """Distance (k) of each point to the nearest place of the polyline through `path` (m, d)."""
    starts, ends = (path[:-1], path[1:]) if len(path) > 1 else (path, path)
    if len(starts) <= NEIGHBOURS:
        return _distance_to_all(points, starts, ends)
    distance = np.full(len(points), np.nan)
    finite = np.flatnonzero(np.isfinite(points).all(axis=1))
    # Candidates are the segments with the nearest middles. A segment that is not among them is no nearer than
    # its middle minus half its length, so a candidate within that bound is the answer; other points take the
    # long way.
    half = 0.5 * float(np.linalg.norm(ends - starts, axis=1).max())
    away, which = map(np.asarray, cKDTree(0.5 * (starts + ends)).query(points[finite], NEIGHBOURS))
    near = _segment_distance(points[finite, None, :], starts[which], ends[which]).min(axis=1)
    distance[finite] = near
    open_ = finite[near > away[:, -1] - half]
    distance[open_] = _distance_to_all(points[open_], starts, ends)
    return distance


def _distance_to_all(points: np.ndarray, starts: np.ndarray, ends: np.ndarray) -> np.ndarray:
    block = max(1, BLOCK_ELEMENTS // starts.size)
    distance = np.empty(len(points))
    for at in range(0, len(points), block):
        part = slice(at, at + block)
        distance[part] = _segment_distance(points[part, None, :], starts, ends).min(axis=1)
    return distance


def _segment_distance(points: np.ndarray, starts: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Distance to segments; all arguments broadcast over the last axis, the coordinates."""
    along = ends - starts
    squared = (along**2).sum(axis=-1)
    share = ((points - starts) * along).sum(axis=-1) / np.where(squared > 0.0, squared, 1.0)
    nearest = starts + np.clip(share, 0.0, 1.0)[..., None] * along
    return np.sqrt(((points - nearest) ** 2).sum(axis=-1))
