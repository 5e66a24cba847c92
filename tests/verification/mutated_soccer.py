"""Breaks one line of robot soccer at a time and says which checks notice. Run by mutations.py.

An uncompiled step takes most of a millisecond, so that only checks of few steps take part.
"""

from __future__ import annotations

from mutations import Functions, Mutation

DRIVE = "botz.physics.soccer.planar_drive"
IMPACT = "botz.physics.soccer.impact"
SQUARES = "botz.physics.soccer.square_contact"
STEP = "botz.engines.soccer.step"
MOTION = "botz.engines.soccer.motion"
IMPACTS = "botz.engines.soccer.impacts"
CONTACTS = "botz.engines.soccer.contacts"
MODEL = "botz.engines.soccer.model"
ENGINE = "botz.engines.soccer.engine"

SAMPLES = 20
"""Random ones of each check."""

MUTATIONS = (
    Mutation(
        "drag that only Euler's method has", MOTION, "drive_euler",
        "drag_force(robot, v, w)", "drag_force(robot, 1.1 * v, w)",
        ("soccer_methods",),
    ),
    Mutation(
        "neighbours of three columns only", CONTACTS, "find_neighbours",
        "range(max(row - 1, 0), min(row + 2, rows))", "range(row, row + 1)",
        ("neighbours_by_cells",),
    ),
    Mutation(
        "the source's sign in eq. 7", DRIVE, "drag_force",
        "robot.drag_11 * v + robot.drag_12 * w,", "-robot.drag_11 * v - robot.drag_12 * w,",
        ("step_response", "the_shipped_step"),
    ),
    Mutation(
        "motors turn the other way round", DRIVE, "motor_force",
        "0.5 * robot.track * (right - left)", "0.5 * robot.track * (left - right)",
        ("step_response",),
    ),
    Mutation(
        "wheels without their turning inertia", MODEL, "fill_robot",
        "wheel_mass = wheel.inertia / wheel.radius**2", "wheel_mass = 0.0",
        ("step_response", "robot_on_ball", "impacts_without_friction"),
    ),
    Mutation(
        "back-EMF left out", MODEL, "fill_robot",
        "(constant**2 / resistance + motor.friction)", "motor.friction",
        ("step_response", "the_shipped_step"),
    ),
    Mutation(
        "Runge and Kutta's last stage counts twice", MOTION, "drive_rk4",
        "stage == 0 or stage == 3", "stage == 0",
        ("step_response", "circles"),
    ),
    Mutation(
        "the pose goes along the old heading", STEP, "move_robot",
        "along * 0.5 * (pose.cosine + c), along * 0.5 * (pose.sine + s)", "along * pose.cosine, along * pose.sine",
        ("circles",),
    ),
    Mutation(
        "the source's ball, without its mass", MOTION, "roll_ball",
        "field.ball_friction / field.ball_mass * h", "field.ball_friction * h",
        ("rolling_ball",),
    ),
    Mutation(
        "restitution counted once too little", IMPACT, "rigid_impact",
        "-(1.0 + restitution_of(contact, approach)) * approach", "-restitution_of(contact, approach) * approach",
        ("free_bodies", "impacts_without_friction", "robot_on_ball", "ball_on_walls"),
    ),
    Mutation(
        "a lever arm with the wrong sign", CONTACTS, "response",
        "px * ny - py * nx", "px * ny + py * nx",
        ("impacts_without_friction", "equivalent_spheres"),
    ),
    Mutation(
        "the robot slips sideways", CONTACTS, "response",
        "robots[i].cosine * nx + robots[i].sine * ny,", "1.0 + 0.0 * nx,",
        ("impacts_without_friction", "robot_on_ball"),
    ),
    Mutation(
        "friction speeds sliding up", IMPACT, "friction_impulse",
        "min(max(-before / contact.tangent_inverse", "min(max(before / contact.tangent_inverse",
        ("impacts_with_friction",),
    ),
    Mutation(
        "friction beyond Coulomb's limit", IMPACT, "friction_impulse",
        "largest = contact.friction * normal_impulse", "largest = 2.0 * contact.friction * normal_impulse",
        ("impacts_with_friction",),
    ),
    Mutation(
        "one contact of two faces does all", IMPACT, "face_impact",
        "determinant <= 1e-9 * one.inverse_mass * other.inverse_mass", "determinant <= 1e9",
        ("robot_on_walls", "robot_on_robot"),
    ),
    Mutation(
        "eq. 12 with the masses exchanged", IMPACT, "sphere_exchange",
        "-(1.0 + restitution) * mass2 / total", "-(1.0 + restitution) * mass1 / total",
        ("free_bodies", "equivalent_spheres", "spheres_frontally"),
    ),
    Mutation(
        "a ball only meets faces, never corners", SQUARES, "ball_square",
        "nx, ny = out_x / distance, out_y / distance", "nx, ny = (1.0 if out_x > 0.0 else -1.0), 0.0",
        ("impacts_without_friction",),
    ),
    Mutation(
        "the post is not there", SQUARES, "goal_wall_gap",
        "if gap > best:", "if gap > best + 1e9:",
        ("impacts_without_friction",),
    ),
    Mutation(
        "corners are square", CONTACTS, "ball_at_walls",
        "DIAGONAL * (field.corner - x - y) - radius", "1e9 - radius",
        ("ball_on_walls",),
    ),
    Mutation(
        "only the right half of the field is looked at", CONTACTS, "pair_gap",
        "    if j == WALL:", "    if j == WALL and robots[i].x < 0.0:\n        return 1.0\n    if j == WALL:",
        ("placements",),
    ),
    Mutation(
        "squares that overlap count as apart", SQUARES, "square_gap",
        "return max(max(a, b), max(c, d))", "return max(max(a, b), max(c, d)) + 0.02",
        ("placements",),
    ),
    Mutation(
        "goals for the other team", STEP, "keep_score",
        "scorer = 1 if match.ball_x > 0.0 else 2", "scorer = 2 if match.ball_x > 0.0 else 1",
        ("goals",),
    ),
    Mutation(
        "a goal as soon as the ball touches the line", STEP, "keep_score",
        "abs(match.ball_x) <= field.end + field.radius", "abs(match.ball_x) <= field.end - field.radius",
        ("goals",),
    ),
    Mutation(
        "left turns and right turns are not alike", MOTION, "drive_euler",
        "w + h * dw", "w + h * dw * (1.0 + 1e-9 * (w > 0.0))",
        ("mirrored_about_the_long_axis",),
    ),
    Mutation(
        "overlaps after a step stay", STEP, "step_part",
        "    if counts.near > 0:", "    if counts.near > 10**6:",
        ("leaning_bodies",),
    ),
    Mutation(
        "friction between the impulses of bodies that lean on each other", IMPACTS, "settle",
        "        # Only now:", "            if turn == 0:\n"
        "                match.lost += friction_impulse(bodies, contact, impulse, now)\n        # Only now:",
        ("leaning_bodies",),
    ),
    Mutation(
        "snapshots without the ball", ENGINE, "SoccerEngine.state_arrays",
        "for name in part.dtype.names or ()}", "for name in part.dtype.names if not name.startswith(\"ball_\")}",
        ("same_again",),
    ),
)  # fmt: skip


def functions() -> Functions:
    from botz.verify import methods
    from botz.verify.soccer import match as soccer_match
    from botz.verify.soccer import methods as soccer_methods
    from botz.verify.soccer import suite as soccer

    soccer_methods.PLAYED, soccer_methods.MEETING = {"soccer-wall": 0.05}, ()
    methods.scenarios = lambda engine: ["soccer-wall"]
    soccer_match.MIRRORED_STEPS, soccer_match.REPEATED_STEPS = 60, 60
    return soccer.FUNCTIONS
