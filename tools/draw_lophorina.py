"""Draws the meshes of the Lophorina: body, arm with motor and both propellers, as STL in millimetres.

    python tools/draw_lophorina.py [FOLDER]     the library's folder by default

They stand as the source's parts do [costa2022, section 3.5]: the body's length along y with its nose at −y, the arm
along x with its motor's axle at x = 138 mm; the robot's file turns both by 90°. Every part is a closed body, and the
same script gives the same bytes.
"""

from __future__ import annotations

import struct
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import trimesh

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "src" / "botz" / "scenario" / "library" / "robots" / "lophorina" / "meshes"

Points = Sequence[tuple[float, float]]

AXLE = 138.0
"""Where the motor's axle stands on the arm."""
DIAMETER, PITCH = 246.0, 95.25
"""Of the propellers; the pitch is 3.75 inches, as of the one whose thrust was measured."""
CHORD = [0.05, 0.14, 0.35, 0.55, 0.8, 0.94, 1.0], [9.0, 12.0, 25.0, 27.0, 20.0, 13.0, 4.0]
THICKNESS = [0.05, 0.3, 1.0], [0.34, 0.13, 0.08]
"""Of a blade: at these parts of the radius, its chord and its thickness by the chord."""


def skin(rings: np.ndarray) -> trimesh.Trimesh:
    """A closed body through rings of equally many points (rings, points, 3), with flat ends."""
    n_rings, n = rings.shape[:2]
    vertices = np.vstack([rings.reshape(-1, 3), rings[0].mean(axis=0), rings[-1].mean(axis=0)])
    first, last = n_rings * n, n_rings * n + 1
    k = np.arange(n)
    following = (k + 1) % n
    faces = [np.column_stack([first + 0 * k, following, k])]
    for ring in range(n_rings - 1):
        here, there = ring * n, (ring + 1) * n
        faces.append(np.column_stack([here + k, here + following, there + following]))
        faces.append(np.column_stack([here + k, there + following, there + k]))
    top = (n_rings - 1) * n
    faces.append(np.column_stack([last + 0 * k, top + k, top + following]))
    mesh = trimesh.Trimesh(vertices, np.vstack(faces), process=False)
    if mesh.volume < 0:
        mesh.faces = mesh.faces[:, ::-1]
    return mesh


def turned(profile: Points, *, around: int = 32, at: tuple[float, float] = (0.0, 0.0)) -> trimesh.Trimesh:
    """A body of revolution about an upright axis, from points (radius, z)."""
    angle = np.linspace(0.0, 2 * np.pi, around, endpoint=False)
    circle = np.column_stack([np.cos(angle), np.sin(angle), 0 * angle])
    return skin(np.array([r * circle + [at[0], at[1], z] for r, z in profile]))


def extruded(outline: Points, low: float, high: float, *, chamfer: float = 0.0) -> trimesh.Trimesh:
    """A plate over an outline that can be seen whole from its middle, with its rims broken."""
    flat = np.array(outline)
    middle = flat.mean(axis=0)
    size = np.linalg.norm(flat - middle, axis=1)[:, None]
    inner = middle + (flat - middle) * (1 - chamfer / size)
    levels = [(flat, low), (flat, high)]
    if chamfer:
        levels = [(inner, low), (flat, low + chamfer), (flat, high - chamfer), (inner, high)]
    return skin(np.array([np.column_stack([points, np.full(len(flat), z)]) for points, z in levels]))


def rounded_box(x: Points, radius: float, *, chamfer: float = 1.0, corner: int = 5) -> trimesh.Trimesh:
    """A box from (low, high) of x, y and z with round upright edges."""
    (x0, x1), (y0, y1), (z0, z1) = x
    outline = []
    for cx, cy, start in ((x1, y1, 0), (x0, y1, 1), (x0, y0, 2), (x1, y0, 3)):
        middle = (cx - np.sign(cx - (x0 + x1) / 2) * radius, cy - np.sign(cy - (y0 + y1) / 2) * radius)
        for angle in np.linspace(start, start + 1, corner) * np.pi / 2:
            outline.append((middle[0] + radius * np.cos(angle), middle[1] + radius * np.sin(angle)))
    return extruded(outline, z0, z1, chamfer=chamfer)


def along_x(mesh: trimesh.Trimesh, x: float = 0.0, y: float = 0.0, z: float = 0.0) -> trimesh.Trimesh:
    """A body that was turned about z, laid so that its axis runs along x."""
    vertices = np.asarray(mesh.vertices)
    mesh.vertices = np.column_stack([vertices[:, 2] + x, vertices[:, 0] + y, vertices[:, 1] + z])
    return mesh


def hull(
    sections: Sequence[tuple[float, float, float, float]], *, around: int = 40, power: float = 2.6
) -> trimesh.Trimesh:
    """A fuselage along y, from (y, half width, bottom, top); its sections are superellipses."""
    angle = np.linspace(0.0, 2 * np.pi, around, endpoint=False)
    c, s = np.cos(angle), np.sin(angle)
    unit_x, unit_z = (np.sign(v) * np.abs(v) ** (2 / power) for v in (c, s))
    rings = []
    for y, half, low, high in sections:
        z = (low + high) / 2 + unit_z * (high - low) / 2
        rings.append(np.column_stack([half * unit_x, np.full(around, y), z]))
    return skin(np.array(rings))


def body() -> list[trimesh.Trimesh]:
    """252 x 400 x 46: a slim fuselage with its nose at −y, and a cross beam at each end that carries the tilt axles."""
    stations = np.linspace(-1.0, 1.0, 25)
    sections = []
    for u in stations:
        # Blunt at the nose, drawn out at the tail; the ends stay open by a little, as flat caps.
        fore, aft = (1 - abs(min(u, 0.0)) ** 3.2) ** 0.5, (1 - max(u, 0.0) ** 1.9) ** 0.8
        shape = max(fore * aft, 0.08)
        sections.append((188.0 * u, 12.0 + 40.0 * shape, 17.0 - 12.0 * shape, 27.0 + 17.0 * shape))
    parts = [hull(sections)]
    # Canopy and camera.
    rise = []
    for u in np.linspace(-0.98, 0.98, 15):
        width, height = 1.0 + 27.0 * (1 - u**2) ** 0.5, 1.0 + 17.0 * (1 - u**2) ** 0.6
        rise.append((68.0 * u - 62.0, width, 30.0, 30.0 + height))
    parts.append(hull(rise, power=2.0))
    lens = along_x(turned([(0.6, -8.0), (9.0, -8.0), (9.0, 0.0), (7.0, 2.0), (6.0, 0.5), (0.6, 0.5)], around=24))
    vertices = np.asarray(lens.vertices)
    lens.vertices = np.column_stack([vertices[:, 1], -vertices[:, 0] - 189.0, vertices[:, 2] + 22.0])
    lens.faces = lens.faces if lens.volume > 0 else lens.faces[:, ::-1]
    parts.append(lens)
    # The battery, under the fuselage.
    parts.append(rounded_box([(-24, 24), (-95, 95), (2, 10)], 8.0, chamfer=1.5))
    for side in (-1, 1):
        for y in (-182.5, 182.5):
            # The tilt servo, around the axle at x = ±126.
            across = (-126, -88) if side < 0 else (88, 126)
            parts.append(rounded_box([across, (y - 17.5, y + 17.5), (8, 42)], 5.0, chamfer=2.0))
    for y in (-182.5, 182.5):
        parts.append(along_x(turned([(9.0, -92.0), (9.0, 92.0)], around=28), y=y, z=25.0))
        # Struts from the fuselage out to the blocks.
        inwards = -np.sign(y)
        for side in (-1, 1):
            start, end = (side * 34.0, y + inwards * 70.0, 25.0), (side * 100.0, y + inwards * 8.0, 25.0)
            parts.append(strut(np.array(start), np.array(end), 5.0))
    return parts


def strut(start: np.ndarray, end: np.ndarray, radius: float, around: int = 16) -> trimesh.Trimesh:
    along = (end - start) / np.linalg.norm(end - start)
    across = np.cross(along, [0.0, 0.0, 1.0])
    across /= np.linalg.norm(across)
    up = np.cross(across, along)
    angle = np.linspace(0.0, 2 * np.pi, around, endpoint=False)[:, None]
    ring = radius * (np.cos(angle) * across + np.sin(angle) * up)
    return skin(np.array([start + ring, end + ring]))


def arm() -> list[trimesh.Trimesh]:
    """A tube from the tilt axle to the motor, which stands upright on it."""
    parts = [
        along_x(turned([(5.0, -5.0), (6.0, -4.0), (6.0, AXLE)], around=28)),
        # The horn that the tilt servo turns.
        along_x(turned([(9.0, 1.0), (12.0, 2.0), (12.0, 5.0), (8.0, 11.0), (6.0, 13.0)], around=32)),
        # Speed controller, under a shrink tube.
        rounded_box([(46, 92), (-9.5, 9.5), (-8, 8)], 4.0, chamfer=2.5),
    ]
    at = (AXLE, 0.0)
    foot = [(2.5, -17.0), (4.0, -15.0), (6.0, -9.0), (12.0, -7.0), (12.0, 9.0), (15.0, 11.0), (15.0, 13.0), (5.0, 13.0)]
    parts.append(turned(foot, at=at))
    # The stator is seen between mount and bell, and through its windows.
    parts.append(turned([(13.0, 12.0), (13.0, 36.0)], around=24, at=at))
    bell = [(19.0, 15.5), (20.0, 16.5), (20.0, 34.0), (18.5, 37.5), (11.0, 41.0), (6.0, 42.0), (6.0, 50.0), (4.0, 51.0)]
    parts.append(turned(bell, around=36, at=at))
    for angle in np.linspace(0.0, 2 * np.pi, 12, endpoint=False):
        # Ribs on the bell, so that one sees it turn.
        x, y = AXLE + 19.4 * np.cos(angle), 19.4 * np.sin(angle)
        parts.append(turned([(0.6, 18.0), (0.6, 33.0)], around=6, at=(x, y)))
    return parts


def section(chord: float, thickness: float, camber: float, points: int = 9) -> np.ndarray:
    """A thin aerofoil (along, up), round the blade's axis at 35 % of the chord; its nose is at +."""
    t = (1 - np.cos(np.linspace(0.0, np.pi, points))) / 2
    # NACA's four-digit thickness with a closed tail.
    half = 5 * thickness * (0.2969 * np.sqrt(t) - 0.1260 * t - 0.3516 * t**2 + 0.2843 * t**3 - 0.1036 * t**4)
    line = 4 * camber * t * (1 - t)
    upper = np.column_stack([0.35 - t, line + half])
    lower = np.column_stack([0.35 - t, line - half])[-2:0:-1]
    return chord * np.vstack([upper, lower])


def propeller(sense: int) -> list[trimesh.Trimesh]:
    """Two blades that lift turning about +z for sense +1, about −z for −1."""
    hub = [(4.0, 0.0), (9.0, 0.0), (9.5, 1.0), (9.5, 8.5), (8.5, 9.5), (5.5, 9.5), (5.0, 12.5), (3.0, 15.0)]
    parts = [turned(hub, around=28)]
    rings = []
    for u in np.concatenate([np.linspace(0.05, 0.9, 16), [0.94, 0.97, 0.99, 1.0]]):
        r = u * DIAMETER / 2
        # The geometric pitch, kept below 45° at the root where a true helix would stand upright.
        angle = min(np.arctan2(PITCH, 2 * np.pi * r), np.pi / 4)
        along, up = section(np.interp(u, *CHORD), np.interp(u, *THICKNESS), 0.045).T
        y = along * np.cos(angle) - up * np.sin(angle)
        z = along * np.sin(angle) + up * np.cos(angle) + 5.5 + 3.0 * u**2
        # Swept back a little towards the tip, as a scimitar.
        rings.append(np.column_stack([np.full(len(y), r), y - 7.0 * u**3, z]))
    blade = skin(np.array(rings))
    other = blade.copy()
    other.vertices = np.asarray(other.vertices) * [-1, -1, 1]
    parts += [blade, other]
    if sense < 0:
        for part in parts:
            part.vertices = np.asarray(part.vertices) * [1, -1, 1]
            part.faces = part.faces[:, ::-1]
    return parts


def stl(parts: Sequence[trimesh.Trimesh], name: str) -> bytes:
    """A binary STL; normals are computed by whoever reads it from the corners, as most do, but are written too."""
    corners = np.vstack([np.asarray(part.vertices)[part.faces] for part in parts])
    corners = np.round(corners, 4).astype("<f4")
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    length = np.linalg.norm(normals, axis=1)
    normals = np.round(normals / np.where(length > 0, length, 1.0)[:, None], 5)
    record = np.zeros(len(corners), dtype=[("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("extra", "<u2")])
    record["normal"], record["corners"] = normals, corners
    return f"Lophorina {name}, millimetres".encode().ljust(80) + struct.pack("<I", len(corners)) + record.tobytes()


PARTS: dict[str, Callable[[], list[trimesh.Trimesh]]] = {
    "body": body,
    "arm": arm,
    "propeller_cw": lambda: propeller(-1),
    "propeller_ccw": lambda: propeller(1),
}


def main(folder: Path = FOLDER) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, draw in PARTS.items():
        parts = draw()
        for k, part in enumerate(parts):
            if not part.is_watertight or not part.is_winding_consistent or part.volume <= 0:
                raise SystemExit(f"{name}: part {k} is no closed body")
        (folder / f"{name}.stl").write_bytes(stl(parts, name))
        bounds = np.array([part.bounds for part in parts])
        low, high = bounds[:, 0].min(axis=0).round(1).tolist(), bounds[:, 1].max(axis=0).round(1).tolist()
        print(f"{name}.stl: {sum(len(part.faces) for part in parts)} faces, from {low} to {high}")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)
