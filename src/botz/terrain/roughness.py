"""Random roughness by ISO 8608 on a surface that looks the same in all directions."""

from __future__ import annotations

import math

import numpy as np

from botz.errors import InputError, Problem
from botz.scenario.terrain import Roughness

N_0 = 0.1
"""Reference spatial frequency of ISO 8608 [cycles/m]."""
ROUGHNESS_STREAM = 2
"""Tells the random numbers of roughness from those of bumps, where both have the scenario's seed."""
SMOOTH_FROM = 16
"""Beyond this many cells of the frequency plane from its origin the density hardly changes within a cell."""

# The surface's two-sided density S(κ), κ = |(n, m)| in cycles/m, follows from the one-sided density that every cut must
# have, G_d(n) = G_d(n0) n0²/n² (ISO 8608, waviness 2). A cut along x sees all waves with its n, whatever their m (the
# Abel relation of an isotropic field):
#     G_d(n)/2 = ∫ S(√(n² + m²)) dm    over all m.
# S = C κ⁻³ does it, since ∫ (n² + m²)^(-3/2) dm = 2/n²: then G_d(n) = 4 C/n², so C = G_d(n0) n0²/4.
#
# Cut off at κ_max = 1/shortest, the integral ends at m = √(κ_max² − n²), and a cut has G_d(n) √(1 − n²/κ_max²): 0.5 %
# less at a tenth of κ_max, 13 % less at its half. Waves longer than the terrain do not exist on it.


def rough_heights(
    roughness: Roughness, shape: tuple[int, ...], lengths: tuple[float, float], *, seed: int, key: str
) -> np.ndarray:
    """Heights of zero mean on a grid of `shape` over `lengths` [m]. Opposite edges fit together."""
    rng = np.random.default_rng([ROUGHNESS_STREAM, seed if roughness.seed is None else roughness.seed])
    spacing = [length / (points - 1) for length, points in zip(lengths, shape, strict=True)]
    shortest, longest = _band(roughness, lengths, spacing, key)
    import scipy.fft  # here, for it takes a while and few worlds are rough

    waves = scipy.fft.rfft2(rng.standard_normal(shape), overwrite_x=True)
    # White noise has E|W|² = N for N points, and irfft2 divides by N: the factor √(N P) leaves the power P per wave.
    power = _wave_powers(shape, spacing, shortest, longest)
    if not power.any():
        none = f"no wave between {shortest:.4g} m and {longest:.4g} m long fits on this terrain; widen the band"
        raise InputError(Problem(none, key=key))
    power *= roughness.density * math.prod(shape)
    waves *= np.sqrt(power, out=power)
    return scipy.fft.irfft2(waves, s=shape, overwrite_x=True)


def _band(roughness: Roughness, lengths: tuple[float, float], spacing: list[float], key: str) -> tuple[float, float]:
    """Shortest and longest wavelength [m]."""
    cell = max(spacing)
    shortest = 4 * cell if roughness.shortest is None else roughness.shortest
    if shortest < 2 * cell * (1 - 1e-9):
        short = (
            f"{shortest:.4g} m is less than 2 cells of {cell:.4g} m, which no grid can hold; at least {2 * cell:.4g} m"
        )
        raise InputError(Problem(short, key=f"{key}.shortest"))
    longest = max(lengths) if roughness.longest is None else roughness.longest
    if shortest >= longest:
        which = "shortest" if roughness.longest is None else "longest"
        message = f"the shortest wavelength, {shortest:.4g} m, must be less than the longest, {longest:.4g} m"
        raise InputError(Problem(message, key=f"{key}.{which}"))
    return shortest, longest


def _wave_powers(shape: tuple[int, ...], spacing: list[float], shortest: float, longest: float) -> np.ndarray:
    """Mean square per G_d(n0) of each wave of the half plane that rfft2 keeps [1/m]: S(κ) integrated over its cell."""
    n = np.abs(np.fft.fftfreq(shape[0], spacing[0]))
    m = np.fft.rfftfreq(shape[1], spacing[1])
    d_n, d_m = 1 / (shape[0] * spacing[0]), 1 / (shape[1] * spacing[1])
    kappa = np.hypot(n[:, None], m[None, :])
    # A wave as long as the terrain has the period of the grid, which is one cell longer.
    outside = (kappa * shortest > 1 + 1e-9) | (kappa * (longest + max(spacing)) < 1 - 1e-9)
    kappa[0, 0] = 1.0
    power = d_n * d_m / (kappa * kappa * kappa)
    # Near the origin a cell's middle is no measure of its integral: along the short side of a long terrain the waves
    # are far apart. There the closed form holds: ∬ κ⁻³ dn dm = −κ/(n m), taken at the cell's four corners. It is odd
    # in n and in m, so cells across an axis come out right as well.
    i = np.flatnonzero(n <= SMOOTH_FROM * max(d_n, d_m))
    j = np.flatnonzero(m <= SMOOTH_FROM * max(d_n, d_m))
    low_n, high_n = (n[i] - d_n / 2)[:, None], (n[i] + d_n / 2)[:, None]
    low_m, high_m = (m[j] - d_m / 2)[None, :], (m[j] + d_m / 2)[None, :]
    power[np.ix_(i, j)] = (
        _primitive(high_n, high_m) - _primitive(low_n, high_m) - _primitive(high_n, low_m) + _primitive(low_n, low_m)
    )
    power *= N_0**2 / 4
    power[outside] = 0.0
    power[0, 0] = 0.0
    return power


def _primitive(n: np.ndarray, m: np.ndarray) -> np.ndarray:
    return -np.hypot(n, m) / (n * m)
