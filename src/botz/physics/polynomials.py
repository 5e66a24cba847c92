"""Sine, cosine, arctangent and exponential as polynomials.

They serve where the library's functions cost more than all the rest: a loop over four wheels that calls these becomes
vector code, a loop that calls libm does not. Sums are paired (Estrin's scheme): a chain of dependent products would
be the longest way through a step. Errors, measured against libm on a million points by a test: sine 2e-15,
arctangent 4e-16, exponential 1e-13 of its value, cosine and sine together 2e-16.
"""

from __future__ import annotations

from math import cos, floor, sin

from botz.kernels import inlined

PI = 3.141592653589793
HALF_PI = 1.5707963267948966
QUARTER_PI = 0.7853981633974483


@inlined
def sin_of(x):
    """sin x for |x| ≤ 3π/2: reflected into [−π/2, π/2], there x + x³ p(x²) with p by Chebyshev's nodes."""
    if x > HALF_PI:
        x = PI - x
    if x < -HALF_PI:
        x = -PI - x
    s = x * x
    s2 = s * s
    low = (-0.1666666666666667 + s * 0.008333333333332431) + s2 * (-0.00019841269840802534 + s * 2.755731912095495e-06)
    high = (-2.505209691385731e-08 + s * 1.6058361589623148e-10) + s2 * (
        -7.626112536895444e-13 + s * 2.5258055089793977e-15
    )
    return x + x * s * (low + s2 * s2 * high)


@inlined
def cos_of(x):
    """cos x for 0 ≤ x ≤ 2π."""
    return sin_of(HALF_PI - x)


@inlined
def cos_sin(x):  # -> cosine, sine
    """Both of any angle: x = k π/2 + r with |r| ≤ π/4, π/2 in three parts so that r is exact to rounding; there by
    Taylor's polynomials of degree 15 and 16, whose next terms are below 1e-16. Beyond a million quarter turns by
    libm."""
    if not abs(x) < 1.57e6:
        return cos(x), sin(x)
    k = floor(x * 0.6366197723675814 + 0.5)
    r = ((x - k * 1.5707963267341256) - k * 6.077100506303966e-11) - k * 2.0222662487959506e-21
    z = r * r
    z2 = z * z
    z4 = z2 * z2
    low = (-0.16666666666666666 + z * 0.008333333333333333) + z2 * (-0.0001984126984126984 + z * 2.7557319223985893e-06)
    high = (-2.505210838544172e-08 + z * 1.6059043836821613e-10) + z2 * -7.647163731819816e-13
    s = r + r * z * (low + z4 * high)
    low = (0.041666666666666664 + z * -0.001388888888888889) + z2 * (2.48015873015873e-05 + z * -2.755731922398589e-07)
    high = (2.08767569878681e-09 + z * -1.1470745597729725e-11) + z2 * 4.779477332387385e-14
    c = 1.0 - (0.5 * z - z2 * (low + z4 * high))
    quarter = int(k) & 3
    if quarter & 1:
        s, c = c, s
    return (-c if quarter == 1 or quarter == 2 else c), (-s if quarter >= 2 else s)


@inlined
def atan_of(x):
    """arctan x: |x| beyond tan 67.5° by its reciprocal, above tan 22.5° turned back by 45°, one division for both."""
    a = abs(x)
    steep = a > 2.414213562373095
    middle = a > 0.41421356237309503
    top = -1.0 if steep else (a - 1.0 if middle else a)
    below = a if steep else (a + 1.0 if middle else 1.0)
    base = HALF_PI if steep else (QUARTER_PI if middle else 0.0)
    u = top / below
    s = u * u
    s2 = s * s
    low = (-0.3333333333333326 + s * 0.1999999999990154) + s2 * (-0.14285714266524416 + s * 0.11111109659936697)
    high = (-0.09090853207131151 + s * 0.07691065369906262) + s2 * (-0.06649708330891706 + s * 0.057368445496049296)
    s4 = s2 * s2
    high += s4 * (-0.0448483239877969 + s * 0.022768774250906988)
    angle = base + (u + u * s * (low + s4 * high))
    return angle if x >= 0.0 else -angle


@inlined
def exp_of(x):
    """exp x for x ≤ 0: by a polynomial at x/64, squared six times. Below −40 it stays at exp(−40) = 4e-18."""
    r = max(x, -40.0) * 0.015625
    r2 = r * r
    low = (0.5000000000000006 + r * 0.1666666666666868) + r2 * (0.0416666666670325 + r * 0.008333333334571872)
    high = (0.0013888888640695496 + r * 0.0001984124008518592) + r2 * (
        2.4800112013571205e-05 + r * 2.751717496023937e-06
    )
    r4 = r2 * r2
    high += r4 * (2.6929276059399033e-07 + r * 1.9670857801668617e-08)
    value = 1.0 + r + r2 * (low + r4 * high)
    value = value * value
    value = value * value
    value = value * value
    value = value * value
    value = value * value
    return value * value
