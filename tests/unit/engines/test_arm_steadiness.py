"""Boxes, servos and functions at the edge of what a step can follow: what stands must stand still."""

from __future__ import annotations

from math import cos, sin
from typing import Any

import numpy as np
import pytest
from arm_rig import Rig, arm
from test_arm_boxes import FLOOR, TABLE, far, fastest, stack, thing

from botz.errors import InputError
from botz.physics.polynomials import cos_sin
from botz.robots.serial_arm import SerialArm
from botz.scenario.load import load
from botz.sim.simulation import Simulation

STEPS: list[dict[str, Any]] = [
    {"type": "gripper", "opening": 0.0, "force": 800.0, "duration": 1.0},
    {"type": "wait", "duration": 5.0},
]
HURRIED = {
    "robots.titan.start": [0.09066, 0.724235, -1.493102, -0.801929, 0.0, -1.480136],
    "controllers.plan.steps": STEPS,
}


@pytest.mark.parametrize("method", ["rk4", "semi-implicit"])
@pytest.mark.parametrize(
    ("size", "box", "place"),
    [
        ([0.4, 0.4, 0.1], [0.1, 0.1, 0.1], [0.15, 0.0, np.pi / 4]),  # one corner over the edge
        ([0.4, 0.4, 0.1], [0.1, 0.1, 0.1], [0.16, 0.0, np.pi / 4]),
        ([0.237, 0.166, 0.1], [0.158, 0.119, 0.068], [0.0211, -0.0245, -2.006]),
        ([0.286, 0.206, 0.1], [0.053, 0.071, 0.084], [0.0258, -0.0674, 1.154]),
        ([0.180, 0.236, 0.1], [0.175, 0.107, 0.091], [-0.0516, 0.0079, 1.24]),
    ],
)
def test_a_box_with_a_corner_over_the_edge_stands(size, box, place, method):
    world = {"boxes": {"table": {"size": size, "pose": [0, 0, 0.05, 0, 0, 0]}}, "contact": {"stiffness": 4e4}}
    z = 0.1 + box[2] / 2
    thing_ = thing(size=box, pose=[place[0], place[1], z, 0, 0, place[2]])
    rig = Rig(far(), {**world, "objects": {"box": thing_}}, method=method).seconds(2.0)
    assert fastest(rig) < 1e-3


@pytest.mark.parametrize("method", ["rk4", "semi-implicit"])
@pytest.mark.parametrize("k", [2e4, 4e4, 1e5])
def test_a_cube_in_the_corner_of_a_table_stands(k, method):
    world = {**TABLE, "contact": {"stiffness": k}, "objects": {"box": thing(pose=[0.15, 0.15, 0.15, 0, 0, 0])}}
    assert fastest(Rig(far(), world, method=method).seconds(2.0)) < 1e-6


@pytest.mark.parametrize("count", [2, 5])
@pytest.mark.parametrize("shift", [1e-7, 1e-4, 1e-3])
def test_semi_implicit_stacks_stand_with_the_default_stiffness(count, shift):
    rig = Rig(far(), stack([5.0] * count, shift), method="semi-implicit").seconds(2.0)
    assert fastest(rig) < 1e-2


@pytest.mark.parametrize(("mass", "step"), [(0.2, 1e-3), (0.2, 5e-3), (1.0, 1e-3)])
def test_a_light_cube_stands_still_by_the_semi_implicit_method(mass, step):
    world = {**FLOOR, "objects": {"box": thing(mass=mass, pose=[0, 0, 0.05, 1e-3, 1e-3, 0])}}
    assert fastest(Rig(far(), world, method="semi-implicit", step=step).seconds(2.0)) < 1e-3


@pytest.mark.parametrize(("n", "frequency", "time"), [(2, 20.0, 0.03), (3, 10.0, 0.06), (3, 10.0, 0.1)])
def test_an_integral_part_that_lets_coupled_joints_swing_is_refused(n, frequency, time):
    servo = {"type": "pid", "frequency": frequency, "integral_time": time}
    try:
        rig = Rig({"one": arm(n, start=[0.2] * n, servo=servo)}, {"gravity": [0, 0, 0]})
    except InputError:
        return
    assert np.abs(rig.command(position=[0.25] * n).history("one/position", 20_000)[-2000:] - 0.25).max() < 1e-2


@pytest.mark.parametrize("x", [1e20, -1e300])
def test_cosine_and_sine_of_anything(x):
    assert cos_sin(x) == (cos(x), sin(x))


def test_none_is_no_speed():
    with pytest.raises(InputError):
        SerialArm.of("titan4").torques(np.zeros(6), None, np.zeros(6))


def test_a_couple_turns_the_tool_although_no_force_is_left():
    """Two balls pressed into two opposite boxes: forces that cancel, and a moment that does not."""
    joints = {"turn": {"mass": 1.0, "inertia": [0.01, 0.01, 0.01]}}
    one = {"joints": joints, "tool": {"points": [[0.1, 0.1, 0.0], [-0.1, -0.1, 0.0]], "friction": 0.0}}
    boxes = {
        "right": {"size": [0.02, 0.1, 0.1], "pose": [0.1095, 0.1, 0, 0, 0, 0], "friction": 0.0},
        "left": {"size": [0.02, 0.1, 0.1], "pose": [-0.1095, -0.1, 0, 0, 0, 0], "friction": 0.0},
    }
    world = {"gravity": [0.0, 0.0, 0.0], "boxes": boxes, "contact": {"stiffness": 1e4, "damping": 0.0}}
    rig = Rig({"one": {**one, "servo": {"type": "torque"}}}, world).steps(1)
    force, moment = rig["one/tool/wrench"][:3], rig["one/tool/wrench"][5]
    assert np.array_equal(force, np.zeros(3)) and abs(moment) > 0.5
    rig.steps(20)
    assert rig["one/position"][0] * moment > 0.0


def test_a_halt_ends_torques_that_were_commanded():
    rig = Rig({"one": arm(1)}, {"gravity": [0.0, 0.0, 0.0]}).command(torque=[40.0]).seconds(0.5)
    rig.command(halt=1).seconds(2.0)
    assert abs(rig["one/speed"][0]) < 1e-6 and abs(rig["one/torque"][0]) < 1e-3


def test_friction_too_sharp_for_the_step_is_refused_with_what_would_do():
    friction = {"coulomb": 1.0, "smoothing": 0.01}
    joints = {"spin": {"mass": 0.1, "inertia": [1e-4, 1e-4, 1e-4], "friction": friction}}
    with pytest.raises(InputError, match=r"friction\.smoothing: 0\.01 is too sharp .* at least 5, or a rotor_inertia"):
        Rig({"one": {"joints": joints, "servo": {"type": "torque"}}})
    joints["spin"]["friction"] = {"coulomb": 1.0, "smoothing": 5.5}
    rig = Rig({"one": {"joints": joints, "servo": {"type": "torque"}, "start_speed": [1.0]}}).seconds(0.5)
    assert abs(rig["one/speed"][0]) < 1e-6


def test_an_integral_part_alone_has_a_bound(recwarn):
    gains = {"proportional": [0.0], "derivative": [2.0], "integral": [5.0]}
    rig = Rig({"one": arm(1, {"actuator": {"torque": 50.0}}, servo={"gains": gains})})
    assert rig.engine.model.joints[0].most == pytest.approx(0.1 * 50.0 / 5.0)
    assert not recwarn.list


@pytest.mark.parametrize("at", [2.0, 2.5])
def test_a_snapshot_while_something_is_held_goes_on_bit_for_bit(at):
    """Servos look at what is held: where it lies is the state's, not a leftover of the last stage."""
    sim = Simulation(load("titan4-pick", overrides=HURRIED))
    sim.step(n=round(at * 1000))
    assert sim.values()["titan/gripper/held"] == 1.0
    saved = sim.snapshot()
    on = sim.step(n=200)
    sim.restore(saved)
    again = sim.step(n=200)
    assert all(np.array_equal(on[name], again[name]) for name in on)


def test_jaws_do_not_close_through_a_light_object():
    light = {**HURRIED, "world.objects.block.mass": 0.1}
    sim = Simulation(load("titan4-pick", overrides=light))
    values = sim.step(n=2500)
    assert values["titan/gripper/held"] == 1.0
    assert 0.06 - 2 * 0.0085 < values["titan/gripper/opening"] < 0.06
    assert np.abs(values["block/pose"][:3] - [1.1, 0.1, -0.24]).max() < 0.01
