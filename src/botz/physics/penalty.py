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
    ux, uy, uz = ux - along * nx - dt * vx, uy - along * ny - dt * vy, uz - along * nz - dt * vz
    fx, fy, fz = stiffness * ux - damping * vx, stiffness * uy - damping * vy, stiffness * uz - damping * vz
    size, limit = sqrt(fx * fx + fy * fy + fz * fz), friction * normal
    if size > limit:
        share = limit / size
        fx, fy, fz = fx * share, fy * share, fz * share
        ux, uy, uz = fx / stiffness, fy / stiffness, fz / stiffness
    return fx + normal * nx, fy + normal * ny, fz + normal * nz, ux, uy, uz
