"""Robots as the rest of the robotics world knows them: odometry, transforms, joint states, sensors, descriptions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from botz.channels import ChannelTable, ImuView, JointView, PoseView, RosView, SensorView
from botz.record.cdr import Fill, Layout
from botz.record.link_frames import WORLD, LinkFrame, add_moving, column_of, fixed_transforms, link_frames
from botz.scene.robot_description import RobotDescription, urdf_of_all
from botz.scene.world_scene import Slides, Turns

COVARIANCE_UNKNOWN = (0.0,) * 36


@dataclass(frozen=True)
class StandardTopic:
    """A topic with a standard ROS type, ready to be filled from full channel rows."""

    topic: str
    kind: str
    """Type, as `nav_msgs/Odometry`."""
    layout: Layout
    fill: Fill


@dataclass(frozen=True)
class LatchedTopic:
    """A topic of one message, which is for whoever comes later too."""

    topic: str
    kind: str
    layout: Layout


def standard_topics(
    views: Sequence[RosView], channels: ChannelTable, robots: set[str], descriptions: Sequence[RobotDescription] = ()
) -> list[StandardTopic]:
    """The topics of all views whose robot is in `robots` and whose channels are in the table. Joints that only a
    robot's description knows, for example suspensions, are in its joint states too."""
    usable = [view for view in views if view.robot in robots and _has_all(view, channels)]
    described = [one for one in descriptions if one.name in robots]
    joints = {
        one.name: {key: motion for key, motion in one.motions.items() if motion.channel in channels.slices}
        for one in described
    }
    with_view = {view.robot for view in usable if isinstance(view, JointView)}
    usable += [JointView(name, (), ()) for name, moving in joints.items() if moving and name not in with_view]
    topics: list[StandardTopic] = []
    for view in usable:
        match view:
            case PoseView():
                topics.append(_odometry(view, channels))
            case JointView():
                topics.append(_joint_state(view, channels, joints.get(view.robot, {})))
            case ImuView():
                topics.append(_imu(view, channels))
            case SensorView():
                topics.append(_sensor(view, channels))
    frames = link_frames(described, channels)
    # A frame has one parent: the tool of an arm hangs on its last link.
    linked = {frame.child for frame in frames}
    poses = [view for view in usable if isinstance(view, PoseView) and view.frame not in linked]
    moving = [frame for frame in frames if frame.motion is not None]
    if poses or moving:
        topics.append(_transforms(poses, moving, channels))
    return topics


def latched_topics(
    descriptions: Sequence[RobotDescription], channels: ChannelTable, robots: set[str]
) -> list[LatchedTopic]:
    """What never changes: the robots as URDF, one by one and all in one, and the transforms of fixed joints."""
    described = [one for one in descriptions if one.name in robots]
    if not described:
        return []
    texts = {f"/{one.name}/robot_description": one.urdf() for one in described if one.is_robot}
    texts["/robot_description"] = urdf_of_all(described)
    found = [LatchedTopic(topic, "std_msgs/String", Layout().string(text)) for topic, text in texts.items()]
    fixed = [frame for frame in link_frames(described, channels) if frame.motion is None]
    if fixed:
        found.append(LatchedTopic("/tf_static", "tf2_msgs/TFMessage", fixed_transforms(fixed)))
    return found


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


def _transforms(views: Sequence[PoseView], links: Sequence[LinkFrame], channels: ChannelTable) -> StandardTopic:
    layout = Layout().constant("I", len(views) + len(links))
    for number, view in enumerate(views):
        layout.header(WORLD).string(view.frame).field(f"pose_{number}", "<f8", 7)
    columns = [_columns(channels, view.pose, 3, 7) for view in views]
    fill_links = add_moving(layout, links, channels)

    def fill(records: np.ndarray, rows: np.ndarray) -> None:
        for number, pose in enumerate(columns):
            records[f"pose_{number}"] = _pose(rows[:, pose])
        fill_links(records, rows)

    return StandardTopic("/tf", "tf2_msgs/TFMessage", layout, fill)


def _joint_state(
    view: JointView, channels: ChannelTable, described: Mapping[str, Turns | Slides] | None = None
) -> StandardTopic:
    further = {name: motion for name, motion in (described or {}).items() if name not in view.names}
    own, joints = len(view.names), len(view.names) + len(further)
    layout = Layout().header(view.robot).constant("I", joints)
    for name in (*view.names, *further):
        layout.string(name)
    parts: list[tuple[str, list[int], list[int]]] = []
    for part in ("position", "velocity", "effort"):
        names = getattr(view, part)
        # A part is there for all joints or empty; within it, unknown joints are NaN.
        if not any(names) and not (part == "position" and further):
            layout.constant("I", 0)
            continue
        layout.constant("I", joints).field(part, "<f8", joints)
        if len(names) == 1:  # one channel with a component for each joint
            columns = _columns(channels, names[0], own)
            parts.append((part, list(range(own)), list(range(columns.start, columns.stop))))
            continue
        if len(names) != own:
            raise ValueError(f"joint view of {view.robot!r}: {part} is not parallel to the joints' names")
        known = [at for at, name in enumerate(names) if name]
        parts.append((part, known, [_columns(channels, names[at], 1).start for at in known]))

    moved_by = [column_of(motion, channels) for motion in further.values()]
    scale = np.array([motion.scale for motion in further.values()])
    offset = np.array([motion.offset for motion in further.values()])

    def fill(records: np.ndarray, rows: np.ndarray) -> None:
        for part, known, columns in parts:
            values = np.full(records[part].shape, np.nan)
            values[:, known] = rows[:, columns]
            if part == "position":
                values[:, own:] = rows[:, moved_by] * scale + offset
            records[part] = values

    return StandardTopic(f"/{view.robot}/joint_states", "sensor_msgs/JointState", layout, fill)


def _imu(view: ImuView, channels: ChannelTable) -> StandardTopic:
    layout = Layout().header(view.frame or view.robot).field("orientation", "<f8", 4)
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
    layout = Layout().header(view.frame or view.robot)
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
