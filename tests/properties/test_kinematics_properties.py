"""Properties of wheeled kinematics that hold for any robot and any motion."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from botz.physics.wheels import constraints as wc
from botz.robots.wheel_inverse import inverse_kinematics
from botz.robots.wheeled_robot import WheeledRobotModel
from botz.scenario.kinematics.schema import WheeledRobot
from botz.verify.kinematics import robots
from botz.verify.kinematics.symmetry import mirrored_inputs, mirrored_robot

EPS = np.finfo(float).eps

few = settings(max_examples=40, deadline=None, derandomize=True)
"""The same examples every time; random ones in their thousands are the business of `botz verify --full`."""

angles = st.floats(-3.1, 3.1)
lengths = st.floats(-1.0, 1.0)
speeds = st.floats(-5.0, 5.0)
twists = st.tuples(speeds, speeds, speeds).map(np.array)
poses = st.tuples(lengths, lengths, angles)


@st.composite
def wheels(draw: st.DrawFn) -> dict[str, Any]:
    kind = draw(st.sampled_from(["fixed", "steered", "castor", "swedish", "spherical", "support"]))
    wheel: dict[str, Any] = {
        "type": kind,
        "position": [draw(lengths), draw(lengths)],
        "radius": draw(st.floats(0.02, 0.5)),
    }
    if kind != "support":
        wheel |= {"heading": draw(angles), "driven": draw(st.booleans())}
    if kind == "castor":
        wheel["offset"] = draw(st.sampled_from([-1.0, 1.0])) * draw(st.floats(0.05, 0.3))
    if kind == "swedish":
        wheel["roller_angle"] = draw(st.floats(-1.2, 1.2))
    return wheel


@st.composite
def any_robots(draw: st.DrawFn) -> WheeledRobot:
    listed = draw(st.lists(wheels(), min_size=1, max_size=5))
    return robots.robot({f"w{i}": wheel for i, wheel in enumerate(listed)})


def commands(model: WheeledRobotModel, seed: int) -> np.ndarray:
    return robots.random_inputs(np.random.default_rng(seed), model)


def sensitivity(model: WheeledRobotModel, inputs: np.ndarray) -> float:
    """How much the twist can change when the equations change by their rounding, in units of eps."""
    matrix = model.system(model.wheel_headings(inputs[model.n_rates :])) / [1.0, 1.0, model.length]
    singular = np.linalg.svd(matrix, compute_uv=False) if matrix.size else np.zeros(0)
    singular = singular[singular > 1e-9 * singular.max(initial=0.0)]
    if not singular.size:
        return 1.0
    condition = singular.max() / singular.min()
    return float(condition**2 * (1.0 + np.abs(inputs).sum()) * max(1.0, 1.0 / singular.max()) / min(1.0, model.length))


def well_posed(model: WheeledRobotModel, inputs: np.ndarray) -> bool:
    """No singular value near the threshold of the rank: there a rounding decides what the robot can do."""
    matrix = model.system(model.wheel_headings(inputs[model.n_rates :])) / [1.0, 1.0, model.length]
    if not matrix.size:
        return True
    singular = np.linalg.svd(matrix, compute_uv=False)
    ratio = singular / singular.max()
    return not ((ratio > 1e-13) & (ratio < 1e-3)).any()


@few
@given(theta=angles, twist=twists, dt=st.floats(1e-4, 1.0), part=st.floats(0.01, 0.99))
def test_an_arc_is_two_arcs(theta, twist, dt, part):
    whole = np.array(wc.arc_displacement(theta, *twist, dt))
    first = np.array(wc.arc_displacement(theta, *twist, part * dt))
    second = np.array(wc.arc_displacement(theta + twist[2] * part * dt, *twist, dt - part * dt))
    # Rounding of angles up to 8 rad, times a path of at most 7 m.
    assert np.abs(whole - first - second).max() <= 60 * EPS * 8


@few
@given(theta=angles, turned=angles, twist=twists, dt=st.floats(1e-4, 1.0))
def test_an_arc_turns_with_its_start(theta, turned, twist, dt):
    plain = np.array(wc.arc_displacement(theta, *twist, dt))
    moved = np.array(wc.arc_displacement(theta + turned, *twist, dt))
    c, s = math.cos(turned), math.sin(turned)
    assert np.abs(moved - [c * plain[0] - s * plain[1], s * plain[0] + c * plain[1]]).max() <= 60 * EPS * 8


@few
@given(theta=angles, twist=twists, dt=st.floats(1e-4, 1.0))
def test_an_arc_is_no_longer_than_its_path(theta, twist, dt):
    dx, dy = wc.arc_displacement(theta, *twist, dt)
    assert math.hypot(dx, dy) <= math.hypot(twist[0], twist[1]) * dt * (1 + 8 * EPS)


@few
@given(theta=angles, twist=twists, dt=st.floats(1e-4, 1.0))
def test_driving_an_arc_backwards_returns(theta, twist, dt):
    out = np.array(wc.arc_displacement(theta, *twist, dt))
    back = np.array(wc.arc_displacement(theta + twist[2] * dt, *-twist, dt))
    assert np.abs(out + back).max() <= 60 * EPS * 8


@few
@given(
    rows=st.integers(1, 12),
    rank=st.integers(1, 3),
    seed=st.integers(0, 2**32 - 1),
    length=st.floats(0.1, 10.0),
)
def test_pseudo_inverse_meets_the_penrose_conditions(rows, rank, seed, length):
    rng = np.random.default_rng(seed)
    scaling = np.diag([1.0, 1.0, length])
    matrix = rng.normal(size=(rows, rank)) @ rng.normal(size=(rank, 3)) @ scaling
    inverse, work = np.empty((3, rows)), np.empty((rows, 3))
    wc.pseudo_inverse3(matrix, length, work, inverse)
    # In the scaled unknowns (v_x, v_y, L θ') it is the Moore-Penrose inverse.
    a, x = matrix / [1.0, 1.0, length], scaling @ inverse
    singular = np.linalg.svd(a, compute_uv=False)
    kept = singular[singular > 1e-9 * singular.max()]
    bound = 100 * EPS * (kept.max() / kept.min()) ** 2
    assert np.abs(a @ x @ a - a).max() <= bound * kept.max()
    assert np.abs(x @ a @ x - x).max() <= bound / kept.min()
    assert np.abs(a @ x - (a @ x).T).max() <= bound
    assert np.abs(x @ a - (x @ a).T).max() <= bound


@few
@given(spec=any_robots(), pose=poses, seed=st.integers(0, 1000), method=st.sampled_from(["arc", "rk4"]))
def test_a_run_does_not_know_where_it_starts(spec, pose, seed, method):
    ends = []
    for start in ((0.0, 0.0, 0.0), pose):
        engine = robots.engine_of(spec, pose=start, method=method, step=0.01)
        engine.inputs[:] = commands(engine.robots["r"], seed)
        ends.append(robots.value(engine, robots.rollout(engine, 20), "r/pose")[0])
    c, s = math.cos(pose[2]), math.sin(pose[2])
    plain, moved = ends
    turned = [c * plain[0] - s * plain[1] + pose[0], s * plain[0] + c * plain[1] + pose[1], plain[2] + pose[2]]
    # The twist does not depend on the pose at all; what remains is rounding of sums of up to |plain|.
    size = 10 + np.abs(plain).max() + np.abs(plain[:2]).max() * np.abs(plain[2])
    assert np.abs(moved - turned).max() <= 20 * 8 * EPS * size


@few
@given(spec=any_robots(), seed=st.integers(0, 1000), method=st.sampled_from(["arc", "rk4"]))
def test_a_mirrored_robot_runs_the_mirrored_path(spec, seed, method):
    engine = robots.engine_of(spec, method=method, step=0.01)
    mirror = robots.engine_of(mirrored_robot(spec), method=method, step=0.01)
    model = engine.robots["r"]
    inputs = commands(model, seed)
    if not well_posed(model, inputs):
        return
    engine.inputs[:] = inputs
    mirror.inputs[:] = mirrored_inputs(engine, inputs)
    first = robots.value(engine, robots.rollout(engine, 10), "r/pose")[0]
    second = robots.value(mirror, robots.rollout(mirror, 10), "r/pose")[0] * [1, -1, -1]
    assert np.abs(first - second).max() <= 1000 * EPS * sensitivity(model, inputs)


@few
@given(spec=any_robots(), seed=st.integers(0, 1000))
def test_accepted_velocities_come_back(spec, seed):
    """Either a reason is given, or forward∘inverse is the identity."""
    model = WheeledRobotModel(spec)
    rng = np.random.default_rng(seed)
    inputs = commands(model, seed)
    wanted = robots.random_admissible_twist(rng, model) if seed % 2 else model.forward(inputs)[0]
    found = inverse_kinematics(model, wanted, inputs)
    if found.reason:
        assert len(found.reason) > 10
        return
    again, slip = model.forward(found.inputs)
    size = np.hypot(wanted[0], wanted[1]) + abs(wanted[2]) * model.length
    assert np.abs((again - wanted) * [1, 1, model.length]).max() <= 1e-9 * size
    if well_posed(model, found.inputs):
        assert np.abs(slip).max(initial=0.0) <= 1e-8 * size


@few
@given(spec=any_robots(), seed=st.integers(0, 1000))
def test_robots_at_rest_stay(spec, seed):
    """No motor turns: no pose changes, whatever the steering does."""
    engine = robots.engine_of(spec, step=0.01)
    model = engine.robots["r"]
    inputs = commands(model, seed)
    inputs[: model.n_rates] = 0.0
    engine.inputs[:] = inputs
    row = robots.rollout(engine, 10)
    assert (robots.value(engine, row, "r/pose") == 0.0).all()
    assert (robots.value(engine, row, "r/odometry/pose") == 0.0).all()


@few
@given(spec=any_robots(), seed=st.integers(0, 1000), factor=st.floats(-3.0, 3.0))
def test_velocities_are_linear_in_the_motors(spec, seed, factor):
    model = WheeledRobotModel(spec)
    inputs = commands(model, seed)
    twist, slip = model.forward(inputs)
    scaled = inputs.copy()
    scaled[: model.n_rates] *= factor
    twice, slip_twice = model.forward(scaled)
    bound = 1000 * EPS * sensitivity(model, inputs) * max(1.0, abs(factor))
    assert np.abs(twice - factor * twist).max() <= bound
    assert np.abs(slip_twice - factor * slip).max(initial=0.0) <= bound


@few
@given(spec=any_robots(), seed=st.integers(0, 1000))
def test_slip_is_orthogonal_to_what_the_body_can_do(spec, seed):
    """Least squares: Aᵀ (A ξ − B u) = 0, so no other motion slips less."""
    model = WheeledRobotModel(spec)
    inputs = commands(model, seed)
    if not well_posed(model, inputs):
        return
    _, slip = model.forward(inputs)
    matrix = model.system(model.wheel_headings(inputs[model.n_rates :])) / [1.0, 1.0, model.length]
    if matrix.size:
        assert np.abs(matrix.T @ slip).max() <= 1000 * EPS * sensitivity(model, inputs)


@few
@given(spec=any_robots(), pieces=st.lists(st.integers(1, 40), min_size=1, max_size=6), seed=st.integers(0, 1000))
def test_pieces_of_a_run_are_the_run(spec, pieces, seed):
    ends = []
    for sizes in (pieces, [sum(pieces)]):
        engine = robots.engine_of(spec, step=0.01, odometry_rate=10.0)
        engine.inputs[:] = commands(engine.robots["r"], seed)
        at = 0
        for size in sizes:
            row = robots.rollout(engine, size, start=at)
            at += size
        ends.append(row.tobytes())
    assert ends[0] == ends[1]
