"""Impulses between bodies against plain NumPy: one contact, two of the same faces, friction, and the source's spheres.
Also runs with NUMBA_DISABLE_JIT=1."""

from __future__ import annotations

import numpy as np
import pytest

from botz.physics.soccer import impact

RNG = np.random.default_rng(3)


def random_mass(rng):
    half = rng.normal(size=(2, 2))
    return half @ half.T + 0.1 * np.eye(2)


def make(rng, wall=False, restitution=0.6, friction=0.0):
    """Two bodies with random speeds, masses and directions: bodies, contact, and the same as arrays."""
    bodies, contact = impact.free_standing(2), np.zeros(1, impact.CONTACT)[0]
    masses = [random_mass(rng) for _ in range(2)]
    g, t = rng.normal(size=(2, 2)), rng.normal(size=(2, 2))
    if wall:
        g[1] = t[1] = 0.0
    for body, speeds, mass in zip(bodies.inertia, bodies.speeds, masses, strict=True):
        speeds.u0, speeds.u1 = rng.normal(size=2)
        inverse = np.linalg.inv(mass)
        body.inverse_11, body.inverse_12, body.inverse_22 = inverse[0, 0], inverse[0, 1], inverse[1, 1]
    contact.first, contact.second, contact.mate = 0, impact.WALL if wall else 1, -1
    contact.g10, contact.g11 = g[0]
    contact.g20, contact.g21 = g[1]
    contact.t10, contact.t11 = t[0]
    contact.t20, contact.t21 = t[1]
    contact.inverse_mass = sum(v @ np.linalg.inv(mass) @ v for v, mass in zip(g, masses, strict=True))
    contact.tangent_inverse = sum(v @ np.linalg.inv(mass) @ v for v, mass in zip(t, masses, strict=True))
    contact.restitution, contact.friction = restitution, friction
    return bodies, contact, masses, g, t


def speeds(bodies):
    return np.array([[body.u0, body.u1] for body in bodies.speeds])


def energy(masses, u):
    return sum(0.5 * one @ mass @ one for one, mass in zip(u, masses, strict=True))


def approaching(rng, **how):
    while True:
        made = make(rng, **how)
        u = speeds(made[0])
        if made[3][0] @ u[0] - made[3][1] @ u[1] < -0.1:
            return made


@pytest.mark.parametrize("wall", [False, True])
def test_one_contact_parts_at_e_times_its_approach_and_takes_what_the_formula_says(wall):
    for _ in range(20):
        bodies, contact, masses, g, _ = approaching(RNG, wall=wall)
        before = speeds(bodies)
        approach = g[0] @ before[0] - g[1] @ before[1]
        assert impact.normal_speed(bodies, contact) == pytest.approx(approach, rel=1e-13)
        lost = impact.rigid_impact(bodies, contact, 0.0)
        after = speeds(bodies)
        assert g[0] @ after[0] - g[1] @ after[1] == pytest.approx(-0.6 * approach, rel=1e-10)
        expected = 0.5 * (1 - 0.36) * approach**2 / contact.inverse_mass
        assert lost == pytest.approx(expected, rel=1e-10)
        assert energy(masses, before) - energy(masses, after) == pytest.approx(expected, rel=1e-9, abs=1e-12)
        if wall:
            assert (after[1] == before[1]).all()


def test_nothing_happens_where_bodies_part_or_nobody_can_give_way():
    bodies, contact, *_ = approaching(RNG)
    before = speeds(bodies)
    contact.inverse_mass = 0.0
    assert impact.rigid_impact(bodies, contact, 0.0) == 0.0
    assert (speeds(bodies) == before).all()
    contact.inverse_mass = 1.0
    for body in bodies.speeds:
        body.u0, body.u1 = -body.u0, -body.u1
    assert impact.rigid_impact(bodies, contact, 0.0) == 0.0
    assert (speeds(bodies) == -before).all()


def test_slow_contacts_do_not_bounce():
    bodies, contact, _, g, _ = approaching(RNG)
    contact.resting = 1e3
    impact.rigid_impact(bodies, contact, 0.0)
    u = speeds(bodies)
    assert g[0] @ u[0] - g[1] @ u[1] == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("friction", [0.05, 0.5, 5.0])
def test_friction_slows_sliding_down_within_its_cone_and_takes_energy(friction):
    for _ in range(20):
        bodies, contact, masses, _, t = approaching(RNG, friction=friction)
        before, normal = speeds(bodies), 0.3
        sliding = t[0] @ before[0] - t[1] @ before[1]
        lost = impact.friction_impulse(bodies, contact, normal, 0.0)
        after = speeds(bodies)
        left = t[0] @ after[0] - t[1] @ after[1]
        assert abs(left) <= abs(sliding) * (1 + 1e-12)
        assert left * sliding >= -1e-12
        impulse = (left - sliding) / contact.tangent_inverse
        assert abs(impulse) <= friction * normal * (1 + 1e-9)
        assert lost >= -1e-15
        assert energy(masses, before) - energy(masses, after) == pytest.approx(lost, rel=1e-9, abs=1e-12)


def test_two_contacts_of_the_same_faces_part_together():
    tried = 0
    for _ in range(300):
        bodies, one, masses, g, _ = approaching(RNG)
        other = np.zeros(1, impact.CONTACT)[0]
        for name in impact.CONTACT.names:
            other[name] = one[name]
        h = g + RNG.normal(0.0, 0.5, (2, 2))
        other.g10, other.g11 = h[0]
        other.g20, other.g21 = h[1]
        inverses = [np.linalg.inv(mass) for mass in masses]
        other.inverse_mass = sum(v @ inverse @ v for v, inverse in zip(h, inverses, strict=True))
        both = sum(a @ inverse @ b for a, b, inverse in zip(g, h, inverses, strict=True))
        assert impact.coupling(bodies, one, other) == pytest.approx(both, rel=1e-9, abs=1e-9)
        before = speeds(bodies)
        v = np.array([one_g[0] @ before[0] - one_g[1] @ before[1] for one_g in (g, h)])
        matrix = np.array([[one.inverse_mass, both], [both, other.inverse_mass]])
        impulses = np.linalg.solve(matrix, -1.6 * v)
        lost = impact.face_impact(bodies, one, other, 0.0)
        if (v >= 0.0).any() or (impulses < -1e-9).any():
            assert lost == -1.0
            assert (speeds(bodies) == before).all()
            continue
        tried += 1
        after = speeds(bodies)
        for one_g, speed in zip((g, h), v, strict=True):
            assert one_g[0] @ after[0] - one_g[1] @ after[1] == pytest.approx(-0.6 * speed, rel=1e-6)
        expected = 0.5 * (1 - 0.36) * v @ np.linalg.solve(matrix, v)
        assert lost == pytest.approx(expected, rel=1e-6)
        assert energy(masses, before) - energy(masses, after) == pytest.approx(expected, rel=1e-6)
    assert tried > 20


def test_paths_change_at_the_time_of_an_impulse():
    """Until 0.25 s at the old rate, then at the new one."""
    bodies, contact, _, g, _ = approaching(RNG, wall=True)
    bodies.motion[0].rate0, bodies.motion[0].rate1 = bodies.speeds[0].u0, bodies.speeds[0].u1
    start = speeds(bodies)[0]
    contact.gap = -0.25 * g[0] @ start
    assert impact.predicted_gap(bodies, contact, 0.25) == pytest.approx(0.0, abs=1e-12)
    assert impact.gap_rate(bodies, contact) == pytest.approx(g[0] @ start, rel=1e-12)
    impact.rigid_impact(bodies, contact, 0.25)
    assert impact.predicted_gap(bodies, contact, 1.0) == pytest.approx(-0.6 * 0.75 * g[0] @ start, rel=1e-9)


def test_eq_12():
    for _ in range(20):
        m1, m2 = 10.0 ** RNG.uniform(-2, 2, 2)
        v1, v2 = RNG.normal(size=2)
        change1, change2 = impact.sphere_exchange(m1, m2, False, 1.0, v1, v2)
        assert v1 + change1 == pytest.approx((m1 - m2) / (m1 + m2) * v1 + 2 * m2 / (m1 + m2) * v2, abs=1e-12)
        assert v2 + change2 == pytest.approx((m2 - m1) / (m1 + m2) * v2 + 2 * m1 / (m1 + m2) * v1, abs=1e-12)
        assert impact.sphere_exchange(m1, m2, True, 0.4, v1, 0.0) == (pytest.approx(-1.4 * v1), 0.0)


def test_a_points_velocity_is_decomposed_into_v_and_turn():
    for _ in range(20):
        heading, v, w = RNG.uniform(-np.pi, np.pi), RNG.normal(), RNG.normal(0.0, 10.0)
        arm = RNG.uniform(-0.05, 0.05, 2)
        c, s = np.cos(heading), np.sin(heading)
        if abs(c * arm[0] + s * arm[1]) < 1e-3:
            continue
        velocity = v * np.array([c, s]) + w * np.array([-arm[1], arm[0]])
        assert impact.from_point_velocity(c, s, *arm, *velocity) == pytest.approx((v, w), rel=1e-8, abs=1e-8)
    assert impact.from_point_velocity(1.0, 0.0, 0.0, 0.1, 2.0, 0.0) == pytest.approx((2.0, -20.0))
