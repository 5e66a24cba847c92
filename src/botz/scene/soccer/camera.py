"""The camera above a soccer match: from where robots and ball are to an image, and to what differs from the empty
field."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil, cos, pi, sin
from statistics import NormalDist
from typing import Any

import numpy as np

from botz.physics.soccer.camera_image import (
    FIRST,
    FLANK,
    FRONT,
    LENS,
    PARTS,
    SECOND,
    SHAPE,
    TEAM,
    TOP,
    changed_spans,
    draw_bodies,
)
from botz.physics.soccer.image_noise import GAIN_ONE, LEVELS, WEIGHT_ONE, blur_box, brighten_and_add_noise
from botz.scenario.soccer.links import Camera
from botz.scene.lens import Lens
from botz.scene.soccer.field_image import empty_field

Colour = tuple[int, int, int]
TEAM_COLOURS: dict[str, Colour] = {"blue": (24, 84, 255), "yellow": (255, 226, 0)}
CODE_COLOURS: dict[str, Colour] = {
    "red": (226, 16, 30),
    "green": (20, 186, 50),
    "magenta": (236, 30, 210),
    "cyan": (0, 214, 226),
}
BALL_COLOUR: Colour = (255, 122, 0)
ROBOT_TOP, ROBOT_FRONT, ROBOT_FLANK = (14, 14, 15), (30, 30, 31), (23, 23, 24)
CODES = len(CODE_COLOURS) ** 2
"""Robots of a team that can be told apart; later ones wear the colours of earlier ones."""
GAP = 4
"""Equal pixels that a span runs over: as many bytes as a span of its own would cost twice."""
SPANS_PER_ROW = 24
"""Where there are more, on average, the whole image is as cheap."""


@dataclass(frozen=True)
class PaintedRobot:
    """A robot and how it looks: the team's patch on its front half, those of its number on its rear half."""

    name: str
    team: str
    id: int
    side: float
    """Edge of the cube [m]; its top is that high."""
    code: tuple[str, str]
    """Colours of the patches on the left and on the right."""

    @classmethod
    def of(cls, name: str, about: Mapping[str, Any]) -> PaintedRobot:
        names, number = list(CODE_COLOURS), int(about["id"]) % CODES
        code = (names[number % len(names)], names[number // len(names)])
        return cls(name, str(about["team"]), int(about["id"]), float(about["side"]), code)

    def palette(self) -> np.ndarray:
        colours = np.empty((PARTS, 3), dtype=np.int64)
        colours[TOP], colours[FRONT], colours[FLANK] = ROBOT_TOP, ROBOT_FRONT, ROBOT_FLANK
        colours[TEAM] = TEAM_COLOURS[self.team]
        colours[FIRST], colours[SECOND] = (CODE_COLOURS[colour] for colour in self.code)
        return colours


class SoccerCamera:
    """Draws a match. `about` is what the engine says of its world: field, ball and robots.

    >>> camera = SoccerCamera(spec.links.camera, run.about, seed=spec.seed)
    >>> image = camera.draw(poses, ball, number=7, time=0.21)
    >>> u, v = camera.lens.pixel(0.5, 0.0, height=0.0)
    """

    def __init__(self, camera: Camera, about: Mapping[str, Any], *, seed: int = 0):
        self.settings = camera
        self.seed = seed
        self.lens = Lens.of(camera)
        self.robots = [PaintedRobot.of(name, robot) for name, robot in about["robots"].items()]
        self.ball_radius = float(about["ball"]["radius"])
        self.field = {str(name): float(size) for name, size in about["field"].items()}
        rows, width, count = self.lens.rows, self.lens.width, len(self.robots)
        self._lens = lens_record(self.lens)
        gx, gy = self.lens.ground(np.arange(width + 1)[None, :] - 0.5, np.arange(rows + 1)[:, None] - 0.5)
        self._rays = np.stack([gx, gy], axis=-1).astype(np.float32)
        self._palette = np.array([robot.palette() for robot in self.robots]).reshape(count, PARTS, 3)
        self._ball_colour = np.array(BALL_COLOUR, dtype=np.float64)
        self._robots = np.full((count, 4), np.nan)
        self._robots[:, 3] = [robot.side for robot in self.robots]
        self._ball = np.array([np.nan, np.nan, self.ball_radius])
        self._shapes = np.zeros((count + 1, SHAPE))
        self._near = np.zeros((2, count + 1), dtype=np.int64)
        self._boxes = np.zeros((count + 1, 4), dtype=np.int64)
        self._searched = self._boxes
        self._sharp_empty = empty_field(self.lens, about["field"], self._rays)
        self._sharp = self._sharp_empty.copy()
        self._blur = _Blur(camera.blur, width) if camera.blur > 0 else None
        self._empty = self._blur.whole(self._sharp_empty) if self._blur else self._sharp_empty
        self._blurred = self._empty.copy() if self._blur else self._sharp
        self._noisy = np.empty_like(self._empty) if camera.noise > 0 or camera.drift > 0 else None
        self._noise = noise_levels(camera.noise)
        self._phases = np.random.default_rng([seed, 0xD21F7]).uniform(0.0, 2.0 * pi, 3)
        self._spans = np.empty((SPANS_PER_ROW * rows, 3), dtype=np.uint16)
        self._pixels = np.empty((rows * width // 2, 3), dtype=np.uint8)
        self.image = self._empty.copy()
        """The latest image; `draw` writes over it."""

    def empty(self) -> np.ndarray:
        """The field before the match, without noise and drift."""
        return self._empty.copy()

    def draw(self, poses: np.ndarray, ball: np.ndarray, *, number: int = 0, time: float = 0.0) -> np.ndarray:
        """The image of frame `number` at `time` [s], which holds until the next call.

        poses (robots, 3): x, y, heading, by the order of `robots`; ball (2,): x, y. NaN for what is not there.
        """
        self._robots[:, :3] = poses
        self._ball[:2] = ball
        before = self._boxes.copy() if self._blur else self._boxes
        draw_bodies(
            self._lens, self._rays, self._sharp_empty, self._palette, self._ball_colour, self._robots, self._ball,
            self._shapes, self._near, self._boxes, self._sharp,
        )  # fmt: skip
        self._searched = self._boxes
        if self._blur:
            self._blur.boxes(self._sharp, before, self._blurred)
            self._searched = self._blur.boxes(self._sharp, self._boxes, self._blurred)
        self.image = self._blurred
        if self._noisy is not None:
            self._add_noise(self._blurred, number, time, self._noisy)
            self.image = self._noisy
            self._searched = np.array([[0, self.lens.rows, 0, self.lens.width]], dtype=np.int64)
        return self.image

    def changes(self) -> tuple[np.ndarray, np.ndarray] | None:
        """Spans (row, first column, length) of the latest image that differ from the empty field, and their pixels
        (count, 3); None where so much differs that the whole image is as short. Hold until the next `draw`."""
        if self.settings.noise > 0:
            return None
        order = np.argsort(self._searched[:, 2], kind="stable")
        count, total = changed_spans(self.image, self._empty, self._searched[order], GAP, self._spans, self._pixels)
        return None if count < 0 else (self._spans[:count], self._pixels[:total])

    def gain(self, time: float) -> float:
        """Brightness at a time: a sum of slow waves that never leaves 1 ± drift."""
        turns = 2.0 * pi * self.settings.drift_rate * time
        waves = (0.5 * sin(turns + self._phases[0]), 0.3 * sin(0.618 * turns + self._phases[1]))
        return 1.0 + self.settings.drift * (sum(waves) + 0.2 * sin(0.271 * turns + self._phases[2]))

    def _add_noise(self, source: np.ndarray, number: int, time: float, image: np.ndarray) -> None:
        gain = round(GAIN_ONE * self.gain(time))
        key, other = np.random.SeedSequence([self.seed, number & 0xFFFFFFFFFFFFFFFF]).generate_state(2)
        brighten_and_add_noise(source, gain, self._noise, int(key), int(other), image)

    def look(self) -> dict[str, Any]:
        """What a vision program needs to know, as plain data."""
        robots = [
            {"name": robot.name, "team": robot.team, "id": robot.id, "side": robot.side, "code": list(robot.code)}
            for robot in self.robots
        ]
        colours = {**TEAM_COLOURS, **CODE_COLOURS, "orange": BALL_COLOUR}
        return {
            "lens": self.lens.data(),
            "field": self.field,
            "ball": {"radius": self.ball_radius, "colour": "orange"},
            "robots": robots,
            "colours": {name: list(colour) for name, colour in colours.items()},
        }


class _Blur:
    """A Gaussian blur of boxes, with room to work in."""

    def __init__(self, sigma: float, width: int):
        self.reach = ceil(3.0 * sigma)
        weights = np.exp(-0.5 * (np.arange(-self.reach, self.reach + 1) / sigma) ** 2)
        whole = np.floor(weights / weights.sum() * WEIGHT_ONE).astype(np.int64)
        whole[self.reach] += WEIGHT_ONE - whole.sum()
        self.weights = whole.astype(np.uint32)
        self._column, self._padded = (np.zeros(3 * (width + 2 * self.reach), dtype=np.uint32) for _ in range(2))

    def boxes(self, source: np.ndarray, boxes: np.ndarray, image: np.ndarray) -> np.ndarray:
        """Blur what these boxes reach; returns those larger boxes."""
        grown = boxes + self.reach * np.array([-1, 1, -1, 1])
        grown[:, :2] = grown[:, :2].clip(0, source.shape[0])
        grown[:, 2:] = grown[:, 2:].clip(0, source.shape[1])
        grown[(boxes[:, 0] >= boxes[:, 1]) | (boxes[:, 2] >= boxes[:, 3])] = 0
        for box in grown:
            blur_box(source, self.weights, box, self._column, self._padded, image)
        return grown

    def whole(self, source: np.ndarray) -> np.ndarray:
        image = np.empty_like(source)
        self.boxes(source, np.array([[0, source.shape[0], 0, source.shape[1]]], dtype=np.int64), image)
        return image


def lens_record(lens: Lens) -> np.record:
    """For compiled code."""
    u0, v0 = lens.middle
    numbers = np.zeros(1, dtype=LENS)
    numbers[0] = (
        lens.x, lens.y, lens.height, cos(lens.turn), sin(lens.turn), 0.5 * lens.view, 0.5 * lens.width, u0, v0,
        lens.distortion, lens.fold,
    )  # fmt: skip
    return numbers[0]


def noise_levels(sigma: float) -> np.ndarray:
    """Quantiles of a normal distribution, in sixteenths."""
    normal = NormalDist()
    return np.array([round(16.0 * sigma * normal.inv_cdf((k + 0.5) / LEVELS)) for k in range(LEVELS)], dtype=np.int64)
