"""The league simulators' messages over UDP: a client written for them plays here unchanged.

Out goes an Environment at a steady rate; in come Packets with wheel speeds and replacements. One message a packet.
"""

from __future__ import annotations

import ipaddress
import math
import socket
import time
from collections import deque
from typing import Any

from botz.errors import InputError, Problem
from botz.links.league_messages import DecodeError, Environment, read_packet
from botz.links.league_messages import Field as FieldMessage
from botz.links.team_link import WILD, Player, TeamLink, within
from botz.scenario.links import LeagueLink as LeagueSettings
from botz.scenario.links import host_and_port
from botz.scenario.soccer import FASTEST
from botz.sim.attached import AttachedRun

ELSEWHERE = 1e5
"""Where a robot that leaves the game is put does not matter, within this distance [m]."""
QUEUE = 64
"""Replacements that may wait for the physics."""
SPARE_ENTRIES = 16
"""A packet may name each robot twice, and so many that do not play: a team of five in a match of three a side."""
PLACING_PERIOD = 0.005
"""Shortest time between two replacements [s]: teams place robots by hand or at kick-offs, not in a stream."""


class LeagueLink(TeamLink):
    """Sends vision to `settings.vision` and takes commands and replacements at `settings.listen`."""

    kind = "league"

    def __init__(self, run: AttachedRun, settings: LeagueSettings):
        super().__init__(run, settings.listen, reasons=("overrun", "unsent"))
        self._by_number = {(player.team == "yellow", player.number): player for player in self.players}
        self._most_entries = 2 * len(self.players) + SPARE_ENTRIES
        self._placements: deque[dict[str, tuple[float, ...]]] = deque()
        self._vision = Vision(run, self.players)
        self._vision_address = host_and_port(settings.vision)
        try:
            self._out = vision_socket(settings)
        except InputError:
            self._socket.close()
            raise
        self._period = 1.0 / settings.rate
        self._due = self._next_placing = time.perf_counter()
        self._sent = 0
        field = run.about["field"]
        self._farthest_x = 0.5 * field["length"] + field["goal_depth"]
        self._farthest_y = 0.5 * field["width"]

    # --- in: commands and replacements ---------------------------------------------------------------------

    def take(self, data: bytes) -> None:
        try:
            packet = read_packet(data)
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
            self._place_if_due(time.perf_counter())

    def _take_command(self, command: Any) -> None:
        player = self._player(command.yellowteam, command.id)
        if player is None:
            return
        left, right = command.wheel_left, command.wheel_right
        if within(left, WILD * player.max_speed) and within(right, WILD * player.max_speed):
            self.steer(player, {"left/speed": left, "right/speed": right})
        else:
            self.ignore("out_of_range", "%s, wheels at %g and %g rad/s", player.name, left, right)

    def _player(self, yellow: bool, number: int) -> Player | None:
        player = self._by_number.get((yellow, number))
        if player is None:
            self.ignore("unknown_robot", "%s %d", "yellow" if yellow else "blue", number)
        return player

    def _take_replacement(self, replace: Any) -> None:
        """All of it in one command, so that two robots can change places; one bad entry spoils the whole."""
        places: dict[str, tuple[float, ...]] = {}
        if replace.HasField("ball"):
            ball = replace.ball
            if not (self._on_field(ball.x, ball.y) and math.hypot(ball.vx, ball.vy) <= FASTEST):
                self.ignore("out_of_range", "ball to %g, %g at %g, %g m/s", ball.x, ball.y, ball.vx, ball.vy)
                return
            places["ball/place"] = (ball.x, ball.y, ball.vx, ball.vy)
        for entry in replace.robots:
            if not entry.HasField("position"):
                self.ignore("malformed", "a replacement without a position")
                return
            place = entry.position
            player = self._player(entry.yellowteam, place.robot_id)
            if player is None:
                continue
            x, y, degrees = place.x, place.y, place.orientation
            there = self._on_field(x, y) if entry.turnon else within(x, ELSEWHERE) and within(y, ELSEWHERE)
            if not there or not within(degrees, WILD * 360.0):
                self.ignore("out_of_range", "%s to %g, %g at %g degrees", player.name, x, y, degrees)
                return
            heading = math.radians(math.remainder(degrees, 360.0))
            places[f"{player.name}/place"] = (x, y, heading, float(entry.turnon))
        if len(self._placements) >= QUEUE:
            self.ignore("overrun", "%d replacements wait already", QUEUE)
        elif places:
            self._placements.append(places)

    def _on_field(self, x: float, y: float) -> bool:
        """A first look, goals included; the physics looks closely."""
        return within(x, self._farthest_x) and within(y, self._farthest_y)

    def _place_if_due(self, now: float) -> None:
        """Send the oldest replacement once the physics has the one before: it would see only the newer of two."""
        if self._placements and now >= self._next_placing:
            self._next_placing = now + PLACING_PERIOD
            if self._run.command_taken("match"):
                self._pass_on("match", self._placements.popleft())

    # --- out: vision -----------------------------------------------------------------------------------------

    def next_due(self) -> float:
        times = [self._due, self._next_placing if self._placements else None, super().next_due()]
        return min(due for due in times if due is not None)

    def send_if_due(self, now: float) -> None:
        super().send_if_due(now)
        self._place_if_due(now)
        if now < self._due:
            return
        self._due += self._period
        if self._due <= now:  # behind by more than a period: go on from here, not through what was missed
            self._due = now + self._period
        try:
            self._out.sendto(self._vision.message(), self._vision_address)
            self._sent += 1
        except OSError as error:
            self._complaints.add("unsent", "vision to %s:%d: %s", *self._vision_address, error.strerror or error)

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


def vision_socket(settings: LeagueSettings) -> socket.socket:
    """A socket that sends to one address or, out of the interface chosen, to a group."""
    host, port = host_and_port(settings.vision)
    if port == 0:
        problem = f"{settings.vision} has no port to send to; the league's is 10002"
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
