"""Local poses of nodes over time, all times at once: what an animation is made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from botz.scene.world_scene import Follows, Node, Slides, Turns

LARGEST_TURN = 2.0
"""Between two keys; a viewer takes the short way from one to the next [rad]."""
MOST_BETWEEN = 64
"""Parts that the time between two given times is cut into at most."""


@dataclass(frozen=True, eq=False)
class Track:
    """A node's pose in the node above it, at rising times [s]; and when it is seen."""

    times: np.ndarray
    poses: np.ndarray
    """(n, 7): position, quat_wxyz, each quaternion on the side of the one before."""
    shown_times: np.ndarray
    shown: np.ndarray | None = None
    """Whether the node is seen, at `shown_times`; None: always."""


def tracks_of(node: Node, times: np.ndarray, values: Mapping[str, np.ndarray]) -> Track:
    """The track of a node from rows of channels at `times`; as in `node_poses`, a missing channel moves nothing."""
    shown = None if node.shown_by is None else values.get(node.shown_by)
    seen = None if shown is None else np.reshape(shown, (len(times), -1))[:, 0] >= 0.5
    given = None if node.motion is None else values.get(node.motion.channel)
    if given is None:
        return Track(times[:1], np.array([node.place], dtype=float), times, seen)
    rows = np.reshape(np.asarray(given, dtype=float), (len(times), -1))
    place = np.array(node.place, dtype=float)
    keys = times
    match node.motion:
        case Follows():
            poses = composed(poses_of(rows), place)
        case Turns(_, axis, component, scale, offset):
            keys, angle = _refined(times, scale * rows[:, component] + offset)
            turn = np.zeros((len(keys), 7))
            turn[:, 3] = np.cos(angle / 2)
            turn[:, 4:] = np.sin(angle / 2)[:, None] * np.array(axis)
            poses = composed(place, turn)
        case Slides(_, axis, component, scale, offset):
            shift = np.zeros((len(times), 7))
            shift[:, 3] = 1.0
            shift[:, :3] = (scale * rows[:, component] + offset)[:, None] * np.array(axis)
            poses = composed(place, shift)
    poses[:, 3:] /= np.linalg.norm(poses[:, 3:], axis=1, keepdims=True)
    against = np.einsum("ij,ij->i", poses[1:, 3:], poses[:-1, 3:]) < 0.0
    poses[1:, 3:] *= np.where(np.cumsum(against) % 2 == 1, -1.0, 1.0)[:, None]
    return Track(keys, poses, times, seen)


def _refined(times: np.ndarray, angle: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """More keys where it turns far from one time to the next."""
    parts = np.clip(np.ceil(np.abs(np.diff(angle)) / LARGEST_TURN), 1, MOST_BETWEEN).astype(int)
    if not (parts > 1).any():
        return times, angle
    start = np.repeat(np.arange(len(parts)), parts)
    share = (np.arange(len(start)) - np.repeat(np.cumsum(parts) - parts, parts)) / np.repeat(parts, parts)
    keys = np.append(times[start] + share * np.diff(times)[start], times[-1])
    finer = np.append(angle[start] + share * np.diff(angle)[start], angle[-1])
    # A file holds times in single precision, and there too they must rise.
    rising = np.append(True, np.diff(keys.astype(np.float32)) > 0.0)
    return keys[rising], finer[rising]


def poses_of(rows: np.ndarray) -> np.ndarray:
    """Rows of a pose channel, of 3 or 7 numbers, as (n, 7)."""
    if rows.shape[1] != 3:
        return rows
    found = np.zeros((len(rows), 7))
    found[:, :2] = rows[:, :2]
    found[:, 3], found[:, 6] = np.cos(rows[:, 2] / 2), np.sin(rows[:, 2] / 2)
    return found


def composed(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Poses b in frames a, row by row; either may be one for all."""
    a, b = np.broadcast_arrays(np.atleast_2d(a), np.atleast_2d(b))
    w1, v1, w2, v2 = a[:, 3:4], a[:, 4:], b[:, 3:4], b[:, 4:]
    across = 2.0 * np.cross(v1, b[:, :3])
    found = np.empty(a.shape)
    found[:, :3] = a[:, :3] + b[:, :3] + w1 * across + np.cross(v1, across)
    found[:, 3:4] = w1 * w2 - np.einsum("ij,ij->i", v1, v2)[:, None]
    found[:, 4:] = w1 * v2 + w2 * v1 + np.cross(v1, v2)
    return found
