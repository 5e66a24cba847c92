"""Breaks one line of multibody robots at a time and says which checks notice. Run by mutations.py.

MuJoCo's functions and the force elements are called by address from compiled code. Uncompiled, both are called from
Python here: MuJoCo's through ctypes, and elements by name, so that a broken one is found. A step takes a
millisecond, so that only checks of some thousand steps take part.
"""

from __future__ import annotations

import ctypes
import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
from mutations import Functions, Mutation

KERNEL = "botz.engines.multibody.step"
PARTS = "botz.engines.multibody.parts"
SENSING = "botz.engines.multibody.sensing"
INERTIAL = "botz.engines.multibody.sensors.inertial"
PROXIMITY = "botz.engines.multibody.sensors.proximity"
ROWS = "botz.engines.multibody.rows"
AIR = "botz.engines.multibody.elements.aero"
JOINTS = "botz.engines.multibody.elements.joints"
PROPELLER = "botz.physics.aero.propeller"
SURFACE = "botz.physics.aero.lift_drag"
WIND = "botz.physics.aero.wind"
EARTH = "botz.physics.earth"
WORLD = "botz.models.mj_world"
MESH = "botz.models.meshes.mesh"
SOLIDS = "botz.models.meshes.solids"
FIT = "botz.models.thrust_fit"

SAMPLES = 20
"""Random ones of each check."""

MUTATIONS = (
    # --- from parts to model
    Mutation(
        "second moments of a tetrahedron with a corner less", MESH, "mass_properties",
        "for v in (a, b, c, s)", "for v in (a, b, s)",
        ("mesh_solids",),
    ),
    Mutation(
        "a tensor in mm⁵ taken for mm⁴", SOLIDS, "tensor_for_mass",
        "per_metre**5", "per_metre**4",
        ("source_conversion",),
    ),
    Mutation(
        "a fit of K by speeds", FIT, "fit_by_sums",
        "(speed**2).sum()", "speed.sum() ** 2 / len(speed)",
        ("thrust_fit",),
    ),
    Mutation(
        "products of inertia lost on the way to MuJoCo", WORLD, "_add_body",
        "tensor[0, 1], tensor[0, 2], tensor[1, 2]", "0.0, 0.0, 0.0",
        ("through_formats",),
    ),
    # --- the loop
    Mutation(
        "Runge and Kutta's middle stages count once", KERNEL, "rk4_step",
        "(a[0, k] + 2.0 * a[1, k] + 2.0 * a[2, k] + a[3, k]) / 6.0", "(a[0, k] + a[1, k] + a[2, k] + a[3, k]) / 4.0",
        ("speed_servo",),
    ),
    Mutation(
        "inner stages at the step's begin", KERNEL, "rk4_step",
        "ahead = dt if stage == 3 else 0.5 * dt", "ahead = 0.5 * dt",
        ("speed_servo",),
    ),
    Mutation(
        "forces that act at the centre of mass", KERNEL, "add_to_body",
        "frame.torque[0] + tx", "frame.torque[0]",
        ("lift_and_drag",),
    ),
    Mutation(
        "velocities of the tree's centre", KERNEL, "look_at",
        "physics.cvel[body, 4] + cy", "physics.cvel[body, 4]",
        ("lift_and_drag",),
    ),
    Mutation(
        "gusts that blow at the step's begin only", KERNEL, "element_forces",
        "wind_at(outside.air[0], outside.gusts, time)", "wind_at(outside.air[0], outside.gusts, 0.0)",
        ("gusts",),
    ),
    Mutation(
        "torques between links twice", KERNEL, "element_forces",
        "+= frame.joint_effort", "+= 2.0 * frame.joint_effort",
        ("dc_motor",),
    ),
    Mutation(
        "a servo that goes as fast as it likes", KERNEL, "shape_commands",
        "min(max(change, -one.rate * dt), one.rate * dt)", "change",
        ("position_servo",),
    ),
    Mutation(
        "damping against rest", KERNEL, "shape_commands",
        "control += one.derivative / one.proportional * change / dt", "control += 0.0",
        ("position_servo",),
    ),
    Mutation(
        "one lag for both ways", KERNEL, "shape_commands",
        "one.lag_up if abs(wanted) >= abs(one.reference) else one.lag_down", "one.lag_up",
        ("lags",),
    ),
    Mutation(
        "an integral part that forgets", KERNEL, "shape_commands",
        "one.summed + one.integral * error * dt", "one.integral * error * dt",
        ("position_servo",),
    ),
    Mutation(
        "gains for the joint's inertia alone", PARTS, "set_gains",
        "1.0 / np.diag(np.linalg.inv(mass))", "0.9 / np.diag(np.linalg.inv(mass))",
        ("position_servo", "speed_servo"),
    ),
    Mutation(
        "a root's velocity in the world's axes", ROWS, "observe_root",
        "rot[k] * vx + rot[3 + k] * vy + rot[6 + k] * vz", "(vx, vy, vz)[k]",
        ("other_sensors",),
    ),
    # --- the air
    Mutation(
        "thrust a thousandth too strong", PROPELLER, "propeller_thrust",
        "c * speed) * speed", "1.001 * c * speed) * speed",
        ("tilted_thrust", "propeller_extras"),
    ),
    Mutation(
        "thrust along the link's z wherever the axle points", AIR, "propeller",
        "axis, omega = frame.joint_axis, p.sense * frame.joint_speed",
        "axis, omega = np.array([0.0, 0.0, 1.0]), p.sense * frame.joint_speed",
        ("tilted_thrust",),
    ),
    Mutation(
        "every propeller turns against the clock", AIR, "propeller",
        "p.sense * frame.joint_speed", "frame.joint_speed",
        ("tilted_thrust", "propeller_extras"),
    ),
    Mutation(
        "drag that drives the propeller", PROPELLER, "drag_torque",
        "-coefficient * thrust", "coefficient * thrust",
        ("propeller_extras",),
    ),
    Mutation(
        "a ground effect by half the radius", PROPELLER, "ground_factor",
        "4.0 * max(height", "8.0 * max(height",
        ("propeller_extras",),
    ),
    Mutation(
        "rotor drag along the axle too", AIR, "propeller",
        "vx, vy, vz = across(nx, ny, nz, vx, vy, vz)", "vx, vy, vz = vx, vy, vz",
        ("propeller_extras",),
    ),
    Mutation(
        "a lag that is twice as slow downwards", PROPELLER, "lag_step",
        "lag = lag_up if grows else lag_down", "lag = lag_up if grows else 2.0 * lag_down",
        ("thrust_lag",),
    ),
    Mutation(
        "no stall", SURFACE, "two_lines",
        "slope * min(abs(alpha), stall) + slope_after * beyond", "slope * abs(alpha) + 0.0 * beyond",
        ("lift_and_drag",),
    ),
    Mutation(
        "lift that goes through 0 beyond the stall", SURFACE, "not_through_zero",
        "0.0 if value * slope * alpha < 0.0 else value", "value",
        ("lift_and_drag",),
    ),
    Mutation(
        "sweep by its cosine", SURFACE, "lift_drag",
        "sweep = square / whole", "sweep = sqrt(square / whole)",
        ("lift_and_drag",),
    ),
    Mutation(
        "drag without its constant", SURFACE, "coefficients",
        "+ surface.cd0", "+ 0.0 * surface.cd0",
        ("lift_and_drag", "glide_ratio", "gusts"),
    ),
    Mutation(
        "lift at the link's origin", AIR, "surface",
        "rx, ry, rz = in_world(frame, p.cp)", "rx, ry, rz = 0.0, 0.0, 0.0",
        ("lift_and_drag",),
    ),
    Mutation(
        "air that stands still", AIR, "through_air",
        "velocity[0] + wx - wind[0]", "velocity[0] + wx",
        ("lift_and_drag", "propeller_extras", "gusts"),
    ),
    Mutation(
        "gusts of half a wave", WIND, "gust_share",
        "cos(2.0 * PI * share)", "cos(PI * share)",
        ("gusts",),
    ),
    Mutation(
        "turbulence that forgets twice as fast", WIND, "turbulence_step",
        "kept = exp(-dt", "kept = exp(-2.0 * dt",
        ("turbulence",),
    ),
    Mutation(
        "a gear that the back-EMF forgets", JOINTS, "MotorNumbers.of",
        "back_emf=spec.gear_ratio / speed_constant", "back_emf=1.0 / speed_constant",
        ("dc_motor",),
    ),
    # --- sensors
    Mutation(
        "noise that does not know its rate", SENSING, "parameters_of",
        "1.0 / spec.rate", "1.0",
        ("noise",),
    ),
    Mutation(
        "a bias that does not walk", INERTIAL, "imu",
        "s.bias[k] += p.gyro_walk", "s.bias[k] = p.gyro_walk",
        ("noise",),
    ),
    Mutation(
        "air that grows colder faster", EARTH, "standard_pressure",
        "SEA_LEVEL_TEMPERATURE - LAPSE_RATE * lower", "SEA_LEVEL_TEMPERATURE - 1.01 * LAPSE_RATE * lower",
        ("other_sensors",),
    ),
    Mutation(
        "a spherical earth", EARTH, "place_on_earth",
        "meridian = parallel * (1.0 - ECCENTRICITY_SQUARED) / w", "meridian = parallel",
        ("other_sensors",),
    ),
    Mutation(
        "a range finder that looks along z", PARTS, "_add_sensor",
        "[[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]]", "np.eye(3)",
        ("range_finder",),
    ),
    Mutation(
        "range finders without end", PROXIMITY, "range_finder",
        "p.reach if s.rangefinder < 0.0 else s.rangefinder", "s.rangefinder",
        ("range_finder",),
    ),
)  # fmt: skip


class FieldsFirst(np.record):
    """A record whose fields come before what NumPy means by the same name, as `data`; as in compiled code."""

    def __getattribute__(self, name: str) -> Any:
        fields = np.void.__getattribute__(self, "dtype").fields
        return self[name] if fields is not None and name in fields else super().__getattribute__(name)


def at(address: int, dtype: np.dtype) -> Any:
    """The record at an address, as the loop hands it over."""
    memory = (ctypes.c_char * dtype.itemsize).from_address(int(address))
    return np.frombuffer(memory, dtype=dtype)[0]


def uncompiled() -> None:
    """Python in place of what only compiled code can do."""
    from botz.engines.multibody import parts as multibody_parts
    from botz.engines.multibody import sensing as multibody_sensing
    from botz.engines.multibody import step as multibody_kernel
    from botz.engines.multibody.elements import base as elements
    from botz.registry import imported
    from botz.scenario.multibody.sensors import SENSORS

    for kind in SENSORS:
        imported(kind.implementation)  # now, not while something is broken that it would keep
    elements_by_address: dict[int, tuple[Any, np.dtype]] = {}
    sensors_by_address: dict[int, tuple[multibody_sensing.SensorKind, np.dtype]] = {}
    native: dict[int, Any] = {}
    pointer = ctypes.c_void_p

    def compiled_call(kind: elements.ElementKind, dtype: np.dtype) -> Any:
        address = -1 - len(elements_by_address)
        elements_by_address[address] = (kind.function, dtype)
        return SimpleNamespace(address=address)

    def compiled_sensor(kind: multibody_sensing.SensorKind, dtype: np.dtype) -> Any:
        address = -1 - len(sensors_by_address)
        sensors_by_address[address] = (kind, dtype)
        return SimpleNamespace(address=address)

    def read_by_address(address: int, first: int, second: int) -> None:
        kind, dtype = sensors_by_address[address]
        kind.function(at(first, dtype), at(second, np.dtype((FieldsFirst, kind.layout))))

    def call_with_two(address: int, first: int, second: int) -> None:
        if address in elements_by_address:
            function, dtype = elements_by_address[address]
            present = getattr(sys.modules[function.__module__], function.__name__)
            present.function(at(first, dtype), at(second, elements.FRAME))
            return
        if address not in native:
            native[address] = ctypes.CFUNCTYPE(None, pointer, pointer)(int(address))
        native[address](int(first), int(second))

    def call_integrate(address: int, model: int, positions: int, velocities: int, time: float) -> None:
        if address not in native:
            native[address] = ctypes.CFUNCTYPE(None, pointer, pointer, pointer, ctypes.c_double)(int(address))
        native[address](int(model), int(positions), int(velocities), float(time))

    for place, replaced in (
        (multibody_kernel, {"call_with_two": call_with_two, "call_integrate": call_integrate}),
        (multibody_parts, {"compiled_call": compiled_call}),
        (multibody_sensing, {"compiled_call": compiled_sensor, "call_with_two": read_by_address}),
    ):
        for name, function in replaced.items():
            assert hasattr(place, name)
            setattr(place, name, function)


def functions() -> Functions:
    from botz.verify.multibody import suite as multibody
    from botz.verify.multibody import wing as multibody_wing

    uncompiled()
    multibody_wing.GLIDE = 0.1
    return multibody.FUNCTIONS
