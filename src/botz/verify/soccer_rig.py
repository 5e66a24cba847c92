"""Matches to verify with: robots of random parameters, placed and pushed at will; and their equations in plain NumPy.

Nothing here asks the engine for M, B or a gap: the matrices come from the source's eqs. 4 to 7, the overlaps from the
vertices of the squares.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from botz.engines.soccer import SoccerEngine, put
from botz.scenario.load import load_robot
from botz.scenario.soccer import SoccerScenario

Data = dict[str, Any]
Pair = tuple[float, float]
"""Restitution and friction."""

KINDS = ("ball_wall", "robot_wall", "robot_ball", "robot_robot")
SLOW = 1e-20
"""Stall torque of motors that neither drive nor brake [N·m]: what they take in a step is far below rounding."""
HUGE: Data = {"length": 900.0, "width": 900.0, "goal_width": 0.4}
"""A field whose walls nobody reaches."""
ELASTIC: Mapping[str, Pair] = dict.fromkeys(KINDS, (1.0, 0.0))


# --- robots ----------------------------------------------------------------------------------------------------------


def shipped() -> Data:
    data = copy.deepcopy(load_robot("soccer-robot").data)
    data.pop("wheel", None)
    return data


def free_robot(**changes: Any) -> Data:
    """The shipped robot on motors that do nothing: it rolls on for ever."""
    data = {**shipped(), **changes}
    for wheel in data["wheels"].values():
        wheel["motor"]["stall_torque"] = SLOW
    return data


def random_robot(rng: np.random.Generator, *, free: bool = False, gain: float = 0.0) -> Data:
    """Two wheels and two motors that have nothing in common; `free`: motors that do nothing."""
    side = float(rng.uniform(0.05, 0.12))

    def wheel() -> Data:
        motor = {
            "voltage": float(rng.uniform(3.0, 24.0)),
            "no_load_speed": float(rng.uniform(20.0, 120.0)),
            "stall_torque": SLOW if free else float(10.0 ** rng.uniform(-1.7, -0.7)),
            "rotor_inertia": float(10.0 ** rng.uniform(-7.0, -5.0)),
            "friction": 0.0 if free else float(10.0 ** rng.uniform(-6.0, -4.0)),
        }
        return {"radius": float(rng.uniform(0.01, 0.04)), "mass": float(rng.uniform(0.0, 0.05)), "motor": motor}

    return {
        "engine": "soccer",
        "side": side,
        "mass": float(rng.uniform(0.05, 1.0)),
        "inertia": None if rng.random() < 0.5 else float(10.0 ** rng.uniform(-4.0, -2.5)),
        "track": side * float(rng.uniform(0.5, 1.0)),
        "wheels": {"left": wheel(), "right": wheel()},
        "linear_friction": 0.0 if free else float(rng.uniform(0.0, 0.3)),
        "turning_friction": 0.0 if free else float(rng.uniform(0.0, 3e-4)),
        "speed_control": {"gain": gain},
    }


@dataclass(frozen=True)
class Model:
    """K e = M v̇ + B v of a robot, v = (v, ω), e = (left, right), by the source's matrices."""

    mass: np.ndarray
    drag: np.ndarray
    push: np.ndarray
    to_wheels: np.ndarray
    """From (v, ω) to the wheels' speeds (left, right): the inverse of eq. 1."""

    @property
    def inverse(self) -> np.ndarray:
        return np.linalg.inv(self.mass)

    def steady(self, voltages: Sequence[float] | np.ndarray) -> np.ndarray:
        return np.asarray(np.linalg.solve(self.drag, self.push @ np.asarray(voltages)))

    def rates(self, gain: float = 0.0) -> np.ndarray:
        """Eigenvalues of M⁻¹B, with speed control as further damping."""
        drag = self.drag + gain * self.push @ np.diag(self.constants) @ self.to_wheels
        return np.asarray(np.linalg.eigvals(np.linalg.solve(self.mass, drag)).real)

    constants: np.ndarray
    """K of the motors, left and right [V·s/rad]."""

    def after(self, start: np.ndarray, voltages: Sequence[float], time: float) -> np.ndarray:
        """v(t) = v_∞ + exp(−M⁻¹B t)(v₀ − v_∞), by eigenvalues."""
        settled = self.steady(voltages)
        values, vectors = np.linalg.eig(np.linalg.solve(self.mass, self.drag))
        share = np.linalg.solve(vectors, start - settled)
        return np.asarray((settled + vectors @ (np.exp(-values * time) * share)).real)

    def energy(self, u: np.ndarray) -> float:
        return float(0.5 * u @ self.mass @ u)


def model_of(robot: Mapping[str, Any]) -> Model:
    """Eqs. 4 to 7 as matrix products."""
    wheels = [robot["wheels"][side] for side in ("left", "right")]
    radius = np.array([wheel["radius"] for wheel in wheels])
    masses = np.array([wheel["mass"] for wheel in wheels])
    constants = np.array([wheel["motor"]["voltage"] / wheel["motor"]["no_load_speed"] for wheel in wheels])
    stall = np.array([wheel["motor"]["stall_torque"] for wheel in wheels])
    volts = np.array([wheel["motor"]["voltage"] for wheel in wheels])
    resistance = constants * volts / stall
    rotor = np.array([wheel["motor"].get("rotor_inertia", 0.0) for wheel in wheels])
    friction = np.array([wheel["motor"].get("friction", 0.0) for wheel in wheels])
    half = 0.5 * robot["track"]
    to_wheels = np.array([[1.0, -half], [1.0, half]]) / radius[:, None]
    inertia = robot.get("inertia")
    if inertia is None:
        inertia = robot["mass"] * robot["side"] ** 2 / 6.0 + masses.sum() * half**2
    body = np.diag([robot["mass"] + masses.sum(), inertia])
    own_drag = np.diag([robot.get("linear_friction", 0.0), robot.get("turning_friction", 0.0)])
    spinning = np.diag(0.5 * masses * radius**2 + rotor)
    braking = np.diag(constants**2 / resistance + friction)
    return Model(
        mass=body + to_wheels.T @ spinning @ to_wheels,
        drag=own_drag + to_wheels.T @ braking @ to_wheels,
        push=to_wheels.T @ np.diag(constants / resistance),
        to_wheels=to_wheels,
        constants=constants,
    )


# --- matches ---------------------------------------------------------------------------------------------------------


@dataclass
class Rig:
    """A match whose bodies are put wherever a check wants them."""

    engine: SoccerEngine
    done: int = 0

    @property
    def names(self) -> list[str]:
        return self.engine.names

    def reset(self) -> Rig:
        """Robots out of play and without voltage, the ball at rest where it starts, nothing counted."""
        self.engine.reset(np.random.default_rng(0))
        self.engine.records.robots["playing"] = 0.0
        self.done = 0
        return self

    def robot(self, index: int, pose: Sequence[float], v: float = 0.0, w: float = 0.0) -> Rig:
        records = self.engine.records
        put(records.robots[index], *pose)
        records.robots[index].playing = 1.0
        records.bodies[index].u0, records.bodies[index].u1 = v, w
        records.match[0].drift = np.inf  # whoever was its neighbour is not any more
        return self

    def ball(self, x: float, y: float, vx: float = 0.0, vy: float = 0.0) -> Rig:
        records = self.engine.records
        records.match[0].ball_x, records.match[0].ball_y = x, y
        records.bodies[-1].u0, records.bodies[-1].u1 = vx, vy
        return self

    def voltages(self, index: int, left: float, right: float) -> Rig:
        self.engine.inputs[5 * index : 5 * index + 5] = [left, right, 0.0, 0.0, 0.0]
        return self

    def wheel_speeds(self, index: int, left: float, right: float) -> Rig:
        self.engine.inputs[5 * index : 5 * index + 5] = [0.0, 0.0, left, right, 1.0]
        return self

    def command(self, actor: str, **command: Any) -> Rig:
        """Names with `_at_` for a slash, as `ball_at_place`."""
        given = {name.replace("_at_", "/"): value for name, value in command.items()}
        self.engine.inputs[self.engine.robot_inputs(actor)] = self.engine.resolve_command(actor, given)
        return self

    def steps(self, n: int) -> Rig:
        if not self.engine.advance(self.done, n, 0, np.empty((0, self.engine.channels.width))):
            raise ArithmeticError("the state is not finite any more")
        self.done += n
        return self

    def run(self, seconds: float) -> Rig:
        return self.steps(round(seconds / self.engine.dt))

    def record(self, n: int, rows: np.ndarray | None = None) -> np.ndarray:
        """`n` steps, and a row of all channels after each; rows that were not reached stay NaN."""
        if rows is None:
            rows = np.empty((n, self.engine.channels.width))
        rows[:] = np.nan
        self.engine.advance(self.done, n, 1, rows)
        self.done += n
        return rows

    def row(self) -> np.ndarray:
        row = np.full(self.engine.channels.width, np.nan)
        self.engine.observe(row)
        return row

    def value(self, name: str, rows: np.ndarray | None = None) -> Any:
        return self.engine.channels.value(self.row() if rows is None else rows, name)

    def speeds(self, index: int) -> np.ndarray:
        """(v, ω) of a robot, now."""
        return np.asarray(self.value(f"{self.names[index]}/twist")[[0, 2]])


def match(
    robots: Sequence[Mapping[str, Any]],
    *,
    step: float = 1e-3,
    method: str = "euler",
    field: Mapping[str, Any] = {},
    ball: Mapping[str, Any] = {},
    pairs: Mapping[str, Pair] = {},
    model: str = "rigid",
    after_goal: str = "continue",
    spacing: float = 1.6,
) -> Rig:
    """A match between these robots, out of play until a check puts them somewhere; `spacing` in sides, to begin with."""
    size = SoccerScenario.model_fields["world"].default.field.model_copy(update=dict(field))
    placed: Data = {}
    gap = spacing * max(robot["side"] for robot in robots)
    room = size.length - 2.0 * size.corner
    per_row = max(int(room / gap) - 1, 1)
    for index, robot in enumerate(robots):
        # In rows from the lower side on: only to begin with, since checks put them elsewhere.
        place = [-0.5 * room + gap * (1 + index % per_row), -0.5 * size.width + gap * (1 + index // per_row), 0.0]
        placed[f"r{index}"] = {**robot, "team": "blue" if index % 2 == 0 else "yellow", "pose": place}
    impacts: Data = {kind: {"restitution": one[0], "friction": one[1]} for kind, one in pairs.items()}
    scenario = SoccerScenario.model_validate(
        {
            "engine": "soccer",
            "time": {"step": step, "method": method},
            "world": {"field": dict(field), "ball": dict(ball), "impacts": {"model": model, **impacts}},
            "match": {"after_goal": after_goal},
            "robots": placed,
        }
    )
    return Rig(SoccerEngine(scenario)).reset()


# --- overlaps, by the vertices ---------------------------------------------------------------------------------------

SIGNS = np.array([[1.0, 1.0], [-1.0, 1.0], [-1.0, -1.0], [1.0, -1.0]])


def vertices(poses: np.ndarray, side: Any) -> np.ndarray:
    """(…, 4, 2) of squares at poses (…, 3): the source's section 3.1.2."""
    angles = poses[..., 2, None] + np.pi / 4.0 + np.pi / 2.0 * np.arange(4)
    reach = np.asarray(side)[..., None] / np.sqrt(2.0)
    return np.stack([poses[..., 0, None] + reach * np.cos(angles), poses[..., 1, None] + reach * np.sin(angles)], -1)


def square_overlap(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """How far two convex polygons (k, 4, 2) overlap [m], negative where some edge's normal separates them."""
    best = np.full(len(one), -np.inf)
    for a, b in ((one, other), (other, one)):
        for edge in range(2):  # opposite edges of a square share their normal
            along = a[:, edge + 1] - a[:, edge]
            normal = np.stack([along[:, 1], -along[:, 0]], -1) / np.linalg.norm(along, axis=1)[:, None]
            pa, pb = np.einsum("kvi,ki->kv", a, normal), np.einsum("kvi,ki->kv", b, normal)
            apart = np.maximum(pb.min(1) - pa.max(1), pa.min(1) - pb.max(1))
            best = np.maximum(best, apart)
    return -best


def ball_overlap(square: np.ndarray, ball: np.ndarray, radius: float) -> np.ndarray:
    """How far a ball (k, 2) reaches into squares (k, 4, 2) [m]: its distance from the four edges, eqs. 10 and 11."""
    nearest = np.full(len(ball), np.inf)
    inside = np.ones(len(ball), dtype=bool)
    for edge in range(4):
        p, q = square[:, edge], square[:, (edge + 1) % 4]
        along = q - p
        share = np.clip(np.einsum("ki,ki->k", ball - p, along) / np.einsum("ki,ki->k", along, along), 0.0, 1.0)
        nearest = np.minimum(nearest, np.linalg.norm(ball - p - share[:, None] * along, axis=1))
        inside &= along[:, 0] * (ball - p)[:, 1] - along[:, 1] * (ball - p)[:, 0] > 0.0
    return np.where(inside, radius + nearest, radius - nearest)


@dataclass(frozen=True)
class Walls:
    """Of a field, as half sizes."""

    end: float
    side: float
    post: float
    back: float
    corner: float

    @classmethod
    def of(cls, rig: Rig) -> Walls:
        size = rig.engine.scenario.world.field
        corner = 0.5 * (size.length + size.width) - size.corner if size.corner > 0.0 else np.inf
        return cls(
            0.5 * size.length, 0.5 * size.width, 0.5 * size.goal_width, 0.5 * size.length + size.goal_depth, corner
        )

    def square_overlap(self, square: np.ndarray) -> np.ndarray:
        """How far squares (k, 4, 2) reach into walls; the walls beside the goals as polygons."""
        size = np.abs(square)
        found = np.maximum((size[..., 1] - self.side).max(1), (size[..., 0] - self.back).max(1))
        if np.isfinite(self.corner):
            found = np.maximum(found, ((size.sum(-1) - self.corner) / np.sqrt(2.0)).max(1))
        near = np.flatnonzero(size[..., 0].max(1) > self.end - 1e-3)
        if near.size:
            far = self.back + self.side + 1.0
            for mx, my in ((1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0)):
                wall = np.array([[self.end, self.post], [far, self.post], [far, far], [self.end, far]]) * [mx, my]
                wall = wall if mx * my > 0.0 else wall[::-1]
                found[near] = np.maximum(found[near], square_overlap(square[near], np.tile(wall, (near.size, 1, 1))))
        return np.asarray(found)

    def ball_overlap(self, ball: np.ndarray, radius: float) -> np.ndarray:
        x, y = np.abs(ball).T
        found = np.maximum(y + radius - self.side, x + radius - self.back)
        if np.isfinite(self.corner):
            found = np.maximum(found, (x + y - self.corner) / np.sqrt(2.0) + radius)
        # The wall beside the goal fills x > end, y > post: distance to that quarter, or depth within it.
        dx, dy = self.end - x, self.post - y
        outside = np.hypot(np.maximum(dx, 0.0), np.maximum(dy, 0.0))
        return np.asarray(np.maximum(found, radius - np.where(outside > 0.0, outside, np.maximum(dx, dy))))


def deepest_overlap(rig: Rig, rows: np.ndarray, only_in_play: bool = True) -> float:
    """The largest overlap of any two bodies, or of a body and a wall, in any of the recorded rows [m].

    NaN in the rows gives NaN. Bodies whose circles are apart are not looked at closer.
    """
    walls, names = Walls.of(rig), rig.names
    sides = [rig.engine.scenario.robots[name].side for name in names]
    radius = rig.engine.scenario.world.ball.radius
    poses = [np.ascontiguousarray(rig.value(f"{name}/pose", rows)) for name in names]
    playing = [rig.value(f"{name}/playing", rows) > 0.0 for name in names]
    ball = np.ascontiguousarray(rig.value("ball/pose", rows)[:, :2])
    if not (np.isfinite(ball).all() and all(np.isfinite(pose).all() for pose in poses)):
        return float("nan")
    deepest = float(walls.ball_overlap(ball, radius).max())
    for i, (pose, side) in enumerate(zip(poses, sides, strict=True)):
        reach = side / np.sqrt(2.0)
        size = np.abs(pose[:, :2]) + reach
        near = (size[:, 0] > walls.end) | (size[:, 1] > walls.side) | (size.sum(1) > walls.corner)
        near &= playing[i]
        if near.any():
            deepest = max(deepest, float(walls.square_overlap(vertices(pose[near], side)).max()))
        near = np.hypot(*(pose[:, :2] - ball).T) < reach + radius
        near &= playing[i]
        if near.any():
            deepest = max(deepest, float(ball_overlap(vertices(pose[near], side), ball[near], radius).max()))
        for j in range(i):
            gap = pose[:, :2] - poses[j][:, :2]
            near = np.einsum("ki,ki->k", gap, gap) < (reach + sides[j] / np.sqrt(2.0)) ** 2
            near &= playing[i] & playing[j]
            if near.any():
                pair = square_overlap(vertices(pose[near], side), vertices(poses[j][near], sides[j]))
                deepest = max(deepest, float(pair.max()))
    return deepest
