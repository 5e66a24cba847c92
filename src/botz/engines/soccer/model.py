"""The records of the engine `soccer`: robots, bodies, contacts, the field and the state of the match."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np

from botz.kernels import record, words
from botz.physics.soccer.impact import BODY, CONTACT
from botz.physics.soccer.planar_drive import ROBOT
from botz.scenario.soccer.schema import PlacedSoccerRobot, SoccerScenario

CONTACTS_PER_BODY = 16
GRAVITY = 9.80665
MOST_RESTING = 64
"""Contacts that are worked out together."""
BLUE, YELLOW = 0, 1
KICK_OFF, CONTINUE, END = 0, 1, 2
RIGID, SPHERES = 0, 1
EULER, RK4 = 0, 1

FIELD = record(
    **dict.fromkeys(words("end side post back corner radius ball_mass ball_friction feature cell"), np.float64),
    after_goal=np.int64, model=np.int64, columns=np.int64, rows=np.int64,
)  # fmt: skip
"""Half sizes of the field (`corner`: x + y at the triangles, infinite without them), the ball, the smallest feature
that nothing may jump over in one go, the cells in which robots look for neighbours, and what motors can add to a
speed within a step."""
PAIR = record(restitution=np.float64, friction=np.float64)
BALL_WALL, ROBOT_WALL, ROBOT_BALL, ROBOT_ROBOT = range(4)

MATCH = record(
    **dict.fromkeys(words(
        "ball_x ball_y ball_heading score_blue score_yellow impacts in_goal placement motors friction lost placed "
        "tests drift start_x start_y"
    ), np.float64),
    contacts=np.int64, near=np.int64, pairs=np.int64, overflow=np.int64,
)  # fmt: skip
"""State of the match; `drift`: how far robots may have moved since their neighbours were last looked for."""
MATCH_STATE = words(
    "ball_x ball_y ball_heading score_blue score_yellow impacts in_goal placement motors friction lost placed"
)


@dataclass
class Records:
    field: np.ndarray
    coefficients: np.ndarray
    robots: np.ndarray
    bodies: np.ndarray
    match: np.ndarray
    contacts: np.ndarray
    near: np.ndarray
    """Pairs of bodies that may touch in this step, (k, 2)."""
    pairs: np.ndarray
    """Robots that are neighbours, (k, 2)."""
    cells: np.ndarray
    """First robot of each cell, then the next one of the same cell for each robot."""
    places: np.ndarray
    """Kick-off poses: by the team that kicks off (2), robot, and x, y, heading."""
    system: np.ndarray
    """Room for contacts that rest on each other: their couplings and the factors of these; then, a row each, their
    speeds, impulses and numbers, and which of them push."""
    resting: np.ndarray
    """Approach speed below which nothing bounces, of each body [m/s]."""

    def __iter__(self):
        return iter(
            (self.field, self.coefficients, self.robots, self.bodies, self.match, self.contacts, self.near, self.pairs,
             self.cells, self.places, self.system, self.resting)
        )  # fmt: skip


def build_records(scenario: SoccerScenario, dt: float) -> Records:
    count = len(scenario.robots)
    robots = np.zeros(count, dtype=ROBOT)
    bodies = np.zeros(count + 1, dtype=BODY)
    for own, body, robot in zip(robots, bodies, scenario.robots.values(), strict=False):
        fill_robot(own, robot)
        body.inverse_11, body.inverse_12, body.inverse_22 = own.inverse_11, own.inverse_12, own.inverse_22
        body.mass = robot.total_mass
    ball = scenario.world.ball
    bodies[-1].inverse_11 = bodies[-1].inverse_22 = 1.0 / ball.inertial_mass
    bodies[-1].mass = ball.inertial_mass
    field = np.zeros(1, dtype=FIELD)
    fill_field(field[0], scenario, robots)
    cells = int(field[0].columns * field[0].rows)
    return Records(
        field=field,
        coefficients=pair_coefficients(scenario),
        robots=robots,
        bodies=bodies,
        match=np.zeros(1, dtype=MATCH),
        contacts=np.zeros(CONTACTS_PER_BODY * (count + 1), dtype=CONTACT),
        near=np.zeros(((count + 1) * (count + 2), 2), dtype=np.int64),
        pairs=np.zeros((count * (count - 1) // 2 + 1, 2), dtype=np.int64),
        cells=np.full(cells + count, -1, dtype=np.int64),
        places=kick_off_places(scenario),
        system=np.zeros((2 * MOST_RESTING + 4, MOST_RESTING)),
        resting=resting_speeds(robots, dt),
    )


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
    field.model = SPHERES if world.impacts.model == "equivalent-sphere" else RIGID
    # Cells are as wide as two neighbours reach, and no more than 64 a side.
    reach = float(robots["reach"].max())
    extent = 2.0 * max(field.back, field.side)
    field.cell = max(2.0 * reach + neighbour_margin(reach), extent / 64.0)
    field.columns = int(2.0 * field.back / field.cell) + 1
    field.rows = int(2.0 * field.side / field.cell) + 1


def neighbour_margin(reach: float) -> float:
    """How much farther than they reach robots are looked for [m]: the list then holds for several steps."""
    return reach


def pair_coefficients(scenario: SoccerScenario) -> np.ndarray:
    impacts = scenario.world.impacts
    found = np.zeros(4, dtype=PAIR)
    for own, pair in zip(
        found, (impacts.ball_wall, impacts.robot_wall, impacts.robot_ball, impacts.robot_robot), strict=True
    ):
        own.restitution, own.friction = pair.restitution, pair.friction
    return found


def kick_off_places(scenario: SoccerScenario) -> np.ndarray:
    places = np.zeros((2, len(scenario.robots), 3))
    for kicking, team in ((BLUE, "blue"), (YELLOW, "yellow")):
        for index, robot in enumerate(scenario.robots.values()):
            kicks = robot.team == team and robot.kick_off_pose is not None
            places[kicking, index] = robot.kick_off_pose if kicks else robot.pose
    return places


def resting_speeds(robots: np.ndarray, dt: float) -> np.ndarray:
    """What motors at full voltage add to the approach of a robot's point within a step must not count as an impact, or
    a robot that leans on something would rattle. Half as much again keeps clear of it."""
    speeds = np.empty(robots.size + 1)
    for index, own in enumerate(robots):
        left, right = own.push_left * own.limit_left, own.push_right * own.limit_right
        ahead = abs(own.inverse_11) * (left + right) + abs(own.inverse_12) * own.track * max(left, right)
        turning = abs(own.inverse_22) * own.track * max(left, right) + abs(own.inverse_12) * (left + right)
        speeds[index] = 1.5 * dt * max(ahead, own.reach * turning) + 1e-3
    speeds[-1] = 1e-3
    return speeds
