"""Real roots of quartic polynomials and of trigonometric polynomials of second degree, without allocation.

Roots are bracketed between the extrema, which are bracketed between the points of inflection: a closed formula loses
half of the digits where roots come together, which is where an arm is singular.
"""

from __future__ import annotations

from math import atan, atan2, sqrt

from botz.kernels import compiled, inlined

ROOT_HALF = 0.7071067811865476


@inlined
def polynomial(p4, p3, p2, p1, p0, t):
    return (((p4 * t + p3) * t + p2) * t + p1) * t + p0


@compiled
def bracketed_root(p4, p3, p2, p1, p0, low, high):
    """The root between two points of different sign: Newton's steps, halved intervals where one leads out."""
    rising = polynomial(p4, p3, p2, p1, p0, high) > 0.0
    t = 0.5 * (low + high)
    for _ in range(100):
        value = polynomial(p4, p3, p2, p1, p0, t)
        if (value > 0.0) == rising:
            high = t
        else:
            low = t
        slope = ((4.0 * p4 * t + 3.0 * p3) * t + 2.0 * p2) * t + p1
        new = t - value / slope if slope != 0.0 else low
        if not low < new < high:
            new = 0.5 * (low + high)
        if abs(new - t) <= 1e-16 * (1.0 + abs(t)):
            return new
        t = new
    return t


@compiled
def cubic_extrema(p4, p3, p2, p1, bound):  # -> count, three points in rising order: zeros of the quartic's derivative
    """Only where the sign changes: where the derivative merely touches zero, the quartic stays monotonic."""
    c3, c2, c1, c0 = 4.0 * p4, 3.0 * p3, 2.0 * p2, p1
    first, second, points = bound, bound, 0
    discriminant = c2 * c2 - 3.0 * c3 * c1
    if discriminant > 0.0:
        half = sqrt(discriminant)
        first, second, points = (-c2 - half) / (3.0 * c3), (-c2 + half) / (3.0 * c3), 2
    count, r0, r1, r2 = 0, 0.0, 0.0, 0.0
    low = -bound
    for k in range(points + 1):
        high = bound if k == points else (first if k == 0 else second)
        high = min(max(high, -bound), bound)
        if high > low:
            below, above = polynomial(0.0, c3, c2, c1, c0, low), polynomial(0.0, c3, c2, c1, c0, high)
            if (below > 0.0) != (above > 0.0):
                root = bracketed_root(0.0, c3, c2, c1, c0, low, high)
                r0, r1, r2 = (root, r1, r2) if count == 0 else ((r0, root, r2) if count == 1 else (r0, r1, root))
                count += 1
        low = high
    return count, r0, r1, r2


@compiled
def quartic_roots(p3, p2, p1, p0, slack):  # -> count, four roots
    """Of t⁴ + p3 t³ + p2 t² + p1 t + p0. An extremum that misses zero by less than `slack` (1 + t²)² is a root."""
    bound = 1.0 + max(max(abs(p3), abs(p2)), max(abs(p1), abs(p0)))
    extrema, e0, e1, e2 = cubic_extrema(1.0, p3, p2, p1, bound)
    count, r0, r1, r2, r3 = 0, 0.0, 0.0, 0.0, 0.0
    low, below, crossed = -bound, polynomial(1.0, p3, p2, p1, p0, -bound), True
    for k in range(extrema + 1):
        high = bound if k == extrema else (e0 if k == 0 else (e1 if k == 1 else e2))
        above = polynomial(1.0, p3, p2, p1, p0, high)
        crosses = (below > 0.0) != (above > 0.0)
        touches = not crosses and not crossed and abs(below) <= slack * (1.0 + low * low) ** 2
        if (crosses or touches) and count < 4:
            root = low
            if crosses:
                root = bracketed_root(1.0, p3, p2, p1, p0, low, high)
            if count == 0:
                r0 = root
            elif count == 1:
                r1 = root
            elif count == 2:
                r2 = root
            else:
                r3 = root
            count += 1
        low, below, crossed = high, above, crosses
    return count, r0, r1, r2, r3


@inlined
def quadric(q0, qc, qs, qcc, qcs, qss, c, s):
    return q0 + (qc + qcc * c + qcs * s) * c + (qs + qss * s) * s


@compiled
def trigonometric_roots(
    q0, qc, qs, qcc, qcs, qss, slack, rounding
):  # -> count, four angles; −1 where every angle is one
    """Of q0 + qc c + qs s + qcc c² + qcs c s + qss s², with c and s of the angle. An extremum that misses zero by less
    than `slack` times the greatest value, or by less than `rounding`, is a root: the coefficients may be what is left
    of much larger terms, and only who made them knows how exact they are.

    With t = tan(x/2) this is a quartic whose leading coefficient is the value at x = π, so x is counted from opposite
    to where the value is greatest: then no root lies near infinity.
    """
    greatest, c0, s0 = -1.0, 1.0, 0.0
    c, s = 1.0, 0.0
    for _ in range(8):
        value = abs(quadric(q0, qc, qs, qcc, qcs, qss, c, s))
        if value > greatest:
            greatest, c0, s0 = value, -c, -s
        c, s = ROOT_HALF * (c - s), ROOT_HALF * (c + s)
    if greatest <= rounding:
        return -1, 0.0, 0.0, 0.0, 0.0
    # c = c0 cos x − s0 sin x, s = s0 cos x + c0 sin x
    nc, ns = qc * c0 + qs * s0, qs * c0 - qc * s0
    ncc = qcc * c0 * c0 + qcs * c0 * s0 + qss * s0 * s0
    nss = qcc * s0 * s0 - qcs * c0 * s0 + qss * c0 * c0
    ncs = 2.0 * (qss - qcc) * c0 * s0 + qcs * (c0 * c0 - s0 * s0)
    lead = q0 - nc + ncc
    count, t0, t1, t2, t3 = quartic_roots(
        2.0 * (ns - ncs) / lead, 2.0 * (q0 - ncc + 2.0 * nss) / lead, 2.0 * (ns + ncs) / lead, (q0 + nc + ncc) / lead,
        slack + rounding / greatest,
    )  # fmt: skip
    middle = atan2(s0, c0)
    return count, middle + 2.0 * atan(t0), middle + 2.0 * atan(t1), middle + 2.0 * atan(t2), middle + 2.0 * atan(t3)
