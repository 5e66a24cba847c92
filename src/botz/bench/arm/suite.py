"""Speed of serial arms: kinematics and dynamics of the Titan IV and the PUMA 560 next to peers, and simulation."""

from __future__ import annotations

from botz.bench.arm import functions as arm_functions
from botz.bench.arm import simulation as arm_simulation
from botz.bench.results import Result

ROBOTS = ("titan4", "puma560")


def run() -> list[Result]:
    return [*(row for robot in ROBOTS for row in arm_functions.rows_of(robot)), *arm_simulation.rows()]
