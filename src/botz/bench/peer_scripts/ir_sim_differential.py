"""Run by the peers' own interpreter: steps per second of one differential robot in ir-sim, nothing drawn.

The robot, the step and the command are those of the benchmark in Botz. The last line printed is the result.
"""

import json
import tempfile
import time
from pathlib import Path

import irsim
import numpy as np

WORLD = """
world: {height: 100, width: 100, step_time: 0.001, sample_time: 1000, offset: [-50, -50]}
robot:
  - kinematics: {name: diff}
    shape: {name: circle, radius: 0.2}
    state: [0, 0, 0]
    vel_max: [10, 10]
    vel_min: [-10, -10]
"""
STEPS = 5000

with tempfile.TemporaryDirectory() as folder:
    file = Path(folder) / "world.yaml"
    file.write_text(WORLD)
    env = irsim.make(str(file), display=False, disable_all_plot=True)
    # Wheels of 0.05 m at 2 and 3 rad/s, 0.3 m apart.
    command = np.array([[0.125], [1.0 / 6.0]])
    best = 0.0
    for _ in range(3):
        began = time.perf_counter()
        for _ in range(STEPS):
            env.step(command)
        best = max(best, STEPS / (time.perf_counter() - began))
print(json.dumps({"value": best}))
