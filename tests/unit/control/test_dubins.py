"""Shortest paths of bounded curvature."""

from __future__ import annotations

from itertools import pairwise
from math import hypot, pi

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from botz.control.planar import compose, on_arc, relative
from botz.control.wheeled.dubins import all_paths, shortest_path

coordinate = st.floats(-4, 4)
poses = st.tuples(coordinate, coordinate, st.floats(-pi, pi))
exponents = st.floats(-17, 0)
small = st.builds(lambda size, value: value * 10.0**size, exponents, st.floats(-1, 1))
pieces = st.tuples(st.sampled_from([-1.0, 0.0, 1.0]), st.just(0.0) | small.map(abs) | st.floats(0, 6))


@settings(max_examples=150, deadline=None)
@given(poses, poses, st.floats(0.2, 2))
def test_every_path_ends_at_the_goal(start, goal, radius):
    for path in all_paths(start, goal, radius):
        assert relative(path.at(path.length), goal) == pytest.approx((0, 0, 0), abs=1e-9)


@settings(max_examples=150, deadline=None)
@given(poses, st.tuples(small, small, small), st.floats(0.2, 2))
@example((1.0400355350877995e-08, 0.0, 0.0), (-1.0400355350877995e-08, 0.0, 5.960464477539063e-08), 0.25)
def test_a_goal_hardly_away_is_reached_all_the_same(start, offset, radius):
    """Just behind or beside the start, which takes a full turn: no path comes to rest where it stands."""
    goal = compose(start, offset)
    for path in all_paths(start, goal, radius):
        assert relative(path.at(path.length), goal) == pytest.approx((0, 0, 0), abs=1e-9)
        assert path.length >= hypot(goal[0] - start[0], goal[1] - start[1]) - 1e-9


@settings(max_examples=150, deadline=None)
@given(poses, st.lists(pieces, min_size=1, max_size=3))
def test_pieces_that_hardly_turn_do_not_become_full_turns(start, driven):
    """Rounding moves a goal by some 1e-15, and the tangents of circles that touch by the square root of that."""
    goal = start
    for curvature, length in driven:
        goal = on_arc(goal, curvature, length)
    assert shortest_path(start, goal, 1.0).length <= sum(length for _, length in driven) + 1e-6


@settings(max_examples=60, deadline=None)
@given(poses, poses, st.floats(0.2, 2))
def test_a_path_is_continuous_and_never_tighter_than_its_radius(start, goal, radius):
    path = shortest_path(start, goal, radius)
    step = max(path.length, 1e-6) / 300
    along = [path.at(k * step) for k in range(301)]
    for before, after in pairwise(along):
        dx, dy, turn = relative(before, after)
        assert hypot(dx, dy) <= step * (1 + 1e-9)
        assert abs(turn) <= step / radius * (1 + 1e-9) + 1e-12
    assert path.length >= hypot(goal[0] - start[0], goal[1] - start[1]) - 1e-9


@pytest.mark.parametrize(
    ("goal", "word", "length"),
    [
        ((5.0, 0.0, 0.0), "S", 5.0),
        ((0.0, 2.0, pi), "L", pi),
        ((0.0, -2.0, pi), "R", pi),
        ((1.0, 1.0, pi / 2), "L", pi / 2),
        ((4.0, 2.0, pi), "SL", 4 + pi),
        ((2.0, 2.0, 0.0), "LR", pi),
        # Turning round on the spot: centres of the outer circles 2√3 apart, arcs of 60°, 300° and 60°.
        ((0.0, 0.0, pi), "LRL", pi / 3 + 5 * pi / 3 + pi / 3),
    ],
)
def test_known_cases(goal, word, length):
    path = shortest_path((0.0, 0.0, 0.0), goal, 1.0)
    used = "".join(letter for letter, piece in zip(path.word, path.lengths, strict=True) if piece > 1e-9)
    assert path.length == pytest.approx(length, abs=1e-9)
    assert used in (word, word.translate(str.maketrans("LR", "RL")) if goal[:2] == (0.0, 0.0) else word)


def test_nothing_to_drive_where_it_stands_already():
    assert shortest_path((1.0, 2.0, 3.0), (1.0, 2.0, 3.0), 0.5).length == pytest.approx(0, abs=1e-9)


def test_no_other_path_of_arcs_and_lines_is_shorter():
    """Brute force: of many random paths of up to four pieces, none is shorter than the path found for the pose at
    its end."""
    rng = np.random.default_rng(3)
    for _ in range(2000):
        pose, length = (0.0, 0.0, 0.0), 0.0
        for curvature in rng.uniform(-1, 1, rng.integers(1, 5)):
            piece = float(rng.uniform(0, 2.5))
            curvature = float(np.sign(curvature)) if rng.random() < 0.7 else float(curvature)
            pose, length = on_arc(pose, curvature, piece), length + piece
        assert shortest_path((0.0, 0.0, 0.0), pose, 1.0).length <= length + 1e-7
