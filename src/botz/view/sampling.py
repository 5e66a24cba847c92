"""The channels of a recording at any moment, between its samples too."""

from __future__ import annotations

from collections.abc import Iterable
from math import acos, sin

import numpy as np

from botz.record.reader import Recording

STANDS_STILL = 0.9999999
"""Cosine of half an angle above which a turn is interpolated as a straight line."""


class Samples:
    """Some channels of a recording, read once. Numbers change linearly between samples, attitudes along the shortest
    turn; before the first sample and after the last they stand still."""

    def __init__(self, recording: Recording, channels: Iterable[str]):
        self._channels: dict[str, tuple[np.ndarray, np.ndarray, str]] = {}
        for name in channels:
            if name not in recording:
                continue
            times = recording.time(name)
            values = recording[name].reshape(len(times), -1)
            if len(times):
                self._channels[name] = (times, values, kind_of(recording.channels[name].components))

    def __contains__(self, name: object) -> bool:
        return name in self._channels

    def at(self, time: float) -> dict[str, np.ndarray]:
        return {name: self.value(name, time) for name in self._channels}

    def value(self, name: str, time: float) -> np.ndarray:
        times, values, kind = self._channels[name]
        after = int(np.searchsorted(times, time, side="right"))
        if after == 0:
            return values[0]
        if after == len(times):
            return values[-1]
        a, b = values[after - 1], values[after]
        share = (time - times[after - 1]) / (times[after] - times[after - 1])
        return between(a, b, float(share), kind)


def kind_of(components: tuple[str, ...]) -> str:
    if components[-4:] == ("qw", "qx", "qy", "qz"):
        return "pose"
    return "planar" if components == ("x", "y", "heading") else "numbers"


def between(a: np.ndarray, b: np.ndarray, share: float, kind: str) -> np.ndarray:
    """From a to b by a share."""
    result = a + share * (b - a)
    if kind == "planar":
        turn = (b[2] - a[2] + np.pi) % (2.0 * np.pi) - np.pi
        result[2] = a[2] + share * turn
    elif kind == "pose":
        result[-4:] = slerp(a[-4:], b[-4:], share)
    return result


def slerp(a: np.ndarray, b: np.ndarray, share: float) -> np.ndarray:
    """Attitude between two, along the shortest turn."""
    cosine = float(a @ b)
    if cosine < 0.0:
        b, cosine = -b, -cosine
    if cosine > STANDS_STILL:
        mixed = a + share * (b - a)
    else:
        angle = acos(cosine)
        mixed = (sin((1.0 - share) * angle) * a + sin(share * angle) * b) / sin(angle)
    return mixed / np.linalg.norm(mixed)
