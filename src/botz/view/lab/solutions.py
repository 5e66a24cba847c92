"""What an arm could do instead: other joint positions with the same pose of the tool, and the points it can reach."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Any

import numpy as np

from botz.registry import imported
from botz.scenario.families import FAMILIES
from botz.scenario.names import closest
from botz.view.lab.sentences import LabError, Sentence

MOST_SOLUTIONS = 16
SAME = 1e-3
"""Joint positions nearer than this in every joint are the same one [rad, m]."""
POINTS = 6000
MOST_ARMS = 8
"""Arms that are kept ready."""


class Arms:
    """Arms of scenarios, made when they are asked for. An arm works in arrays of its own, so one caller at a time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._made: OrderedDict[tuple[str, str], Any] = OrderedDict()

    def _arm(self, owner: str, spec: Any, robot: str) -> Any:
        model = FAMILIES[spec.engine].postures
        if model is None:
            raise LabError(Sentence("arm.none", robot=robot))
        if robot not in spec.robots:
            raise LabError(Sentence("none.robot", closest(robot, spec.robots), name=robot))
        key = (owner, robot)
        if key not in self._made:
            self._made[key] = imported(model)(spec.robots[robot])
            while len(self._made) > MOST_ARMS:
                self._made.popitem(last=False)
        self._made.move_to_end(key)
        return self._made[key]

    def solutions(self, owner: str, spec: Any, robot: str, joints: Any) -> list[list[float]]:
        """Other joint positions that hold the tool where `joints` hold it, the nearest first."""
        with self._lock:
            arm = self._arm(owner, spec, robot)
            present = np.asarray(joints, dtype=float)
            if present.shape != (arm.n,) or not np.isfinite(present).all():
                raise LabError(Sentence("arm.joints", robot=robot, count=arm.n))
            found = np.atleast_2d(np.asarray(arm.inverse(arm.forward(present), present=present).joints, dtype=float))
            others = [q for q in found if q.shape == present.shape and np.abs(q - present).max() > SAME]
            return [[float(value) for value in q] for q in others[:MOST_SOLUTIONS]]

    def workspace(self, owner: str, spec: Any, robot: str) -> bytes:
        """Points that the tool reaches, float32 (n, 3) in the world, drawn evenly over the joints' ranges."""
        with self._lock:
            arm = self._arm(owner, spec, robot)
            lower = np.where(np.isfinite(arm.lower), arm.lower, -np.pi)
            upper = np.where(np.isfinite(arm.upper), arm.upper, np.pi)
            drawn = np.random.default_rng(0).uniform(lower, upper, (POINTS, arm.n))
            points: bytes = arm.forward(drawn)[:, :3, 3].astype("<f4").tobytes()
            return points
