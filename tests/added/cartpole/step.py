"""Equations and steps of carts with pendulums, by Lagrange: with the angle θ from hanging, positive ahead,

(M + m) x'' + m l (θ'' cos θ - θ'² sin θ) = F
x'' cos θ + l θ'' + g sin θ = 0
"""

from __future__ import annotations

from math import cos, sin

from numba import njit

from botz.kernels import UNCOUNTED, inlined


@inlined
def accelerations(robot, angle, rate, force):  # -> of the cart [m/s²], of the pendulum [rad/s²]
    c, s = cos(angle), sin(angle)
    cart = (force + robot.bob * s * (robot.length * rate * rate + robot.gravity * c)) / (robot.cart + robot.bob * s * s)
    return cart, -(robot.gravity * s + cart * c) / robot.length


@inlined
def step(robot, now, force, dt):
    """Classical Runge-Kutta step of fourth order."""
    dx, dv, da, dw = 0.0, 0.0, 0.0, 0.0
    velocity, angle, rate = now.velocity, now.angle, now.rate
    for stage in range(4):
        weight = 1.0 / 6.0 if stage == 0 or stage == 3 else 1.0 / 3.0
        cart, pole = accelerations(robot, angle, rate, force)
        dx, dv, da, dw = dx + weight * velocity, dv + weight * cart, da + weight * rate, dw + weight * pole
        h = dt if stage == 2 else 0.5 * dt
        angle = now.angle + h * rate
        velocity, rate = now.velocity + h * cart, now.rate + h * pole
    now.position += dt * dx
    now.velocity += dt * dv
    now.angle += dt * da
    now.rate += dt * dw


@inlined
def write_row(model, state, inputs, row):
    for r in range(model.size):
        now = state[r]
        row[5 * r], row[5 * r + 1], row[5 * r + 2] = now.position, now.velocity, now.angle
        row[5 * r + 3], row[5 * r + 4] = now.rate, inputs[r]


@njit(cache=True, error_model="numpy", nogil=True, **UNCOUNTED)
def advance(model, state, inputs, dt, first, n, record_every, rows):
    """`n` steps from step `first`, with a row at every multiple of `record_every`; whether the state is finite then."""
    kept = 0
    for k in range(first, first + n):
        for r in range(model.size):
            step(model[r], state[r], inputs[r], dt)
        if record_every > 0 and (k + 1) % record_every == 0:
            write_row(model, state, inputs, rows[kept])
            kept += 1
    total = 0.0
    for r in range(model.size):
        total += 0.0 * (state[r].position + state[r].velocity + state[r].angle + state[r].rate)
    return total == 0.0


@njit(cache=True, error_model="numpy", nogil=True, **UNCOUNTED)
def observe(model, state, inputs, row):
    write_row(model, state, inputs, row)
