"""What breaks simulations of a model: masses that no body has, units that were mixed up, steps that are too long."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import sqrt
from typing import Any, Literal

import mujoco
import numpy as np

from botz.errors import InputError
from botz.models.bounds import Bounds, around, shape_bounds
from botz.models.meshes.mesh import load_mesh, why_flat
from botz.models.mj_world import compile_model
from botz.models.mjcf.parts import native_actuator_of
from botz.models.robot_model import NOWHERE, Inertial, Place, RobotModel
from botz.models.stiffness import AUTO, MARGIN, Linearised, chosen, linearised
from botz.models.tree import (
    bodiless,
    massless,
    moving_groups,
    possible,
    rigid_groups,
    summed,
    tied_if_massless,
    wrong_inertia,
)
from botz.scenario.multibody.elements import Propeller

LARGEST_MESH = 50.0
"""Larger parts are rarer than meshes in millimetres [m]."""
MASS_RATIO = 1000.0
TOO_LARGE, TOO_SMALL = 100.0, 1e-2
"""Of an inertia, against a solid of the same mass that fills the shapes' box. Above 3 no mass inside the box can be."""
FAR_TOO_LARGE, FAR_TOO_SMALL = 1e4, 1e-4
"""Mixed-up millimetres are 10⁶ off; many published models give small parts a hundred times too much on purpose."""
COUNTS = 0.1
"""Share of a body's inertia below which one link's mistake changes little."""
TURN_PER_STEP = 0.35
"""Above this angle a step [rad] Runge-Kutta begins to lose the spin's angular momentum: on Lophorina with free arms
0.01 % in 10 s at 0.3 rad, 0.1 % at 0.5 rad, 1 % at 0.8 rad."""
RK4_DECAY, RK4_SWING = 2.785, 2.828
"""Where Runge-Kutta of fourth order becomes unstable: h d / I of a damper, h √(k / I) of a spring."""


@dataclass(frozen=True)
class Finding:
    severity: Literal["error", "warning"]
    """error: the run would fail or mean nothing; warning: look at it."""
    place: str
    """The part, as `link arm`."""
    message: str
    """What is wrong and what to do."""
    where: Place = NOWHERE
    """File and line."""


def check_model(model: RobotModel, step: float | None = None, method: str = AUTO) -> list[Finding]:
    """All that is found, errors first. With a step [s] also whether the method follows the lightest parts with it."""
    tied = tied_if_massless(model)
    found = [
        Finding("warning", note.key, note.message, Place(note.file, note.line))
        for note in tied.notes[len(model.notes) :]
    ]
    model = tied
    found += [*_inertias(model), *_sizes(model), *_mass_ratios(model), *_names(model)]
    if step is not None:
        found += _spins(model, step)
        if not any(one.severity == "error" for one in found):
            found += _light_joints(model, step, method)
    return sorted(found, key=lambda one: one.severity != "error")


# --- masses ----------------------------------------------------------------------------------------------------------


def _inertias(model: RobotModel) -> Iterator[Finding]:
    left_out = bodiless(model)
    impossible = {link for group in moving_groups(model) if not possible(model, group) for link in group}
    # MuJoCo has looked at the masses of an MJCF file as it was read; its links between joints are no bodies.
    for group in moving_groups(model) if model.native is None else ():
        if group[0] not in left_out and massless(model, group):
            link = model.links[group[0]]
            message = "moves, but has no mass; give it mass and inertia, or fix its joint"
            yield Finding("error", f"link {link.name}", message, link.place)
    for name, link in model.links.items():
        if link.inertial is not None and (complaint := wrong_inertia(link.inertial)):
            severity: Literal["error", "warning"] = "error" if name in impossible else "warning"
            if severity == "warning":
                complaint += "; it runs, since only the sum of links that are one body counts"
            where = link.inertial.place if link.inertial.place.line is not None else link.place
            yield Finding(severity, f"link {name}", complaint, where)


def _mass_ratios(model: RobotModel) -> Iterator[Finding]:
    """Across a joint that moves: a solver loses the light part's digits in the heavy one's."""
    group_of = {link: k for k, group in enumerate(rigid_groups(model)) for link in group}
    masses = [_mass(model, group) for group in rigid_groups(model)]
    for joint in model.joints.values():
        if joint.kind == "fixed" or joint.parent not in group_of:
            continue
        parent, child = masses[group_of[joint.parent]], masses[group_of[joint.child]]
        if min(parent, child) > 0.0 and max(parent, child) > MASS_RATIO * min(parent, child):
            message = (
                f"joins {parent:.3g} kg and {child:.3g} kg, a ratio of {max(parent, child) / min(parent, child):.0f}"
            )
            hint = f"above {MASS_RATIO:g} contacts and servos become stiff: make small parts one with larger ones"
            yield Finding("warning", f"joint {joint.name}", f"{message}; {hint}, or shorten the step", joint.place)


def _mass(model: RobotModel, group: list[str]) -> float:
    return sum(body.mass for link in group if (body := model.links[link].inertial) is not None)


# --- sizes -----------------------------------------------------------------------------------------------------------


def _counts(model: RobotModel) -> Iterator[str]:
    """Links that move and whose tensors decide how their bodies turn."""
    for group in moving_groups(model):
        if (whole := summed(model, group)) is None:
            continue
        for name in group:
            one = model.links[name].inertial
            if one is not None and np.trace(one.inertia) > COUNTS * np.trace(whole.inertia):
                yield name


def _sizes(model: RobotModel) -> Iterator[Finding]:
    counts = set(_counts(model))
    for name, link in model.links.items():
        try:
            boxes = []
            for shape in link.shapes:
                try:
                    boxes.append((shape, shape_bounds(shape)))
                except InputError as error:
                    if shape.collision:
                        raise
                    for problem in error.problems:
                        message = f"{problem.message}; it is only seen, so the model runs without it"
                        yield Finding("warning", f"link {name}", message, Place(problem.file, problem.line))
            # MuJoCo has looked at those of an MJCF file as it was read.
            touched = [one for one in link.shapes if one.collision and one.kind == "mesh" and model.native is None]
            for shape in touched:
                if shape.file is not None and (complaint := why_flat(load_mesh(shape.file, shape.scale))):
                    yield Finding("error", f"link {name}", f"mesh {_file(shape.file)} {complaint}", shape.place)
            for shape, bounds in boxes:
                if shape.kind == "mesh" and bounds is not None and bounds.size.max() > LARGEST_MESH:
                    message = f"mesh {_file(shape.file)} is {bounds.size.max():.4g} m large"
                    hint = "if it is in millimetres, give it the scale 0.001 0.001 0.001"
                    yield Finding("warning", f"link {name}", f"{message}; {hint}", shape.place)
            body = link.inertial
            if body is None or not link.shapes or wrong_inertia(body):
                continue
            # What is seen is the part itself; what touches is often a coarse box around several.
            seen = around(box for shape, box in boxes if shape.visual) or around(box for _, box in boxes)
            if seen is not None:
                yield from _against_box(f"link {name}", body, seen, counts=name in counts)
            whole = around(box for _, box in boxes)
            if whole is not None and not whole.holds(body.centre, 0.05):
                place = " ".join(f"{value:.4g}" for value in body.centre)
                message = f"the centre of mass ({place}) lies outside of the shapes, which reach from {whole}"
                yield Finding("warning", f"link {name}", f"{message}; look at units and origins", body.place)
        except InputError as error:
            for problem in error.problems:
                yield Finding("error", f"link {name}", problem.message, Place(problem.file, problem.line))


def _against_box(place: str, body: Inertial, bounds: Bounds, *, counts: bool) -> Iterator[Finding]:
    # A solid box of edges a, b, c: trace I = m (a² + b² + c²) / 6.
    solid = body.mass * float(bounds.size @ bounds.size) / 6
    ratio = float(np.trace(body.inertia)) / solid if solid > 0.0 else 1.0
    if TOO_SMALL <= ratio <= TOO_LARGE:
        return
    words = f"the inertia is {ratio:.3g} times that of a solid of {body.mass:.3g} kg that fills its shapes"
    if ratio > TOO_LARGE:
        hint = "the tensor may be for millimetres or grams, or the mesh needs another scale"
    else:
        hint = "the mesh may be in millimetres, so scale it by 0.001; or the tensor is too small"
    far = ratio > FAR_TOO_LARGE or ratio < FAR_TOO_SMALL
    severity: Literal["error", "warning"] = "error" if far and counts else "warning"
    yield Finding(severity, place, f"{words} ({bounds.edges}); {hint} (`botz mesh` gives the right one)", body.place)


def _file(path: object) -> str:
    return getattr(path, "name", str(path))


# --- steps -----------------------------------------------------------------------------------------------------------


def _spins(model: RobotModel, step: float) -> Iterator[Finding]:
    """Propellers, at the greatest speed that has a use: the actuator's, or √(f_max / K)."""
    for name, element in model.elements.items():
        joint = model.joints.get(element.joint) if isinstance(element, Propeller) else None
        if joint is None or not isinstance(element, Propeller):
            continue
        actuator = model.actuators.get(joint.name)
        speeds = [joint.speed, actuator.speed if actuator is not None else None]
        if element.max_force is not None and element.coefficient:
            speeds.append(sqrt(element.max_force / element.coefficient))
        known = [speed for speed in speeds if speed is not None]
        if known and min(known) * step > TURN_PER_STEP:
            message = f"turns {min(known) * step:.2g} rad in a step of {step:g} s at {min(known):.4g} rad/s"
            hint = f"above {TURN_PER_STEP:g} rad its angular momentum drifts; take steps up to"
            best = f"{TURN_PER_STEP / min(known):.2g} s"
            yield Finding("warning", f"element {name}", f"{message}; {hint} {best}", joint.place)


def _light_joints(model: RobotModel, step: float, method: str) -> Iterator[Finding]:
    """Springs and dampers on light parts. Servos of our own are no danger to them: their gains are made from I."""
    # Shapes play no part in it, and meshes take long to read.
    bare = {name: replace(link, shapes=()) for name, link in model.links.items()}
    try:
        compiled = compile_model(model if model.native is not None else replace(model, links=bare))
    except InputError as error:
        yield Finding("error", f"model {model.name}", str(error), Place(model.file))
        return
    start = start_of(compiled)
    linear = linearised(compiled, start)
    found = (model.method or chosen(linear, step)) if method == AUTO else method
    yield from _too_fast(model, compiled, linear, step, found, by_stiffness=method == AUTO and model.method is None)
    yield from _fast_elements(model, felt_inertias(model, compiled, start), step)


def _too_fast(
    model: RobotModel, compiled: Any, linear: Linearised, step: float, method: str, *, by_stiffness: bool
) -> Iterator[Finding]:
    """Joints with springs, dampers and servos of the file that the method cannot follow."""
    follows = linear.follows(method, step)
    if follows and (not by_stiffness or method == "rk4"):
        return
    rate, dof = linear.fastest()
    name = str(compiled.joint(int(compiled.dof_jntid[dof])).name).removeprefix("robot/")
    joint = model.joints.get(name)
    place = NOWHERE if joint is None else joint.place
    own = None if model.native is None else native_actuator_of(model.native, name)
    part = f"its actuator {own!r}" if own is not None else "its damping or spring"
    words = f"{part} is as fast as {rate:.4g} rad/s"
    if follows:
        message = f"{words}, too fast for 'rk4' at a step of {step:g} s; runs take {method!r}"
        yield Finding("warning", f"joint {name}", f"{message}, unless 'time.method' says another", place)
        return
    others = [one for one in ("implicit-fast", "implicit", "rk4") if linear.follows(one, MARGIN * step)]
    best = f"steps up to {linear.longest(method, step):.2g} s"
    remedy = f"'time.method: {others[0]}', or {best}" if others else best
    message = f"{words}, too fast for the method {method!r} at a step of {step:g} s; take {remedy}"
    yield Finding("error", f"joint {name}", message, place)


def _fast_elements(model: RobotModel, inertias: dict[str, float], step: float) -> Iterator[Finding]:
    """Elements that brake or hold light parts: h d / I and h √(k / I), with I = 1 / (M⁻¹)_jj, what a torque at the
    joint feels. No method takes their forces at the step's end."""
    for name, inertia in inertias.items():
        joint = model.joints[name]
        held = [one.holds() for one in model.elements.values() if getattr(one, "joint", None) == name]
        damping, stiffness = sum(one for one, _ in held), sum(one for _, one in held)
        for value, limit, what, law in (
            (step * damping / inertia, RK4_DECAY, f"damping {damping:.3g}", "h d / I"),
            (step * sqrt(stiffness / inertia), RK4_SWING, f"stiffness {stiffness:.3g}", "h √(k / I)"),
        ):
            if value > limit / 2:
                unit = "kg" if joint.kind == "prismatic" else "kg·m²"
                message = f"moves {inertia:.3g} {unit} with {what}: {law} is {value:.3g} at a step of {step:g} s"
                best = f"{step * limit / 4 / value:.2g} s"
                hint = f"Runge-Kutta is unstable above {limit:g}; take steps up to {best}"
                severity: Literal["error", "warning"] = "error" if value > limit else "warning"
                yield Finding(severity, f"joint {name}", f"{message}; {hint}", joint.place)


def start_of(compiled: mujoco.MjModel) -> np.ndarray:
    """Positions at the start: those of the file, and where a range excludes them, its nearest end."""
    found = compiled.qpos0.copy()
    for joint, limited in enumerate(compiled.jnt_limited):
        if limited and compiled.jnt_type[joint] in (int(mujoco.mjtJoint.mjJNT_HINGE), int(mujoco.mjtJoint.mjJNT_SLIDE)):
            at = compiled.jnt_qposadr[joint]
            found[at] = np.clip(found[at], *compiled.jnt_range[joint])
    return found


def felt_inertias(model: RobotModel, compiled: mujoco.MjModel, start: np.ndarray) -> dict[str, float]:
    """What a torque or force at each joint that moves feels at the start: 1 / (M⁻¹)_jj [kg·m², kg]."""
    data = mujoco.MjData(compiled)
    data.qpos[:] = start
    mujoco.mj_forward(compiled, data)
    inverse = np.eye(compiled.nv)
    if compiled.nv:
        mujoco.mj_solveM(compiled, data, inverse, np.eye(compiled.nv))
    found = {}
    for name, joint in model.joints.items():
        if joint.kind != "fixed":
            number = int(compiled.jnt_dofadr[mujoco.mj_name2id(compiled, mujoco.mjtObj.mjOBJ_JOINT, f"robot/{name}")])
            found[name] = float(1 / inverse[number, number])
    return found


# --- names -----------------------------------------------------------------------------------------------------------


def _names(model: RobotModel) -> Iterator[Finding]:
    """Joints, elements and sensors share the names of channels; links and joints are told apart by more than case."""
    moving = [joint.name for joint in model.joints.values() if joint.kind != "fixed"]
    for name, count in Counter([*moving, *model.elements, *model.sensors]).items():
        if count > 1:
            message = "is the name of several of joint, element and sensor, whose channels would clash; rename one"
            yield Finding("error", f"name {name}", message, Place(model.file))
    for what, names in (("link", list(model.links)), ("joint", list(model.joints))):
        for lower, count in Counter(name.lower() for name in names).items():
            if count > 1:
                alike = ", ".join(name for name in names if name.lower() == lower)
                message = f"{what}s {alike} differ in upper and lower case only; rename all but one"
                yield Finding("warning", f"name {lower}", message, Place(model.file))
