"""From neutral models and a world to MuJoCo's model.

Names of bodies and joints are `ROBOT/LINK` and `ROBOT/JOINT`. Only what is touched becomes a geom: what is only seen is
left to viewers, which read the neutral models.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np

from botz.errors import InputError, Problem
from botz.models.mjcf.parts import SCENARIO_OPTIONS, option_names
from botz.models.robot_model import ModelJoint, ModelShape, RobotModel
from botz.models.stiffness import METHODS
from botz.models.tree import body_chains, frames_in_body, lumped
from botz.models.yaml_model import shape_of
from botz.scenario.multibody.world import Contacts, MultibodyWorld
from botz.terrain.height_grid import HeightGrid
from botz.transforms import inverse, quaternion_of, transform

CONES = {"pyramidal": mujoco.mjtCone.mjCONE_PYRAMIDAL, "elliptic": mujoco.mjtCone.mjCONE_ELLIPTIC}
LEVEL = 1e-9
"""Terrain with less between its lowest and highest point is a plane: a height field's inner edges catch what slides
over them [m]."""
FAR = 1e9
"""Where a joint ends that has a limit on the other side only."""
GROUND = "ground"
"""Name of the geom of floor or terrain."""


@dataclass(frozen=True)
class PlacedModel:
    """A model with where it stands and whether it is tied there."""

    model: RobotModel
    pose: tuple[float, ...] = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    fixed: bool = False


def build_spec(
    world: MultibodyWorld, grid: HeightGrid | None, robots: Mapping[str, PlacedModel], *, step: float, method: str
) -> mujoco.MjSpec:
    """The world and everything in it, ready to compile."""
    spec = mujoco.MjSpec()
    spec.compiler.degree = False
    spec.option.timestep = step
    spec.option.integrator = METHODS[method]
    spec.option.gravity = world.gravity
    spec.option.magnetic = world.earth.magnetic_field
    _set_options(spec, world, [placed.model.native for placed in robots.values() if placed.model.native is not None])
    if world.memory is not None:
        spec.memory = world.memory
    if grid is not None:
        _add_terrain(spec, grid, world)
    elif world.ground:
        _add_floor(spec, world, 0.0)
    for name, shape in world.obstacles.items():
        obstacle = shape_of(shape, f"world.obstacles.{name}")
        if obstacle.collision:
            _add_geom(spec, spec.worldbody, obstacle, f"obstacle/{name}", world.contact)
    for name, placed in robots.items():
        if placed.model.native is not None:
            _attach_native(spec, name, placed, world)
        else:
            _add_robot(spec, name, placed, world.contact)
    return spec


def _set_options(spec: mujoco.MjSpec, world: MultibodyWorld, natives: list[Any]) -> None:
    """Options of MJCF files hold for the whole world, the first file's before the next one's; the scenario's go before
    them."""
    disable, enable = mujoco.mjtDisableBit, mujoco.mjtEnableBit
    option = spec.option
    said: set[str] = set()
    for native in natives:
        names = [name for name in option_names(native) if name not in SCENARIO_OPTIONS and name not in said]
        for name in names:
            setattr(option, name, getattr(native.option, name))
        said.update(names)
    # Sensors of the scenario are read from MuJoCo's; its forward comparison and sleep are no part of our steps.
    option.disableflags &= ~int(disable.mjDSBL_SENSOR)
    option.enableflags &= ~(int(enable.mjENBL_FWDINV) | int(enable.mjENBL_SLEEP))
    # On NaN MuJoCo would start over at t = 0 without a message; the engine looks for itself.
    option.disableflags |= int(disable.mjDSBL_AUTORESET)
    if not natives:
        option.disableflags |= int(disable.mjDSBL_REFSAFE)
    if world.contact.cone is not None:
        option.cone = CONES[world.contact.cone]
    if world.contact.impratio is not None:
        option.impratio = world.contact.impratio


def compile_spec(spec: mujoco.MjSpec, key: str = "") -> mujoco.MjModel:
    """MuJoCo's own complaints become InputErrors."""
    try:
        return spec.compile()
    except (ValueError, mujoco.FatalError) as error:
        message = f"MuJoCo refuses the model: {' '.join(str(error).split())}"
        if "out of memory" in message:
            raise InputError(Problem(f"{message}; raise 'world.memory'", key="world.memory")) from None
        raise InputError(Problem(message, key=key)) from None


def compile_model(model: RobotModel, *, fixed: bool = False) -> mujoco.MjModel:
    """A robot alone, without ground: for checks and comparisons of models."""
    world = MultibodyWorld(ground=False)
    placed = {"robot": PlacedModel(model, fixed=fixed or model.fixed_base)}
    return compile_spec(build_spec(world, None, placed, step=0.001, method="euler"))


def _add_floor(spec: mujoco.MjSpec, world: MultibodyWorld, height: float) -> None:
    plane = mujoco.mjtGeom.mjGEOM_PLANE
    geom = spec.worldbody.add_geom(name=GROUND, type=plane, size=[0.0, 0.0, 1.0], pos=[0.0, 0.0, height])
    _surface(geom, world.ground_friction, world.contact)
    geom.priority = 1  # its friction counts, whatever stands on it


def _add_terrain(spec: mujoco.MjSpec, grid: HeightGrid, world: MultibodyWorld) -> None:
    low, high = float(grid.heights.min()), float(grid.heights.max())
    if high - low < LEVEL:
        _add_floor(spec, world, low)
        return
    rise = high - low
    # Rows run along y and columns along x; heights are counted from 0 to 1 of the rise.
    data = ((grid.heights - low) / rise).T
    half = [(grid.x_max - grid.x_min) / 2, (grid.y_max - grid.y_min) / 2, rise, max(1.0, rise)]
    spec.add_hfield(
        name=GROUND, nrow=data.shape[0], ncol=data.shape[1], size=half, userdata=np.ascontiguousarray(data).ravel()
    )
    middle = [(grid.x_max + grid.x_min) / 2, (grid.y_max + grid.y_min) / 2, low]
    geom = spec.worldbody.add_geom(name=GROUND, type=mujoco.mjtGeom.mjGEOM_HFIELD, hfieldname=GROUND, pos=middle)
    _surface(geom, world.ground_friction, world.contact)
    geom.priority = 1  # its friction counts, whatever stands on it


def _surface(geom: Any, friction: float, contact: Contacts) -> None:
    geom.friction = [friction, 0.005, 0.0001]
    geom.solref = [contact.time_constant, contact.damping_ratio]


def _add_robot(spec: mujoco.MjSpec, name: str, placed: PlacedModel, contact: Contacts) -> None:
    model = lumped(placed.model, fixed=placed.fixed)
    root = model.root
    pose = transform(*placed.pose)
    bodies = {root: _add_body(spec, spec.worldbody, name, model, root, pose, contact)}
    if not placed.fixed:
        bodies[root].add_freejoint(name=f"{name}/")
    for chain in body_chains(model):
        link = chain[-1].child
        pose = np.linalg.multi_dot([np.eye(4), *(joint.pose for joint in chain)])
        bodies[link] = _add_body(spec, bodies[chain[0].parent], name, model, link, pose, contact)
        for joint, frame in zip(chain, frames_in_body(chain), strict=True):
            _add_joint(bodies[link], name, joint, frame)


def _add_body(spec, parent, name: str, model: RobotModel, link: str, pose: np.ndarray, contact: Contacts) -> Any:
    body = parent.add_body(name=f"{name}/{link}", pos=pose[:3, 3], quat=quaternion_of(pose[:3, :3]))
    inertial = model.links[link].inertial
    # Mass comes from the inertial alone, never from geoms.
    body.explicitinertial = True
    if inertial is not None:
        body.mass = inertial.mass
        body.ipos = inertial.centre
        tensor = inertial.inertia
        body.fullinertia = [*np.diag(tensor), tensor[0, 1], tensor[0, 2], tensor[1, 2]]
    for k, shape in enumerate(model.links[link].shapes):
        if shape.collision:
            _add_geom(spec, body, shape, f"{name}/{link}/{k}", contact)
    return body


def _add_joint(body: Any, name: str, joint: ModelJoint, frame: np.ndarray) -> None:
    """`frame` is the joint's own in that of the body."""
    if joint.kind == "fixed":
        return
    turns = joint.kind != "prismatic"
    added = body.add_joint(
        name=f"{name}/{joint.name}",
        type=mujoco.mjtJoint.mjJNT_HINGE if turns else mujoco.mjtJoint.mjJNT_SLIDE,
        pos=frame[:3, 3],
        axis=frame[:3, :3] @ np.array(joint.axis),
        armature=joint.armature,
        frictionloss=joint.friction,
    )
    # Polynomials of speed and deflection; only their linear parts are used.
    added.damping = [joint.damping, 0.0, 0.0]
    added.stiffness = [joint.stiffness, 0.0, 0.0]
    added.springref = joint.rest
    if joint.kind != "continuous" and (joint.lower is not None or joint.upper is not None):
        added.limited = mujoco.mjtLimited.mjLIMITED_TRUE
        added.range = [-FAR if joint.lower is None else joint.lower, FAR if joint.upper is None else joint.upper]


def _add_geom(spec: mujoco.MjSpec, body: Any, shape: ModelShape, name: str, contact: Contacts) -> None:
    geom = body.add_geom(name=name, pos=shape.pose[:3, 3], quat=quaternion_of(shape.pose[:3, :3]))
    _surface(geom, shape.friction, contact)
    match shape.kind:
        case "box":
            geom.type, geom.size = mujoco.mjtGeom.mjGEOM_BOX, np.asarray(shape.size) / 2
        case "sphere":
            geom.type, geom.size = mujoco.mjtGeom.mjGEOM_SPHERE, [shape.size[0], 0, 0]
        case "cylinder":
            geom.type, geom.size = mujoco.mjtGeom.mjGEOM_CYLINDER, [shape.size[0], shape.size[1] / 2, 0]
        case "capsule":
            geom.type, geom.size = mujoco.mjtGeom.mjGEOM_CAPSULE, [shape.size[0], shape.size[1] / 2, 0]
        case "ellipsoid":
            geom.type, geom.size = mujoco.mjtGeom.mjGEOM_ELLIPSOID, shape.size
        case "plane":
            geom.type, geom.size = mujoco.mjtGeom.mjGEOM_PLANE, [0.0, 0.0, 1.0]
        case "mesh":
            geom.type, geom.meshname = mujoco.mjtGeom.mjGEOM_MESH, _add_mesh(spec, shape)
        case _:
            raise ValueError(f"no shape {shape.kind!r}")


def _add_mesh(spec: mujoco.MjSpec, shape: ModelShape) -> str:
    """The mesh of a shape; one for all that have the same file and scale. Read by our own reader, so that every format
    is the same for MuJoCo, mass properties and viewers."""
    from botz.models.meshes.mesh import load_mesh, why_flat

    name = f"{shape.file}*{shape.scale}"
    if spec.mesh(name) is None:
        assert shape.file is not None
        mesh = load_mesh(shape.file, shape.scale)
        if complaint := why_flat(mesh):
            raise InputError(Problem(complaint, file=shape.file))
        vertices = np.asarray(mesh.vertices, dtype=np.float32).ravel()
        faces = np.asarray(mesh.faces, dtype=np.int32).ravel()
        spec.add_mesh(name=name, uservert=vertices, userface=faces, inertia=mujoco.mjtMeshInertia.mjMESH_INERTIA_CONVEX)
    return name


def _set_alike(one: Any, other: Any) -> None:
    for name in (each for each in dir(other) if not each.startswith("_")):
        setattr(one, name, getattr(other, name))


def _attach_native(spec: mujoco.MjSpec, name: str, placed: PlacedModel, world: MultibodyWorld) -> None:
    """An MJCF robot as it is, with all that only MJCF can say; its world's geoms come along.

    `pose` is that of the root link, as for other formats: where the file draws it is taken out.
    """
    pose = transform(*placed.pose) @ inverse(placed.model.root_pose)
    frame = spec.worldbody.add_frame(pos=pose[:3, 3], quat=quaternion_of(pose[:3, :3]))
    child = placed.model.native.copy()
    # One world has one set of options, in which those of the file are by now.
    _set_alike(child.option, spec.option)
    # One world has one memory, too: the scenario's, or where it says none, the largest that a file asks for.
    if world.memory is None:
        spec.memory = max(spec.memory, child.memory)
    for key in list(child.keys):
        child.delete(key)
    for size in ("memory", "nkey", "njmax", "nconmax", "nstack"):
        setattr(child, size, getattr(spec, size))
    # What only viewers and users' numbers need would be a conflict with the world's own, of which MuJoCo warns.
    for size in (one for one in dir(spec) if one.startswith("nuser_")):
        setattr(child, size, max(getattr(child, size), getattr(spec, size)))
        setattr(spec, size, getattr(child, size))
    for part in (one for one in dir(spec.visual) if not one.startswith("_")):
        _set_alike(getattr(child.visual, part), getattr(spec.visual, part))
    _set_alike(child.stat, spec.stat)
    if placed.fixed:
        root = child.body(placed.model.root)
        for joint in [one for one in root.joints if one.type == mujoco.mjtJoint.mjJNT_FREE]:
            child.delete(joint)
    spec.attach(child, frame=frame, prefix=f"{name}/")
