"""Which columns of a recording a picture shows, and how many of their samples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

import numpy as np

from botz.channels import Channel
from botz.errors import InputError, Problem
from botz.record.reader import Recording
from botz.record.streams import column_names, component_units
from botz.scenario.names import closest

MOST_POINTS = 20_000
"""Points of one drawn line: more would be slower to draw and no finer to see."""


@dataclass(frozen=True)
class Column:
    """One component of a channel."""

    channel: Channel
    index: int

    @property
    def name(self) -> str:
        return column_names(self.channel)[self.index]

    @property
    def unit(self) -> str:
        return component_units(self.channel)[self.index]

    @property
    def quantity(self) -> str:
        """What it measures, without the robot and the part: `speed`, `heading`, `vx`."""
        components = self.channel.components
        return components[self.index] if components else self.channel.name.rsplit("/", 1)[-1]

    def values(self, recording: Recording) -> np.ndarray:
        values = recording[self.channel.name]
        return values[:, self.index] if values.ndim == 2 else values


def columns_of(channel: Channel) -> list[Column]:
    return [Column(channel, index) for index in range(channel.size)]


def choose(recording: Recording, patterns: Sequence[str]) -> list[Column]:
    """Columns by name: a channel (`vivi/pose`), a component (`vivi/pose.x`), or a pattern with `*` for either."""
    everything = [column for channel in recording.channels for column in columns_of(channel)]
    chosen: dict[str, Column] = {}
    problems = []
    for pattern in patterns:
        hits = [c for c in everything if pattern in (c.channel.name, c.name)]
        if not hits:
            hits = [c for c in everything if fnmatchcase(c.channel.name, pattern) or fnmatchcase(c.name, pattern)]
        if not hits:
            names = [column.name for column in everything] if "." in pattern else recording.channels.slices
            kind = "no channel matches" if any(sign in pattern for sign in "*?[") else "unknown channel"
            problems.append(Problem(f"{kind} {pattern!r}{closest(pattern, names)}", file=recording.file))
        chosen |= {column.name: column for column in hits if column.name not in chosen}
    if problems:
        raise InputError(problems)
    return list(chosen.values())


def planar(channel: Channel) -> tuple[int, int] | None:
    """Columns of x and y [m], where the channel is a place in the plane or in space."""
    if not {"x", "y"} <= set(channel.components):
        return None
    x, y = channel.components.index("x"), channel.components.index("y")
    units = component_units(channel)
    return (x, y) if units[x] == units[y] == "m" else None


def is_pose(channel: Channel) -> bool:
    return planar(channel) is not None and channel.name.rsplit("/", 1)[-1] in ("pose", "position")


def headings(channel: Channel, values: np.ndarray) -> np.ndarray | None:
    """Heading in the plane at every sample: its own component, or the yaw of a quaternion (w, x, y, z)."""
    names = list(channel.components)
    if "heading" in names:
        return values[:, names.index("heading")]
    for start in range(len(names) - 3):
        if [name[-1:] for name in names[start : start + 4]] == ["w", "x", "y", "z"]:
            w, x, y, z = values[:, start : start + 4].T
            return np.arctan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))
    return None


def thin(columns: np.ndarray, limit: int = MOST_POINTS) -> np.ndarray:
    """Indices of at most `limit` samples of `columns` (k) or (k, c) that draw the same picture.

    The samples are cut into equal buckets. Of each bucket the smallest and the largest value of every column stay,
    so that no peak is lost, and one that is not finite, so that gaps stay gaps; and the first and last sample.
    """
    columns = columns[:, None] if columns.ndim == 1 else columns
    count, width = columns.shape
    if count <= limit:
        return np.arange(count)
    buckets = max(1, (limit - 2) // (2 * width + 1))
    size = -(-count // buckets)
    padded = np.concatenate([columns, np.repeat(columns[-1:], size * buckets - count, axis=0)])
    padded = padded.reshape(buckets, size, width)
    finite = np.isfinite(padded)
    low = np.where(finite, padded, np.inf).argmin(axis=1)
    high = np.where(finite, padded, -np.inf).argmax(axis=1)
    gap = finite.all(axis=2).argmin(axis=1)
    inside = np.column_stack([low, high, gap]) + size * np.arange(buckets)[:, None]
    return np.unique(np.concatenate([[0, count - 1], np.minimum(inside.ravel(), count - 1)]))
