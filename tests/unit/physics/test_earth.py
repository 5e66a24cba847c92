"""The standard atmosphere against its published table, and places on the ellipsoid against known lengths."""

from __future__ import annotations

from math import pi

import pytest

from botz.physics.earth import place_on_earth, standard_pressure


@pytest.mark.parametrize(
    ("height", "pressure"),
    [(0.0, 101325.0), (1000.0, 89874.6), (5000.0, 54019.9), (11000.0, 22632.0), (15000.0, 12044.6), (20000.0, 5474.89)],
)
def test_pressure_by_the_published_table(height: float, pressure: float) -> None:
    # ISO 2533 by geopotential height, printed with six digits.
    assert standard_pressure(height) == pytest.approx(pressure, rel=1e-5)


def test_pressure_has_no_step_at_the_tropopause() -> None:
    below, above = standard_pressure(11000.0 - 1e-6), standard_pressure(11000.0 + 1e-6)
    assert below > above
    # Of that little height the air weighs ρ g dh = 0.364 kg/m³ · 9.81 m/s² · 2e-6 m.
    assert below - above == pytest.approx(7.14e-6, rel=0.01)


def test_a_degree_of_latitude_and_longitude() -> None:
    # WGS 84: a degree is 110.574 km along the meridian and 111.320 km along the equator at latitude 0.
    latitude, longitude, height = place_on_earth(0.0, 0.0, 0.0, 111319.49, 110574.3, 5.0)
    assert (latitude, longitude, height) == pytest.approx((1.0, 1.0, 5.0), abs=2e-6)
    # At 60° a parallel is about half as long: 55.800 km a degree.
    assert place_on_earth(60.0, 10.0, 0.0, 55800.2, 0.0, 0.0)[1] == pytest.approx(11.0, abs=1e-5)


def test_longitude_goes_on_at_the_date_line() -> None:
    east = pi / 180 * 6378137.0  # a degree along the equator
    assert place_on_earth(0.0, 179.5, 0.0, east, 0.0, 0.0)[1] == pytest.approx(-179.5, abs=1e-9)
    assert place_on_earth(0.0, -179.5, 0.0, -east, 0.0, 0.0)[1] == pytest.approx(179.5, abs=1e-9)
