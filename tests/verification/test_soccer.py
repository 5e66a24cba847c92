"""`botz verify soccer`, and what it judges with."""

from __future__ import annotations

import numpy as np
import pytest
from verified_family import FamilyTests

from botz.verify.soccer.overlaps import Walls, ball_overlap, square_overlap, vertices


class TestSoccer(FamilyTests):
    family = "soccer"


# --- the judge of overlaps, by cases that are plain to see ------------------------------------------------------------

WALLS = Walls(end=0.75, side=0.65, post=0.2, back=0.85, corner=1.33)


def square(x: float, y: float, heading: float = 0.0) -> np.ndarray:
    return vertices(np.array([[x, y, heading]]), 0.1)


@pytest.mark.parametrize(
    ("other", "overlap"),
    [
        (square(0.09, 0.0), 0.01),
        (square(0.11, 0.0), -0.01),
        (square(0.09, 0.095), 0.005),
        (square(0.05 + 0.05 * np.sqrt(2.0) - 0.01, 0.0, np.pi / 4), 0.01),
        (square(0.0, 0.0), 0.1),
    ],
)
def test_overlap_of_squares(other, overlap):
    assert square_overlap(square(0.0, 0.0), other)[0] == pytest.approx(overlap, abs=1e-12)
    assert square_overlap(other, square(0.0, 0.0))[0] == pytest.approx(overlap, abs=1e-12)


@pytest.mark.parametrize(
    ("place", "overlap"),
    [((0.065, 0.0), 0.005), ((0.08, 0.0), -0.01), ((0.06, 0.06), 0.02 - 0.01 * np.sqrt(2.0)), ((0.0, 0.0), 0.07)],
)
def test_overlap_of_ball_and_square(place, overlap):
    found = ball_overlap(square(0.0, 0.0), np.array([place]), 0.02)
    assert found[0] == pytest.approx(overlap, abs=1e-12)


@pytest.mark.parametrize(
    ("pose", "overlap"),
    [
        ((0.0, 0.61), 0.01),
        ((0.0, 0.5), -0.1),
        ((0.71, 0.4), 0.01),
        ((-0.71, -0.4), 0.01),
        ((0.79, 0.0), -0.01),
        ((0.81, 0.0), 0.01),
        ((0.79, 0.16), 0.01),
        ((0.66, 0.58), (0.76 + 0.58 - 1.33 + 0.0) / np.sqrt(2.0)),
    ],
)
def test_overlap_of_square_and_walls(pose, overlap):
    assert WALLS.square_overlap(square(*pose))[0] == pytest.approx(overlap, abs=1e-12)


@pytest.mark.parametrize(
    ("place", "overlap"),
    [((0.0, 0.64), 0.01), ((0.74, 0.3), 0.01), ((0.74, 0.19), 0.02 - 0.01 * np.sqrt(2.0)), ((0.84, 0.0), 0.01),
     ((0.8, 0.19), 0.01), ((0.0, 0.0), -0.63), ((0.8, 0.3), 0.07)],
)  # fmt: skip
def test_overlap_of_ball_and_walls(place, overlap):
    assert WALLS.ball_overlap(np.array([place]), 0.02)[0] == pytest.approx(overlap, abs=1e-12)
