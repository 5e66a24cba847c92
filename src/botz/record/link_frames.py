"""Transforms between the links of robots, for tf2: the moving ones in bulk, the fixed ones once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from botz.channels import ChannelTable
from botz.record.cdr import Fill, Layout
from botz.scene.robot_description import RobotDescription
from botz.scene.world_scene import Slides, Turns
from botz.transforms import quaternion_of

WORLD = "world"


@dataclass(frozen=True, eq=False)
class LinkFrame:
    """A frame in the one above it; it turns or slides, or stands where `motion` is None."""

    parent: str
    child: str
    place: np.ndarray
    """(4, 4), with the joint at 0."""
    motion: Turns | Slides | None = None


def link_frames(descriptions: Sequence[RobotDescription], channels: ChannelTable) -> list[LinkFrame]:
    """The frames of all joints, and of roots that stand. A joint whose channel the world does not offer rests."""
    found = []
    for one in descriptions:
        if one.base is None:
            found.append(LinkFrame(WORLD, one.model.root, one.place))
        for joint in one.model.joints.values():
            motion = one.motions.get(joint.name)
            known = motion if motion is not None and motion.channel in channels.slices else None
            found.append(LinkFrame(joint.parent, joint.child, joint.pose, known))
    return found


def column_of(motion: Turns | Slides, channels: ChannelTable) -> int:
    return channels.slice_of(motion.channel).start + motion.component


def ros_pose(place: np.ndarray) -> np.ndarray:
    """Position and quaternion in ROS order (x, y, z, w) of a 4x4 pose."""
    return np.concatenate([place[:3, 3], np.roll(quaternion_of(place[:3, :3]), -1)])


def fixed_transforms(frames: Sequence[LinkFrame]) -> Layout:
    """One tf2_msgs/TFMessage of frames that do not move."""
    layout = Layout().constant("I", len(frames))
    for frame in frames:
        layout.header(frame.parent).string(frame.child).constant("d", *ros_pose(frame.place))
    return layout


def add_moving(layout: Layout, frames: Sequence[LinkFrame], channels: ChannelTable) -> Fill:
    """Append transforms to a tf2_msgs/TFMessage; returns what fills them, all joints at once.

    A turn by θ about the axis a of the place q is q (cos θ/2, a sin θ/2) = cos(θ/2) q + sin(θ/2) q a; a slide by s
    moves the place by s R a.
    """
    for number, frame in enumerate(frames):
        layout.header(frame.parent).string(frame.child).field(f"link_{number}", "<f8", 7)
    motions = [frame.motion for frame in frames if frame.motion is not None]
    columns = [column_of(motion, channels) for motion in motions]
    scale = np.array([motion.scale for motion in motions])
    offset = np.array([motion.offset for motion in motions])
    rest = np.array([ros_pose(frame.place) for frame in frames]).reshape(-1, 7)
    axes = np.array([motion.axis for motion in motions]).reshape(-1, 3)
    turns = np.array([isinstance(motion, Turns) for motion in motions], dtype=bool)
    along = np.array([frame.place[:3, :3] @ axis for frame, axis in zip(frames, axes, strict=True)]).reshape(-1, 3)
    along[turns] = 0.0
    vector, scalar = rest[:, 3:6], rest[:, 6:]
    across = np.hstack([scalar * axes + np.cross(vector, axes), -np.sum(vector * axes, axis=1, keepdims=True)])

    def fill(records: np.ndarray, rows: np.ndarray) -> None:
        position = rows[:, columns] * scale + offset
        half = np.where(turns, 0.5 * position, 0.0)
        with np.errstate(invalid="ignore"):
            cosine, sine = np.cos(half)[..., None], np.sin(half)[..., None]
        places = rest[:, :3] + position[..., None] * along
        rotations = cosine * rest[:, 3:] + sine * across
        for number in range(len(frames)):
            pose = records[f"link_{number}"]
            pose[:, :3], pose[:, 3:] = places[:, number], rotations[:, number]

    return fill
