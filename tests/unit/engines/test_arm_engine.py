"""The arm engine as the loop sees it: channels, servo, actuators, stops, gravity and water, its way back."""

from __future__ import annotations

from collections.abc import Mapping
from math import e, sqrt
from typing import Any

import numpy as np
import pytest
from arm_rig import G, Rig, arm, link, slider

from botz.robots.serial_arm import SerialArm
from botz.scenario.arm.schema import PlacedArm

TORQUE = {"type": "torque"}
FREE = {"gravity": [0.0, 0.0, 0.0]}
GRIPPER = {"opening": 0.1, "force": 300.0, "speed": 0.2, "pads": [0.04, 0.04]}
PER_ARM = [
    "position", "speed", "torque", "reference/position", "reference/speed", "tool/pose", "tool/twist", "tool/wrench",
    "energy",
]  # fmt: skip


# --- channels ------------------------------------------------------------------------------------------------------


def test_channels_and_commands_in_their_order():
    world = {
        "objects": {"box": {"size": [0.1, 0.1, 0.1], "mass": 50.0, "pose": [9, 0, 0, 0, 0, 0]}},
    }
    engine = Rig({"one": arm(3), "two": arm(2, gripper=GRIPPER)}, world).engine
    expected = [f"{name}/{channel}" for name in ("one", "two") for channel in PER_ARM]
    expected += ["two/gripper/opening", "two/gripper/force", "two/gripper/held", "box/pose", "box/twist"]
    assert [channel.name for channel in engine.channels] == expected
    assert engine.channels.width == (5 * 3 + 21) + (5 * 2 + 21 + 3) + 13
    assert engine.channels["one/position"].components == ("j1", "j2", "j3")
    assert engine.actors == ("one", "two")
    sizes = [("position", 3), ("speed", 3), ("acceleration", 3), ("torque", 3), ("twist", 6), ("halt", 1)]
    assert engine.command_layout("one") == sizes
    assert engine.command_layout("two")[-2:] == [("gripper/opening", 1), ("gripper/force", 1)]


def test_units_are_those_of_the_joints():
    robot = {"joints": {"turn": link(), "slide": {"type": "prismatic", "mass": 1.0}}}
    channels = Rig({"one": robot, "two": slider()}).engine.channels
    assert channels["one/position"].unit == "rad, m" and channels["one/torque"].unit == "N·m, N"
    assert channels["two/position"].unit == "m" and channels["two/speed"].unit == "m/s"


def test_every_channel_shows_what_its_name_says():
    pose = [0.3, -0.2, 1.0, 0.4, -0.7, 0.9]
    tool = {"position": [0.1, 0.2, 0.3], "attitude": [0.3, 0.2, 0.1]}
    rig = Rig({"one": arm(3, pose=pose, tool=tool, start=[0.3, -0.4, 0.5], start_speed=[1.0, -2.0, 3.0])})
    rig.command(position=[0.5, -0.3, 0.4], speed=[0.1, 0.2, 0.3]).steps(20)
    q, qd, own = rig["one/position"], rig["one/speed"], rig.arm()
    placed = own.forward(q)
    shown = rig["one/tool/pose"]
    assert shown[:3] == pytest.approx(placed[:3, 3], abs=1e-14)
    w, x, y, z = shown[3:]
    assert placed[:3, 0] == pytest.approx(
        [1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)], abs=1e-13
    )
    motion = own.jacobian(q) @ qd
    turned = np.r_[placed[:3, :3].T @ motion[:3], placed[:3, :3].T @ motion[3:]]
    assert rig["one/tool/twist"] == pytest.approx(turned, abs=1e-12)
    assert rig["one/energy"] == pytest.approx(own.energy(q, qd), rel=1e-12)
    assert rig["one/reference/position"] == pytest.approx(np.array([0.5, -0.3, 0.4]) + 0.02 * np.array([0.1, 0.2, 0.3]))
    assert rig["one/reference/speed"].tolist() == [0.1, 0.2, 0.3]
    assert rig["one/torque"].any() and not rig["one/tool/wrench"].any()


def test_rows_are_those_of_the_steps_that_are_recorded():
    one, other = (Rig({"one": arm(2, start=[0.3, 0.4], servo=TORQUE)}) for _ in range(2))
    rows = np.full((4, one.engine.channels.width), np.nan)
    one.engine.advance(5, 40, 10, rows)
    other.steps(5)
    for row in rows:
        assert row.tobytes() == other.row().tobytes()
        other.steps(10)


def test_what_a_reader_in_another_process_is_told():
    """What it takes to compute with the arm: the same one comes out."""
    rig = Rig({"one": {**arm(2), "description": "long"}})
    told = rig.engine.about()["arms"]["one"]["robot"]
    again = SerialArm(PlacedArm.model_validate(told))
    assert "description" not in told
    assert again.forward([0.3, -0.2]) == pytest.approx(rig.arm().forward([0.3, -0.2]), abs=0)


# --- the servo -----------------------------------------------------------------------------------------------------


def test_computed_torque_without_model_error_decays_as_its_frequency_says():
    """ë + 2ζω ė + ω² e = 0 for each joint by itself, ζ = 1: e = e₀ (1 + ωt) e^(−ωt)."""
    rig = Rig({"one": arm(3, start=[0.2, -0.3, 0.1], servo={"type": "computed-torque", "frequency": 10.0})}, step=1e-4)
    rig.command(position=[0.3, -0.5, 0.1]).seconds(0.2)
    share = 3.0 * np.exp(-2.0)
    error = rig["one/reference/position"] - rig["one/position"]
    # The torque is held for a step: half a step late, an error of h ω/2 of what moves.
    assert error == pytest.approx(np.array([0.1, -0.2, 0.0]) * share, abs=2e-4)


def test_pid_with_gravity_compensation_holds_any_place_without_an_integral():
    rig = Rig({"one": arm(3, start=[0.2, -0.3, 0.1], servo={"frequency": 10.0})})
    rig.command(position=[0.9, -0.7, 0.4]).seconds(8.0)
    assert rig["one/position"] == pytest.approx([0.9, -0.7, 0.4], abs=1e-9)
    assert rig["one/torque"] == pytest.approx(rig.arm().gravity(rig["one/position"]), abs=1e-6)


@pytest.mark.parametrize("kind", ["pid", "computed-torque"])
def test_a_wrong_model_sags_by_what_it_does_not_know_and_an_integral_finds_it(kind: str):
    """At rest the missing part of gravity hangs on k_p: e = (1 − s) G / k_p of one joint."""
    servo = {"type": kind, "model_scale": 0.8, "frequency": 20.0}
    rig = Rig({"one": arm(1, servo=servo)}).seconds(3.0)
    inertia = float(rig.arm().inertia([0.0])[0, 0])
    gain = 400.0 * inertia * (0.8 if kind == "computed-torque" else 1.0)
    missing = 0.2 * float(rig.arm().gravity(rig["one/position"])[0])
    assert rig["one/reference/position"] - rig["one/position"] == pytest.approx([missing / gain], rel=1e-6)
    rig = Rig({"one": arm(1, servo={**servo, "integral_time": 0.3})}).seconds(6.0)
    assert rig["one/position"] == pytest.approx([0.0], abs=1e-6)


def test_a_payload_that_the_servo_does_not_know_pulls_it_down():
    payload = {"mass": 3.0, "centre": [0.1, 0.0, 0.0]}
    known, unknown = (
        Rig({"one": arm(1, payload=payload, servo={"knows_payload": knows})}).seconds(3.0) for knows in (True, False)
    )
    assert known["one/position"] == pytest.approx([0.0], abs=1e-9)
    kp = float(unknown.engine.model.joints["kp"][0])
    q = float(unknown["one/position"][0])
    assert kp * q == pytest.approx(-3.0 * G * 0.6 * np.cos(q), rel=1e-6)


def test_explicit_gains_stand_in_place_of_the_frequency():
    gains = {"proportional": [100.0, 50.0], "derivative": [20.0, 10.0], "integral": [7.0, 3.0]}
    joints = Rig({"one": arm(2, servo={"gains": gains})}).engine.model.joints
    assert (joints["kp"].tolist(), joints["kd"].tolist(), joints["ki"].tolist()) == tuple(gains.values())
    del gains["integral"]
    assert not Rig({"one": arm(2, servo={"gains": gains})}).engine.model.joints["ki"].any()


def test_the_servos_torque_is_the_sum_of_its_parts():
    """τ = G + k_p e + k_d ė, and what is commanded on top; without a lag it is there in the first step."""
    gains = {"proportional": [100.0], "derivative": [20.0]}
    rig = Rig({"one": arm(1, start=[0.3], start_speed=[0.5], servo={"gains": gains})})
    rig.command(position=[0.5], speed=[0.2], torque=[3.0]).steps(1)
    gravity = float(rig.arm().gravity([0.3])[0])
    assert rig["one/torque"] == pytest.approx([gravity + 100.0 * 0.2 + 20.0 * (0.2 - 0.5) + 3.0])


def test_friction_is_compensated_at_the_references_speed():
    friction = {"viscous": 4.0, "coulomb": 2.0, "smoothing": 0.1}
    runs = {}
    for knows in (True, False):
        servo = {"type": "computed-torque", "compensate_friction": knows}
        rig = Rig({"one": arm(1, {"friction": friction}, servo=servo)}, FREE)
        rig.command(position=[0.0], speed=[0.5]).seconds(1.5)
        runs[knows] = float((rig["one/reference/position"] - rig["one/position"])[0])
    assert abs(runs[True]) < 1e-3 and runs[False] > 10 * abs(runs[True])


def test_a_torque_servo_gives_what_is_commanded_and_nothing_else():
    rig = Rig({"one": arm(1, servo=TORQUE)}, FREE)
    inertia = float(rig.arm().inertia([0.0])[0, 0])
    rig.command(torque=[2.0]).seconds(0.5)
    assert rig["one/speed"] == pytest.approx([0.5 * 2.0 / inertia])
    assert rig["one/position"] == pytest.approx([0.125 * 2.0 / inertia])


def test_no_arm_falls_when_a_run_begins():
    """With a slow valve and gravity, the torque that holds it is there from the start."""
    rig = Rig({"one": arm(2, {"actuator": {"lag": 0.5}}, start=[0.4, -0.2], servo={"frequency": 3.0})})
    assert rig["one/torque"] == pytest.approx(rig.arm().gravity([0.4, -0.2]))
    rig.seconds(0.5)
    assert rig["one/position"] == pytest.approx([0.4, -0.2], abs=1e-9)


@pytest.mark.parametrize("servo", ["torque", "computed-torque"])
def test_a_light_link_before_a_heavy_one_is_steady_in_its_stop(servo: str):
    """Whatever hangs on it, the stop brings it back to the end of the range; it neither throws nor shakes."""
    joints = {
        "a": {"mass": 0.01, "inertia": [1e-5] * 3, "d": 0.1, "range": [-0.1, 0.1]},
        "b": {"mass": 5.0, "inertia": [0.05] * 3, "d": 0.1},
    }
    rig = Rig({"one": {"joints": joints, "servo": {"type": servo}}}, FREE).command(torque=[0.1, 0.0])
    fastest = sqrt(2.0 * 0.1 * 0.1 / 1e-5)  # over 0.1 rad under 0.1 N·m
    q = rig.history("one/position", 20_000)[:, 0]
    assert q.min() > -1e-9 and 0.1 < q.max() < 0.1 + fastest / (60.0 * e) + fastest * 1e-3
    assert np.abs(q[-1000:] - 0.1).max() < 1e-8


def test_the_integral_part_is_bounded_to_a_tenth_of_the_torque():
    """Against an obstacle it does not wind up: once free, the arm passes its goal by little."""
    own = {"actuator": {"torque": 50.0}}
    rig = Rig({"one": arm(1, own, servo={"integral_time": 0.3})}, FREE).command(position=[0.0])
    joint, own = rig.engine.model.joints[0], rig.engine.state.joints[0]
    rig.engine.state.q[0] = -0.5
    for _ in range(3000):
        rig.engine.state.q[0], rig.engine.state.qd[0] = -0.5, 0.0
        rig.steps(1)
    assert joint.ki * own.integral == pytest.approx(0.1 * 50.0)
    assert rig.history("one/position", 3000)[:, 0].max() < 0.2


# --- actuators -----------------------------------------------------------------------------------------------------


def push(actuator: Mapping[str, Any], torque: float, n: int, start_speed: float = 0.0) -> tuple[Rig, np.ndarray]:
    own = {"actuator": actuator, "rotor_inertia": 1e6}  # heavy: its speed stays
    rig = Rig({"one": arm(1, own, servo=TORQUE, start_speed=[start_speed])}, FREE)
    return rig, rig.command(torque=[torque]).history("one/torque", n)[:, 0]


def test_the_greatest_torque():
    for sign in (1.0, -1.0):
        _, torque = push({"torque": 30.0}, 100.0 * sign, 3)
        assert torque.tolist() == [30.0 * sign] * 3


def test_a_valves_lag_is_exponential_whatever_the_step():
    _, torque = push({"lag": 0.02}, 10.0, 100)
    t = 1e-3 * np.arange(1, 101)
    assert torque == pytest.approx(10.0 * (1.0 - np.exp(-t / 0.02)), rel=1e-12)


def test_pressure_builds_up_at_its_rate():
    _, torque = push({"torque_rate": 2000.0}, 10.0, 8)
    assert torque == pytest.approx([2.0, 4.0, 6.0, 8.0, 10.0, 10.0, 10.0, 10.0])
    rig, _ = push({"torque_rate": 2000.0}, 10.0, 8)
    assert rig.command(torque=[-1.0]).history("one/torque", 3)[:, 0] == pytest.approx([8.0, 6.0, 4.0])


@pytest.mark.parametrize(("speed", "share"), [(0.0, 1.0), (1.0, 0.75), (2.0, 0.0), (9.0, 0.0), (-1.0, 1.0)])
def test_flow_leaves_less_torque_in_the_direction_of_motion(speed: float, share: float):
    """1 − (q̇/v)²; against the motion the pressure is all there."""
    _, torque = push({"torque": 30.0, "flow_speed": 2.0}, 100.0, 3, start_speed=speed)
    assert torque == pytest.approx([30.0 * share] * 3, rel=1e-3, abs=1e-3)


# --- stops, joints of both kinds -----------------------------------------------------------------------------------


def test_a_stop_holds_and_does_not_pull():
    rig = Rig({"one": slider(joint={"range": [-0.5, 0.5]}, servo=TORQUE)}, FREE).command(torque=[100.0])
    rig.seconds(3.0)
    assert rig["one/position"] == pytest.approx([0.5], abs=1e-9) and abs(rig["one/speed"][0]) < 1e-9
    rig.command(torque=[-1.0])
    speeds = rig.history("one/speed", 1000)[:, 0]
    assert rig["one/position"] < 0.5 and speeds.min() < 0.0
    free = rig.history("one/speed", 100)[:, 0]
    assert np.diff(free) == pytest.approx(-1.0 / 2.0 * 1e-3, rel=1e-9), "free of the stop only the force counts"


def test_a_blow_on_a_stop_gives_no_energy():
    rig = Rig({"one": slider(joint={"range": [-0.5, 0.5]}, start=[-0.4], start_speed=[5.0], servo=TORQUE)}, FREE)
    speeds = rig.history("one/speed", 5000)[:, 0]
    assert speeds.max() <= 5.0 + 1e-12 and abs(speeds[-1]) < 1.5
    assert np.diff(np.abs(speeds)).max() < 0.25, "thrown back by the spring, never pulled in"


@pytest.mark.parametrize("method", ["rk4", "semi-implicit"])
@pytest.mark.parametrize("dynamics", ["composite-body", "newton-euler"])
def test_a_prismatic_joint_falls_freely(method: str, dynamics: str):
    rig = Rig({"one": slider(servo=TORQUE)}, method=method, forward_dynamics=dynamics).seconds(1.0)
    assert rig["one/speed"] == pytest.approx([-G])
    late = 0.5 * G * 1e-3 if method == "semi-implicit" else 0.0
    assert rig["one/position"] == pytest.approx([-0.5 * G - late], rel=1e-12)


@pytest.mark.parametrize("n", [1, 2, 3, 7])
def test_both_ways_to_the_accelerations_give_the_same_motion(n: int):
    rng = np.random.default_rng(n)
    start, speed = rng.normal(size=(2, n)).tolist()
    rigs = [
        Rig({"one": arm(n, start=start, start_speed=speed, servo=TORQUE)}, forward_dynamics=kind).seconds(0.2)
        for kind in ("composite-body", "newton-euler")
    ]
    assert rigs[0]["one/position"] == pytest.approx(rigs[1]["one/position"], abs=1e-9)
    assert not np.allclose(rigs[0]["one/position"], start)


def test_energy_is_kept_without_friction_and_torque():
    rig = Rig({"one": arm(3, start=[0.5, 0.3, -0.4], servo=TORQUE)})
    before = rig["one/energy"].sum()
    rig.seconds(1.0)
    assert rig["one/energy"][0] > 1.0 and rig["one/energy"].sum() == pytest.approx(before, abs=1e-6)


# --- several arms, bases, gravity, water ---------------------------------------------------------------------------


def test_arms_of_different_size_do_not_disturb_each_other():
    starts: dict[str, Any] = {"one": arm(3, start=[0.3, 0.2, 0.1], servo=TORQUE), "two": arm(1), "six": arm(6)}
    starts["two"] |= {"start": [0.5], "start_speed": [1.0], "servo": TORQUE}
    together = Rig(starts).steps(300)
    for name, own in starts.items():
        alone = Rig({name: own}).steps(300)
        for channel in PER_ARM:
            assert together[f"{name}/{channel}"].tobytes() == alone[f"{name}/{channel}"].tobytes(), channel


@pytest.mark.parametrize("attitude", [(0.0, 0.0, 0.0), (0.3, -0.8, 1.1), (np.pi, 0.0, 0.0)])
def test_a_tilted_base_is_gravity_from_the_other_side(attitude: tuple[float, ...]):
    """An arm whose base is turned moves as one that stands upright in gravity turned back."""
    from botz.transforms import rotation_from_attitude

    turned = Rig({"one": arm(2, start=[0.3, -0.2], servo=TORQUE, pose=[1.0, 2.0, 3.0, *attitude])})
    gravity = (rotation_from_attitude(*attitude).T @ [0.0, 0.0, -G]).tolist()
    upright = Rig({"one": arm(2, start=[0.3, -0.2], servo=TORQUE, pose=[0.0] * 6)}, {"gravity": gravity})
    assert turned.steps(300)["one/position"] == pytest.approx(upright.steps(300)["one/position"], abs=1e-12)


def test_sideways_gravity_pulls_sideways():
    rig = Rig({"one": slider("x", servo=TORQUE)}, {"gravity": [3.0, 0.0, 0.0]}).seconds(1.0)
    assert rig["one/tool/pose"][:3] == pytest.approx([1.5, 0.0, 0.0])


def test_without_gravity_an_arm_at_rest_stays_bit_for_bit():
    rig = Rig({"one": arm(3, start=[0.3, 0.2, 0.1], servo=TORQUE)}, FREE)
    before = rig.row()
    assert rig.steps(500).row().tobytes() == before.tobytes()


def test_a_link_as_heavy_as_its_water_floats():
    own = {"water": {"volume": 2.0 / 1000.0, "centre": [-0.25, 0.0, 0.0]}}
    rig = Rig({"one": arm(2, own, start=[0.4, 0.3], servo=TORQUE)}, {"water": {"density": 1000.0}}).seconds(1.0)
    assert rig["one/position"] == pytest.approx([0.4, 0.3], abs=1e-9)


def test_drag_brakes_to_the_speed_of_the_water():
    """A slider in a current u: m v̇ = −½ ρ A |v − u| (v − u); from rest v = u − u/(1 + k u t), k = ρ A / 2 m."""
    joint = {"water": {"drag_area": [0.0, 0.0, 0.01]}}
    water = {"density": 1000.0, "current": [0.0, 0.0, 0.5]}
    rig = Rig({"one": slider(joint=joint, servo=TORQUE)}, {**FREE, "water": water}).seconds(2.0)
    k = 1000.0 * 0.01 / 2.0 / 2.0
    assert rig["one/speed"] == pytest.approx([0.5 - 0.5 / (1.0 + k * 0.5 * 2.0)], rel=1e-6)


@pytest.mark.parametrize("kind", ["pid", "computed-torque"])
def test_servos_know_the_water(kind: str):
    own = {"water": {"volume": 1e-3, "centre": [-0.25, 0.0, 0.0], "drag_area": [0.0, 0.02, 0.0]}}
    world = {"water": {"density": 1000.0, "current": [0.3, 0.0, 0.2]}}
    rig = Rig({"one": arm(2, own, start=[0.4, 0.3], servo={"type": kind})}, world).seconds(2.0)
    assert rig["one/position"] == pytest.approx([0.4, 0.3], abs=1e-9)


# --- back and forth ------------------------------------------------------------------------------------------------


def swung(rig: Rig) -> Rig:
    rig.command(position=[0.4, -0.3, 0.2], speed=[0.1, 0.2, 0.3]).steps(150)
    rig.command(twist=[0.1, 0.0, -0.1, 0.2, 0.0, 0.0]).steps(150)
    return rig.command(speed=[0.3, -0.2, 0.1], torque=[0.5, 0.0, 0.0])


LAGGED = {
    "actuator": {"lag": 0.02, "torque": 200.0, "torque_rate": 5000.0},
    "friction": {"coulomb": 0.5, "smoothing": 0.05},
}


@pytest.mark.parametrize("method", ["rk4", "semi-implicit"])
def test_the_same_run_twice_gives_the_same_bits(method: str):
    robots = {"one": arm(3, LAGGED, servo={"type": "computed-torque", "integral_time": 0.5})}
    rows = [swung(Rig(robots, method=method)).rows(300).tobytes() for _ in range(2)]
    assert rows[0] == rows[1]


def test_a_snapshot_continues_bit_for_bit():
    robots = {"one": arm(3, LAGGED, servo={"type": "computed-torque", "integral_time": 0.5})}
    rig = swung(Rig(robots)).steps(37)
    saved, state, row = rig.engine.snapshot(), rig.state(), rig.row()
    future = rig.steps(400).row()
    other = Rig(robots).steps(5)
    for again in (rig, other):
        again.engine.restore(saved)
        assert again.state() == state and again.row().tobytes() == row.tobytes()
        assert again.steps(150).steps(250).row().tobytes() == future.tobytes(), "and in pieces"
        again.engine.restore(saved)


def test_going_back_and_on_again():
    rig = swung(Rig({"one": arm(3, LAGGED)}))
    row = rig.row()
    rig.engine.keep()
    future = rig.steps(100).row()
    for _ in range(2):
        rig.engine.go_back()
        assert rig.row().tobytes() == row.tobytes()
        assert rig.steps(100).row().tobytes() == future.tobytes()


def test_reset_forgets_everything():
    rig = Rig({"one": arm(3, LAGGED)})
    start, row = rig.state(), rig.row()
    swung(rig).steps(200)
    rig.engine.reset(np.random.default_rng(0))
    assert rig.state() == start and rig.row().tobytes() == row.tobytes()


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("part", ["q", "qd"])
def test_numbers_that_are_none_are_told(value: float, part: str):
    rig = Rig().steps(3)
    getattr(rig.engine.state, part)[1] = value
    assert not rig.advances(3)
    assert "step of 0.001 s" in rig.engine.stability_hint()


@pytest.mark.parametrize("dynamics", ["composite-body", "newton-euler"])
def test_an_inertia_that_is_not_positive_ends_the_run(dynamics: str):
    rig = Rig(forward_dynamics=dynamics).steps(3)
    for field in ("mass", "ixx", "iyy", "izz"):
        rig.engine.model.links[field][1] = 0.0
    assert not rig.advances(1)
