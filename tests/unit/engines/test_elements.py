"""Built-in force elements: against plain NumPy, and what a mistake in a scenario says."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from element_rig import Called, element, somewhere

from botz.engines.multibody.elements.aero import propeller
from botz.engines.multibody.elements.base import compiled_call, packed
from botz.errors import InputError
from botz.physics.aero.lift_drag import Surface, lift_drag

K = 2.0032092e-5
WING = {"type": "lift-drag", "link": "body", "area": 0.4, "a0": 0.05, "cla": 4.7, "cda": 0.6, "cma": -0.3,
        "alpha_stall": 0.3, "cla_stall": -3.8, "cda_stall": 1.1, "cd0": 0.02}  # fmt: skip


def test_thrust_acts_on_the_rotor_at_the_axle_along_it():
    rotor = Called(element(type="propeller", joint="spin", coefficient=K))
    assert (rotor.element.link, rotor.element.joint) == ("rotor", "spin")
    for seed in range(5):
        given = somewhere(seed)
        frame = rotor(joint_speed=510.9, **given)
        thrust = K * 510.9**2 * given["joint_axis"]
        assert frame["force"] == pytest.approx(thrust, rel=1e-12)
        arm = given["joint_anchor"] - given["position"]
        assert frame["torque"] == pytest.approx(np.cross(arm, thrust), rel=1e-11, abs=1e-12)
        assert rotor.report("thrust") == pytest.approx(K * 510.9**2, rel=1e-14)
        assert frame["joint_effort"] == 0.0


@pytest.mark.parametrize(("sense", "sign"), [("ccw", 1.0), ("cw", -1.0)])
def test_the_sense_decides_which_way_of_turning_lifts_and_drag_torque_always_brakes(sense, sign):
    rotor = Called(element(type="propeller", joint="spin", coefficient=K, sense=sense, drag_torque=0.016))
    for speed in (400.0, -400.0):
        frame = rotor(joint_speed=speed)
        thrust = sign * np.sign(speed) * K * speed**2
        assert frame["force"] == pytest.approx([0, 0, thrust], rel=1e-14)
        assert frame["torque"] == pytest.approx([0, 0, -np.sign(speed) * 0.016 * K * speed**2], rel=1e-14)
        assert rotor.report("torque") == frame["torque"][2]


def test_all_of_a_propeller_against_plain_numpy():
    spec = {"curve": [0.2, 1e-3, 1.9e-5], "max_force": 9.0, "drag_torque": 0.02, "rotor_drag": 1e-4,
            "rolling_moment": 1e-5, "inflow_loss": 0.03, "radius": 0.2, "sense": "cw"}  # fmt: skip
    rotor = Called(element(type="propeller", joint="spin", **spec))
    for seed in range(30):
        given = somewhere(seed)
        speed = np.random.default_rng(seed).uniform(-700, 700)
        n, anchor = given["joint_axis"], given["joint_anchor"]
        arm = anchor - given["position"]
        ground = anchor[2] - 0.3
        frame = rotor(joint_speed=speed, ground=ground, **given)

        v = given["velocity"] + np.cross(given["angular"], arm) - given["wind"]
        side = np.sign(-speed)
        plain = min(np.polyval([1.9e-5, 1e-3, 0.2], abs(speed)), 9.0)
        thrust = plain * np.clip(1 - 0.03 * side * (v @ n), 0, 2)
        if side * n[2] > 0:
            thrust /= 1 - (0.2 * side * n[2] / (4 * 0.3)) ** 2
        thrust = side * min(thrust, 9.0)
        flat = v - (v @ n) * n
        force = thrust * n - 1e-4 * abs(speed) * flat
        torque = np.cross(arm, force) - np.sign(speed) * 0.02 * plain * n - 1e-5 * abs(speed) * flat
        assert frame["force"] == pytest.approx(force, rel=1e-10, abs=1e-10)
        assert frame["torque"] == pytest.approx(torque, rel=1e-10, abs=1e-10)


def test_thrust_lags_only_from_step_to_step():
    rotor = Called(element(type="propeller", joint="spin", coefficient=1e-4, lag_up=0.05, lag_down=0.1))
    # Before the first step, and in it, the thrust is that of the speed with which the run begins.
    rotor(joint_speed=100.0, step=0.0)
    assert rotor.report("thrust") == pytest.approx(1.0)
    rotor(joint_speed=100.0, step=0.01)
    assert rotor.report("thrust") == pytest.approx(1.0)
    # Stages inside a step see the thrust of its beginning.
    rotor(joint_speed=200.0, step=0.0)
    assert rotor.report("thrust") == pytest.approx(1.0)
    expected = 1.0
    for speed, lag in ((200.0, 0.05), (200.0, 0.05), (0.0, 0.1)):
        rotor(joint_speed=speed, step=0.01)
        target = 1e-4 * speed**2
        expected = target + (expected - target) * np.exp(-0.01 / lag)
        assert rotor.report("thrust") == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    ("forward", "upward"), [([1, 0, 0], [0, 0, 1]), ([0, -2, 0], [0, 0, 3]), ([1, 1, 0], [0.5, 0, 1])]
)
def test_a_surface_against_plain_numpy(forward, upward):
    cp = [0.1, -0.2, 0.3]
    wing = Called(element(**WING, forward=forward, upward=upward, cp=cp))
    f = np.array(forward) / np.linalg.norm(forward)
    s = np.cross(f, upward) / np.linalg.norm(np.cross(f, upward))
    axes = np.column_stack([f, s, np.cross(s, f)])
    for seed in range(20):
        given = somewhere(seed)
        frame = wing(**given)
        turned = given["rotation"] @ axes
        arm = given["rotation"] @ cp
        v = given["velocity"] + np.cross(given["angular"], arm) - given["wind"]
        surface = Surface(0.4, 0.05, 4.7, 0.6, -0.3, 0.3, -3.8, 1.1, 0.0, 0.02, 0.0)
        found = lift_drag(surface, *(v @ turned).tolist(), 1.225, 0.0)
        force = turned @ found[:3]
        assert frame["force"] == pytest.approx(force, rel=1e-10, abs=1e-10)
        assert frame["torque"] == pytest.approx(np.cross(arm, force) + turned @ found[3:6], rel=1e-10, abs=1e-9)
        assert [wing.report(name) for name in ("lift", "drag", "alpha")] == pytest.approx(found[6:], rel=1e-10)


def test_a_wing_in_level_flight_lifts_and_noses_down_by_its_slope():
    wing = Called(element(**WING))
    frame = wing(velocity=(15.0, 0.0, 0.0))
    pressed = 0.5 * 1.225 * 0.4 * 15.0**2
    assert frame["force"] == pytest.approx([-pressed * (0.6 * 0.05 + 0.02), 0, pressed * 4.7 * 0.05], rel=1e-12)
    # cma < 0 at a positive angle: the nose goes down, which is a positive turn about y, to the left.
    assert frame["torque"] == pytest.approx([0, pressed * 0.3 * 0.05, 0], rel=1e-12)
    # Only the motion through the air counts.
    assert wing(velocity=(0, 0, 0), wind=(-15.0, 0, 0))["force"] == pytest.approx(frame["force"].copy())


def test_a_surface_has_its_own_air_or_the_worlds_and_a_flap():
    wing = Called(element(**WING))
    thin = Called(element(**WING, air_density=0.3))
    flapped = Called(element(**WING, control_joint="tilt", control_slope=-2.0))
    assert (flapped.element.link, flapped.element.joint) == ("body", "tilt")
    lift = wing(velocity=(10.0, 0, 0), air_density=0.6)["force"][2]
    assert thin(velocity=(10.0, 0, 0))["force"][2] == pytest.approx(0.5 * lift)
    raised = flapped(velocity=(10.0, 0, 0), air_density=0.6, joint_position=-0.1)["force"][2]
    assert raised - lift == pytest.approx(0.2 * 0.5 * 0.6 * 0.4 * 100.0)
    # Without a control joint the frame's joint is nobody's.
    assert wing(joint_position=7.0)["force"][2] == lift


def test_a_motor_has_its_data_sheets_speed_and_torque():
    motor = Called(element(type="dc-motor", joint="spin", resistance=0.5, torque_constant=0.02, gear_ratio=10.0,
                           efficiency=0.8, max_current=30.0, max_voltage=12.0))  # fmt: skip
    assert motor.element.joint == "spin"
    assert motor.element.kind.joint_only
    assert [name for name, _ in motor.element.inputs] == ["spin/voltage"]
    no_load = 12.0 / 0.02 / 10.0
    inputs = np.zeros(8)
    inputs[0] = 12.0
    assert motor(inputs=inputs, joint_speed=no_load)["joint_effort"] == pytest.approx(0.0, abs=1e-12)
    frame = motor(joint_speed=0.5 * no_load)
    assert motor.report("current") == pytest.approx(12.0, rel=1e-12)
    assert frame["joint_effort"] == pytest.approx(0.8 * 10 * 0.02 * 12.0, rel=1e-12)
    assert motor.report("torque") == frame["joint_effort"]
    inputs[0] = 99.0  # more than it takes
    motor(inputs=inputs, joint_speed=0.5 * no_load)
    assert motor.report("current") == pytest.approx(12.0, rel=1e-12)
    assert motor(joint_speed=-no_load)["joint_effort"] == pytest.approx(10 * 0.02 * 30.0 / 0.8, rel=1e-12)


def test_a_free_motor_draws_its_no_load_current():
    motor = Called(element(type="dc-motor", joint="spin", resistance=0.5, torque_constant=0.02, gear_ratio=10.0,
                           efficiency=0.8, no_load_current=1.5))  # fmt: skip
    inputs = np.zeros(8)
    inputs[0] = 12.0
    speed = (12.0 - 0.5 * 1.5) / 0.02 / 10.0
    for _ in range(2000):
        frame = motor(inputs=inputs, joint_speed=speed, step=1e-4)
    assert frame["joint_effort"] == pytest.approx(0.0, abs=1e-9)
    assert motor.report("current") == pytest.approx(1.5, rel=1e-9)


def test_friction_of_a_joint_bends_its_bristles_once_a_step():
    brake = Called(element(type="lugre", joint="slide", stiffness=200.0, damping=1.5, viscous=0.3, coulomb=2.0,
                           static=3.0, stribeck_speed=0.1))  # fmt: skip
    v, dt, z = 0.4, 1e-3, 0.0
    fs = 2.0 + np.exp(-((v / 0.1) ** 2))
    for _ in range(5):
        frame = brake(joint_speed=v, step=dt)
        z_new = (z + dt * v) / (1 + dt * 200.0 * v / fs)
        expected = 200.0 * z_new + 1.5 * (z_new - z) / dt + 0.3 * v
        z = z_new
        assert frame["joint_effort"] == pytest.approx(-expected, rel=1e-9)
        assert brake.report("torque") == frame["joint_effort"]
        # A stage inside the step, at the same speed: the same friction, and nothing moves on.
        assert brake(step=0.0)["joint_effort"] == pytest.approx(-expected, rel=1e-9)
    for _ in range(2000):
        frame = brake(joint_speed=v, step=dt)
    assert frame["joint_effort"] == pytest.approx(-(fs + 0.3 * v), rel=1e-9)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({"type": "propeller", "joint": "spinn", "coefficient": 1e-5},
         r"robots\.bot\.elements\.mine\.joint: no joint 'spinn' that turns; did you mean 'spin'\? \(spin, tilt\)"),
        ({"type": "propeller", "joint": "glue", "coefficient": 1e-5},
         r"\.joint: joint 'glue' is fixed; needs one that turns; choose from: spin, tilt"),
        ({"type": "dc-motor", "joint": "slide", "resistance": 1, "torque_constant": 1},
         r"\.joint: joint 'slide' is prismatic; needs one that turns"),
        ({"type": "lugre", "joint": "x", "stiffness": 1, "coulomb": 1, "static": 1}, "no joint 'x' that moves"),
        ({**WING, "link": "bodi"}, r"\.link: no link 'bodi'; did you mean 'body'\? \(arm, body, rotor\)"),
        ({**WING, "control_joint": "flap"}, r"\.control_joint: no joint 'flap'"),
        ({"type": "vehicle-wheels", "link": "hull", "vehicle": "vivi"}, r"\.link: no link 'hull'"),
    ],
)  # fmt: skip
def test_names_that_are_not_there(spec, message):
    with pytest.raises(InputError, match=message):
        element(**spec)


def test_elements_alike_share_their_compiled_code():
    one, other = (element(type="propeller", joint="spin", coefficient=k) for k in (1e-5, 2e-5))
    assert one.kind is other.kind is propeller
    assert compiled_call(one.kind, one.parameters.dtype) is compiled_call(other.kind, other.parameters.dtype)


PROGRAM = """
from botz.engines.multibody.elements.aero import surface
from botz.engines.multibody.elements.base import compiled_call, packed, parameters_of
from botz.engines.multibody.elements.joints import joint_friction
from botz.scenario.multibody.elements import LiftDrag, LugreElement

friction = LugreElement(type="lugre", joint="j", stiffness=1, coulomb=1, static=1)
wing = LiftDrag(type="lift-drag", link="l", area=1)
for kind, spec in ((joint_friction, friction), (surface, wing)):
    print(compiled_call(kind, packed(parameters_of(kind, spec, ""), "").dtype).cache_hits)
"""


def test_compiled_elements_are_found_again_by_the_next_process(tmp_path: Path):
    environment = {**os.environ, "BOTZ_CACHE_DIR": str(tmp_path)}
    environment.pop("NUMBA_DISABLE_JIT", None)
    for hits in ("0", "1"):
        done = subprocess.run([sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert done.stdout.split() == [hits, hits]


def test_parameters_are_numbers():
    from dataclasses import dataclass

    @dataclass
    class Mixed:
        a: float = 1
        count: int = 3
        chosen: bool = True
        line: tuple[float, ...] = (1, 2)

    found = packed(Mixed(), "k")
    assert found.dtype["a"] == np.float64 and found.dtype["count"] == np.int64
    assert found["line"].tolist() == [[1.0, 2.0]] and found["chosen"][0] == 1
    for wrong in ("3", None, float("nan"), [1, [2]], {"x": 1}, [1, None]):
        with pytest.raises(InputError, match=r"^k\.a: needs a number or a list of numbers, not "):
            packed(Mixed(a=wrong), "k")  # type: ignore[arg-type]
