"""Runs of engine `arm` to verify with: arms of a few plain joints, written in place, and shipped ones without what is
not looked at."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from botz.engines.arm.engine import ArmEngine
from botz.scenario.arm.schema import ArmScenario
from botz.verify.arm.rig import GRAVITY, Data, shipped
from botz.verify.rig import SoloRig

WEIGHTLESS = [0.0, 0.0, 0.0]
DOWN = [0.0, 0.0, -GRAVITY]


def ideal(data: Data, servo: Mapping[str, Any], *, ranges: bool = False) -> Data:
    """Without friction, with actuators that give any torque at once, and, where asked, without stops and limits."""
    data = {**data, "servo": dict(servo), "gripper": None}
    for joint in data["joints"].values():
        joint["friction"] = {"viscous": 0.0, "coulomb": 0.0}
        joint["actuator"] = {}
        if not ranges:
            joint["range"] = None
            joint["speed"] = None
    return data


def bare(name: str, servo: Mapping[str, Any], **options: Any) -> Data:
    data = ideal(shipped(name), servo, **options)
    data["tool"] = {**data["tool"], "points": []}
    return data


def slider(mass: float, servo: Mapping[str, Any], **changes: Any) -> Data:
    """One joint that slides upwards along the world's z, with a body on it; its tool is at its frame."""
    joint = {"type": "prismatic", "mass": mass, "inertia": [0.1, 0.1, 0.1], **changes.pop("joint", {})}
    return {"engine": "arm", "joints": {"lift": joint}, "servo": dict(servo), **changes}


def wheel(inertia: float, servo: Mapping[str, Any], **joint: Any) -> Data:
    """One joint that turns about the world's z with a balanced body on it."""
    body = {"mass": 1.0, "inertia": [inertia, inertia, inertia]}
    return {"engine": "arm", "joints": {"turn": {**body, **joint}}, "servo": dict(servo)}


class Run(SoloRig[ArmEngine]):
    def command(self, **command: Any) -> Self:
        """`position=…`, `torque=…`; `gripper_opening` and `gripper_force` for what has a stroke in its name."""
        known = {key.replace("gripper_", "gripper/"): np.atleast_1d(value) for key, value in command.items()}
        values = {key: value if len(value) > 1 else value.tolist() for key, value in known.items()}
        self.engine.inputs[self.engine.robot_inputs("r")] = self.engine.resolve_command("r", values)
        return self

    @property
    def arm(self) -> Any:
        return self.engine.arms["r"]


def run_of(
    robot: Data,
    *,
    step: float = 1e-3,
    method: str = "rk4",
    dynamics: str = "composite-body",
    world: Mapping[str, Any] = {},
    **placed: Any,
) -> Run:
    """An arm in a world with gravity downwards, unless the world says otherwise; `placed`: start, start_speed, pose."""
    scenario = ArmScenario.model_validate(
        {
            "engine": "arm",
            "time": {"step": step, "method": method, "forward_dynamics": dynamics},
            "world": {"gravity": DOWN, **world},
            "robots": {"r": {**robot, **placed}},
        }
    )
    engine = ArmEngine(scenario)
    engine.reset(np.random.default_rng(0))
    return Run(engine)
