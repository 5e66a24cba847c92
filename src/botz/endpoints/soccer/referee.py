"""The league's referee and replacer over UDP: a match that obeys the referee's calls, and takes the teams' placements.

A call other than GAME_ON halts all robots; one that gives the ball to somebody also puts it on its mark, and a kick-off
puts everybody in place. Then teams say where they want their robots. Calls and placements are commands to `match`, and
recorded as such.
"""

from __future__ import annotations

import ipaddress
import math
import socket
import time
from typing import Any

from botz.endpoints.soccer.league_messages import ENUMERATIONS, DecodeError, Placement, RefereeCall, read_message
from botz.endpoints.soccer.placements import Placements, Wanted
from botz.endpoints.soccer.team import TeamLink
from botz.endpoints.udp_port import OnlyLocal, joined
from botz.errors import InputError
from botz.scenario.soccer.links import RefereeLink as Settings
from botz.sim.attached import AttachedRun

FOULS, COLORS = ENUMERATIONS["Foul"], ENUMERATIONS["Color"]
GAME_ON = FOULS.index("GAME_ON")
MOST_ENTRIES = 64
FREE_BALL_FROM_SIDE = 0.25
"""From the side wall to the marks of free balls, by the league's rules [m]."""
MOST_SECONDS = 1e9
"""Of a timestamp; what is beyond is none."""


class RefereeLink(TeamLink):
    """Takes calls at `settings.listen` and placements at `settings.replacer`."""

    kind = "referee"

    def __init__(self, run: AttachedRun, settings: Settings):
        self._interface = settings.interface
        super().__init__(run, settings.listen, reasons=("overrun", "foreign", "in_play"))
        try:
            self._replacer = joined(settings.replacer, settings.interface, "links.referee.replacer")
        except InputError:
            self._socket.close()
            raise
        self.replacer_address = "{}:{}".format(*self._replacer.getsockname())
        groups = [
            ipaddress.IPv4Address(at.rpartition(":")[0]).is_multicast for at in (settings.listen, settings.replacer)
        ]
        on_loopback = ipaddress.IPv4Address(settings.interface).is_loopback
        self._local = OnlyLocal() if any(groups) and on_loopback else None
        self._placements = Placements(run, self.players, self.ignore, now=time.perf_counter())
        self._last: tuple[int, ...] | None = None
        """The last call, without its time: a referee may repeat it."""
        self._ball: tuple[float, float] | None = None
        """The mark on which the ball belongs, until it is free."""
        columns = {name: part.start for name, part in run.channels.slices.items()}
        self._robots = [
            (columns[f"{name}/playing"], columns[f"{name}/pose"], about["side"])
            for name, about in run.about["robots"].items()
        ]

    def open_socket(self, listen: str) -> socket.socket:
        return joined(listen, self._interface, f"links.{self.kind}.listen")

    @property
    def addresses(self) -> dict[str, str]:
        return {"referee": self.address, "replacer": self.replacer_address}

    @property
    def sockets(self) -> list[socket.socket]:
        return [self._socket, self._replacer]

    def receive(self) -> None:
        self.read(self._socket, self.take)
        self.read(self._replacer, self.take_placement)
        self._placements.pass_on_if_due(time.perf_counter(), self._pass_on)

    def _is_foreign(self) -> bool:
        if self._local is None or self._sender[0] in self._local:
            return False
        self.ignore("foreign", "from another machine; links.referee.interface names the network to listen on")
        return True

    # --- the referee -----------------------------------------------------------------------------------------

    def take(self, data: bytes) -> None:
        if self._is_foreign():
            return
        try:
            call = read_message(RefereeCall, data)
        except DecodeError as error:
            self.ignore("malformed", "%s", error)
            return
        numbers = (call.foul, call.teamcolor, call.foulQuadrant, call.gameHalf)
        sizes = [len(names) for names in ENUMERATIONS.values()]
        if not data or any(number >= size for number, size in zip(numbers, sizes, strict=True)):
            self.ignore("malformed", "a call of %d, %d, %d, %d", *numbers)
        elif not 0.0 <= call.timestamp <= MOST_SECONDS:
            self.ignore("out_of_range", "a time of %g s", call.timestamp)
        elif numbers != self._last:
            self._last = numbers
            self._obey(call)

    def _obey(self, call: Any) -> None:
        foul = FOULS[call.foul]
        command: dict[str, Any] = {
            "referee": (call.foul, call.teamcolor, call.foulQuadrant, call.timestamp, call.gameHalf),
            "halt": float(foul != "GAME_ON"),
        }
        if foul not in ("STOP", "HALT"):
            self._ball = None if foul == "KICKOFF" else self.mark(foul, COLORS[call.teamcolor], call.foulQuadrant)
        self._placements.add(command)
        if foul == "KICKOFF":  # by itself: were it refused, the robots would be halted all the same
            self._placements.add({"kick_off": 2.0 if COLORS[call.teamcolor] == "YELLOW" else 1.0})

    def mark(self, foul: str, team: str, quadrant: int) -> tuple[float, float] | None:
        """Where the ball is put for a foul; quadrants are counted as in geometry. Blue attacks +x."""
        field, radius = self._run.about["field"], self._run.about["ball"]["radius"]
        attacks = {"BLUE": 1.0, "YELLOW": -1.0}.get(team)
        if foul == "FREE_BALL" and quadrant:
            x, y = field["penalty_point"], 0.5 * field["width"] - FREE_BALL_FROM_SIDE
            return (x if quadrant in (1, 4) else -x), (y if quadrant in (1, 2) else -y)
        if foul in ("PENALTY_KICK", "FREE_KICK") and attacks:
            return attacks * field["penalty_point"], 0.0
        if foul == "GOAL_KICK" and attacks:
            return -attacks * (0.5 * field["length"] - field["penalty_depth"]), 0.5 * field["penalty_width"] - radius
        return None

    def _is_free(self, x: float, y: float) -> bool:
        """Whether no robot may be in the way of a ball there; the physics looks closely."""
        _, row = self._run.latest()
        radius = self._run.about["ball"]["radius"]
        return all(
            row[playing] < 0.5 or math.hypot(row[pose] - x, row[pose + 1] - y) > radius + side * math.sqrt(0.5)
            for playing, pose, side in self._robots
        )

    # --- the replacer ----------------------------------------------------------------------------------------

    def take_placement(self, data: bytes) -> None:
        """Where a team wants its robots."""
        if self._is_foreign():
            return
        if self._last is not None and self._last[0] == GAME_ON:
            self.ignore("in_play", "a placement while the game is on")
            return
        try:
            wanted = self._wanted(data)
        except DecodeError as error:
            self.ignore("malformed", "%s", error)
            return
        if len(wanted) > MOST_ENTRIES:
            self.ignore("too_long", "more than %d robots", MOST_ENTRIES)
            return
        places = self._placements.robots(wanted)
        if places:
            self._placements.add(places)

    def _wanted(self, data: bytes) -> list[Wanted]:
        placement = read_message(Placement, data)
        if placement.HasField("world"):
            team = placement.world.teamColor
            if team >= len(COLORS) or COLORS[team] == "NONE":
                raise DecodeError("a placement of no team")
            return [
                Wanted(COLORS[team] == "YELLOW", robot.robot_id, robot.x, robot.y, robot.orientation, True)
                for robot in placement.world.robots
            ]
        raise DecodeError("a placement without robots")

    # --- out -------------------------------------------------------------------------------------------------

    def next_due(self) -> float | None:
        times = [due for due in (self._placements.due, super().next_due()) if due is not None]
        return min(times, default=None)

    def send_if_due(self, now: float) -> None:
        super().send_if_due(now)
        self._placements.pass_on_if_due(now, self._pass_on)
        if self._ball is not None and self._placements.due is None and self._is_free(*self._ball):
            self._placements.add({"ball/place": (*self._ball, 0.0, 0.0)})
            self._ball = None

    def close(self) -> None:
        super().close()
        self._replacer.close()
