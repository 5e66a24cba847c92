"""Sprung wheels on a body, four side by side: a record holds the same quantity of four wheels in one vector.

A block of wheels is three records: `model` has its parameters, `state` what goes on from step to step, `work` what one
look at the forces needs and leaves behind. The functions here take them and the motion of the body that carries the
wheels, whoever moves that body: the vehicle engine's own loop, or a body of another engine. What happens to one wheel
is a function of its lane i without branches, put into a loop over the four lanes, so that the compiler makes vector
code of it; the contact search alone goes wheel by wheel.
A lane without a wheel has `present` 0 and takes no part.

Sums of a wheel's power show why each velocity is what it is: the force R on the body acts at X_cp with the body's
velocity v_P there; with ḣ from (v_P + ḣ b)·n̂ = 0 and slip from v_P + ḣ b, all that R does is in the spring, in the
damper and in the slip, and none is made of nothing.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from botz.kernels import compiled, of_lane, on_lanes, record, words
from botz.physics.wheels.suspension import suspension_force
from botz.rotations import cross, dot, vector

LANES = 4
FOUR, RIMS, VECTOR = (np.float64, LANES), (np.float64, (2, LANES)), (np.float64, 3)
GRAVITY = 9.80665
"""For the mass that a load stands for, in damping ratios; not the world's gravity."""
COULOMB, MAGIC = 1.0, 2.0

BODY = record(
    # motion: centre of mass, axes n, t, b, velocity, angular velocity, all in the world
    position=VECTOR, n=VECTOR, t=VECTOR, b=VECTOR, velocity=VECTOR, angular=VECTOR,
    # sums of what acts on it: force, moment about the centre of mass
    force=VECTOR, moment=VECTOR,
    # how far any of its points may have moved since the start, at most; steepest ground near it
    travelled=np.float64, steepest=np.float64,
)  # fmt: skip
"""The body that carries the wheels, as they see it: work of one step."""

WHEEL_MODEL = record(
    **dict.fromkeys(words("""
        present kind axle x y z radius half_width blend stiffness damping travel progression h_min h_max tolerance
        wall_stiffness wall_damping wall_friction mu_static mu_dynamic tread_stiffness tread_damping xa1 xa2 xa3 xa4
        xa5 xa6 xa7 xa8 ya1 ya2 ya3 ya4 ya5 ya6 ya7 ya8 ma1 ma2 ma3 ma4 ma5 ma6 ma7 ma8 c_x c_y c_m b1_x b2_x cc_x
        e_x shift_x b1_y b2_y cc_y shift_y friction_scale stiffness_scale sigma_x sigma_y largest_load peak_x peak_y
        v_park
    """), FOUR),
    # whether any of the four has this tyre; whether the combined slip has shifts
    any_coulomb=np.int64, any_magic=np.int64, any_shift=np.int64,
)  # fmt: skip

_SEARCH = words("""
    rim_slice rim_h rim_step rim_margin rim_seen rim_sine rim_cosine rim_cell_x rim_cell_y rim_corner rim_rise_x
    rim_rise_y rim_twist
""")

WHEEL_STATE = record(
    **dict.fromkeys(
        # deflections of the tread, the load that they belong to, whether it slides; deflections of the wall contact
        # and the largest load at the places between which the contacts of its rims go to and fro
        words("u_x u_y load_before sliding wall_x wall_y wall_z load_known")
        # memory of the Magic Formula: the load of the last look, the coefficients that it gave, friction per load
        + words("""
            load_seen mu_x mu_y b_x b_y b_m bend_x bend_y bend_m arm_m top_slip top_sine damp_x damp_y ratio_x ratio_y
        """)
        # what can be observed: contact, motion and forces of the step that led to the present state
        + words("""
            omega h dh sine cosine p_x p_y p_z n_x n_y n_z v_x v_y spring load force_x force_y moment_z kappa alpha
            bent_x bent_y wall_depth wall_force_x wall_force_y wall_force_z
        """),
        FOUR,
    ),
    # memory of the contact search, for both rims: the left ones of four wheels, then the right ones
    **dict.fromkeys(_SEARCH, RIMS),
    # where the contact of each rim is, and where it was before that
    **dict.fromkeys(words("rim_place rim_left"), RIMS),
)  # fmt: skip

WHEEL_WORK = record(
    **dict.fromkeys(words("""
        arm_x arm_y arm_z b_n b_t b_l t_x t_y t_z l_x l_y l_z w_x w_y w_z spin_n wall_slice wall_side
        wall_nx wall_ny wall_nz wall_rate_x wall_rate_y wall_rate_z
        weight_x weight_y resist_x resist_y change rate_x rate_y load_bent load_in grown loose
    """), FOUR),
    **dict.fromkeys(words("rim_slope_x rim_slope_y rim_fresh"), RIMS),
)  # fmt: skip


def start_wheels(state: np.ndarray) -> None:
    """Blocks of wheels that nothing has touched yet, nor seen."""
    for field in WHEEL_STATE.names or ():
        state[field] = 0.0
    for field in ("n_z", "cosine", "rim_cosine", "load_seen", "mu_x", "mu_y"):
        state[field] = 1.0
    state["rim_slice"] = -1.0


@compiled
def add_force(body, px, py, pz, rx, ry, rz):
    """A force on the body at the arm (px, py, pz) from its centre of mass."""
    mx, my, mz = cross(px, py, pz, rx, ry, rz)
    body.force[0] += rx
    body.force[1] += ry
    body.force[2] += rz
    body.moment[0] += mx
    body.moment[1] += my
    body.moment[2] += mz


@on_lanes
def place_wheels(model, work, body):
    for i in range(LANES):
        place_wheel(model, work, body, i)


@of_lane
def place_wheel(model, work, body, i):
    """Eq. 3.6: X_teo − X_c = x n + y t + z b (corrected: from the chassis' centre of mass)."""
    n, t, b = body.n, body.t, body.b
    x, y, z = model.x[i], model.y[i], model.z[i]
    work.arm_x[i] = x * n[0] + y * t[0] + z * b[0]
    work.arm_y[i] = x * n[1] + y * t[1] + z * b[1]
    work.arm_z[i] = x * n[2] + y * t[2] + z * b[2]


@on_lanes
def contact_motion(model, state, work, body):
    for i in range(LANES):
        wheel_motion(model, state, work, body, i)


@of_lane
def wheel_motion(model, state, work, body, i):
    """Directions along and across the wheel on the ground, ḣ, slip velocities, and the suspension's force.

    ḣ = −v_P·n̂/(b·n̂) with v_P the velocity of the chassis-fixed point at X_cp, never a difference of h. T̂ = t×n̂/|t×n̂|,
    L̂ = n̂×T̂. The slip uses v_P + ḣ b, which lies in the ground; r Ω·t turns the chassis' pitching back out of it.
    """
    tx, ty, tz = vector(body.t)
    bx, by, bz = vector(body.b)
    ox, oy, oz = vector(body.angular)
    pitching = dot(ox, oy, oz, tx, ty, tz)
    nx, ny, nz = state.n_x[i], state.n_y[i], state.n_z[i]
    cx, cy, cz = cross(ox, oy, oz, state.p_x[i], state.p_y[i], state.p_z[i])
    cx += body.velocity[0]
    cy += body.velocity[1]
    cz += body.velocity[2]
    twist = dot(ox, oy, oz, work.w_x[i], work.w_y[i], work.w_z[i])
    dh = -dot(cx, cy, cz, nx, ny, nz) / work.b_n[i] - twist
    cx += dh * bx
    cy += dh * by
    cz += dh * bz
    ax, ay, az = cross(tx, ty, tz, nx, ny, nz)
    length = 1.0 / sqrt(ax * ax + ay * ay + az * az)
    ax *= length
    ay *= length
    az *= length
    lx, ly, lz = cross(nx, ny, nz, ax, ay, az)
    touching = 1.0 if state.h[i] > 0.0 else 0.0
    state.dh[i] = dh * touching
    work.t_x[i], work.t_y[i], work.t_z[i] = ax, ay, az
    work.l_x[i], work.l_y[i], work.l_z[i] = lx, ly, lz
    work.b_t[i] = dot(bx, by, bz, ax, ay, az)
    work.b_l[i] = dot(bx, by, bz, lx, ly, lz)
    state.v_x[i] = (dot(cx, cy, cz, ax, ay, az) + model.radius[i] * pitching) * touching
    state.v_y[i] = dot(cx, cy, cz, lx, ly, lz) * touching
    work.spin_n[i] = dot(ox, oy, oz, nx, ny, nz)
    state.spring[i] = suspension_force(
        model.stiffness[i], model.damping[i], model.travel[i], model.progression[i], state.h[i], dh
    )


@on_lanes
def sum_wheels(state, work, body):
    """All that four wheels do to the body.

    The moments of spin need nothing here: with the angular momentum of body and wheels together as the state, all
    that changes it are the moments of R (physics page: d/dt[J Ω + Σ I ω t] = Σ (X_cp − X_c)×R).
    """
    sx, sy, sz, mx, my, mz = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(LANES):
        rx, ry, rz, ax, ay, az = wheel_force(state, work, i)
        sx += rx
        sy += ry
        sz += rz
        mx += ax
        my += ay
        mz += az
    body.force[0] += sx
    body.force[1] += sy
    body.force[2] += sz
    body.moment[0] += mx
    body.moment[1] += my
    body.moment[2] += mz


@of_lane
def wheel_force(state, work, i):  # -> force, moment about the centre of mass (three numbers each)
    """R = N n̂ + F_x T̂ + F_y L̂ at X_cp on the body, and M_z about n̂."""
    load, fx, fy, turn = state.load[i], state.force_x[i], state.force_y[i], state.moment_z[i]
    nx, ny, nz = state.n_x[i], state.n_y[i], state.n_z[i]
    rx = load * nx + fx * work.t_x[i] + fy * work.l_x[i]
    ry = load * ny + fx * work.t_y[i] + fy * work.l_y[i]
    rz = load * nz + fx * work.t_z[i] + fy * work.l_z[i]
    ax, ay, az = cross(state.p_x[i], state.p_y[i], state.p_z[i], rx, ry, rz)
    twisted = load * work.b_n[i]
    return (
        rx, ry, rz,
        ax + turn * nx + twisted * work.w_x[i], ay + turn * ny + twisted * work.w_y[i],
        az + turn * nz + twisted * work.w_z[i],
    )  # fmt: skip
