"""Robots as the rest of the robotics world knows them: odometry, transforms, joint states, inertial sensors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from botz.engines.base import ChannelTable, ImuView, JointView, PoseView, RosView, SensorView
from botz.record.cdr import Fill, Layout

WORLD = "world"
COVARIANCE_UNKNOWN = (0.0,) * 36


@dataclass(frozen=True)
class StandardTopic:
    """A topic with a standard ROS type, ready to be filled from full channel rows."""

    topic: str
    kind: str
    """Type, as `nav_msgs/Odometry`."""
    layout: Layout
    fill: Fill


def standard_topics(views: Sequence[RosView], channels: ChannelTable, robots: set[str]) -> list[StandardTopic]:
    """The topics of all views whose robot is in `robots` and whose channels are in the table."""
    usable = [view for view in views if view.robot in robots and _has_all(view, channels)]
    topics: list[StandardTopic] = []
    for view in usable:
        match view:
            case PoseView():
                topics.append(_odometry(view, channels))
            case JointView():
                topics.append(_joint_state(view, channels))
            case ImuView():
                topics.append(_imu(view, channels))
            case SensorView():
                topics.append(_sensor(view, channels))
    poses = [view for view in usable if isinstance(view, PoseView)]
    if poses:
        topics.append(_transforms(poses, channels))
    return topics


def _has_all(view: RosView, channels: ChannelTable) -> bool:
    match view:
        case PoseView():
            needed = [view.pose, view.twist]
        case JointView():
            needed = [*view.position, *view.velocity, *view.effort]
        case ImuView():
            needed = [view.orientation, view.angular_velocity, view.linear_acceleration]
        case SensorView():
            needed = [view.channel]
    return all(name in channels.slices for name in needed if name)


def _columns(channels: ChannelTable, name: str, *sizes: int) -> slice:
    columns = channels.slice_of(name)
    if columns.stop - columns.start not in sizes:
        wanted = " or ".join(str(size) for size in sizes)
        raise ValueError(f"channel {name!r} has {columns.stop - columns.start} components; its view needs {wanted}")
    return columns


def _pose(rows: np.ndarray) -> np.ndarray:
    """Position and quaternion in ROS order (x, y, z, w), from (x, y, heading) or (x, y, z, quat_wxyz)."""
    pose = np.zeros((len(rows), 7))
    if rows.shape[1] == 3:
        pose[:, :2] = rows[:, :2]
        with np.errstate(invalid="ignore"):
            pose[:, 5] = np.sin(0.5 * rows[:, 2])
            pose[:, 6] = np.cos(0.5 * rows[:, 2])
    else:
        pose[:, :3] = rows[:, :3]
        pose[:, 3:6] = rows[:, 4:7]
        pose[:, 6] = rows[:, 3]
    return pose


def _odometry(view: PoseView, channels: ChannelTable) -> StandardTopic:
    layout = Layout().header(WORLD).string(view.frame)
    layout.field("pose", "<f8", 7).constant("d", *COVARIANCE_UNKNOWN)
    layout.field("twist", "<f8", 6).constant("d", *COVARIANCE_UNKNOWN)
    pose = _columns(channels, view.pose, 3, 7)
    twist = _columns(channels, view.twist, 3, 6) if view.twist else slice(0, 0)

    def fill(records: np.ndarray, rows: np.ndarray) -> None:
        records["pose"] = _pose(rows[:, pose])
        match twist.stop - twist.start:
            case 3:  # vx, vy, yaw rate
                records["twist"][:, [0, 1, 5]] = rows[:, twist]
            case 6:
                records["twist"] = rows[:, twist]

    return StandardTopic(f"/{view.robot}/{view.topic}", "nav_msgs/Odometry", layout, fill)


def _transforms(views: Sequence[PoseView], channels: ChannelTable) -> StandardTopic:
    layout = Layout().constant("I", len(views))
    for number, view in enumerate(views):
        layout.header(WORLD).string(view.frame).field(f"pose_{number}", "<f8", 7)
    columns = [_columns(channels, view.pose, 3, 7) for view in views]

    def fill(records: np.ndarray, rows: np.ndarray) -> None:
        for number, pose in enumerate(columns):
            records[f"pose_{number}"] = _pose(rows[:, pose])

    return StandardTopic("/tf", "tf2_msgs/TFMessage", layout, fill)


def _joint_state(view: JointView, channels: ChannelTable) -> StandardTopic:
    layout = Layout().header(view.robot).constant("I", len(view.names))
    for name in view.names:
        layout.string(name)
    parts: list[tuple[str, list[int], list[int]]] = []
    for part in ("position", "velocity", "effort"):
        names = getattr(view, part)
        # A part is there for all joints or empty; within it, unknown joints are NaN.
        if not any(names):
            layout.constant("I", 0)
            continue
        joints = len(view.names)
        layout.constant("I", joints).field(part, "<f8", joints)
        if len(names) == 1:  # one channel with a component for each joint
            columns = _columns(channels, names[0], joints)
            parts.append((part, list(range(joints)), list(range(columns.start, columns.stop))))
            continue
        if len(names) != joints:
            raise ValueError(f"joint view of {view.robot!r}: {part} is not parallel to the joints' names")
        known = [at for at, name in enumerate(names) if name]
        parts.append((part, known, [_columns(channels, names[at], 1).start for at in known]))

    def fill(records: np.ndarray, rows: np.ndarray) -> None:
        for part, known, columns in parts:
            values = np.full(records[part].shape, np.nan)
            values[:, known] = rows[:, columns]
            records[part] = values

    return StandardTopic(f"/{view.robot}/joint_states", "sensor_msgs/JointState", layout, fill)


def _imu(view: ImuView, channels: ChannelTable) -> StandardTopic:
    layout = Layout().header(view.robot).field("orientation", "<f8", 4)
    # A first element of -1 says that the message carries no orientation.
    layout.constant("d", 0.0 if view.orientation else -1.0, *(0.0,) * 8)
    layout.field("angular", "<f8", 3).constant("d", *(0.0,) * 9)
    layout.field("linear", "<f8", 3).constant("d", *(0.0,) * 9)
    orientation = _columns(channels, view.orientation, 4) if view.orientation else None
    angular = _columns(channels, view.angular_velocity, 3)
    linear = _columns(channels, view.linear_acceleration, 3)

    def fill(records: np.ndarray, rows: np.ndarray) -> None:
        if orientation is not None:
            records["orientation"] = np.roll(rows[:, orientation], -1, axis=1)
        else:
            records["orientation"] = (0.0, 0.0, 0.0, 1.0)
        records["angular"] = rows[:, angular]
        records["linear"] = rows[:, linear]

    return StandardTopic(f"/{view.robot}/{view.topic}", "sensor_msgs/Imu", layout, fill)


def _sensor(view: SensorView, channels: ChannelTable) -> StandardTopic:
    layout = Layout().header(view.robot)
    size = 1 if view.kind == "FluidPressure" else 3
    if view.kind == "NavSatFix":
        layout.constant("b", 0).constant("H", 1)  # a fix, by GPS
    layout.field("reading", "<f8", size)
    # Zeros say that the variance or covariance is unknown.
    layout.constant("d", *(0.0,) * (1 if size == 1 else 9))
    if view.kind == "NavSatFix":
        layout.constant("B", 0)
    columns = _columns(channels, view.channel, size)

    def fill(records: np.ndarray, rows: np.ndarray) -> None:
        records["reading"] = rows[:, columns]

    return StandardTopic(f"/{view.robot}/{view.topic}", f"sensor_msgs/{view.kind}", layout, fill)
