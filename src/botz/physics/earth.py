"""The standard atmosphere and places on the earth's ellipsoid."""

from __future__ import annotations

from math import cos, exp, pi, sin, sqrt

from botz.kernels import compiled

SEA_LEVEL_PRESSURE = 101325.0
SEA_LEVEL_TEMPERATURE = 288.15
LAPSE_RATE = 0.0065
AIR_GAS_CONSTANT = 287.05287
STANDARD_GRAVITY = 9.80665
"""Of the ISO 2533 standard atmosphere [Pa, K, K/m, J/(kg·K), m/s²]."""
EQUATOR_RADIUS = 6378137.0
ECCENTRICITY_SQUARED = 6.69437999014e-3
"""Of WGS 84 [m, 1]."""


TROPOPAUSE = 11000.0
"""Height up to which the air grows colder; above it the temperature stays [m]."""


@compiled
def standard_pressure(height):
    """p = p₀ (T/T₀)^(g₀/(R L)) with T = T₀ − L h up to 11 km, and from there on p ~ exp(−g₀ h/(R T)) [Pa]."""
    lower = min(height, TROPOPAUSE)
    temperature = SEA_LEVEL_TEMPERATURE - LAPSE_RATE * lower
    ratio = temperature / SEA_LEVEL_TEMPERATURE
    pressure = SEA_LEVEL_PRESSURE * ratio ** (STANDARD_GRAVITY / (AIR_GAS_CONSTANT * LAPSE_RATE))
    return pressure * exp(-STANDARD_GRAVITY * (height - lower) / (AIR_GAS_CONSTANT * temperature))


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
    east_of_edge = (longitude + d_longitude + 180.0) % 360.0 - 180.0
    return latitude + d_latitude, east_of_edge, height + up
