"""Programs of an arm: moves and grips one after the other, planned before the first step."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, assert_never

import numpy as np

from botz.control.arm.joint_path import SLACK, JointPath, Limits, Moment, quintic, trapezoidal
from botz.control.arm.joint_spline import through_points
from botz.control.arm.tool_course import arc, line
from botz.control.arm.tool_path import tool_path, unreachable
from botz.control.base import ControllerSetup, Measured
from botz.errors import InputError, Problem
from botz.robots.arm_records import transform
from botz.robots.serial_arm import SerialArm
from botz.scenario.arm.motion import ArcMove, GripMove, JointMove, LineMove, ProgramController, ProgramStep, WaitMove
from botz.scenario.arm.schema import Gripper, PlacedArm
from botz.scenario.units import in_both_units


@dataclass(frozen=True)
class Grip:
    """What the gripper is told, and when."""

    time: float
    """[s]"""
    opening: float
    """[m]"""
    force: float
    """[N]"""


@dataclass(frozen=True)
class Plan:
    """A program in time."""

    path: JointPath
    starts: tuple[float, ...]
    """When each step begins [s]."""
    grips: tuple[Grip, ...]
    """In order."""

    @property
    def duration(self) -> float:
        return self.path.duration

    def at(self, t: Any) -> Moment:
        """Positions, speeds and accelerations of the joints at a time, (n) each, or at an array of times, (N, n). From
        the end on the arm rests."""
        return self.path.at(t)

    def grip_at(self, t: float) -> Grip | None:
        """What the gripper was told last; None: nothing yet."""
        count = bisect_right(self.grips, t, key=lambda grip: grip.time)
        return self.grips[count - 1] if count else None


def plan(arm: SerialArm, start: Any, steps: Sequence[ProgramStep], gripper: Gripper | None = None) -> Plan:
    """The program from joints at rest at `start`; `gripper` is the robot's own where none is given. InputError with
    keys as `steps[3].pose` where it cannot be done."""
    gripper = gripper or arm.robot.gripper
    limits = Limits.of(arm)
    q = np.array(start, dtype=float)
    problems = [*_misfits(limits, q, "start"), *_all_misfits(limits, steps, gripper)]
    if problems:
        raise InputError(problems)
    paths: list[JointPath] = []
    starts: list[float] = []
    grips: list[Grip] = []
    time = 0.0
    for number, step in enumerate(steps):
        try:
            path = _path(arm, limits, q, step)
        except InputError as error:
            raise InputError([_placed(problem, f"steps[{number}]") for problem in error.problems]) from error
        if isinstance(step, GripMove):
            assert gripper is not None
            grips.append(Grip(time, step.opening, gripper.force if step.force is None else step.force))
        starts.append(time)
        paths.append(path)
        time += path.duration
        q = path.end
    return Plan(JointPath.joined(paths or [JointPath.hold(q, 0.0)]), tuple(starts), tuple(grips))


def _path(arm: SerialArm, limits: Limits, q: np.ndarray, step: ProgramStep) -> JointPath:
    match step:
        case JointMove():
            end = np.array(step.to) if step.to is not None else _nearest(arm, step.pose, q)
            if step.through:
                return through_points(np.array([q, *step.through, end]), limits, step.duration)
            profile = quintic if step.profile == "quintic" else trapezoidal
            return profile(q, end, limits, step.duration)
        case LineMove() | ArcMove():
            begin, end = arm.forward(q), transform(step.pose)
            course = line(begin, end) if isinstance(step, LineMove) else arc(begin, np.array(step.through), end)
            return tool_path(arm, course, q, speed=step.speed, turn_rate=step.turn_rate, duration=step.duration)
        case GripMove() | WaitMove():
            return JointPath.hold(q, step.duration)
        case _:
            assert_never(step)


def _nearest(arm: SerialArm, pose: Any, q: np.ndarray) -> np.ndarray:
    """The solution that is nearest to the present joints."""
    found = arm.inverse(transform(pose), present=q)
    if not found:
        raise InputError(Problem(f"no joint positions reach it: {unreachable(arm, transform(pose), q)}", key="pose"))
    return found.best


# --- mistakes that show before anything is planned -------------------------------------------------------------------


def _all_misfits(limits: Limits, steps: Sequence[ProgramStep], gripper: Gripper | None) -> Iterable[Problem]:
    for number, step in enumerate(steps):
        key = f"steps[{number}]"
        if isinstance(step, JointMove):
            if step.to is not None:
                yield from _misfits(limits, step.to, f"{key}.to")
            for k, point in enumerate(step.through):
                yield from _misfits(limits, point, f"{key}.through[{k}]")
        elif isinstance(step, GripMove) and gripper is None:
            yield Problem("this robot has no gripper", key=key)
        elif isinstance(step, GripMove) and gripper is not None:
            if step.opening > gripper.opening:
                yield Problem(f"{step.opening:g} m; the gripper opens to {gripper.opening:g} m", key=f"{key}.opening")
            if step.force is not None and step.force > gripper.force:
                yield Problem(f"{step.force:g} N; the gripper has {gripper.force:g} N", key=f"{key}.force")


def _misfits(limits: Limits, q: Any, key: str) -> Iterable[Problem]:
    if len(q) != len(limits.names):
        yield Problem(f"{len(q)} numbers for {len(limits.names)} joints", key=key)
        return
    for i, (value, name) in enumerate(zip(q, limits.names, strict=True)):
        low, high = limits.lower[i], limits.upper[i]
        if not low - SLACK <= value <= high + SLACK:
            shown = [in_both_units(entry, limits.units[i]) for entry in (value, low, high)]
            text = f"{shown[0]} is outside the range of {name}, {shown[1]} to {shown[2]}"
            yield Problem(text, key=f"{key}[{i}]")


def _placed(problem: Problem, step: str) -> Problem:
    return Problem(problem.message, key=f"{step}.{problem.key}" if problem.key else step)


# --- the controller --------------------------------------------------------------------------------------------------


class ArmProgram:
    """Gives the references of a plan. What it gives follows from the time alone: there is no state to keep."""

    def __init__(self, spec: ProgramController):
        self.spec = spec

    def reset(self, setup: ControllerSetup) -> None:
        robot, arm = arm_of(setup, self.spec.type)
        start, steps = robot.start_joints, list(self.spec.steps)
        if self.spec.loop:
            steps.append(JointMove(type="joints", to=start))
        self.period = setup.period
        self.plan = plan(arm, start, steps, robot.gripper)
        self.loops = self.spec.loop and self.plan.duration > 0.0

    def update(self, t: float, measured: Measured) -> dict[str, Any] | None:
        duration = self.plan.duration
        rounds, now = divmod(t, duration) if self.loops else (0.0, t)
        # Nothing changes after the end; said twice, so that rounding of the time cannot skip it.
        if now > duration + 2.0 * self.period:
            return None
        position, speed, acceleration = self.plan.at(now)
        command: dict[str, Any] = {"position": position, "speed": speed, "acceleration": acceleration}
        grips = self.plan.grips
        if grips:
            grip = self.plan.grip_at(now) or (grips[-1] if rounds else None)
            if grip is not None:
                command["gripper/opening"] = grip.opening
                command["gripper/force"] = grip.force
        return command

    def snapshot(self) -> dict[str, Any]:
        return {}

    def restore(self, saved: dict[str, Any]) -> None:
        """The plan is made anew by reset; the rest follows from the time."""


def arm_of(setup: ControllerSetup, kind: str) -> tuple[PlacedArm, SerialArm]:
    """The robot's description and the arm to compute with; InputError where it is no arm."""
    robot = getattr(getattr(setup.engine, "scenario", None), "robots", {}).get(setup.robot)
    arm = getattr(setup.engine, "arms", {}).get(setup.robot)
    if not isinstance(robot, PlacedArm) or not isinstance(arm, SerialArm):
        message = f"{kind!r} drives robots of engine 'arm', not of {setup.engine.name!r}"
        raise InputError(Problem(message, key=setup.robot))
    return robot, arm
