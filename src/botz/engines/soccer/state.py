"""State of the engine `soccer`: where all bodies are and how fast, the score, and who is whose neighbour."""

from __future__ import annotations

from math import ceil
from typing import NamedTuple

import numpy as np

from botz.engines.soccer.model import Model, widest_search
from botz.kernels import record, words
from botz.physics.soccer.impact import SPEEDS

POSE = record(**dict.fromkeys(words("x y heading slide angle_left angle_right cosine sine playing"), np.float64))
"""Of a robot: its pose, the speed at which it slides aside, the wheels' angles, cos θ and sin θ of the pose, and
whether it is in play (1) or taken out."""
MATCH = record(
    **dict.fromkeys(words(
        "ball_x ball_y ball_heading score_blue score_yellow impacts in_goal placement motors friction lost placed "
        "drift tests"
    ), np.float64),
    neighbours=np.int64,
)  # fmt: skip
"""The ball, the score, the number of impacts and of the last replacement; where energy came from and went to; how far
robots may have moved since their neighbours were looked for, how many pairs were tested, and the length of the list."""


class State(NamedTuple):
    robots: np.ndarray
    speeds: np.ndarray
    """Of the robots along and about, then of the ball along x and y."""
    match: np.ndarray
    """One MATCH."""
    neighbours: np.ndarray
    """Pairs of robots by number (k, 2). Who they are changes nothing but the time that a step takes."""


def empty_state(model: Model) -> State:
    count = model.robots.size
    return State(
        np.zeros(count, POSE),
        np.zeros(count + 1, SPEEDS),
        np.zeros(1, MATCH),
        np.zeros((most_neighbours(model), 2), np.int16),
    )


def most_neighbours(model: Model) -> int:
    """As many pairs as robots can form that do not overlap: the discs inside them fill no more than the disc in which
    neighbours are looked for, at the widest."""
    field, count, smallest = model.field[0], model.robots.size, float(model.robots["half"].min())
    margin = max(float(field.margin), widest_search(float(field.feature)))
    around = ceil(((2.0 * float(model.robots["reach"].max()) + margin) / smallest + 1.0) ** 2)
    return max(count * min(count - 1, around) // 2, 1)


def start(model: Model, state: State, kicking: int, ball_velocity: list[float]) -> None:
    """Before the first step: one team's kick-off."""
    for part in state:
        part[...] = np.zeros(1, part.dtype)
    for own, place in zip(state.robots, model.places[kicking], strict=True):
        put(own, *place)
        own.playing = 1.0
    match, ball = state.match[0], state.speeds[-1]
    match.ball_x, match.ball_y = model.field[0].ball_x, model.field[0].ball_y
    ball.u0, ball.u1 = ball_velocity
    match.ball_heading = np.arctan2(ball.u1, ball.u0)
    match.drift = np.inf


def put(own: np.record, x: float, y: float, heading: float) -> None:
    """A robot at rest sideways, at a pose."""
    own.x, own.y, own.heading = x, y, heading
    own.cosine, own.sine = np.cos(heading), np.sin(heading)
    own.slide = 0.0
