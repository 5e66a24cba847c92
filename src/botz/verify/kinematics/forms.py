"""Wheeled kinematics against closed forms: each robot's velocities as the source or a textbook gives them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from botz.robots.wheeled_robot import WheeledRobotModel, centre_of_rotation
from botz.verify.checks import EPS, Check, close, same, worst
from botz.verify.kinematics import robots

STRUCTURE = {
    "driven_ball": "3/0/3",
    "bicycle": "1/1/2",
    "differential": "2/0/2",
    "differential_support": "2/0/2",
    "differential_castor_front": "2/0/2",
    "differential_castor_rear": "2/0/2",
    "differential_omni_front": "2/0/2",
    "differential_omni_rear": "2/0/2",
    "differential_ball_front": "2/0/2",
    "differential_ball_rear": "2/0/2",
    "differential_two_omni_front": "2/0/2",
    "differential_two_supports": "2/0/2",
    "tricycle_rear_drive": "1/1/2",
    "tricycle_front_drive": "1/1/2",
    "three_omni": "3/0/3",
    "synchro_drive": "1/1/2",
    "ackermann_rear_drive": "1/1/2",
    "ackermann_front_drive": "1/1/2",
    "four_steer": "1/2/3",
    "four_mecanum": "3/0/3",
    "four_castors": "3/0/3",
    "two_steer": "1/2/3",
    "skid_steer": "1/0/1",
}
"""Mobility/steerability/manoeuvrability of every configuration of the source and of the robots added to it.
Skid-steer has two fixed axles apart, rank C = 2, and nothing to steer."""


def differential_closed_form(samples: int) -> Iterator[Check]:
    """[alsina-rodas]: x' = cos θ (r_D ω_D + r_E ω_E)/2, y' = sin θ (…)/2, θ' = (r_D ω_D − r_E ω_E)/b."""
    rng = np.random.default_rng(1)
    x_error, y_error, turn_error, ratio_error = [], [], [], []
    for _ in range(samples):
        r_d, r_e, b = rng.uniform(0.02, 0.5), rng.uniform(0.02, 0.5), rng.uniform(0.1, 2.0)
        w_d, w_e = rng.uniform(-20.0, 20.0, 2)
        theta = rng.uniform(-np.pi, np.pi)
        model = WheeledRobotModel(robots.differential(track=b, radius=(r_d, r_e)))
        names = [one.name for one in model.inputs]
        inputs = np.array([{"right/speed": w_d, "left/speed": w_e}[name] for name in names])
        (vx, vy, turn), _ = model.forward(inputs)
        v_d, v_e = r_d * w_d, r_e * w_e
        size = abs(v_d) + abs(v_e)
        x_error.append((np.cos(theta) * vx - np.sin(theta) * vy - np.cos(theta) * (v_d + v_e) / 2) / size)
        y_error.append((np.sin(theta) * vx + np.cos(theta) * vy - np.sin(theta) * (v_d + v_e) / 2) / size)
        turn_error.append((turn - (v_d - v_e) / b) * b / size)
        # ω_E/ω_D = (r − b/2) r_D / ((r + b/2) r_E) without denominators: r = v/ω is infinite going straight.
        left = w_e * (vx + turn * b / 2) * r_e
        right = w_d * (vx - turn * b / 2) * r_d
        ratio_error.append((left - right) / (size * (abs(w_d) + abs(w_e)) * max(r_d, r_e)))
    rounding = 100 * EPS
    why = "Some 50 roundings of the inverse of a 4x3 matrix, relative to |v_D| + |v_E|."
    yield worst("differential drive: x' of the source, random parameters", x_error, rounding, why)
    yield worst("differential drive: y' of the source, random parameters", y_error, rounding, why)
    yield worst("differential drive: θ' of the source, random parameters", turn_error, rounding, why)
    ratio = "[alsina-rodas]: ω_E/ω_D = (r − b/2) r_D / ((r + b/2) r_E), r = v/θ'; the same roundings."
    yield worst("differential drive: wheel speeds and turning radius", ratio_error, 2 * rounding, ratio)


def differential_rows(samples: int) -> Iterator[Check]:
    """The source's matrices: J_q = [1 0 b/2; 1 0 −b/2] and C_q = [0 1 0], each times R(θ)ᵀ."""
    del samples
    b, theta = 0.7, 0.4
    model = WheeledRobotModel(robots.differential(track=b))
    rolling, lateral = model.constraint_matrices(theta)
    c, s = np.cos(theta), np.sin(theta)
    to_body = np.array([[c, s, 0], [-s, c, 0], [0, 0, 1]])
    wanted = np.array([[1, 0, b / 2], [1, 0, -b / 2]]) @ to_body
    why = "[alsina-rodas]. A few roundings of numbers below 1."
    yield worst("differential drive: J_q of the source", (rolling - wanted).ravel(), 8 * EPS, why)
    yield worst(
        "differential drive: C_q of the source", (lateral - np.array([0, 1, 0]) @ to_body).ravel(), 8 * EPS, why
    )


def mecanum_closed_form(samples: int) -> Iterator[Check]:
    """r ω = v_x ∓ v_y ∓ (a + b) θ' for rollers at 45°: v_x = r/4 Σω, and so on."""
    rng = np.random.default_rng(2)
    errors = []
    signs = {"fl": (1, 1), "fr": (1, -1), "rl": (-1, 1), "rr": (-1, -1)}
    for _ in range(samples):
        a, b, r = rng.uniform(0.1, 1.0), rng.uniform(0.1, 1.0), rng.uniform(0.02, 0.3)
        wheels = {
            name: {
                "type": "swedish", "driven": True, "radius": r, "position": [sx * a, sy * b],
                "roller_angle": -sx * sy * np.pi / 4,
            }
            for name, (sx, sy) in signs.items()
        }  # fmt: skip
        speed = dict(zip(signs, rng.uniform(-10, 10, 4), strict=True))
        fl, fr, rl, rr = speed.values()
        twist, _ = robots.model_of(wheels).forward(np.array(list(speed.values())))
        wanted = r / 4 * np.array([fl + fr + rl + rr, -fl + fr + rl - rr, (-fl + fr - rl + rr) / (a + b)])
        errors.append(np.abs((twist - wanted) * [1, 1, a + b]).max() / (r * np.abs(list(speed.values())).sum()))
    why = "Textbook form. Some 50 roundings, relative to r Σ|ω|."
    yield worst("four Swedish wheels: textbook form, random parameters", errors, 100 * EPS, why)


def three_omni_closed_form(samples: int) -> Iterator[Check]:
    """r ω_i = −sin φ_i v_x + cos φ_i v_y + R θ', solved: v = 2r/3 Σ ω_i t_i, θ' = r/(3R) Σ ω_i."""
    rng = np.random.default_rng(3)
    errors = []
    for _ in range(samples):
        reach, r, turned = rng.uniform(0.1, 1.0), rng.uniform(0.02, 0.3), rng.uniform(-np.pi, np.pi)
        angles = turned + np.array([0.0, 1.0, 2.0]) * 2 * np.pi / 3
        wheels = {
            f"w{i}": {
                "type": "swedish", "driven": True, "radius": r, "heading": phi + np.pi / 2,
                "position": [reach * np.cos(phi), reach * np.sin(phi)],
            }
            for i, phi in enumerate(angles)
        }  # fmt: skip
        speed = rng.uniform(-10, 10, 3)
        twist, _ = robots.model_of(wheels).forward(speed)
        wanted = np.array([-2 * (np.sin(angles) @ speed), 2 * (np.cos(angles) @ speed), speed.sum() / reach]) * r / 3
        errors.append(np.abs((twist - wanted) * [1, 1, reach]).max() / (r * np.abs(speed).sum()))
    why = "Textbook form. Some 50 roundings, relative to r Σ|ω|."
    yield worst("three omni wheels at 120°: textbook form, random parameters", errors, 100 * EPS, why)


def ackermann_geometry(samples: int) -> Iterator[Check]:
    """cot δ_outer − cot δ_inner = W/L, and every axle passes through (0, L / tan δ)."""
    rng = np.random.default_rng(4)
    cotangent, meeting, centre = [], [], []
    for _ in range(samples):
        base, track = rng.uniform(0.3, 3.0), rng.uniform(0.2, 2.0)
        # Beyond this angle the centre of rotation comes between the front wheels and cot changes its sign.
        delta = rng.uniform(0.01, 0.95 * np.arctan(2 * base / track)) * rng.choice([-1.0, 1.0])
        model = WheeledRobotModel(robots.ackermann(base=base, track=track, limit=1.57))
        psi = dict(zip(model.wheel_names, model.wheel_headings(np.array([delta])), strict=True))
        inner, outer = ("front_left", "front_right") if delta > 0 else ("front_right", "front_left")
        cot = 1 / np.tan(abs(psi[outer])) - 1 / np.tan(abs(psi[inner]))
        # An angle's rounding is magnified by d cot = dδ / sin²δ; the largest is that of the smaller angle.
        cotangent.append((cot - track / base) * np.sin(psi[outer]) ** 2)
        rotation = np.array([0.0, base / np.tan(delta)])
        for name, x, y in zip(model.wheel_names, model.x, model.y, strict=True):
            along = np.array([np.cos(psi[name]), np.sin(psi[name])])
            away = rotation - [x, y]
            meeting.append(away @ along / np.hypot(*away))
        twist, _ = model.forward(np.array([3.0, delta]))
        centre.append(np.hypot(*(centre_of_rotation(twist) - rotation)) / np.hypot(base, rotation[1]))
    why = "cot δ_outer − cot δ_inner = W/L. Some 10 roundings of the angles, in units of dδ = sin²δ dcot."
    yield worst("Ackermann: cot(outer) − cot(inner) = W/L", cotangent, 20 * EPS, why)
    why = "The angle between an axle and the direction to (0, L/tan δ); some 10 roundings."
    yield worst("Ackermann: all axles meet in one point", meeting, 20 * EPS, why)
    why = "The centre of rotation of the forward kinematics is (0, L/tan δ); relative, inverse of a 5x3 matrix."
    # The turning rate of a nearly straight path is a small difference: its relative error grows as 1/tan δ < 100.
    yield worst("Ackermann: centre of rotation", centre, 2000 * EPS, why)


def ackermann_up_to_a_right_angle(samples: int) -> Iterator[Check]:
    """ψ = atan2(L, L cot δ − y) has no jump up to δ = 90°, also when the centre comes between the wheels."""
    del samples
    base, track = 0.5, 0.6
    model = WheeledRobotModel(robots.ackermann(base=base, track=track, limit=np.pi / 2))
    errors = []
    for delta in np.linspace(-np.pi / 2, np.pi / 2, 181):
        psi = model.wheel_headings(np.array([delta]))
        for i in (2, 3):
            # Written with sin and cos so that straight ahead is no special case; it lies on the side that δ is on.
            wanted = np.arctan2(
                base * np.sin(abs(delta)), base * np.cos(delta) - np.sign(delta) * model.y[i] * np.sin(abs(delta))
            )
            errors.append(psi[i] - np.sign(delta) * wanted)
    why = "Some 10 roundings of an angle."
    yield worst("Ackermann: wheel angles up to δ = 90° [rad]", errors, 40 * EPS, why)


def mechanical_differential(samples: int) -> Iterator[Check]:
    """Motor = mean of its wheels' speeds; the outer and inner wheel roll at v (1 ± W tan δ / 2L)."""
    rng = np.random.default_rng(5)
    mean, single = [], []
    for _ in range(min(samples, 2000)):
        base, track, r = rng.uniform(0.5, 2.0), rng.uniform(0.3, 1.2), rng.uniform(0.05, 0.3)
        delta, motor = rng.uniform(-0.8, 0.8), rng.uniform(0.5, 8.0)
        engine = robots.engine_of(robots.ackermann(base=base, track=track, radius=r))
        engine.inputs[:] = motor, delta
        row = robots.rollout(engine, 1)
        left, right = (robots.value(engine, row, f"r/rear_{side}/speed")[0] for side in ("left", "right"))
        mean.append(((left + right) / 2 - motor) / motor)
        single.append((right - motor * (1 + track * np.tan(delta) / (2 * base))) / motor)
    why = "Inverse of a 5x3 matrix, relative to the motor's speed."
    yield worst("mechanical differential: motor turns with the mean of its wheels", mean, 200 * EPS, why)
    yield worst("mechanical differential: speed of the outer and inner wheel", single, 200 * EPS, why)


def three_wheels_on_one_axle(samples: int) -> Iterator[Check]:
    """Wheels at y = −c, 0, c with r ω = s, one of them s + ε: they slip by ε (1, −2, 1)/3 or ε (−1, 2, −1)/6."""
    rng = np.random.default_rng(6)
    middle, outer, agree = [], [], []
    for _ in range(samples):
        c, r, s, off = rng.uniform(0.1, 1.0), rng.uniform(0.02, 0.3), rng.uniform(-2, 2), rng.uniform(0.1, 1.0)
        wheels = {
            name: {"type": "fixed", "driven": True, "radius": r, "position": [0.0, y]}
            for name, y in (("a", -c), ("b", 0.0), ("c", c))
        }
        model = robots.model_of(wheels)
        rolling = [model.row_names.index(f"{name} rolling") for name in "abc"]
        twist, slip = model.forward(np.array([s, s + off, s]) / r)
        middle += list(slip[rolling] - off / 3 * np.array([1, -2, 1]))
        middle.append(twist[0] - s - off / 3)
        twist, slip = model.forward(np.array([s + off, s, s]) / r)
        outer += list(slip[rolling] - off / 6 * np.array([-1, 2, -1]))
        outer.append(twist[2] * c - off / 2)
        turn = rng.uniform(-2, 2)
        _, slip = model.forward(np.array([s + c * turn, s, s - c * turn]) / r)
        agree += list(slip)
    why = "Some 50 roundings of speeds up to 5 m/s."
    yield worst("over-constrained: slip of a mismatch, middle wheel of three", middle, 500 * EPS, why)
    yield worst("over-constrained: slip of a mismatch, outer wheel of three", outer, 500 * EPS, why)
    yield worst(
        "over-constrained: residual of consistent wheels [m/s]",
        agree,
        1e-12,
        "A ξ − B u = 0: 1e-12 is a thousand roundings of 5 m/s.",
    )


def skid_steer_least_squares(samples: int) -> Iterator[Check]:
    """Four fixed wheels at (±a, ±b): θ' = b (s_R − s_L) / (2 (a² + b²)), lateral slip ±a θ'."""
    rng = np.random.default_rng(7)
    turning, sideways, lengthwise = [], [], []
    for _ in range(samples):
        a, b, r = rng.uniform(0.1, 1.0), rng.uniform(0.1, 1.0), rng.uniform(0.02, 0.3)
        left, right = rng.uniform(-2, 2, 2)
        model = WheeledRobotModel(robots.skid_steer(half_base=a, half_track=b, radius=r))
        speed = np.array([left if name[1] == "l" else right for name in model.wheel_names]) / r
        twist, slip = model.forward(speed)
        turn = b * (right - left) / (2 * (a * a + b * b))
        turning.append((twist[2] - turn) * a)
        for name, x, y in zip(model.wheel_names, model.x, model.y, strict=True):
            side = left if name[1] == "l" else right
            sideways.append(slip[model.row_names.index(f"{name} lateral")] - x * turn)
            lengthwise.append(slip[model.row_names.index(f"{name} rolling")] - ((left + right) / 2 - y * turn - side))
    why = "Normal equations by hand. Some 50 roundings of speeds up to 20 m/s."
    yield worst("skid-steer: yaw rate of the least squares", turning, 1000 * EPS, why)
    yield worst("skid-steer: lateral slip", sideways, 1000 * EPS, why)
    yield worst("skid-steer: rolling slip", lengthwise, 1000 * EPS, why)


def icr_of_a_turn(samples: int) -> Iterator[Check]:
    """The point of the body that rests: p + R(θ) (−v_y, v_x)/θ', recorded in the world."""
    rng = np.random.default_rng(8)
    errors = []
    for _ in range(min(samples, 2000)):
        b, r = rng.uniform(0.2, 1.0), rng.uniform(0.05, 0.2)
        pose = tuple(rng.uniform(-2, 2, 3))
        engine = robots.engine_of(robots.differential(track=b, radius=(r, r)), pose=pose)
        w_d, w_e = rng.uniform(1.0, 4.0), rng.uniform(-4.0, 0.5)
        engine.inputs[:] = [w_d if "right" in channel.name else w_e for channel in engine.inputs_table]
        row = np.zeros(engine.channels.width)
        engine.observe(row)
        radius = b / 2 * (w_d + w_e) / (w_d - w_e)
        wanted = np.array(pose[:2]) + radius * np.array([-np.sin(pose[2]), np.cos(pose[2])])
        errors.append(np.hypot(*(robots.value(engine, row, "r/icr") - wanted)))
    why = "Differential drive: r = b/2 (ω_D + ω_E)/(ω_D − ω_E) to the left; lengths up to 10 m."
    yield worst("centre of rotation of a differential drive, in the world [m]", errors, 1000 * EPS, why)


def degrees_of_shipped_robots(samples: int) -> Iterator[Check]:
    """δ_m = 3 − rank C, δ_s = min(rank C − rank C_fixed, steering inputs), δ_M their sum."""
    del samples
    shipped = robots.shipped_robots()
    missing = ", ".join(name for name in STRUCTURE if name not in shipped)
    yield same(
        "every configuration of the source is shipped", "", missing, "Names of robots that are not in the library."
    )
    for name, spec in shipped.items():
        model = WheeledRobotModel(spec)
        measured = str(model.structure(consistent_steering(model)))
        expected = STRUCTURE.get(name, "not listed in kinematics_forms.STRUCTURE")
        yield same(f"degrees δm/δs/δM: {name}", expected, measured, "")


def degrees_where_axles_coincide(samples: int) -> Iterator[Check]:
    """Two and four steered wheels have δ_m = 1, and 2 where all axles lie on one line."""
    del samples
    steered = {"type": "steered", "driven": True}
    two = robots.model_of({"a": {**steered, "position": [0.0, 0.3]}, "b": {**steered, "position": [0.0, -0.3]}})
    corners = {"a": [0.3, 0.2], "b": [0.3, -0.2], "c": [-0.3, 0.2], "d": [-0.3, -0.2]}
    four = robots.model_of({name: {**steered, "position": place} for name, place in corners.items()})
    line = robots.model_of(
        {name: {**steered, "position": [0.0, y]} for name, y in zip("abcd", (0.4, 0.1, -0.2, -0.5), strict=True)}
    )
    why = "rank C is 1 where all lateral rows are the same, else 2 where the axles meet."
    yield same("two-steer: degrees with parallel axles apart", "1/2/3", str(two.structure(np.full(2, 0.5))), why)
    yield same("two-steer: mobility where the axles coincide", "2", str(two.structure(np.zeros(2)).mobility), why)
    meet = np.arctan2(np.array([0.3, 0.3, -0.3, -0.3]), 2.0 - np.array([0.2, -0.2, 0.2, -0.2]))
    yield same("four-steer: degrees where the axles meet in a point", "1/2/3", str(four.structure(meet)), why)
    yield same("four-steer: mobility where the axles coincide", "2", str(line.structure(np.zeros(4)).mobility), why)
    off = four.structure(np.array([0.5, -0.2, 0.1, 0.9]))
    yield close(
        "four-steer: mobility where the axles do not meet", 0, off.mobility, 0, "Three independent axles: rank C = 3."
    )


def consistent_steering(model: WheeledRobotModel) -> np.ndarray:
    """Steering angles at which the axles agree: wheels steered one by one point along a turn about a point that is on
    no axle of the straight robot, groups stay straight."""
    point = np.array([0.37 * model.length, 2.9 * model.length])
    angles = np.zeros(model.n_steering)
    lone = [g for g in range(model.n_steering) if int((model.group_of_wheel == g).sum()) == 1]
    if len(lone) > 1:
        for g in lone:
            x, y, heading = model.group_mid[g]
            angles[g] = np.arctan2(x - point[0], point[1] - y) - heading
    return angles
