"""From a checked scenario to the tables of the engine `multibody`: models, actuators, elements and sensors.

Names become numbers here, once; the loop knows numbers only.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import mujoco
import numpy as np
from pydantic import ValidationError

from botz.channels import Channel, JointView, PoseView, RosView
from botz.engines.multibody import rows as multibody_rows
from botz.engines.multibody import sensing as multibody_sensing
from botz.engines.multibody.elements import kinds as element_kinds
from botz.engines.multibody.elements.base import FRAME, BuiltElement, compiled_call
from botz.engines.multibody.step import ACTUATOR, DIRECT, EFFORT, ELEMENT, POSITION, VELOCITY
from botz.errors import InputError, Problem
from botz.models.files import loaded
from botz.models.mj_world import PlacedModel, build_spec, compile_spec
from botz.models.mjcf.parts import native_actuator_of, without_actuators
from botz.models.plugins import UNKNOWN
from botz.models.robot_model import GAINS, ModelJoint, RobotModel
from botz.models.stiffness import AUTO
from botz.models.tree import bodiless
from botz.models.yaml_model import model_of
from botz.physics.aero.wind import GUST, WIND
from botz.scenario.multibody.elements import Element, UserElement
from botz.scenario.multibody.schema import ActuatorSpec, MultibodyScenario, PlacedMultibody
from botz.scenario.multibody.sensors import Sensor
from botz.scenario.multibody.world import Wind
from botz.scenario.names import closest
from botz.terrain.height_grid import HeightGrid
from botz.transforms import quaternion_of, transform

COMMANDS = {"position": ("position", POSITION), "velocity": ("speed", VELOCITY), "effort": ("effort", EFFORT)}
"""By an actuator's kind: what its command is called, and its number."""
UNLIMITED = 1e12


@dataclass
class RobotParts:
    """One robot: its model, and what of it moves, is commanded and is seen."""

    name: str
    spec: PlacedMultibody
    model: RobotModel
    joints: dict[str, ModelJoint]
    """Those that move, by name."""
    actuators: dict[str, ActuatorSpec] = field(default_factory=dict)
    """By joint."""
    controls: tuple[str, ...] = ()
    """Actuators of an MJCF file, which are commanded as they are."""
    element_specs: dict[str, Element] = field(default_factory=dict)
    elements: dict[str, BuiltElement] = field(default_factory=dict)
    sensors: dict[str, Sensor] = field(default_factory=dict)

    @property
    def key(self) -> str:
        return f"robots.{self.name}"


def robots_of(scenario: MultibodyScenario, user_elements: str) -> dict[str, RobotParts]:
    """All robots with their models; all their mistakes at once."""
    found: dict[str, RobotParts] = {}
    problems: list[Problem] = []
    for name, robot in scenario.robots.items():
        try:
            found[name] = _robot(name, robot, user_elements)
        except InputError as error:
            problems += error.problems
    if problems:
        raise InputError(problems)
    return found


def _robot(name: str, robot: PlacedMultibody, user_elements: str) -> RobotParts:
    key = f"robots.{name}"
    if robot.file is None:
        model = model_of(robot, name, key)
    else:
        model = loaded(robot)
        if robot.unknown_plugins == "refuse":
            unknown = [note for note in model.notes if note.key == UNKNOWN]
            if unknown:
                remedy = "; or leave it out by 'unknown_plugins: ignore' of the robot"
                raise InputError([replace(note, message=note.message + remedy) for note in unknown])
    joints = {one.name: one for one in model.joints.values() if one.kind != "fixed"}
    parts = RobotParts(name, robot, model, joints)
    parts.actuators = _actuators(parts)
    if parts.model.native is not None:
        parts.controls = tuple(one.name for one in parts.model.native.actuators)
    problems: list[Problem] = []
    parts.element_specs = {**model.elements, **robot.elements}
    allowed = user_elements == "run"
    for element, spec in parts.element_specs.items():
        if isinstance(spec, UserElement) and user_elements == "skip":
            continue
        try:
            parts.elements[element] = element_kinds.built(
                element, spec, name, model.links, joints, allow_user_code=allowed
            )
        except InputError as error:
            problems += error.problems
    parts.sensors = {**model.sensors, **robot.sensors}
    for sensor, reading in parts.sensors.items():
        if reading.link not in model.links:
            message = f"no link {reading.link!r}{closest(reading.link, model.links)}"
            problems.append(Problem(message, key=f"{key}.sensors.{sensor}.link"))
        try:
            multibody_sensing.kind_of(reading, f"{key}.sensors.{sensor}.type")
        except InputError as error:
            problems += error.problems
    problems += _without_body(parts)
    problems += [
        Problem(f"no joint {joint!r} that moves{closest(joint, joints)}", key=f"{key}.{part}.{joint}")
        for part in ("start", "start_speed")
        for joint in getattr(robot, part)
        if joint not in joints
    ]
    for part, slides, turns in (("start", "m", "rad"), ("start_speed", "m/s", "rad/s")):
        for joint in getattr(robot, part):
            unit = slides if joint in joints and joints[joint].kind == "prismatic" else turns
            if joint in joints and (misfit := robot.unit_misfit(part, joint, unit)):
                problems.append(Problem(misfit, key=f"{key}.{part}.{joint}"))
    taken = [*joints, *parts.elements, *parts.sensors]
    for other in dict.fromkeys(one for one in taken if taken.count(one) > 1):
        message = f"{other!r} is the name of a joint, element or sensor already; choose another"
        problems.append(Problem(message, key=f"{key}.elements.{other}"))
    problems += _named_twice(parts)
    if problems:
        raise InputError(problems)
    return parts


def _without_body(parts: RobotParts) -> Iterator[Problem]:
    """Elements and sensors on links that are no bodies of MuJoCo's."""
    left_out = bodiless(parts.model)
    for kind, things in (("elements", parts.element_specs), ("sensors", parts.sensors)):
        for name, thing in things.items():
            if (link := getattr(thing, "link", None)) in left_out:
                message = f"link {link!r} has no mass and lies between two joints; take a link that has mass"
                yield Problem(message, key=f"{parts.key}.{kind}.{name}.link")


def _named_twice(parts: RobotParts) -> Iterator[Problem]:
    """Commands and reports that two elements, or one of a user's twice, call by the same name."""
    commands: dict[str, str] = {}
    for name, element in parts.elements.items():
        key = f"{parts.key}.elements.{name}"
        for command, _ in element.inputs:
            if command in commands:
                remedy = "put it on another joint" if element.joint else "give its motors other names"
                message = f"has the command {command!r}, as element {commands[command]!r} has; {remedy}"
                yield Problem(message, key=key)
            commands[command] = name
        shown = [] if element.kind.joint_only else ["force"]
        shown += [one.name for one in element.kind.reports]
        for report in dict.fromkeys(one for one in shown if shown.count(one) > 1):
            yield Problem(f"shows {report!r} twice; name one of them otherwise", key=key)


def _actuators(parts: RobotParts) -> dict[str, ActuatorSpec]:
    """What the file's transmissions ask for, with what the robot says laid over it."""
    found: dict[str, dict[str, Any]] = {}
    for joint, asked in parts.model.actuators.items():
        found[joint] = {"kind": asked.kind, **asked.gains}
        for key in ("lag", "lag_down", "speed"):
            if (value := getattr(asked, key, None)) is not None:
                found[joint][key] = value
    problems = []
    for joint, spec in parts.spec.actuators.items():
        native = parts.model.native
        if joint not in parts.joints:
            message = f"no joint {joint!r} that moves{closest(joint, parts.joints)}"
            problems.append(Problem(message, key=f"{parts.key}.actuators.{joint}"))
        elif native is not None and (own := native_actuator_of(native, joint)) is not None:
            message = f"actuator {own!r} of joint {joint!r}: replaced by 'actuators.{joint}' of the robot"
            parts.model = replace(
                parts.model,
                native=without_actuators(native, [joint]),
                notes=(*parts.model.notes, Problem(message, file=parts.model.file)),
            )
        asked_for = found.get(joint, {})
        if asked_for.get("kind", spec.kind) != spec.kind:  # gains are those of a kind
            asked_for = {key: value for key, value in asked_for.items() if key not in GAINS}
        found[joint] = {**asked_for, **spec.model_dump(exclude_unset=True)}
    for values in found.values():
        if values["kind"] == "effort":
            # A file may give it all the same, or for the kind that the scenario has changed.
            values.pop("speed", None)
    made: dict[str, ActuatorSpec] = {}
    for joint, values in found.items():
        try:
            made[joint] = ActuatorSpec.model_validate(values)
        except ValidationError as error:
            # What the scenario says was looked at already; what is left comes from the file.
            for one in error.errors(include_url=False):
                what = ".".join(str(part) for part in one["loc"])
                message = f"the actuator's {what} is {one['input']!r}: {one['msg']}"
                problems.append(parts.model.actuators[joint].place.problem(message, f"joint {joint}"))
    if problems:
        raise InputError(problems)
    return made


def mujoco_model(scenario: MultibodyScenario, robots: dict[str, RobotParts], grid: HeightGrid | None) -> mujoco.MjModel:
    placed = {
        name: PlacedModel(one.model, one.spec.pose, one.spec.base == "fixed" or one.model.fixed_base)
        for name, one in robots.items()
    }
    # Which method is chosen by itself is known only when all gains are.
    method = "rk4" if scenario.time.method == AUTO else scenario.time.method
    spec = build_spec(scenario.world, grid, placed, step=scenario.time.step, method=method)
    for name, one in robots.items():
        for joint in one.actuators:
            # Names of their own: what the file itself calls so stays as it is.
            spec.add_actuator(name=f"{name}/{joint}/servo", target=f"{name}/{joint}", trntype=mujoco.mjtTrn.mjTRN_JOINT)
        for sensor, reading in one.sensors.items():
            _add_sensor(spec, name, sensor, reading)
    return compile_spec(spec, key=f"robots.{next(iter(robots))}" if len(robots) == 1 else "robots")


def _add_sensor(spec: mujoco.MjSpec, robot: str, name: str, sensor: Sensor) -> None:
    """MuJoCo's sensors that the readings are made of, one after the other, at sites on the link."""
    body, pose = spec.body(f"{robot}/{sensor.link}"), transform(*sensor.pose)
    for part in multibody_sensing.kind_of(sensor).true:
        ray = part == "rangefinder"
        # MuJoCo's range finder looks along z, ours along x: z → x, x → −z.
        turn = np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]]) if ray else np.eye(3)
        site = f"{robot}/{name}/{'ray' if ray else 'site'}"
        if spec.site(site) is None:
            body.add_site(name=site, pos=pose[:3, 3], quat=quaternion_of(pose[:3, :3] @ turn))
        added = spec.add_sensor(
            name=f"{robot}/{name}/{part}",
            type=getattr(mujoco.mjtSensor, f"mjSENS_{part.upper()}"),
            objtype=mujoco.mjtObj.mjOBJ_SITE,
            objname=site,
        )
        if ray:
            # A set of what it shows, by bits: the distance alone.
            added.intprm[0] = 1 << int(mujoco.mjtRayDataField.mjRAYDATA_DIST)


@dataclass
class Tables:
    """What the loop goes through, for all robots one after another."""

    robots: np.ndarray
    joints: np.ndarray
    actuators: np.ndarray
    elements: np.ndarray
    frames: np.ndarray
    sensors: np.ndarray
    readings: np.ndarray
    channels: list[Channel]
    inputs: list[Channel]
    views: tuple[RosView, ...]
    kept: list[Any]
    """Compiled functions and parameters that the tables name by address."""


def tables_of(scenario: MultibodyScenario, robots: dict[str, RobotParts], model: mujoco.MjModel) -> Tables:
    rows: dict[str, list[np.ndarray]] = {one: [] for one in ("robots", "joints", "actuators", "elements", "sensors")}
    channels: list[Channel] = []
    inputs: list[Channel] = []
    views: list[RosView] = []
    kept: list[Any] = []
    for name, one in robots.items():
        robot = np.zeros(1, multibody_rows.ROBOT)
        robot["body"] = model.body(f"{name}/{one.model.root}").id
        robot["tree"] = model.body_rootid[robot["body"][0]]
        channels += multibody_rows.ROOT.of(name)
        for part in ("joint", "element", "sensor"):
            robot[f"{part}_start"] = len(rows[f"{part}s"])
        for joint, spec in one.joints.items():
            rows["joints"].append(_joint_row(model, name, joint))
            channels += (multibody_rows.SLIDE if spec.kind == "prismatic" else multibody_rows.HINGE).of(
                f"{name}/{joint}"
            )
        for joint, actuator in one.actuators.items():
            rows["actuators"].append(_actuator_row(model, name, one.joints[joint], actuator, len(inputs)))
            inputs.append(_command_channel(name, one.joints[joint], actuator))
        for control in one.controls:
            rows["actuators"].append(_direct_row(model, f"{name}/{control}", len(inputs)))
            inputs.append(Channel(f"{name}/{control}/control", "1", "commanded to the model's own actuator"))
        for element in one.elements.values():
            rows["elements"].append(_element_row(model, name, element, len(inputs)))
            kept.append(element)
            inputs += [
                Channel(f"{name}/{command}", given.unit, given.description or "commanded")
                for command, given in element.inputs
            ]
            channels += _element_channels(name, element)
        for sensor, reading in one.sensors.items():
            kind = multibody_sensing.kind_of(reading)
            rows["sensors"].append(_sensor_row(model, scenario, name, sensor, reading, kind, kept))
            channels += multibody_sensing.channels_of(f"{name}/{sensor}", kind)
            views += multibody_sensing.views_of(name, sensor, kind)
        for part in ("joint", "element", "sensor"):
            robot[f"{part}_stop"] = len(rows[f"{part}s"])
        rows["robots"].append(robot)
        views = [*_views(name, one), *views]
    types = {
        "robots": multibody_rows.ROBOT,
        "joints": multibody_rows.JOINT,
        "actuators": ACTUATOR,
        "elements": ELEMENT,
        "sensors": multibody_sensing.SENSOR,
    }
    joined = {key: np.concatenate(found) if found else np.zeros(0, types[key]) for key, found in rows.items()}
    joined = {key: found.view(types[key]) for key, found in joined.items()}
    frames = np.zeros(len(rows["elements"]), FRAME)
    readings = np.zeros(len(rows["sensors"]), multibody_sensing.READING)
    return Tables(
        **joined, frames=frames, readings=readings, channels=channels, inputs=inputs, views=tuple(views), kept=kept
    )


def _views(name: str, robot: RobotParts) -> Iterator[RosView]:
    yield PoseView(name, name, "odom", f"{name}/pose", f"{name}/twist")
    if robot.joints:
        parts = [f"{name}/{joint}" for joint in robot.joints]
        yield JointView(
            name,
            tuple(robot.joints),
            tuple(f"{part}/position" for part in parts),
            tuple(f"{part}/speed" for part in parts),
            tuple(f"{part}/effort" for part in parts),
        )


def _joint_row(model: mujoco.MjModel, robot: str, joint: str) -> np.ndarray:
    found = np.zeros(1, multibody_rows.JOINT)
    number = model.joint(f"{robot}/{joint}").id
    found["position"], found["dof"] = model.jnt_qposadr[number], model.jnt_dofadr[number]
    return found


def _command_channel(robot: str, joint: ModelJoint, actuator: ActuatorSpec) -> Channel:
    word, _ = COMMANDS[actuator.kind]
    length, force = ("m", "N") if joint.kind == "prismatic" else ("rad", "N·m")
    unit = {"position": length, "speed": f"{length}/s", "effort": force}[word]
    return Channel(f"{robot}/{joint.name}/{word}", unit, f"{word} commanded")


def _actuator_row(
    model: mujoco.MjModel, robot: str, joint: ModelJoint, spec: ActuatorSpec, at_input: int
) -> np.ndarray:
    """Limits and time constants of an actuator; the gains come later, from the inertia that it moves."""
    found = np.zeros(1, ACTUATOR)
    one = found[0]
    number = model.joint(f"{robot}/{joint.name}").id
    one.kind, one.input = COMMANDS[spec.kind][1], at_input
    one.control = model.actuator(f"{robot}/{joint.name}/servo").id
    one.position, one.dof = model.jnt_qposadr[number], model.jnt_dofadr[number]
    speed = spec.speed or joint.speed or UNLIMITED
    one.effort = spec.effort or joint.effort or UNLIMITED
    one.rate = speed
    match spec.kind:
        case "position":
            limited = joint.kind != "continuous"
            one.lower = joint.lower if limited and joint.lower is not None else -UNLIMITED
            one.upper = joint.upper if limited and joint.upper is not None else UNLIMITED
        case "velocity":
            one.lower, one.upper = -speed, speed
        case "effort":
            one.lower, one.upper = -one.effort, one.effort
    one.lag_up = spec.lag
    one.lag_down = spec.lag if spec.lag_down is None else spec.lag_down
    return found


def _direct_row(model: mujoco.MjModel, name: str, at_input: int) -> np.ndarray:
    found = np.zeros(1, ACTUATOR)
    one = found[0]
    one.kind, one.input, one.control = DIRECT, at_input, model.actuator(name).id
    limited = bool(model.actuator_ctrllimited[one.control])
    low, high = model.actuator_ctrlrange[one.control] if limited else (-UNLIMITED, UNLIMITED)
    one.lower, one.upper, one.rate, one.effort = low, high, UNLIMITED, UNLIMITED
    return found


def set_gains(model: mujoco.MjModel, data: mujoco.MjData, robots: dict[str, RobotParts], actuators: np.ndarray) -> None:
    """Gains of the servos, from the inertia that each joint moves in the present position: 1/(M⁻¹)_jj, since a floating
    robot gives way behind the joint. MuJoCo's own actuators hold them, so that its implicit methods know them."""
    try:
        mujoco.mj_forward(model, data)
    except mujoco.FatalError as error:
        message = f"MuJoCo stopped: {' '.join(str(error).split())}"
        raise InputError(Problem(message, key="world.memory")) from None
    mass = np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(model, data, mass)
    moved = 1.0 / np.diag(np.linalg.inv(mass)) if model.nv else np.zeros(0)
    rows = iter(actuators)
    for robot in robots.values():
        for spec in robot.actuators.values():
            one = next(rows)
            inertia, frequency = float(moved[one.dof]), spec.frequency
            if spec.kind == "effort":
                gain, bias = 1.0, (0.0, 0.0)
            elif spec.kind == "position":
                gain = inertia * frequency**2 if spec.proportional is None else spec.proportional
                damping = 2.0 * spec.damping_ratio * inertia * frequency
                one.derivative = damping if spec.derivative is None else spec.derivative
                bias = (-gain, -one.derivative)
            else:
                gain = inertia * frequency if spec.proportional is None else spec.proportional
                bias = (0.0, -gain)
            one.proportional = gain
            one.integral = gain / spec.integral_time if spec.integral_time else spec.integral or 0.0
            k = one.control
            model.actuator_gainprm[k, 0] = gain
            model.actuator_biastype[k] = int(mujoco.mjtBias.mjBIAS_AFFINE)
            model.actuator_biasprm[k, 1:3] = bias
            if one.effort < UNLIMITED:
                model.actuator_forcelimited[k] = 1
                model.actuator_forcerange[k] = -one.effort, one.effort
        for _ in robot.controls:
            next(rows)


def _element_row(model: mujoco.MjModel, robot: str, element: BuiltElement, at_input: int) -> np.ndarray:
    found = np.zeros(1, ELEMENT)
    one = found[0]
    one.call = compiled_call(element.kind, element.parameters.dtype).address
    one.parameters = element.parameters.ctypes.data
    one.body = model.body(f"{robot}/{element.link}").id
    one.root = model.body_rootid[one.body]
    one.joint = -1
    if element.joint:
        one.joint = model.joint(f"{robot}/{element.joint}").id
        one.position, one.dof = model.jnt_qposadr[one.joint], model.jnt_dofadr[one.joint]
    one.input, one.inputs = at_input, len(element.kind.inputs)
    one.shown_forces = 0 if element.kind.joint_only else 3
    one.reports = len(element.kind.reports)
    return found


def _element_channels(robot: str, element: BuiltElement) -> list[Channel]:
    part = f"{robot}/{element.name}"
    found = []
    if not element.kind.joint_only:
        found.append(Channel(f"{part}/force", "N", "on its link, in the world's axes", ("x", "y", "z")))
    return found + [Channel(f"{part}/{one.name}", one.unit, one.description) for one in element.kind.reports]


def _sensor_row(
    model: mujoco.MjModel,
    scenario: MultibodyScenario,
    robot: str,
    name: str,
    sensor: Sensor,
    kind: multibody_sensing.SensorKind,
    kept: list[Any],
) -> np.ndarray:
    key = f"robots.{robot}.sensors.{name}"
    parameters = multibody_sensing.parameters_of(sensor, kind, scenario.world, key)
    kept.append(parameters)
    found = np.zeros(1, multibody_sensing.SENSOR)
    one = found[0]
    one.call, one.parameters = multibody_sensing.compiled_call(kind, parameters.dtype).address, parameters.ctypes.data
    one.every, one.body = scenario.time.steps_between(sensor.rate), model.body(f"{robot}/{sensor.link}").id
    if kind.true:
        one.source = model.sensor(f"{robot}/{name}/{kind.true[0]}").adr[0]
    one.true = sum(multibody_sensing.TRUE[part] for part in kind.true)
    one.random, one.readings = kind.random, sum(channel.size for channel in kind.channels)
    return found


def wind_of(wind: Wind) -> tuple[np.ndarray, np.ndarray]:
    """The wind and its gusts for the loop."""
    air, gusts = np.zeros(1, WIND), np.zeros(len(wind.gusts), GUST)
    air["steady"] = wind.steady
    air["correlation_time"] = 1.0
    if wind.turbulence is not None:
        air["intensity"] = wind.turbulence.intensity
        air["correlation_time"] = wind.turbulence.length / wind.turbulence.speed
    for row, gust in zip(gusts, wind.gusts, strict=True):
        row.at, row.duration, row.velocity = gust.at, gust.duration, gust.velocity
    return air, gusts
