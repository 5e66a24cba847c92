"""Speed of the rough-terrain vehicle: VIVI on rough ground, the full model, one core, next to other simulators."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from botz.bench import peers
from botz.bench.results import Result, duration, rate
from botz.bench.timing import best, recorded_factor
from botz.engines.base import Engine
from botz.engines.registry import build_engine
from botz.errors import BotzError
from botz.scenario.load import load_data, load_robot
from botz.scenario.vehicle.schema import PlacedVehicle, VehicleScenario
from botz.terrain.height_grid import HeightGrid, build_grid

ROBOT = "vivi"
VOLTAGES = {"left": 9.0, "right": 11.0}
"""What the motors of each side get [V]: about 1 m/s in a wide curve to the left."""
HALF_SIDE = 20.0
"""From the middle of the ground, where the vehicle starts, to its edge [m]: farther than any of these runs goes."""
MEASURED_STEPS = 100_000
"""Steps in one timed call; 10 s at the longest step."""
SETTLING = 0.1
"""Time before measuring, in which the springs take the load and the tyres find their slip [s]."""
PEER_STEP = 1e-4
"""Step at which the other simulators are compared [s]: with shorter ones they only become slower against time."""
PEER_STEPS = 20_000
PEER_SETTLING = 0.5
WHEEL_MASS = 1.0
"""Of a wheel where there is none without [kg]; it is taken from the chassis."""
RECORDED_SECONDS = 15.0
MOST_PER_STEP = 1000.0
"""Target: the time of one step, whatever its length [ns]."""


def scenario(*, step: float, search: str = "fast", method: str = "semi-implicit") -> dict[str, Any]:
    """VIVI on rough ground: 18 slices on both rims, tyres with aligning moment, axle friction, motors and battery."""
    vehicle = load_robot(ROBOT)
    return {
        "engine": "vehicle",
        "name": "bench",
        "time": {"step": step, "duration": RECORDED_SECONDS, "method": method},
        "world": {
            "terrain": {
                "type": "rough", "iso_class": "D", "seed": 7, "x": [-HALF_SIDE, HALF_SIDE],
                "y": [-HALF_SIDE, HALF_SIDE], "resolution": 0.05,
            },
            "contact": {"search": search, "slices": 18},
        },
        "record": {"rate": 100.0, "snapshots": 10.0},
        "robots": {ROBOT: {**vehicle.data, "velocity": [0.9, 0.0, 0.0]}},
    }  # fmt: skip


def checked(data: dict[str, Any]) -> VehicleScenario:
    spec = load_data(data).spec
    assert isinstance(spec, VehicleScenario)
    return spec


def voltages(vehicle: PlacedVehicle) -> dict[str, float]:
    """Of each motor, by its side [V]."""
    left, right = vehicle.motors_of_side("left"), vehicle.motors_of_side("right")
    return dict.fromkeys(left, VOLTAGES["left"]) | dict.fromkeys(right, VOLTAGES["right"])


def command(vehicle: PlacedVehicle) -> dict[str, float]:
    return {f"{name}/voltage": volts for name, volts in voltages(vehicle).items()}


# --- Botz --------------------------------------------------------------------------------------------


def moving_engine(data: dict[str, Any]) -> tuple[Engine, int]:
    """An engine whose vehicle drives, and the steps that it has taken."""
    spec = checked(data)
    engine = build_engine(spec)
    engine.inputs[engine.robot_inputs(ROBOT)] = engine.resolve_command(ROBOT, command(spec.robots[ROBOT]))
    settled = max(1, round(SETTLING / engine.dt))
    advance(engine, 0, settled)
    return engine, settled


def advance(engine: Engine, step: int, n: int) -> None:
    if not engine.advance(step, n, 0, np.empty((1, engine.channels.width))):
        hint = engine.stability_hint()
        raise BotzError(f"the benchmark's vehicle diverged at a step of {engine.dt:g} s {hint}".rstrip())


def seconds_per_step(data: dict[str, Any]) -> float:
    """Of the compiled loop alone; every repeat drives the same way."""
    engine, step = moving_engine(data)
    start = engine.snapshot()

    def measure() -> float:
        engine.restore(start)
        began = time.perf_counter()
        advance(engine, step, MEASURED_STEPS)
        return time.perf_counter() - began

    return best(measure) / MEASURED_STEPS


def stage_shares(data: dict[str, Any]) -> dict[str, float]:
    """What each stage of a step takes of the sum of all, each done over and over by itself; from 0 to 1."""
    from botz.engines.vehicle.engine import VehicleEngine

    engine, _ = moving_engine(data)
    assert isinstance(engine, VehicleEngine)
    times = engine.stage_times(MEASURED_STEPS)
    return {stage: seconds / sum(times.values()) for stage, seconds in times.items()}


def recorded_seconds_per_step(step: float) -> float:
    """A whole run into a file, with all channels: loop, control, rows, messages, compression, disk."""
    data = scenario(step=step)
    vehicle = checked(data).robots[ROBOT]
    data["controllers"] = {"drive": {"robot": ROBOT, "type": "constant", "rate": 10.0, "command": command(vehicle)}}
    data["time"]["duration"] = RECORDED_SECONDS
    return step / recorded_factor(load_data(data))


# --- peers -------------------------------------------------------------------------------------------


def peer_case(spec: VehicleScenario, ground: HeightGrid, file: Path) -> dict[str, Any]:
    """The same vehicle on the same ground in plain numbers, for the peers' scripts; `file` holds the heights.

    The peers' model is the simpler one: no progressive springs, axle friction, battery or tyre slip, and Coulomb's
    friction under the wheels.
    """
    vehicle = spec.robots[ROBOT]
    body = vehicle.chassis
    volts = voltages(vehicle)
    motor_of = {wheel: (name, motor) for name, motor in vehicle.motors.items() for wheel in motor.wheels}
    wheels = []
    for name, wheel in vehicle.wheels.items():
        motor_name, motor = motor_of[name]
        share = motor.torque_constant * motor.gear_ratio * motor.efficiency / len(motor.wheels)
        wheels.append(
            {
                "name": name,
                "position": wheel.position,
                "radius": wheel.radius,
                "width": wheel.width,
                "inertia": wheel.inertia,
                "stiffness": wheel.suspension.stiffness,
                "damping": wheel.suspension.damping,
                "voltage": volts[motor_name],
                # A DC motor with gear: τ = K_t N η I / wheels, I = (V − N ω / K_v) / R.
                "torque_per_volt": share / motor.resistance,
                "torque_per_speed": share / motor.resistance * motor.gear_ratio / motor.speed_constant,
                "largest_torque": None if motor.current_limit is None else share * motor.current_limit,
            }
        )
    reach = max(max(abs(w.position[0]), abs(w.position[1])) + w.radius for w in vehicle.wheels.values())
    near = np.ix_(np.abs(ground.x) <= reach + ground.dx, np.abs(ground.y) <= reach + ground.dy)
    lowest = min(w.position[2] - w.radius for w in vehicle.wheels.values())
    return {
        "dt": PEER_STEP,
        "settle": PEER_SETTLING,
        "steps": PEER_STEPS,
        "repeats": 3,
        "gravity": spec.world.gravity,
        "friction": 1.0,
        "mass": body.mass,
        "wheel_mass": WHEEL_MASS,
        "inertia": body.inertia_tensor,
        "box": {
            "middle": [(body.front - body.rear) / 2, (body.left - body.right) / 2, (body.top - body.bottom) / 2],
            "half": [(body.front + body.rear) / 2, (body.left + body.right) / 2, (body.top + body.bottom) / 2],
        },
        "start": [0.0, 0.0, float(ground.heights[near].max()) - lowest],
        "wheels": wheels,
        "ground": {"file": str(file), "x": [ground.x_min, ground.x_max], "y": [ground.y_min, ground.y_max]},
    }


def peer_seconds_per_step() -> dict[str, tuple[float | None, str]]:
    """Of each peer, or None and why there is none."""
    spec = checked(scenario(step=PEER_STEP))
    ground = build_grid(spec.world.terrain, spec.seed)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "heights.npy"
        np.save(file, ground.heights)
        case = peer_case(spec, ground, file)
        return {
            "MuJoCo": peers.measure("mujoco_vehicle.py", case),
            "PyBullet": peers.measure("pybullet_vehicle.py", case),
        }


# --- the report --------------------------------------------------------------------------------------


def step_rows(step: float, seconds: float) -> list[Result]:
    return [
        duration(f"step of {step:g} s", 1e9 * seconds, "ns/step", target=MOST_PER_STEP),
        rate(f"real-time factor at {step:g} s", step / seconds, "1", target=1.0 if step <= 1e-7 else None),
    ]


def run() -> list[Result]:
    found = {step: seconds_per_step(scenario(step=step)) for step in (1e-4, 1e-5, 1e-6, 1e-7)}
    rows = [row for step, seconds in found.items() for row in step_rows(step, seconds)]
    for step in (1e-4, 1e-5):
        plain = seconds_per_step(scenario(step=step, search="plain"))
        rows.append(
            duration(f"step of {step:g} s, against the plain search", 1e9 * found[step], "ns/step",
                     peer="plain search: every slice in every step", peer_value=1e9 * plain)
        )  # fmt: skip
    runge_kutta = seconds_per_step(scenario(step=1e-4, method="rk4"))
    rows.append(duration("Runge-Kutta, step of 0.0001 s", 1e9 * runge_kutta, "ns/step"))
    recorded = recorded_seconds_per_step(1e-4)
    rows.append(duration("whole run at 0.0001 s, recorded every 100th step", 1e9 * recorded, "ns/step"))
    for name, (seconds, missing) in peer_seconds_per_step().items():
        peer = f"{name} (skipped: {missing})" if missing else f"{name}, cylinder wheels on a height field"
        rows.append(
            duration(f"step of {PEER_STEP:g} s, against {name}", 1e9 * found[PEER_STEP], "ns/step", peer=peer,
                     peer_value=None if seconds is None else 1e9 * seconds)
        )  # fmt: skip
    shares = stage_shares(scenario(step=1e-4))
    return rows + [duration(f"share of stage {stage}", 100 * share, "%") for stage, share in shares.items()]
