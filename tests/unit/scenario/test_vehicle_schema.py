"""The table of broken vehicles: what a user writes, and exactly what Botz says about it."""

# ruff: noqa: E501 (messages are shown whole, as the user sees them)

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from botz.engines.registry import make_engine
from botz.errors import InputError
from botz.scenario.load import load
from botz.scenario.vehicle.schema import VehicleScenario

Write = Callable[..., Path]

GOOD = """\
engine: vehicle
time: {step: 1e-4}
robots:
  vivi:
    chassis: {mass: 40, front: 0.3, rear: 0.3, left: 0.16, right: 0.16, top: 0.1, bottom: 0.08}
    wheel:
      radius: 0.11
      inertia: 0.012
      suspension: {stiffness: 6000, damping: 200, travel: 0.04}
      tyre: {type: magic-formula, relaxation: [0.04, 0.1]}
    wheels:
      left: {position: [0, 0.22, -0.05]}
      right: {position: [0, -0.22, -0.05]}
      rear: {position: [-0.3, 0, -0.05]}
    motor: {voltage: 24, torque_constant: 0.04, speed_constant: 254 rpm/V, resistance: 0.06}
    motors:
      left: {wheels: [left]}
      right: {wheels: [right]}
"""
"""Its robot goes on at the end of the text."""
FLAT = "world:\n  terrain: {type: flat, x: [-2, 2], y: [-2, 2], outside: end}\n"


def changed(old: str, new: str) -> str:
    assert GOOD.count(old) == 1, old
    return GOOD.replace(old, new)


def chassis(text: str) -> str:
    return changed("bottom: 0.08", f"bottom: 0.08, {text}")


def wheel(text: str) -> str:
    """Of the left wheel, in line 12."""
    return changed("left: {position: [0, 0.22, -0.05]", f"left: {{position: [0, 0.22, -0.05], {text}")


def motor(text: str) -> str:
    """Of the left motor, in line 17."""
    return changed("left: {wheels: [left]", f"left: {{wheels: [left], {text}")


def drive(text: str) -> str:
    return GOOD + "controllers:\n  drive: " + text + "\n"


def bad(name: str, text: str, *says: str):
    return pytest.param(text, list(says), id=name.replace(" ", "-"))


IMPOSSIBLE = "no body has it: each of xx, yy, zz is positive and at most the sum of the other two"

# fmt: off
LOADING = [
    bad("no chassis", changed("    chassis: {mass: 40, front: 0.3, rear: 0.3, left: 0.16, right: 0.16, top: 0.1, bottom: 0.08}\n", ""),
        's.yaml:4: robots.vivi.chassis: missing (the rigid body)'),
    bad("negative mass", changed("mass: 40", "mass: -4 kg"),
        "s.yaml:5: robots.vivi.chassis.mass: must be greater than 0, not '-4 kg'"),
    bad("nan mass", changed("mass: 40", "mass: .nan"),
        's.yaml:5: robots.vivi.chassis.mass: needs a finite number, not nan'),
    bad("mass in metres", changed("mass: 40", "mass: 4 m"),
        's.yaml:5: robots.vivi.chassis.mass: "4 m" is a length, needs a mass such as "3 kg"'),
    bad("flat chassis", changed("top: 0.1", "top: 0"),
        's.yaml:5: robots.vivi.chassis.top: must be greater than 0, not 0'),
    bad("inertia beyond the sum", chassis("inertia: [1, 1, 3]"),
        f's.yaml:5: robots.vivi.chassis.inertia: {IMPOSSIBLE}'),
    bad("inertia negative", chassis("inertia: [1, -1, 1]"),
        f's.yaml:5: robots.vivi.chassis.inertia: {IMPOSSIBLE}'),
    bad("inertia not definite", chassis("inertia: [1, 1, 1, 2, 0, 0]"),
        f's.yaml:5: robots.vivi.chassis.inertia: {IMPOSSIBLE}'),
    bad("inertia of four", chassis("inertia: [1, 1, 1, 0]"),
        's.yaml:5: robots.vivi.chassis.inertia: needs 3 numbers (xx, yy, zz) or 6, not 4'),
    bad("corner friction", chassis("corners: {friction: -1}"),
        's.yaml:5: robots.vivi.chassis.corners.friction: must be at least 0, not -1'),
    bad("zero radius", wheel("radius: 0"),
        's.yaml:12: robots.vivi.wheels.left.radius: must be greater than 0, not 0'),
    bad("nan radius", wheel("radius: .nan"),
        's.yaml:12: robots.vivi.wheels.left.radius: needs a finite number, not nan'),
    bad("no inertia of a wheel", wheel("inertia: 0"),
        's.yaml:12: robots.vivi.wheels.left.inertia: must be greater than 0, not 0'),
    bad("rims", wheel("rims: 3"),
        's.yaml:12: robots.vivi.wheels.left.rims: unknown 3; choose from: 1, 2'),
    bad("wheel without height", changed("[-0.3, 0, -0.05]", "[-0.3, 0]"),
        's.yaml:14: robots.vivi.wheels.rear.position: needs at least 3 entries, not 2'),
    bad("wheel without place", changed("rear: {position: [-0.3, 0, -0.05]}", "rear: {}"),
        's.yaml:14: robots.vivi.wheels.rear.position: missing (its centre with the suspension at rest, from the centre of mass: x forward, y left, z up [m])'),
    bad("wheel is text", changed("rear: {position: [-0.3, 0, -0.05]}", "rear: back"),
        "s.yaml:14: robots.vivi.wheels.rear: needs a mapping (key: value), not 'back'"),
    bad("unknown key of a wheel", wheel("radios: 0.1"),
        "s.yaml:12: robots.vivi.wheels.left.radios: unknown key; did you mean 'radius'? (friction, inertia, locked, position, radius, rims, suspension, tyre, width)"),
    bad("suspension", wheel("suspension: {stiffness: 0, damping: -1}"),
        's.yaml:12: robots.vivi.wheels.left.suspension.stiffness: must be greater than 0, not 0',
        's.yaml:12: robots.vivi.wheels.left.suspension.damping: must be at least 0, not -1'),
    bad("unknown tyre", wheel("tyre: {type: magic_formula}"),
        "s.yaml:12: robots.vivi.wheels.left.tyre.type: unknown 'magic_formula'; did you mean 'magic-formula'? (coulomb, magic-formula)"),
    bad("another tyre is another tyre", wheel("tyre: {type: coulomb}"),
        's.yaml:12: robots.vivi.wheels.left.tyre.static: missing (μ: up to where it sticks)',
        's.yaml:12: robots.vivi.wheels.left.tyre.dynamic: missing (μ*: while it slides)'),
    bad("tyre sticks less than it slides", wheel("tyre: {type: coulomb, static: 0.5, dynamic: 0.8}"),
        's.yaml:12: robots.vivi.wheels.left.tyre.static: 0.5 is less than dynamic, 0.8'),
    bad("tyre shape", wheel("tyre: {shapes: [1.6, 0.9, 2.4]}"),
        's.yaml:12: robots.vivi.wheels.left.tyre.shapes.1: 0.9 is not between 1 and 3'),
    bad("tyre table of seven", wheel("tyre: {lateral: [1, 2, 3, 4, 5, 6, 7]}"),
        's.yaml:12: robots.vivi.wheels.left.tyre.lateral: needs at least 8 entries, not 7'),
    bad("relaxation", wheel("tyre: {relaxation: [0, 0.1]}"),
        's.yaml:12: robots.vivi.wheels.left.tyre.relaxation: both lengths must be greater than 0'),
    bad("largest load", wheel("tyre: {largest_load: 30 kN}"),
        "s.yaml:12: robots.vivi.wheels.left.tyre.largest_load: must be at most 22900 N, not '30 kN'"),
    bad("no wheels", changed("      left: {position: [0, 0.22, -0.05]}\n      right: {position: [0, -0.22, -0.05]}\n      rear: {position: [-0.3, 0, -0.05]}\n    motor: {voltage: 24, torque_constant: 0.04, speed_constant: 254 rpm/V, resistance: 0.06}\n    motors:\n      left: {wheels: [left]}\n      right: {wheels: [right]}\n", "      {}\n"),
        's.yaml:11: robots.vivi.wheels: needs at least 1 entry, not 0'),
    bad("static below coulomb", motor("friction: {coulomb: 2, static: 1, stiffness: 100}"),
        's.yaml:17: robots.vivi.motors.left.friction.static: 1 is less than coulomb, 2'),
    bad("friction of nothing", motor("friction: {coulomb: 0, static: 0, stiffness: 100}"),
        "s.yaml:17: robots.vivi.motors.left.friction.static: 0 is no friction; leave the whole 'friction' out"),
    bad("friction of a driven wheel", wheel("friction: {coulomb: 1, static: 1, stiffness: 100}"),
        's.yaml:12: robots.vivi.wheels.left.friction: this wheel has a motor; give the motor the friction'),
    bad("motor named as a wheel with a mistyped wheel", changed("left: {wheels: [left]}", "left: {wheels: [lefft]}"),
        "s.yaml:17: robots.vivi.motors.left.wheels.0: no wheel 'lefft'; did you mean 'left'? (left, rear, right)"),
    bad("motor names no wheel", GOOD + "      third: {wheels: [rera]}\n",
        "s.yaml:19: robots.vivi.motors.third.wheels.0: no wheel 'rera'; did you mean 'rear'? (left, rear, right)"),
    bad("wheel of two motors", GOOD + "      third: {wheels: [rear, left]}\n",
        "s.yaml:19: robots.vivi.motors.third.wheels.1: wheel 'left' is turned by motor 'left' already"),
    bad("wheel twice in a motor", GOOD + "      third: {wheels: [rear, rear]}\n",
        "s.yaml:19: robots.vivi.motors.third.wheels.1: wheel 'rear' is twice here"),
    bad("motor named as a wheel that it does not turn", changed("left: {wheels: [left]}", "left: {wheels: [rear]}"),
        's.yaml:17: robots.vivi.motors.left: a wheel has this name, and it does not turn that one alone; choose another'),
    bad("motor named as one of its wheels", changed("left: {wheels: [left]}", "left: {wheels: [left, rear]}"),
        's.yaml:17: robots.vivi.motors.left: a wheel has this name, and it does not turn that one alone; choose another'),
    bad("motor of a locked wheel", wheel("locked: true"),
        "s.yaml:17: robots.vivi.motors.left.wheels.0: wheel 'left' is locked"),
    bad("motor without wheels", changed("left: {wheels: [left]}", "left: {wheels: []}"),
        's.yaml:17: robots.vivi.motors.left.wheels: needs at least 1 entry, not 0'),
    bad("efficiency", motor("efficiency: 120 %"),
        "s.yaml:17: robots.vivi.motors.left.efficiency: must be at most 1, not '120 %'"),
    bad("no resistance", motor("resistance: 0"),
        's.yaml:17: robots.vivi.motors.left.resistance: must be greater than 0, not 0'),
    bad("voltage in amperes", motor("voltage: 24 A"),
        's.yaml:17: robots.vivi.motors.left.voltage: "24 A" is a current, needs a voltage such as "12 V"'),
    bad("unknown motor of a side", GOOD + "    sides: {left: [left], right: [rigth]}\n",
        "s.yaml:19: robots.vivi.sides.right.0: no motor 'rigth'; did you mean 'right'? (left, right)"),
    bad("battery", GOOD + "    battery: {voltage: 0}\n",
        's.yaml:19: robots.vivi.battery.voltage: must be greater than 0, not 0'),
    bad("mistake in what wheels have in common", changed("radius: 0.11", "radius: -3 cm"),
        "s.yaml:7: robots.vivi.wheel.radius: must be greater than 0, not '-3 cm'"),
    bad("unknown tyre of all wheels", changed("type: magic-formula", "type: magic_formula"),
        "s.yaml:10: robots.vivi.wheel.tyre.type: unknown 'magic_formula'; did you mean 'magic-formula'? (coulomb, magic-formula)"),
    bad("unknown key in what wheels have in common", changed("      inertia: 0.012", "      inetria: 0.012"),
        "s.yaml:8: robots.vivi.wheel.inetria: unknown key; did you mean 'inertia'? (friction, inertia, locked, position, radius, rims, suspension, tyre, width)"),
    bad("nan in what wheels have in common", changed("inertia: 0.012", "inertia: .nan"),
        's.yaml:8: robots.vivi.wheel.inertia: needs a finite number, not nan'),
    bad("text in a table of numbers", changed("relaxation: [0.04, 0.1]", "lateral: [1, 2, 3, 4, 5, 6, x, 8]"),
        "s.yaml:10: robots.vivi.wheel.tyre.lateral.6: needs a number, not 'x'"),
    bad("mistake in what motors have in common", changed("resistance: 0.06", "resistance: 0"),
        's.yaml:15: robots.vivi.motor.resistance: must be greater than 0, not 0'),
    bad("common motor is a list", changed("    motor: {voltage: 24, torque_constant: 0.04, speed_constant: 254 rpm/V, resistance: 0.06}\n    motors:\n      left: {wheels: [left]}\n      right: {wheels: [right]}\n", "    motor: [24]\n"),
        's.yaml:15: robots.vivi.motor: needs a mapping (key: value), not a list'),
    bad("pose of a vehicle", GOOD + "    pose: [0, 0, 0]\n",
        's.yaml:19: robots.vivi.pose: unknown key; choose from: angular_velocity, attitude, battery, chassis, description, engine, extends, motor, motors, position, sides, source, …'),
    bad("position of one", GOOD + "    position: [0]\n",
        's.yaml:19: robots.vivi.position: needs at least 2 entries, not 1'),
    bad("attitude in metres", GOOD + "    attitude: [0, 5 m, 0]\n",
        's.yaml:19: robots.vivi.attitude.1: "5 m" is a length, needs an angle such as "45 deg"'),
    bad("nan velocity", GOOD + "    velocity: [0, .nan, 0]\n",
        's.yaml:19: robots.vivi.velocity.1: needs a finite number, not nan'),
    bad("robot of another engine", "engine: vehicle\nrobots:\n  vivi: {extends: duo}\n",
        "s.yaml:3: robots.vivi.extends: robot 'duo' is for engine 'kinematics', this scenario for 'vehicle'"),
    bad("method", changed("step: 1e-4", "step: 1e-4, method: euler"),
        "s.yaml:2: time.method: unknown 'euler'; choose from: rk4, semi-implicit"),
    bad("search", GOOD + "world: {contact: {search: quick}}\n",
        "s.yaml:19: world.contact.search: unknown 'quick'; choose from: fast, plain"),
    bad("blocked angle", GOOD + "world: {contact: {blocked_angle: 90 deg}}\n",
        "s.yaml:19: world.contact.blocked_angle: must be at most 1.55334 rad (89 deg), not '90 deg'"),
    bad("gravity", GOOD + "world: {gravity: -9.81}\n",
        's.yaml:19: world.gravity: must be at least 0, not -9.81'),
    bad("controller of another engine", drive("{type: go-to-pose, robot: vivi, goal: [0, 0, 0]}"),
        "s.yaml:20: controllers.drive.type: 'go-to-pose' is of engine kinematics; choose from: constant, file.py:Class, table, waypoints, wheel-speed"),
    bad("wheel speed of nothing", drive("{type: wheel-speed, robot: vivi}"),
        "s.yaml:20: controllers.drive: give either 'speeds' or 'forward'"),
]

BUILDING = [
    bad("inside the ground", GOOD + "    position: [0, 0, 0.05]\n",
        's.yaml:19: robots.vivi.position.2: 0.05 m puts it inside the ground; it stands at 0.1382 m: leave z out, or give more'),
    bad("outside the terrain", GOOD + "    position: [0, 3]\n" + FLAT,
        "s.yaml:19: robots.vivi.position: has a wheel outside the terrain, whose 'outside: end' ends the run there"),
    bad("step too long for the tread", changed("time: {step: 1e-4}", "time: {step: 10 ms}"),
        "s.yaml:2: time.step: 0.01 s is too long for the tread of wheel 'left' of vivi, which oscillates or settles faster; at most 0.0068 s, better a tenth of it"),
    bad("step too long for a stiff spring", changed("time: {step: 1e-4}", "time: {step: 1 ms}").replace("stiffness: 6000", "stiffness: 1e9"),
        "s.yaml:2: time.step: 0.001 s is too long for the spring of wheel 'left' of vivi, which oscillates or settles faster; at most 0.00017 s, better a tenth of it"),
]
# fmt: on


@pytest.mark.parametrize(("text", "says"), LOADING)
def test_a_broken_vehicle_is_told_exactly(write: Write, text: str, says: list[str]) -> None:
    write(text)
    with pytest.raises(InputError) as caught:
        load("s.yaml")
    assert [str(problem) for problem in caught.value.problems] == says
    assert caught.value.exit_code == 2


@pytest.mark.parametrize(("text", "says"), BUILDING)
def test_what_only_the_engine_knows_is_told_with_its_place(write: Write, text: str, says: list[str]) -> None:
    write(text)
    loaded = load("s.yaml")
    with pytest.raises(InputError) as caught:
        make_engine(loaded.spec)
    assert [str(problem) for problem in loaded.with_places(caught.value).problems] == says


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        chassis("inertia: [1, 1, 2]"),
        chassis("inertia: [1, 1.5, 2, 0.1, -0.1, 0]"),
        wheel("tyre: {type: coulomb, static: 0.8, dynamic: 0.8}"),
        GOOD + "      third: {wheels: [rear], friction: {coulomb: 1, static: 1, stiffness: 100}}\n",
        GOOD + "    position: [0, 3]\n" + FLAT.replace(", outside: end", ""),
        GOOD + "    position: [0, 0, 0.5]\n",
        GOOD + "    position: [1.5, 0]\n" + FLAT,
    ],
)
def test_what_the_tables_vary_is_good(write: Write, text: str) -> None:
    make_engine(load(write(text)).spec)


def spec_of(write: Write, text: str) -> Any:
    spec = load(write(text)).spec
    assert isinstance(spec, VehicleScenario)
    return spec.robots["vivi"]


def test_what_wheels_have_in_common_is_laid_under_each(write: Write) -> None:
    vivi = spec_of(write, wheel("radius: 0.2, suspension: {damping: 50}, tyre: {friction_scale: 0.5}"))
    left, right = vivi.wheels["left"], vivi.wheels["right"]
    assert (left.radius, right.radius) == (0.2, 0.11)
    assert (left.suspension.stiffness, left.suspension.damping) == (6000.0, 50.0)
    assert (right.suspension.stiffness, right.suspension.damping) == (6000.0, 200.0)
    assert (left.tyre.type, left.tyre.friction_scale, left.tyre.relaxation) == ("magic-formula", 0.5, [0.04, 0.1])
    assert vivi.motors["left"].speed_constant == pytest.approx(26.6, rel=1e-3)


def test_a_tyre_of_another_type_takes_nothing_from_the_common_one(write: Write) -> None:
    vivi = spec_of(write, wheel("tyre: {type: coulomb, static: 0.9, dynamic: 0.7}"))
    assert vivi.wheels["left"].tyre.type == "coulomb"
    assert vivi.wheels["right"].tyre.type == "magic-formula"


def test_sides_follow_from_the_places_of_the_wheels_or_are_named(write: Write) -> None:
    vivi = spec_of(write, GOOD + "      third: {wheels: [rear]}\n")
    assert (vivi.motors_of_side("left"), vivi.motors_of_side("right")) == (["left"], ["right"])
    named = spec_of(write, GOOD + "    sides: {left: [right], right: [left]}\n")
    assert (named.motors_of_side("left"), named.motors_of_side("right")) == (["right"], ["left"])


def test_a_motor_is_on_one_side(write: Write) -> None:
    with pytest.raises(InputError, match=r"sides\.right\.1: motor 'right' is on a side already"):
        spec_of(write, GOOD + "    sides: {left: [right], right: [left, right]}\n")


def test_inertia_of_a_box_where_none_is_given(write: Write) -> None:
    """m (b² + c²)/12 and so on, for edges 0.6, 0.32 and 0.18."""
    found = spec_of(write, GOOD).chassis.inertia_tensor
    m = 40 / 12
    expected = m * (0.32**2 + 0.18**2), m * (0.6**2 + 0.18**2), m * (0.6**2 + 0.32**2), 0, 0, 0
    assert found == pytest.approx(expected)
