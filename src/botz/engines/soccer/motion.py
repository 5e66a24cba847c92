"""Free motion of robots and ball within a step of engine `soccer`, by Euler's method or Runge and Kutta's."""

from __future__ import annotations

from botz.engines.soccer.model import EULER
from botz.kernels import compiled
from botz.physics.soccer.planar_drive import (
    acceleration,
    applied_voltages,
    drag_force,
    kinetic_energy,
    motor_force,
    turned,
)


@compiled
def total_energy(model, speeds):
    """Kinetic energy of all that is in play [J]."""
    ball = speeds[len(model.robots)]
    total = 0.5 * model.field[0].ball_mass * (ball.u0 * ball.u0 + ball.u1 * ball.u1)
    for i in range(len(model.robots)):
        total += kinetic_energy(model.robots[i], speeds[i].u0, speeds[i].u1)
    return total


@compiled
def drive_euler(robot, body, motion, match, inputs, at, h):
    """Eq. 8 by Euler's method; the pose then follows at the new speeds."""
    v, w = body.u0, body.u1
    e_left, e_right = applied_voltages(
        robot, inputs[at], inputs[at + 1], inputs[at + 2], inputs[at + 3], inputs[at + 4], v, w
    )
    force, torque = motor_force(robot, e_left, e_right)
    drag, drag_torque = drag_force(robot, v, w)
    dv, dw = acceleration(robot, force - drag, torque - drag_torque)
    body.u0, body.u1 = v + h * dv, w + h * dw
    mean_v, mean_w = 0.5 * (v + body.u0), 0.5 * (w + body.u1)
    match.motors += h * (force * mean_v + torque * mean_w)
    match.friction += h * (drag * mean_v + drag_torque * mean_w)
    motion.rate0, motion.rate1 = body.u0, body.u1


@compiled
def drive_rk4(robot, pose, travel, body, motion, match, inputs, at, h):
    """Eq. 8, speeds and pose, by the classical Runge-Kutta method."""
    v0, w0 = body.u0, body.u1
    v, w, c, s = v0, w0, pose.cosine, pose.sine
    sum_v = sum_w = sum_x = sum_y = sum_dv = sum_dw = 0.0
    force_sum = torque_sum = drag_sum = drag_torque_sum = 0.0
    for stage in range(4):
        weight = 1.0 / 6.0 if stage == 0 or stage == 3 else 1.0 / 3.0
        e_left, e_right = applied_voltages(
            robot, inputs[at], inputs[at + 1], inputs[at + 2], inputs[at + 3], inputs[at + 4], v, w
        )
        force, torque = motor_force(robot, e_left, e_right)
        drag, drag_torque = drag_force(robot, v, w)
        dv, dw = acceleration(robot, force - drag, torque - drag_torque)
        sum_v, sum_w = sum_v + weight * v, sum_w + weight * w
        sum_x, sum_y = sum_x + weight * v * c, sum_y + weight * v * s
        sum_dv, sum_dw = sum_dv + weight * dv, sum_dw + weight * dw
        force_sum, torque_sum = force_sum + weight * force, torque_sum + weight * torque
        drag_sum, drag_torque_sum = drag_sum + weight * drag, drag_torque_sum + weight * drag_torque
        if stage < 3:
            ahead = h if stage == 2 else 0.5 * h
            c, s = turned(pose.cosine, pose.sine, pose.heading, ahead * w)
            v, w = v0 + ahead * dv, w0 + ahead * dw
    body.u0, body.u1 = v0 + h * sum_dv, w0 + h * sum_dw
    mean_v, mean_w = 0.5 * (v0 + body.u0), 0.5 * (w0 + body.u1)
    match.motors += h * (force_sum * mean_v + torque_sum * mean_w)
    match.friction += h * (drag_sum * mean_v + drag_torque_sum * mean_w)
    motion.rate0, motion.rate1 = sum_v, sum_w
    travel.path_x, travel.path_y, travel.path_along = h * sum_x, h * sum_y, h * sum_v


@compiled
def roll_ball(field, body, motion, match, h):
    """Eq. 9: v̇ = −(β/m) v (the source leaves out the sign and the mass)."""
    decay = field.ball_friction / field.ball_mass * h
    if field.method == EULER:
        scale, path = 1.0 - decay, 1.0 - decay
    else:
        scale = 1.0 - decay * (1.0 - decay / 2.0 * (1.0 - decay / 3.0 * (1.0 - decay / 4.0)))
        path = 1.0 - decay / 2.0 * (1.0 - decay / 3.0 * (1.0 - decay / 4.0))
    before = body.u0 * body.u0 + body.u1 * body.u1
    motion.rate0, motion.rate1 = path * body.u0, path * body.u1
    body.u0, body.u1 = scale * body.u0, scale * body.u1
    match.friction += 0.5 * field.ball_mass * (before - (body.u0 * body.u0 + body.u1 * body.u1))
