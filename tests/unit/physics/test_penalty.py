"""A point pressed into the ground. Also runs with NUMBA_DISABLE_JIT=1."""

from __future__ import annotations

import numpy as np
import pytest

from botz.physics.contact.penalty import penalty_force

STIFFNESS, DAMPING, FRICTION = 1e5, 300.0, 0.5
UP = (0.0, 0.0, 1.0)


def push(depth, normal, velocity, deflection=(0.0, 0.0, 0.0), dt=1e-4, friction=FRICTION):
    """Force and new deflection."""
    found = penalty_force((STIFFNESS, DAMPING, friction), depth, tuple(normal), tuple(velocity), tuple(deflection), dt)
    return np.array(found[:3]), np.array(found[3:])


def unit(rng):
    normal = rng.normal(size=3)
    return normal / np.linalg.norm(normal)


def test_spring_and_damper_along_the_normal():
    force, _ = push(0.01, UP, (0.0, 0.0, -0.5))
    assert force == pytest.approx([0.0, 0.0, 1000.0 + 150.0])
    force, _ = push(0.01, UP, (0.0, 0.0, 2.0))
    assert force == pytest.approx([0.0, 0.0, 400.0])


def test_it_never_pulls_and_friction_stays_inside_its_cone():
    rng = np.random.default_rng(11)
    stuck = slid = 0
    for _ in range(300):
        normal, velocity, deflection = unit(rng), rng.normal(size=3), rng.normal(scale=3e-3, size=3)
        if rng.uniform() < 0.5:
            velocity, deflection = 0.05 * velocity, 0.05 * deflection
        force, _ = push(rng.uniform(0.0, 0.02), normal, velocity, deflection)
        load = force @ normal
        across = np.linalg.norm(force - load * normal)
        assert load >= -1e-9
        assert across <= FRICTION * load * (1 + 1e-12) + 1e-9
        slid += across > 0.999 * FRICTION * load
        stuck += across < 0.99 * FRICTION * load
    assert stuck > 20
    assert slid > 20


def test_a_point_that_leaves_faster_than_the_spring_follows_is_free():
    force, _ = push(0.001, UP, (3.0, 1.0, 5.0))
    assert np.all(force == 0.0)


def test_sticking_it_hangs_on_a_spring_of_the_same_stiffness():
    deflection, velocity, dt = np.array([2e-3, -1e-3, 0.0]), np.array([0.1, 0.2, 0.0]), 1e-4
    force, new = push(0.01, UP, velocity, deflection, dt)
    assert new == pytest.approx(deflection - dt * velocity)
    assert force[:2] == pytest.approx((STIFFNESS * new - DAMPING * velocity)[:2])


def test_the_deflection_follows_the_ground():
    """What of it points along a new normal is gone."""
    rng = np.random.default_rng(12)
    for _ in range(20):
        normal = unit(rng)
        _, new = push(0.02, normal, (0.0, 0.0, 0.0), rng.normal(scale=1e-3, size=3))
        assert new @ normal == pytest.approx(0.0, abs=1e-18)


def test_sliding_it_gives_way_to_the_limit_and_comes_to_hold_it():
    deflection = np.zeros(3)
    for _ in range(2000):
        force, deflection = push(0.01, UP, (3.0, 0.0, 0.0), deflection)
        assert force[:2] == pytest.approx([-500.0, 0.0])
    assert STIFFNESS * deflection == pytest.approx([-500.0, 0.0, 0.0], rel=1e-3)


def test_without_a_step_the_deflection_stays():
    for velocity in ((0.01, 0.0, 0.0), (5.0, 0.0, 0.0)):
        _, new = push(0.01, UP, velocity, (1e-3, 0.0, 0.0), dt=0.0)
        assert new == pytest.approx([1e-3, 0.0, 0.0])


@pytest.mark.parametrize(("share", "stays"), [(0.9, True), (1.1, False)])
def test_a_load_across_it_is_held_up_to_the_limit(share, stays):
    """2 kg on the ground, pushed sideways with a force that grows for 0.5 s: held, it moves by F/k and no farther."""
    mass, dt = 2.0, 1e-4
    weight = mass * 9.81
    depth = weight / STIFFNESS
    x = v = 0.0
    deflection = np.zeros(3)
    places = []
    for step in range(10_000):
        force, deflection = push(depth, UP, (v, 0.0, 0.0), deflection, dt)
        load = share * FRICTION * weight * min(step / 5000, 1.0)
        v += dt * (load + force[0]) / mass
        x += dt * v
        if step in (5999, 9999):
            places.append(x)
    if stays:
        assert places == pytest.approx([share * FRICTION * weight / STIFFNESS] * 2, rel=1e-3)
    else:
        assert places[1] - places[0] > 0.05


def test_friction_and_its_spring_take_energy_and_give_none():
    """Whatever the velocities: work on the point plus growth of ½ k u² is never more than nothing."""
    rng = np.random.default_rng(13)
    dt = 1e-3
    deflection = np.zeros(3)
    for _ in range(500):
        velocity = np.array([*rng.normal(scale=10 ** rng.uniform(-3, 0.5), size=2), 0.0])
        force, new = push(rng.uniform(0, 0.01), UP, velocity, deflection, dt)
        work = dt * (force[:2] @ velocity[:2])
        stored = 0.5 * STIFFNESS * (new @ new - deflection @ deflection)
        assert work + stored <= 1e-12 * (1.0 + abs(work))
        deflection = new
