"""Breaks one line of the vehicle's physics at a time and says which checks notice. Run by mutations.py.

An uncompiled step takes milliseconds, so that only checks of few steps take part.
"""

from __future__ import annotations

from mutations import Functions, Mutation

TYRE = "botz.physics.wheels.tyre"
AXLE = "botz.physics.wheels.axle_block"
LUGRE = "botz.physics.wheels.lugre"
MOTOR = "botz.physics.wheels.dc_motor"
SPRING = "botz.physics.wheels.suspension"
WHEEL_TYRES = "botz.physics.wheels.tyre_block"

SAMPLES = 20
"""Random ones of each check."""

MUTATIONS = (
    Mutation(
        "a spring without its progressive part", SPRING, "suspension_force",
        "progression * beyond * beyond", "0.0 * progression",
        ("spring_law",),
    ),
    Mutation(
        "a spring that is a thousandth too stiff", SPRING, "suspension_force",
        "stiffness * h", "1.001 * stiffness * h",
        ("spring_law", "held_by_friction"),
    ),
    Mutation(
        "the load in the stiffness of F_x counted once", TYRE, "longitudinal_stiffness",
        "(a3 * load + a4) * load", "(a3 * load + a4)",
        ("table_5_evaluated",),
    ),
    Mutation(
        "the curvature the other way", TYRE, "magic_shape",
        "bx - e * (bx - atan_of(bx))", "bx + e * (bx - atan_of(bx))",
        ("steady_slip",),
    ),
    Mutation(
        "weights that drive the slip", TYRE, "simple_weight",
        "max(cos_of(c * atan_of(abs(b * x))), 0.0)", "cos_of(c * atan_of(abs(b * x)))",
        ("combined_weights",),
    ),
    Mutation(
        "forces stay where they left the ellipse", TYRE, "onto_ellipse",
        "max(x * x + y * y, 1.0)", "max(0.0 * x, 1.0)",
        ("friction_ellipse",),
    ),
    Mutation(
        "friction is left out of the wheel's balance", TYRE, "load_of_balance",
        "b_n + b_friction", "b_n",
        ("held_by_friction",),
    ),
    Mutation(
        "Coulomb's limit on one direction only", WHEEL_TYRES, "coulomb_tyre",
        "size = sqrt(fx * fx + fy * fy)", "size = abs(fx)",
        ("friction_ellipse",),
    ),
    Mutation(
        "a current beyond its limit", MOTOR, "motor_current",
        "* resistance_inverse, -limit), limit)", "* resistance_inverse, -limit), 1.01 * limit)",
        ("current_limit",),
    ),
    Mutation(
        "a battery that every motor loads in full", AXLE, "battery_sums",
        "conductance += share * share", "conductance += share",
        ("battery_sag",),
    ),
    Mutation(
        "a battery that pays for more than a motor takes", AXLE, "battery_sums",
        "limit = model.largest_voltage[i]", "limit = battery",
        ("battery_sag",),
    ),
    Mutation(
        "Stribeck's curve without its square", LUGRE, "stribeck",
        "exp_of(-ratio * ratio)", "exp_of(-abs(ratio))",
        ("stribeck_by_equation",),
    ),
    Mutation(
        "the continuous form without its second factor", LUGRE, "lugre",
        "s2 = v * s0 if", "s2 = v if",
        ("stribeck_by_equation",),
    ),
)  # fmt: skip


def functions() -> Functions:
    from botz.verify.vehicle import suite as vehicle

    return vehicle.FUNCTIONS
