"""Reading and setting the state of one multibody robot: its base, where that is free, and its joints."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import mujoco
import numpy as np

from botz.channels import command_numbers
from botz.engines.multibody.parts import RobotParts
from botz.engines.multibody.start import joint_range
from botz.errors import InputError, Problem
from botz.scenario.units import in_both_units
from botz.terrain.height_grid import HeightGrid
from botz.transforms import rotation_from_quaternion

FREE = int(mujoco.mjtJoint.mjJNT_FREE)


class Placed:
    """Where the state of one robot lies in MuJoCo's arrays."""

    def __init__(self, name: str, parts: RobotParts, model: mujoco.MjModel, data: mujoco.MjData):
        self.name, self.data = name, data
        root = model.body(f"{name}/{parts.model.root}")
        self.body = int(root.id)
        joint = int(root.jntadr[0])
        self.free = bool(root.jntnum[0]) and int(model.jnt_type[joint]) == FREE
        self.position = int(model.jnt_qposadr[joint]) if self.free else -1
        self.dof = int(model.jnt_dofadr[joint]) if self.free else -1
        self.joints: dict[str, tuple[int, int]] = {}
        self.ranges: dict[str, tuple[float, float, str]] = {}
        for one, spec in parts.joints.items():
            number = model.joint(f"{name}/{one}").id
            self.joints[one] = int(model.jnt_qposadr[number]), int(model.jnt_dofadr[number])
            self.ranges[one] = *joint_range(spec), "m" if spec.kind == "prismatic" else "rad"

    def of_joints(self) -> dict[str, tuple[float, float]]:
        data = self.data
        return {name: (float(data.qpos[at]), float(data.qvel[dof])) for name, (at, dof) in self.joints.items()}

    def set_base(
        self, pose: Any, twist: Any, present: tuple[np.ndarray, np.ndarray], ground: HeightGrid | None
    ) -> None:
        """`present` are pose and twist before; what is the same, to the bit, is left as it is."""
        pose_before, twist_before = present
        wanted = pose_before if pose is None else self._pose(pose, ground)
        velocity = twist_before
        if twist is not None:
            velocity = command_numbers(twist, 6, f"{self.name}/twist (vx, vy, vz, wx, wy, wz)")
        same_place = np.array_equal(wanted, pose_before)
        if same_place and np.array_equal(velocity, twist_before):
            return
        if not self.free:
            key = f"{self.name}/{'twist' if same_place else 'pose'}"
            raise InputError(Problem("its base is fixed; only its joints can be set", key=key))
        data, at, dof = self.data, self.position, self.dof
        if not np.array_equal(wanted[:3], pose_before[:3]):
            data.qpos[at : at + 3] = wanted[:3]
        turned = not np.array_equal(wanted[3:], pose_before[3:])
        if turned:
            data.qpos[at + 3 : at + 7] = wanted[3:] / np.linalg.norm(wanted[3:])
        if turned or not np.array_equal(velocity, twist_before):
            # MuJoCo has the linear velocity in the world's axes, the angular one in the body's.
            data.qvel[dof : dof + 3] = rotation_from_quaternion(*data.qpos[at + 3 : at + 7]) @ velocity[:3]
            data.qvel[dof + 3 : dof + 6] = velocity[3:]

    def _pose(self, pose: Any, ground: HeightGrid | None) -> np.ndarray:
        wanted = command_numbers(pose, 7, f"{self.name}/pose (x, y, z, quat_wxyz)")
        key = f"{self.name}/pose"
        if not np.linalg.norm(wanted[3:]) > 0.0:
            raise InputError(Problem("the quaternion has no length; (1, 0, 0, 0) is no rotation", key=key))
        if ground is not None:
            x, y = wanted[:2]
            if not (ground.x_min <= x <= ground.x_max and ground.y_min <= y <= ground.y_max):
                ends = f"x {ground.x_min:g} to {ground.x_max:g} m, y {ground.y_min:g} to {ground.y_max:g} m"
                raise InputError(Problem(f"({x:g}, {y:g}) is outside the terrain, {ends}", key=key))
        return wanted

    def set_joints(self, settings: Mapping[str, tuple[float, float | None]]) -> None:
        for name, (position, velocity) in settings.items():
            (at, dof), (lower, upper, unit) = self.joints[name], self.ranges[name]
            if position != self.data.qpos[at] and not lower <= position <= upper:
                shown = [in_both_units(one, unit) for one in (position, lower, upper)]
                message = f"{shown[0]} is outside the range, {shown[1]} to {shown[2]}"
                raise InputError(Problem(message, key=f"{self.name}/{name}"))
            self.data.qpos[at] = position
            if velocity is not None:
                self.data.qvel[dof] = velocity


def follow(model: mujoco.MjModel, data: mujoco.MjData) -> None:
    """Everything that follows from positions and velocities; what the solver remembers for its next step stays."""
    warm = data.qacc_warmstart.copy()
    mujoco.mj_forward(model, data)
    data.qacc_warmstart[:] = warm
