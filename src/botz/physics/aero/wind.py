"""Wind that is the same everywhere at a time: a steady part, gusts, and turbulence."""

from __future__ import annotations

from math import cos, exp, expm1, sqrt

from botz.kernels import compiled, record
from botz.physics.polynomials import PI

WIND = record(
    steady=("f8", 3),  # velocity of the air in the world [m/s]
    intensity=("f8", 3),  # standard deviations of the turbulence [m/s]
    correlation_time="f8",  # in which turbulence forgets itself [s]
    turbulence=("f8", 3),  # state: its velocity now [m/s]
)
GUST = record(
    at="f8",  # when it begins [s]
    duration="f8",  # [s]
    velocity=("f8", 3),  # in its middle [m/s]
)


@compiled
def gust_share(at, duration, time):
    """½ (1 − cos 2πs) over the gust's time, s = 0 … 1, and 0 outside: it begins and ends without a kink."""
    share = (time - at) / duration
    return 0.5 * (1.0 - cos(2.0 * PI * share)) if 0.0 < share < 1.0 else 0.0


@compiled
def wind_at(wind, gusts, time):  # -> velocity of the air in the world, 3 numbers
    """The steady wind, the gusts of this time and the turbulence as it is now."""
    x = wind.steady[0] + wind.turbulence[0]
    y = wind.steady[1] + wind.turbulence[1]
    z = wind.steady[2] + wind.turbulence[2]
    for i in range(len(gusts)):
        share = gust_share(gusts[i].at, gusts[i].duration, time)
        x += share * gusts[i].velocity[0]
        y += share * gusts[i].velocity[1]
        z += share * gusts[i].velocity[2]
    return x, y, z


@compiled
def turbulence_step(wind, dt, n1, n2, n3):
    """The exact step of an Ornstein-Uhlenbeck process by standard normal numbers: u e^(−dt/T) + σ √(1 − e^(−2dt/T)) n.

    Its spectrum is that of Dryden's longitudinal gusts; any step gives the same spread and correlation.
    """
    kept = exp(-dt / wind.correlation_time)
    new = sqrt(-expm1(-2.0 * dt / wind.correlation_time))
    wind.turbulence[0] = kept * wind.turbulence[0] + new * wind.intensity[0] * n1
    wind.turbulence[1] = kept * wind.turbulence[1] + new * wind.intensity[1] * n2
    wind.turbulence[2] = kept * wind.turbulence[2] + new * wind.intensity[2] * n3
