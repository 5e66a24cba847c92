"""The league's messages on the wire: bytes written by hand, so that a client compiled from the league's own files is
understood and understands."""

from __future__ import annotations

import subprocess
import sys

import pytest
from fake_match import double, nested, number, single

from botz.endpoints.soccer import league_messages as league

ROBOT = {"robot_id": 3, "x": 0.5, "y": -0.25, "orientation": 1.5, "vx": 0.125, "vy": -2.0, "vorientation": 8.0}
# Tags: number * 8 + wire type; doubles are little-endian (0.5 is 3FE0..., −0.25 BFD0..., 1.5 3FF8...).
ROBOT_BYTES = bytes.fromhex(
    "08 03"
    "11 000000000000E03F"
    "19 000000000000D0BF"
    "21 000000000000F83F"
    "29 000000000000C03F"
    "31 00000000000000C0"
    "39 0000000000002040"
)
BALL = {"x": 1.0, "y": 2.0, "z": 3.0, "vx": 4.0, "vy": 5.0, "vz": 6.0}
BALL_BYTES = b"".join(double(index + 1, value) for index, value in enumerate(BALL.values()))
FIELD = {
    "width": 1.3,
    "length": 1.5,
    "goal_width": 0.4,
    "goal_depth": 0.1,
    "center_radius": 0.2,
    "penalty_width": 0.7,
    "penalty_depth": 0.15,
    "penalty_point": 0.375,
}
FIELD_BYTES = b"".join(double(index + 1, value) for index, value in enumerate(FIELD.values()))
COMMAND = {"id": 300, "yellowteam": True, "wheel_left": 1.5, "wheel_right": -0.25}
COMMAND_BYTES = bytes.fromhex("08 AC02  10 01  31 000000000000F83F  39 000000000000D0BF")
REPLACED_BYTES = nested(1, ROBOT_BYTES) + bytes.fromhex("28 01  30 01")
BALL_PLACE = {"x": 1.0, "y": 2.0, "vx": 3.0, "vy": 4.0}
BALL_PLACE_BYTES = b"".join(double(index + 1, value) for index, value in enumerate(BALL_PLACE.values()))
FRAME = {"ball": BALL, "robots_yellow": [ROBOT], "robots_blue": [ROBOT, ROBOT]}
FRAME_BYTES = nested(1, BALL_BYTES) + nested(2, ROBOT_BYTES) + nested(3, ROBOT_BYTES) * 2
COMMANDS_BYTES = nested(1, COMMAND_BYTES) * 2
REPLACED = {"position": ROBOT, "yellowteam": True, "turnon": True}
REPLACEMENT_BYTES = nested(1, BALL_PLACE_BYTES) + nested(2, REPLACED_BYTES) * 2
REPLACEMENT = {"ball": BALL_PLACE, "robots": [REPLACED, REPLACED]}

BY_HAND = [
    (league.Robot, ROBOT, ROBOT_BYTES),
    (league.Ball, BALL, BALL_BYTES),
    (league.Field, FIELD, FIELD_BYTES),
    (league.Frame, FRAME, FRAME_BYTES),
    (league.Command, COMMAND, COMMAND_BYTES),
    (league.Commands, {"robot_commands": [COMMAND, COMMAND]}, COMMANDS_BYTES),
    (league.RobotReplacement, REPLACED, REPLACED_BYTES),
    (league.BallReplacement, BALL_PLACE, BALL_PLACE_BYTES),
    (league.Replacement, REPLACEMENT, REPLACEMENT_BYTES),
    (
        league.Packet,
        {"cmd": {"robot_commands": [COMMAND, COMMAND]}, "replace": REPLACEMENT},
        nested(1, COMMANDS_BYTES) + nested(2, REPLACEMENT_BYTES),
    ),
    (
        league.Environment,
        {"step": 128, "frame": FRAME, "field": FIELD, "goals_blue": 1, "goals_yellow": 2},
        bytes.fromhex("08 8001") + nested(2, FRAME_BYTES) + nested(3, FIELD_BYTES) + bytes.fromhex("20 01  28 02"),
    ),
    (
        league.RefereeCall,
        {"foul": 3, "teamcolor": 2, "foulQuadrant": 4, "timestamp": 0.5, "gameHalf": 1},
        bytes.fromhex("08 03  10 02  18 04  21 000000000000E03F  28 01"),
    ),
    (
        league.Placement,
        {"world": {"teamColor": 1, "robots": [{"robot_id": 3, "x": 0.5, "y": -0.25, "orientation": 1.5}]}},
        nested(1, bytes.fromhex("08 01") + nested(2, ROBOT_BYTES[:29])),
    ),
]


def test_the_hand_encoder_itself():
    """One message byte by byte, as protobuf's own description of its encoding has it."""
    assert number(1, 150) == bytes.fromhex("08 96 01")
    assert nested(2, b"testing") == bytes.fromhex("12 07 74 65 73 74 69 6e 67")


@pytest.mark.parametrize(("message", "values", "data"), BY_HAND, ids=lambda part: getattr(part, "__name__", ""))
def test_the_bytes_are_the_leagues(message, values, data):
    assert message(**values).SerializeToString(deterministic=True) == data
    assert message.FromString(data) == message(**values)


def test_every_message_is_checked_by_hand():
    every = {name for messages in league.PACKAGES.values() for name in messages}
    assert {message.DESCRIPTOR.name for message, _, _ in BY_HAND} == every  # Robot and Frame of both within others


@pytest.mark.parametrize(
    ("message", "name"),
    [
        (league.Frame, "fira_message.Frame"),
        (league.Packet, "fira_message.sim_to_ref.Packet"),
        (league.RefereeCall, "VSSRef.ref_to_team.VSSRef_Command"),
        (league.Placement, "VSSRef.team_to_ref.VSSRef_Placement"),
    ],
)
def test_the_full_names_are_the_leagues(message, name):
    assert message.DESCRIPTOR.full_name == name


def test_what_is_absent_has_proto3s_defaults():
    command = league.Command.FromString(b"")
    assert (command.id, command.yellowteam, command.wheel_left, command.wheel_right) == (0, False, 0.0, 0.0)
    assert league.RobotReplacement.FromString(nested(1, b"")).turnon is False


def test_a_teams_own_modules_do_not_meet_ours():
    """A module generated from a team's file registers the same names in the default pool, here with other fields."""
    script = """
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from botz.endpoints.soccer import league_messages
theirs = descriptor_pb2.FileDescriptorProto(name="fira_message.proto", package="fira_message", syntax="proto3")
theirs.message_type.add(name="Robot").field.add(name="other", number=1, type=9, label=1)
pool = descriptor_pool.Default()
pool.AddSerializedFile(theirs.SerializeToString())
made = message_factory.GetMessageClass(pool.FindMessageTypeByName("fira_message.Robot"))
print(made(other="x").other, league_messages.Robot(x=2.0).x)
"""
    answer = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
    assert answer.stdout.split() == ["x", "2.0"], answer.stderr


@pytest.mark.parametrize(
    "data",
    [
        nested(1, nested(1, single(6, 3.0))),  # wheel speeds as float
        nested(1, nested(1, number(7, 3))),  # ... as an integer
        nested(1, nested(1, double(1, 3.0))),  # an id as double
        nested(1, number(1, 3)),  # a number where commands are expected
        number(1, 3),
        nested(2, nested(2, nested(1, single(2, 0.1)))),  # a position
    ],
)
def test_fields_of_another_type_are_not_taken_for_absent(data):
    with pytest.raises(league.DecodeError):
        league.read_message(league.Packet, data)


def test_fields_of_a_newer_client_are_passed_over():
    data = nested(1, nested(1, COMMAND_BYTES, double(9, 1.0)), number(4, 1)) + nested(5, b"news")
    commands = league.read_message(league.Packet, data).cmd.robot_commands
    assert [(command.id, command.wheel_left) for command in commands] == [(300, 1.5)]
