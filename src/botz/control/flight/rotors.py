"""The rotors of a multibody robot as controllers see them: where they are, which way they push, and how hard."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import hypot, pi, sqrt

import numpy as np

from botz.engines.base import Engine
from botz.engines.multibody.engine import MultibodyEngine
from botz.errors import InputError, Problem
from botz.models.robot_model import ModelJoint
from botz.physics.aero.propeller import SLOW
from botz.scenario.multibody.elements import Propeller


@dataclass(frozen=True)
class Rotor:
    """A propeller in the root link's frame, with all joints as they were at the start."""

    name: str
    joint: str
    sense: float
    """+1 turns about its axis, −1 against it."""
    position: np.ndarray
    """(3) [m]"""
    axis: np.ndarray
    """(3), the direction of thrust"""
    curve: tuple[float, float, float]
    """a, b, c of f = a + b ω + c ω²"""
    drag_torque: float
    largest: float
    """Largest thrust [N]."""
    fastest: float
    """Largest speed at which more speed still gives more thrust [rad/s]."""
    tilt: str = ""
    """Joint that tilts it; empty: none."""
    tilt_rate: float = 0.0
    """Its largest speed [rad/s]."""
    tilt_start: float = 0.0
    """Where it was at the start [rad]."""
    tilt_reach: float = 0.0
    """How far it can be tilted either way [rad]."""
    tilt_axis: np.ndarray | None = None
    tilt_point: np.ndarray | None = None
    """A point of the tilting axis."""

    @cached_property
    def command(self) -> str:
        return f"{self.joint}/speed"

    @cached_property
    def tilt_command(self) -> str:
        """Of the joint that tilts it, and the name of that joint's position among what is measured."""
        return f"{self.tilt}/position"

    def thrust(self, speed: float) -> float:
        """Of a speed in its own sense, as the element has it: a grows from 0, and f is not negative nor too large."""
        a, b, c = self.curve
        return min(max(a * min(speed / SLOW, 1.0) + (b + c * speed) * speed, 0.0), self.largest)

    def speed(self, thrust: float) -> float:
        """The speed that gives a thrust; of the two roots the one on the rising branch."""
        a, b, c = self.curve
        more = min(max(thrust, 0.0), self.largest) - a
        root = sqrt(max(b * b + 4.0 * c * more, 0.0))
        if b < 0.0:
            found = (root - b) / (2.0 * c) if c > 0.0 else 0.0
        else:
            # The same root without a division by c, which may be 0 or negative.
            found = 2.0 * more / (b + root) if b + root > 0.0 else 0.0
        return min(max(found, 0.0), self.fastest)


@dataclass(frozen=True)
class Airframe:
    """A robot that flies, seen from its root link."""

    rotors: tuple[Rotor, ...]
    mass: float
    """Of the whole robot [kg]."""
    centre: np.ndarray
    """Its centre of mass in the root link's frame (3) [m]."""
    inertia: np.ndarray
    """About that centre, in the root link's axes (3, 3) [kg·m²]."""
    gravity: float
    """[m/s²]"""

    @property
    def weight(self) -> float:
        """[N]"""
        return self.mass * self.gravity

    def check_lift(self, most: float) -> None:
        """Refuse a robot whose largest lift [N] is not more than its weight."""
        if most <= self.weight:
            message = f"its propellers cannot carry its weight of {self.weight:.4g} N"
            raise InputError(Problem(message, key="robot"))


def flying_world(engine: Engine) -> MultibodyEngine:
    """The engine, where robots can fly in it: of engine multibody, with gravity straight down."""
    if not isinstance(engine, MultibodyEngine):
        raise InputError(Problem("flies robots of engine 'multibody' only", key="robot"))
    x, y, z = (float(one) for one in engine.model.opt.gravity)
    if not z < 0.0 or hypot(x, y) > 1e-6 * -z:
        message = f"flies where gravity points along -z only; 'world.gravity' is [{x:g}, {y:g}, {z:g}]"
        raise InputError(Problem(message, key="robot"))
    return engine


def airframe_of(engine: Engine, robot: str, *, needed: int = 1) -> Airframe:
    """The airframe of a robot; raises InputError where it has fewer propellers than `needed`."""
    engine = flying_world(engine)
    parts, model, data = engine.robots[robot], engine.model, engine.data
    root = model.body(f"{robot}/{parts.model.root}").id
    origin, turn = data.xpos[root].copy(), data.xmat[root].reshape(3, 3).copy()

    def seen(point: np.ndarray) -> np.ndarray:
        return turn.T @ (point - origin)

    rotors = []
    for name, spec in parts.element_specs.items():
        if not isinstance(spec, Propeller):
            continue
        joint = model.joint(f"{robot}/{spec.joint}").id
        actuator = parts.actuators.get(spec.joint)
        if actuator is None or actuator.kind != "velocity":
            message = f"joint {spec.joint!r} of propeller {name!r} has no velocity actuator; give it one"
            raise InputError(Problem(message, key="robot"))
        a, b, c = spec.curve if spec.curve is not None else (0.0, 0.0, spec.coefficient or 0.0)
        fastest = actuator.speed or parts.joints[spec.joint].speed or 1e4
        if c < 0.0:
            fastest = min(fastest, max(-b / (2.0 * c), 0.0))
        largest = max(a + b * fastest + c * fastest**2, 0.0)
        largest = min(largest, spec.max_force) if spec.max_force is not None else largest
        tilt = _tilt_of(parts, spec.joint)
        tilted = model.joint(f"{robot}/{tilt}").id if tilt else -1
        rotors.append(
            Rotor(
                name=name,
                joint=spec.joint,
                sense=1.0 if spec.sense == "ccw" else -1.0,
                position=seen(data.xanchor[joint]),
                axis=turn.T @ data.xaxis[joint],
                curve=(a, b, c),
                drag_torque=spec.drag_torque,
                largest=largest,
                fastest=fastest,
                tilt=tilt,
                tilt_rate=(parts.actuators[tilt].speed or parts.joints[tilt].speed or 100.0) if tilt else 0.0,
                tilt_start=float(data.qpos[model.jnt_qposadr[tilted]]) if tilt else 0.0,
                tilt_reach=_reach(parts.joints[tilt]) if tilt else 0.0,
                tilt_axis=turn.T @ data.xaxis[tilted] if tilt else None,
                tilt_point=seen(data.xanchor[tilted]) if tilt else None,
            )
        )
    if len(rotors) < needed:
        raise InputError(Problem(f"{robot!r} has {len(rotors)} propellers, this needs {needed}", key="robot"))
    mass, centre, inertia = _mass_properties(engine, root)
    inertia = turn.T @ inertia @ turn
    return Airframe(tuple(rotors), mass, seen(centre), inertia, float(np.linalg.norm(model.opt.gravity)))


def _tilt_of(parts, joint: str) -> str:
    """The joint with a position actuator that carries a rotor's, be it through fixed ones; '' where there is none."""
    above = {one.child: one for one in parts.model.joints.values()}
    found = above.get(parts.model.joints[joint].parent)
    while found is not None and found.kind == "fixed":
        found = above.get(found.parent)
    if found is None or found.name not in parts.actuators or parts.actuators[found.name].kind != "position":
        return ""
    return str(found.name)


def _reach(joint: ModelJoint) -> float:
    lower, upper = joint.lower, joint.upper
    return min(abs(lower), abs(upper)) if lower is not None and upper is not None else pi


def _mass_properties(engine: MultibodyEngine, root: int) -> tuple[float, np.ndarray, np.ndarray]:
    """Mass, centre and inertia (world axes, about the centre) of everything that hangs on a body, as it is now."""
    model, data = engine.model, engine.data
    bodies = [b for b in range(model.nbody) if _hangs_on(model, b, root)]
    mass = float(sum(model.body_mass[b] for b in bodies))
    centre = sum(model.body_mass[b] * data.xipos[b] for b in bodies) / mass
    inertia = np.zeros((3, 3))
    for b in bodies:
        axes = data.ximat[b].reshape(3, 3)
        d = data.xipos[b] - centre
        inertia += axes @ np.diag(model.body_inertia[b]) @ axes.T
        inertia += model.body_mass[b] * (d @ d * np.eye(3) - np.outer(d, d))
    return mass, centre, inertia


def _hangs_on(model, body: int, root: int) -> bool:
    while body > 0:
        if body == root:
            return True
        body = model.body_parentid[body]
    return False
