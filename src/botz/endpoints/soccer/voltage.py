"""Motor voltages as JSON over UDP, one team's robots a packet:

    {"team": "blue", "robots": {"0": [6.0, 6.0], "1": [-1.5, 1.5]}}

by number, left and right [V]. No library is needed to send it.
"""

from __future__ import annotations

import json
from typing import Any

from botz.endpoints.soccer.team import WILD, TeamLink, within
from botz.scenario.soccer.links import VoltageLink as VoltageSettings
from botz.sim.attached import AttachedRun

KEYS = {"team", "robots"}
EXAMPLE = '{"team": "blue", "robots": {"0": [6.0, 6.0]}}'
TEAMS = ("blue", "yellow")
MOST_ROBOTS = 64
"""In a packet, or as many as play."""


class VoltageLink(TeamLink):
    """Takes motor voltages at `settings.listen`."""

    kind = "voltage"

    def __init__(self, run: AttachedRun, settings: VoltageSettings):
        super().__init__(run, settings.listen)
        self._most_robots = max(len(self.players), MOST_ROBOTS)
        self._by_number = {(player.team, str(player.number)): player for player in self.players}

    @property
    def addresses(self) -> dict[str, str]:
        return {"voltages": self.address}

    def take(self, data: bytes) -> None:
        # Cheap looks before JSON is parsed: an object with an object in it, and as many lists as robots.
        if data.lstrip()[:1] != b"{" or data.count(b"{") != 2:
            self.ignore("malformed", "not a message of voltages; needs %s", EXAMPLE)
            return
        if data.count(b"[") > self._most_robots:
            self.ignore("too_long", "%d robots", data.count(b"["))
            return
        try:
            team, robots = read_voltages(data)
        except (ValueError, RecursionError) as error:
            self.ignore("malformed", "%.200s", error)
            return
        for number, (left, right) in robots.items():
            player = self._by_number.get((team, number))
            if player is None:
                self.ignore("unknown_robot", "%s %.10s", team, ascii(number))
            elif not (within(left, WILD * player.max_voltage) and within(right, WILD * player.max_voltage)):
                self.ignore("out_of_range", "%s %s", team, number)
            else:
                self.steer(player, {"left/voltage": float(left), "right/voltage": float(right)})


def read_voltages(data: bytes) -> tuple[str, dict[str, list[float]]]:
    """Team and voltages by number, or ValueError (RecursionError for what is nested too deeply)."""
    try:
        message = json.loads(data.decode("utf-8"), object_pairs_hook=_without_repetition)
    except (UnicodeDecodeError, json.JSONDecodeError):
        raise ValueError(f"not JSON; needs {EXAMPLE}") from None
    if not isinstance(message, dict) or message.keys() != KEYS:
        raise ValueError('needs {"team": ..., "robots": {...}} and nothing else')
    team, robots = message["team"], message["robots"]
    if team not in TEAMS:
        raise ValueError('"team" is "blue" or "yellow"')
    if not isinstance(robots, dict):
        raise ValueError('"robots" is a mapping of numbers to [left, right]')
    for pair in robots.values():
        if not isinstance(pair, list) or len(pair) != 2 or not all(type(volts) in (int, float) for volts in pair):
            raise ValueError("a robot needs two voltages, [left, right]")
    return team, robots


def _without_repetition(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key is there twice")
    return found
