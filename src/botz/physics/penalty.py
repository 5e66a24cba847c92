"""A point pressed into the ground: spring and damper along the normal, friction that sticks or slides across it."""

from __future__ import annotations

from math import sqrt

from botz.frames import compiled, dot


@compiled
def penalty_force(
    # parameters
    stiffness, damping, friction,
    # state in: depth, normal, velocity of the point, tangential deflection, step (0: the deflection stays)
    depth, nx, ny, nz, vx, vy, vz, ux, uy, uz, dt,
):  # -> force, new deflection (three numbers each)  # fmt: skip
    """N = k d − c v·n̂, never a pull. Across it the point hangs on a spring of the same stiffness that gives way at μN,
    so that a body at rest stays at rest."""
    v_n = dot(vx, vy, vz, nx, ny, nz)
    normal = max(stiffness * depth - damping * v_n, 0.0)
    vx, vy, vz = vx - v_n * nx, vy - v_n * ny, vz - v_n * nz
    along = dot(ux, uy, uz, nx, ny, nz)
    ux, uy, uz = ux - along * nx, uy - along * ny, uz - along * nz
    k, c = stiffness, damping + stiffness * dt
    fx, fy, fz = k * ux - c * vx, k * uy - c * vy, k * uz - c * vz
    size, limit = sqrt(fx * fx + fy * fy + fz * fz), friction * normal
    if size > limit:
        share = limit / size
        fx, fy, fz = fx * share, fy * share, fz * share
        # The limit stretches the spring against its damper, no faster; at once, its energy would come of nothing.
        ease = dt / c if dt > 0.0 else 0.0
        ux, uy, uz = ux + ease * (fx - k * ux), uy + ease * (fy - k * uy), uz + ease * (fz - k * uz)
    else:
        ux, uy, uz = ux - dt * vx, uy - dt * vy, uz - dt * vz
    return fx + normal * nx, fy + normal * ny, fz + normal * nz, ux, uy, uz
