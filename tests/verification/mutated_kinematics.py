"""Breaks one line of the kinematics at a time and says which checks notice. Run by mutations.py."""

from __future__ import annotations

from mutations import Functions, Mutation

WHEELS = "botz.physics.wheels.constraints"
KERNEL = "botz.engines.kinematics.step"
RATES = "botz.engines.kinematics.rates"
ODOMETRY = "botz.engines.kinematics.odometry"
ROWS = "botz.engines.kinematics.rows"
ROBOT = "botz.robots.wheeled_robot"
ENGINE = "botz.engines.kinematics.engine"
INVERSE = "botz.robots.wheel_inverse"


SAMPLES = 3
"""Random ones of each check."""

MUTATIONS = (
    Mutation(
        "sign of the lever arm in the rolling row", WHEELS, "rolling_row",
        "x * ey - y * ex", "x * ey + y * ex",
        ("differential_closed_form", "differential_rows", "three_omni_closed_form",
         "rows_against_geometry", "icr_of_a_turn", "three_wheels_on_one_axle", "skid_steer_least_squares"),
    ),
    Mutation(
        "sign of the castor's offset", WHEELS, "lateral_row",
        "+ offset", "- offset",
        ("rows_against_geometry", "castor_in_a_steady_turn"),
    ),
    Mutation(
        "castor pivots the wrong way", WHEELS, "wheel_rates",
        "-across / offset", "across / offset",
        ("castor_follows_the_tractrix", "passive_wheels_follow"),
    ),
    Mutation(
        "roller forgets the wheel's rotation", WHEELS, "wheel_rates",
        "across + radius * speed * sin(roller_angle)", "across",
        ("passive_wheels_follow",),
    ),
    Mutation(
        "rollers stand at half the angle", WHEELS, "constraint_rows",
        "psi[i] + roller_angle[i]", "psi[i] + 0.5 * roller_angle[i]",
        ("mecanum_closed_form", "rows_against_geometry"),
    ),
    Mutation(
        "the kernel's rollers stand at half the angle", RATES, "point_wheel",
        "psi + wheel.roller_angle", "psi + 0.5 * wheel.roller_angle",
        ("twists_by_numpy",),
    ),
    Mutation(
        "wheels steer for a slightly longer car", WHEELS, "ackermann_angle",
        "vy + turn * x", "vy + 1.001 * turn * x",
        ("ackermann_geometry", "ackermann_up_to_a_right_angle"),
    ),
    Mutation(
        "a column of the inverse with the wrong sign", WHEELS, "pseudo_inverse3",
        "v10 * w0 + v11 * w1", "v10 * w0 - v11 * w1",
        ("pseudo_inverse_by_numpy", "forward_of_inverse"),
    ),
    Mutation(
        "the arc's length instead of its chord", WHEELS, "arc_displacement",
        "chord = dt * sin(half) / half", "chord = dt",
        ("circle_closes", "arcs_compose"),
    ),
    Mutation(
        "the world turns half of the velocity", WHEELS, "arc_displacement",
        "s * vx + c * vy", "s * vx - c * vy",
        ("frame_invariance",),
    ),
    Mutation(
        "left turns are taken for right turns", WHEELS, "arc_displacement",
        "theta + half", "theta + abs(half)",
        ("mirrored_run",),
    ),
    Mutation(
        "gears add instead of averaging", ROBOT, "WheeledRobotModel._build_drives",
        "mean_radius / (len(indices) * self.radius[i])", "mean_radius / self.radius[i]",
        ("mechanical_differential", "twists_by_numpy"),
    ),
    Mutation(
        "steering counted by wheels, not by motors", ROBOT, "WheeledRobotModel.structure",
        "min(rank - rank_fixed, self.n_steering)", "rank - rank_fixed",
        ("degrees_of_shipped_robots",),
    ),
    Mutation(
        "mobility off by one", ROBOT, "WheeledRobotModel.structure",
        "Structure(3 - rank", "Structure(4 - rank",
        ("degrees_of_shipped_robots", "degrees_where_axles_coincide"),
    ),
    Mutation(
        "wrong radius", ROBOT, "WheeledRobotModel.__init__",
        'values("radius")', 'values("radius") * 1.001',
        ("differential_closed_form", "mecanum_closed_form", "three_omni_closed_form"),
    ),
    Mutation(
        "inverse a thousandth too fast", INVERSE, "solve_inverse",
        "= total / norm", "= 1.001 * total / norm",
        ("forward_of_inverse",),
    ),
    Mutation(
        "nothing is refused", INVERSE, "inverse_kinematics",
        "tolerance = 1e-9 * size", "tolerance = 1e9 * size",
        ("impossible_motions_are_refused",),
    ),
    Mutation(
        "centre of rotation on the wrong side", ROWS, "write_robot",
        "(-s * vy + c * vx)", "(-s * vy - c * vx)",
        ("icr_of_a_turn",),
    ),
    Mutation(
        "slip the other way", RATES, "gain_matrix",
        "1.0 - state.wheels[i].slip if", "1.0 + state.wheels[i].slip if",
        ("slip_shortens_the_way", "slip_of_one_wheel", "slip_of_a_ball", "slip_noise_statistics"),
    ),
    Mutation(
        "weights of Runge and Kutta", KERNEL, "rk4_step",
        "else 1.0 / 3.0", "else 0.3333",
        ("circle_closes",),
    ),
    Mutation(
        "stages at the wrong time", KERNEL, "rk4_step",
        "else 0.5)", "else 0.49)",
        ("steering_against_dop853",),
    ),
    Mutation(
        "angles of the beginning of the step", KERNEL, "arc_step",
        "work, 0.5 * dt)", "work, 0.0 * dt)",
        ("steering_against_dop853", "castor_follows_the_tractrix"),
    ),
    Mutation(
        "steering faster than its limit", KERNEL, "plan_steering",
        "= group.rate if gap", "= 1.01 * group.rate if gap",
        ("steering_reaches_its_target",),
    ),
    Mutation(
        "synchronised wheels out of step", RATES, "wheel_heading",
        "wheel.heading + steering", "wheel.heading + steering * (1.0 + wheel.x)",
        ("synchro_keeps_heading",),
    ),
    Mutation(
        "encoders three ticks ahead", ODOMETRY, "read_wheel",
        "floor(angle / wheel.tick_angle)", "floor(angle / wheel.tick_angle + 3.0)",
        ("odometry_within_quantisation",),
    ),
    Mutation(
        "odometry forgets the rollers' angle", ODOMETRY, "add_speed",
        "* cos(wheel.roller_angle)", "",
        ("odometry_of_shipped_robots",),
    ),
    Mutation(
        "slip weighs a wheel up", RATES, "gain_matrix",
        "inverse[axis, m] * (equation.factor * (sums.weight / sums.slipping_weight))",
        "inverse[axis, m] * equation.factor",
        ("slip_of_one_axle",),
    ),
    Mutation(
        "odometry takes the pivots at the end of its interval", ODOMETRY, "read_wheel",
        "0.5 * (now.second + now.odometry_second)", "now.second",
        ("odometry_of_driven_castors",),
    ),
    Mutation(
        "twice the encoder noise", ODOMETRY, "read_encoders",
        "* noise[cursor]", "* 2.0 * noise[cursor]",
        ("encoder_noise_statistics",),
    ),
    Mutation(
        "twice the slip noise", ODOMETRY, "read_encoders",
        "noise[cursor + 2]", "2.0 * noise[cursor + 2]",
        ("slip_noise_statistics", "slip_noise_random_walk"),
    ),
    Mutation(
        "angles depend on the number of steps of a call", KERNEL, "turn_wheel",
        "angle += angle_step", "angle += angle_step * (1.0 + 1e-12 * n)",
        ("chunks_give_the_same_bits",),
    ),
    Mutation(
        "the middle stages of Runge and Kutta's method come too early", KERNEL, "rk4_step",
        "else 0.5)", "else 0.4)",
        ("wheeled_methods", "wheeled_robots_by_both_methods"),
    ),
    Mutation(
        "snapshots without inputs", ENGINE, "KinematicsEngine.state_arrays",
        ', "inputs": self.inputs', "",
        ("restored_run_continues",),
    ),
)  # fmt: skip


def functions() -> Functions:
    from botz.verify import methods
    from botz.verify.kinematics import suite as kinematics
    from botz.verify.kinematics import symmetry as kinematics_symmetry

    # Uncompiled steps are slow: a broken symmetry shows at once, and a lower order with one robot.
    kinematics_symmetry.STEPS = 30
    methods.scenarios = lambda engine: ["castor-tractrix"]
    return kinematics.FUNCTIONS
