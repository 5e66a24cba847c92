"""Parameters of the engine `soccer`: robots, inertia of all bodies, the field and the rules. No step writes them."""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np

from botz.kernels import record, words
from botz.physics.soccer.impact import INERTIA
from botz.physics.soccer.planar_drive import ROBOT
from botz.scenario.soccer.schema import PlacedSoccerRobot, SoccerScenario

GRAVITY = 9.80665
BLUE, YELLOW = 0, 1
KICK_OFF, CONTINUE, END = 0, 1, 2
RIGID, SPHERES = 0, 1
EULER, RK4 = 0, 1
TOO_FAR = 1.4
"""How many times the smallest feature a body may go in one part of a step; neighbours are looked for four times as
far, which is as far as the list of them reaches."""

FIELD = record(
    **dict.fromkeys(words(
        "end side post back corner radius ball_mass ball_friction ball_x ball_y feature cell margin"
    ), np.float64),
    after_goal=np.int64, impact_model=np.int64, method=np.int64, columns=np.int64, rows=np.int64,
)  # fmt: skip
"""Half sizes of the field (`corner`: x + y at the triangles, infinite without them), the ball and where it starts, the
smallest feature that nothing may jump over in one go, the cells in which robots look for neighbours, and how much
farther than they reach: the list then holds for several steps. The rule after a goal, the law of impacts, and the
method of integration."""
PAIR = record(restitution=np.float64, friction=np.float64)
BALL_WALL, ROBOT_WALL, ROBOT_BALL, ROBOT_ROBOT = range(4)


class Model(NamedTuple):
    field: np.ndarray
    """One FIELD."""
    pairs: np.ndarray
    """PAIR by kind of contact, as BALL_WALL."""
    robots: np.ndarray
    inertia: np.ndarray
    """Of the robots, then of the ball."""
    places: np.ndarray
    """Kick-off poses: by the team that kicks off (2), robot, and x, y, heading."""


def build_model(scenario: SoccerScenario, dt: float) -> Model:
    count = len(scenario.robots)
    robots, inertia, field = np.zeros(count, ROBOT), np.zeros(count + 1, INERTIA), np.zeros(1, FIELD)
    for own, body, robot in zip(robots, inertia, scenario.robots.values(), strict=False):
        fill_robot(own, robot)
        body.inverse_11, body.inverse_12, body.inverse_22 = own.inverse_11, own.inverse_12, own.inverse_22
        body.mass, body.resting = robot.total_mass, resting_speed(own, dt)
    ball = inertia[-1]
    ball.mass, ball.resting = scenario.world.ball.inertial_mass, 1e-3
    ball.inverse_11 = ball.inverse_22 = 1.0 / ball.mass
    fill_field(field[0], scenario, robots)
    model = Model(field, pair_coefficients(scenario), robots, inertia, kick_off_places(scenario))
    for part in model:
        part.flags.writeable = False
    return model


def fill_robot(own: np.record, robot: PlacedSoccerRobot) -> None:
    """Eqs. 1 to 7: M = J_R + TᵀJ_rT and B = β_R + Tᵀ(ρK_r² + β_r)T, with T from (v, ω) to the wheels' speeds."""
    own.half, own.reach = 0.5 * robot.side, robot.side * sqrt(0.5)
    own.track, own.per_track = robot.track, 1.0 / robot.track
    own.grip = np.inf if robot.grip is None else robot.grip * GRAVITY
    mass = drag = 0.0
    mass_difference = drag_difference = 0.0
    for side, sign in (("left", -1.0), ("right", 1.0)):
        wheel = getattr(robot.wheels, side)
        motor = wheel.motor
        constant = motor.voltage / motor.no_load_speed
        resistance = constant * motor.voltage / motor.stall_torque
        own[f"radius_{side}"], own[f"limit_{side}"] = wheel.radius, motor.voltage
        own[f"constant_{side}"], own[f"conductance_{side}"] = constant, 1.0 / resistance
        own[f"per_radius_{side}"] = 1.0 / wheel.radius
        own[f"push_{side}"] = constant / (resistance * wheel.radius)
        own[f"hold_{side}"] = 0.5 / own[f"push_{side}"]
        own[f"follow_{side}"] = robot.speed_control.gain * constant
        wheel_mass = wheel.inertia / wheel.radius**2
        wheel_drag = (constant**2 / resistance + motor.friction) / wheel.radius**2
        mass, drag = mass + wheel_mass, drag + wheel_drag
        mass_difference, drag_difference = mass_difference + sign * wheel_mass, drag_difference + sign * wheel_drag
    half = 0.5 * robot.track
    own.mass_11, own.mass_12 = robot.total_mass + mass, half * mass_difference
    own.mass_22 = robot.turning_inertia + half**2 * mass
    own.drag_11, own.drag_12 = robot.linear_friction + drag, half * drag_difference
    own.drag_22 = robot.turning_friction + half**2 * drag
    determinant = own.mass_11 * own.mass_22 - own.mass_12**2
    own.inverse_11, own.inverse_22 = own.mass_22 / determinant, own.mass_11 / determinant
    own.inverse_12 = -own.mass_12 / determinant


def fill_field(field: np.record, scenario: SoccerScenario, robots: np.ndarray) -> None:
    world = scenario.world
    size, ball = world.field, world.ball
    field.end, field.side, field.post = 0.5 * size.length, 0.5 * size.width, 0.5 * size.goal_width
    field.back = field.end + size.goal_depth
    field.corner = field.end + field.side - size.corner if size.corner > 0.0 else np.inf
    field.radius, field.ball_mass, field.ball_friction = ball.radius, ball.inertial_mass, ball.friction
    field.feature = 0.25 * min(ball.radius, float(robots["half"].min()))
    field.after_goal = {"kick-off": KICK_OFF, "continue": CONTINUE, "end": END}[scenario.match.after_goal]
    field.ball_x, field.ball_y = ball.position
    field.method = RK4 if scenario.time.method == "rk4" else EULER
    field.impact_model = SPHERES if world.impacts.model == "equivalent-sphere" else RIGID
    # Cells are as wide as two neighbours reach, and no more than 64 a side.
    reach = float(robots["reach"].max())
    extent = 2.0 * max(field.back, field.side)
    field.margin = reach
    field.cell = max(2.0 * reach + field.margin, extent / 64.0)
    field.columns = int(2.0 * field.back / field.cell) + 1
    field.rows = int(2.0 * field.side / field.cell) + 1


def widest_search(feature: float) -> float:
    """The largest distance between bodies for which one part of a step ever asks [m]."""
    return 4.0 * TOO_FAR * feature + 1e-6


def pair_coefficients(scenario: SoccerScenario) -> np.ndarray:
    impacts = scenario.world.impacts
    pairs = np.zeros(4, dtype=PAIR)
    for own, pair in zip(
        pairs, (impacts.ball_wall, impacts.robot_wall, impacts.robot_ball, impacts.robot_robot), strict=True
    ):
        own.restitution, own.friction = pair.restitution, pair.friction
    return pairs


def kick_off_places(scenario: SoccerScenario) -> np.ndarray:
    places = np.zeros((2, len(scenario.robots), 3))
    for kicking, team in ((BLUE, "blue"), (YELLOW, "yellow")):
        for index, robot in enumerate(scenario.robots.values()):
            kicks = robot.team == team and robot.kick_off_pose is not None
            places[kicking, index] = robot.kick_off_pose if kicks else robot.pose
    return places


def resting_speed(own: np.record, dt: float) -> float:
    """What motors at full voltage add to the approach of a robot's point within a step must not count as an impact, or
    a robot that leans on something would rattle [m/s]. Half as much again keeps clear of it."""
    left, right = own.push_left * own.limit_left, own.push_right * own.limit_right
    ahead = abs(own.inverse_11) * (left + right) + abs(own.inverse_12) * own.track * max(left, right)
    turning = abs(own.inverse_22) * own.track * max(left, right) + abs(own.inverse_12) * (left + right)
    return float(1.5 * dt * max(ahead, own.reach * turning) + 1e-3)
