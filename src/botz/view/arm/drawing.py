"""Serial arms in space: skeletons of their links, what surrounds them, and both from above and from the side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Polygon
from mpl_toolkits.mplot3d.art3d import Poly3DCollection
from mpl_toolkits.mplot3d.axes3d import Axes3D

from botz.physics.arm.dh import PRISMATIC
from botz.robots.arm_records import transform
from botz.robots.serial_arm import SerialArm
from botz.scenario.arm.world import ArmWorld, Plane
from botz.view.silhouettes import convex_hull
from botz.view.style import FRAME, GRID, INK, LABEL_SIZE, PALETTE, SMALL_SIZE, SOFT_INK, TICK_SIZE

SOLID, SURFACE, LOOSE = "#C9C2B4", "#E3E7E1", "#C98A2B"
"""Boxes that stay, planes, and objects."""
GHOST = 0.5
"""Strength of a posture that is one of several."""
FROM = {"elev": 24.0, "azim": -58.0}
"""Where the scene is looked at from [°]."""
CORNERS = 0.5 * np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
FACES = ((0, 1, 3, 2), (4, 5, 7, 6), (0, 1, 5, 4), (2, 3, 7, 6), (0, 2, 6, 4), (1, 3, 7, 5))
THINNEST = 0.35
"""Least depth of a scene beside its largest side."""
VIEWS = {"from above": (0, 1), "from the side": (0, 2)}
"""Axes of the world that a view in the plane shows."""


# --- geometry ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Skeleton:
    """An arm in one position, in the world [m]."""

    links: np.ndarray
    """Corners of the line from the base to the tool: (k, 3)."""
    joints: np.ndarray
    """Points where the axes of the joints are: (n, 3)."""
    tool: np.ndarray
    """Pose of the tool: (4, 4)."""
    jaws: tuple[np.ndarray, ...] = ()
    """Lines of the gripper: from the palm to the tip of each jaw."""


def base_pose(arm: SerialArm) -> np.ndarray:
    own = arm.arm[0]
    found = np.eye(4)
    for column, axis in enumerate("xyz"):
        found[:3, column] = [own[f"base_{row}{axis}"] for row in "xyz"]
        found[column, 3] = own[f"base_{axis}"]
    return found


def skeleton(arm: SerialArm, q: Any, opening: float | None = None) -> Skeleton:
    """Every link goes along the axis of its joint by d, then along its own x by a."""
    q = np.asarray(q, dtype=float)
    frames = np.concatenate([base_pose(arm)[None], arm.frames(q)])
    corners, joints = [frames[0, :3, 3]], []
    for i, link in enumerate(arm.links):
        before, d = frames[i], link["d"] + (q[i] if link["kind"] == PRISMATIC else 0.0)
        joints.append(before[:3, 3])
        corners += [before[:3, 3] + d * before[:3, 2], frames[i + 1, :3, 3]]
    tool = frames[-1]
    corners.append(tool[:3, 3])
    return Skeleton(np.array(corners), np.array(joints), tool, _jaws(arm, tool, opening))


def _jaws(arm: SerialArm, tool: np.ndarray, opening: float | None) -> tuple[np.ndarray, ...]:
    gripper = arm.robot.gripper
    if gripper is None:
        return ()
    half, long = 0.5 * (gripper.opening if opening is None else opening), gripper.pads[1]
    lines = []
    for side in (-1.0, 1.0):
        way = np.array([[0, 0, -1.6 * long], [0, side * half, -0.9 * long], [0, side * half, 0.5 * long]])
        lines.append(way @ tool[:3, :3].T + tool[:3, 3])
    return tuple(lines)


def box_corners(size: Sequence[float], pose: np.ndarray) -> np.ndarray:
    """(8, 3)."""
    return CORNERS * np.array(size) @ pose[:3, :3].T + pose[:3, 3]


def pose_of(x: float, y: float, z: float, qw: float, qx: float, qy: float, qz: float) -> np.ndarray:
    """4 × 4 of a recorded pose."""
    from botz.rotations import rotation_of

    found = np.eye(4)
    found[:3, :3] = np.array(rotation_of(qw, qx, qy, qz)).reshape(3, 3).T
    found[:3, 3] = x, y, z
    return found


def plane_patch(plane: Plane, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """A square of the plane below (or beside) what lies between two corners: (4, 3)."""
    normal = np.array(plane.normal) / np.linalg.norm(plane.normal)
    middle, half = 0.5 * (low + high), 0.5 * float((high - low).max())
    foot = middle - normal * float(normal @ (middle - np.array(plane.point)))
    along = np.eye(3)[int(np.argmin(np.abs(normal)))]
    along = along - normal * float(along @ normal)
    along /= np.linalg.norm(along)
    across = np.cross(normal, along)
    return np.array([foot + half * (s * along + t * across) for s, t in ((-1, -1), (1, -1), (1, 1), (-1, 1))])


# --- drawing in space ----------------------------------------------------------------------------------


def dress_space(axes: Axes3D) -> None:
    """Quiet panes and readable numbers."""
    axes.view_init(**FROM)
    axes.computed_zorder = False
    for axis, name in ((axes.xaxis, "x"), (axes.yaxis, "y"), (axes.zaxis, "z")):
        axis.set_pane_color((1.0, 1.0, 1.0, 1.0))
        axis._axinfo["grid"].update(color=GRID, linewidth=0.8)
        axis.line.set_color(FRAME)
        axis.get_major_locator().set_params(nbins=5, steps=[1, 2, 2.5, 5, 10])
        axis.set_label_text(f"{name} [m]", fontsize=LABEL_SIZE, color=INK)
        axis.labelpad = 0
    axes.tick_params(labelsize=TICK_SIZE - 1, colors=SOFT_INK, pad=1)


def fit_space(axes: Axes3D, low: np.ndarray, high: np.ndarray) -> None:
    """Limits that hold both corners, with equal scales, as large as the axes allow."""
    room = np.maximum(high - low, THINNEST * float((high - low).max()))
    middle = 0.5 * (low + high)
    low, high = middle - 0.52 * room, middle + 0.52 * room
    axes.set_xlim(low[0], high[0])
    axes.set_ylim(low[1], high[1])
    axes.set_zlim(low[2], high[2])
    # Matplotlib gives every box the same diagonal; what counts is how wide and how high it looks from there.
    sides = room / np.linalg.norm(room)
    turn, lift = np.radians(FROM["azim"]), np.radians(FROM["elev"])
    wide = float(np.abs([np.sin(turn), np.cos(turn), 0.0]) @ sides)
    high_up = float(np.abs([np.sin(lift) * np.cos(turn), np.sin(lift) * np.sin(turn), np.cos(lift)]) @ sides)
    axes.set_box_aspect(tuple(room), zoom=min(0.96 / wide, 0.83 / high_up))


def extent(points: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    everything = np.concatenate([np.reshape(one, (-1, 3)) for one in points])
    everything = everything[np.isfinite(everything).all(axis=1)]
    return everything.min(axis=0), everything.max(axis=0)


def draw_skeleton(axes: Any, body: Skeleton, colour: str, *, strength: float = 1.0, order: float = 4.0,
                  label: str = "", pick: tuple[int, ...] = (0, 1, 2), style: Any = "-") -> None:  # fmt: skip
    """Links as broad lines, joints as dots; in the plane where `pick` names two axes of the world."""
    ground = np.array(pick)
    bold = 2.2 + 1.6 * strength
    look: dict[str, Any] = {"color": colour, "alpha": strength, "solid_capstyle": "round", "solid_joinstyle": "round"}
    if style != "-":
        order, look["dash_capstyle"] = order + 0.5, "butt"
    axes.plot(*body.links[:, ground].T, linewidth=bold, zorder=order, label=label or None, linestyle=style, **look)
    for jaw in body.jaws:
        axes.plot(*jaw[:, ground].T, linewidth=0.55 * bold, zorder=order, **look)
    mark: dict[str, Any] = {"linestyle": "none", "marker": "o", "markersize": 1.3 * bold, "markeredgecolor": colour}
    axes.plot(
        *body.joints[:, ground].T, markerfacecolor="white", markeredgewidth=1.2, alpha=strength, zorder=order + 0.1,
        **mark,
    )  # fmt: skip


def draw_base(axes: Axes3D, arm: SerialArm, size: float) -> None:
    """A short foot under the first joint, as wide as a tenth of the arm's reach."""
    pose = base_pose(arm)
    angle = np.linspace(0.0, 2.0 * np.pi, 25)
    ring = np.stack([np.cos(angle), np.sin(angle), 0.0 * angle], axis=1) * 0.5 * size
    ring = ring @ pose[:3, :3].T + pose[:3, 3]
    axes.add_collection3d(
        Poly3DCollection([ring], facecolors=[FRAME], edgecolors=[SOFT_INK], linewidths=0.8, alpha=0.9, zorder=1.6)
    )


def draw_box(axes: Axes3D, corners: np.ndarray, colour: str, *, strength: float = 0.35, order: float = 1.5) -> None:
    faces = [corners[list(face)] for face in FACES]
    solid = Poly3DCollection(faces, facecolors=[colour], edgecolors=[colour], linewidths=0.7, alpha=strength)
    solid.set_zorder(order)
    axes.add_collection3d(solid)


def draw_world(axes: Axes3D, world: ArmWorld, low: np.ndarray, high: np.ndarray) -> None:
    """Planes as far as the scene goes, and the boxes that stay."""
    for plane in world.planes.values():
        patch = plane_patch(plane, low, high)
        floor = Poly3DCollection([patch], facecolors=[SURFACE], edgecolors=[FRAME], linewidths=0.7, alpha=0.7)
        floor.set_zorder(0.6)
        axes.add_collection3d(floor)
    for box in world.boxes.values():
        draw_box(axes, box_corners(box.size, transform(box.pose)), SOLID)


def draw_postures(
    arm: SerialArm, postures: Any, axes: Axes3D, *, labels: Sequence[str] = (), colours: Sequence[str] = PALETTE
) -> None:
    """One arm in several positions (k, n), the first one in full strength and the others as ghosts behind it.

    What solutions of one pose look like: `draw_postures(arm, arm.inverse(pose).joints, axes, labels=…)`. `axes` come
    from `figure.add_subplot(projection="3d")`.
    """
    positions = np.atleast_2d(np.asarray(postures, dtype=float))
    dress_space(axes)
    bodies = [skeleton(arm, q) for q in positions]
    size = 0.1 * arm.reach
    draw_base(axes, arm, size)
    for number, body in reversed(list(enumerate(bodies))):
        # A wrist turned over leaves the links where they were: such a twin is dashed upon the other.
        twin = any(np.allclose(body.links, other.links, atol=1e-6) for other in bodies[:number])
        draw_skeleton(
            axes, body, colours[number % len(colours)], strength=1.0 if number == 0 or twin else GHOST,
            order=5.0 if number == 0 else 3.0, label=labels[number] if number < len(labels) else "",
            style=(0, (1.5, 2.5)) if twin else "-",
        )  # fmt: skip
    low, high = extent([body.links for body in bodies])
    fit_space(axes, low - 0.5 * size, high + 0.5 * size)
    handles, names = axes.get_legend_handles_labels()
    if names:
        look: dict[str, Any] = {"frameon": False, "fontsize": SMALL_SIZE, "labelcolor": INK}
        axes.legend(handles[::-1], names[::-1], loc="upper center", bbox_to_anchor=(0.5, -0.02), ncols=2, **look)


# --- drawing in the plane ------------------------------------------------------------------------------


def draw_world_flat(axes: Axes, world: ArmWorld, pick: tuple[int, int], low: np.ndarray, high: np.ndarray) -> None:
    """Boxes as their outlines; planes that are seen edge-on as the border of a filled half."""
    along = list(pick)
    for plane in world.planes.values():
        normal = np.array(plane.normal) / np.linalg.norm(plane.normal)
        flat = normal[along]
        if np.linalg.norm(flat) < 0.99:
            continue
        span = 20.0 * float((high - low).max())
        foot, way = np.array(plane.point)[along], np.array([-flat[1], flat[0]])
        corners = [
            foot - span * way,
            foot + span * way,
            foot + span * way - span * flat,
            foot - span * way - span * flat,
        ]
        axes.add_patch(Polygon(corners, facecolor=SURFACE, edgecolor=FRAME, linewidth=0.9, zorder=0.6))
    for box in world.boxes.values():
        outline(axes, box_corners(box.size, transform(box.pose))[:, along], SOLID, 0.35, 1.5)


def outline(axes: Axes, points: np.ndarray, colour: str, strength: float, order: float) -> None:
    """The hull of projected corners."""
    hull = convex_hull(points)
    axes.add_patch(Polygon(hull, facecolor=colour, alpha=strength, linewidth=0, zorder=order))
    axes.add_patch(Polygon(hull, fill=False, edgecolor=colour, linewidth=1.0, zorder=order + 0.1))
