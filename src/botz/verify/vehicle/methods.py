"""Both methods of the engine `vehicle` integrate one model: on every shipped scenario they approach one trajectory."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise

import numpy as np

from botz.engines.vehicle.engine import VehicleEngine
from botz.scenario import library
from botz.scenario.load import load
from botz.scenario.vehicle.schema import VehicleScenario
from botz.verify.checks import FAST, Check, close
from botz.verify.rig import EngineRig
from botz.verify.vehicle.rig import GRAVITY, Data, rig, vivi

STEP, FINER = 1e-4, 5
"""Of the coarse run [s], and how many times shorter the steps of the other one are."""
VOLTAGES = {"left": 7.0, "right": 9.0}
"""Of the motors of each side."""
SECONDS: dict[str, float] = {
    "drop-test": 0.6, "rollover": 0.4, "skid-circle": 0.4, "vivi-half-pipe": 0.3, "vivi-ramp": 0.4, "vivi-rough": 0.3,
    "vivi-step": 0.4,
}  # fmt: skip
"""From the start, or from PLACES: long enough for what the scenario shows."""
PLACES: dict[str, Data] = {
    "vivi-ramp": {"position": [0.6, 0.0], "velocity": [0.5, 0.0, 0.0]},
    "vivi-step": {"position": [0.6, 0.0], "velocity": [0.5, 0.0, 0.0]},
    "rollover": {"position": [0.7, 0.0], "velocity": [0.5, 0.0, 0.0]},
}


def vehicle_scenarios() -> list[str]:
    return [name for name in library.names("scenario") if isinstance(load(name).spec, VehicleScenario)]


@lru_cache(maxsize=64)
def ends(name: str, method: str, step: float, seconds: float) -> dict[str, np.ndarray]:
    """Poses at the end of a run with constant voltages, by robot."""
    data = load(name).spec.model_dump(mode="json")
    data["controllers"] = {}
    data["time"] |= {"step": step, "method": method}
    for robot in data["robots"].values():
        robot |= PLACES.get(name, {})
    engine = VehicleEngine(VehicleScenario.model_validate(data))
    engine.reset(np.random.default_rng(0))
    for robot_name, spec in engine.scenario.robots.items():
        volts = {f"{motor}/voltage": VOLTAGES["right" if "right" in motor else "left"] for motor in spec.motors}
        engine.inputs[engine.robot_inputs(robot_name)] = engine.resolve_command(robot_name, volts)
    made = EngineRig(engine).run(seconds)
    return {robot: made.value(f"{robot}/pose").copy() for robot in engine.scenario.robots}


def methods_agree(samples: int) -> Iterator[Check]:
    """x(h) = x* + c h of semi-implicit steps, and rk4's limit is the same x*: at h/5 the methods differ by c h/5, which
    is a quarter of |x(h) − x(h/5)|."""
    longer = 3.0 if samples > FAST else 1.0
    for name in vehicle_scenarios():
        seconds = longer * SECONDS.get(name, 0.3)
        coarse, fine = (ends(name, "semi-implicit", STEP / k, seconds) for k in (1, FINER))
        limit = ends(name, "rk4", STEP / FINER, seconds)
        for robot in coarse:
            case = f"{name}, {robot}"
            gap = float(np.max(np.abs(coarse[robot] - fine[robot])))
            apart = float(np.max(np.abs(fine[robot] - limit[robot])))
            why = f"First order: {gap / 4:.1e}; edges of cells and slices fall elsewhere in the steps: twice that."
            yield close(f"{case}: semi-implicit and rk4 at {STEP / FINER:g} s, pose", 0.0, apart, gap / 2, why)


def order_of(gaps: list[float]) -> float:
    """By the longest and the shortest step."""
    return float(np.log(gaps[0] / gaps[-1]) / np.log(FINER ** (len(gaps) - 1)))


FALLS = "Where edges and corners fall in the steps may change the last difference by a factor of 2: ln 2/ln 25."
SHORT = float(np.log(2.0) / np.log(25.0))
"""By how much an order over two divisions of the step by FINER may be short of 1."""


def difference_shrinks(samples: int) -> Iterator[Check]:
    """D(h) = |x_A − x_B| = c h of two methods of one model, of which one is of first order: over h, h/5, h/25."""
    del samples
    for name in vehicle_scenarios():
        seconds = SECONDS.get(name, 0.3)
        pairs = [
            [ends(name, method, STEP / FINER**k, seconds) for method in ("semi-implicit", "rk4")] for k in range(3)
        ]
        for robot in pairs[0][0]:
            gaps = [float(np.max(np.abs(one[robot] - other[robot]))) for one, other in pairs]
            case = f"{name}, {robot}: order of the methods' difference short of 1"
            why = f"D = {', '.join(f'{gap:.1e}' for gap in gaps)}. {FALLS}"
            yield close(case, 0.0, max(1.0 - order_of(gaps), 0.0), SHORT, why)


WALL: Data = {"type": "step", "at": 1.0, "height": 1.0, "resolution": 0.01, "x": [-2.0, 2.0], "y": [-2.0, 2.0]}
ROUGH: Data = {"type": "rough", "iso_class": "D", "x": [-3, 3], "y": [-3, 3], "resolution": 0.05, "seed": 8608}
BOX: Data = {"mass": 25.0, "front": 0.3, "rear": 0.25, "left": 0.15, "right": 0.15, "top": 0.1, "bottom": 0.06}
HITS: dict[str, tuple[Data, Data, float | None, float]] = {
    "wheels into a wall": ({}, {"terrain": WALL, "position": [0.6, 0.0], "velocity": [1.0, 0.2, 0.0]}, 9.0, 0.4),
    "chassis into a wall": (
        {"chassis": BOX}, {"terrain": WALL, "position": [0.5, 0.0], "velocity": [2.0, 0.0, 0.0]}, None, 0.3,
    ),
    "onto its roof": (
        {}, {"position": [0.0, 0.0, 0.2], "attitude": [3.0, 0.1, 0.0], "velocity": [1.0, -1.0, 0.0]}, None, 0.4,
    ),
    "from 0.5 m onto rough ground": (
        {}, {"terrain": ROUGH, "position": [0.5, -0.3, 0.65], "attitude": [0.05, 0.1, 0.4]}, 8.0, 0.6,
    ),
}  # fmt: skip
"""Changes of the vehicle, its start, its voltages, and duration: what no shipped scenario meets within its check."""


def difference_shrinks_at_walls_and_corners(samples: int) -> Iterator[Check]:
    """D(h) = c h as well where wheels press into walls, corners hit the ground and slide, and a vehicle is dropped."""
    del samples
    for case, (changes, start, volts, seconds) in HITS.items():
        gaps, held = [], 0.0
        for k in range(3):
            poses = []
            for method in ("semi-implicit", "rk4"):
                made = rig(vivi(**changes), step=STEP / FINER**k, method=method, **start)
                if volts is not None:
                    made.command(voltages=volts)
                rows = made.record(seconds, 10 * FINER**k)
                poses.append(made.value("pose", rows)[-1])
                held = max(held, *(float(np.max(made.value(f"energy/{part}", rows))) for part in ("walls", "corners")))
            gaps.append(float(np.max(np.abs(poses[0] - poses[1]))))
        why = f"D = {', '.join(f'{gap:.1e}' for gap in gaps)}; walls and corners held up to {held:.2g} J. {FALLS}"
        short = max(1.0 - order_of(gaps), 0.0) if held > 0.0 else np.nan
        yield close(f"VIVI {case}: order of the methods' difference short of 1", 0.0, short, SHORT, why)


GROOVES: Data = {
    "type": "formula", "expression": "0.3*abs(abs(x)-0.22) + 0.14*y", "x": [-2.0, 2.0], "y": [-2.0, 2.0],
    "resolution": 0.02,
}  # fmt: skip


def parked_in_grooves(samples: int) -> Iterator[Check]:
    """VIVI stands still across a slope of 8° with each wheel in a groove, whose flanks it touches in turn: a load that
    goes to and fro takes no stretch from the tread."""
    del samples
    for method in ("semi-implicit", "rk4"):
        for h in (2e-4, 1e-4):
            made = rig(vivi(), terrain=GROOVES, step=h, method=method).command(voltages=0.0).run(1.0)
            start = made.value("pose")[1]
            made.run(1.0)
            creeps = abs(made.value("pose")[1] - start)
            load, stiffness = 100.0, 6000.0
            why = (
                "A flank's depth swings by g h² at most in two steps, the load by k g h²: of the tread's stretch, all"
                " of the way it gave, k g h/(2 N) is lost per second. It was 5e-3 m/s, and more with shorter steps."
            )
            bound = abs(start) * stiffness * GRAVITY * h / (2.0 * load)
            yield close(f"parked in grooves, {method} at {h:g} s: creeps by [m/s]", 0.0, creeps, bound, why)


def driven(volts: float, step: float, seconds: float, start: Data) -> np.ndarray:
    made = rig(vivi(), step=step, method="rk4", contact={"tolerance": 1e-12}, **start)
    made.command(voltages=volts).run(seconds)
    return np.concatenate([made.value("pose"), made.value("twist"), made.each("speed")])


def order_with_battery(samples: int) -> Iterator[Check]:
    """Error C h⁴ of rk4 with VIVI's battery and current limit on level ground while the equations have no corner: no
    driver comes to its limit or leaves it, no slip changes sign. A corner costs C h² in the step that meets it."""
    del samples
    rolling: Data = {"velocity": [0.5, 0.0, 0.0]}
    for case, volts, seconds in (("below their limit", 8.0, 1e-2), ("at their limit", 16.0, 1e-3)):
        ends_of = [driven(volts, h, seconds, rolling) for h in (2e-4, 1e-4, 5e-5)]
        gaps = [float(np.max(np.abs(a - b))) for a, b in pairwise(ends_of)]
        why = "The next term is smaller by w h, with w = 500 /s of the driven tread on its wheel: log₂(1 + w h) = 0.14."
        yield close(f"VIVI's battery, motors {case}, rk4: order", 4.0, float(np.log2(gaps[0] / gaps[1])), 0.14, why)
    steps = [2e-4 / 2**k for k in range(7)]
    ends_of = [driven(9.0, h, 1e-2, {}) for h in steps]
    gaps = [float(np.max(np.abs(a - b))) for a, b in pairwise(ends_of)]
    order = float(np.polyfit(np.log(steps[:-1]), np.log(gaps), 1)[0])
    why = "C h² or better over six halvings; where the corner falls in a step moves each gap by a factor of 2 or 3."
    name = "VIVI's battery, from rest past the current limit, rk4: order short of 2"
    yield close(name, 0.0, max(2.0 - order, 0.0), 0.25, why)


FUNCTIONS = (
    methods_agree,
    difference_shrinks,
    difference_shrinks_at_walls_and_corners,
    parked_in_grooves,
    order_with_battery,
)
