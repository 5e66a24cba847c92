"""`botz verify kinematics`: all checks of the wheeled family, in the order in which they are shown."""

from __future__ import annotations

from collections.abc import Callable

from botz.verify.checks import Check, Result, make
from botz.verify.kinematics import forms, methods, motion, odometry, symmetry, wheels

FUNCTIONS: tuple[Callable[[int], Result], ...] = (
    forms.differential_closed_form,
    forms.differential_rows,
    forms.mecanum_closed_form,
    forms.three_omni_closed_form,
    forms.ackermann_geometry,
    forms.ackermann_up_to_a_right_angle,
    forms.mechanical_differential,
    forms.three_wheels_on_one_axle,
    forms.skid_steer_least_squares,
    forms.icr_of_a_turn,
    forms.degrees_of_shipped_robots,
    forms.degrees_where_axles_coincide,
    wheels.rows_against_geometry,
    wheels.passive_wheels_follow,
    wheels.twists_by_numpy,
    wheels.forward_of_inverse,
    wheels.impossible_motions_are_refused,
    wheels.pseudo_inverse_by_numpy,
    motion.circle_closes,
    motion.arcs_compose,
    motion.castor_follows_the_tractrix,
    motion.castor_in_a_steady_turn,
    motion.steering_against_dop853,
    motion.steering_reaches_its_target,
    motion.synchro_keeps_heading,
    odometry.odometry_within_quantisation,
    odometry.odometry_of_shipped_robots,
    odometry.odometry_of_driven_castors,
    odometry.slip_of_one_axle,
    odometry.slip_shortens_the_way,
    odometry.slip_of_one_wheel,
    odometry.slip_of_a_ball,
    odometry.encoder_noise_statistics,
    odometry.slip_noise_statistics,
    odometry.slip_noise_random_walk,
    symmetry.frame_invariance,
    symmetry.mirrored_run,
    symmetry.chunks_give_the_same_bits,
    symmetry.restored_run_continues,
    *methods.FUNCTIONS,
)
"""Each takes the number of random samples and gives one check or several."""


def kinematics_checks(samples: int) -> list[Check]:
    return [check for function in FUNCTIONS for check in make(function, samples)]
