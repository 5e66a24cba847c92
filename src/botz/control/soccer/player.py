"""Simple soccer players: one drives behind the ball and pushes it into the other goal, one keeps the own goal.

Everything is thought in a world in which the own team attacks towards +x; for yellow, that is turned by half a turn.
"""

from __future__ import annotations

from copy import deepcopy
from math import asin, atan2, cos, hypot, pi, sin
from typing import Any

from botz.control.base import ControllerSetup, Measured
from botz.control.planar import Pose, wrap
from botz.errors import InputError, Problem
from botz.scenario.soccer.schema import SoccerPlayer as PlayerSpec
from botz.scenario.soccer.schema import SoccerScenario

Point = tuple[float, float]
Drive = tuple[float, float]
"""Speed forward [m/s] and yaw rate [rad/s]."""

TURN_GAIN = 10.0
"""Yaw rate per angle that is missing [1/s]."""
SPIN = 25.0
"""Yaw rate that strikes a ball away [rad/s]."""
LONGEST_LEAD = 0.5
"""How far ahead the ball's motion is thought on [s]."""
PATIENCE, MORE_PATIENCE = 0.4, 0.07
"""After that long without getting on, a player backs off, and each player a little later than another [s]: two that do
the same at the same time would block each other for ever."""
BACKING, MORE_BACKING = 0.2, 0.09
"""How long it backs off [s]."""
TRY = 1.5
"""While the ball lies still, each way to it is tried that long [s]."""
HERE, LEFT, RIGHT, STRAIGHT = "here", "left", "right", "straight"
"""How a robot in the way is passed: on the nearer side, on one side, or by going straight at the ball."""


class SoccerPlayer:
    """State is complete in `state`; everything else follows from the scenario."""

    state = ("backwards", "got_on", "got_on_at", "free_until", "bow", "ball_lay", "ball_lay_since")

    def __init__(self, spec: PlayerSpec):
        self.spec = spec

    def reset(self, setup: ControllerSetup) -> None:
        scenario = getattr(setup.engine, "scenario", None)
        if not isinstance(scenario, SoccerScenario):
            message = f"{self.spec.type!r} drives robots of engine 'soccer', not of {setup.engine.name!r}"
            raise InputError(Problem(message, key=setup.robot))
        team, number = scenario.players[setup.robot]
        field = scenario.world.field
        self._sign = 1.0 if team == "blue" else -1.0
        self._half_length, self._half_width = 0.5 * field.length, 0.5 * field.width
        self._half_goal = 0.5 * field.goal_width
        self._side, self._ball_radius = scenario.robots[setup.robot].side, scenario.world.ball.radius
        self._touching = 0.5 * self._side + self._ball_radius
        self._around_ball = 1.35 * (0.71 * self._side + self._ball_radius)
        temper = (2 * number + (team == "yellow")) % 8
        self._patience, self._backing = PATIENCE + temper * MORE_PATIENCE, BACKING + temper * MORE_BACKING
        self._gain = min(TURN_GAIN, 0.3 / setup.period)
        kinds = {one.robot: one.type for one in scenario.controllers.values() if isinstance(one, PlayerSpec)}
        others = [(name, side) for name, (side, _) in scenario.players.items() if name != setup.robot]
        self._friends = [name for name, side in others if side == team]
        self._fellows = [name for name in self._friends if kinds.get(name) == "striker"]
        self._opponents = [name for name, side in others if side != team]
        self._has_keeper = any(kinds.get(name) == "goalkeeper" for name in self._friends)

        self.backwards = False
        self.got_on: list[float] = [0.0, 0.0, 0.0]
        self.got_on_at = 0.0
        self.free_until = 0.0
        self.bow = 5.0
        self.ball_lay: list[float] = [0.0, 0.0]
        self.ball_lay_since = 0.0

    def snapshot(self) -> dict[str, Any]:
        return {name: deepcopy(getattr(self, name)) for name in self.state}

    def restore(self, saved: dict[str, Any]) -> None:
        for name in self.state:
            setattr(self, name, deepcopy(saved[name]))

    def update(self, t: float, measured: Measured) -> dict[str, Any]:
        if measured["playing"] < 0.5:
            return {"twist": (0.0, 0.0)}
        pose = self._seen(measured["pose"])
        ball = self._point(measured.of("ball")["pose"])
        vx, vy = (self._sign * float(part) for part in measured.of("ball")["velocity"])
        friends = self._places(measured, self._friends)
        opponents = list(self._places(measured, self._opponents).values())
        robots = [*friends.values(), *opponents]
        way = self._way(t, ball)
        if self.spec.type == "goalkeeper":
            drive = self._keep(pose, ball, (vx, vy), robots, opponents, way)
        else:
            fellows = [friends[name] for name in self._fellows if name in friends]
            rank = sum(self._effort(fellow, ball) < self._effort(pose[:2], ball) for fellow in fellows)
            left_to_keeper = self._has_keeper and self._before_own_goal(ball)
            if rank == 0 and not left_to_keeper:
                drive = self._strike(pose, ball, (vx, vy), robots, opponents, way)
            else:
                drive = self._support(pose, ball, rank, robots)
        return {"twist": self._freed(t, pose, drive)}

    def _seen(self, pose: Any) -> Pose:
        x, y, heading = pose
        turn = 0.0 if self._sign > 0 else pi
        return self._sign * float(x), self._sign * float(y), wrap(float(heading) + turn)

    def _point(self, pose: Any) -> Point:
        return self._sign * float(pose[0]), self._sign * float(pose[1])

    def _places(self, measured: Measured, names: list[str]) -> dict[str, Point]:
        """Of those in play."""
        seen = {name: measured.of(name) for name in names}
        return {name: self._point(one["pose"]) for name, one in seen.items() if one["playing"] > 0.5}

    # --- what to do ----------------------------------------------------------------------------------------

    def _strike(
        self, pose: Pose, ball: Point, velocity: Point, robots: list[Point], opponents: list[Point], way: str
    ) -> Drive:
        """Behind the ball, and with it through the largest gap into the goal."""
        x, y, _ = pose
        away = hypot(ball[0] - x, ball[1] - y)
        lead = min(LONGEST_LEAD, away / self.spec.speed)
        bx = clamped(ball[0] + lead * velocity[0], self._half_length - self._ball_radius)
        by = clamped(ball[1] + lead * velocity[1], self._half_width - self._ball_radius)
        in_corner = self._half_length - abs(bx) + self._half_width - abs(by) < 3.0 * self._side
        if in_corner or way == STRAIGHT:
            # No robot fits or gets behind it.
            if away < 1.35 * self._touching:
                return self._spin(pose, ball)
            return self._towards(pose, atan2(by - y, bx - x), min(self.spec.speed, 0.3 + 3.0 * away))
        aim = self._aim(bx, by, opponents)
        behind = 0.6 * self._touching  # its front, not a corner, is to touch the ball
        heading = circle_into((x, y), (bx - behind * cos(aim), by - behind * sin(aim)), aim, self._around_ball)
        heading = self._around(pose, heading, robots, min(4.0 * self._side, away), way)
        return self._towards(pose, self._within_walls(pose, heading), self.spec.speed)

    def _support(self, pose: Pose, ball: Point, rank: int, robots: list[Point]) -> Drive:
        """Waits behind the ball, where rebounds come: on the other half of the field and on this one in turn."""
        side = (1.0 if ball[1] < 0.0 else -1.0) * (-1.0) ** (rank + 1)
        back = 0.47 * self._half_length + 2.0 * self._side * rank
        place = max(ball[0] - back, -self._half_length + 4.0 * self._side), side * 0.4 * self._half_width
        return self._go_to(pose, place, [*robots, ball])

    def _keep(
        self, pose: Pose, ball: Point, velocity: Point, robots: list[Point], opponents: list[Point], way: str
    ) -> Drive:
        """On the goal line, where the ball is going to cross it; strikes out a ball that lies before the goal."""
        x, y, heading = pose
        if self._before_own_goal(ball) and hypot(*velocity) < 0.2:
            return self._strike(pose, ball, velocity, robots, opponents, way)
        line = -self._half_length + 0.7 * self._side
        if x < line + self._side and hypot(ball[0] - x, ball[1] - y) < 1.25 * self._touching:
            return self._spin(pose, ball)
        wanted = 0.6 * ball[1]
        if velocity[0] < -0.1:
            wanted = ball[1] + velocity[1] * (line - ball[0]) / velocity[0]
        wanted = clamped(wanted, self._half_goal)
        if abs(x - line) > 0.4 * self._side:
            return self._go_to(pose, (line, wanted), [ball])
        # On the line it looks along it and drives to and fro.
        _, turning = self._towards(pose, 0.5 * pi, 0.0)
        upright = max(0.0, 2.0 * abs(sin(heading)) - 1.0)
        return clamped(8.0 * (wanted - y), self.spec.speed) * sin(heading) * upright, turning

    def _spin(self, pose: Pose, ball: Point) -> Drive:
        """Turn so that the ball flies towards the other goal, or out to the side before the own one."""
        to_x, to_y = ball[0] - pose[0], ball[1] - pose[1]
        goal_x, goal_y = self._half_length - ball[0], ball[1] if ball[0] < 0.0 else -ball[1]
        return 0.0, SPIN if to_x * goal_y > to_y * goal_x else -SPIN

    def _effort(self, place: Point, ball: Point) -> float:
        """How far it is to the ball [m]; who stands before it has to go round it."""
        way_round = 3.0 * self._side if place[0] > ball[0] - 0.3 * self._side else 0.0
        return hypot(ball[0] - place[0], ball[1] - place[1]) + way_round

    def _before_own_goal(self, ball: Point) -> bool:
        return ball[0] < -self._half_length + 2.7 * self._side and abs(ball[1]) < self._half_goal + 1.3 * self._side

    # --- where to --------------------------------------------------------------------------------------------

    def _aim(self, bx: float, by: float, opponents: list[Point]) -> float:
        """Direction in which the ball is to go: where the way into the goal is freest, the middle at equal room."""
        goal = self._half_length + self._ball_radius
        widest = self._half_goal - 2.5 * self._ball_radius
        targets = [widest * k / 4.0 for k in range(-4, 5)]

        def room(target: float) -> float:
            ways = [distance_to_way(opponent, (bx, by), (goal, target)) for opponent in opponents]
            return min([1.6 * self._side, *ways]) - 0.05 * abs(target)

        target = max(targets, key=room)
        size = hypot(goal - bx, target - by)
        ax, ay = (goal - bx) / size, (target - by) / size
        edge_x, edge_y = self._half_length - 0.6 * self._side, self._half_width - 0.6 * self._side
        if bx < -edge_x + 0.3 * self._touching:
            ay = 1.0 if by > 0.0 else -1.0  # along the own goal line only away from the goal
        ax, ay = self._along_wall(bx, ax, ay, edge_x)
        ay, ax = self._along_wall(by, ay, ax, edge_y)
        return atan2(ay, ax)

    def _along_wall(self, place: float, across: float, along: float, edge: float) -> tuple[float, float]:
        """A direction with room for a robot behind the ball: along a wall, a little into it."""
        reach = 1.2 * self._touching
        if abs(place - reach * across) <= edge:
            return across, along
        nearest = edge if place > 0.0 else -edge
        across = clamped((place - nearest) / reach, 0.9)
        return across, (1.0 - across * across) ** 0.5 * (1.0 if along >= 0.0 else -1.0)

    def _way(self, t: float, ball: Point) -> str:
        """Where the ball lies for long, the way to it is blocked: one after the other is tried."""
        if hypot(ball[0] - self.ball_lay[0], ball[1] - self.ball_lay[1]) > 0.4 * self._side:
            self.ball_lay, self.ball_lay_since = [ball[0], ball[1]], t
        tries = int((t - self.ball_lay_since) / TRY)
        return HERE if tries < 2 else (LEFT, RIGHT, STRAIGHT)[tries % 3]

    def _around(self, pose: Pose, heading: float, robots: list[Point], reach: float, way: str = HERE) -> float:
        """A heading that passes the first robot in the way."""
        clear = 1.3 * self._side
        distances = sorted((hypot(x - pose[0], y - pose[1]), x, y) for x, y in robots)
        for away, x, y in distances:
            if away > reach:
                break
            to = atan2(y - pose[1], x - pose[0])
            off = wrap(heading - to)
            swing = asin(clear / away) if away > clear else 0.5 * pi
            if abs(off) < swing:
                on_left = off > 0.0 if way == HERE else way == LEFT
                return to + (swing if on_left else -swing)
        return heading

    def _within_walls(self, pose: Pose, heading: float) -> float:
        """Along a wall instead of into it, and out of a goal by its opening."""
        x, y, _ = pose
        if abs(x) > self._half_length - 0.3 * self._side:
            return pi if x > 0.0 else 0.0
        dx, dy = cos(heading), sin(heading)
        if abs(y) > self._half_width - 0.8 * self._side and y * dy > 0.0:
            dy = 0.0
        in_opening = x > 0.0 and abs(y) < self._half_goal - 0.5 * self._side
        if abs(x) > self._half_length - 0.8 * self._side and x * dx > 0.0 and not in_opening:
            dx = 0.0
        return atan2(dy, dx) if dx or dy else heading

    # --- driving ---------------------------------------------------------------------------------------------

    def _go_to(self, pose: Pose, place: Point, obstacles: list[Point]) -> Drive:
        away = hypot(place[0] - pose[0], place[1] - pose[1])
        if away < 0.25 * self._side:
            return 0.0, 0.0
        heading = atan2(place[1] - pose[1], place[0] - pose[0])
        heading = self._around(pose, heading, obstacles, min(4.0 * self._side, away))
        return self._towards(pose, heading, min(self.spec.speed, 4.0 * away))

    def _towards(self, pose: Pose, heading: float, speed: float) -> Drive:
        """A cube drives as well backwards: the end leads that is nearer to the heading, and stays it for a while."""
        error = wrap(heading - pose[2])
        self.backwards = abs(error) > (0.4 * pi if self.backwards else 0.6 * pi)
        if self.backwards:
            error = wrap(error + pi)
        forward = speed * max(0.0, cos(error)) ** 2
        return (-forward if self.backwards else forward), self._gain * error

    def _freed(self, t: float, pose: Pose, drive: Drive) -> Drive:
        """A player that wants to move and does not, at a wall or another robot, backs off in a bow."""
        if t < self.free_until:
            return (0.6 if self.backwards else -0.6) * min(1.0, self.spec.speed), self.bow
        x, y, heading = self.got_on
        moved = hypot(pose[0] - x, pose[1] - y) > 0.25 * self._side or abs(wrap(pose[2] - heading)) > 0.5
        if moved or (abs(drive[0]) < 0.1 * self.spec.speed and abs(drive[1]) < 2.0):
            self.got_on, self.got_on_at = list(pose), t
        elif t - self.got_on_at > self._patience:
            self.free_until = self.got_on_at = t + self._backing
            self.bow = -self.bow
        return drive


def circle_into(place: Point, target: Point, aim: float, clear: float) -> float:
    """Heading that leads to `target` so that one arrives there in direction `aim`.

    One circle passes through both places and the second in that direction. A chord makes equal angles with both
    tangents, so the one at the first is to + (to − aim). It swings out no further than to pass the target at distance
    `clear`.
    """
    dx, dy = target[0] - place[0], target[1] - place[1]
    to, away = atan2(dy, dx), hypot(dx, dy)
    swing = asin(clear / away) if away > clear else 0.5 * pi + 0.6 * (1.0 - away / clear)
    return to + clamped(wrap(to - aim), swing)


def distance_to_way(point: Point, start: Point, end: Point) -> float:
    """Of a point to the line between two others."""
    dx, dy = end[0] - start[0], end[1] - start[1]
    share = ((point[0] - start[0]) * dx + (point[1] - start[1]) * dy) / (dx * dx + dy * dy)
    share = min(1.0, max(0.0, share))
    return hypot(start[0] + share * dx - point[0], start[1] + share * dy - point[1])


def clamped(value: float, limit: float) -> float:
    return max(-limit, min(limit, value))
