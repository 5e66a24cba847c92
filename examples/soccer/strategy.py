"""Where everybody is in, wheel speeds out: a small strategy for a team of any size.

    team = Team("yellow", length=1.5, width=1.3, goal_width=0.4)
    wheels = team.play(time, ours, theirs, ball)    # {0: (left, right), 1: …} in rad/s

Nothing here knows where positions come from or where wheel speeds go, so you can try an idea in a loop of your own
before you play with it. Metres, seconds and radians; the field's centre is the origin.

The team always believes that it attacks towards +x. Yellow attacks towards -x, so its world is turned by half a turn
on the way in; wheel speeds are the same in both worlds and need no turning back.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import asin, atan2, cos, hypot, pi, sin

# The league's robot. Change these for a robot of your own.
WHEEL_RADIUS = 0.026
TRACK = 0.065
ROBOT = 0.075  # edge of the cube
BALL_RADIUS = 0.0215

FAST = 1.0  # m/s; the motors can do 1.2, and steering needs some of that
TURN_GAIN = 9.0  # rad/s of turning per rad of error; more would swing when images arrive every 30 ms
SPIN = 25.0  # rad/s
BEHIND = 0.5 * ROBOT + BALL_RADIUS  # from the ball to the middle of a robot that touches it
AROUND = 0.10  # how close a robot passes the ball that it must not touch yet

Point = tuple[float, float]
Pose = tuple[float, float, float]
Wheels = tuple[float, float]


@dataclass
class Ball:
    x: float
    y: float
    vx: float = 0.0
    vy: float = 0.0


@dataclass
class Memory:
    """What has to be remembered of one robot from one call to the next."""

    backwards: bool = False  # which end leads: the cube drives as well backwards as forwards
    pose: Pose = (0.0, 0.0, 0.0)  # where it was when it last got on
    since: float = 0.0  # and when that was
    free_until: float = 0.0  # it is stuck and backs off until then
    bow: float = 5.0  # and turns like this; the other way next time


@dataclass
class Team:
    colour: str
    length: float = 1.50
    width: float = 1.30
    goal_width: float = 0.40
    striker: int = -1
    rest: Ball = field(default_factory=lambda: Ball(9.0, 9.0))  # where the ball came to rest
    rest_since: float = 0.0
    way: str = "near"  # on which side obstacles are passed
    memories: dict[int, Memory] = field(default_factory=dict)

    def play(self, t: float, ours: dict[int, Pose], theirs: list[Point], ball: Ball) -> dict[int, Wheels]:
        """Wheel speeds of our robots by their numbers; robots that are not in `ours` get none."""
        side = 1.0 if self.colour == "blue" else -1.0
        turn = 0.0 if side > 0 else pi
        robots = {number: (side * x, side * y, wrap(a + turn)) for number, (x, y, a) in ours.items()}
        others = [(side * x, side * y) for x, y in theirs]
        ball = Ball(side * ball.x, side * ball.y, side * ball.vx, side * ball.vy)

        self.way = self.choose_way(t, ball)
        keeper = min(robots, default=-1)
        players = [number for number in robots if number != keeper]
        self.striker = self.choose_striker(players, robots, ball)
        helpers = [number for number in players if number != self.striker or self.is_keepers(ball)]
        wheels = {}
        for number, pose in robots.items():
            memory = self.memories.setdefault(number, Memory())
            friends = [(x, y) for other, (x, y, _) in robots.items() if other != number]
            if number == keeper:
                v, w = self.keep_goal(pose, ball, friends, others, memory)
            elif number in helpers:
                v, w = self.support(pose, ball, helpers.index(number), [*friends, *others, (ball.x, ball.y)], memory)
            else:
                v, w = self.strike(pose, ball, friends, others, memory)
            v, w = self.get_free(t, pose, v, w, memory)
            wheels[number] = wheel_speeds(v, w)
        return wheels

    def choose_striker(self, players: list[int], robots: dict[int, Pose], ball: Ball) -> int:
        """Who gets to the ball first. One who stands before it has to go round it; one who is on the way stays."""

        def effort(number: int) -> float:
            x, y, _ = robots[number]
            way_round = 0.25 if x > ball.x - 0.02 else 0.0
            return hypot(ball.x - x, ball.y - y) + way_round - (0.10 if number == self.striker else 0.0)

        return min(players, key=effort, default=-1)

    def choose_way(self, t: float, ball: Ball) -> str:
        """Where a ball lies for seconds, the way to it is blocked: try one side, the other, and straight on in turn."""
        if hypot(ball.x - self.rest.x, ball.y - self.rest.y) > 0.03:
            self.rest, self.rest_since = ball, t
        tries = int((t - self.rest_since) / 1.5)
        return "near" if tries < 2 else ("left", "right", "straight")[tries % 3]

    # --- the three roles -------------------------------------------------------------------------------------

    def strike(
        self, pose: Pose, ball: Ball, friends: list[Point], others: list[Point], memory: Memory
    ) -> tuple[float, float]:
        """Get behind the ball and push it through the largest gap into their goal."""
        x, y, _ = pose
        away = hypot(ball.x - x, ball.y - y)
        # Go for where the ball will be. It loses half of its speed in 1.6 s, so a straight line is good enough.
        lead = min(0.5, away / FAST)
        bx = clamp(ball.x + lead * ball.vx, 0.5 * self.length - BALL_RADIUS)
        by = clamp(ball.y + lead * ball.vy, 0.5 * self.width - BALL_RADIUS)
        if self.in_corner(bx, by) or self.way == "straight":
            # No robot fits or gets behind it: go there and strike it out with a spin.
            if away < 1.35 * BEHIND:
                return self.spin(pose, ball)
            return drive(pose, atan2(by - y, bx - x), min(FAST, 0.3 + 3.0 * away), memory)

        aim = self.aim(bx, by, others)
        # Through a point just behind the ball, so that the front and not a corner touches it.
        tx, ty = bx - 0.6 * BEHIND * cos(aim), by - 0.6 * BEHIND * sin(aim)
        heading = circle_into(x, y, tx, ty, aim, AROUND)
        heading = around(pose, heading, friends + others, min(0.3, away), self.way)
        return drive(pose, self.within_walls(pose, heading), FAST, memory)

    def support(
        self, pose: Pose, ball: Ball, rank: int, obstacles: Sequence[Point], memory: Memory
    ) -> tuple[float, float]:
        """Wait behind the ball, the first on the other half of the field, the next on this one: rebounds come there."""
        side = (1.0 if ball.y < 0.0 else -1.0) * (-1.0) ** rank
        place = max(ball.x - 0.35 - 0.15 * rank, -0.5 * self.length + 0.3), side * 0.2 * self.width
        return go_to(pose, place, memory, obstacles)

    def keep_goal(
        self, pose: Pose, ball: Ball, friends: list[Point], others: list[Point], memory: Memory
    ) -> tuple[float, float]:
        """Stand on the goal line where the ball is going to cross it; strike out a ball that lies before the goal."""
        x, y, heading = pose
        if self.is_keepers(ball) and hypot(ball.vx, ball.vy) < 0.2:
            return self.strike(pose, ball, friends, others, memory)
        line = -0.5 * self.length + 0.7 * ROBOT
        at_home = x < line + ROBOT
        if at_home and hypot(ball.x - x, ball.y - y) < 1.25 * BEHIND:
            return self.spin(pose, ball)
        y_line = ball.y * 0.6
        if ball.vx < -0.1:
            y_line = ball.y + ball.vy * (line - ball.x) / ball.vx
        place = line, clamp(y_line, 0.5 * self.goal_width)
        if abs(x - line) < 0.03:
            # On the line it looks along it and only has to drive to and fro.
            upright = drive(pose, 0.5 * pi, 0.0, memory)
            along = clamp(8.0 * (place[1] - y), FAST) * sin(heading)
            return along * max(0.0, abs(sin(heading)) - 0.5) * 2.0, upright[1]
        # On the way home the ball must not be pushed along.
        return go_to(pose, place, memory, [(ball.x, ball.y)])

    # --- what the roles use ------------------------------------------------------------------------------------

    def aim(self, bx: float, by: float, others: list[Point]) -> float:
        """The direction in which the ball is to go."""
        goal = 0.5 * self.length + 0.05
        openings = [k * 0.035 for k in range(-4, 5)]  # within the goal, with room for the ball
        scale = self.goal_width / 0.4

        def room(y: float) -> float:
            """How free the way to a point of the goal is; the nearer, the better at equal room."""
            ways = [distance_to_way(other, (bx, by), (goal, y * scale)) for other in others]
            return min([0.12, *ways]) - 0.05 * abs(y)

        target = max(openings, key=room) * scale
        ax, ay = unit(goal - bx, target - by)
        # At a wall there is no room behind the ball: push along the wall, a little into it.
        edge_x, edge_y = 0.5 * self.length - 0.6 * ROBOT, 0.5 * self.width - 0.6 * ROBOT
        if bx < -edge_x + BEHIND * 0.3:
            ay = 1.0 if by > 0 else -1.0  # along our own goal line only away from our goal
        ax, ay = along_wall(bx, ax, ay, edge_x)
        ay, ax = along_wall(by, ay, ax, edge_y)
        return atan2(ay, ax)

    def is_keepers(self, ball: Ball) -> bool:
        """A ball before our goal is left to the keeper: two robots there would block each other."""
        return ball.x < -0.5 * self.length + 0.2 and abs(ball.y) < 0.5 * self.goal_width + 0.1

    def within_walls(self, pose: Pose, heading: float) -> float:
        """Along a wall instead of into it, and out of a goal by its opening."""
        x, y, _ = pose
        if abs(x) > 0.5 * self.length - 0.3 * ROBOT:
            return pi if x > 0.0 else 0.0
        dx, dy = cos(heading), sin(heading)
        if abs(y) > 0.5 * self.width - 0.8 * ROBOT and y * dy > 0.0:
            dy = 0.0
        in_their_opening = x > 0.0 and abs(y) < 0.5 * (self.goal_width - ROBOT)
        if abs(x) > 0.5 * self.length - 0.8 * ROBOT and x * dx > 0.0 and not in_their_opening:
            dx = 0.0
        return atan2(dy, dx) if dx or dy else heading

    def in_corner(self, x: float, y: float) -> bool:
        return 0.5 * self.length - abs(x) + 0.5 * self.width - abs(y) < 0.22

    def spin(self, pose: Pose, ball: Ball) -> tuple[float, float]:
        """Strike the ball with a side, turning so that it flies towards their goal."""
        x, y, _ = pose
        to_x, to_y = ball.x - x, ball.y - y
        goal_x, goal_y = 0.5 * self.length - ball.x, -ball.y
        if ball.x < 0.0:
            goal_y = ball.y  # before our own goal: out to the side
        return 0.0, SPIN if to_x * goal_y - to_y * goal_x > 0.0 else -SPIN

    def get_free(self, t: float, pose: Pose, v: float, w: float, memory: Memory) -> tuple[float, float]:
        """Who wants to drive and gets nowhere for half a second backs off in a bow."""
        x, y, heading = pose
        if t < memory.free_until:
            return (0.6 if memory.backwards else -0.6), memory.bow
        moved = hypot(x - memory.pose[0], y - memory.pose[1]) > 0.02 or abs(wrap(heading - memory.pose[2])) > 0.5
        if moved or (abs(v) < 0.1 and abs(w) < 2.0):
            memory.pose, memory.since = pose, t
        elif t - memory.since > 0.5:
            memory.free_until, memory.since = t + 0.25, t + 0.25
            memory.bow = -memory.bow
        return v, w


# --- driving -------------------------------------------------------------------------------------------------------


def drive(pose: Pose, heading: float, speed: float, memory: Memory) -> tuple[float, float]:
    """Forward speed and turn rate that bring the robot onto a heading, with the end in front that is nearer to it."""
    error = wrap(heading - pose[2])
    # Not the other end at once when both are equally near: that would make it waver.
    if abs(error) > (0.4 * pi if memory.backwards else 0.6 * pi):
        memory.backwards = True
    elif abs(error) < 0.4 * pi or not memory.backwards:
        memory.backwards = False
    if memory.backwards:
        error = wrap(error + pi)
    v = speed * max(0.0, cos(error)) ** 2
    return (-v if memory.backwards else v), TURN_GAIN * error


def go_to(pose: Pose, place: Point, memory: Memory, obstacles: Sequence[Point] = ()) -> tuple[float, float]:
    dx, dy = place[0] - pose[0], place[1] - pose[1]
    away = hypot(dx, dy)
    if away < 0.02:
        return 0.0, 0.0
    heading = around(pose, atan2(dy, dx), obstacles, min(0.3, away))
    return drive(pose, heading, min(FAST, 4.0 * away), memory)


def circle_into(x: float, y: float, tx: float, ty: float, aim: float, clear: float) -> float:
    """The heading that leads to a point so that one arrives there in direction `aim`.

    One circle passes through the robot and meets the point in that direction; a chord makes the same angle with both
    tangents, so the heading on it is `to + (to - aim)`. From far away, or from before the ball, that circle is a
    detour: never swing out further than to pass the point at distance `clear`.
    """
    to, away = atan2(ty - y, tx - x), hypot(tx - x, ty - y)
    swing = asin(clear / away) if away > clear else 0.5 * pi + 0.6 * (1.0 - away / clear)
    return to + clamp(wrap(to - aim), swing)


def around(pose: Pose, heading: float, obstacles: Sequence[Point], reach: float, way: str = "near") -> float:
    """A heading that passes the first robot in the way, on the nearer side or as told."""
    clear = 1.3 * ROBOT
    for ox, oy in sorted(obstacles, key=lambda one: hypot(one[0] - pose[0], one[1] - pose[1])):
        away = hypot(ox - pose[0], oy - pose[1])
        if away > reach:
            break
        off = wrap(heading - atan2(oy - pose[1], ox - pose[0]))
        swing = asin(clear / away) if away > clear else 0.5 * pi
        if abs(off) < swing:
            on_left = off > 0.0 if way == "near" else way == "left"
            return heading - off + (swing if on_left else -swing)
    return heading


def wheel_speeds(v: float, w: float) -> Wheels:
    return (v - 0.5 * TRACK * w) / WHEEL_RADIUS, (v + 0.5 * TRACK * w) / WHEEL_RADIUS


# --- geometry ------------------------------------------------------------------------------------------------------


def wrap(angle: float) -> float:
    return (angle + pi) % (2.0 * pi) - pi


def clamp(value: float, limit: float) -> float:
    return max(-limit, min(limit, value))


def unit(x: float, y: float) -> Point:
    size = hypot(x, y) or 1.0
    return x / size, y / size


def along_wall(place: float, across: float, along: float, edge: float) -> tuple[float, float]:
    """A direction of push with room for a robot behind it: components across and along a wall."""
    reach = 1.2 * BEHIND
    if place - reach * across > edge:
        across = (place - edge) / reach
    elif place - reach * across < -edge:
        across = (place + edge) / reach
    else:
        return across, along
    across = clamp(across, 0.9)
    return across, (1.0 - across**2) ** 0.5 * (1.0 if along >= 0.0 else -1.0)


def distance_to_way(point: Point, start: Point, end: Point) -> float:
    dx, dy = end[0] - start[0], end[1] - start[1]
    share = ((point[0] - start[0]) * dx + (point[1] - start[1]) * dy) / (dx * dx + dy * dy)
    share = min(1.0, max(0.0, share))
    return hypot(start[0] + share * dx - point[0], start[1] + share * dy - point[1])
