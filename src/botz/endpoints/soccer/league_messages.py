"""The soccer leagues' messages of simulator, referee and replacer, proto3, made here from the table below.

They live in a pool of their own: a team that runs in the same process with modules generated from its own files, which
register the same names, does not meet them.
"""

from __future__ import annotations

from typing import Any

from google.protobuf.descriptor_pb2 import DescriptorProto, FieldDescriptorProto, FileDescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import DecodeError
from google.protobuf.message_factory import GetMessageClass
from google.protobuf.unknown_fields import UnknownFieldSet

STATE = "fira_message"
EXCHANGE = "fira_message.sim_to_ref"
REFEREE = "VSSRef"
CALLS = "VSSRef.ref_to_team"
PLACEMENTS = "VSSRef.team_to_ref"
PACKAGES = {
    STATE: {
        "Ball": "1 x, 2 y, 3 z, 4 vx, 5 vy, 6 vz: double",
        "Robot": "1 robot_id: uint32; 2 x, 3 y, 4 orientation, 5 vx, 6 vy, 7 vorientation: double",
        "Field": "1 width, 2 length, 3 goal_width, 4 goal_depth, 5 center_radius, 6 penalty_width, 7 penalty_depth, "
        "8 penalty_point: double",
        "Frame": "1 ball: Ball; 2 robots_yellow, 3 robots_blue: repeated Robot",
    },
    EXCHANGE: {
        "Command": "1 id: uint32; 2 yellowteam: bool; 6 wheel_left, 7 wheel_right: double",
        "Commands": "1 robot_commands: repeated Command",
        "RobotReplacement": "1 position: Robot; 5 yellowteam, 6 turnon: bool",
        "BallReplacement": "1 x, 2 y, 3 vx, 4 vy: double",
        "Replacement": "1 ball: BallReplacement; 2 robots: repeated RobotReplacement",
        "Packet": "1 cmd: Commands; 2 replace: Replacement",
        "Environment": "1 step: uint32; 2 frame: Frame; 3 field: Field; 4 goals_blue, 5 goals_yellow: uint32",
    },
    REFEREE: {
        "Robot": "1 robot_id: uint32; 2 x, 3 y, 4 orientation: double",
        "Frame": "1 teamColor: Color; 2 robots: repeated Robot",
    },
    CALLS: {
        "VSSRef_Command": "1 foul: Foul; 2 teamcolor: Color; 3 foulQuadrant: Quadrant; 4 timestamp: double; "
        "5 gameHalf: Half"
    },
    PLACEMENTS: {"VSSRef_Placement": "1 world: Frame"},
}
"""Number and name of each field, then its type. Numbers and types are what clients rely on.

`step` counts simulated milliseconds; metres from the field's centre; wheel speeds in rad/s; angles in radians, but
degrees in the orientation of a Replacement and of a placement.
"""
ENUMERATIONS = {
    "Foul": ("FREE_KICK", "PENALTY_KICK", "GOAL_KICK", "FREE_BALL", "KICKOFF", "STOP", "GAME_ON", "HALT"),
    "Color": ("BLUE", "YELLOW", "NONE"),
    "Quadrant": ("NO_QUADRANT", "QUADRANT_1", "QUADRANT_2", "QUADRANT_3", "QUADRANT_4"),
    "Half": (
        "NO_HALF", "FIRST_HALF", "SECOND_HALF", "OVERTIME_FIRST_HALF", "OVERTIME_SECOND_HALF", "PENALTY_SHOOTOUTS",
    ),
}  # fmt: skip
"""Numbers on the wire, counted from 0. A newer referee may send more than these."""

_SCALARS = {
    "double": FieldDescriptorProto.TYPE_DOUBLE,
    "uint32": FieldDescriptorProto.TYPE_UINT32,
    "bool": FieldDescriptorProto.TYPE_BOOL,
    **dict.fromkeys(ENUMERATIONS, FieldDescriptorProto.TYPE_UINT32),
}
_OUTER = {EXCHANGE: STATE, CALLS: REFEREE, PLACEMENTS: REFEREE}
"""Where a package looks for a message that is not its own."""


def _described(package: str, name: str, text: str) -> DescriptorProto:
    message = DescriptorProto(name=name)
    for group in text.split("; "):
        fields, _, kind = group.partition(": ")
        repeated, kind = kind.startswith("repeated "), kind.removeprefix("repeated ")
        for field in fields.split(", "):
            number, _, field_name = field.partition(" ")
            made = message.field.add(name=field_name, number=int(number))
            made.label = FieldDescriptorProto.LABEL_REPEATED if repeated else FieldDescriptorProto.LABEL_OPTIONAL
            if kind in _SCALARS:
                made.type = _SCALARS[kind]
            else:
                home = package if kind in PACKAGES[package] else _OUTER[package]
                made.type, made.type_name = FieldDescriptorProto.TYPE_MESSAGE, f".{home}.{kind}"
    return message


def _classes() -> dict[str, Any]:
    pool = DescriptorPool()
    needed: list[str] = []
    for package, messages in PACKAGES.items():
        file = FileDescriptorProto(name=f"{package}.proto", package=package, syntax="proto3", dependency=needed)
        file.message_type.extend(_described(package, name, text) for name, text in messages.items())
        pool.AddSerializedFile(file.SerializeToString())
        needed.append(file.name)
    names = [f"{package}.{name}" for package, messages in PACKAGES.items() for name in messages]
    return {name: GetMessageClass(pool.FindMessageTypeByName(name)) for name in names}


_made = _classes()
Ball: Any = _made[f"{STATE}.Ball"]
Robot: Any = _made[f"{STATE}.Robot"]
Field: Any = _made[f"{STATE}.Field"]
Frame: Any = _made[f"{STATE}.Frame"]
Command: Any = _made[f"{EXCHANGE}.Command"]
Commands: Any = _made[f"{EXCHANGE}.Commands"]
RobotReplacement: Any = _made[f"{EXCHANGE}.RobotReplacement"]
BallReplacement: Any = _made[f"{EXCHANGE}.BallReplacement"]
Replacement: Any = _made[f"{EXCHANGE}.Replacement"]
Packet: Any = _made[f"{EXCHANGE}.Packet"]
Environment: Any = _made[f"{EXCHANGE}.Environment"]
RefereeCall: Any = _made[f"{CALLS}.VSSRef_Command"]
Placement: Any = _made[f"{PLACEMENTS}.VSSRef_Placement"]


def read_message(kind: Any, data: bytes) -> Any:
    """A message of that class, or DecodeError: bytes that are none, or a field of ours that came with another type.

    Protobuf puts such a field aside as unknown and leaves its default: wheel speeds sent as `float` would stand a robot
    still without a word. Fields that are none of ours are a newer client's business.
    """
    try:
        message = kind.FromString(data)
    except DecodeError:
        raise DecodeError(f"not a {kind.DESCRIPTOR.name} of the league") from None
    known = kind.FromString(data)
    known.DiscardUnknownFields()
    if known.ByteSize() != message.ByteSize() and _mistyped(message):
        raise DecodeError("a field has another type than the league's")
    return message


def _mistyped(message: Any) -> bool:
    """Whether a field of ours is among the unknown ones, here or further in."""
    ours = message.DESCRIPTOR.fields_by_number
    unknown = UnknownFieldSet(message)
    if any(unknown[index].field_number in ours for index in range(len(unknown))):
        return True
    parts = [value for field, value in message.ListFields() if field.message_type is not None]
    return any(_mistyped(inner) for part in parts for inner in ([part] if hasattr(part, "DESCRIPTOR") else part))


__all__ = [
    "CALLS",
    "ENUMERATIONS",
    "EXCHANGE",
    "PACKAGES",
    "PLACEMENTS",
    "REFEREE",
    "STATE",
    "Ball",
    "BallReplacement",
    "Command",
    "Commands",
    "DecodeError",
    "Environment",
    "Field",
    "Frame",
    "Packet",
    "Placement",
    "RefereeCall",
    "Replacement",
    "Robot",
    "RobotReplacement",
    "read_message",
]
