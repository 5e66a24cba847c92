"""Where squares, a ball and walls touch, against the vertices in plain NumPy. Also runs with NUMBA_DISABLE_JIT=1."""

from __future__ import annotations

import numpy as np
import pytest

from botz.physics.soccer import square_contact as contact
from botz.verify.soccer.overlaps import Walls, ball_overlap, square_overlap, vertices

RNG = np.random.default_rng(5)


def turn(heading):
    return float(np.cos(heading)), float(np.sin(heading))


def pairs(count=200):
    """Two squares near each other: halves, headings and the way from the first to the second."""
    for _ in range(count):
        yield *RNG.uniform(0.02, 0.06, 2), *RNG.uniform(-np.pi, np.pi, 2), *RNG.uniform(-0.12, 0.12, 2)


def test_gap_of_squares_is_negative_exactly_where_they_overlap():
    for half1, half2, h1, h2, dx, dy in pairs():
        one = vertices(np.array([[0.0, 0.0, h1]]), 2 * half1)
        other = vertices(np.array([[dx, dy, h2]]), 2 * half2)
        gap = contact.square_gap(half1, *turn(h1), half2, *turn(h2), dx, dy)
        assert gap == pytest.approx(-square_overlap(one, other)[0], abs=1e-14)


def test_contacts_of_squares_lie_half_way_between_an_edge_and_the_others_face():
    touching = 0
    for half1, half2, h1, h2, dx, dy in pairs(400):
        gap = contact.square_gap(half1, *turn(h1), half2, *turn(h2), dx, dy)
        count, nx, ny, px, py, gap_p, qx, qy, gap_q = contact.square_square(half1, *turn(h1), half2, *turn(h2), dx, dy)
        assert count in (0, 2)
        assert np.hypot(nx, ny) == pytest.approx(1.0)
        if count == 0:
            continue
        touching += 1
        # The normal points to the first square, and no point is nearer than the squares are.
        assert nx * dx + ny * dy < 0.0
        assert min(gap_p, gap_q) >= gap - 1e-9
        corners = vertices(np.array([[0.0, 0.0, h1], [dx, dy, h2]]), np.array([2 * half1, 2 * half2]))
        for x, y, own in ((px, py, gap_p), (qx, qy, gap_q)):
            on_edge = [np.array([x + 0.5 * sign * own * nx, y + 0.5 * sign * own * ny]) for sign in (1.0, -1.0)]
            assert min(edge_distance(square, point) for square in corners for point in on_edge) < 2e-6
    assert touching > 200


def edge_distance(square, point):
    """From a point to the boundary of a square."""
    best = np.inf
    for k in range(4):
        p, along = square[k], square[(k + 1) % 4] - square[k]
        share = np.clip((point - p) @ along / (along @ along), 0.0, 1.0)
        best = min(best, float(np.linalg.norm(point - p - share * along)))
    return best


def test_frontal_squares_have_two_contacts_at_the_ends_of_the_common_edge():
    found = contact.square_square(0.05, 1.0, 0.0, 0.05, 1.0, 0.0, 0.11, 0.04)
    count, nx, ny, _, py, gap_p, _, qy, gap_q = found
    assert (count, nx, ny) == (2, -1.0, 0.0)
    assert sorted([py, qy]) == pytest.approx([-0.01, 0.05], abs=2e-6)
    assert (gap_p, gap_q) == pytest.approx((0.01, 0.01))


def test_ball_and_square_against_the_edges():
    for _ in range(300):
        half, heading = RNG.uniform(0.02, 0.06), RNG.uniform(-np.pi, np.pi)
        dx, dy = RNG.uniform(-0.12, 0.12, 2)
        nx, ny, px, py, gap = contact.ball_square(0.02, half, *turn(heading), dx, dy)
        square = vertices(np.array([[0.0, 0.0, heading]]), 2 * half)
        assert gap == pytest.approx(-ball_overlap(square, np.array([[dx, dy]]), 0.02)[0], abs=1e-14)
        assert np.hypot(nx, ny) == pytest.approx(1.0)
        if gap > -0.02:
            assert (px + (gap + 0.02) * nx, py + (gap + 0.02) * ny) == pytest.approx((dx, dy), abs=1e-14)


def test_a_ball_off_a_corner_is_pushed_along_the_line_to_it():
    nx, ny, px, py, gap = contact.ball_square(0.02, 0.05, 1.0, 0.0, 0.06, 0.07)
    assert (px, py) == (0.05, 0.05)
    assert (nx, ny) == pytest.approx((1 / np.sqrt(5), 2 / np.sqrt(5)))
    assert gap == pytest.approx(np.hypot(0.01, 0.02) - 0.02)


WALLS = Walls(end=0.75, side=50.0, post=0.2, back=60.0, corner=np.inf)
"""Only the walls beside the goals are near."""


def test_square_and_the_wall_beside_the_goal_against_polygons():
    faces = set()
    for _ in range(400):
        heading, half = RNG.uniform(-np.pi, np.pi), RNG.uniform(0.02, 0.06)
        x, y = 0.75 + RNG.uniform(-0.1, 0.05), 0.2 + RNG.uniform(-0.1, 0.1)
        gap, face, _, _ = contact.goal_wall_gap(0.75, 0.2, x, y, half, *turn(heading))
        square = vertices(np.array([[x, y, heading]]), 2 * half)
        far = 10.0
        wall = np.array([[[0.75, 0.2], [far, 0.2], [far, far], [0.75, far]]])
        expected = -square_overlap(square, wall)[0]
        assert gap == pytest.approx(expected, abs=1e-14)
        faces.add(face)
        best, count, nx, ny, px, py, gap_p, _, _, gap_q = contact.square_at_goal_wall(
            0.75, 0.2, x, y, half, *turn(heading)
        )
        assert best == gap
        if count:
            assert np.hypot(nx, ny) == pytest.approx(1.0)
            assert (gap_p if count == 1 else min(gap_p, gap_q)) >= gap - 1e-9
        if face == 2:
            assert (x + px, y + py) == pytest.approx((0.75, 0.2))
    assert faces == {0, 1, 2}


def test_ball_and_the_wall_beside_the_goal():
    for _ in range(300):
        x, y = 0.75 + RNG.uniform(-0.1, 0.1), 0.2 + RNG.uniform(-0.1, 0.1)
        nx, ny, gap = contact.ball_at_goal_wall(0.75, 0.2, x, y, 0.02)
        assert gap == pytest.approx(-WALLS.ball_overlap(np.array([[x, y]]), 0.02)[0], abs=1e-14)
        assert np.hypot(nx, ny) == pytest.approx(1.0)
        assert nx <= 0.0 and ny <= 0.0


def test_a_vector_behind_a_robot_keeps_its_quadrant():
    """The source's arctangent takes it for one ahead."""
    for heading in (0.0, 1.0, 2.5, -2.5):
        c, s = turn(heading)
        assert contact.into_frame(c, s, -c, -s) == pytest.approx((-1.0, 0.0), abs=1e-15)
        assert contact.half_extent(0.05, c, s) == pytest.approx(
            np.abs(vertices(np.array([0.0, 0.0, heading]), 0.1)).max(axis=0)[0]
        )
