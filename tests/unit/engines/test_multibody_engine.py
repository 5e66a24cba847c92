"""The multibody engine as the loop sees it: channels, their truth, worlds, and the same bits however a run is cut."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest
from multibody_rig import BALL, FREE, G, Rig, box, limb
from pydantic import ValidationError

from botz.engines.multibody.parts import robots_of
from botz.errors import InputError
from botz.scenario.multibody.schema import MultibodyScenario

METHODS = ("rk4", "euler", "implicit", "implicit-fast")
NOISY: dict[str, Any] = {
    "imu": {"type": "imu", "link": "arm", "rate": 250, "gyro_noise": 0.01, "gyro_bias_walk": 0.1, "accel_noise": 0.1},
    "gps": {"type": "gps", "link": "body", "rate": 10, "noise": [1, 1, 2]},
    "down": {"type": "range", "link": "body", "pose": [0, 0, 0, 0, 1.5708, 0], "rate": 50, "noise": 0.01},
}
STORM: dict[str, Any] = {"wind": {"steady": [3, 0, 0], "turbulence": {"intensity": [1, 1, 0.5]}}}


# --- channels --------------------------------------------------------------------------------------------------------


def test_channels_and_commands_in_their_order():
    sensors = {"eye": {"type": "range", "link": "arm"}, "level": {"type": "imu", "link": "body"}}
    engine = Rig({"one": limb(sensors=sensors), "two": BALL}, FREE).engine
    root = [("pose", 7), ("twist", 6), ("attitude", 3)]
    joints = [(f"{joint}/{part}", 1) for joint in ("tilt", "spin", "slide") for part in ("position", "speed", "effort")]
    element = [("prop/force", 3), ("prop/thrust", 1), ("prop/torque", 1)]
    sensed = [("eye/range", 1), ("level/angular_velocity", 3), ("level/linear_acceleration", 3)]
    expected = [(f"one/{name}", size) for name, size in [*root, *joints, *element, *sensed]]
    expected += [(f"two/{name}", size) for name, size in root]
    assert [(channel.name, channel.size) for channel in engine.channels] == expected
    units = [engine.channels[f"one/{joint}/{part}"].unit for joint in ("tilt", "slide") for part in ("speed", "effort")]
    assert units == ["rad/s", "N·m", "m/s", "N"]
    commands = [(channel.name, channel.unit) for channel in engine.inputs_table]
    assert commands == [("one/tilt/position", "rad"), ("one/spin/speed", "rad/s"), ("one/slide/effort", "N")]
    assert engine.actors == ("one",)


def test_every_channel_equals_what_mujoco_says():
    moving = limb(pose=[1.0, -2.0, 3.0, 0.4, -0.5, 2.0], velocity=[1.0, 2.0, -1.0], angular_velocity=[0.7, -0.4, 0.9])
    rig = Rig({"one": moving})
    rig.command("one", {"tilt/position": 0.5, "spin/speed": 80.0, "slide/effort": 2.0}).steps(137)
    row = rig.row()
    model, data = rig.engine.model, rig.engine.data
    mujoco.mj_forward(model, data)
    number = model.body("one/body").id
    value = rig.engine.channels.value
    assert value(row, "one/pose") == pytest.approx(np.r_[data.xpos[number], data.xquat[number]], abs=1e-15)
    twist = np.zeros(6)
    mujoco.mj_objectVelocity(model, data, mujoco.mjtObj.mjOBJ_XBODY, number, twist, 1)
    assert value(row, "one/twist") == pytest.approx(np.r_[twist[3:], twist[:3]], abs=1e-12)
    roll, pitch, yaw = value(row, "one/attitude")
    turned = np.zeros(4)
    mujoco.mju_euler2Quat(turned, np.array([roll, pitch, yaw]), "XYZ")
    assert abs(turned @ data.xquat[number]) == pytest.approx(1.0, abs=1e-12)
    for joint in ("tilt", "spin", "slide"):
        own = data.joint(f"one/{joint}")
        assert value(row, f"one/{joint}/position") == own.qpos[0]
        assert value(row, f"one/{joint}/speed") == own.qvel[0]
        assert value(row, f"one/{joint}/effort") == pytest.approx(
            data.actuator(f"one/{joint}/servo").force[0], rel=1e-12
        )
    force = value(row, "one/prop/force")
    axis = data.joint("one/spin").xaxis
    assert force == pytest.approx(value(row, "one/prop/thrust") * axis, abs=1e-12) and np.linalg.norm(force) > 0.1
    assert data.xfrc_applied[model.body("one/rotor").id, :3] == pytest.approx(force)


def test_effort_shows_what_elements_add_to_an_actuator():
    friction = {"type": "lugre", "joint": "spin", "stiffness": 10.0, "coulomb": 0.02, "static": 0.03, "viscous": 1e-3}
    rig = Rig({"one": limb(elements={"brake": friction})}, FREE)
    rig.command("one", {"spin/speed": 20.0}).seconds(2.0)
    assert rig["one/brake/torque"] == pytest.approx(-0.02 - 1e-3 * rig["one/spin/speed"], rel=1e-3)
    own = rig.engine.data.actuator("one/spin/servo").force[0]
    assert own == pytest.approx(0.04, rel=0.02)
    assert rig["one/spin/effort"] == pytest.approx(own + rig["one/brake/torque"], abs=1e-12)
    assert not any(channel.name == "one/brake/force" for channel in rig.engine.channels)


def test_rows_are_those_of_the_steps_that_are_recorded():
    one, other = (Rig({"one": limb(sensors=NOISY)}, STORM) for _ in range(2))
    for rig in (one, other):
        rig.command("one", {"spin/speed": 50.0}).steps(5)
    for row in one.steps(40, every=10):
        other.steps(10 - other.step % 10)
        assert row.tobytes() == other.row().tobytes()


# --- the same bits ---------------------------------------------------------------------------------------------------


def flown(pieces: list[int], every: int = 0, method: str = "rk4") -> bytes:
    """All state after 240 steps in noise and storm, taken in these pieces."""
    rig = Rig({"one": limb(sensors=NOISY, pose=[0, 0, 0.6, 0.2, 0, 0])}, STORM, method=method)
    rig.command("one", {"tilt/position": 0.4, "spin/speed": 90.0})
    for n in pieces:
        rig.steps(n, every)
    assert rig.step == 240
    return b"".join(array.tobytes() for array in rig.engine.state_arrays().values()) + rig.row().tobytes()


@pytest.mark.parametrize("method", METHODS)
def test_pieces_and_recording_do_not_change_a_run(method: str):
    whole = flown([240], method=method)
    assert flown([1] * 7 + [100, 33, 100], method=method) == whole
    assert flown([240], every=1, method=method) == whole
    assert flown([100, 140], every=7, method=method) == whole


@pytest.mark.parametrize("method", METHODS)
def test_back_to_a_snapshot_bit_for_bit(method: str):
    """Element states, sensor noise, turbulence and contacts go on as they did."""
    robot = limb(sensors=NOISY, pose=[0, 0, 0.065, 0.2, 0, 0])
    robot["links"]["body"]["shapes"] = [{"type": "box", "size": [0.2, 0.2, 0.1]}]
    rig = Rig({"one": robot}, STORM, method=method)
    rig.command("one", {"tilt/position": 0.4, "spin/speed": 90.0, "slide/effort": 1.0}).steps(150)
    state, seen = rig.engine.snapshot(), rig.row().tobytes()
    first = rig.steps(200, every=1).tobytes()
    rig.engine.restore(state)
    rig.step = 150
    rig.engine._step = 150
    assert rig.row().tobytes() == seen, "what is seen after the way back"
    assert rig.steps(200, every=1).tobytes() == first
    fresh = Rig({"one": robot}, STORM, method=method, seed=99)
    fresh.engine.restore(state)
    fresh.step = 150
    assert fresh.steps(200, every=1).tobytes() == first


def test_reset_begins_anew():
    rig = Rig({"one": limb(sensors=NOISY, start={"tilt": 0.3}, start_speed={"spin": 40.0})}, STORM)
    start = rig.row().tobytes()
    rig.command("one", {"spin/speed": 90.0}).steps(100)
    rig.engine.reset(np.random.default_rng(3))
    rig.step = 0
    assert rig.row().tobytes() == start


def test_looking_changes_nothing():
    one, other = (Rig({"one": box(pose=[0, 0, 0.125, 0.1, 0.2, 0])}) for _ in range(2))
    for _ in range(50):
        one.steps(1)
        other.steps(1)
        for _ in range(3):
            other.row()
    assert one.row().tobytes() == other.row().tobytes()


# --- the start -------------------------------------------------------------------------------------------------------


def test_start_positions_speeds_and_servos():
    rig = Rig({"one": limb(start={"tilt": 0.3, "slide": -0.2}, start_speed={"spin": 40.0})}, FREE)
    assert (rig["one/tilt/position"], rig["one/slide/position"], rig["one/spin/speed"]) == (0.3, -0.2, 40.0)
    inputs = rig.engine.inputs_table.value(rig.engine.inputs, "one/tilt/position")
    assert inputs == 0.3 and rig.engine.inputs_table.value(rig.engine.inputs, "one/spin/speed") == 40.0
    # Servos hold what they find: no effort at the start but what gyroscopic coupling asks for later.
    assert [rig[f"one/{joint}/effort"] for joint in ("tilt", "spin", "slide")] == pytest.approx([0, 0, 0], abs=1e-12)
    rig.seconds(0.5)
    assert rig["one/tilt/position"] == pytest.approx(0.3, abs=5e-3)


def test_a_joint_whose_range_leaves_0_out_begins_at_its_nearest_end():
    robot = limb()
    robot["joints"]["slide"]["range"] = [0.1, 0.4]
    assert Rig({"one": robot})["one/slide/position"] == 0.1


def test_velocity_is_in_the_world_and_angular_velocity_in_own_axes():
    rig = Rig(
        {"one": {**BALL, "pose": [0, 0, 5, 0, 0, np.pi / 2], "velocity": [2, 0, 0], "angular_velocity": [3, 0, 0]}}
    )
    assert rig["one/twist"] == pytest.approx([0, -2, 0, 3, 0, 0], abs=1e-12)
    rig.steps(1)
    assert rig["one/pose"][0] == pytest.approx(2e-3, rel=1e-9)


# --- worlds ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_free_fall(method: str):
    rig = Rig({"one": {**BALL, "pose": [0, 0, 10, 0, 0, 0]}}, method=method).seconds(1.0)
    # Euler's methods are half a step ahead: ½ g t (t + h).
    ahead = 0.0 if method == "rk4" else 1e-3
    assert rig["one/pose"][2] == pytest.approx(10.0 - 0.5 * G * (1.0 + ahead), abs=1e-9)


def test_a_fixed_base_stays_and_its_joints_move():
    rig = Rig({"one": limb(base="fixed", actuators={}, pose=[0, 0, 1, 0.3, 0, 0])}).seconds(0.5)
    assert rig["one/pose"][:3].tolist() == [0.0, 0.0, 1.0] and not rig["one/twist"].any()
    assert abs(rig["one/slide/position"]) + abs(rig["one/tilt/position"]) > 0.05 and rig.engine.inputs.size == 0


def test_a_robot_that_cannot_move_at_all():
    rig = Rig({"one": box(base="fixed", pose=[1, 2, 3, 0, 0, 0.5])}).seconds(0.1)
    assert rig["one/pose"] == pytest.approx([1, 2, 3, np.cos(0.25), 0, 0, np.sin(0.25)])


def test_two_robots_in_one_world_meet():
    one = box(pose=[0, 0, 1, 0, 0, 0], velocity=[1, 0, 0])
    rig = Rig({"one": one, "two": box(pose=[0.5, 0, 1, 0, 0, 0])}, FREE).seconds(1.0)
    assert rig["two/twist"][0] > 0.2
    assert rig["one/twist"][0] + rig["two/twist"][0] == pytest.approx(1.0, abs=1e-9), "momentum stays"


def test_two_of_the_same_robot_keep_their_commands_apart():
    rig = Rig({"one": limb(), "two": limb(pose=[0, 3, 0, 0, 0, 0])}, FREE)
    rig.command("two", {"spin/speed": 60.0, "tilt/position": -0.4}).seconds(0.6)
    assert abs(rig["one/spin/speed"]) < 1e-6 and rig["one/prop/thrust"] < 1e-9
    assert rig["two/spin/speed"] == pytest.approx(60.0, abs=0.2) and rig["two/tilt/position"] == pytest.approx(
        -0.4, abs=0.01
    )


@pytest.mark.parametrize("ground", [True, False])
def test_the_floor_carries_where_there_is_one(ground: bool):
    rig = Rig({"one": box(pose=[0, 0, 0.15, 0, 0, 0])}, {"ground": ground}).seconds(1.0)
    height = rig["one/pose"][2]
    assert height == pytest.approx(0.1, abs=2e-3) if ground else height < -1.0


def test_obstacles_are_in_the_way():
    table = {"type": "box", "size": [1, 1, 0.5], "pose": [0, 0, 0.25, 0, 0, 0]}
    rig = Rig({"one": box(pose=[0.2, -0.2, 0.7, 0, 0, 0])}, {"obstacles": {"table": table}}).seconds(1.0)
    assert rig["one/pose"][2] == pytest.approx(0.6, abs=2e-3)


SLOPE: dict[str, Any] = {
    "type": "formula", "expression": "0.3*x - 0.1*y + 1", "x": [-1.0, 3.0], "y": [-2.0, 0.5], "resolution": 0.1,
}  # fmt: skip


@pytest.mark.parametrize(("x", "y"), [(0.0, 0.0), (2.3, -1.4), (-0.6, 0.2)])
def test_terrain_is_where_its_grid_says(x: float, y: float):
    """A grid longer than wide and not centred, that climbs along x and falls along y. A block left on it stays: its
    bottom's middle lies on the slope."""
    plain = 0.3 * x - 0.1 * y + 1.0
    normal = np.array([-0.3, 0.1, 1.0]) / np.sqrt(1.1)
    roll, pitch = np.arctan2(-normal[1] * 1.0, normal[2]), np.arctan2(normal[0], np.hypot(normal[1], normal[2]))
    place = np.array([x, y, plain]) + 0.102 * normal
    rig = Rig({"one": box(pose=[*place, roll, pitch, 0])}, {"terrain": SLOPE}).seconds(1.0)
    rested = rig["one/pose"][:3]
    above = (rested - np.array([x, y, plain])) @ normal
    assert above == pytest.approx(0.1, abs=2e-3)
    assert np.linalg.norm(rested - place) < 0.02 and np.linalg.norm(rig["one/twist"]) < 0.02


def test_a_box_dropped_on_a_step_rests_on_it():
    step = {"type": "step", "x": [-1, 1], "y": [-1, 1], "resolution": 0.02, "height": 0.25, "at": 0.0}
    up = Rig({"one": box(pose=[0.5, 0, 0.5, 0, 0, 0])}, {"terrain": step}).seconds(1.0)
    down = Rig({"one": box(pose=[-0.5, 0, 0.5, 0, 0, 0])}, {"terrain": step}).seconds(1.0)
    assert (up["one/pose"][2], down["one/pose"][2]) == pytest.approx((0.35, 0.1), abs=2e-3)


def test_elements_see_the_ground_below_them():
    """Ground effect of a propeller one radius above terrain and above the floor, and none without either."""
    robot = limb(base="fixed", start_speed={"spin": 80.0})
    robot["joints"]["tilt"]["pose"] = [0, 0, 0, 0, 0, 0]
    robot["joints"]["spin"]["pose"] = [0, 0, 0, 0, 0, 0]
    robot["elements"]["prop"] = {"type": "propeller", "joint": "spin", "coefficient": 1e-4, "radius": 0.5}
    flat = {"type": "flat", "x": [-9, 9], "y": [-9, 9], "resolution": 3, "height": 2.0}
    thrust = [
        Rig({"one": {**robot, "pose": [0, 0, z, 0, 0, 0]}}, world)["one/prop/thrust"]
        for world, z in (({"ground": False}, 0.5), ({}, 0.5), ({"terrain": flat}, 2.5), ({"terrain": flat}, 9.0))
    ]
    assert thrust[0] == pytest.approx(1e-4 * 80.0**2) and thrust[1] == pytest.approx(thrust[2])
    assert thrust[1] > 1.05 * thrust[0] and thrust[3] == pytest.approx(thrust[0], rel=1e-2)


# --- native MJCF -----------------------------------------------------------------------------------------------------

MJCF = """
<mujoco model="pendulum">
  <worldbody>
    <body name="frame" pos="0 0 1">
      <inertial pos="0 0 0" mass="1" diaginertia="0.1 0.1 0.1"/>
      <body name="bob">
        <joint name="swing" type="hinge" axis="0 1 0" damping="0.1"/>
        <inertial pos="0 0 -0.5" mass="0.5" diaginertia="0.01 0.01 0.01"/>
      </body>
    </body>
  </worldbody>
  <actuator>
    <motor name="push" joint="swing" gear="2" ctrllimited="true" ctrlrange="-1 1"/>
  </actuator>
</mujoco>
"""


def test_an_mjcf_robot_keeps_its_own_actuators(tmp_path: Path):
    file = tmp_path / "pendulum.xml"
    file.write_text(MJCF, encoding="utf-8")
    rig = Rig({"one": {"file": str(file), "pose": [0, 0, 2, 0, 0, 0]}})
    assert [channel.name for channel in rig.engine.inputs_table] == ["one/push/control"]
    rig.command("one", {"push/control": 3.0}).steps(1)
    assert rig.engine.data.ctrl.tolist() == [1.0], "its own limit"
    rig.command("one", {"push/control": 0.6}).seconds(30.0)
    # At rest: 2 · 0.6 N·m about y, which lifts the bob towards −x, against m g l sin q.
    assert rig["one/swing/position"] == pytest.approx(np.arcsin(1.2 / (0.5 * G * 0.5)), abs=1e-3)
    assert rig["one/pose"][2] == pytest.approx(2.0), "its root is tied where the scenario puts it"


# --- what is refused -------------------------------------------------------------------------------------------------


def refused(robot: dict[str, Any], world: dict[str, Any] | None = None, **time: Any) -> list[str]:
    with pytest.raises(InputError) as caught:
        Rig({"one": robot}, world, **time)
    return [str(problem) for problem in caught.value.problems]


MOTOR = {"type": "dc-motor", "joint": "spin", "resistance": 1.0, "torque_constant": 0.1, "max_voltage": 12.0}


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"start": {"tilt": 1.0}},
         "robots.one.start.tilt: 1 rad (57.2958 deg) is outside the range, -0.8 rad (-45.8366 deg) to"),
        ({"start": {"tlt": 0.0}}, "robots.one.start.tlt: no joint 'tlt' that moves; did you mean 'tilt'?"),
        ({"start_speed": {"turn": 0.0}}, "robots.one.start_speed.turn: no joint 'turn' that moves"),
        ({"actuators": {"body": {"kind": "effort"}}}, "robots.one.actuators.body: no joint 'body' that moves"),
        ({"elements": {"spin": MOTOR}}, "robots.one.elements.spin: 'spin' is the name of a joint, element or sensor"),
        ({"elements": {"left": MOTOR, "right": MOTOR}},
         "robots.one.elements.right: has the command 'spin/voltage', as element 'left' has; put it on another joint"),
        ({"elements": {"m": {**MOTOR, "joint": "slide"}}}, "robots.one.elements.m.joint: "),
        ({"elements": {"m": {**MOTOR, "joint": "spun"}}}, "robots.one.elements.m.joint: no joint 'spun' that turns"),
        ({"sensors": {"s": {"type": "imu", "link": "boddy"}}}, "robots.one.sensors.s.link: no link 'boddy'; did you"),
        ({"actuators": {"spin": {"kind": "velocity", "frequency": 2500}}},
         "robots.one.actuators.spin.frequency: 2500 rad/s is faster than a step of 0.001 s can follow; at most 1000"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused_with_its_place(changes: dict[str, Any], says: str):
    (problem,) = refused(limb(**changes), method="rk4")
    assert problem.startswith(says)


def test_all_mistakes_of_all_robots_at_once():
    spec = {
        "engine": "multibody",
        "robots": {
            "one": limb(sensors={"s": {"type": "imu", "link": "x"}}, start={"y": 1}),
            "two": limb(elements={"m": {**MOTOR, "joint": "z"}}),
        },
    }
    with pytest.raises(InputError) as caught:
        robots_of(MultibodyScenario.model_validate(spec), "run")
    places = [problem.key for problem in caught.value.problems]
    assert places == ["robots.one.sensors.s.link", "robots.one.start.y", "robots.two.elements.m.joint"]


def test_an_implicit_method_takes_any_servo():
    robot = limb(actuators={"spin": {"kind": "velocity", "frequency": 5000}})
    rig = Rig({"one": robot}, FREE, method="implicit-fast").command("one", {"spin/speed": 30.0}).seconds(0.1)
    assert rig["one/spin/speed"] == pytest.approx(30.0, rel=1e-3)


def test_without_a_method_it_is_chosen_by_stiffness():
    assert Rig({"one": limb()}).engine.method == "rk4"
    rig = Rig({"one": limb(actuators={"spin": {"kind": "velocity", "frequency": 5000}})}, FREE)
    assert rig.engine.method == "implicit-fast" and rig.engine.model.opt.integrator == 3
    (note,) = rig.engine.notes
    assert "the servo of one/spin is as fast as 5000 rad/s, too fast for 'rk4' at 0.001 s" in note
    rig.command("one", {"spin/speed": 30.0}).seconds(0.1)
    assert rig["one/spin/speed"] == pytest.approx(30.0, rel=1e-3)


ARM = """<mujoco><option timestep="0.002" {option}/>
<default><joint damping="1"/><position kp="2000" kv="200"/></default>
<worldbody><body name="base"><inertial pos="0 0 0" mass="5" diaginertia="0.1 0.1 0.1"/>
<body name="upper" pos="0 0 0.3"><joint name="shoulder" axis="0 1 0" range="-120 120"/>
<inertial pos="0 0 0.2" mass="4" diaginertia="0.05 0.05 0.01"/>
<body name="lower" pos="0 0 0.4"><joint name="elbow" axis="0 1 0" range="20 120"/>
<inertial pos="0 0 0.15" mass="2" diaginertia="0.02 0.02 0.005"/>
<body name="hand" pos="0 0 0.3"><joint name="wrist"/><inertial pos="0 0 0" mass="0.3" diaginertia="2e-4 2e-4 2e-4"/>
</body></body></body></body></worldbody>
<actuator><position name="shoulder" joint="shoulder"/><position name="elbow" joint="elbow"/>
<position name="wrist" joint="wrist"/></actuator></mujoco>"""
"""An arm with the stiff servos and the light hand of published ones."""


@pytest.mark.parametrize(
    ("option", "method"),
    [('integrator="implicitfast"', "implicit-fast"), ('integrator="implicit"', "implicit"), ("", "implicit-fast")],
)
def test_an_mjcf_arm_with_stiff_servos_holds_still(tmp_path: Path, option: str, method: str):
    file = tmp_path / "arm.xml"
    file.write_text(ARM.format(option=option), encoding="utf-8")
    rig = Rig({"one": {"file": str(file), "pose": [0, 0, 1, 0, 0, 0]}}, step=0.25e-3)
    assert rig.engine.method == method
    assert any(f"the method is {method!r}" in note for note in rig.engine.notes)
    rig.seconds(2.0)
    # 0 is outside the elbow's range: it begins at the nearest end, and its servo holds it there but for its weight.
    assert rig["one/elbow/position"] == pytest.approx(np.deg2rad(20), abs=0.01)
    assert abs(rig["one/elbow/speed"]) < 1e-6
    assert rig.engine.rest_inputs("one").tolist() == [0.0, np.deg2rad(20), 0.0], "positions stay"


def test_a_hint_names_the_method_for_a_files_actuators(tmp_path: Path):
    file = tmp_path / "arm.xml"
    file.write_text(ARM.format(option='integrator="implicitfast"'), encoding="utf-8")
    rig = Rig({"one": {"file": str(file), "pose": [0, 0, 1, 0, 0, 0]}}, step=0.25e-3, method="rk4")
    hint = rig.engine.stability_hint()
    assert hint.startswith("the actuator one/wrist of the file is as fast as")
    assert "too fast for the method 'rk4'; try 'time.method: implicit-fast', or a step below" in hint


SERVO = {"kind": "position", "proportional": 40.0, "derivative": 400.0}


@pytest.mark.parametrize(
    ("changes", "method", "says"),
    [
        ({"actuators": {"tilt": SERVO}}, "rk4",
         r"^the servo of one/tilt, whose 'proportional' and 'derivative' are given by hand, is .*implicit-fast', or"),
        ({"actuators": {"tilt": SERVO}}, "implicit", "^try a shorter step"),
        ({"actuators": {"tilt": {"kind": "velocity", "proportional": 400.0}}}, "euler",
         r"^the servo of one/tilt, whose 'proportional' is given by hand, is as fast as"),
        ({"actuators": {"spin": {"kind": "velocity", "frequency": 800}}}, "rk4",
         r"^the servo of one/spin is as fast as 800 rad/s, too fast for the method 'rk4'; try 'time.method: implicit-"),
        ({"actuators": {}, "elements": {}}, "rk4", "^try a shorter step"),
    ],
)  # fmt: skip
def test_a_hint_names_what_is_too_fast_for_the_step(changes: dict[str, Any], method: str, says: str):
    assert re.search(says, Rig({"one": limb(**changes)}, method=method).engine.stability_hint())


@pytest.mark.parametrize(("method", "blamed"), [("rk4", True), ("euler", False), ("implicit", False)])
def test_a_hint_names_damping_where_the_method_does_not_follow_it(method: str, blamed: bool):
    robot = limb(base="fixed")
    robot["joints"]["slide"]["damping"] = 300.0  # on 0.1 kg
    hint = Rig({"one": robot}, method=method).engine.stability_hint()
    # 300 N·s/m on 0.1 kg before a body that gives way, 2.35 kg: all but fixed by its base.
    assert hint.startswith("the damping of one/slide is as fast as 3000 rad/s, too fast for the method 'rk4'") == blamed


def test_friction_at_rest_is_at_least_that_of_motion():
    friction = {"type": "lugre", "joint": "spin", "stiffness": 10.0, "coulomb": 0.03, "static": 0.02}
    with pytest.raises(ValidationError, match=r"friction at rest must not be below that of motion, 'coulomb' = 0\.03"):
        Rig({"one": limb(elements={"brake": friction})})
    assert Rig({"one": limb(elements={"brake": {**friction, "static": 0.03}})}).steps(1).size == 0


def test_contacts_need_two_steps():
    (problem,) = refused(box(), {"contact": {"time_constant": 0.0015}})
    assert problem.startswith("world.contact.time_constant: must be at least twice the step, 0.002 s")


def test_memory_too_small_for_the_start_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """MuJoCo's own log file is not written."""
    monkeypatch.chdir(tmp_path)
    robots = {f"r{k}": box(pose=[0.05 * k, 0, 0.1, 0, 0, 0]) for k in range(12)}
    for memory, says in ((20_000, "stack overflow"), (50_000, "Too many contacts"), (100_000, "Insufficient arena")):
        with pytest.raises(InputError, match=says) as caught:
            Rig(robots, {"memory": memory})
        assert [problem.key for problem in caught.value.problems] == ["world.memory"]
    assert Rig({"one": box(pose=[0, 0, 1, 0, 0, 0])}).seconds(0.01), "another one is not blamed for it"
    assert not list(tmp_path.iterdir())
