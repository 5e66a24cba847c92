"""`botz verify multibody`, and what it judges with."""

from __future__ import annotations

import numpy as np
import pytest
from verified_family import FamilyTests

from botz.verify.multibody.motion import runge_kutta
from botz.verify.multibody.rig import about, attitude
from botz.verify.multibody.sensors import cartesian
from botz.verify.multibody.wing import WING, wing_by_equation


class TestMultibody(FamilyTests):
    family = "multibody"


# --- the reference, by cases that are plain to see --------------------------------------------------------------------


def test_turns():
    assert about(2, np.pi / 2) @ [1, 0, 0] == pytest.approx([0, 1, 0], abs=1e-15)
    assert about(1, np.pi / 2) @ [0, 0, 1] == pytest.approx([1, 0, 0], abs=1e-15)
    # Yaw first: the nose, turned left, then pitched down about the new y axis.
    assert attitude(0, np.pi / 2, np.pi / 2) @ [1, 0, 0] == pytest.approx([0, 0, -1], abs=1e-15)


def test_a_wing_lifts_across_and_drags_against_its_way():
    level = {**WING, "a0": 0.0}
    force, _, alpha = wing_by_equation(level, np.array([10.0, 0.0, -1.0]))
    along = np.array([10.0, 0.0, -1.0]) / np.sqrt(101.0)
    pressure = 0.5 * 1.225 * 101.0 * WING["area"]
    assert alpha == pytest.approx(np.arctan(0.1))
    assert force @ along == pytest.approx(-pressure * (WING["cda"] * alpha + WING["cd0"]))
    assert force @ [1.0 / np.sqrt(101.0), 0.0, 10.0 / np.sqrt(101.0)] == pytest.approx(pressure * WING["cla"] * alpha)
    # Backwards it meets the air with its other edge, at the same angle.
    _, _, behind = wing_by_equation(level, np.array([-10.0, 0.0, 1.0]))
    assert behind == pytest.approx(alpha)


def test_plain_runge_kutta():
    end = runge_kutta(lambda state: -state, np.array([1.0]), 0.1, 10)
    assert end[0] == pytest.approx(np.exp(-1.0), abs=1e-6)
    assert end[0] != pytest.approx(np.exp(-1.0), abs=1e-8)


def test_places_on_the_ellipsoid():
    assert cartesian(0.0, 0.0, 0.0) == pytest.approx([6378137.0, 0.0, 0.0])
    assert cartesian(90.0, 0.0, 100.0)[2] == pytest.approx(6356752.3142 + 100.0, abs=1e-3)
