"""The standard atmosphere and places on the earth's ellipsoid."""

from __future__ import annotations

from math import cos, pi, sin, sqrt

from botz.frames import compiled

SEA_LEVEL_PRESSURE = 101325.0
SEA_LEVEL_TEMPERATURE = 288.15
LAPSE_RATE = 0.0065
AIR_GAS_CONSTANT = 287.05287
STANDARD_GRAVITY = 9.80665
"""Of the ISO 2533 standard atmosphere [Pa, K, K/m, J/(kg·K), m/s²]."""
EQUATOR_RADIUS = 6378137.0
ECCENTRICITY_SQUARED = 6.69437999014e-3
"""Of WGS 84 [m, 1]."""


@compiled
def standard_pressure(height):
    """p = p₀ (1 − L h/T₀)^(g₀/(R L)) in the troposphere, below 11 km [Pa]."""
    ratio = max(1.0 - LAPSE_RATE * height / SEA_LEVEL_TEMPERATURE, 1e-3)
    return SEA_LEVEL_PRESSURE * ratio ** (STANDARD_GRAVITY / (AIR_GAS_CONSTANT * LAPSE_RATE))


@compiled
def place_on_earth(latitude, longitude, height, east, north, up):  # -> latitude, longitude [degrees], height [m]
    """A place by its distances from an origin near it: along the meridian's and the parallel's radii of curvature. The
    error is of second order in distance by the earth's radius."""
    sine = sin(latitude * pi / 180.0)
    w = 1.0 - ECCENTRICITY_SQUARED * sine * sine
    parallel = EQUATOR_RADIUS / sqrt(w)
    meridian = parallel * (1.0 - ECCENTRICITY_SQUARED) / w
    d_latitude = north / (meridian + height) * 180.0 / pi
    d_longitude = east / ((parallel + height) * cos(latitude * pi / 180.0)) * 180.0 / pi
    return latitude + d_latitude, longitude + d_longitude, height + up
