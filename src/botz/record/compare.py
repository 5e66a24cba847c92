"""How far runs lie apart: recordings over time, or a recording against a plain path."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from botz.channels import Channel
from botz.errors import InputError, Problem
from botz.record.mcap_file import MAGIC
from botz.record.reader import Recording, read
from botz.record.streams import component_units
from botz.record.trajectory import Trajectory, distance_to_path, load_trajectory
from botz.record.writer import RECORDING
from botz.scenario.names import closest

ANGLES = {"heading", "yaw", "roll", "pitch"}
"""Components that turn back to where they began after a full circle."""

Track = Recording | Trajectory


@dataclass(frozen=True)
class ErrorSeries:
    """One error with one unit, sample by sample.

    >>> other = botz.simulate(scenario.with_({"robots.rover.pose": [0, -1.5, 0]}))
    >>> distance = botz.compare(rec, [other]).differences[0].errors[0]
    >>> distance.label, distance.unit, round(distance.max, 3)
    ('distance', 'm', 0.5)
    """

    label: str
    """`distance`, `heading`, `rotation`, or a component's name."""
    unit: str
    """Unit of the values."""
    values: np.ndarray
    """(k), not negative."""
    rms: float
    """Root mean square of the values."""
    max: float
    """Largest of the values."""
    worst: int
    """Sample where it is largest."""


@dataclass(frozen=True)
class Difference:
    """One run against the reference.

    >>> other = botz.simulate(scenario.with_({"robots.rover.pose": [0, -1.5, 0]}))
    >>> difference = botz.compare(rec, [other]).differences[0]
    >>> [error.label for error in difference.errors], difference.by_time
    (['distance', 'heading'], True)
    """

    name: str
    """What the other run is called: its folder, its file or its scenario."""
    channel: str
    """The other run's channel; empty for a plain path."""
    by_time: bool
    """Compared at equal times; else each sample with the nearest place of the path."""
    time: np.ndarray | None
    """Times of the samples [s]; None between two plain paths."""
    errors: tuple[ErrorSeries, ...]
    """The first is the position's, where there is one."""
    points: np.ndarray
    """The other run's positions (m, d), for drawing; all components where it has no position."""

    @property
    def rms(self) -> float:
        """Root mean square of the first error, in its unit."""
        return self.errors[0].rms

    @property
    def max(self) -> float:
        """Largest value of the first error, in its unit."""
        return self.errors[0].max


@dataclass(frozen=True)
class Comparison:
    """What `compare` returns: the reference, and one `Difference` for each other run.

    >>> comparison = botz.compare(rec, [rec])
    >>> comparison.channel, comparison.unit, len(comparison.differences)
    ('rover/pose', 'm, m, rad', 1)
    """

    reference: str
    """What the reference is called."""
    channel: str
    """The reference's channel; empty where all are plain paths."""
    unit: str
    """Unit of that channel."""
    points: np.ndarray
    """The reference's positions (m, d)."""
    differences: tuple[Difference, ...]
    """One for each other run, in order."""


def open_track(path: str | Path) -> Track:
    """What `compare` takes: a recording (file or folder), or a path from a text file with columns X Y or X Y Z [m].
    Raises InputError for what is neither.

    >>> from botz.record.compare import open_track
    >>> np.savetxt("line.txt", [[0.0, -1.0], [1.0, -1.0]])
    >>> open_track("line.txt").points.shape
    (2, 2)
    """
    path = Path(path)
    if path.is_file():
        with path.open("rb") as file:
            if file.read(len(MAGIC)) != MAGIC:
                return load_trajectory(path)
    return read(path)


def compare(reference: Track, others: Sequence[Track], channel: str | None = None) -> Comparison:
    """Error of each of `others` against `reference`.

    `channel` names what is compared; without it, the pose of the reference's robot. In another recording it may belong
    to a robot of another name. Two recordings are compared at the reference's times where both were running; with a
    plain path on either side, each sample is measured to the nearest place of the path. Raises InputError where nothing
    can be compared.

    >>> other = botz.simulate(scenario.with_({"robots.rover.pose": [0, -1.5, 0]}))
    >>> round(botz.compare(rec, [other]).differences[0].rms, 3)
    0.5
    """
    recordings = [track for track in (reference, *others) if isinstance(track, Recording)]
    name = channel or (_default_channel(recordings[0]) if recordings else "")
    main = _channel_of(reference, name) if isinstance(reference, Recording) else None
    differences = []
    for other in others:
        own = _channel_of(other, name) if isinstance(other, Recording) else None
        if isinstance(reference, Recording) and isinstance(other, Recording) and main and own:
            differences.append(_over_time(reference, main, other, own))
        else:
            differences.append(_along_path(reference, main, other, own))
    unit = main.unit if main else "m"
    return Comparison(_label(reference), name, unit, _points(reference, main), tuple(differences))


def _label(track: Track) -> str:
    if isinstance(track, Trajectory):
        return track.name
    if track.file is None:
        return track.header.scenario_name
    return track.file.parent.name if track.file.name == RECORDING else track.file.name


def _default_channel(recording: Recording) -> str:
    tools = [channel.name for channel in recording.channels if channel.local_name == "tool/pose"]
    poses = tools or [channel.name for channel in recording.channels if channel.local_name == "pose"]
    if len(poses) == 1:
        return poses[0]
    wanted = "several robots" if poses else "no pose in the recording"
    message = f"{wanted}: name the channel to compare{closest('', poses or recording.channels.slices)}"
    raise InputError(Problem(message, file=recording.file))


def _channel_of(recording: Recording, name: str) -> Channel:
    if name in recording:
        return recording.channels[name]
    same = [channel for channel in recording.channels if channel.local_name == name.split("/", 1)[-1]]
    if len(same) == 1:
        return same[0]
    raise InputError(
        Problem(f"unknown channel {name!r}{closest(name, recording.channels.slices)}", file=recording.file)
    )


# --- at equal times -----------------------------------------------------------------------------------


def _over_time(reference: Recording, main: Channel, other: Recording, own: Channel) -> Difference:
    if main.components != own.components:
        message = f"{own.name!r} ({', '.join(own.components)}) is not comparable to {main.name!r} of the reference"
        raise InputError(Problem(f"{message} ({', '.join(main.components)})", file=other.file))
    times, other_times = reference.time(main.name), other.time(own.name)
    if not len(times) or not len(other_times):
        raise InputError(Problem("holds no samples to compare", file=(other if len(times) else reference).file))
    inside = (times >= other_times[0]) & (times <= other_times[-1])
    if not inside.any():
        raise InputError(Problem("has no time in common with the reference", file=other.file))
    times = times[inside]
    ours = _columns(reference, main)[inside]
    theirs = _columns(other, own)
    errors = []
    for group in _groups(main):
        a, b = ours[:, group.columns], theirs[:, group.columns]
        if group.kind == "angle":
            b = np.unwrap(b, axis=0)
        elif group.kind == "rotation":
            b = _aligned(b)
        b = np.column_stack([np.interp(times, other_times, column) for column in b.T])
        errors.append(_series(group, _error(group.kind, a, b)))
    return Difference(_label(other), own.name, True, times, tuple(errors), _points(other, own))


@dataclass(frozen=True)
class _Group:
    """Components that make one error together."""

    label: str
    unit: str
    kind: str
    """length, angle or rotation."""
    columns: list[int]


def _groups(channel: Channel) -> list[_Group]:
    units = component_units(channel)
    names = channel.components or (channel.local_name,)
    rotation = _rotation(names, units)
    position = _position(channel)
    groups = [_Group("distance", units[position[0]], "length", position)] if position else []
    for column, (name, unit) in enumerate(zip(names, units, strict=True)):
        if column in position or column in rotation:
            continue
        kind = "angle" if unit == "rad" and name in ANGLES else "length"
        groups.append(_Group(name, unit, kind, [column]))
    if rotation:
        groups.append(_Group("rotation", "rad", "rotation", rotation))
    return groups


def _position(channel: Channel) -> list[int]:
    """Columns of x, y and z with the unit of a length, where the channel has them."""
    units = component_units(channel)
    found = [channel.components.index(axis) for axis in ("x", "y", "z") if axis in channel.components]
    return found if len(found) > 1 and {units[column] for column in found} == {"m"} else []


def _rotation(names: Sequence[str], units: Sequence[str]) -> list[int]:
    """Columns of a quaternion: four neighbours without unit whose names end with w, x, y, z."""
    for start in range(len(names) - 3):
        part = slice(start, start + 4)
        if [name[-1:] for name in names[part]] == ["w", "x", "y", "z"] and set(units[part]) == {"1"}:
            return list(range(start, start + 4))
    return []


def _aligned(quats: np.ndarray) -> np.ndarray:
    """The same rotations with signs that follow each other, so that they can be interpolated."""
    flips = np.where((quats[1:] * quats[:-1]).sum(axis=1) < 0.0, -1.0, 1.0)
    return quats * np.concatenate([[1.0], np.cumprod(flips)])[:, None]


def _error(kind: str, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    match kind:
        case "angle":
            return np.abs(np.remainder(b - a + np.pi, 2.0 * np.pi) - np.pi)[:, 0]
        case "rotation":
            # Angle between unit quaternions; atan2 stays exact for small ones, where acos does not.
            a = a / np.linalg.norm(a, axis=1, keepdims=True)
            b = b / np.linalg.norm(b, axis=1, keepdims=True)
            apart, together = np.linalg.norm(a - b, axis=1), np.linalg.norm(a + b, axis=1)
            return 4.0 * np.arctan2(np.minimum(apart, together), np.maximum(apart, together))
        case _:
            return np.sqrt(((b - a) ** 2).sum(axis=1))


def _series(group: _Group, values: np.ndarray) -> ErrorSeries:
    worst = int(np.argmax(values))
    rms = float(np.sqrt(np.mean(values**2)))
    return ErrorSeries(group.label, group.unit, values, rms, float(values[worst]), worst)


# --- against a plain path -----------------------------------------------------------------------------


def _along_path(reference: Track, main: Channel | None, other: Track, own: Channel | None) -> Difference:
    """The samples of the recording against the plain path, whichever is the reference."""
    a, b = _points(reference, main, needed=True), _points(other, own, needed=True)
    depth = min(a.shape[1], b.shape[1])
    recording, channel = (reference, main) if isinstance(reference, Recording) else (other, own)
    samples, path = (a, b) if isinstance(reference, Recording) else (b, a)
    if not len(samples) or not len(path):
        raise InputError(Problem(f"{_label(other)}: no samples to compare with {_label(reference)}"))
    times = recording.time(channel.name) if isinstance(recording, Recording) and channel else None
    group = _Group("distance", "m", "length", [])
    errors = _series(group, distance_to_path(samples[:, :depth], path[:, :depth]))
    return Difference(_label(other), own.name if own else "", False, times, (errors,), b)


def _columns(recording: Recording, channel: Channel) -> np.ndarray:
    values = recording[channel.name]
    return values if values.ndim == 2 else values[:, None]


def _points(track: Track, channel: Channel | None, *, needed: bool = False) -> np.ndarray:
    if isinstance(track, Trajectory) or channel is None:
        return track.points if isinstance(track, Trajectory) else np.zeros((0, 2))
    position = _position(channel)
    if needed and not position:
        message = f"{channel.name!r} has no x and y to compare with a path"
        raise InputError(Problem(message, file=track.file if isinstance(track, Recording) else None))
    return _columns(track, channel)[:, position] if position else _columns(track, channel)
