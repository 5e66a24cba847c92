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
}  # fmt: skip
"""Shipped scenarios and how many seconds of them are kept: a table with a passive castor, an over-constrained
robot, feedback control of a robot that moves in all directions, noise, and vehicles that start to skid."""

SAMPLES = 8


def golden_file(name: str) -> Path:
    return FOLDER / f"{name}.json"


def trajectory(name: str) -> dict[str, Any]:
    """All channels but the centre of rotation, which jumps to infinity between two samples, at a few times."""
    from botz import Simulation

    sim = Simulation(name)
    steps = round(SCENARIOS[name] / (sim.step_ns * 1e-9) / SAMPLES)
    kept: dict[str, list[Any]] = {channel.name: [] for channel in sim.channels if not channel.name.endswith("/icr")}
    for _ in range(SAMPLES):
        values = sim.step(n=steps)
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
