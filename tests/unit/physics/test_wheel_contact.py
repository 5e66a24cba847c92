"""Contacts of a block of wheels: what follows the last contact finds what the plain search finds, and ḣ is dh/dt.

Also runs with NUMBA_DISABLE_JIT=1.
"""

from __future__ import annotations

import numpy as np
import pytest
from vehicle_parts import (
    RIM,
    body_at,
    ground_of,
    lanes,
    rough_ground,
    slope_limit,
    step_ground,
    vectors,
    wheels,
)

from botz.physics.wheels.contact_search import add_walls, find_contacts
from botz.physics.wheels.wheel_block import contact_motion, place_wheels
from botz.rotations import quaternion_rate, rotation_of
from botz.transforms import quaternion_from_attitude

COS_BLOCKED = np.cos(np.radians(80.0))


def look(block, body, ground, *, plain=True):
    place_wheels(block.model, block.work, body)
    find_contacts(*block.parts, body, ground_of(ground), RIM, COS_BLOCKED, plain)


def standing(ground, x=0.0, y=0.5, attitude=(0.05, -0.04, 0.7), sink=0.02):
    return body_at((x, y, float(ground.height(x, y)) + 0.16 - sink), attitude)


@pytest.mark.parametrize("half_width", [0.04, 0.0])
def test_following_the_last_contact_finds_what_the_plain_search_finds(half_width):
    """A drive over rough ground: in the air, over edges of cells, from slice to slice."""
    ground = rough_ground(np.random.default_rng(41), roughness=0.012)
    plain = wheels(np.random.default_rng(1), half_width=half_width)
    fast = wheels(np.random.default_rng(1), half_width=half_width, tolerance=1e-7)
    slices, steepest = set(), slope_limit(ground)
    followed = searched = hanging = 0
    for k in range(3000):
        t = k * 2e-5
        attitude = (0.1 * np.sin(30 * t), 0.08 * np.cos(25 * t), 0.7 + 2 * t)
        body = body_at((8 * t - 0.4, 0.4 + 4 * t, 0.16 + 0.02 * np.sin(60 * t)), attitude)
        body.steepest = steepest
        # Farther than any point can have gone since the start: 9.1 m/s, and 4.2 rad/s at 0.45 m.
        body.travelled = t * (9.1 + 4.2 * 0.45)
        look(fast, body, ground, plain=False)
        followed += int(np.sum((fast.rim_fresh[0] > 0.0) & (fast.rim_slice[0] >= 0.0)))
        searched += int(np.sum(fast.rim_fresh[0] == 0.0))
        if k % 10:
            continue
        look(plain, body, ground)
        assert fast.h == pytest.approx(plain.h, abs=2e-7)
        touching = plain.h > 1e-6
        assert vectors(fast, "p")[touching] == pytest.approx(vectors(plain, "p")[touching], abs=1e-4)
        slices.update(plain.rim_slice[0][touching].tolist())
        hanging += int(np.sum(plain.rim_slice[0] < 0.0))
    assert len(slices) > 3
    assert followed > 500
    assert searched > 100
    assert hanging > 10


def test_the_rate_of_the_deflection_is_its_derivative():
    """On every kind of contact, one rim or both: h after and before a short time, over that time."""
    rng = np.random.default_rng(42)
    ground = rough_ground(rng)
    compared = shared = 0
    dt = 1e-7
    for _ in range(40):
        attitude = (*rng.uniform(-0.1, 0.1, 2), rng.uniform(-3, 3))
        position = np.array([*rng.uniform(-1, 1, 2), 0.0])
        position[2] = float(ground.height(*position[:2])) + rng.uniform(0.11, 0.15)
        velocity, angular = rng.uniform(-2, 2, 3), rng.uniform(-3, 3, 3)
        quat = np.array(quaternion_from_attitude(*attitude))
        axes = np.array(rotation_of(*quat)).reshape(3, 3)
        rate = np.array(quaternion_rate(*quat, *angular))
        found, blocks = [], []
        for side in (-1.0, 0.0, 1.0):
            body = body_at(position + side * dt * velocity, (0, 0, 0), velocity, angular @ axes)
            turned = quat + side * dt * rate
            body.n, body.t, body.b = np.array(rotation_of(*(turned / np.linalg.norm(turned)))).reshape(3, 3)
            block = wheels(np.random.default_rng(2), blend=2e-3, h_min=-2e-3)
            look(block, body, ground)
            contact_motion(*block.parts, body)
            found.append(block.h.copy())
            blocks.append(block)
        before, block, after = blocks
        for i in lanes():
            same = before.rim_slice[0][i] == after.rim_slice[0][i] and before.rim_slice[1][i] == after.rim_slice[1][i]
            if same and min(found[0][i], found[2][i]) > 0.0:
                compared += 1
                shared += abs(block.rim_h[0][i] - block.rim_h[1][i]) < 2e-3
                assert block.dh[i] == pytest.approx((found[2][i] - found[0][i]) / (2 * dt), abs=2e-4)
    assert compared > 60
    assert shared > 5


def test_absent_wheels_are_left_alone():
    ground = rough_ground(np.random.default_rng(43))
    block = wheels(np.random.default_rng(1))
    block.present[:] = [1, 1, 0, 0]
    look(block, standing(ground), ground)
    assert np.all(block.rim_slice[0][:2] >= 0)
    assert block.rim_slice[0][2:].tolist() == [-1.0, -1.0]
    assert np.all(block.h[2:] == 0.0)


def at_a_wall(**changes):
    """Front wheels 12 mm inside a step that stands at 86 degrees, rear wheels behind it."""
    ground = step_ground(0.02)
    ordinary = {"wall_stiffness": 1e5, "wall_damping": 500.0, "wall_friction": 0.6}
    block = wheels(np.random.default_rng(1), **{**ordinary, **changes})
    block.z[:] = -0.05
    body = body_at((0.012 - 0.22 - 0.11, 0.0, 0.15), (0, 0, 0), velocity=(0.5, 0.0, 0.0))
    look(block, body, ground)
    return ground, block, body


def test_a_wall_pushes_back_along_its_normal_with_friction_within_its_limit():
    _, block, body = at_a_wall()
    assert np.all(block.wall_depth[:2] > 0.0)
    assert np.all(block.wall_depth[2:] == 0.0)
    add_walls(*block.parts, body, RIM, 1e-4, 1e-4)
    normal = np.array([-15.0, 0.0, 1.0]) / np.hypot(15.0, 1.0)
    forces = vectors(block, "wall_force")
    for i in (0, 1):
        load = forces[i] @ normal
        across = np.linalg.norm(forces[i] - load * normal)
        speed = body.velocity @ normal
        assert load == pytest.approx(1e5 * block.wall_depth[i] - 500.0 * speed, rel=1e-9)
        assert across <= 0.6 * load * (1 + 1e-12)
    assert np.all(forces[2:] == 0.0)
    assert body.force == pytest.approx(forces.sum(axis=0), rel=1e-12)
    assert body.force[0] < 0.0
    # At both rims of both wheels alike: it lifts the nose and turns neither way.
    assert body.moment[1] != 0.0
    assert body.moment[[0, 2]] == pytest.approx([0.0, 0.0], abs=1e-9)


def test_a_wall_that_was_left_is_forgotten():
    ground, block, body = at_a_wall()
    add_walls(*block.parts, body, RIM, 1e-4, 1e-4)
    assert np.any(vectors(block, "wall")[:2] != 0.0)
    body.position[0] -= 0.5
    body.force, body.moment = 0.0, 0.0
    look(block, body, ground)
    add_walls(*block.parts, body, RIM, 1e-4, 1e-4)
    assert np.all(body.force == 0.0)
    assert np.all(vectors(block, "wall") == 0.0)
    assert np.all(vectors(block, "wall_force") == 0.0)
