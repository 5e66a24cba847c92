"""Scratch of one step of the engine `soccer`: never saved, never read before the step has written it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from botz.engines.soccer.model import Model
from botz.kernels import inlined, record, words
from botz.physics.soccer.impact import CONTACT, MOTION, Bodies

CONTACTS_PER_BODY = 16
MOST_RESTING = 64
"""Contacts that are worked out together."""

TRAVEL = record(**dict.fromkeys(words(
    "path_x path_y path_along start_x start_y start_heading start_cosine start_sine start_left start_right"
), np.float64))  # fmt: skip
"""Of a body: its smooth displacement, and the pose and wheels that it started from (the ball: x and y only)."""
COUNTS = record(contacts=np.int64, near=np.int64, overflow=np.int64)
"""Lengths of the lists, and whether one of them was too short."""
CHAIN = record(
    couplings=(np.float64, (MOST_RESTING, MOST_RESTING)),
    factors=(np.float64, (MOST_RESTING, MOST_RESTING)),
    **dict.fromkeys(words("speeds impulses pushing"), (np.float64, (MOST_RESTING,))),
    numbers=(np.int64, (MOST_RESTING,)),
)
"""Contacts that rest on each other: how each acts on the others and the factors of that, their speeds and impulses,
which of them push, and their numbers."""


class Work(NamedTuple):
    travel: np.ndarray
    motion: np.ndarray
    counts: np.ndarray
    """One COUNTS."""
    contacts: np.ndarray
    near: np.ndarray
    """Pairs of bodies that may touch in this step, (k, 2)."""
    cells: np.ndarray
    """First robot of each cell, then the next one of the same cell for each robot."""
    chain: np.ndarray
    """One CHAIN."""


def build_work(model: Model) -> Work:
    count, field = model.robots.size, model.field[0]
    return Work(
        np.zeros(count + 1, TRAVEL),
        np.zeros(count + 1, MOTION),
        np.zeros(1, COUNTS),
        np.zeros(CONTACTS_PER_BODY * (count + 1), CONTACT),
        np.zeros(((count + 1) * (count + 2), 2), np.int64),
        np.zeros(int(field.columns * field.rows) + count, np.int64),
        np.zeros(1, CHAIN),
    )


@inlined
def bodies_of(model, state, work):
    return Bodies(model.inertia, state.speeds, work.motion)
