"""Names, shapes and actuators of a compiled MuJoCo model."""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

from botz.models.robot_model import ModelActuator, ModelShape
from botz.transforms import inverse, posed, rotation_from_quaternion

GEOMS = mujoco.mjtGeom
HIDDEN = 3
"""Geoms of this group and beyond are not drawn, as MuJoCo's viewer does at its start."""
ON_JOINTS = (mujoco.mjtTrn.mjTRN_JOINT, mujoco.mjtTrn.mjTRN_JOINTINPARENT)
"""How actuators that move one joint say so."""
PLAIN = np.array([0.5, 0.5, 0.5, 1.0], dtype=np.float32)
"""Colour of a geom that says none."""


SCENARIO_OPTIONS = {
    "timestep": "time.step",
    "gravity": "world.gravity",
    "wind": "world.wind.steady",
    "magnetic": "world.earth.magnetic_field",
    "integrator": "time.method",
}
"""Options of a file that the scenario has keys of its own for, by MuJoCo's name. All others hold for the world."""


def name_all(spec: Any) -> None:
    """Give a name to bodies, joints and actuators that have none, so that they can be asked for."""
    for what, things in (("body", spec.bodies[1:]), ("joint", spec.joints), ("actuator", spec.actuators)):
        taken = {one.name for one in things}
        for number, one in enumerate(things, 1):
            if not one.name:
                name = f"{what}_{number}"
                while name in taken:
                    name += "_"
                taken.add(name)
                one.name = name


def option_names(spec: Any) -> list[str]:
    """Options that a file sets to something else than MuJoCo does itself."""
    plain = mujoco.MjSpec().option
    names = [name for name in dir(plain) if not name.startswith("_")]
    return [name for name in names if not np.array_equal(getattr(spec.option, name), getattr(plain, name))]


def native_actuator_of(spec: Any, joint: str) -> str | None:
    """The name of a file's own actuator that moves a joint; None where there is none."""
    return next((one.name for one in spec.actuators if one.trntype in ON_JOINTS and one.target == joint), None)


def without_actuators(spec: Any, joints: Collection[str]) -> Any:
    """A copy of a file's description without the actuators of these joints and what measures them."""
    copied = spec.copy()
    gone = [one for one in copied.actuators if one.trntype in ON_JOINTS and one.target in joints]
    names = {one.name for one in gone}
    measured = mujoco.mjtObj.mjOBJ_ACTUATOR
    gone += [one for one in copied.sensors if one.objtype == measured and one.objname in names]
    for one in gone:
        copied.delete(one)
    # Keys hold a control for each actuator; a scenario does not use them.
    for key in list(copied.keys):
        copied.delete(key)
    return copied


class Names:
    """Names of a compiled model's bodies and joints by their numbers."""

    def __init__(self, m: Any):
        self.bodies = [mujoco.mj_id2name(m, mujoco.mjtObj.mjOBJ_BODY, k) for k in range(m.nbody)]
        self.joints = [mujoco.mj_id2name(m, mujoco.mjtObj.mjOBJ_JOINT, k) for k in range(m.njnt)]
        self.all = {*self.bodies, *self.joints}

    def body(self, number: int) -> str:
        return self.bodies[number]

    def joint(self, number: int) -> str:
        return self.joints[number]


def shapes_of(spec: Any, m: Any, body: int, shift: np.ndarray, note: Callable[[str], None]) -> tuple[ModelShape, ...]:
    """The body's geoms; `shift` goes from the body's frame to the link's."""
    found = []
    for geom in range(m.body_geomadr[body], m.body_geomadr[body] + m.body_geomnum[body]):
        pose = posed(rotation_from_quaternion(*m.geom_quat[geom]), m.geom_pos[geom])
        a, b, c = (float(one) for one in m.geom_size[geom])
        kind: str
        size: tuple[float, ...]
        file: Path | None = None
        scale = (1.0, 1.0, 1.0)
        match m.geom_type[geom]:
            case GEOMS.mjGEOM_BOX:
                kind, size = "box", (2 * a, 2 * b, 2 * c)
            case GEOMS.mjGEOM_SPHERE:
                kind, size = "sphere", (a,)
            case GEOMS.mjGEOM_CYLINDER:
                kind, size = "cylinder", (a, 2 * b)
            case GEOMS.mjGEOM_CAPSULE:
                kind, size = "capsule", (a, 2 * b)
            case GEOMS.mjGEOM_ELLIPSOID:
                kind, size = "ellipsoid", (a, b, c)
            case GEOMS.mjGEOM_PLANE:
                kind, size = "plane", ()
            case GEOMS.mjGEOM_MESH:
                mesh = int(m.geom_dataid[geom])
                file = _mesh_file(spec, m, mesh)
                if file is None:
                    note(f"mesh {mujoco.mj_id2name(m, mujoco.mjtObj.mjOBJ_MESH, mesh)!r} has no file: not shown")
                    continue
                kind, size = "mesh", ()
                sx, sy, sz = (float(one) for one in m.mesh_scale[mesh])
                scale = (sx, sy, sz)
                # MuJoCo moves a mesh to its centre of mass and principal axes; the file's own frame is wanted.
                own = posed(rotation_from_quaternion(*m.mesh_quat[mesh]), m.mesh_pos[mesh])
                pose = pose @ inverse(own)
            case _:
                note("a geom that is a height field or of MuJoCo's own kinds is kept natively, not shown")
                continue
        material = int(m.geom_matid[geom])
        # A colour of the geom's own goes before its material's.
        plain = np.array_equal(m.geom_rgba[geom], PLAIN)
        rgba = m.mat_rgba[material] if material >= 0 and plain else m.geom_rgba[geom]
        red, green, blue, alpha = (float(one) for one in rgba)
        touched = bool(m.geom_contype[geom] or m.geom_conaffinity[geom])
        found.append(
            ModelShape(
                kind,
                size,
                shift @ pose,
                file,
                scale,
                visual=bool(m.geom_group[geom] < HIDDEN),
                collision=touched,
                colour=(red, green, blue, alpha),
                friction=float(m.geom_friction[geom, 0]),
            )
        )
    return tuple(found)


def _mesh_file(spec: Any, m: Any, mesh: int) -> Path | None:
    said = spec.mesh(mujoco.mj_id2name(m, mujoco.mjtObj.mjOBJ_MESH, mesh))
    if said is None or not said.file:
        return None
    for folder in (spec.meshdir, ""):
        found = Path(spec.modelfiledir or "") / folder / said.file
        if found.is_file():
            return found
    return None


def actuators_of(m: Any, joints: Collection[str]) -> dict[str, tuple[ModelActuator, float | None]]:
    """Actuators that are a servo for position or speed, or a plain effort, with their largest effort; by joint."""
    names = Names(m)
    found: dict[str, tuple[ModelActuator, float | None]] = {}
    for k in range(m.nu):
        if m.actuator_trntype[k] != mujoco.mjtTrn.mjTRN_JOINT:
            continue
        joint = names.joint(int(m.actuator_trnid[k, 0]))
        plain = m.actuator_gaintype[k] == mujoco.mjtGain.mjGAIN_FIXED
        if joint not in joints or joint in found or not plain:
            continue
        match m.actuator_biastype[k]:
            case mujoco.mjtBias.mjBIAS_NONE:
                kind = "effort"
            case mujoco.mjtBias.mjBIAS_AFFINE:
                kind = "position" if m.actuator_biasprm[k, 1] else "velocity"
            case _:
                continue
        gear = abs(float(m.actuator_gear[k, 0]))
        most: float | None = None
        if m.actuator_forcelimited[k]:
            most = gear * float(np.abs(m.actuator_forcerange[k]).max())
        elif kind == "effort" and m.actuator_ctrllimited[k]:
            most = gear * float(abs(m.actuator_gainprm[k, 0]) * np.abs(m.actuator_ctrlrange[k]).max())
        found[joint] = ModelActuator(joint, kind), most
    return found
