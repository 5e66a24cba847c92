"""Definitions of the ROS messages in a recording, as the `ros2msg` encoding wants them.

A schema text is the message's own fields followed by the definitions it depends on, separated by lines of
equals signs, so that a reader needs nothing but the file.
"""

from __future__ import annotations

from collections.abc import Sequence

from botz.channels import Channel

SEPARATOR = "=" * 80

DEFINITIONS = {
    "builtin_interfaces/Time": ("int32 sec", "uint32 nanosec"),
    "std_msgs/Header": ("builtin_interfaces/Time stamp", "string frame_id"),
    "geometry_msgs/Point": ("float64 x", "float64 y", "float64 z"),
    "geometry_msgs/Vector3": ("float64 x", "float64 y", "float64 z"),
    "geometry_msgs/Quaternion": ("float64 x", "float64 y", "float64 z", "float64 w"),
    "geometry_msgs/Pose": ("geometry_msgs/Point position", "geometry_msgs/Quaternion orientation"),
    "geometry_msgs/Twist": ("geometry_msgs/Vector3 linear", "geometry_msgs/Vector3 angular"),
    "geometry_msgs/PoseWithCovariance": ("geometry_msgs/Pose pose", "float64[36] covariance"),
    "geometry_msgs/TwistWithCovariance": ("geometry_msgs/Twist twist", "float64[36] covariance"),
    "geometry_msgs/Transform": ("geometry_msgs/Vector3 translation", "geometry_msgs/Quaternion rotation"),
    "geometry_msgs/TransformStamped": (
        "std_msgs/Header header",
        "string child_frame_id",
        "geometry_msgs/Transform transform",
    ),
    "nav_msgs/Odometry": (
        "std_msgs/Header header",
        "string child_frame_id",
        "geometry_msgs/PoseWithCovariance pose",
        "geometry_msgs/TwistWithCovariance twist",
    ),
    "tf2_msgs/TFMessage": ("geometry_msgs/TransformStamped[] transforms",),
    "sensor_msgs/JointState": (
        "std_msgs/Header header",
        "string[] name",
        "float64[] position",
        "float64[] velocity",
        "float64[] effort",
    ),
    "sensor_msgs/Imu": (
        "std_msgs/Header header",
        "geometry_msgs/Quaternion orientation",
        "float64[9] orientation_covariance",
        "geometry_msgs/Vector3 angular_velocity",
        "float64[9] angular_velocity_covariance",
        "geometry_msgs/Vector3 linear_acceleration",
        "float64[9] linear_acceleration_covariance",
    ),
    "std_msgs/String": ("string data",),
    "sensor_msgs/NavSatStatus": (
        "int8 STATUS_NO_FIX=-1",
        "int8 STATUS_FIX=0",
        "int8 STATUS_SBAS_FIX=1",
        "int8 STATUS_GBAS_FIX=2",
        "int8 status",
        "uint16 SERVICE_GPS=1",
        "uint16 SERVICE_GLONASS=2",
        "uint16 SERVICE_COMPASS=4",
        "uint16 SERVICE_GALILEO=8",
        "uint16 service",
    ),
    "sensor_msgs/NavSatFix": (
        "std_msgs/Header header",
        "sensor_msgs/NavSatStatus status",
        "float64 latitude",
        "float64 longitude",
        "float64 altitude",
        "float64[9] position_covariance",
        "uint8 COVARIANCE_TYPE_UNKNOWN=0",
        "uint8 COVARIANCE_TYPE_APPROXIMATED=1",
        "uint8 COVARIANCE_TYPE_DIAGONAL_KNOWN=2",
        "uint8 COVARIANCE_TYPE_KNOWN=3",
        "uint8 position_covariance_type",
    ),
    "sensor_msgs/MagneticField": (
        "std_msgs/Header header",
        "geometry_msgs/Vector3 magnetic_field",
        "float64[9] magnetic_field_covariance",
    ),
    "sensor_msgs/FluidPressure": ("std_msgs/Header header", "float64 fluid_pressure", "float64 variance"),
    "rcl_interfaces/Log": (
        "byte DEBUG=10",
        "byte INFO=20",
        "byte WARN=30",
        "byte ERROR=40",
        "byte FATAL=50",
        "builtin_interfaces/Time stamp",
        "uint8 level",
        "string name",
        "string msg",
        "string file",
        "string function",
        "uint32 line",
    ),
    "botz_msgs/Snapshot": (
        "# The complete state of the engine before a step, for restarting there.",
        "builtin_interfaces/Time stamp",
        "uint64 step",
        "uint8[] data",
    ),
    "botz_msgs/Clock": (
        "# Simulated against real time.",
        "builtin_interfaces/Time stamp",
        "uint64 step",
        "# [ns] wall-clock time since 1970",
        "int64 wall_ns",
        "# [s] how late the step was in a real-time run",
        "float64 lateness",
    ),
}

LOG_LEVELS = {"debug": 10, "info": 20, "warning": 30, "error": 40, "fatal": 50}
LOG_LEVEL_NAMES = {number: name for name, number in LOG_LEVELS.items()}


def full_name(short: str) -> str:
    """`nav_msgs/msg/Odometry` of `nav_msgs/Odometry`: how schemas are named."""
    package, name = short.split("/")
    return f"{package}/msg/{name}"


def _dependencies(lines: Sequence[str], found: list[str]) -> None:
    for line in lines:
        kind = line.split(" ", 1)[0].split("[")[0]
        if kind in DEFINITIONS and kind not in found:
            found.append(kind)
            _dependencies(DEFINITIONS[kind], found)


def schema_text(lines: Sequence[str]) -> str:
    """The text of a schema whose own fields are `lines`, with everything they refer to."""
    needed: list[str] = []
    _dependencies(lines, needed)
    text = "\n".join(lines) + "\n"
    for kind in needed:
        text += f"{SEPARATOR}\nMSG: {kind}\n" + "\n".join(DEFINITIONS[kind]) + "\n"
    return text


def channel_lines(fields: Sequence[tuple[str, Channel]], title: str) -> list[str]:
    """Own fields of a message with stamp, step and one float64 field a channel, units in comments."""
    lines = [f"# {_one_line(title)}", "builtin_interfaces/Time stamp", "uint64 step"]
    for name, channel in fields:
        parts = f" ({', '.join(channel.components)})" if channel.components else ""
        lines.append(f"# [{_one_line(channel.unit)}]{_one_line(parts)} {_one_line(channel.description)}".rstrip())
        lines.append(f"float64[{channel.size}] {name}" if channel.components else f"float64 {name}")
    return lines


def _one_line(text: str) -> str:
    leading = " " if text.startswith(" ") else ""
    return leading + " ".join(text.split())
