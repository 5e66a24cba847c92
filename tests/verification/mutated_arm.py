"""Breaks one line of serial arms at a time and says which checks notice. Run by mutations.py.

An uncompiled step of the engine takes some ten milliseconds, so that only checks of few steps take part.
"""

from __future__ import annotations

from mutations import Functions, Mutation

DH = "botz.physics.arm.dh"
SINES = "botz.physics.polynomials"
EULER = "botz.physics.arm.newton_euler"
BODIES = "botz.physics.arm.composite_body"
LANES = "botz.physics.arm.chain_block"
RECORDS = "botz.robots.arm_records"
TRANSFORMS = "botz.transforms"
CALLS = "botz.robots.arm_calls"
TITAN = "botz.physics.ik.titan4"
LINKS = "botz.physics.ik.two_links"
WRIST = "botz.physics.ik.wrist_angles"
WRIST_IK = "botz.physics.ik.wrist"
PARALLEL = "botz.physics.ik.parallel"
CHOICE = "botz.physics.ik.choice"
KERNEL = "botz.engines.arm.step"
SERVO = "botz.engines.arm.servo"
CONTACTS = "botz.engines.arm.contacts"
UNITS = "botz.engines.arm.model"
SERIAL = "botz.robots.serial_arm"

SAMPLES = 20
"""Random ones of each check."""

MUTATIONS = (
    Mutation(
        "joints that the semi-implicit method alone moves farther", KERNEL, "step_ahead",
        "q[i] += dt * qd[i]", "q[i] += 1.2 * dt * qd[i]",
        ("arm_methods",),
    ),
    # --- kinematics
    Mutation(
        "an offset along the wrong axis", DH, "chain_frames",
        "px + d * zx + a * ux", "px + d * xx + a * ux",
        ("frames_by_products", "jacobian_by_differences", "inertia_by_energy"),
    ),
    Mutation(
        "a polynomial of the sine with a term less", SINES, "cos_sin",
        "-2.505210838544172e-08 + z * 1.6059043836821613e-10", "-2.505210838544172e-08",
        ("frames_by_products",),
    ),
    Mutation(
        "quarter turns to the wrong side", SINES, "cos_sin",
        "quarter == 1 or quarter == 2", "quarter == 2",
        ("frames_by_products",),
    ),
    Mutation(
        "the second row of a Jacobian turned over", DH, "chain_jacobian",
        "= vx, vy, vz", "= vx, -vy, vz",
        ("jacobian_by_complex_steps", "jacobian_by_differences"),
    ),
    Mutation(
        "sliding joints turn the tool", DH, "chain_jacobian",
        "jacobian[5, i] = 0.0, 0.0, 0.0", "jacobian[5, i] = zx, zy, zz",
        ("jacobian_by_complex_steps", "jacobian_by_differences"),
    ),
    Mutation(
        "the tool's attitude forgotten", DH, "tool_frame",
        "arm.tool_xx, arm.tool_yx, arm.tool_zx)", "1.0, 0.0, 0.0)",
        ("frames_by_products",),
    ),
    Mutation(
        "pitch before yaw", TRANSFORMS, "rotation_from_attitude",
        "quaternion_from_attitude(roll, pitch, yaw)", "quaternion_from_attitude(yaw, pitch, roll)",
        ("frames_by_products", "split_of_the_torques"),
    ),
    Mutation(
        "a singular value too many", SERIAL, "SerialArm.singular_directions",
        "sizes <= tolerance * sizes[0]", "sizes <= 0.1 * sizes[0]",
        ("singular_directions",),
    ),
    Mutation(
        "manipulability of one direction less", CALLS, "one_manipulability",
        "product *= d", "product *= d if j else 1.0",
        ("manipulability",),
    ),
    # --- dynamics
    Mutation(
        "Coriolis' acceleration of a slide counted once", EULER, "newton_euler",
        "twice = 2.0 * speed", "twice = speed",
        ("coriolis_by_christoffel", "split_of_the_torques", "energy_is_a_law_of_the_dynamics"),
    ),
    Mutation(
        "no gyroscopic moment about x", EULER, "newton_euler",
        "mx + gyro_x + link.ixx", "mx + link.ixx",
        ("coriolis_by_christoffel", "split_of_the_torques", "energy_is_a_law_of_the_dynamics"),
    ),
    Mutation(
        "rotors without inertia", EULER, "newton_euler",
        "+ link.rotor * qdd[i]", "",
        ("split_of_the_torques", "forward_dynamics", "one_joint"),
    ),
    Mutation(
        "a product of inertia with the wrong sign", BODIES, "inertia_matrix",
        "xy += link.ixy - mx * link.cy", "xy += link.ixy + mx * link.cy",
        ("inertia_by_energy", "forward_dynamics"),
    ),
    Mutation(
        "C off by a millionth", BODIES, "coriolis_matrix",
        "c[i, j] -= 0.5 * load[i]", "c[i, j] -= 0.500001 * load[i]",
        ("coriolis_by_christoffel",),
    ),
    Mutation(
        "an elimination that adds", BODIES, "solve_symmetric",
        "b[i] -= share * b[k]", "b[i] += share * b[k]",
        ("forward_dynamics",),
    ),
    Mutation(
        "the way back through L with the wrong sign", BODIES, "solve_symmetric",
        "value -= h[j, k] * b[j]", "value += h[j, k] * b[j]",
        ("forward_dynamics",),
    ),
    Mutation(
        "forces at the tool without their moments", DH, "add_force",
        "zx * (nx + mx)", "zx * nx",
        ("wrench_at_the_tool",),
    ),
    Mutation(
        "Steiner's theorem forgotten", RECORDS, "joined",
        "own_inertia + own * (r @ r * np.eye(3) - np.outer(r, r))", "own_inertia",
        ("payload_is_a_heavier_link", "inertia_by_energy"),
    ),
    Mutation(
        "gravity in the world's axes", RECORDS, "arm_record",
        "base[:3, :3].T @ np.asarray(gravity", "np.eye(3) @ np.asarray(gravity",
        ("gravity_turns_with_the_base", "split_of_the_torques"),
    ),
    Mutation(
        "friction that is never smooth", DH, "friction_torque",
        "sqrt(speed * speed + link.smoothing * link.smoothing)", "abs(speed)",
        ("split_of_the_torques", "one_joint"),
    ),
    Mutation(
        "buoyancy pulls down", DH, "add_water",
        "lift = -arm.density", "lift = arm.density",
        ("neutral_buoyancy", "split_of_the_torques", "one_joint"),
    ),
    Mutation(
        "drag that drives", DH, "add_water",
        "half = -0.5", "half = 0.5",
        ("drag_takes_energy", "split_of_the_torques", "one_joint"),
    ),
    Mutation(
        "drag that knows no current", DH, "add_water",
        "vx + rx - arm.ux, vy + ry - arm.uy, vz + rz - arm.uz", "vx + rx, vy + ry, vz + rz",
        ("carried_by_the_current", "split_of_the_torques"),
    ),
    Mutation(
        "a model's masses not scaled", RECORDS, "scaled",
        "scale * body[0]", "body[0]",
        ("wrong_masses",),
    ),
    # --- the same dynamics with the links side by side, as the engine steps them
    Mutation(
        "products of inertia in each other's lanes", LANES, "fill_block",
        "link.ixy, link.ixz, link.iyz", "link.ixy, link.iyz, link.ixz",
        ("both_forward_dynamics",),
    ),
    Mutation(
        "Coriolis' acceleration of a slide counted once, side by side", LANES, "turn_links",
        "2.0 * tx, 2.0 * ty, 2.0 * tz", "tx, ty, tz",
        ("both_forward_dynamics",),
    ),
    Mutation(
        "axes that turn with their arm, but change no speed", LANES, "turn_links",
        "ax, ay, az = ax + tx, ay + ty, az + tz", "ax, ay, az = ax, ay, az",
        ("both_forward_dynamics",),
    ),
    Mutation(
        "a centripetal acceleration of the wrong axes", LANES, "move_links",
        "-(wxx + wzz), -(wxx + wyy)", "-(wxx + wzz), -(wxx + wzz)",
        ("both_forward_dynamics",),
    ),
    Mutation(
        "no gyroscopic moment about z, side by side", LANES, "move_links",
        "block.nz[i] = tz + hxz", "block.nz[i] = hxz",
        ("both_forward_dynamics",),
    ),
    Mutation(
        "Steiner's product of inertia turned over", LANES, "move_links",
        "hxy - mx * cy", "hxy + mx * cy",
        ("both_forward_dynamics",),
    ),
    Mutation(
        "a link's force without its moment", LANES, "load_links",
        "block.ny[i] + ty", "block.ny[i]",
        ("both_forward_dynamics",),
    ),
    Mutation(
        "lanes that know no gravity", LANES, "bias_and_inertia",
        "vx, vy, vz = -gx, -gy, -gz", "vx, vy, vz = -gx, -gy, 0.0",
        ("both_forward_dynamics",),
    ),
    Mutation(
        "bodies joined with a product of inertia too small", LANES, "bias_and_inertia",
        "- rx * y - hx * ry", "- rx * y - 0.99 * hx * ry",
        ("both_forward_dynamics",),
    ),
    Mutation(
        "slides without rotors", LANES, "bias_and_inertia",
        "h[j, j] = m + links[j].rotor", "h[j, j] = m",
        ("both_forward_dynamics",),
    ),
    Mutation(
        "a slide that turns what carries it the wrong way", LANES, "bias_and_inertia",
        "qx, qy, qz = cross(x, y, z, ax, ay, az)", "qx, qy, qz = cross(ax, ay, az, x, y, z)",
        ("both_forward_dynamics",),
    ),
    # --- inverse kinematics
    Mutation(
        "a tool that inverse kinematics forgets", DH, "flange_target",
        "flange[9 + r] -=", "flange[9 + r] -= 0.0 *",
        ("all_solutions", "right_angles"),
    ),
    Mutation(
        "one elbow only", LINKS, "two_links",
        "return 2, line - turn", "return 1, line - turn",
        ("all_solutions",),
    ),
    Mutation(
        "the flipped wrist with the wrong sign", TITAN, "regular",
        "q5, total = -q5, total + pi", "q5, total = q5, total + pi",
        ("all_solutions", "right_angles"),
    ),
    Mutation(
        "joint 4 counted from the ground", TITAN, "regular",
        "total - t2 - t3 - links[3].theta", "total - t3 - links[3].theta",
        ("all_solutions", "continued_angles"),
    ),
    Mutation(
        "a wrist flipped by its first joint alone", WRIST_IK, "regular",
        "= q6, q6 + pi", "= q6, q6",
        ("all_solutions", "right_angles"),
    ),
    Mutation(
        "a forearm's offset turned over", WRIST_IK, "regular",
        "side * beta - phi", "side * beta + phi",
        ("all_solutions",),
    ),
    Mutation(
        "a wrist turned about its first axis", WRIST, "wrist_angles",
        "theta4 = atan2(my, mx) - atan2(vy, vx)", "theta4 = atan2(my, mx) + atan2(vy, vx)",
        ("wrists_that_meet",),
    ),
    Mutation(
        "a fourth joint counted from the ground", PARALLEL, "elbows",
        "turn - t2 - t3", "turn - t3",
        ("three_parallel_axes",),
    ),
    Mutation(
        "an offset between parallel axes on the wrong side", PARALLEL, "parallel_solutions",
        "second * links[2].d", "links[2].d",
        ("three_parallel_axes",),
    ),
    Mutation(
        "ranges that nobody keeps", CHOICE, "inside",
        "return good", "return True",
        ("all_solutions", "limits_filter"),
    ),
    Mutation(
        "angles in any turn", CHOICE, "nearest_turn",
        "value + TURN *", "value + 0.0 *",
        ("continued_angles", "costs_and_order"),
    ),
    Mutation(
        "the dearest first", CHOICE, "chosen",
        "if cost[other] < cost[least]", "if cost[other] > cost[least]",
        ("costs_and_order", "continued_angles"),
    ),
    Mutation(
        "weights that weigh nothing", CHOICE, "cost_of",
        "weights[i] * (q[i]", "(q[i]",
        ("costs_and_order",),
    ),
    # --- the engine
    Mutation(
        "Runge and Kutta's last stage counts twice", KERNEL, "integrate",
        "stage == 0 or stage == 3", "stage == 0",
        ("pendulum",),
    ),
    Mutation(
        "a valve faster than its lag", UNITS, "fill_joints",
        "exp(-dt / actuator.lag)", "exp(-1.01 * dt / actuator.lag)",
        ("valves",),
    ),
    Mutation(
        "an orifice that is linear", SERVO, "actuate",
        "1.0 - used * used", "1.0 - abs(used)",
        ("valves",),
    ),
    Mutation(
        "a pressure rate that is none", SERVO, "actuate",
        "min(max(asked, own.torque - joint.torque_step), own.torque + joint.torque_step)", "asked",
        ("valves",),
    ),
    Mutation(
        "half of gravity compensated", SERVO, "servo_torques",
        "newton_euler(known, arm.gx, arm.gy, arm.gz, zero",
        "newton_euler(known, 0.5 * arm.gx, arm.gy, 0.5 * arm.gz, zero",
        ("held_pose",),
    ),
    Mutation(
        "computed torque that knows no gravity", SERVO, "servo_torques",
        "newton_euler(known, arm.gx, arm.gy, arm.gz, qd", "newton_euler(known, 0.0, 0.0, 0.0, qd",
        ("held_pose",),
    ),
    Mutation(
        "a plane that is softer", CONTACTS, "press_on_plane",
        "(world.stiffness, damping", "(0.999 * world.stiffness, damping",
        ("standing_still",),
    ),
    Mutation(
        "pads that are not as stiff as corners", UNITS, "touch_blocks",
        "jaw, 0.0, PAD_FRACTION)", "jaw, 0.0, 1.0)",
        ("pads_at_rest",),
    ),
    Mutation(
        "objects in water weigh what they weigh", KERNEL, "box_rates",
        "weight = 1.0 - box.lift", "weight = 1.0",
        ("falling_objects",),
    ),
)  # fmt: skip


def functions() -> Functions:
    from botz.verify import methods
    from botz.verify.arm import contact as arm_contact
    from botz.verify.arm import methods as arm_methods
    from botz.verify.arm import motion as arm_motion
    from botz.verify.arm import suite as arm

    arm_methods.MOVED = {"puma-wave": 0.02}
    methods.scenarios = lambda engine: ["puma-wave"]
    arm_motion.SWING, arm_motion.HELD, arm_motion.BESIDE, arm_contact.FALL = 200, 5, 0.003, 20
    return arm.FUNCTIONS
