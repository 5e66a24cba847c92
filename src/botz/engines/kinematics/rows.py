"""What can be observed of wheeled robots: the channels, and the compiled functions that write them in their order."""

from __future__ import annotations

from math import cos, hypot, nan, sin

from botz.channels import Channel, Columns, JointView, PoseView, RosView
from botz.engines.kinematics.rates import robot_rates, stage_now
from botz.kernels import inlined
from botz.physics.wheels.constraints import CASTOR, FIXED, SPHERICAL, STEERED, SUPPORT, SWEDISH, ackermann_ratio, dot3
from botz.robots.wheeled_robot import ACKERMANN, WheeledRobotModel

POSE = ("x", "y", "heading")
TWIST = ("vx", "vy", "yaw_rate")

ROBOT = Columns(
    Channel("pose", "m, m, rad", "true pose in the world", POSE),
    Channel("twist", "m/s, m/s, rad/s", "velocity in the body's axes", TWIST),
    Channel("icr", "m", "instantaneous centre of rotation in the world; NaN when not turning", ("x", "y")),
    Channel("odometry/pose", "m, m, rad", "pose by dead reckoning from the encoders", POSE),
    Channel("odometry/twist", "m/s, m/s, rad/s", "velocity from the encoders", TWIST),
)
WHEEL = Columns(
    Channel("angle", "rad", "rotation of the wheel"),
    Channel("speed", "rad/s", "rotation speed of the wheel"),
    Channel("ticks", "1", "encoder count at the last reading"),
    Channel("slip", "m/s", "velocity of the contact over the ground", ("along", "across")),
)
STEERING = Columns(
    Channel("steering", "rad", "angle about the vertical axis"), Channel("steering_rate", "rad/s", "rate of that angle")
)
ROLLERS = Columns(
    Channel("roller_angle", "rad", "rotation of the rollers"),
    Channel("roller_speed", "rad/s", "rotation speed of the rollers"),
)
SIDEWAYS = Columns(
    Channel("side_angle", "rad", "rotation of the ball to its left"),
    Channel("side_speed", "rad/s", "rotation speed of the ball to its left"),
)
SECOND = {STEERED: STEERING, CASTOR: STEERING, SWEDISH: ROLLERS, SPHERICAL: SIDEWAYS}
"""The second angle of a wheel and its rate, where it has one."""
R, W = ROBOT.at, WHEEL.at
FARTHEST_CENTRE = 1e6
"""A centre of rotation farther away than this [m] is none: the robot goes straight, to all that can be told."""


# --- channels and views --------------------------------------------------------------------------------------


def channels_of(name: str, robot: WheeledRobotModel) -> list[Channel]:
    """The channels of one robot, in the order in which `write_robot` writes them."""
    channels = ROBOT.of(name)
    channels += [Channel(f"{name}/{one.name}_command", one.unit, f"command: {one.description}") for one in robot.inputs]
    for wheel, kind in zip(robot.wheel_names, robot.kind, strict=True):
        if kind != SUPPORT:
            channels += WHEEL.of(f"{name}/{wheel}")
        if kind in SECOND:
            channels += SECOND[kind].of(f"{name}/{wheel}")
    return channels


def views_of(name: str, robot: WheeledRobotModel) -> list[RosView]:
    views: list[RosView] = [
        PoseView(name, name, "odom", f"{name}/pose", f"{name}/twist"),
        PoseView(name, f"{name}/odometry", "odometry", f"{name}/odometry/pose", f"{name}/odometry/twist"),
    ]
    joints: list[tuple[str, str, str]] = []
    for wheel, kind in zip(robot.wheel_names, robot.kind, strict=True):
        if kind == SUPPORT:
            continue
        joints.append((wheel, f"{name}/{wheel}/angle", f"{name}/{wheel}/speed"))
        if kind in (STEERED, CASTOR):
            joints.append((f"{wheel}_steering", f"{name}/{wheel}/steering", f"{name}/{wheel}/steering_rate"))
    if joints:
        names, positions, velocities = zip(*joints, strict=True)
        views.append(JointView(name, names, positions, velocities))
    return views


# --- rows ----------------------------------------------------------------------------------------------------


@inlined
def steering_rate_of(robot, wheel, group, now):
    """Rate of a steered wheel's own angle; in an Ackermann group each wheel turns at its own."""
    if group.coupling != ACKERMANN:
        return now.steering_rate
    axle, mid = robot.axle, group.mid
    ratio = ackermann_ratio(
        axle[0], axle[1], axle[2], mid[0], mid[1], mid[2], wheel.x, wheel.y, now.steering,
    )  # fmt: skip
    return now.steering_rate * ratio


@inlined
def write_wheel(wheel, now, scratch, vx, vy, turn, row, at):  # -> column behind those written
    """What every kind of wheel has."""
    kind = wheel.kind
    along = dot3(scratch.rolling, vx, vy, turn)
    across = dot3(scratch.lateral, vx, vy, turn)
    row[at + W.angle] = now.angle
    row[at + W.speed] = scratch.rate
    row[at + W.ticks] = now.ticks[0]
    # Slip is the velocity of the material point that touches the ground.
    row[at + W.slip] = along - wheel.radius * cos(wheel.roller_angle) * scratch.rate
    row[at + W.slip + 1] = 0.0
    if kind in (FIXED, STEERED):
        row[at + W.slip + 1] = across
    elif kind == CASTOR:
        row[at + W.slip + 1] = across + wheel.offset * scratch.second_rate
    elif kind == SPHERICAL:
        row[at + W.slip + 1] = across - wheel.radius * scratch.second_rate
    return at + W.end


@inlined
def write_robot(r, model, state, work, inputs, row, at):  # -> column behind those written
    robot, now = model.robots[r], state.robots[r]
    stage_now(robot, state, work)
    vx, vy, turn = robot_rates(r, model, state, work, inputs)
    x, y, theta = now.pose[0], now.pose[1], now.pose[2]
    row[at + R.pose], row[at + R.pose + 1], row[at + R.pose + 2] = x, y, theta
    row[at + R.twist], row[at + R.twist + 1], row[at + R.twist + 2] = vx, vy, turn
    if abs(turn) * FARTHEST_CENTRE > hypot(vx, vy):
        c, s = cos(theta), sin(theta)
        row[at + R.icr] = x + (-c * vy - s * vx) / turn
        row[at + R.icr + 1] = y + (-s * vy + c * vx) / turn
    else:
        row[at + R.icr], row[at + R.icr + 1] = nan, nan
    for axis in range(3):
        row[at + R.odometry_pose + axis] = now.odometry_pose[axis]
        row[at + R.odometry_twist + axis] = now.odometry_twist[axis]
    at += R.end
    for j in range(robot.input_start, robot.input_stop):
        row[at] = inputs[j]
        at += 1
    for i in range(robot.wheel_start, robot.wheel_stop):
        wheel, scratch = model.wheels[i], work.wheels[i]
        if wheel.kind == SUPPORT:
            continue
        at = write_wheel(wheel, state.wheels[i], scratch, vx, vy, turn, row, at)
        if wheel.kind == STEERED:
            row[at] = scratch.psi - wheel.heading
            row[at + 1] = steering_rate_of(robot, wheel, model.groups[wheel.group], state.groups[wheel.group])
            at += 2
        elif wheel.kind in (CASTOR, SPHERICAL, SWEDISH):
            row[at], row[at + 1] = state.wheels[i].second, scratch.second_rate
            at += 2
    return at


@inlined
def write_row(model, state, work, inputs, row):
    at = 0
    for r in range(model.robots.size):
        at = write_robot(r, model, state, work, inputs, row, at)
