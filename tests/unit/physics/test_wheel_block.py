"""Blocks of four wheels against plain NumPy, wheel by wheel. Also runs with NUMBA_DISABLE_JIT=1."""

from __future__ import annotations

import numpy as np
import pytest
from vehicle_parts import lanes, random_body, rotation, vectors, wheels

from botz.physics.wheels.contact_search import merge_rims
from botz.physics.wheels.wheel_block import contact_motion, place_wheels, sum_wheels


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(31)


@pytest.fixture
def body(rng):
    return random_body(rng)


@pytest.fixture
def block(rng, body):
    """Four wheels that touch somewhere: contact points, normals and deflections at random."""
    block = wheels(rng)
    normals = body.b + rng.normal(scale=0.2, size=(4, 3))
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    for k, axis in enumerate("xyz"):
        block[f"n_{axis}"][:] = normals[:, k]
        block[f"p_{axis}"][:] = rng.uniform(-0.3, 0.3, 4)
        block[f"w_{axis}"][:] = rng.normal(scale=0.01, size=4)
    block.b_n[:] = normals @ body.b
    block.h[:] = [0.01, 0.03, 0.05, 0.02]
    return block


def test_places_are_turned_with_the_body(block, body):
    place_wheels(block.model, block.work, body)
    expected = np.column_stack([block.x, block.y, block.z]) @ rotation(body).T
    assert vectors(block, "arm") == pytest.approx(expected, abs=1e-15)


def test_motion_of_the_contact(block, body):
    contact_motion(*block.parts, body)
    normals, points, twists = vectors(block, "n"), vectors(block, "p"), vectors(block, "w")
    for i in lanes():
        v_P = body.velocity + np.cross(body.angular, points[i])
        dh = -(v_P @ normals[i]) / (body.b @ normals[i]) - twists[i] @ body.angular
        along = np.cross(body.t, normals[i])
        along /= np.linalg.norm(along)
        across = np.cross(normals[i], along)
        over_ground = v_P + dh * body.b
        assert block.dh[i] == pytest.approx(dh, rel=1e-12)
        assert vectors(block, "t")[i] == pytest.approx(along, abs=1e-14)
        assert vectors(block, "l")[i] == pytest.approx(across, abs=1e-14)
        assert block.b_t[i] == pytest.approx(body.b @ along, abs=1e-14)
        assert block.b_l[i] == pytest.approx(body.b @ across, abs=1e-14)
        assert block.v_x[i] == pytest.approx(over_ground @ along + block.radius[i] * (body.angular @ body.t), rel=1e-11)
        assert block.v_y[i] == pytest.approx(over_ground @ across, rel=1e-11)
        assert block.spin_n[i] == pytest.approx(body.angular @ normals[i], rel=1e-12)
        beyond = max(block.h[i] - 0.04, 0.0)
        assert block.spring[i] == pytest.approx(max(6000 * block.h[i] + 5e5 * beyond**2 + 200 * dh, 0.0), rel=1e-12)


def test_a_wheel_in_the_air_has_no_slip_and_no_force(block, body):
    block.h[2] = 0.0
    contact_motion(*block.parts, body)
    assert (block.dh[2], block.v_x[2], block.v_y[2], block.spring[2]) == (0.0, 0.0, 0.0, 0.0)
    assert block.v_x[1] != 0.0


def test_forces_and_moments_sum_up(rng, block, body):
    contact_motion(*block.parts, body)
    block.load[:], block.force_x[:], block.force_y[:], block.moment_z[:] = rng.uniform(-50, 200, (4, 4))
    body.force, body.moment = [1.0, 2.0, 3.0], [4.0, 5.0, 6.0]
    sum_wheels(block.state, block.work, body)
    normals, points = vectors(block, "n"), vectors(block, "p")
    forces = (
        block.load[:, None] * normals
        + block.force_x[:, None] * vectors(block, "t")
        + block.force_y[:, None] * vectors(block, "l")
    )
    moments = (
        np.cross(points, forces)
        + block.moment_z[:, None] * normals
        + (block.load * block.b_n)[:, None] * vectors(block, "w")
    )
    assert body.force == pytest.approx(np.array([1.0, 2.0, 3.0]) + forces.sum(axis=0), rel=1e-12)
    assert body.moment == pytest.approx(np.array([4.0, 5.0, 6.0]) + moments.sum(axis=0), rel=1e-12)


def test_all_power_is_in_springs_and_slip(rng, block, body):
    """R's power on the body: −F_susp ḣ + F_x (V_x − r Ω·t) + F_y V_y + M_z Ω·n̂, where N b·n̂ + F·b = F_susp."""
    contact_motion(*block.parts, body)
    block.force_x[:], block.force_y[:], block.moment_z[:] = rng.uniform(-50, 50, (3, 4))
    block.load[:] = (block.spring - block.force_x * block.b_t - block.force_y * block.b_l) / block.b_n
    sum_wheels(block.state, block.work, body)
    power = body.force @ body.velocity + body.moment @ body.angular
    pitching = body.angular @ body.t
    expected = (
        -block.spring * block.dh
        + block.force_x * (block.v_x - block.radius * pitching)
        + block.force_y * block.v_y
        + block.moment_z * block.spin_n
    )
    assert power == pytest.approx(expected.sum(), rel=1e-11)


# --- two rims, one contact ---------------------------------------------------------------------------------------


def with_rims(block, rng, difference):
    """Both rims on slices of their own, with slopes of the ground under each, and deflections that differ."""
    block.rim_slice[0][:], block.rim_slice[1][:] = 0.0, 0.0
    block.rim_h[0][:] = rng.uniform(0.01, 0.03, 4)
    block.rim_h[1][:] = block.rim_h[0] - difference
    for rim in range(2):
        gamma = rng.uniform(-0.3, 0.3, 4)
        block.rim_sine[rim][:], block.rim_cosine[rim][:] = np.sin(gamma), np.cos(gamma)
        block.rim_slope_x[rim][:], block.rim_slope_y[rim][:] = rng.uniform(-0.2, 0.2, (2, 4))
    return block


def rim(block, body, rim, i):
    """Contact point from the centre of mass, and m = n̂/(b·n̂), of one rim."""
    place = rotation(body) @ [block.x[i], block.y[i] + (1 - 2 * rim) * block.half_width[i], block.z[i]]
    r, sine, cosine = block.radius[i], block.rim_sine[rim][i], block.rim_cosine[rim][i]
    point = place + r * sine * body.n + (block.rim_h[rim][i] - r * cosine) * body.b
    normal = np.array([-block.rim_slope_x[rim][i], -block.rim_slope_y[rim][i], 1.0])
    return point, normal / (normal @ body.b)


@pytest.mark.parametrize("part", [-2.0, -1.0, -0.6, 0.0, 0.3, 0.99, 5.0])
def test_rims_share_the_contact_by_the_smooth_maximum(rng, block, body, part):
    epsilon = block.blend[0]
    with_rims(block, rng, part * epsilon)
    place_wheels(block.model, block.work, body)
    merge_rims(*block.parts, body)
    share = np.clip(0.5 + 0.5 * part, 0.0, 1.0)
    for i in lanes():
        h_a, h_b = block.rim_h[0][i], block.rim_h[1][i]
        level = 0.5 * (h_a + h_b) + (h_a - h_b) ** 2 / (4 * epsilon) + epsilon / 4 if abs(part) < 1 else max(h_a, h_b)
        assert block.h[i] == pytest.approx(level, rel=1e-9)
        assert max(h_a, h_b) - 1e-15 <= block.h[i] <= max(h_a, h_b) + epsilon / 4 + 1e-15
        point_a, m_a = rim(block, body, 0, i)
        point_b, m_b = rim(block, body, 1, i)
        m = share * m_a + (1 - share) * m_b
        assert vectors(block, "p")[i] == pytest.approx(share * point_a + (1 - share) * point_b, abs=1e-9)
        assert vectors(block, "n")[i] == pytest.approx(m / np.linalg.norm(m), abs=1e-9)
        assert block.b_n[i] == pytest.approx(vectors(block, "n")[i] @ body.b, rel=1e-12)
        couple = share * (1 - share) * np.cross(point_a - point_b, m_a - m_b)
        assert vectors(block, "w")[i] == pytest.approx(couple, abs=1e-9)


def test_weights_of_the_rims_are_the_derivative_of_the_smooth_maximum(rng, block, body):
    with_rims(block, rng, 0.3 * block.blend[0])
    place_wheels(block.model, block.work, body)
    found, step = [], 1e-8
    for change in (-step, step):
        block.rim_h[0][:] += change
        merge_rims(*block.parts, body)
        found.append(block.h.copy())
        block.rim_h[0][:] -= change
    assert (found[1] - found[0]) / (2 * step) == pytest.approx([0.65] * 4, rel=1e-5)


def test_one_rim_alone_is_the_contact(rng, block, body):
    with_rims(block, rng, 0.0)
    block.rim_slice[0][:] = [0.0, -1.0, 0.0, -1.0]
    block.rim_slice[1][:] = [-1.0, 0.0, 0.0, -1.0]
    block.half_width[2] = 0.0  # a wheel of one rim, whose second one is not looked at
    block.rim_h[1][2] = 0.9
    place_wheels(block.model, block.work, body)
    merge_rims(*block.parts, body)
    assert block.h.tolist() == [block.rim_h[0][0], block.rim_h[1][1], block.rim_h[0][2], 0.0]
    for i, number in ((0, 0), (1, 1), (2, 0)):
        point, m = rim(block, body, number, i)
        assert vectors(block, "p")[i] == pytest.approx(point, abs=1e-14)
        assert vectors(block, "n")[i] == pytest.approx(m / np.linalg.norm(m), abs=1e-14)
        assert vectors(block, "w")[i].tolist() == [0.0, 0.0, 0.0]


def test_a_rim_just_above_the_ground_does_not_touch(rng, block, body):
    with_rims(block, rng, 0.0)
    block.rim_h[0][:] = block.rim_h[1][:] = -block.blend
    place_wheels(block.model, block.work, body)
    merge_rims(*block.parts, body)
    assert block.h.tolist() == [0.0] * 4
