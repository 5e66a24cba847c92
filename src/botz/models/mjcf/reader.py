"""Robots from MJCF files: kept as MuJoCo reads them, and told as links and joints for viewers, checks and writers.

MJCF puts any number of joints anywhere in a body. A body with several becomes a chain of links without mass. Links have
the frames of MuJoCo's bodies, so that what is said in one holds in the other: where a body turns about a point beside
its origin, the axis does not go through the link's. `convertible` moves such frames to their joints, as other formats
need it.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
from pydantic import TypeAdapter, ValidationError

from botz.errors import InputError, Problem
from botz.models.mjcf.parts import (
    SCENARIO_OPTIONS,
    Names,
    actuators_of,
    name_all,
    option_names,
    shapes_of,
    without_actuators,
)
from botz.models.robot_model import GAINS, Inertial, ModelActuator, ModelJoint, ModelLink, Place, RobotModel
from botz.models.stiffness import METHODS
from botz.models.tree import MOST_LINKS, too_many
from botz.models.xml_tree import XmlNode, read_xml
from botz.scenario.multibody.elements import Element, UserElement
from botz.scenario.multibody.schema import ActuatorSpec, AnyElement, AnySensor
from botz.transforms import posed, rotation_about, rotation_from_quaternion, shifted

WORLD = "world"
BASE = "world_base"
"""Root of a robot whose bodies hang on the world by joints, or stand apart."""
ELEMENT, SENSOR, SPEED, ACTUATOR = "botz_element_", "botz_sensor_", "botz_speed_", "botz_actuator_"
"""Begin the names of <custom><text> that hold what MJCF has no word for, as JSON."""
MOST_FILES = 1000
ENDLESS = 1e9
"""A limit as large as this is none: MJCF limits both ends of a joint or neither."""
NATIVE_ONLY = ("equalities", "tendons", "flexes", "skins", "hfields")
"""Parts of a file that links and joints cannot say."""


def read_mjcf(path: Path) -> RobotModel:
    """The model of a file; raises InputError. `native` of the result is MuJoCo's own description, ready to compile."""
    path = Path(path)
    bodies, names_method = _refuse_declarations(path)
    try:
        spec = mujoco.MjSpec.from_file(str(path))
        name_all(spec)
        # A copy has lost what refers to things that there are not; only what is read from the file complains of it.
        checked = mujoco.MjSpec.from_file(str(path))
        name_all(checked)
        compiled = checked.compile()
    except (ValueError, KeyError, mujoco.FatalError, mujoco.UnexpectedError) as error:
        raise InputError(_complaint(str(error), path)) from None
    model = _Extraction(spec, compiled, path, bodies).model()
    if not names_method:
        return model
    method = next(name for name, number in METHODS.items() if number == compiled.opt.integrator)
    return replace(model, method=method)


def convertible(model: RobotModel) -> RobotModel:
    """The robot in links and joints alone, for other formats: frames at the joints, and the file's own actuators as far
    as they are servos or plain efforts. (As it is read it has none of them, since MuJoCo runs them itself.)

    Raises InputError where links and joints cannot say how it moves. A model that is not MJCF is itself.
    """
    if model.native is None:
        return model
    if problems := unsayable(model):
        raise InputError(problems)
    compiled = model.native.copy().compile()
    extraction = _Extraction(model.native, compiled, model.file or Path(), {}, at_joints=True)
    moved = extraction.model()
    joints = dict(moved.joints)
    found = actuators_of(compiled, joints)
    for name, (_, most) in found.items():
        if joints[name].effort is None:
            joints[name] = replace(joints[name], effort=most)
    actuators = {name: one for name, (one, _) in found.items()}
    return replace(
        model,
        links=moved.links,
        joints=joints,
        actuators={**actuators, **model.actuators},
        elements={name: extraction.moved_element(one) for name, one in model.elements.items()},
        sensors={name: extraction.moved_sensor(one) for name, one in model.sensors.items()},
        native=None,
    )


def unsayable(model: RobotModel) -> list[Problem]:
    """What of an MJCF robot's motion cannot be said as links and joints, so that no other format can hold it."""
    if model.native is None:
        return []
    ball, free = mujoco.mjtJoint.mjJNT_BALL, mujoco.mjtJoint.mjJNT_FREE
    remedy = "replace it by revolute joints, or keep the MJCF file"
    found = [f"joint {one.name!r} is a ball joint; {remedy}" for one in model.native.joints if one.type == ball]
    loose = [one.parent.name for one in model.native.joints if one.type == free]
    if len(loose) > 1:
        found.append(f"has several bodies that move freely ({', '.join(loose)}); make a file of each")
    return [Problem(message, file=model.file) for message in found]


def _refuse_declarations(path: Path) -> tuple[dict[str, Place], bool]:
    """Read every file that MuJoCo will, so that it never meets a DTD; gives where bodies and joints are said, and
    whether an integrator is."""
    places: dict[str, Place] = {}
    names_method = False
    waiting, seen = [path], set[Path]()
    while waiting:
        file = waiting.pop()
        if file.resolve() in seen:
            continue
        seen.add(file.resolve())
        if len(seen) > MOST_FILES:
            raise InputError(Problem(f"includes more than {MOST_FILES} files; make it one model", file=path))
        root = read_xml(file)
        if file == path and root.tag != "mujoco":
            raise InputError(root.problem(f"an MJCF file begins with <mujoco>, this with <{root.tag}>"))
        nodes = [root]
        while nodes:
            node = nodes.pop()
            nodes += node.children
            if key := next((key for key, value in node.attributes.items() if _is_nan(value)), None):
                # MuJoCo only warns, into a file of its own.
                raise InputError(node.problem(f"{node.get(key)!r} holds what is no number; write one", key))
            names_method |= node.tag == "option" and node.get("integrator") is not None
            if node.tag in ("body", "joint") and node.get("name"):
                places.setdefault(f"{node.tag} {node.get('name')}", node.place)
            if (node.tag == "include" or (node.tag == "model" and node is not root)) and node.get("file"):
                waiting.append(_named_file(node, file, path))
    return places, names_method


def _is_nan(value: str) -> bool:
    """Whether a value is a row of numbers with a NaN among them."""
    if "nan" not in value.lower():
        return False
    try:
        return any(math.isnan(float(word)) for word in value.split())
    except ValueError:
        return False


def _named_file(node: XmlNode, file: Path, main: Path) -> Path:
    name = node.get("file") or ""
    tried = [folder / name for folder in (main.parent, file.parent)]
    found = next((one for one in tried if one.is_file()), None)
    if found is None:
        raise InputError(node.problem(f"there is no file {name!r} beside {main.name}; put it there", node.tag))
    return found


def _complaint(message: str, path: Path) -> Problem:
    """MuJoCo's own words, with the line out of them."""
    line = re.search(r"\bline (\d+)", message)
    words = " ".join(re.sub(r"^(XML )?Error: ", "", message).split())
    return Problem(f"MuJoCo refuses it: {words}", file=path, line=int(line[1]) if line else None)


@dataclass(frozen=True)
class _Step:
    """A joint of a body."""

    joint: ModelJoint
    anchor: np.ndarray
    """In the body's frame."""
    start: float
    """Its value where the body stands as the file draws it."""


class _Extraction:
    """Links and joints of a compiled model."""

    def __init__(self, spec: Any, compiled: Any, path: Path, places: Mapping[str, Place], *, at_joints: bool = False):
        self.spec, self.m, self.path = spec, compiled, path
        self.places = places
        self.at_joints = at_joints
        """Links have their frames at the joints that move them, not at the origins of bodies."""
        self.world = WORLD if at_joints else BASE
        self.names = Names(compiled)
        self.links: dict[str, ModelLink] = {}
        self.joints: dict[str, ModelJoint] = {}
        self.origins: dict[int, np.ndarray] = {}
        """Where a link's frame is in its body's."""
        self.notes: list[Problem] = []
        self.speeds = {
            one.name.removeprefix(SPEED): float(one.data) for one in spec.texts if one.name.startswith(SPEED)
        }

    def model(self) -> RobotModel:
        m = self.m
        tops = [body for body in range(1, m.nbody) if m.body_parentid[body] == 0 and self.names.body(body) != BASE]
        if not tops:
            raise InputError(Problem("has no <body>; a robot is made of bodies", file=self.path))
        if m.nbody - 1 > MOST_LINKS:
            raise InputError(Problem(too_many(m.nbody - 1), file=self.path))
        loose = [body for body in tops if self._is_free(body)]
        robot = [loose[0]] if loose else tops
        others = [self.names.body(body) for body in tops if body not in robot]
        if others:
            self._note(f"as links and joints only {self.names.body(robot[0])!r} is told; kept natively: {others}")
        # One body welded to the world's origin is the root; several, or one elsewhere or on a joint, hang on the world.
        plain = m.body_jntnum[robot[0]] == 0 and np.array_equal(self._pose(robot[0]), np.eye(4))
        single = len(robot) == 1 and (bool(loose) or plain)
        if not single:
            self.links[self.world] = ModelLink(self.world)
            if self.world == BASE:
                # The root needs a body that can be asked where it is; MuJoCo keeps the world's own name.
                self.spec.worldbody.add_body(name=BASE)
        belongs = set(robot)
        for body in range(1, m.nbody):  # parents come first
            parent = int(m.body_parentid[body])
            if body in belongs or parent in belongs:
                belongs.add(body)
                self._add(body, parent, is_root=single and body == robot[0])
        for part in NATIVE_ONLY:
            if getattr(self.spec, part):
                self._note(f"{part} are kept natively, and cannot be converted")
        if len(self.spec.sensors):
            self._note("MuJoCo's own sensors are not read; say those that are wanted under 'sensors'")
        self._note_what_is_the_scenarios()
        actuators = self._written_actuators()
        return RobotModel(
            name=self.spec.modelname or self.path.stem,
            links=self.links,
            joints=self.joints,
            actuators=actuators,
            elements=self._custom(ELEMENT, AnyElement),
            sensors=self._custom(SENSOR, AnySensor),
            fixed_base=not loose,
            notes=tuple(self.notes),
            file=self.path,
            format="mjcf",
            root_pose=self._pose(robot[0]) if single else np.eye(4),
            native=without_actuators(self.spec, actuators) if actuators else self.spec,
        )

    def _note_what_is_the_scenarios(self) -> None:
        """What a file says of its world and a robot in a scenario does not have."""
        said = option_names(self.spec)
        for name in said:
            if name in SCENARIO_OPTIONS and name != "integrator":
                self._note(f"<option> {name}: without effect; the scenario says it by '{SCENARIO_OPTIONS[name]}'")
        held = [name for name in said if name not in SCENARIO_OPTIONS]
        if held:
            self._note(f"<option> {', '.join(held)}: taken, for the whole world")
        if len(self.spec.keys):
            self._note("<keyframe>: without effect; say where joints begin under 'start' of the robot")
        if len(self.spec.worldbody.geoms):
            self._note("geoms of <worldbody> belong to the robot, so that 'pose' moves them along with it")

    def _written_actuators(self) -> dict[str, ModelActuator]:
        """Those that our writer put beside MuJoCo's, which has no word for their lags; they take the place of these."""
        found: dict[str, ModelActuator] = {}
        for joint, said in self._custom(ACTUATOR, ActuatorSpec).items():
            if joint not in self.joints or self.joints[joint].kind == "fixed":
                name = f"{ACTUATOR}{joint}"
                raise InputError(Problem(f"<text name={name!r}>: no joint {joint!r} that moves", file=self.path))
            gains = said.model_dump(include=set(GAINS), exclude_unset=True, exclude_none=True)
            found[joint] = ModelActuator(joint, said.kind, Place(self.path), said.speed, said.lag, said.lag_down, gains)
        return found

    def _note(self, message: str, place: Place | None = None) -> None:
        self.notes.append((place or Place(self.path)).problem(message))

    def _is_free(self, body: int) -> bool:
        m = self.m
        first = m.body_jntadr[body]
        return bool(m.body_jntnum[body] == 1 and m.jnt_type[first] == mujoco.mjtJoint.mjJNT_FREE)

    def _add(self, body: int, parent: int, *, is_root: bool) -> None:
        name = self.names.body(body)
        chain = [] if is_root else self._chain(body)
        self.origins[body] = chain[-1].anchor if chain and self.at_joints else np.zeros(3)
        if not is_root:
            self._hang(body, parent, chain)
        link = ModelLink(name, self._inertial(body), place=self.places.get(f"body {name}", Place(self.path)))
        shapes = shapes_of(self.spec, self.m, body, shifted(-self.origins[body]), self._note)
        self.links[name] = replace(link, shapes=shapes)

    def _chain(self, body: int) -> list[_Step]:
        """The body's joints, outermost first."""
        m = self.m
        found: list[_Step] = []
        for joint in range(m.body_jntadr[body], m.body_jntadr[body] + m.body_jntnum[body]):
            name = self.names.joint(joint)
            place = self.places.get(f"joint {name}", Place(self.path))
            if m.jnt_type[joint] == mujoco.mjtJoint.mjJNT_HINGE:
                kind, anchor = "revolute" if m.jnt_limited[joint] else "continuous", m.jnt_pos[joint].copy()
            elif m.jnt_type[joint] == mujoco.mjtJoint.mjJNT_SLIDE:
                # A slide has no place of its own: whatever frame is there will do.
                kind, anchor = "prismatic", found[-1].anchor if found else np.zeros(3)
            else:
                self._note(f"joint {name!r} is a ball joint: kept natively, cannot be converted", place)
                continue
            x, y, z = (float(one) for one in m.jnt_axis[joint])
            lower, upper = self._range(joint)
            dof = m.jnt_dofadr[joint]
            effort = float(np.abs(m.jnt_actfrcrange[joint]).max()) if m.jnt_actfrclimited[joint] else None
            made = ModelJoint(
                name=name,
                kind=kind,
                parent="",
                child="",
                axis=(x, y, z),
                lower=lower,
                upper=upper,
                speed=self.speeds.get(name),
                effort=effort,
                damping=float(m.dof_damping[dof]),
                friction=float(m.dof_frictionloss[dof]),
                armature=float(m.dof_armature[dof]),
                stiffness=float(m.jnt_stiffness[joint]),
                rest=float(m.qpos_spring[m.jnt_qposadr[joint]]),
                place=place,
            )
            found.append(_Step(made, anchor, float(m.qpos0[m.jnt_qposadr[joint]])))
        return found

    def _range(self, joint: int) -> tuple[float | None, float | None]:
        if not self.m.jnt_limited[joint]:
            return None, None
        lower, upper = (float(one) for one in self.m.jnt_range[joint])
        return lower if lower > -ENDLESS else None, upper if upper < ENDLESS else None

    def _hang(self, body: int, parent: int, chain: list[_Step]) -> None:
        """Joints from the parent's link to the body's, with links without mass between several."""
        name = self.names.body(body)
        above = self.world if parent == 0 else self.names.body(parent)
        here = shifted(-self.origins.get(parent, np.zeros(3))) @ self._pose(body)
        if not chain:
            tie = self._free_name(f"{name}_fixed")
            self.joints[tie] = ModelJoint(tie, "fixed", above, name, here)
            return
        before = np.zeros(3)
        for step in chain:
            joint = step.joint
            child = name
            if step is not chain[-1]:
                child = self._free_name(f"{name}_{joint.name}")
                self.links[child] = ModelLink(child, place=joint.place)
            # At the value `ref` the body stands as the file draws it; our joints stand so at 0.
            axis = np.array(joint.axis)
            if joint.kind == "prismatic":
                back = shifted(-step.start * axis)
            else:
                back = posed(rotation_about(axis, -step.start), np.zeros(3))
            pose = here @ shifted(step.anchor - before) @ back
            if self.at_joints:
                before = step.anchor
            else:
                pose = pose @ shifted(-step.anchor)
            self.joints[joint.name] = replace(joint, parent=above, child=child, pose=pose)
            above, here = child, np.eye(4)

    def _pose(self, body: int) -> np.ndarray:
        """In the parent body's frame."""
        return posed(rotation_from_quaternion(*self.m.body_quat[body]), self.m.body_pos[body])

    def _origin(self, link: str) -> np.ndarray:
        """Where a link's frame is in its body's; links between joints have no body."""
        if link not in self.names.bodies:
            return np.zeros(3)
        return self.origins.get(self.names.bodies.index(link), np.zeros(3))

    def moved_sensor(self, sensor: Any) -> Any:
        """A sensor said in a body's frame, in its link's."""
        x, y, z = (float(one) for one in np.array(sensor.pose[:3]) - self._origin(sensor.link))
        return sensor.model_copy(update={"pose": (x, y, z, *sensor.pose[3:])})

    def moved_element(self, element: Element) -> Element:
        link = getattr(element, "link", None)
        return element if link is None else element.moved(self._origin(link).tolist())

    def _free_name(self, name: str) -> str:
        taken = {*self.links, *self.joints, *self.names.all}
        number, found = 1, name
        while found in taken:
            number += 1
            found = f"{name}_{number}"
        return found

    def _inertial(self, body: int) -> Inertial | None:
        m = self.m
        mass = float(m.body_mass[body])
        if mass == 0.0 and not m.body_inertia[body].any():
            return None
        turn = rotation_from_quaternion(*m.body_iquat[body])
        tensor = turn @ np.diag(m.body_inertia[body]) @ turn.T
        centre = m.body_ipos[body] - self.origins[body]
        name = self.names.body(body)
        return Inertial(mass, centre, (tensor + tensor.T) / 2, self.places.get(f"body {name}", Place(self.path)))

    def _custom(self, start: str, kind: Any) -> dict[str, Any]:
        """What our writer put into <custom>. A function of a user's is not taken from there: it would be run."""
        found: dict[str, Any] = {}
        for text in self.spec.texts:
            if not text.name.startswith(start):
                continue
            name = text.name.removeprefix(start)
            try:
                thing = TypeAdapter(kind).validate_python(json.loads(text.data))
            except (ValueError, ValidationError) as error:
                words = " ".join(str(error).split())[:300]
                raise InputError(Problem(f"<text name={text.name!r}>: {words}", file=self.path)) from None
            if not isinstance(thing, UserElement):
                found[name] = thing
        return found
