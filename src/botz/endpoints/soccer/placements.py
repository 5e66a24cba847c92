"""Commands to `match` that come over the network: where bodies are put, and what a referee calls. They wait here until
the physics has the one before: it would see only the newer of two."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from botz.endpoints.soccer.team import WILD, Player, within
from botz.scenario.soccer.schema import FASTEST
from botz.sim.attached import AttachedRun

ELSEWHERE = 1e5
"""Where a robot that leaves the game is put does not matter, within this distance [m]."""
QUEUE = 64
"""Commands that may wait for the physics."""
PLACING_PERIOD = 0.005
"""Shortest time between two [s]: teams place robots by hand or at kick-offs, not in a stream."""

Command = dict[str, Any]
Ignore = Callable[..., None]


class Wanted(NamedTuple):
    """Where a robot is to be put; degrees, as the league has them."""

    yellow: bool
    number: int
    x: float
    y: float
    degrees: float
    playing: bool


class Placements:
    """Checks places and hands the commands on, one every so often. `ignore` is told why something was not taken."""

    def __init__(self, run: AttachedRun, players: Iterable[Player], ignore: Ignore, *, now: float):
        self._run = run
        self._ignore = ignore
        self._by_number = {(player.team == "yellow", player.number): player for player in players}
        self._waiting: deque[Command] = deque()
        self._next = now
        field = run.about["field"]
        self._farthest_x = 0.5 * field["length"] + field["goal_depth"]
        self._farthest_y = 0.5 * field["width"]

    def player(self, yellow: bool, number: int) -> Player | None:
        player = self._by_number.get((yellow, number))
        if player is None:
            self._ignore("unknown_robot", "%s %d", "yellow" if yellow else "blue", number)
        return player

    def ball(self, x: float, y: float, vx: float, vy: float) -> Command | None:
        """None where it cannot be put there."""
        if self._on_field(x, y) and math.hypot(vx, vy) <= FASTEST:
            return {"ball/place": (x, y, vx, vy)}
        self._ignore("out_of_range", "ball to %g, %g at %g, %g m/s", x, y, vx, vy)
        return None

    def robots(self, wanted: Iterable[Wanted]) -> Command | None:
        """One bad entry spoils the whole: None; robots that do not play here are left out."""
        places: Command = {}
        for yellow, number, x, y, degrees, playing in wanted:
            player = self.player(yellow, number)
            if player is None:
                continue
            there = self._on_field(x, y) if playing else within(x, ELSEWHERE) and within(y, ELSEWHERE)
            if not there or not within(degrees, WILD * 360.0):
                self._ignore("out_of_range", "%s to %g, %g at %g degrees", player.name, x, y, degrees)
                return None
            heading = math.radians(math.remainder(degrees, 360.0))
            places[f"{player.name}/place"] = (x, y, heading, float(playing))
        return places

    def _on_field(self, x: float, y: float) -> bool:
        """A first look, goals included; the physics looks closely."""
        return within(x, self._farthest_x) and within(y, self._farthest_y)

    def add(self, command: Mapping[str, Any]) -> None:
        if len(self._waiting) >= QUEUE:
            self._ignore("overrun", "%d replacements wait already", QUEUE)
        elif command:
            self._waiting.append(dict(command))

    @property
    def due(self) -> float | None:
        """When the next may be handed on; None while none waits."""
        return self._next if self._waiting else None

    def pass_on_if_due(self, now: float, pass_on: Callable[[str, Command], None]) -> None:
        if self._waiting and now >= self._next:
            self._next = now + PLACING_PERIOD
            if self._run.command_taken("match"):
                pass_on("match", self._waiting.popleft())
