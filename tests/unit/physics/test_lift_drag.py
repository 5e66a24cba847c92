"""Surfaces against the plugin's formulas in plain NumPy. Also runs with NUMBA_DISABLE_JIT=1."""

from __future__ import annotations

import numpy as np
import pytest

from botz.physics.aero.lift_drag import Surface, angle_of_attack, coefficients, lift_drag

A0, CLA, CDA, CMA, STALL = 0.05984281113, 4.752798721, 0.6417112299, -1.8, 0.3391428111
CLA_STALL, CDA_STALL, CMA_STALL = -3.85, -0.9233984055, 0.4
AREA, DENSITY = 0.6, 1.2041
SHAPE = (CLA, CDA, CMA, STALL, CLA_STALL, CDA_STALL, CMA_STALL, 0.0)
WING = Surface(AREA, A0, *SHAPE, 0.0)


def forces(v, *, a0=A0, shape=SHAPE, radial=0.0, flap=0.0):
    found = lift_drag(Surface(AREA, a0, *shape, radial), *v, DENSITY, flap)
    return np.array(found[:3]), np.array(found[3:6]), found[6:]


def plugins(v, a0=A0, flap=0.0):
    """Gazebo's way by unit vectors, with forward x, up z, so that the span is −y; moment as the coefficients say."""
    x, z = np.array([1.0, 0, 0]), np.array([0, 0, 1.0])
    span = np.cross(x, z)
    sweep = 1 - (span @ v / np.linalg.norm(v)) ** 2
    plane = v - (v @ span) * span
    direction = np.cross(span, plane) / np.linalg.norm(plane)
    angle = np.arccos(np.clip(direction @ z, -1, 1))
    alpha = a0 + angle if direction @ x >= 0 else a0 - angle
    while abs(alpha) > np.pi / 2:
        alpha -= np.sign(alpha) * np.pi
    q = 0.5 * DENSITY * (plane @ plane)
    side, size = np.sign(alpha), abs(alpha)
    cl, cd = CLA * alpha, CDA * alpha
    if size > STALL:
        cl = side * max(CLA * STALL + CLA_STALL * (size - STALL), 0.0)
        cd = CDA * STALL + CDA_STALL * (size - STALL)
    lift = (cl * sweep + flap) * q * AREA
    drag = abs(cd) * sweep * q * AREA
    return lift * direction - drag * plane / np.linalg.norm(plane), alpha, lift, drag


def in_link(vector):
    """Along forward, span, up, with the axes of `plugins`, as x, y, z."""
    return np.array([vector[0], -vector[1], vector[2]])


@pytest.mark.parametrize("flap", [0.0, 0.7])
def test_forces_are_those_of_the_plugin(flap):
    rng = np.random.default_rng(5)
    for v in rng.normal(0.0, 12.0, (300, 3)):
        force, _, (lift, drag, alpha) = forces(in_link(v), flap=flap)
        expected, its_alpha, its_lift, its_drag = plugins(v, flap=flap)
        assert alpha == pytest.approx(its_alpha, abs=2e-7)  # arccos near 1 keeps half the digits
        assert lift == pytest.approx(its_lift, rel=1e-6, abs=1e-4)
        assert drag == pytest.approx(its_drag, rel=1e-6, abs=1e-4)
        assert in_link(force) == pytest.approx(expected, rel=1e-5, abs=2e-4)


def test_the_angle_of_attack_has_a_sign_and_an_offset():
    for angle in (-1.2, -0.2, 0.0, 0.1, 1.3):
        # It flies level and noses up by the angle: the air comes from below.
        assert angle_of_attack(0.0, np.cos(angle), -np.sin(angle)) == pytest.approx(angle, abs=1e-15)
        assert angle_of_attack(0.05, np.cos(angle), -np.sin(angle)) == pytest.approx(angle + 0.05, abs=1e-15)
    # Backwards, a flat plate lies in the air as forwards.
    assert angle_of_attack(0.0, -np.cos(0.1), -np.sin(0.1)) == pytest.approx(-0.1, abs=1e-15)
    assert angle_of_attack(0.0, 0.0, -1.0) == pytest.approx(np.pi / 2)
    assert angle_of_attack(0.4, 0.0, -1.0) == pytest.approx(0.4 - np.pi / 2)


@pytest.mark.parametrize("angle", [-0.2, 0.0, 0.15, 0.3])
def test_before_the_stall_lift_and_drag_are_straight_lines(angle):
    speed = 14.0
    pressed = 0.5 * DENSITY * AREA * speed**2
    force, moment, (lift, drag, alpha) = forces((speed * np.cos(angle), 0.0, -speed * np.sin(angle)), a0=0.0)
    assert alpha == pytest.approx(angle, abs=1e-15)
    assert lift == pytest.approx(pressed * CLA * angle, rel=1e-12, abs=1e-12)
    assert drag == pytest.approx(pressed * CDA * abs(angle), rel=1e-12, abs=1e-12)
    # Across the velocity and against it.
    assert force[2] * np.cos(angle) + force[0] * np.sin(angle) == pytest.approx(lift, rel=1e-12, abs=1e-12)
    assert force[0] * np.cos(angle) - force[2] * np.sin(angle) == pytest.approx(-drag, rel=1e-12, abs=1e-12)
    assert moment == pytest.approx([0.0, pressed * CMA * angle, 0.0], rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_after_the_stall_they_are_other_lines_and_lift_and_moment_stop_at_zero(side):
    beyond = 0.1
    lift, drag, moment = coefficients(WING, side * (STALL + beyond))
    assert lift == pytest.approx(side * (CLA * STALL + CLA_STALL * beyond), rel=1e-14)
    assert drag == pytest.approx(CDA * STALL + CDA_STALL * beyond, rel=1e-14)
    assert moment == pytest.approx(side * (CMA * STALL + CMA_STALL * beyond), rel=1e-14)
    lift, drag, moment = coefficients(WING._replace(cma_stall=9.0, cd0=0.02), side * 1.5)
    assert CLA * STALL + CLA_STALL * (1.5 - STALL) < 0 and lift == 0.0
    assert CMA * STALL + 9.0 * (1.5 - STALL) > 0 and moment == 0.0
    assert drag == pytest.approx(abs(CDA * STALL + CDA_STALL * (1.5 - STALL)) + 0.02, rel=1e-13)


def test_coefficients_are_continuous_at_the_stall():
    before, after = (np.array(coefficients(WING, STALL + change)) for change in (-1e-9, 1e-9))
    assert before == pytest.approx(after, abs=1e-7)


def test_sideways_motion_takes_lift_by_the_square_of_the_cosine():
    straight, _, (lift, *_) = forces((10.0, 0.0, -1.0))
    swept, _, (less, *_) = forces((10.0, 10.0, -1.0))
    share = 101.0 / 201.0
    assert less == pytest.approx(share * lift, rel=1e-13)
    assert swept == pytest.approx(share * straight, rel=1e-13)


def test_a_flap_adds_lift_and_nothing_else():
    plain, moment, (_, drag, alpha) = forces((10.0, 0.0, 0.0))
    raised, its_moment, (_, its_drag, its_alpha) = forces((10.0, 0.0, 0.0), flap=0.3)
    assert raised - plain == pytest.approx([0.0, 0.0, 0.3 * 0.5 * DENSITY * AREA * 100.0], rel=1e-12)
    assert (its_drag, its_alpha) == (drag, alpha)
    assert (its_moment == moment).all()


def test_a_body_of_revolution_has_no_preferred_side():
    ahead, aside = 20.0, 1.7
    level, moment, numbers = forces((ahead, 0.0, -aside), a0=0.0)
    for turn in np.linspace(0.1, 6.0, 9):
        # The velocity turned about `forward`, which takes span into up by `turn`: so turn force and moment.
        c, s = np.cos(turn), np.sin(turn)
        rotation = np.array([[1, 0, 0], [0, c, -s], [0, s, c]])
        v = rotation @ (ahead, 0.0, -aside)
        force, its_moment, its_numbers = forces(v, a0=0.0, radial=1.0)
        assert force == pytest.approx(rotation @ level, abs=1e-10)
        assert its_moment == pytest.approx(rotation @ moment, abs=1e-10)
        assert its_numbers == pytest.approx(numbers, rel=1e-12)


@pytest.mark.parametrize("radial", [0.0, 1.0])
def test_nothing_happens_at_rest_and_forces_go_with_the_square_of_the_speed(radial):
    force, moment, (lift, drag, alpha) = forces((0.0, 0.0, 0.0), radial=radial)
    assert not force.any() and not moment.any() and (lift, drag) == (0.0, 0.0) and np.isfinite(alpha)
    force, _, _ = forces((10.0, 2.0, -1.0), radial=radial)
    for scale in (1e-3, 1e-8, 1e-160):
        found, its_moment, numbers = forces((10.0 * scale, 2.0 * scale, -scale), radial=radial)
        assert np.isfinite(found).all() and np.isfinite(its_moment).all() and np.isfinite(numbers).all()
        assert found == pytest.approx(scale**2 * force, rel=1e-9, abs=1e-300)
    # Purely sideways there is no speed in the plane.
    assert not forces((0.0, 5.0, 0.0))[0].any()
    # Straight ahead a body of revolution has drag alone.
    assert forces((10.0, 0.0, 0.0), radial=1.0)[0][1:] == pytest.approx([0.0, 0.0], abs=0.0)
