"""All stages of four wheels in one call. Also runs with NUMBA_DISABLE_JIT=1."""

from __future__ import annotations

import numpy as np
import pytest
from vehicle_parts import RIM, body_at, ground_of, rough_ground, slope_limit, vectors, wheels

from botz.physics.wheels.sprung_wheels import wheel_forces
from botz.physics.wheels.wheel_block import COULOMB, MAGIC
from botz.terrain.height_grid import HeightGrid

COS_BLOCKED = np.cos(np.radians(80.0))


def forces(block, body, ground, *, plain=True, dt=1e-4):
    body.force, body.moment = 0.0, 0.0
    wheel_forces(*block.parts, body, ground_of(ground), RIM, COS_BLOCKED, plain, dt, dt)
    return np.concatenate([body.force, body.moment])


def level(height=0.0):
    return HeightGrid(np.full((5, 5), height), x_min=-1.0, x_max=1.0, y_min=-1.0, y_max=1.0)


@pytest.mark.parametrize("kind", [COULOMB, MAGIC])
def test_standing_on_level_ground_the_springs_carry_and_nothing_pushes_sideways(kind):
    """Both rims touch alike: h is by a quarter of the blend more than either rim's."""
    block = wheels(np.random.default_rng(1), kind)
    block.z[:] = -0.05
    found = forces(block, body_at((0.1, 0.2, 1.15), (0, 0, 0)), level(1.0))
    deflection = 0.01 + 1.6e-4 / 4
    assert block.h == pytest.approx([deflection] * 4, abs=1e-12)
    assert found[:3] == pytest.approx([0.0, 0.0, 4 * 6000.0 * deflection], abs=1e-9)
    assert found[3:] == pytest.approx([0.0, 0.0, 0.0], abs=1e-9)


@pytest.mark.parametrize("kind", [COULOMB, MAGIC])
def test_a_mirrored_body_on_mirrored_ground_gets_the_mirrored_forces(kind):
    """y → −y: forces mirror as vectors, moments as pseudovectors."""
    ground = rough_ground(np.random.default_rng(71))
    mirrored_ground = HeightGrid(
        np.ascontiguousarray(ground.heights[:, ::-1]), ground.x_min, ground.x_max, -ground.y_max, -ground.y_min
    )
    block, mirrored = (wheels(np.random.default_rng(1), kind) for _ in range(2))
    block.z[:] = mirrored.z[:] = -0.05
    block.omega[:] = [9.0, 10.0, 11.0, 12.0]
    mirrored.omega[:] = [10.0, 9.0, 12.0, 11.0]
    body = body_at((0.1, 0.2, 0.14), (0.05, 0.03, 0.4), (1.0, 0.2, 0.1), (0.3, -0.2, 0.5))
    other = body_at((0.1, -0.2, 0.14), (-0.05, 0.03, -0.4), (1.0, -0.2, 0.1), (-0.3, -0.2, -0.5))
    for _ in range(5):
        found, answer = forces(block, body, ground), forces(mirrored, other, mirrored_ground)
    assert answer == pytest.approx(found * np.array([1, -1, 1, -1, 1, -1]), rel=1e-6, abs=1e-6)
    assert np.all(found != 0.0)


def test_both_searches_give_the_same_forces():
    ground = rough_ground(np.random.default_rng(72))
    plain, fast = (wheels(np.random.default_rng(1), MAGIC) for _ in range(2))
    for k in range(20):
        body = body_at((0.1 + 1e-3 * k, 0.2, 0.14), (0.05, 0.03, 0.4), (1.0, 0.2, 0.1), (0.3, -0.2, 0.5))
        body.steepest, body.travelled = slope_limit(ground), 2e-3 * k
        expected = forces(plain, body, ground)
        assert forces(fast, body, ground, plain=False) == pytest.approx(expected, rel=1e-6, abs=1e-6)
    assert np.any(vectors(fast, "n")[:, :2] != 0.0)
