"""A point pressed into the ground: spring and damper along the normal, friction that sticks or slides across it."""

from __future__ import annotations

from math import sqrt

from botz.kernels import compiled
from botz.rotations import dot


@compiled
def penalty_force(material, depth, normal, velocity, deflection, dt):  # -> force, new deflection (three numbers each)
    """The force of `penalty_rates`, and the deflection after a step (0: it stays)."""
    fx, fy, fz, ux, uy, uz, rx, ry, rz = penalty_rates(material, depth, normal, velocity, deflection, dt, dt)
    return fx, fy, fz, ux + dt * rx, uy + dt * ry, uz + dt * rz


@compiled
def penalty_rates(
    # parameters: stiffness, damping, friction
    material,
    # state in: depth; normal, velocity of the point, tangential deflection (three numbers each)
    depth, normal, velocity, deflection,
    # step of an implicit update (0: none, the force at the present state), step of the method
    dt, step,
):  # -> force, deflection in the plane of the contact, its rate (three numbers each)  # fmt: skip
    """N = k d − c v·n̂, never a pull. Across it the point hangs on a spring of the same stiffness that gives way at μN,
    so that a body at rest stays at rest.

    Loose, the limit stretches the spring against its damper, c u̇ + k u = F: at once, its energy would come of nothing.
    A damper too weak for the step, c < k h, follows within one step.
    """
    stiffness, damping, friction = material
    nx, ny, nz = normal
    vx, vy, vz = velocity
    ux, uy, uz = deflection
    v_n = dot(vx, vy, vz, nx, ny, nz)
    load = max(stiffness * depth - damping * v_n, 0.0)
    vx, vy, vz = vx - v_n * nx, vy - v_n * ny, vz - v_n * nz
    along = dot(ux, uy, uz, nx, ny, nz)
    ux, uy, uz = ux - along * nx, uy - along * ny, uz - along * nz
    k, c = stiffness, damping + stiffness * dt
    fx, fy, fz = k * ux - c * vx, k * uy - c * vy, k * uz - c * vz
    size, limit = sqrt(fx * fx + fy * fy + fz * fz), friction * load
    if size > limit:
        share = limit / size
        fx, fy, fz = fx * share, fy * share, fz * share
        drag = max(c, k * step)
        ease = 1.0 / drag if drag > 0.0 else 0.0
        rx, ry, rz = ease * (fx - k * ux), ease * (fy - k * uy), ease * (fz - k * uz)
    else:
        rx, ry, rz = -vx, -vy, -vz
    return fx + load * nx, fy + load * ny, fz + load * nz, ux, uy, uz, rx, ry, rz
