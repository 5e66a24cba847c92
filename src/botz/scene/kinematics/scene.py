"""Wheeled robots on their plane: bodies with decks, every type of wheel, and what odometry believes as a ghost."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from math import atan2, cos, hypot, pi, sin

import numpy as np

from botz.scenario.kinematics.schema import (
    CastorWheel,
    FixedWheel,
    KinematicsScenario,
    SphericalWheel,
    SteeredWheel,
    Support,
    SwedishWheel,
    Wheel,
    WheeledRobot,
)
from botz.scene.ground import ground_plate
from botz.scene.kinematics.rollers import ball_shapes, roller_wheel_shapes
from botz.scene.parts import ROBOT_PAINTS, arrow, facing, ghostly, palette, placed, turned_place, wheel_shapes
from botz.scene.robot_description import RobotDescription, described_scene
from botz.scene.shapes import disc, prism, rectangle
from botz.scene.world_scene import Actor, Follows, Hands, Node, RotationCentre, Scene, Shape, Turns, Velocity

ROOM = 1.06
"""A deck over a wheel is this many times as high as the wheel."""
LEAST_TUB = 0.35
"""A part between the wheels that would be narrower than this share of the body is left out."""


def build(spec: KinematicsScenario, seen: Sequence[tuple[float, float]] = ()) -> Scene:
    del seen  # no terrain to thin
    scene = Scene(materials=palette())
    length, width = spec.world.size
    cell = 0.5 if max(length, width) <= 6.0 else 1.0
    plate = ground_plate(scene.materials, (4.0 * max(length, width),) * 2, cell=cell)
    scene.nodes.append(Node("ground", shapes=(plate,)))
    add_robots(scene, spec)
    scene.centre, scene.radius = start_view(spec)
    return scene


def described(spec: KinematicsScenario) -> list[RobotDescription]:
    """Robots and loose objects as a recording describes them."""
    scene = Scene(materials=palette())
    add_robots(scene, spec)
    return described_scene(scene)


def add_robots(scene: Scene, spec: KinematicsScenario) -> None:
    for number, (name, robot) in enumerate(spec.robots.items()):
        paint = ROBOT_PAINTS[number % len(ROBOT_PAINTS)]
        body = body_shapes(robot, paint)
        scene.nodes.append(Node(name, shapes=body, motion=Follows(f"{name}/pose")))
        for wheel_name, wheel in robot.wheels.items():
            scene.nodes += wheel_nodes(name, wheel_name, wheel, robot)
        if recorded(spec, f"{name}/odometry/pose"):
            ghost = ghostly(body_shapes(robot, paint, shrink=0.93))
            scene.nodes.append(Node(f"{name}/odometry/body", shapes=ghost, motion=Follows(f"{name}/odometry/pose")))
        scene.actors.append(Actor(name, name, size_of(robot), hands_of(robot)))
        scene.indicators += [Velocity(name, name, f"{name}/twist"), RotationCentre(name, name, f"{name}/twist")]


def recorded(spec: KinematicsScenario, channel: str) -> bool:
    """A recording without the channel would show its node at the origin."""
    streams = [spec.record, *spec.record.streams.values()]
    return any(fnmatchcase(channel, pattern) for stream in streams for pattern in stream.channels)


def hands_of(robot: WheeledRobot) -> Hands:
    """Whether it can set off in every direction: nothing is fixed, and what steers can point anywhere."""
    wheels = list(robot.wheels.values())
    if not any(getattr(wheel, "driven", False) for wheel in wheels):
        return "none"
    freely = {
        name: wheel.endless or wheel.limit >= pi / 2 for name, wheel in robot.wheels.items() if wheel.type == "steered"
    }
    for group in robot.steering.values():
        for name in group.wheels:
            freely[name] = group.coupling == "parallel" and (group.endless or group.limit >= pi / 2)
    return "planar" if any(isinstance(wheel, FixedWheel) for wheel in wheels) or not all(freely.values()) else "omni"


def size_of(robot: WheeledRobot) -> float:
    """Radius of a ball round the robot's origin."""
    reach = float(np.hypot(*outline_of(robot).T).max())
    return max([reach, *(hypot(*wheel.position) + wheel.radius for wheel in robot.wheels.values())])


def start_view(spec: KinematicsScenario) -> tuple[tuple[float, float, float], float]:
    """Starts and goals of all robots with some room; where only a command is known, the world that is drawn."""
    points: list[tuple[float, float]] = []
    for robot in spec.robots.values():
        x, y, _ = robot.pose
        near = 2.0 * size_of(robot)
        points += [(x - near, y - near), (x + near, y + near)]
    length, width = spec.world.size
    anywhere = [(-0.5 * length, -0.5 * width), (0.5 * length, 0.5 * width)]
    for controller in spec.controllers.values():
        points += anywhere if (places := controller.places()) is None else places
    low, high = np.min(points, axis=0), np.max(points, axis=0)
    x, y = 0.5 * (low + high)
    return (float(x), float(y), 0.0), float(0.5 * np.max(high - low))


# --- bodies ------------------------------------------------------------------------------------------------


def outline_of(robot: WheeledRobot) -> np.ndarray:
    """Corners of the body, counter-clockwise."""
    body = robot.body
    if body.outline is None:
        (x, y), a, b = body.center, 0.5 * body.length, 0.5 * body.width
        return rectangle(x - a, x + a, y - b, y + b, cut=0.12 * min(a, b))
    corners = np.array(body.outline)
    area = np.sum(corners[:, 0] * np.roll(corners[:, 1], -1) - corners[:, 1] * np.roll(corners[:, 0], -1))
    return corners if area > 0 else corners[::-1]


def body_shapes(robot: WheeledRobot, paint: str, *, shrink: float = 1.0) -> tuple[Shape, ...]:
    """A deck over the wheels that stand under the outline, a tub between the wheels, and what shows the front."""
    outline = outline_of(robot)
    middle = outline.mean(axis=0)
    swept = [(wheel, wheel_places(wheel)) for wheel in robot.wheels.values()]
    under = [wheel for wheel, places in swept if np.any(inside(outline, places))]
    tallest = max(wheel.radius for wheel in robot.wheels.values())
    reach = float(min(np.ptp(outline, axis=0)))
    if under:
        low = ROOM * max(2.0 * wheel.radius if not isinstance(wheel, Support) else wheel.radius for wheel in under)
        high = low + float(np.clip(0.2 * reach, 0.25 * tallest, 0.8 * tallest))
    else:
        low, high = 0.45 * tallest, 0.45 * tallest + float(np.clip(0.35 * reach, 0.8 * tallest, 1.8 * tallest))
    low, high = 0.5 * (low + high) - 0.5 * shrink * (high - low), 0.5 * (low + high) + 0.5 * shrink * (high - low)
    deck = middle + shrink * (outline - middle)
    edge = min(0.12 * (high - low), 0.04 * reach)
    found = [Shape("mesh", material=paint, mesh=prism(deck, low, high, chamfer=edge))]
    if shrink < 1.0:
        return tuple(found)
    if under:
        floor = 0.5 * min(wheel.radius for wheel, _ in swept)
        for share in np.arange(0.9, LEAST_TUB, -0.05):
            tub = middle + share * (outline - middle)
            if not any(np.any(inside(tub, places)) for _, places in swept):
                found.append(Shape("mesh", material="trim", mesh=prism(tub, floor, low)))
                break
    front = float(outline[:, 0].max())
    ahead = middle[0] + 0.5 * (front - middle[0])
    found.append(arrow(float(ahead), float(middle[1]), high, 0.32 * reach))
    puck = 0.13 * reach
    behind = float(middle[0] - 0.12 * (front - middle[0]))
    if np.all(inside(outline, np.array([behind, middle[1]]) + disc(puck, sides=8))):
        found.append(Shape("cylinder", (puck, 0.5 * puck), placed(behind, middle[1], high + 0.25 * puck), "dark"))
        found.append(
            Shape("cylinder", (0.92 * puck, 0.3 * puck), placed(behind, middle[1], high + 0.65 * puck), "glass")
        )
        found.append(Shape("cylinder", (puck, 0.15 * puck), placed(behind, middle[1], high + 0.87 * puck), "dark"))
    found += [beam(wheel, top_of(wheel, robot), middle) for wheel, _ in swept if stands_out(wheel, outline)]
    found += [shape for wheel, _ in swept for shape in fixed_mount(wheel, under, low, middle)]
    return tuple(found)


def wheel_places(wheel: Wheel) -> np.ndarray:
    """Points of the ground that a wheel covers (k, 2), in all of its headings."""
    a, b = wheel.radius, 0.5 * wheel.width
    ahead = 0.0
    match wheel:
        case SphericalWheel() | Support():
            return np.array(wheel.position) + np.concatenate([disc(share * a, sides=12) for share in (1.0, 0.5, 0.0)])
        case CastorWheel():
            headings, ahead = np.linspace(0.0, 2.0 * pi, 16, endpoint=False), wheel.offset
        case SteeredWheel():
            limit = pi if wheel.endless else wheel.limit
            headings = wheel.heading + np.linspace(-limit, limit, 13)
        case _:
            headings = np.array([wheel.heading])
    x, y = np.meshgrid(np.linspace(-a, a, 9) + ahead, [-b, 0.0, b])
    c, s = np.cos(headings)[:, None], np.sin(headings)[:, None]
    x, y = x.ravel()[None, :], y.ravel()[None, :]
    return np.array(wheel.position) + np.stack([(c * x - s * y).ravel(), (s * x + c * y).ravel()], axis=1)


def inside(outline: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Whether each point lies in a polygon: a line from it crosses the border an odd number of times."""
    x, y = points[:, 0][:, None], points[:, 1][:, None]
    (x0, y0), (x1, y1) = outline.T, np.roll(outline, -1, axis=0).T
    crosses = (y0[None, :] > y) != (y1[None, :] > y)
    with np.errstate(divide="ignore", invalid="ignore"):
        at = x0 + (y - y0) / (y1 - y0) * (x1 - x0)
    return np.asarray(np.sum(crosses & (x < at), axis=1) % 2 == 1)


# --- wheels ------------------------------------------------------------------------------------------------


def wheel_nodes(robot: str, name: str, wheel: Wheel, spec: WheeledRobot) -> list[Node]:
    """The nodes of a wheel: what turns about the vertical first, then the wheel, whose y is its axle."""
    x, y = wheel.position
    part, r = f"{robot}/{name}", wheel.radius
    turning = Turns(f"{part}/angle", (0.0, 1.0, 0.0))
    look = wheel_look(wheel)
    match wheel:
        case FixedWheel() | SwedishWheel():
            return [Node(part, robot, turned_place(x, y, r, wheel.heading), look, turning)]
        case SteeredWheel() | CastorWheel():
            ahead = wheel.offset if isinstance(wheel, CastorWheel) else 0.0
            pivot = Turns(f"{part}/steering", (0.0, 0.0, 1.0))
            upright = turned_place(x, y, 0.0, wheel.heading)
            return [
                Node(f"{part}/steering", robot, upright, fork(wheel, ahead, top_of(wheel, spec)), pivot),
                Node(part, f"{part}/steering", placed(ahead, 0.0, r), look, turning),
            ]
        case SphericalWheel():
            # Two turns in a row, as of a gimbal: right for a ball that rolls along one direction at a time.
            aside = Turns(f"{part}/side_angle", (-1.0, 0.0, 0.0))
            return [
                Node(f"{part}/side", robot, turned_place(x, y, r, wheel.heading), motion=aside),
                Node(part, f"{part}/side", shapes=look, motion=turning),
            ]
        case Support():
            return [Node(part, robot, placed(x, y, 0.0), look)]


def wheel_look(wheel: Wheel) -> tuple[Shape, ...]:
    match wheel:
        case SwedishWheel():
            return roller_wheel_shapes(wheel.radius, wheel.width, wheel.roller_angle, wheel.roller_radius)
        case SphericalWheel():
            return ball_shapes(wheel.radius)
        case Support():
            r = wheel.radius
            knob = Shape("sphere", (0.5 * r,), placed(0.0, 0.0, 0.5 * r), "steel")
            return knob, Shape("cylinder", (0.3 * r, 0.9 * r), placed(0.0, 0.0, 0.95 * r), "trim")
        case CastorWheel():
            return wheel_shapes(wheel.radius, wheel.width, spokes=3, tyre="roller")
        case _:
            return wheel_shapes(wheel.radius, wheel.width, spokes=5 if wheel.width > 0.3 * wheel.radius else 9)


def top_of(wheel: Wheel, spec: WheeledRobot) -> float:
    """Where the body above a wheel begins."""
    tallest = [
        2.0 * one.radius if not isinstance(one, Support) else one.radius
        for one in spec.wheels.values()
        if np.any(inside(outline_of(spec), wheel_places(one)))
    ]
    return ROOM * max([*tallest, 2.0 * wheel.radius])


def fork(wheel: SteeredWheel | CastorWheel, ahead: float, top: float) -> tuple[Shape, ...]:
    """Two legs from the axle up, a bridge over the wheel, and the pivot into the body."""
    r, half = wheel.radius, 0.5 * wheel.width
    thin = max(0.1 * r, 0.004)
    bridge = 2.0 * r + 0.5 * (ROOM - 1.0) * 2.0 * r
    found = [Shape("cylinder", (0.9 * thin, 2.0 * half + 4.0 * thin), facing((ahead, 0, r), (0, 1, 0)), "steel")]
    up, length = atan2(-ahead, bridge - r), hypot(ahead, bridge - r)
    for side in (-1.0, 1.0):
        place = turned_place(0.5 * ahead, side * (half + 1.2 * thin), 0.5 * (r + bridge), up, (0.0, 1.0, 0.0))
        found.append(Shape("box", (1.8 * thin, 0.8 * thin, length + thin), place, "trim"))
    found.append(Shape("box", (2.6 * thin, 2.0 * half + 3.2 * thin, 0.8 * thin), placed(0.0, 0.0, bridge), "trim"))
    post = max(top - bridge, 0.0) + thin
    found.append(Shape("cylinder", (1.3 * thin, post), placed(0.0, 0.0, bridge + 0.5 * post), "steel"))
    return tuple(found)


def stands_out(wheel: Wheel, outline: np.ndarray) -> bool:
    """Whether a pivot needs something to hold it, as that of a bicycle's front wheel."""
    return isinstance(wheel, SteeredWheel | CastorWheel) and not bool(inside(outline, np.array([wheel.position]))[0])


def beam(wheel: Wheel, low: float, middle: np.ndarray) -> Shape:
    """From the pivot over a wheel into the body."""
    (x, y), r = wheel.position, wheel.radius
    dx, dy = middle[0] - x, middle[1] - y
    length, thick = 0.8 * hypot(dx, dy) + 0.2 * r, 0.16 * r
    place = turned_place(x + 0.4 * dx, y + 0.4 * dy, low + 0.5 * thick, atan2(dy, dx))
    return Shape("box", (length, 0.3 * r, thick), place, "trim")


def fixed_mount(wheel: Wheel, under: list[Wheel], deck: float, middle: np.ndarray) -> list[Shape]:
    """What holds a wheel that does not steer: legs from a deck above it, or its axle into the body beside it."""
    if not isinstance(wheel, FixedWheel | SwedishWheel | SphericalWheel | Support):
        return []
    (x, y), r, half = wheel.position, wheel.radius, 0.5 * wheel.width
    if isinstance(wheel, Support):
        return [Shape("cylinder", (0.3 * r, deck), placed(x, y, 0.5 * deck + r), "trim")] if wheel in under else []
    if isinstance(wheel, SphericalWheel):
        high = max(deck, 1.2 * r)
        return [Shape("mesh", material="trim", mesh=prism(disc(0.8 * r, centre=(x, y)), 1.55 * r, max(high, 1.7 * r)))]
    ax, ay = -sin(wheel.heading), cos(wheel.heading)
    inward = float(np.sign(ax * (middle[0] - x) + ay * (middle[1] - y)) or 1.0)
    reach = abs(ax * (middle[0] - x) + ay * (middle[1] - y))
    if wheel not in under or reach > 2.0 * half:
        long = max(0.85 * reach, half + 0.3 * r)
        place = facing((x + 0.5 * inward * long * ax, y + 0.5 * inward * long * ay, r), (ax, ay, 0.0))
        return [Shape("cylinder", (0.12 * r, long), place, "steel")]
    thin = max(0.08 * r, 0.004)
    found = [Shape("cylinder", (0.9 * thin, 2.0 * half + 4.0 * thin), facing((x, y, r), (ax, ay, 0.0)), "steel")]
    for side in (-1.0, 1.0):
        off = side * (half + 1.2 * thin)
        place = turned_place(x + off * ax, y + off * ay, 0.5 * (r + deck), wheel.heading)
        found.append(Shape("box", (2.4 * thin, 0.8 * thin, deck - r + thin), place, "trim"))
    return found
