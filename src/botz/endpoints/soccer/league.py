"""The league simulators' messages over UDP: a client written for them plays here unchanged.

Out goes an Environment at a steady rate; in come Packets with wheel speeds and replacements. One message a packet.
"""

from __future__ import annotations

import ipaddress
import math
import socket
import sys
import time
from pathlib import Path
from typing import Any

from botz.endpoints.soccer.league_messages import DecodeError, Environment, Packet, read_message
from botz.endpoints.soccer.league_messages import Field as FieldMessage
from botz.endpoints.soccer.placements import Placements, Wanted
from botz.endpoints.soccer.team import WILD, Player, TeamLink, within
from botz.endpoints.udp_port import NOBODY, Address
from botz.errors import InputError, Problem
from botz.scenario.links import host_and_port
from botz.scenario.ports import LEAGUE_VISION
from botz.scenario.soccer.links import LeagueLink as LeagueSettings
from botz.sim.attached import AttachedRun

LOOK_PERIOD = 1.0
"""How often a client is looked for that is bound to the loopback address [s]."""
SPARE_ENTRIES = 16
"""A packet may name each robot twice, and so many that do not play: a team of five in a match of three a side."""


class LeagueLink(TeamLink):
    """Sends vision to `settings.vision` and takes commands and replacements at `settings.listen`."""

    kind = "league"

    def __init__(self, run: AttachedRun, settings: LeagueSettings):
        super().__init__(run, settings.listen, reasons=("overrun", "unsent"))
        self._most_entries = 2 * len(self.players) + SPARE_ENTRIES
        self._placements = Placements(run, self.players, self.ignore, now=time.perf_counter())
        self._vision = Vision(run, self.players)
        self._vision_address = host_and_port(settings.vision)
        self._copy_address = loopback_of(settings)
        self._copied = False
        """Whether somebody is bound to that address."""
        try:
            self._out = vision_socket(settings)
        except InputError:
            self._socket.close()
            raise
        self._period = 1.0 / settings.rate
        self._due = self._next_look = time.perf_counter()
        self._sent = 0

    @property
    def addresses(self) -> dict[str, str]:
        return {"league commands": self.address, "league vision": "{}:{}".format(*self._vision_address)}

    # --- in: commands and replacements ---------------------------------------------------------------------

    def take(self, data: bytes) -> None:
        try:
            packet = read_message(Packet, data)
        except DecodeError as error:
            self.ignore("malformed", "%s", error)
            return
        if len(packet.cmd.robot_commands) + len(packet.replace.robots) > self._most_entries:
            self.ignore("too_long", "more than %d entries", self._most_entries)
            return
        for command in packet.cmd.robot_commands:
            self._take_command(command)
        if packet.HasField("replace"):
            self._take_replacement(packet.replace)
            self._placements.pass_on_if_due(time.perf_counter(), self._pass_on)

    def _take_command(self, command: Any) -> None:
        player = self._placements.player(command.yellowteam, command.id)
        if player is None:
            return
        left, right = command.wheel_left, command.wheel_right
        if within(left, WILD * player.max_speed) and within(right, WILD * player.max_speed):
            self.steer(player, {"left/speed": left, "right/speed": right})
        else:
            self.ignore("out_of_range", "%s, wheels at %g and %g rad/s", player.name, left, right)

    def _take_replacement(self, replace: Any) -> None:
        """All of it in one command, so that two robots can change places; one bad entry spoils the whole."""
        ball = replace.ball
        places = self._placements.ball(ball.x, ball.y, ball.vx, ball.vy) if replace.HasField("ball") else {}
        if places is None:
            return
        if not all(entry.HasField("position") for entry in replace.robots):
            self.ignore("malformed", "a replacement without a position")
            return
        robots = self._placements.robots(
            Wanted(entry.yellowteam, at.robot_id, at.x, at.y, at.orientation, entry.turnon)
            for entry in replace.robots
            for at in (entry.position,)
        )
        if robots is not None:
            self._placements.add(places | robots)

    # --- out: vision -----------------------------------------------------------------------------------------

    def next_due(self) -> float:
        times = [self._due, self._placements.due, super().next_due()]
        return min(due for due in times if due is not None)

    def send_if_due(self, now: float) -> None:
        super().send_if_due(now)
        self._placements.pass_on_if_due(now, self._pass_on)
        if now < self._due:
            return
        self._due += self._period
        if self._due <= now:  # behind by more than a period: go on from here, not through what was missed
            self._due = now + self._period
        try:
            message = self._vision.message()
            self._out.sendto(message, self._vision_address)
            self._sent += 1
            if self._is_copied(now):
                self._out.sendto(message, self._copy_address)
        except OSError as error:
            self._complaints.add("unsent", "vision to %s:%d: %s", *self._vision_address, error.strerror or error)

    def _is_copied(self, now: float) -> bool:
        if self._copy_address != NOBODY and now >= self._next_look:
            self._next_look = now + LOOK_PERIOD
            self._copied = is_bound(*self._copy_address)
        return self._copied

    def counters(self) -> dict[str, int]:
        """As for every link; also vision messages sent, and replacements ignored because too many waited."""
        return {"sent": self._sent, **super().counters()}

    def close(self) -> None:
        super().close()
        self._out.close()


class Vision:
    """The state of the game as an Environment. Columns are looked up once."""

    def __init__(self, run: AttachedRun, robots: list[Player]):
        self._run = run
        self._radius: float = run.about["ball"]["radius"]
        field = run.about["field"]
        self._field = FieldMessage(**{name: field[name] for name in FieldMessage.DESCRIPTOR.fields_by_name})
        column = {name: part.start for name, part in run.channels.slices.items()}
        self._robots = [
            (
                player.team == "yellow",
                player.number,
                *(column[f"{player.name}/{channel}"] for channel in ("playing", "pose", "twist")),
            )
            for player in robots
        ]
        self._ball, self._velocity = column["ball/pose"], column["ball/velocity"]
        self._score = column["match/score"]

    def message(self) -> bytes:
        step, values = self._run.latest()
        row = values.tolist()
        milliseconds = step * self._run.step_ns // 1_000_000
        environment = Environment(step=milliseconds & 0xFFFFFFFF, field=self._field)
        environment.goals_blue, environment.goals_yellow = map(int, row[self._score : self._score + 2])
        frame = environment.frame
        x, y = row[self._ball : self._ball + 2]
        vx, vy = row[self._velocity : self._velocity + 2]
        ball = frame.ball
        ball.x, ball.y, ball.z, ball.vx, ball.vy = x, y, self._radius, vx, vy
        for yellow, number, playing, pose, twist in self._robots:
            if row[playing] < 0.5:
                continue
            x, y, heading = row[pose : pose + 3]
            forward, sideways, turning = row[twist : twist + 3]
            cos, sin = math.cos(heading), math.sin(heading)
            (frame.robots_yellow if yellow else frame.robots_blue).add(
                robot_id=number,
                x=x,
                y=y,
                orientation=math.remainder(heading, math.tau),
                vx=forward * cos - sideways * sin,
                vy=forward * sin + sideways * cos,
                vorientation=turning,
            )
        return environment.SerializeToString()


def loopback_of(settings: LeagueSettings) -> Address:
    """Where a client waits that is bound to the loopback address itself: the system hands it no multicast, whatever it
    has joined, so it gets a copy. NOBODY where vision is no multicast on loopback."""
    host, port = host_and_port(settings.vision)
    on_loopback = ipaddress.IPv4Address(settings.interface).is_loopback
    return (settings.interface, port) if on_loopback and ipaddress.IPv4Address(host).is_multicast else NOBODY


def is_bound(host: str, port: int) -> bool:
    """Whether a UDP socket is bound to exactly this address. Linux tells; Windows hands such a socket the multicast."""
    wanted = f"{int.from_bytes(socket.inet_aton(host), sys.byteorder):08X}:{port:04X}"
    try:
        lines = Path("/proc/net/udp").read_text("ascii").splitlines()[1:]
    except (OSError, ValueError):
        return False
    return any(line.split(maxsplit=2)[1:2] == [wanted] for line in lines)


def vision_socket(settings: LeagueSettings) -> socket.socket:
    """A socket that sends to one address or, out of the interface chosen, to a group."""
    host, port = host_and_port(settings.vision)
    if port == 0:
        problem = f"{settings.vision} has no port to send to; the league's is {host_and_port(LEAGUE_VISION)[1]}"
        raise InputError(Problem(problem, key="links.league.vision"))
    out = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    out.setblocking(False)
    if not ipaddress.IPv4Address(host).is_multicast:
        return out
    try:
        on_loopback = ipaddress.IPv4Address(settings.interface).is_loopback
        out.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton(settings.interface))
        # 0 never leaves the machine, whatever the routes say; 1 not the local network.
        out.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_TTL, 0 if on_loopback else 1)
        out.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_LOOP, 1)
    except OSError as error:
        out.close()
        problem = (
            f"cannot send out of {settings.interface} ({error.strerror or error}); give an interface's own address"
        )
        raise InputError(Problem(problem, key="links.league.interface")) from error
    return out
