"""What a match shows: the channels of robots, ball and game, and the row that they fill."""

from __future__ import annotations

from math import atan2

from botz.channels import Channel, JointView, PoseView, RosView
from botz.kernels import compiled
from botz.physics.soccer.planar_drive import applied_voltages, kinetic_energy, wheel_speeds
from botz.scenario.soccer.schema import SoccerScenario

POSE = ("x", "y", "heading")
PER_ROBOT = 15


def channels_of(scenario: SoccerScenario) -> list[Channel]:
    """In the order in which `observe_row` writes them."""
    found = []
    for name in scenario.robots:
        found += [
            Channel(f"{name}/pose", "m, m, rad", "pose in the world", POSE),
            Channel(
                f"{name}/twist",
                "m/s, m/s, rad/s",
                "velocity in the body's axes; vy: at which it slides aside, leaning",
                ("vx", "vy", "yaw_rate"),
            ),
            Channel(f"{name}/playing", "1", "1 in play, 0 taken out"),
        ]
        for wheel in ("left", "right"):
            found += [
                Channel(f"{name}/{wheel}/angle", "rad", "rotation of the wheel"),
                Channel(f"{name}/{wheel}/speed", "rad/s", "rotation speed of the wheel"),
                Channel(f"{name}/{wheel}/voltage", "V", "voltage at the motor"),
                Channel(f"{name}/{wheel}/current", "A", "current of the motor"),
            ]
    return [
        *found,
        Channel("ball/pose", "m, m, rad", "place of the ball, and the direction in which it rolls", POSE),
        Channel("ball/velocity", "m/s", "velocity of the ball in the world", ("vx", "vy")),
        Channel("match/score", "1", "goals of the two teams", ("blue", "yellow")),
        Channel(
            "match/energy",
            "J",
            "kinetic energy of all bodies; since the start, the work of the voltages, what friction and impacts took, "
            "and what replacing bodies added",
            ("kinetic", "motors", "friction", "impacts", "placed"),
        ),
        Channel("match/impacts", "1", "impacts since the start"),
    ]


def views_of(scenario: SoccerScenario) -> tuple[RosView, ...]:
    found: list[RosView] = []
    for name in scenario.robots:
        found.append(PoseView(name, name, "odom", f"{name}/pose", f"{name}/twist"))
        wheels = ("left", "right")
        found.append(
            JointView(
                name,
                names=wheels,
                position=tuple(f"{name}/{wheel}/angle" for wheel in wheels),
                velocity=tuple(f"{name}/{wheel}/speed" for wheel in wheels),
            )
        )
    found.append(PoseView("ball", "ball", "odom", "ball/pose"))
    return tuple(found)


@compiled
def observe_row(model, state, inputs, row):
    match, ball = state.match[0], state.speeds[len(model.robots)]
    at = 0
    kinetic = 0.0
    for i in range(len(model.robots)):
        robot, pose, body = model.robots[i], state.robots[i], state.speeds[i]
        v, w = body.u0, body.u1
        kinetic += kinetic_energy(robot, v, w)
        row[at], row[at + 1], row[at + 2] = pose.x, pose.y, atan2(pose.sine, pose.cosine)
        row[at + 3], row[at + 4], row[at + 5], row[at + 6] = v, pose.slide, w, pose.playing
        k = 5 * i
        e_left, e_right = 0.0, 0.0
        if pose.playing != 0.0:
            e_left, e_right = applied_voltages(
                robot, inputs[k], inputs[k + 1], inputs[k + 2], inputs[k + 3], inputs[k + 4], v, w
            )
        w_left, w_right = wheel_speeds(robot, v, w)
        row[at + 7], row[at + 8], row[at + 9] = pose.angle_left, w_left, e_left
        row[at + 10] = (e_left - robot.constant_left * w_left) * robot.conductance_left
        row[at + 11], row[at + 12], row[at + 13] = pose.angle_right, w_right, e_right
        row[at + 14] = (e_right - robot.constant_right * w_right) * robot.conductance_right
        at += PER_ROBOT
    kinetic += 0.5 * model.field[0].ball_mass * (ball.u0 * ball.u0 + ball.u1 * ball.u1)
    row[at], row[at + 1], row[at + 2] = match.ball_x, match.ball_y, match.ball_heading
    row[at + 3], row[at + 4] = ball.u0, ball.u1
    row[at + 5], row[at + 6] = match.score_blue, match.score_yellow
    row[at + 7], row[at + 8], row[at + 9] = kinetic, match.motors, match.friction
    row[at + 10], row[at + 11], row[at + 12] = match.lost, match.placed, match.impacts
