"""What an SDF link is made of: mass, shapes and sensors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import TypeAdapter, ValidationError

from botz.models.robot_model import Inertial, ModelShape, turned_to
from botz.models.sdf.frames import truth
from botz.models.xml_tree import XmlNode, XmlReading
from botz.scenario.multibody.schema import AnySensor
from botz.transforms import rpy_from_rotation

Posing = Callable[[XmlNode], np.ndarray]
"""Pose in the link's frame of something in the link."""
FindFile = Callable[[XmlNode, str, bool], Path | None]
"""Of a mesh: the element that names it, its address, and whether it is only seen."""
SENSOR: TypeAdapter[Any] = TypeAdapter(AnySensor)
COLOURS = {
    "red": (1.0, 0.0, 0.0), "green": (0.0, 1.0, 0.0), "blue": (0.0, 0.0, 1.0), "yellow": (1.0, 1.0, 0.0),
    "orange": (1.0, 0.5, 0.0), "purple": (1.0, 0.0, 1.0), "turquoise": (0.0, 1.0, 1.0), "white": (1.0, 1.0, 1.0),
    "black": (0.0, 0.0, 0.0), "darkgrey": (0.175, 0.175, 0.175), "grey": (0.7, 0.7, 0.7),
}  # fmt: skip
"""Of classic Gazebo's material scripts, for those that are one colour."""
WIDE, THIN = 100.0, 1e-4
"""A plane that is seen is endless from this edge on; a smaller one is a box of this thickness [m]."""
NO_COLOUR = (0.8, 0.8, 0.8, 1.0)


def read_inertial(reading: XmlReading, link: XmlNode, posing: Posing) -> Inertial | None:
    node = link.first("inertial")
    if node is None:
        reading.note(
            link, f"link {link.get('name')!r} has no <inertial>: it is taken as massless, where SDF means 1 kg"
        )
        return None
    if truth(node.get("auto")):
        reading.note(node, "mass of the shapes (auto) is not read; write <mass> and <inertia>, `botz mesh` finds them")
        return None
    for child in node.children:
        if child.tag not in ("mass", "pose", "inertia"):
            reading.note(child, f"<{child.tag}> is not read")
    mass = reading.child_number(node, "mass", 1.0)
    if mass < 0.0:
        reading.wrong(node, f"a mass is not negative, this is {mass:g} kg", "mass")
    moments = node.first("inertia")
    if moments is None:
        reading.note(node, "no <inertia>: 1 kg·m² about each axis, as SDF says; write the link's own")
        moments = XmlNode("inertia", file=node.file, line=node.line)
    ixx, iyy, izz = (reading.child_number(moments, tag, 1.0) for tag in ("ixx", "iyy", "izz"))
    ixy, ixz, iyz = (reading.child_number(moments, tag, 0.0) for tag in ("ixy", "ixz", "iyz"))
    pose = posing(node)
    turn = pose[:3, :3]
    tensor = turn @ np.array([[ixx, ixy, ixz], [ixy, iyy, iyz], [ixz, iyz, izz]]) @ turn.T
    if mass == 0.0:
        if tensor.any():
            reading.note(node, "has the mass 0, so that its inertia is not read")
        return None
    return Inertial(mass, pose[:3, 3].copy(), (tensor + tensor.T) / 2, node.place)


# --- shapes ----------------------------------------------------------------------------------------------------


def read_shapes(reading: XmlReading, link: XmlNode, posing: Posing, find: FindFile) -> tuple[ModelShape, ...]:
    """What is seen and what is touched; the same geometry at the same place is one shape."""
    found: list[ModelShape] = []
    for node in link.all("visual", "collision"):
        shape = _shape(reading, node, posing, find)
        if shape is None:
            continue
        twin = next((k for k, one in enumerate(found) if _alike(one, shape)), None)
        if twin is None:
            found.append(shape)
        elif shape.visual:
            found[twin] = replace(found[twin], visual=True, colour=shape.colour)
        else:
            found[twin] = replace(found[twin], collision=True, friction=shape.friction)
    return tuple(found)


def _alike(one: ModelShape, other: ModelShape) -> bool:
    """One is seen, the other touched, and both are the same geometry."""
    if (one.visual and other.visual) or (one.collision and other.collision):
        return False
    same = (one.kind, one.size, one.file, one.scale) == (other.kind, other.size, other.file, other.scale)
    return same and bool(np.allclose(one.pose, other.pose, rtol=0.0, atol=1e-12))


def _shape(reading: XmlReading, node: XmlNode, posing: Posing, find: FindFile) -> ModelShape | None:
    geometry = node.first("geometry")
    if geometry is None or not geometry.children:
        reading.wrong(node, f"<{node.tag}> needs <geometry> with a shape, as <box><size>1 1 1</size></box>")
        return None
    what = geometry.children[0]
    pose = posing(node)
    kind = what.tag
    size: tuple[float, ...] = ()
    file: Path | None = None
    scale = (1.0, 1.0, 1.0)
    match what.tag:
        case "box":
            size = reading.child_numbers(what, "size", 3)
        case "sphere":
            size = reading.child_numbers(what, "radius", 1)
        case "cylinder" | "capsule":
            size = (reading.child_number(what, "radius"), reading.child_number(what, "length"))
        case "ellipsoid":
            size = reading.child_numbers(what, "radii", 3)
        case "plane":
            if node.tag == "visual" and max(extent := reading.child_numbers(what, "size", 2, (1.0, 1.0))) < WIDE:
                # A sticker: only what is touched has no end.
                kind, size = "box", (*extent, THIN)
            pose = pose @ turned_to(reading.child_numbers(what, "normal", 3, (0.0, 0.0, 1.0)))
        case "mesh":
            uri = what.first("uri")
            if uri is None or not uri.text:
                reading.wrong(what, "<mesh> needs <uri>: the path of its file")
                return None
            sx, sy, sz = reading.child_numbers(what, "scale", 3, scale)
            scale = (sx, sy, sz)
            file = find(uri, uri.text, node.tag == "visual")
            if what.first("submesh") is not None:
                reading.note(what, "<submesh> is not read: the whole mesh is taken")
            if file is None:
                return None
        case "empty":
            return None
        case _:
            reading.note(what, f"the shape <{what.tag}> is not read, and left out")
            return None
    if 0.0 in size and node.tag == "visual":
        reading.note(what, "a size of 0 leaves nothing to see; it is left out")
        return None
    if any(not one > 0.0 for one in size):
        reading.wrong(what, f"sizes are positive, not {' '.join(f'{one:g}' for one in size)}", what.tag)
        return None
    seen = node.tag == "visual"
    colour = _colour(reading, node) if seen else None
    friction = 0.8 if seen else _friction(reading, node)
    return ModelShape(kind, size, pose, file, scale, seen, not seen, colour, friction, node.place)


def _colour(reading: XmlReading, node: XmlNode) -> tuple[float, float, float, float] | None:
    material = node.first("material")
    if material is None:
        return None
    said = material.first("diffuse") or material.first("ambient")
    if said is not None:
        count = len(said.text.split())
        numbers = reading.text_numbers(said, 3 if count == 3 else 4, (*NO_COLOUR[:3], 1.0)[: 3 if count == 3 else 4])
        red, green, blue, alpha = (*numbers, 1.0)[:4]
    else:
        script = material.first("script")
        name = (script.value("name") or "" if script is not None else "").rpartition("/")[2].lower()
        if name not in COLOURS:
            return None
        red, green, blue = COLOURS[name]
        alpha = 1.0
    alpha *= 1.0 - reading.child_number(node, "transparency", 0.0)
    red, green, blue, alpha = (min(max(one, 0.0), 1.0) for one in (red, green, blue, alpha))
    return red, green, blue, alpha


def _friction(reading: XmlReading, node: XmlNode) -> float:
    """The coefficient along the first direction; 0.8 where the file says nothing."""
    for way in (("surface", "friction", "ode", "mu"), ("surface", "friction", "bullet", "friction")):
        here: XmlNode | None = node
        for tag in way:
            here = here.first(tag) if here is not None else None
        if here is not None:
            found = reading.text_numbers(here, 1)[0]
            if found < 0.0:
                reading.wrong(here, f"a coefficient of friction is not negative, this is {found:g}", "mu")
            return found
    return 0.8


# --- sensors ---------------------------------------------------------------------------------------------------


def read_sensor(reading: XmlReading, node: XmlNode, link: str, posing: Posing) -> Any:
    """The sensor, or None with a note where Botz has none like it."""
    kind = node.get("type") or ""
    pose = posing(node)
    data: dict[str, Any] = {
        "link": link,
        "pose": (*(float(one) for one in pose[:3, 3]), *rpy_from_rotation(pose[:3, :3])),
    }
    rate = reading.child_number(node, "update_rate", 0.0)
    if rate > 0.0:
        data["rate"] = rate
    match kind:
        case "imu":
            data |= {"type": "imu", **_imu_noise(reading, node, data.get("rate", 100.0))}
        case "gps" | "navsat":
            data["type"] = "gps"
            position, velocity = _below(node, kind, "position_sensing"), _below(node, kind, "velocity_sensing")
            flat, up = _spread(reading, position, "horizontal"), _spread(reading, position, "vertical")
            data["noise"] = [flat, flat, up]
            flat, up = _spread(reading, velocity, "horizontal"), _spread(reading, velocity, "vertical")
            data["velocity_noise"] = [flat, flat, up]
        case "magnetometer":
            data |= {"type": "magnetometer", "noise": _largest(reading, _below(node, kind), "stddev")}
        case "altimeter":
            data |= {"type": "altimeter", "noise": _spread(reading, _below(node, kind), "vertical_position")}
        case "air_pressure":
            data |= {"type": "barometer", "noise": _spread(reading, _below(node, kind), "pressure")}
        case "contact":
            data["type"] = "contact"
        case "ray" | "lidar" | "gpu_ray" | "gpu_lidar" | "sonar" if _is_single(reading, node):
            beam = node.first("ray", "lidar", "sonar")
            assert beam is not None
            reach = reading.child_number(beam.first("range") or beam, "max", 10.0)
            data |= {"type": "range", "reach": reach, "noise": _noise(reading, beam, "stddev")}
        case _:
            reading.note(node, f"sensor {node.get('name')!r} of type {kind!r} is not read, and left out")
            return None
    try:
        return SENSOR.validate_python(data)
    except ValidationError as error:
        for one in error.errors(include_url=False):
            key = ".".join(str(part) for part in one["loc"][1:])
            reading.wrong(node, f"sensor {node.get('name')!r}: {one['msg']}, not {one['input']!r}", key)
        return None


def _below(node: XmlNode | None, *tags: str) -> XmlNode | None:
    for tag in tags:
        node = node.first(tag) if node is not None else None
    return node


def _noise(reading: XmlReading, node: XmlNode | None, tag: str) -> float:
    """A number of <noise> directly below; 0 where there is none. Constant biases have no place in our sensors."""
    noise = _below(node, "noise")
    if noise is None or (noise.get("type") or "").lower() == "none":
        return 0.0
    for one in ("mean", "bias_mean", "bias_stddev"):
        if tag == "stddev" and reading.child_number(noise, one, 0.0) != 0.0:
            reading.note(noise, f"<{one}> is not read: sensors have no constant bias")
    return reading.child_number(noise, tag, 0.0)


def _spread(reading: XmlReading, node: XmlNode | None, tag: str) -> float:
    return _noise(reading, _below(node, tag), "stddev")


def _largest(reading: XmlReading, node: XmlNode | None, tag: str) -> float:
    """Of x, y and z."""
    if node is None:
        return 0.0
    found = [_noise(reading, node.first(axis), tag) for axis in "xyz"]
    if max(found) != min(found):
        reading.note(node, f"<{tag}> differs between x, y and z: the largest counts for all three")
    return max(found)


def _imu_noise(reading: XmlReading, node: XmlNode, rate: float) -> dict[str, float]:
    """SDF gives the standard deviation of a reading, we take the density: σ of a reading = density · √rate."""
    imu = _below(node, "imu")
    old = _below(imu, "noise")
    if old is not None:  # as SDF 1.4 said it
        spreads = [_noise_value(reading, _below(old, tag), "stddev") for tag in ("rate", "accel")]
        walks = [0.0, 0.0]
    else:
        parts = [_below(imu, tag) for tag in ("angular_velocity", "linear_acceleration")]
        spreads = [_largest(reading, part, "stddev") for part in parts]
        walks = [_largest(reading, part, "dynamic_bias_stddev") for part in parts]
        if any(walks) and any(_largest(reading, part, "dynamic_bias_correlation_time") for part in parts):
            reading.note(node, "the correlation time of the bias is not read: the bias walks freely")
    keys = ("gyro_noise", "accel_noise", "gyro_bias_walk", "accel_bias_walk")
    return dict(zip(keys, [*(one / rate**0.5 for one in spreads), *walks], strict=True))


def _noise_value(reading: XmlReading, node: XmlNode | None, tag: str) -> float:
    return 0.0 if node is None else reading.child_number(node, tag, 0.0)


def _is_single(reading: XmlReading, node: XmlNode) -> bool:
    """One beam: a range finder."""
    beam = node.first("ray", "lidar", "sonar")
    if beam is None:
        return False
    scan = beam.first("scan")
    if scan is None:
        return True
    counts = [_below(scan, way) for way in ("horizontal", "vertical")]
    return all(one is None or reading.child_number(one, "samples", 1.0) == 1.0 for one in counts)
