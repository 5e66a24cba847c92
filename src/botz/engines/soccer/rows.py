"""What a match shows: the channels of robots, ball and game, and the row that they fill."""

from __future__ import annotations

from math import atan2

from botz.channels import Channel, Columns, JointView, PoseView, RosView
from botz.kernels import compiled, inlined
from botz.physics.soccer.planar_drive import applied_voltages, kinetic_energy, wheel_speeds
from botz.scenario.soccer.schema import SoccerScenario

POSE = ("x", "y", "heading")

ROBOT = Columns(
    Channel("pose", "m, m, rad", "pose in the world", POSE),
    Channel(
        "twist",
        "m/s, m/s, rad/s",
        "velocity in the body's axes; vy: at which it slides aside, leaning",
        ("vx", "vy", "yaw_rate"),
    ),
    Channel("playing", "1", "1 in play, 0 taken out"),
)
WHEEL = Columns(
    Channel("angle", "rad", "rotation of the wheel"),
    Channel("speed", "rad/s", "rotation speed of the wheel"),
    Channel("voltage", "V", "voltage at the motor"),
    Channel("current", "A", "current of the motor"),
)
BALL = Columns(
    Channel("pose", "m, m, rad", "place of the ball, and the direction in which it rolls", POSE),
    Channel("velocity", "m/s", "velocity of the ball in the world", ("vx", "vy")),
)
MATCH = Columns(
    Channel("score", "1", "goals of the two teams", ("blue", "yellow")),
    Channel(
        "energy",
        "J",
        "kinetic energy of all bodies; since the start, the work of the voltages, what friction and impacts took, and "
        "what replacing bodies added",
        ("kinetic", "motors", "friction", "impacts", "placed"),
    ),
    Channel("impacts", "1", "impacts since the start"),
)
R, W, B, M = ROBOT.at, WHEEL.at, BALL.at, MATCH.at


def channels_of(scenario: SoccerScenario) -> list[Channel]:
    """In the order in which `observe_row` writes them."""
    found = []
    for name in scenario.robots:
        found += ROBOT.of(name) + WHEEL.of(f"{name}/left") + WHEEL.of(f"{name}/right")
    return [*found, *BALL.of("ball"), *MATCH.of("match")]


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


@inlined
def write_wheel(row, at, angle, speed, voltage, constant, conductance):  # -> next place in the row
    row[at + W.angle], row[at + W.speed], row[at + W.voltage] = angle, speed, voltage
    row[at + W.current] = (voltage - constant * speed) * conductance
    return at + W.end


@compiled
def observe_row(model, state, inputs, row):
    match, ball = state.match[0], state.speeds[len(model.robots)]
    at = 0
    kinetic = 0.0
    for i in range(len(model.robots)):
        robot, pose, body = model.robots[i], state.robots[i], state.speeds[i]
        v, w = body.u0, body.u1
        kinetic += kinetic_energy(robot, v, w)
        row[at + R.pose], row[at + R.pose + 1], row[at + R.pose + 2] = pose.x, pose.y, atan2(pose.sine, pose.cosine)
        row[at + R.twist], row[at + R.twist + 1], row[at + R.twist + 2] = v, pose.slide, w
        row[at + R.playing] = pose.playing
        at += R.end
        k = 5 * i
        e_left, e_right = 0.0, 0.0
        if pose.playing != 0.0:
            e_left, e_right = applied_voltages(
                robot, inputs[k], inputs[k + 1], inputs[k + 2], inputs[k + 3], inputs[k + 4], v, w
            )
        w_left, w_right = wheel_speeds(robot, v, w)
        at = write_wheel(row, at, pose.angle_left, w_left, e_left, robot.constant_left, robot.conductance_left)
        at = write_wheel(row, at, pose.angle_right, w_right, e_right, robot.constant_right, robot.conductance_right)
    kinetic += 0.5 * model.field[0].ball_mass * (ball.u0 * ball.u0 + ball.u1 * ball.u1)
    row[at + B.pose], row[at + B.pose + 1], row[at + B.pose + 2] = match.ball_x, match.ball_y, match.ball_heading
    row[at + B.velocity], row[at + B.velocity + 1] = ball.u0, ball.u1
    at += B.end
    row[at + M.score], row[at + M.score + 1] = match.score_blue, match.score_yellow
    row[at + M.energy], row[at + M.energy + 1], row[at + M.energy + 2] = kinetic, match.motors, match.friction
    row[at + M.energy + 3], row[at + M.energy + 4] = match.lost, match.placed
    row[at + M.impacts] = match.impacts
