"""The neutral scene as a MuJoCo model, for images without a window: every node a body that is put where it belongs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import tan

import mujoco
import numpy as np

from botz.scene.world_scene import Material, Node, Scene, Shape, TriangleMesh

SUN = 2.0
"""How far the sun stands off, in radii of the scene."""
AWAY = (0.0, 0.0, -1e4)
"""Where hidden nodes wait."""
SKY = ((0.34, 0.52, 0.76), (0.86, 0.91, 0.96))
"""Overhead and at the horizon."""
HALL = ((0.13, 0.14, 0.16), (0.22, 0.23, 0.26))


class OffscreenModel:
    """A compiled model of a scene. `place` puts the nodes, a renderer of MuJoCo draws it."""

    def __init__(self, scene: Scene, size: tuple[int, int]):
        self.size = size
        self._radius = scene.radius
        spec = mujoco.MjSpec()
        settings(spec, scene, size)
        meshes: dict[int, str] = {}
        for name, material in scene.materials.items():
            add_material(spec, name, material)
        self._nodes: list[str] = []
        for node in scene.nodes:
            if node.shapes:
                add_node(spec, node, meshes, scene.materials)
                self._nodes.append(node.name)
        self.model = spec.compile()
        self.data = mujoco.MjData(self.model)
        self._unshaded = {self.model.geom(name).id for name in geom_names(scene, lambda shape: not shape.casts_shadow)}
        self._mocap = {name: int(self.model.body(name).mocapid[0]) for name in self._nodes}

    def place(self, poses: Mapping[str, np.ndarray], focus: np.ndarray) -> None:
        """Put the nodes; the sun stands over `focus`, so that shadows are sharpest there."""
        for name, index in self._mocap.items():
            pose = poses.get(name)
            if pose is None:
                self.data.mocap_pos[index] = AWAY
            else:
                self.data.mocap_pos[index], self.data.mocap_quat[index] = pose[:3], pose[3:7]
        mujoco.mj_kinematics(self.model, self.data)
        mujoco.mj_camlight(self.model, self.data)
        self.data.light_xpos[0] = focus - SUN * self._radius * self.data.light_xdir[0]

    def let_ground_cast_none(self, drawn: mujoco.MjvScene) -> None:
        """Ground that casts a shadow shades itself in patches, by the rounding of MuJoCo's shadow maps; what is called
        decoration receives shadows and casts none."""
        for geom in drawn.geoms[: drawn.ngeom]:
            if geom.objtype == mujoco.mjtObj.mjOBJ_GEOM and geom.objid in self._unshaded:
                geom.category = mujoco.mjtCatBit.mjCAT_DECOR


def geom_names(scene: Scene, wanted: Callable[[Shape], bool]) -> list[str]:
    return [f"{node.name} {k}" for node in scene.nodes for k, shape in enumerate(node.shapes) if wanted(shape)]


def settings(spec: mujoco.MjSpec, scene: Scene, size: tuple[int, int]) -> None:
    spec.visual.global_.offwidth, spec.visual.global_.offheight = size
    spec.visual.quality.shadowsize = 4096
    spec.visual.quality.offsamples = 4
    spec.stat.extent = max(scene.radius, 1e-3)
    spec.stat.center = scene.centre
    # The range of depths in the sun's map of shadows; images have their own.
    spec.visual.map.znear, spec.visual.map.zfar = 0.05, SUN + 3.0
    spec.visual.map.shadowclip = 1.5
    spec.visual.map.haze = 0.3
    spec.visual.rgba.haze = (*(HALL if scene.indoors else SKY)[1], 1.0)
    spec.visual.headlight.ambient = (0.42, 0.43, 0.46)
    spec.visual.headlight.diffuse = (0.22, 0.22, 0.22)
    spec.visual.headlight.specular = (0.05, 0.05, 0.05)
    overhead, horizon = HALL if scene.indoors else SKY
    spec.add_texture(
        name="sky",
        type=mujoco.mjtTexture.mjTEXTURE_SKYBOX,
        builtin=mujoco.mjtBuiltin.mjBUILTIN_GRADIENT,
        rgb1=horizon,
        rgb2=overhead,
        width=256,
        height=1536,
    )
    spec.worldbody.add_light(
        name="sun",
        type=mujoco.mjtLightType.mjLIGHT_DIRECTIONAL,
        pos=(scene.centre[0], scene.centre[1], scene.centre[2] + 3.0 * scene.radius),
        dir=(-0.35, 0.28, -0.9),
        diffuse=(0.62, 0.6, 0.56),
        specular=(0.15, 0.15, 0.15),
        castshadow=True,
    )


def add_material(spec: mujoco.MjSpec, name: str, material: Material) -> None:
    made = spec.add_material(
        name=name,
        rgba=material.colour,
        shininess=1.0 - material.roughness,
        specular=0.5 * (1.0 - material.roughness) + 0.3 * material.metallic,
    )
    if material.texture is not None:
        image = np.ascontiguousarray(material.texture, dtype=np.uint8)
        texture = spec.add_texture(
            name=f"{name} texture",
            type=mujoco.mjtTexture.mjTEXTURE_2D,
            nchannel=3,
            width=image.shape[1],
            height=image.shape[0],
        )
        texture.data = image.tobytes()
        made.textures[mujoco.mjtTextureRole.mjTEXROLE_RGB] = f"{name} texture"


def add_node(spec: mujoco.MjSpec, node: Node, meshes: dict[int, str], materials: Mapping[str, Material]) -> None:
    body = spec.worldbody.add_body(name=node.name, mocap=True)
    for index, shape in enumerate(node.shapes):
        common = {
            "name": f"{node.name} {index}",
            "pos": shape.place[:3],
            "quat": shape.place[3:],
            "contype": 0,
            "conaffinity": 0,
        }
        if shape.material in materials:
            common["material"] = shape.material
        kind = mujoco.mjtGeom
        match shape.kind:
            case "box":
                body.add_geom(type=kind.mjGEOM_BOX, size=[0.5 * length for length in shape.size], **common)
            case "sphere":
                body.add_geom(type=kind.mjGEOM_SPHERE, size=[shape.size[0], 0.0, 0.0], **common)
            case "cylinder" | "capsule":
                form = kind.mjGEOM_CYLINDER if shape.kind == "cylinder" else kind.mjGEOM_CAPSULE
                body.add_geom(type=form, size=[shape.size[0], 0.5 * shape.size[1], 0.0], **common)
            case "mesh":
                body.add_geom(type=kind.mjGEOM_MESH, meshname=mesh_name(spec, shape, meshes), **common)


def mesh_name(spec: mujoco.MjSpec, shape: Shape, meshes: dict[int, str]) -> str:
    mesh = shape.mesh
    assert mesh is not None
    if id(mesh) not in meshes:
        meshes[id(mesh)] = f"mesh {len(meshes)}"
        add_mesh(spec, meshes[id(mesh)], mesh)
    return meshes[id(mesh)]


def add_mesh(spec: mujoco.MjSpec, name: str, mesh: TriangleMesh) -> None:
    made = spec.add_mesh(
        name=name,
        uservert=np.asarray(mesh.vertices, dtype=float).ravel(),
        userface=np.asarray(mesh.faces, dtype=np.int32).ravel(),
        smoothnormal=mesh.smooth,
        inertia=mujoco.mjtMeshInertia.mjMESH_INERTIA_SHELL,  # surfaces need not be closed
    )
    if mesh.uv is not None:
        made.usertexcoord = np.asarray(mesh.uv, dtype=float).ravel()


def set_camera(
    drawn: mujoco.MjvScene, eye: np.ndarray, target: np.ndarray, up: np.ndarray, vertical_view: float, far: float
) -> None:
    """Point both eyes of a drawn scene; any roll is allowed, which a camera of MuJoCo's own tracking is not."""
    forward = np.asarray(target, dtype=float) - np.asarray(eye, dtype=float)
    distance = max(float(np.linalg.norm(forward)), 1e-9)
    forward = forward / distance
    right = np.cross(forward, up)
    if np.linalg.norm(right) < 1e-6:  # straight down or up
        right = np.cross(forward, [0.0, 1.0, 0.0])
    right /= np.linalg.norm(right)
    near = 0.02 * min(1.0, distance)
    for camera in drawn.camera:
        camera.pos, camera.forward, camera.up = eye, forward, np.cross(right, forward)
        top = near * tan(0.5 * vertical_view)
        camera.frustum_center, camera.frustum_width = 0.0, 0.0
        camera.frustum_bottom, camera.frustum_top = -top, top
        camera.frustum_near, camera.frustum_far = near, far
        camera.orthographic = 0
