"""Where a camera stands and looks while robots move: the same views as in the lab, for images without a browser."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import cos, exp, pi, sin
from typing import Any

import numpy as np

from botz.errors import ArgumentProblem, InputError
from botz.scenario.names import closest
from botz.scene.world_scene import Actor, Scene, compose, rotated

NAMES = ("orbit", "chase", "board", "above", "fixed", "follow")
UP = np.array([0.0, 0.0, 1.0])
VERTICAL_VIEW = 45.0 * pi / 180.0
LAG = 0.35
"""Time constant with which a chasing camera comes round [s]."""


@dataclass(frozen=True)
class View:
    """What a camera sees at one moment."""

    eye: np.ndarray
    target: np.ndarray
    up: np.ndarray
    vertical_view: float = VERTICAL_VIEW


class CameraPath:
    """One camera along a run. Ask for its views in the order of time: a chasing camera comes round smoothly.

    `camera` is a name, or tells of an eye that goes along with its robot as a free one does in the lab: `eye` and
    `target`, seen from the robot's place in the world's axes, and perhaps `vertical_view`.
    """

    def __init__(self, scene: Scene, camera: str | Mapping[str, Any] = "chase", target: str | None = None):
        own = {one.name: one for one in scene.cameras}
        name = camera if isinstance(camera, str) else "orbit"
        known = [*NAMES, *own]
        if name not in known:
            raise InputError(ArgumentProblem(f"unknown camera {name!r}{closest(name, known)}", key="camera"))
        self._scene = scene
        self._name = name
        self._actor = chosen_actor(scene, target)
        self._own = own.get(name) if isinstance(camera, str) else None
        self._along = None if isinstance(camera, str) else offset_view(camera)
        if self._along is not None and self._actor is None:
            raise InputError(ArgumentProblem("there is no robot to go along with", key="camera"))
        self._heading: float | None = None
        self._time = 0.0
        self._still: View | None = None

    def view(self, time: float, poses: Mapping[str, np.ndarray]) -> View:
        if self._own is not None:
            return self._carried(poses)
        at = poses.get(self._actor.node) if self._actor is not None else None
        centre, radius = np.array(self._scene.centre), self._scene.radius
        if at is None or self._actor is None:
            return self._standing(centre, radius)
        place, size = at[:3], self._actor.size
        if self._along is not None:
            along = self._along
            return View(place + along.eye, place + along.target, along.up, along.vertical_view)
        match self._name:
            case "chase":
                return self._chasing(time, at, size)
            case "board":
                up = np.array(rotated(at, 0.0, 0.0, 1.0))
                eye = place + np.array(rotated(at, 0.25 * size, 0.0, 0.75 * size))
                return View(eye, eye + np.array(rotated(at, 1.0, 0.0, -0.12)), up, 1.2)
            case "above":
                return View(place + np.array([0.0, 0.0, 7.0 * size]), place, np.array([0.0, 1.0, 0.0]))
            case "follow":
                still = self._standing(centre, radius)
                return View(still.eye, place, UP)
            case "orbit":
                first = self._still or self._standing(place, 4.0 * size)
                self._still = first
                return View(first.eye - first.target + place, place, UP)
        return self._standing(centre, radius)

    def _standing(self, centre: np.ndarray, radius: float) -> View:
        """A view of a whole ball, from ahead at the right and above."""
        away = radius / sin(0.5 * VERTICAL_VIEW)
        return View(centre + away * np.array([-0.62, -0.62, 0.48]), centre, UP)

    def _chasing(self, time: float, at: np.ndarray, size: float) -> View:
        ahead = rotated(at, 1.0, 0.0, 0.0)
        heading = float(np.arctan2(ahead[1], ahead[0]))
        if self._heading is None or time < self._time:
            self._heading = heading
        else:
            turn = (heading - self._heading + pi) % (2.0 * pi) - pi
            self._heading += turn * (1.0 - exp(-(time - self._time) / LAG))
        self._time = time
        back = np.array([cos(self._heading), sin(self._heading), 0.0])
        eye = at[:3] - 4.2 * size * back + np.array([0.0, 0.0, 1.9 * size])
        return View(eye, at[:3] + 0.6 * size * back, UP)

    def _carried(self, poses: Mapping[str, np.ndarray]) -> View:
        camera = self._own
        assert camera is not None
        pose = np.asarray(camera.place, dtype=float)
        if camera.node is not None and camera.node in poses:
            pose = compose(poses[camera.node], pose)
        ahead, up = np.array(rotated(pose, 0.0, 0.0, -1.0)), np.array(rotated(pose, 0.0, 1.0, 0.0))
        return View(pose[:3], pose[:3] + ahead, up, camera.vertical_view)


def offset_view(camera: Mapping[str, Any]) -> View:
    eye, target = (np.asarray(camera[key], dtype=float) for key in ("eye", "target"))
    return View(eye, target, UP, float(camera.get("vertical_view", VERTICAL_VIEW)))


def chosen_actor(scene: Scene, target: str | None) -> Actor | None:
    names = [actor.name for actor in scene.actors]
    if target is not None and target not in names:
        raise InputError(ArgumentProblem(f"no robot {target!r}{closest(target, names)}", key="target"))
    return next((actor for actor in scene.actors if target in (None, actor.name)), None)
