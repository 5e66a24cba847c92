"""What a script pays per call, beside MuJoCo's Python binding doing the same in the same process."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import mujoco
import numpy as np

import botz
from botz.bench.results import Result, duration
from botz.bench.startup.suite import seconds
from botz.bench.timing import best

SCENARIOS = {
    "kinematics": "differential-circle",
    "vehicle": "vivi-rough",
    "soccer": "soccer",
    "arm": "titan4-line",
    "multibody": "lophorina-hover",
}
CALL_TARGET = 20.0
"""What a call of `step` may cost beside the physics [µs]."""
SHORT_RUNS, SHORT_TARGET = 100, 5.0
"""How many short runs, and what they may take together [s]."""
CALLS = 500
SLIDER = """<mujoco><option timestep="0.001"/><worldbody><body><joint name="x" type="slide" axis="1 0 0"/>
<geom type="box" size=".1 .1 .1" mass="1"/></body></worldbody>
<actuator><velocity joint="x" kv="5"/></actuator></mujoco>"""
"""About the smallest thing that moves by command: what is measured is the binding."""
PEER = "MuJoCo's binding"


def microseconds(call: Callable[[], Any]) -> float:
    """Of one call."""

    def measure() -> float:
        began = time.perf_counter()
        for _ in range(CALLS):
            call()
        return time.perf_counter() - began

    return 1e6 * best(measure, 7) / CALLS


def command_of(sim: botz.Simulation, robot: str) -> dict[str, Any]:
    """Something that the robot follows: its first raw command, small."""
    channel = sim.inputs.of_robot(robot)[0]
    return {channel.local_name: 0.01 if channel.size == 1 else [0.01] * channel.size}


def step_results(peer_step: float, peer_reset: float) -> list[Result]:
    results = []
    for family, scenario in SCENARIOS.items():
        sim = botz.Simulation(scenario, with_controllers=False)
        robot = next(iter(sim.spec.robots))
        command = {robot: command_of(sim, robot)}
        engine, rows = sim.engine, np.empty((0, sim.channels.width))
        whole = microseconds(lambda sim=sim, command=command: sim.step(command))  # type: ignore[misc]
        physics = microseconds(lambda sim=sim, engine=engine, rows=rows: engine.advance(sim.step_number, 1, 0, rows))  # type: ignore[misc]
        metric = f"{family}: step(inputs) beside the physics"
        results.append(
            duration(
                metric, whole - physics, "µs", target=CALL_TARGET, peer=f"{PEER}, whole step", peer_value=peer_step
            )
        )
        metric = f"{family}: reset"
        results.append(
            duration(metric, microseconds(sim.reset), "µs", peer=f"{PEER}, mj_resetData", peer_value=peer_reset)
        )
    return results


def mujoco_calls() -> tuple[float, float, float]:
    """A commanded step whose result is read, a reset [µs], and a recorded run of 500 steps from its XML [s]."""
    model: Any = mujoco.MjModel.from_xml_string(SLIDER)
    data: Any = mujoco.MjData(model)

    def step() -> Any:
        data.ctrl[:] = 0.01
        mujoco.mj_step(model, data)
        return data.qpos.copy()

    def run() -> float:
        began = time.perf_counter()
        own: Any = mujoco.MjModel.from_xml_string(SLIDER)
        its: Any = mujoco.MjData(own)
        kept = np.empty((500, 1))
        for k in range(500):
            its.ctrl[:] = 0.01
            mujoco.mj_step(own, its)
            kept[k] = its.qpos
        return time.perf_counter() - began

    return microseconds(step), microseconds(lambda: mujoco.mj_resetData(model, data)), best(run, 7)


def short_runs(count: int) -> float:
    """Of runs in memory whose recording is read, each with another seed."""
    scenario = botz.load("differential-circle").with_(time={"duration": 0.5})
    botz.simulate(scenario)
    began = time.perf_counter()
    for seed in range(count):
        rec = botz.simulate(scenario, seed=seed)
        rec["rover/pose"]
    return time.perf_counter() - began


def run() -> list[Result]:
    peer_step, peer_reset, peer_run = mujoco_calls()
    results = step_results(peer_step, peer_reset)
    peer = f"{PEER}, 500 steps in a loop"
    results.append(
        duration("simulate in memory, 500 steps", best(lambda: short_runs(1), 7), "s", peer=peer, peer_value=peer_run)
    )
    results.append(
        duration(
            f"{SHORT_RUNS} short runs in a loop", short_runs(SHORT_RUNS), "s", target=SHORT_TARGET,
            peer=peer, peer_value=SHORT_RUNS * peer_run,
        )
    )  # fmt: skip
    results.append(
        duration("import botz", seconds("-c", "import botz"), "s", peer="import mujoco",
                 peer_value=seconds("-c", "import mujoco"))
    )  # fmt: skip
    return results
