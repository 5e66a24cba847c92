"""Writes the golden trajectories anew: `python tests/golden/regenerate_golden.py`. Nothing else writes them.

Run it after a change that is meant to change trajectories, look at what `git diff` shows, and say why in the
changelog.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

FOLDER = Path(__file__).parent

SCENARIOS = {
    "castor-tractrix": 2.0, "skid-steer-slip": 2.0, "omni-eight": 4.0, "differential-odometry": 2.0, "skid-circle": 0.4,
    "soccer": 0.4, "titan4-line": 4.0, "lophorina-waypoints": 6.0,
}  # fmt: skip
"""Shipped scenarios and how many seconds of them are kept: a table with a passive castor, an over-constrained robot,
feedback control of a robot that moves in all directions, noise, vehicles that start to skid, a kick-off, an arm on a
path through hydraulic valves, and nine bodies with spinning propellers that take off and fly forward."""

COMMANDS: dict[str, dict[str, Any]] = {
    "soccer": {
        "blue0": {"twist": (0.4, 1.0)},
        "blue1": {"left/voltage": 5.0, "right/voltage": 5.0},
        "blue2": {"left/speed": 12.0, "right/speed": 20.0},
        "yellow0": {"left/voltage": -5.0, "right/voltage": -5.5},
        "yellow1": {"left/voltage": 4.0, "right/voltage": 2.0},
        "yellow2": {"twist": (-0.5, 2.0)},
    }
}
"""What robots that nobody drives are told at the start: voltages, wheel speeds and motions; blue1 hits the ball, and
yellow0 a wall."""

SAMPLES = 8


def golden_file(name: str) -> Path:
    return FOLDER / f"{name}.json"


def trajectory(name: str) -> dict[str, Any]:
    """All channels but the centre of rotation, which jumps to infinity between two samples, at a few times."""
    from botz import Simulation

    sim = Simulation(name)
    steps = round(SCENARIOS[name] / (sim.step_ns * 1e-9) / SAMPLES)
    kept: dict[str, list[Any]] = {channel.name: [] for channel in sim.channels if not channel.name.endswith("/icr")}
    for sample in range(SAMPLES):
        values = sim.step(COMMANDS.get(name) if sample == 0 else None, n=steps)
        for channel, series in kept.items():
            series.append(np.asarray(values[channel]).tolist())
    return {"scenario": name, "step_ns": sim.step_ns, "steps": steps, "channels": kept}


def main() -> None:
    for name in SCENARIOS:
        made = trajectory(name)
        lines = ",\n".join(
            f"  {json.dumps(channel)}: {json.dumps(series)}" for channel, series in made["channels"].items()
        )
        head = json.dumps({key: value for key, value in made.items() if key != "channels"})[:-1]
        golden_file(name).write_text(f'{head}, "channels": {{\n{lines}\n}}}}\n', encoding="utf-8")
        print(f"wrote {golden_file(name).name}")


if __name__ == "__main__":
    main()
