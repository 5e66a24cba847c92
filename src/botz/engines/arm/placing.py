"""Reading and setting where one arm or one object of engine `arm` is, between two steps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from botz.channels import command_numbers
from botz.engines.arm.boxes import PATCH
from botz.engines.arm.checks import inside_of
from botz.engines.arm.model import CORNERS, LANES, Model, axes_of_all, poses_of
from botz.engines.arm.state import State
from botz.engines.base import RobotState
from botz.errors import InputError, Problem
from botz.robots.serial_arm import SerialArm
from botz.scenario.arm.schema import ArmScenario
from botz.scenario.names import closest

OPENING = "gripper/opening"
"""A gripper counts as a joint of this name."""
DEEPEST = 0.01
"""How deep a tool may be put into something: pads sink into what they hold by up to 8 mm [m]."""
STILL = 1e-9
"""How far the base of an arm may be from where it stands, and a velocity of it from none."""


class Placing:
    """All of a scenario's arms and objects, to be read and set in `state`."""

    def __init__(self, scenario: ArmScenario, arms: Mapping[str, SerialArm], model: Model, state: State):
        self.scenario, self.arms, self.model, self.state = scenario, arms, model, state
        self.robots, self.objects = list(scenario.robots), list(scenario.world.objects)

    def index(self, name: str) -> tuple[bool, int]:
        """Whether it is an arm, and its number."""
        if name in self.robots:
            return True, self.robots.index(name)
        if name in self.objects:
            return False, self.objects.index(name)
        raise InputError(Problem(f"no robot or object {name!r}{closest(name, [*self.robots, *self.objects])}"))

    def span(self, u: int) -> slice:
        unit = self.model.units[u]
        return slice(int(unit.start), int(unit.start + unit.n))

    # --- reading ---------------------------------------------------------------------------------------------

    def get(self, name: str) -> RobotState:
        is_arm, k = self.index(name)
        if not is_arm:
            pose = self.state.poses[k]
            linear = axes_of_all(pose[None])[0].reshape(3, 3) @ pose[7:10]
            return RobotState(pose=pose[:7].copy(), twist=np.concatenate([linear, pose[10:]]), joints={})
        robot, span, tool = self.scenario.robots[name], self.span(k), self.state.tools[k]
        values = zip(self.state.q[span].tolist(), self.state.qd[span].tolist(), strict=True)
        joints = dict(zip(robot.joints, values, strict=True))
        if robot.gripper is not None:
            joints[OPENING] = (float(tool.opening), float(tool.jaw_rate))
        return RobotState(pose=poses_of([robot])[0, :7], twist=np.zeros(6), joints=joints)

    # --- setting ---------------------------------------------------------------------------------------------

    def set(
        self,
        name: str,
        pose: Sequence[float] | None,
        twist: Sequence[float] | None,
        joints: Mapping[str, float | tuple[float, float]] | None,
    ) -> None:
        is_arm, k = self.index(name)
        now = self.get(name)
        given_pose = now.pose if pose is None else normalised(pose, now.pose, f"{name}/pose")
        given_twist = now.twist if twist is None else command_numbers(twist, 6, f"{name}/twist")
        if joints is not None and not isinstance(joints, Mapping):
            raise InputError(Problem(f"a mapping of joints to numbers, not {joints!r}", key=f"{name}/joints"))
        if is_arm:
            self._set_arm(name, k, now, given_pose, given_twist, joints or {})
        elif joints:
            raise InputError(Problem("an object has no joints", key=f"{name}/{next(iter(joints))}"))
        else:
            self._set_object(name, k, now, given_pose, given_twist)

    def _set_arm(
        self, name: str, u: int, now: RobotState, pose: np.ndarray, twist: np.ndarray, joints: Mapping[str, Any]
    ) -> None:
        """What it touches is forgotten where it is moved; its reference stays, like every command."""
        same = min(np.abs(pose - now.pose).max(), np.abs(pose * [1, 1, 1, -1, -1, -1, -1] - now.pose).max())
        if same > STILL:
            message = f"its base stands at {now.pose.tolist()} and does not move; set its joints"
            raise InputError(Problem(message, key=f"{name}/pose"))
        if np.abs(twist).max() > STILL:
            raise InputError(Problem("its base does not move; set the speeds of its joints", key=f"{name}/twist"))
        new = {**now.joints}
        for joint, value in joints.items():
            if joint not in new:
                raise InputError(Problem(f"no joint {joint!r}{closest(joint, new)}", key=name))
            new[joint] = self._joint(name, u, joint, value, now.joints[joint])
        opening, rate = new.pop(OPENING, (0.0, 0.0))
        q, qd = np.array(list(new.values())).T
        span, tool = self.span(u), self.state.tools[u]
        if q.tobytes() != self.state.q[span].tobytes() or opening != tool.opening:
            points, radii = self._tool_points(u, q, opening)
            for b, place in enumerate(np.concatenate([self.model.fixed_poses, self.state.poses])):
                self._check_tool(name, points, radii, b, place, name)
            for plane, what in zip(self.model.planes, self.scenario.world.planes, strict=True):
                depth = plane.offset - points @ [plane.nx, plane.ny, plane.nz] + radii
                if depth.max(initial=-np.inf) > DEEPEST:
                    raise InputError(Problem(f"its tool would be {depth.max():.3g} m inside {what}", key=name))
            self._forget_tool(u)
        self.state.q[span], self.state.qd[span] = q, qd
        tool.opening, tool.jaw_rate = opening, rate

    def _joint(self, name: str, u: int, joint: str, value: Any, now: tuple[float, float]) -> tuple[float, float]:
        key = f"{name}/{joint}"
        pair = isinstance(value, tuple | list | np.ndarray)
        numbers = command_numbers(value, 2 if pair else 1, key)
        position, speed = float(numbers[0]), float(numbers[1]) if pair else now[1]
        unit = self.model.units[u]
        if joint == OPENING:
            lower, upper, fastest = 0.0, float(unit.widest), float(unit.jaw_speed)
        else:
            link = self.model.links[unit.start + list(self.scenario.robots[name].joints).index(joint)]
            lower, upper, fastest = float(link.lower), float(link.upper), np.inf
        if position != now[0] and not lower <= position <= upper:
            raise InputError(Problem(f"{position:g} is outside its range, {lower:g} to {upper:g}", key=key))
        if speed != now[1] and abs(speed) > fastest:
            raise InputError(Problem(f"a speed of {speed:g} is too fast; at most {fastest:g}", key=key))
        return position, speed

    def _set_object(self, name: str, k: int, now: RobotState, pose: np.ndarray, twist: np.ndarray) -> None:
        """The friction of what touches it is forgotten where it is moved."""
        b = len(self.model.fixed_poses) + k
        moves = pose.tobytes() != now.pose.tobytes()
        if not moves and twist.tobytes() == now.twist.tobytes():
            return
        new = self.state.poses.copy()
        axes = axes_of_all(np.concatenate([pose, np.zeros(6)])[None])[0].reshape(3, 3)
        new[k] = np.concatenate([pose, twist[:3] @ axes, twist[3:]])
        if moves:
            for depth, other in inside_of(self.scenario, self.model, new, k):
                raise InputError(Problem(f"would be {depth:.3g} m inside {other}", key=f"{name}/pose"))
            for u, robot in enumerate(self.robots):
                tool = self._tool_points(u, self.state.q[self.span(u)], float(self.state.tools[u].opening))
                self._check_tool(robot, *tool, b, new[k], f"{name}/pose")
            for slots in self._bristles_of(b):
                self.state.bristles[slots] = 0.0
            for holder in np.flatnonzero(self.state.tools["held"] == b + 1):
                self._forget_tool(int(holder))
        self.state.poses[k] = new[k]

    # --- what touches what -----------------------------------------------------------------------------------

    def _tool_points(self, u: int, q: np.ndarray, opening: float) -> tuple[np.ndarray, np.ndarray]:
        """Points of a tool and its pads in the world, and their radii."""
        unit = self.model.units[u]
        blocks = self.model.points[unit.first_block : unit.first_block + unit.blocks]
        real = blocks["radius"] >= 0.0
        local = np.stack([blocks["x"], blocks["y"] + 0.5 * opening * blocks["jaw"], blocks["z"]], axis=-1)[real]
        tool = self.arms[self.robots[u]].forward(q)
        return local @ tool[:3, :3].T + tool[:3, 3], blocks["radius"][real]

    def _check_tool(
        self, robot: str, points: np.ndarray, radii: np.ndarray, b: int, pose: np.ndarray, key: str
    ) -> None:
        """No point of a tool deep inside a box."""
        box = self.model.boxes[b]
        beyond = np.abs((points - pose[:3]) @ axes_of_all(pose[None])[0].reshape(3, 3).T) - [box.hx, box.hy, box.hz]
        outside = np.linalg.norm(np.maximum(beyond, 0.0), axis=1)
        depth = radii - outside - np.minimum(beyond.max(axis=1), 0.0)
        if depth.max(initial=-np.inf) > DEEPEST:
            what = [*self.scenario.world.boxes, *self.objects][b]
            raise InputError(Problem(f"the tool of {robot} would be {depth.max():.3g} m inside {what}", key=key))

    def _forget_tool(self, u: int) -> None:
        unit, tool = self.model.units[u], self.state.tools[u]
        surfaces = len(self.model.planes) + len(self.model.boxes)
        first = int(unit.first_bristle)
        self.state.bristles[first : first + LANES * int(unit.blocks) * surfaces] = 0.0
        for field in ("pressed", "grip", "damper", "held", "fx", "fy", "fz", "mx", "my", "mz"):
            tool[field] = 0.0

    def _bristles_of(self, b: int) -> Iterator[slice]:
        """Where the friction at one box is kept: with the tools, then in the order of `press_objects`."""
        planes, fixed = len(self.model.planes), len(self.model.fixed_poses)
        for unit in self.model.units:
            points = LANES * int(unit.blocks)
            first = int(unit.first_bristle) + (planes + b) * points
            yield slice(first, first + points)
        slot = int(self.model.world[0].first_bristle)
        for one in range(fixed, len(self.model.boxes)):
            if one == b:
                yield slice(slot, slot + CORNERS * planes)
            slot += CORNERS * planes
            for other in range(one):
                if b in (one, other):
                    yield slice(slot, slot + PATCH)
                slot += PATCH


def normalised(pose: Sequence[float], now: np.ndarray, key: str) -> np.ndarray:
    """A pose with a quaternion of length 1; the present one to the bit where that is what is given."""
    numbers = command_numbers(pose, 7, key)
    if numbers.tobytes() == now.tobytes():
        return now
    length = float(np.linalg.norm(numbers[3:]))
    if length == 0.0 or not np.isfinite(length):
        raise InputError(Problem(f"a quaternion of length {length:g} is no attitude", key=key))
    return np.concatenate([numbers[:3], numbers[3:] / length])
