"""The neutral scene as a MuJoCo model, for images without a window: every node a body that is put where it belongs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from math import hypot, tan

import mujoco
import numpy as np

from botz.scene.world_scene import Material, Node, Scene, Shape, TriangleMesh

SUN = 2.0
"""How far the sun stands off, in radii of the scene."""
AWAY = (0.0, 0.0, -1e4)
"""Where hidden nodes wait."""
SKY = ((0.34, 0.52, 0.76), (0.80, 0.86, 0.92))
"""Overhead and at the horizon; what is far away takes on the colour of the horizon."""
HALL = ((0.09, 0.11, 0.14), (0.17, 0.20, 0.24))
SKY_PIXELS = 128
"""Along each edge of the six faces of the sky."""
BEYOND = 6.0
"""Level ground is drawn this many times as wide as the scene has it: it ends behind the haze, not before it."""
PIECES = 64
"""Along either side of that ground."""
HAZE = (0.5, 2.4, 1.5)
"""Where haze begins, where it hides everything, and how deep it is at least, in half widths of the ground as the scene
has it."""


class OffscreenModel:
    """A compiled model of a scene. `place` puts the nodes, a renderer of MuJoCo draws it."""

    def __init__(self, scene: Scene, size: tuple[int, int]):
        self.size = size
        self._radius = scene.radius
        self.sight = haze_of(scene)[1]
        """Farther than this nothing is seen [m]."""
        spec = mujoco.MjSpec()
        spec.compiler.balanceinertia = True  # nothing moves by it, and wide plates are rounded
        settings(spec, scene, size)
        meshes: dict[int, str] = {}
        for name, material in scene.materials.items():
            add_material(spec, name, material)
        self._nodes: list[str] = []
        for node in scene.nodes:
            if node.shapes:
                add_node(spec, widened(node, scene), meshes, scene.materials)
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
    overhead, horizon = HALL if scene.indoors else SKY
    near, far = haze_of(scene)
    spec.visual.map.fogstart, spec.visual.map.fogend = near / spec.stat.extent, far / spec.stat.extent
    spec.visual.rgba.fog = (*horizon, 1.0)
    spec.visual.headlight.ambient = (0.36, 0.37, 0.40)
    spec.visual.headlight.diffuse = (0.16, 0.16, 0.16)
    spec.visual.headlight.specular = (0.05, 0.05, 0.05)
    faces = sky_faces(overhead, horizon)
    sky = spec.add_texture(
        name="sky", type=mujoco.mjtTexture.mjTEXTURE_SKYBOX, nchannel=3, width=faces.shape[1], height=faces.shape[0]
    )
    sky.data = faces.tobytes()
    spec.worldbody.add_light(
        name="sun",
        type=mujoco.mjtLightType.mjLIGHT_DIRECTIONAL,
        pos=(scene.centre[0], scene.centre[1], scene.centre[2] + 3.0 * scene.radius),
        dir=(-0.35, 0.28, -0.9),
        diffuse=(0.58, 0.56, 0.52),
        specular=(0.15, 0.15, 0.15),
        castshadow=True,
    )


def sky_faces(overhead: tuple[float, ...], horizon: tuple[float, ...]) -> np.ndarray:
    """Six faces of a cube below each other, right, left, up, down, front and back, as bytes: haze at the horizon and
    below it, deeper above."""
    place = (np.arange(SKY_PIXELS) + 0.5) * 2.0 / SKY_PIXELS - 1.0
    across, down = np.meshgrid(place, place)
    far = np.sqrt(1.0 + across**2 + down**2)
    side, top = -down / far, 1.0 / far
    rises = [side, side, top, -top, side, side]
    share = 1.0 - np.exp(-3.2 * np.maximum(np.concatenate(rises), 0.0))[..., None]
    image = (1.0 - share) * np.array(horizon) + share * np.array(overhead)
    # Bands show in a smooth sky of bytes.
    noise = np.random.default_rng(1).random((*image.shape[:2], 1)) - 0.5
    return np.clip(np.round(255.0 * image + noise), 0, 255).astype(np.uint8)


def haze_of(scene: Scene) -> tuple[float, float]:
    """How far from an eye haze begins, and where it hides everything [m]: behind what any camera looks at."""
    half = half_width(scene)
    seen = [2.1 * scene.radius, *(4.5 * actor.size for actor in scene.actors)]
    seen += [1.5 * hypot(*np.subtract(one.place[:3], scene.centre)) for one in scene.cameras if one.node is None]
    near = max(HAZE[0] * half, *seen)
    return near, max(HAZE[1] * half, near + HAZE[2] * max(half, scene.radius))


def top_of(shape: Shape) -> np.ndarray | None:
    """Points of a surface that might be ground, in the shape's axes."""
    if shape.casts_shadow:
        return None
    if shape.kind == "box":
        x, y, z = (0.5 * length for length in shape.size)
        return np.array([(-x, -y, z), (x, -y, z), (x, y, z), (-x, y, z)])
    return None if shape.mesh is None else np.asarray(shape.mesh.vertices, dtype=float)


def level_ground(shape: Shape, scene: Scene) -> float | None:
    """Half the width of a level plate that reaches far beyond what is worth seeing; None of anything else. Terrain ends
    where it ends: a robot may come to its edge."""
    points = top_of(shape)
    if points is None:
        return None
    wide, deep, high = np.ptp(points, axis=0)
    half = 0.5 * float(min(wide, deep))
    return half if high < 1e-4 * half and half > 1.5 * scene.radius else None


def half_width(scene: Scene) -> float:
    """Of the ground: of level plates, else of whatever stands still [m]."""
    still = [shape for node in scene.nodes if node.motion is None and node.parent is None for shape in node.shapes]
    if level := [half for shape in still if (half := level_ground(shape, scene)) is not None]:
        return max(level)
    meshes = [np.asarray(shape.mesh.vertices, dtype=float) for shape in still if shape.mesh is not None]
    return max((0.5 * float(np.ptp(points, axis=0)[:2].min()) for points in meshes), default=0.0)


def widened(node: Node, scene: Scene) -> Node:
    """The same node with its level ground drawn wider, with tiles of the same size."""
    if node.motion is not None or node.parent is not None:
        return node
    return replace(node, shapes=tuple(wider(shape) if level_ground(shape, scene) else shape for shape in node.shapes))


def wider(shape: Shape) -> Shape:
    """In many pieces, since MuJoCo's haze is reckoned at corners only."""
    points = top_of(shape)
    assert points is not None
    mesh = shape.mesh or TriangleMesh(points, np.empty((0, 3), dtype=int))
    low, high = points.min(axis=0), points.max(axis=0)
    lines = np.linspace(-0.5 * BEYOND, 0.5 * BEYOND, PIECES + 1)
    x, y = np.meshgrid(0.5 * (low + high)[0] + lines * (high - low)[0], 0.5 * (low + high)[1] + lines * (high - low)[1])
    vertices = np.column_stack([x.ravel(), y.ravel(), np.full(x.size, low[2])])
    first = (np.arange(PIECES)[:, None] * (PIECES + 1) + np.arange(PIECES)[None, :]).ravel()
    corners = [first, first + 1, first + PIECES + 2, first + PIECES + 1]
    faces = np.concatenate([np.column_stack([corners[k] for k in one]) for one in ((0, 1, 2), (0, 2, 3))])
    uv = None
    if mesh.uv is not None:
        flat = np.column_stack([points[:, :2], np.ones(len(points))])
        uv = np.column_stack([vertices[:, :2], np.ones(len(vertices))]) @ np.linalg.lstsq(flat, mesh.uv)[0]
    return replace(shape, kind="mesh", mesh=replace(mesh, vertices=vertices, faces=faces, uv=uv))


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
