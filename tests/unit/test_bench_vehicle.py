"""The vehicle's benchmark: the same vehicle for the peers, what it reports, and when a peer's number does not count."""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from botz.bench import peers, suites
from botz.bench.vehicle import suite as vehicle
from botz.errors import BotzError
from botz.scenario.vehicle.schema import VehicleScenario
from botz.terrain.height_grid import HeightGrid

KEYS = {"metric", "value", "unit", "target", "met", "peer", "peer_value", "ratio"}
STEPS = (1e-4, 1e-5, 1e-6, 1e-7)


@pytest.fixture(scope="module")
def spec() -> VehicleScenario:
    return vehicle.checked(vehicle.scenario(step=1e-4))


@pytest.fixture
def ground() -> HeightGrid:
    """A field that rises along x, with its own number of points along each axis."""
    x, y = np.linspace(-20.0, 20.0, 401), np.linspace(-20.0, 20.0, 201)
    return HeightGrid(0.1 * x[:, None] + 0.0 * y[None, :], x_min=-20.0, x_max=20.0, y_min=-20.0, y_max=20.0)


@pytest.fixture
def case(spec: VehicleScenario, ground: HeightGrid) -> dict[str, Any]:
    """As a peer gets it."""
    return json.loads(json.dumps(vehicle.peer_case(spec, ground, Path("heights.npy"))))


@pytest.fixture
def vehicle_case(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The part that the peers' scripts share; it is imported from their folder, as they do."""
    monkeypatch.syspath_prepend(str(Path(peers.__file__).parent / "peer_scripts"))
    import vehicle_case

    return vehicle_case


# --- the scenario ------------------------------------------------------------------------------------


def test_it_is_the_full_model(spec: VehicleScenario):
    robot = spec.robots[vehicle.ROBOT]
    assert spec.world.contact.slices == 18 and spec.world.contact.search == "fast"
    assert spec.world.terrain.type == "rough"
    for wheel in robot.wheels.values():
        assert wheel.rims == 2 and wheel.tyre.type == "magic-formula" and wheel.tyre.aligning is not None
    assert sorted(wheel for motor in robot.motors.values() for wheel in motor.wheels) == sorted(robot.wheels)
    assert set(vehicle.voltages(robot)) == set(robot.motors)


@pytest.mark.parametrize("search", ["fast", "plain"])
@pytest.mark.parametrize("method", ["semi-implicit", "rk4"])
def test_step_search_and_method_are_those_asked_for(search: str, method: str):
    spec = vehicle.checked(vehicle.scenario(step=1e-6, search=search, method=method))
    assert (spec.time.step, spec.world.contact.search, spec.time.method) == (1e-6, search, method)


def test_no_run_reaches_the_edge_of_the_ground(spec: VehicleScenario):
    """Beyond it the ground is even along one axis, which would be less work."""
    robot = spec.robots[vehicle.ROBOT]
    radius = max(wheel.radius for wheel in robot.wheels.values())
    fastest = max(
        volts * robot.motors[name].speed_constant / robot.motors[name].gear_ratio * radius
        for name, volts in vehicle.voltages(robot).items()
    )
    longest = max(
        vehicle.RECORDED_SECONDS,
        vehicle.SETTLING + vehicle.MEASURED_STEPS * max(STEPS),
        vehicle.PEER_SETTLING + 3 * vehicle.PEER_STEPS * vehicle.PEER_STEP,
    )
    assert fastest * longest < vehicle.HALF_SIDE


# --- what the peers get ------------------------------------------------------------------------------


def test_peers_get_the_same_vehicle(case: dict[str, Any], spec: VehicleScenario):
    robot = spec.robots[vehicle.ROBOT]
    assert case["mass"] == robot.chassis.mass
    assert case["inertia"] == list(robot.chassis.inertia_tensor)
    assert case["gravity"] == spec.world.gravity and case["dt"] == 1e-4
    assert 2 * case["box"]["half"][0] == pytest.approx(robot.chassis.front + robot.chassis.rear)
    assert case["box"]["middle"][2] + case["box"]["half"][2] == pytest.approx(robot.chassis.top)
    assert [wheel["name"] for wheel in case["wheels"]] == list(robot.wheels)
    for given in case["wheels"]:
        own = robot.wheels[given["name"]]
        assert given["position"] == own.position
        assert (given["radius"], given["width"], given["inertia"]) == (own.radius, own.width, own.inertia)
        assert (given["stiffness"], given["damping"]) == (own.suspension.stiffness, own.suspension.damping)
        side = "left" if own.position[1] > 0 else "right"
        assert given["voltage"] == vehicle.VOLTAGES[side]


def test_peers_motors_have_the_no_load_speed_and_the_stall_torque_of_ours(case: dict[str, Any], spec: VehicleScenario):
    robot = spec.robots[vehicle.ROBOT]
    motor, wheel = robot.motors["front_left"], case["wheels"][0]
    # No load: N ω / K_v = V. Stall: τ = K_t N η V / R.
    no_load = wheel["torque_per_volt"] / wheel["torque_per_speed"]
    assert no_load == pytest.approx(motor.speed_constant / motor.gear_ratio, rel=1e-12)
    stall = motor.torque_constant * motor.gear_ratio * motor.efficiency * 24.0 / motor.resistance
    assert 24.0 * wheel["torque_per_volt"] == pytest.approx(stall, rel=1e-12)
    assert wheel["largest_torque"] == pytest.approx(stall / (24.0 / motor.resistance) * motor.current_limit, rel=1e-12)


def test_a_motor_of_several_wheels_shares_its_torque(spec: VehicleScenario, ground: HeightGrid):
    data = vehicle.scenario(step=1e-4)
    one = spec.robots[vehicle.ROBOT].motors["front_left"].model_dump(mode="json")
    left, right = ["front_left", "rear_left"], ["front_right", "rear_right"]
    data["robots"][vehicle.ROBOT]["motors"] = {"port": {**one, "wheels": left}, "starboard": {**one, "wheels": right}}
    shared = vehicle.peer_case(vehicle.checked(data), ground, Path("heights.npy"))["wheels"][0]
    alone = vehicle.peer_case(spec, ground, Path("heights.npy"))["wheels"][0]
    for key in ("torque_per_volt", "torque_per_speed", "largest_torque"):
        assert shared[key] == pytest.approx(alone[key] / 2, rel=1e-12)


def test_peers_start_just_above_the_ground(case: dict[str, Any], ground: HeightGrid):
    for wheel in case["wheels"]:
        x, y, z = (start + place for start, place in zip(case["start"], wheel["position"], strict=True))
        rim = np.linspace(-wheel["radius"], wheel["radius"], 21)
        gap = z - wheel["radius"] - ground.height(x + rim, y).max()
        assert 0.0 <= gap < 0.1


def test_peers_get_the_ground_of_the_scenario(monkeypatch: pytest.MonkeyPatch, spec: VehicleScenario):
    seen = []

    def measure(script: str, case: dict[str, Any]) -> tuple[float | None, str]:
        seen.append((script, np.load(case["ground"]["file"])))
        return None, "not there"

    monkeypatch.setattr(peers, "measure", measure)
    assert vehicle.peer_seconds_per_step() == {"MuJoCo": (None, "not there"), "PyBullet": (None, "not there")}
    folder = Path(peers.__file__).parent / "peer_scripts"
    for script, heights in seen:
        assert (folder / script).is_file()
        assert np.array_equal(heights, vehicle.build_grid(spec.world.terrain, spec.seed).heights)


def test_a_peer_gets_its_case_as_json(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    script = "import json, sys; print(json.dumps({'value': json.loads(sys.argv[1])['a b'] if sys.argv[1:] else 0}))"
    (tmp_path / "peer.py").write_text(script, encoding="utf-8")
    monkeypatch.setattr(peers, "interpreter", lambda: Path(sys.executable))
    assert peers.measure(str(tmp_path / "peer.py"), {"a b": 1.5e-5}) == (1.5e-5, "")
    assert peers.measure(str(tmp_path / "peer.py")) == (0.0, "")


# --- when a peer's number counts ---------------------------------------------------------------------


def test_a_vehicle_that_drove_counts(case: dict[str, Any], ground: HeightGrid, vehicle_case: ModuleType):
    vehicle_case.require_a_drive(case, ground.heights, [5.0, 1.0, 0.65], 0.99)


@pytest.mark.parametrize(
    ("position", "upright", "words"),
    [
        ([math.nan, 1.0, 0.65], 0.99, "not finite"),
        ([5.0, 1.0, 0.65], -0.99, "up -0.99"),
        ([5.0, 1.0, 0.45], 0.99, "-0.05 m above the ground"),
        ([5.0, 1.0, 2.5], 0.99, "2 m above the ground"),
        ([0.5, 0.0, 0.2], 0.99, "0.5 m of"),
        ([25.0, 0.0, 2.65], 0.99, "left the ground"),
    ],
)
def test_one_that_did_not_is_refused(
    case: dict[str, Any],
    ground: HeightGrid,
    vehicle_case: ModuleType,
    position: list[float],
    upright: float,
    words: str,
):
    with pytest.raises(RuntimeError, match=words):
        vehicle_case.require_a_drive(case, ground.heights, position, upright)


def test_wheels_masses_are_the_chassis_loss(case: dict[str, Any], vehicle_case: ModuleType):
    assert vehicle_case.chassis_mass(case) + 4 * vehicle.WHEEL_MASS == pytest.approx(case["mass"])


# --- what it reports ---------------------------------------------------------------------------------


def measured_by_settings(data: dict[str, Any]) -> float:
    """Stands for the loop: 800 ns, 4 µs with the plain search, 3 µs with Runge-Kutta."""
    if data["world"]["contact"]["search"] == "plain":
        return 4e-6
    return 3e-6 if data["time"]["method"] == "rk4" else 800e-9


def test_rows_targets_and_ratios(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(vehicle, "seconds_per_step", measured_by_settings)
    monkeypatch.setattr(vehicle, "stage_shares", lambda data: {"contacts": 0.6, "tyres": 0.3})
    monkeypatch.setattr(vehicle, "recorded_seconds_per_step", lambda step: 1e-6)
    peer_times = {"MuJoCo": (32e-6, ""), "PyBullet": (None, "not there")}
    monkeypatch.setattr(vehicle, "peer_seconds_per_step", lambda: peer_times)
    report = json.loads(json.dumps(suites.run("vehicle")))
    assert report["bench"] == "vehicle" and all(set(row) == KEYS for row in report["results"])
    rows = {row["metric"]: row for row in report["results"]}
    assert len(rows) == len(report["results"])
    for step in STEPS:
        row = rows[f"step of {step:g} s"]
        assert (row["value"], row["target"], row["met"]) == (pytest.approx(800.0), 1000.0, True)
        assert rows[f"real-time factor at {step:g} s"]["value"] == pytest.approx(step / 800e-9)
    real_time = rows["real-time factor at 1e-07 s"]
    assert real_time["target"] == 1.0 and real_time["met"] is False
    assert rows["step of 0.0001 s, against the plain search"]["ratio"] == pytest.approx(5.0)
    assert rows["step of 0.0001 s, against MuJoCo"]["ratio"] == pytest.approx(40.0)
    missing = rows["step of 0.0001 s, against PyBullet"]
    assert missing["peer"] == "PyBullet (skipped: not there)" and missing["ratio"] is None
    assert rows["share of stage contacts"]["value"] == pytest.approx(60.0)
    assert rows["Runge-Kutta, step of 0.0001 s"]["value"] == pytest.approx(3000.0)


@pytest.fixture
def in_small(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(vehicle, "MEASURED_STEPS", 200)
    monkeypatch.setattr(vehicle, "SETTLING", 1e-3)
    monkeypatch.setattr(vehicle, "RECORDED_SECONDS", 0.02)


@pytest.mark.usefixtures("in_small")
def test_the_engine_is_measured_while_it_drives():
    data = vehicle.scenario(step=1e-4)
    assert vehicle.seconds_per_step(data) > 0
    assert vehicle.recorded_seconds_per_step(1e-4) > 0
    shares = vehicle.stage_shares(data)
    assert len(shares) >= 4 and sum(shares.values()) == pytest.approx(1.0)
    engine, step = vehicle.moving_engine(data)
    assert step == 10
    row = np.empty(engine.channels.width)
    engine.observe(row)
    assert np.isfinite(row).all() and engine.inputs.max() == vehicle.VOLTAGES["right"]


def test_a_divergence_is_told():
    stiff = SimpleNamespace(
        advance=lambda *arguments: False, channels=SimpleNamespace(width=3), dt=1e-4, stability_hint=lambda: "too long"
    )
    with pytest.raises(BotzError, match=r"diverged at a step of 0\.0001 s too long"):
        vehicle.advance(stiff, 0, 10)
