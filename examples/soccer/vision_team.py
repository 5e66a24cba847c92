"""A team that plays from the league's vision messages: exact positions, sixty times a second.

    botz run soccer --serve                                   (first terminal)
    python examples/soccer/vision_team.py --team blue         (second terminal)

It uses the league's messages and nothing else of Botz, so it plays on the league's own simulator as well.
"""

from __future__ import annotations

import argparse
import ipaddress
import socket
import struct
import sys
import time

from strategy import Ball, Team

from botz.endpoints.soccer.league_messages import DecodeError, Environment, Packet

SILENCE = 3.0  # seconds without vision after which a match that was there is over


def address(text: str) -> tuple[str, int]:
    host, colon, port = text.rpartition(":")
    if not colon or not port.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not HOST:PORT, as 127.0.0.1:20011")
    return host, int(port)


def vision_socket(where: tuple[str, int], interface: str) -> socket.socket:
    """A socket that hears the vision; a multicast group has to be joined first."""
    listening = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # the other team listens at the same port
    if sys.platform == "darwin":
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    host, port = where
    if ipaddress.IPv4Address(host).is_multicast:
        listening.bind(("", port))
        group = struct.pack("4s4s", socket.inet_aton(host), socket.inet_aton(interface))
        listening.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, group)
    else:
        listening.bind(where)
    return listening


def newest(vision: socket.socket) -> bytes:
    """Wait for a message; when more have piled up, only the last one tells the present."""
    vision.settimeout(1.0)
    data = vision.recv(65536)
    vision.setblocking(False)
    try:
        for _ in range(1000):
            data = vision.recv(65536)
    except BlockingIOError:
        pass
    return data


def command_packet(colour: str, wheels: dict[int, tuple[float, float]]) -> bytes:
    packet = Packet()
    for number, (left, right) in wheels.items():
        packet.cmd.robot_commands.add(id=number, yellowteam=colour == "yellow", wheel_left=left, wheel_right=right)
    return packet.SerializeToString()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--team", choices=("blue", "yellow"), default="blue")
    parser.add_argument("--vision", type=address, default=("224.0.0.1", 10002), help="where the vision is sent to")
    parser.add_argument("--interface", default="127.0.0.1", help="network interface of a multicast")
    parser.add_argument("--commands", type=address, default=("127.0.0.1", 20011), help="where commands are sent to")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="how long to play")
    options = parser.parse_args()

    vision = vision_socket(options.vision, options.interface)
    out = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    team = Team(options.team)
    end = time.monotonic() + options.seconds
    heard = 0.0
    print("waiting for vision at {}:{}".format(*options.vision), flush=True)
    while time.monotonic() < end:
        try:
            environment = Environment.FromString(newest(vision))
        except (TimeoutError, DecodeError):
            if heard and time.monotonic() > heard + SILENCE:
                break  # the match is over
            continue  # no match yet, or not a message of the league: wait for the next one
        except KeyboardInterrupt:
            break
        if not heard:
            print(f"playing {options.team}", flush=True)
        heard = time.monotonic()
        field, frame = environment.field, environment.frame
        team.length, team.width, team.goal_width = field.length, field.width, field.goal_width
        blue = {robot.robot_id: (robot.x, robot.y, robot.orientation) for robot in frame.robots_blue}
        yellow = {robot.robot_id: (robot.x, robot.y, robot.orientation) for robot in frame.robots_yellow}
        ours, theirs = (blue, yellow) if options.team == "blue" else (yellow, blue)
        ball = Ball(frame.ball.x, frame.ball.y, frame.ball.vx, frame.ball.vy)
        # `step` counts simulated milliseconds: the strategy's time runs as the match does.
        wheels = team.play(0.001 * environment.step, ours, [(x, y) for x, y, _ in theirs.values()], ball)
        out.sendto(command_packet(options.team, wheels), options.commands)


if __name__ == "__main__":
    main()
