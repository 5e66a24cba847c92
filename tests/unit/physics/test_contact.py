"""The contact of one rim with the ground, against bisection and brute force. Also runs with NUMBA_DISABLE_JIT=1."""

from __future__ import annotations

import numpy as np
import pytest
from vehicle_parts import COSINES, RIM, SINES, ground_of, random_body, rough_ground, step_ground

from botz.physics.contact.ground import NONE, deflection_near, deflection_of_point, search_all, search_near, way_out

H_MIN, H_MAX, TOLERANCE, RADIUS = -2e-4, 0.15, 1e-12, 0.11
COS_BLOCKED = np.cos(np.radians(80.0))


def bisected(ground, point, b):
    """The h at which point + h b lies on the ground; None where the whole way is above it."""

    def gap(h):
        x, y, z = point + h * b
        return z - ground.height(x, y)

    low, high = H_MIN, H_MAX
    if gap(low) >= 0.0:
        return None
    if gap(high) <= 0.0:
        return H_MAX
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if gap(middle) < 0.0 else (low, middle)
    return 0.5 * (low + high)


def rim_points(centre, body):
    return centre + RADIUS * (np.outer(SINES, body.n) - np.outer(COSINES, body.b))


def above_ground(rng, ground, body, low=-0.06, high=0.02):
    """A rim's centre whose lowest point is somewhat above the ground, or below."""
    x, y = rng.uniform(-1.2, 1.2), rng.uniform(-0.5, 1.5)
    return np.array([x, y, float(ground.height(x, y)) + RADIUS * body.b[2] + rng.uniform(low, high)])


def test_deflection_of_a_point_is_that_of_bisection():
    rng = np.random.default_rng(21)
    ground = rough_ground(rng)
    known = ground_of(ground)
    hanging = 0
    for _ in range(200):
        body = random_body(rng)
        x, y = rng.uniform(-2.5, 2.5), rng.uniform(-1.5, 2.5)
        point = np.array([x, y, float(ground.height(x, y)) + rng.uniform(-0.1, 0.02)])
        expected = bisected(ground, point, body.b)
        found = deflection_of_point(known, *point, *body.b, H_MIN, H_MAX, TOLERANCE)
        if expected is None:
            hanging += 1
            assert found == NONE
            continue
        assert found == pytest.approx(expected, abs=2e-11)
        near = deflection_near(known, *point, *body.b, expected + 0.003, H_MIN, H_MAX, TOLERANCE)
        assert near == pytest.approx(expected, abs=2e-11)
    assert 10 < hanging < 100


def test_a_point_deeper_than_the_largest_deflection_has_that():
    ground = rough_ground(np.random.default_rng(22))
    assert deflection_of_point(ground_of(ground), 0, 0, -3.0, 0, 0, 1, H_MIN, H_MAX, TOLERANCE) == H_MAX


def test_newtons_method_ends_at_the_same_places_where_there_is_no_contact():
    ground = rough_ground(np.random.default_rng(23))
    known = ground_of(ground)
    assert deflection_near(known, 0, 0, 0.5, 0, 0, 1, 0.01, H_MIN, H_MAX, TOLERANCE) == NONE
    assert deflection_near(known, 0, 0, -0.5, 0, 0, 1, 0.01, H_MIN, H_MAX, TOLERANCE) == H_MAX


def all_slices(ground, known, centre, body):
    axes = tuple(body.n), tuple(body.b)
    return search_all(known, RIM, (RADIUS, H_MIN, H_MAX, TOLERANCE), COS_BLOCKED, tuple(centre), *axes)


def steepest_of(ground):
    """Of any cell: both its slopes are largest at its edges."""
    along_x = np.abs(np.diff(ground.heights, axis=0)).max() / ground.dx
    return float(np.hypot(along_x, np.abs(np.diff(ground.heights, axis=1)).max() / ground.dy))


def near_slices(ground, known, last, last_h, centre, body):
    """With the ground's steepness; slices that it leaves out would have changed nothing."""
    rim, axes = (RADIUS, H_MIN, H_MAX, TOLERANCE), (tuple(body.n), tuple(body.b))
    found = [
        search_near(known, RIM, rim, steepest, last, last_h, tuple(centre), *axes)
        for steepest in (steepest_of(ground), 1e9)
    ]
    assert found[0] == found[1]
    return found[0]


def test_the_contact_is_the_slice_that_has_to_move_farthest():
    rng = np.random.default_rng(24)
    ground = rough_ground(rng)
    known = ground_of(ground)
    lowest = hanging = 0
    for _ in range(60):
        body = random_body(rng)
        centre = above_ground(rng, ground, body)
        needed = [bisected(ground, point, body.b) for point in rim_points(centre, body)]
        best, h, wall, depth, *normal = all_slices(ground, known, centre, body)
        assert (wall, depth, normal) == (-1, 0.0, [0.0, 0.0, 1.0])
        if all(one is None for one in needed):
            hanging += 1
            assert (best, h) == (-1, NONE)
            continue
        assert h == pytest.approx(max(one for one in needed if one is not None), abs=2e-11)
        assert needed[best] == pytest.approx(h, abs=2e-11)
        lowest += best == 0
    assert lowest < 50
    assert hanging < 40


def test_from_the_last_contact_the_same_one_is_found():
    """Wherever the last contact was: a step ago, half a metre away, or nowhere."""
    rng = np.random.default_rng(25)
    ground = rough_ground(rng)
    known = ground_of(ground)
    for _ in range(80):
        body = random_body(rng)
        centre = above_ground(rng, ground, body)
        best, h, *_ = all_slices(ground, known, centre, body)
        for last, last_h in ((-1, 0.0), (best, max(h, H_MIN)), (int(rng.integers(0, SINES.size)), 0.02)):
            found, found_h, margin = near_slices(ground, known, last, last_h, centre, body)
            assert margin >= 0.0
            if best < 0:
                assert found == -1
            else:
                assert found_h == pytest.approx(h, abs=2e-11)
                assert found == best


def test_the_margin_is_the_height_of_the_lowest_other_slice():
    rng = np.random.default_rng(26)
    ground = rough_ground(rng)
    known = ground_of(ground)
    compared = 0
    for _ in range(60):
        body = random_body(rng)
        centre = above_ground(rng, ground, body, high=-0.01)
        best, h, margin = near_slices(ground, known, 0, 0.0, centre, body)
        points = rim_points(centre, body) + h * body.b
        heights = points[:, 2] - ground.height(points[:, 0], points[:, 1])
        others = np.delete(heights, best).min()
        assert heights[best] == pytest.approx(0.0, abs=1e-10)
        # Slices that were passed before the contact was found count at their own deflection, where they hang lower.
        assert margin <= others + 1e-10
        compared += margin == pytest.approx(others, abs=1e-10)
    assert compared > 30


@pytest.mark.parametrize(("edge", "is_wall"), [(0.3, False), (0.02, True)])
def test_ground_beyond_the_blocked_angle_is_a_wall_and_no_place_to_roll_on(edge, is_wall):
    """A slope of 0.3/0.02 stands at 86 degrees; one of 0.3/0.3 at 45. The rim reaches 12 mm past the step's foot."""
    ground = step_ground(edge)
    body = random_body(np.random.default_rng(1), tilt=0.0)
    body.n, body.t, body.b = [1, 0, 0], [0, 1, 0], [0, 0, 1]
    centre = np.array([0.012 - RADIUS, 0.0, RADIUS - 0.01])
    best, h, wall, depth, *normal = all_slices(ground, ground_of(ground), centre, body)
    assert (wall >= 0) == is_wall
    if is_wall:
        assert h == pytest.approx(0.01, abs=1e-9)  # of the level ground
        assert SINES[best] < 0.5
        assert SINES[wall] > 0.5
        point = centre + RADIUS * np.array([SINES[wall], 0.0, -COSINES[wall]])
        assert normal == pytest.approx(np.array([-15.0, 0.0, 1.0]) / np.hypot(15.0, 1.0), abs=1e-9)
        assert depth == pytest.approx((ground.height(point[0], point[1]) - point[2]) * normal[2], rel=1e-6)
    else:
        assert depth == 0.0


def test_a_wall_counts_also_where_level_ground_presses_the_wheel_more():
    """5 cm into the level ground; the foremost slice stands 22.5 mm under the wall's face, straight up."""
    ground = step_ground(0.02)
    body = random_body(np.random.default_rng(1), tilt=0.0)
    body.n, body.t, body.b = [1, 0, 0], [0, 1, 0], [0, 0, 1]
    best, h, wall, depth, *normal = all_slices(
        ground, ground_of(ground), np.array([0.0055 - RADIUS, 0, RADIUS - 0.05]), body
    )
    assert (best, h) == (0, pytest.approx(0.05, abs=1e-9))
    assert SINES[wall] == 1.0
    assert depth == pytest.approx(0.0225 * normal[2], rel=1e-6)


def test_the_way_out_of_the_ground_leads_to_its_surface():
    """Out of a slope of 45 degrees: straight up by the depth, along its normal by the depth over √2."""
    ground = step_ground(0.3)
    known = ground_of(ground)
    up = way_out(known, 0.1, 0.0, 0.06, 0.0, 0.0, 0.11, 0.11)
    assert up == pytest.approx((0.04, 1.0, 0.0), abs=1e-6)
    side = 0.11 / np.sqrt(2)
    across = way_out(known, 0.1, 0.0, 0.06, -side, 0.0, side, 0.11)
    assert across == pytest.approx((0.04 / np.sqrt(2), 1.0, 0.0), abs=1e-6)
    assert way_out(known, 0.1, 0.0, -0.5, 0.0, 0.0, 0.11, 0.11) == (0.11, 0.0, 0.0)
