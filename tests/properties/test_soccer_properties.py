"""What holds of any match: impacts take energy, nothing overlaps, and the mirrored match is the match mirrored."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from botz.physics.soccer.impact import CONTACT, free_standing, friction_impulse, rigid_impact
from botz.verify.soccer.crowds import place_crowd
from botz.verify.soccer.match import crowd_of, mirrored_rows, one_name_of_pi, place_all
from botz.verify.soccer.overlaps import deepest_overlap
from botz.verify.soccer.rig import KINDS, match, random_robot

few = settings(deadline=None, max_examples=25)
many = settings(deadline=None, max_examples=200)
shares = st.floats(0.0, 1.0)
seeds = st.integers(0, 2**32 - 1)
numbers = st.floats(-10.0, 10.0)
STEPS = 60


@st.composite
def meetings(draw):
    """Two bodies with any speeds and masses, and a contact between them."""
    bodies, contact = free_standing(2), np.zeros(1, CONTACT)[0]
    inverses = []
    for body, speeds in zip(bodies.inertia, bodies.speeds, strict=True):
        a, b, c = draw(st.floats(0.1, 10.0)), draw(st.floats(-1.0, 1.0)), draw(st.floats(0.1, 10.0))
        body.inverse_11, body.inverse_12, body.inverse_22 = a * a, a * b, b * b + c * c
        speeds.u0, speeds.u1 = draw(numbers), draw(numbers)
        inverses.append(np.array([[a * a, a * b], [a * b, b * b + c * c]]))
    g = np.array([[draw(numbers) for _ in range(2)] for _ in range(4)])
    contact.second, contact.mate = 1, -1
    contact.g10, contact.g11 = g[0]
    contact.g20, contact.g21 = g[1]
    contact.t10, contact.t11 = g[2]
    contact.t20, contact.t21 = g[3]
    contact.inverse_mass = g[0] @ inverses[0] @ g[0] + g[1] @ inverses[1] @ g[1]
    contact.tangent_inverse = g[2] @ inverses[0] @ g[2] + g[3] @ inverses[1] @ g[3]
    contact.restitution, contact.friction = draw(shares), draw(st.floats(0.0, 10.0))
    return bodies, contact, [np.linalg.inv(inverse) for inverse in inverses]


def energy(bodies, masses):
    return sum(
        0.5 * np.array([body.u0, body.u1]) @ mass @ np.array([body.u0, body.u1])
        for body, mass in zip(bodies.speeds, masses, strict=True)
    )


@many
@given(meetings())
def test_an_impact_takes_energy_and_says_how_much(made):
    bodies, contact, masses = made
    before = energy(bodies, masses)
    lost = rigid_impact(bodies, contact, 0.0)
    assert lost >= -1e-9 * (before + 1.0)
    assert abs(before - lost - energy(bodies, masses)) <= 1e-8 * (before + 1.0)


@many
@given(meetings(), st.floats(0.0, 100.0))
def test_friction_takes_energy(made, normal):
    bodies, contact, masses = made
    before = energy(bodies, masses)
    lost = friction_impulse(bodies, contact, normal, 0.0)
    assert lost >= -1e-9 * (before + 1.0)
    assert abs(before - lost - energy(bodies, masses)) <= 1e-8 * (before + 1.0)


@few
@given(seeds, st.lists(shares, min_size=8, max_size=8), st.sampled_from(["euler", "rk4"]))
def test_a_crowd_without_voltage_never_overlaps_and_never_gains_energy(seed, coefficients, method):
    rng = np.random.default_rng(seed)
    pairs = dict(zip(KINDS, zip(coefficients[::2], coefficients[1::2], strict=True), strict=True))
    rig = match([random_robot(rng) for _ in range(4)], pairs=pairs, method=method)
    place_crowd(rig, rng)
    start = rig.value("match/energy")[0]
    rows = rig.record(STEPS)
    kinetic = rig.value("match/energy", rows)[:, 0]
    assert np.isfinite(rows).all()
    assert deepest_overlap(rig, rows) <= 2e-12
    assert np.diff(kinetic, prepend=start).max() <= 1e-13 * start


@few
@given(seeds, st.sampled_from(["euler", "rk4"]))
def test_the_mirrored_match_is_the_match_mirrored(seed, method):
    rng = np.random.default_rng(seed)
    robots = [random_robot(rng) for _ in range(4)]
    for robot in robots:
        # Equal wheels: their sums do not depend on their order.
        robot["wheels"]["right"] = robot["wheels"]["left"]
    pairs = {kind: tuple(rng.uniform(0.0, 1.0, 2)) for kind in KINDS}
    rig = match(robots, pairs=pairs, method=method)
    places = crowd_of(rig, rng, 0.2)
    rows = one_name_of_pi(rig, mirrored_rows(rig, place_all(rig, places).record(STEPS)))
    found = one_name_of_pi(rig, place_all(rig, places, "y").record(STEPS))
    assert np.array_equal(rows, found)
