"""The state of engine `arm`: what a snapshot holds, and nothing else."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from botz.engines.arm.model import TORQUE, Model, bristles_of, poses_of
from botz.kernels import record, words
from botz.robots.serial_arm import SerialArm
from botz.scenario.arm.schema import ArmScenario

JOINT_STATE = record(
    **dict.fromkeys(words("reference reference_speed reference_acceleration rate integral torque"), np.float64)
)
"""The servo's reference (`rate`: it was given as a speed), the integral of its error and the torque of the actuator."""

TOOL_STATE = record(
    **dict.fromkeys(words("opening jaw_rate pressed grip damper held number fx fy fz mx my mz"), np.float64)
)
"""The gripper (`grip`, `damper`: points of a pad that touch, and the damping of each; `held`: which of the boxes, from
1), the number of the last reference taken, and the wrench on the tool (world axes, about its point)."""


class State(NamedTuple):
    q: np.ndarray
    qd: np.ndarray
    joints: np.ndarray
    tools: np.ndarray
    """TOOL_STATE of each arm."""
    poses: np.ndarray
    """Of the objects (k, 13): position, quat_wxyz, velocity (world axes), angular velocity (their own axes)."""
    bristles: np.ndarray
    """Deflection of the friction at each pair of point and surface, (k, 3)."""

    def arrays(self) -> dict[str, np.ndarray]:
        """By name, records field by field."""
        found = {"q": self.q, "qd": self.qd, "poses": self.poses, "bristles": self.bristles}
        found |= {f"joint/{name}": self.joints[name] for name in JOINT_STATE.names or ()}
        return found | {f"arm/{name}": self.tools[name] for name in TOOL_STATE.names or ()}


def start_state(scenario: ArmScenario, arms: dict[str, SerialArm], model: Model) -> State:
    """Where a run begins. Valves start at what holds the arm where it is: no arm falls then."""
    n = len(model.joints)
    state = State(
        q=np.zeros(n),
        qd=np.zeros(n),
        joints=np.zeros(n, dtype=JOINT_STATE),
        tools=np.zeros(len(model.units), dtype=TOOL_STATE),
        poses=poses_of(scenario.world.objects.values()),
        bristles=np.zeros((bristles_of(scenario, model), 3)),
    )
    for unit, tool, (name, robot) in zip(model.units, state.tools, scenario.robots.items(), strict=True):
        span = slice(int(unit.start), int(unit.start + unit.n))
        state.q[span] = robot.start_joints
        state.qd[span] = robot.start_speed if robot.start_speed is not None else 0.0
        state.joints["reference"][span] = state.q[span]
        if unit.servo != TORQUE:
            strongest = model.joints["strongest"][span]
            state.joints["torque"][span] = np.clip(arms[name].gravity(state.q[span]), -strongest, strongest)
        if robot.gripper is not None:
            tool.opening = robot.gripper.opening if robot.gripper.start is None else robot.gripper.start
    return state
