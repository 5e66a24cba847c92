"""Robot soccer: the field with its markings, walls and goals, robots with the colours of the league, and the ball."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import atan, hypot

import numpy as np

from botz.physics.soccer.camera_image import INNER, OUTER
from botz.scenario.soccer.schema import PlacedSoccerRobot, PlayingField, SoccerScenario
from botz.scene.ground import as_bytes, smooth_noise
from botz.scene.parts import facing, palette, placed, turned_place, wheel_shapes
from botz.scene.robot_description import RobotDescription, described_scene
from botz.scene.shapes import prism, rectangle
from botz.scene.soccer.camera import BALL_COLOUR, CODE_COLOURS, TEAM_COLOURS, PaintedRobot
from botz.scene.world_scene import (
    Actor,
    Camera,
    Follows,
    Material,
    Node,
    Scene,
    Score,
    Shape,
    TriangleMesh,
    Turns,
    Velocity,
)

WALL_HEIGHT = 0.05
"""Of the walls around the field, by the league's rules [m]."""
WALL = 0.025
"""Their thickness, as a share of the field's width: a drawing's, as the physics knows only their inner faces."""
LINE = 0.004
"""Half the width of markings, as a share of half the length and half the width of the field together."""
PIXELS = 1280
"""Of the field's texture along its length."""
GRASS, STRIPE, MARKING = (0.13, 0.40, 0.20), (0.15, 0.44, 0.225), (0.93, 0.95, 0.93)


def build(spec: SoccerScenario, seen: Sequence[tuple[float, float]] = ()) -> Scene:
    del seen  # no terrain to thin
    scene = Scene(materials=materials(), indoors=True)
    field = spec.world.field
    scene.nodes.append(Node("field", shapes=field_shapes(field, scene.materials)))
    add_robots(scene, spec)
    scene.indicators.append(Score("match/score"))
    camera = spec.links.camera
    if camera is not None:
        scene.cameras.append(field_camera(camera.position, camera.turn, camera.view, camera.size))
    else:
        width = 1.1 * (field.length + 2.0 * field.goal_depth)
        scene.cameras.append(field_camera([0.0, 0.0, 1.2 * width], 0.0, width, [640, 480]))
    scene.radius = 0.5 * field.length + field.goal_depth
    return scene


def materials() -> dict[str, Material]:
    return {**palette(), **colours()}


def described(spec: SoccerScenario) -> list[RobotDescription]:
    """Robots and loose objects as a recording describes them."""
    scene = Scene(materials=materials())
    add_robots(scene, spec)
    return described_scene(scene)


def add_robots(scene: Scene, spec: SoccerScenario) -> None:
    """Robots and ball."""
    for name, robot in spec.robots.items():
        scene.nodes += robot_nodes(name, robot, spec.players[name][1])
        scene.actors.append(Actor(name, name, hypot(robot.side, robot.side), "soccer"))
        scene.indicators.append(Velocity(name, name, f"{name}/twist"))
    radius = spec.world.ball.radius
    # How far it has rolled is not known, so it does not turn: its pose's heading is the direction of its motion.
    scene.nodes.append(
        Node(
            "ball", shapes=(Shape("sphere", (radius,), placed(0.0, 0.0, radius), "ball"),), motion=Follows("ball/pose")
        )
    )


def colours() -> dict[str, Material]:
    """The league's: bright and dull, so that a tag looks the same from everywhere."""

    def plain(colour: tuple[int, int, int], roughness: float = 0.6) -> Material:
        red, green, blue = (value / 255 for value in colour)
        return Material((red, green, blue, 1.0), roughness)

    tags = {**TEAM_COLOURS, **CODE_COLOURS}
    return {
        "ball": plain(BALL_COLOUR, 0.45),
        **{f"tag-{name}": plain(colour, 0.7) for name, colour in tags.items()},
        "shell-blue": plain((44, 56, 84), 0.5),
        "shell-yellow": plain((86, 78, 46), 0.5),
        "wall": plain((38, 40, 43), 0.7),
        "wall-top": plain((226, 228, 230), 0.6),
        "goal-blue": plain((40, 88, 214), 0.7),
        "goal-yellow": plain((232, 200, 30), 0.7),
        "floor": plain((116, 118, 122), 0.9),
    }


def field_camera(position: list[float], turn: float, view: float, size: list[int]) -> Camera:
    """As the scenario's camera stands: straight above, its image's right along x when it is not turned."""
    x, y, height = position
    pixels_wide, pixels_high = size
    seen = view * pixels_high / pixels_wide
    return Camera("field", turned_place(x, y, height, turn), vertical_view=2.0 * atan(0.5 * seen / height))


# --- the field ---------------------------------------------------------------------------------------------


def field_shapes(field: PlayingField, materials: dict[str, Material]) -> tuple[Shape, ...]:
    """The surface with its markings in one picture, walls, corner pieces and goals, and the hall's floor around."""
    end, side, post = 0.5 * field.length, 0.5 * field.width, 0.5 * field.goal_width
    back, thick = end + field.goal_depth, WALL * field.width
    materials["pitch"] = Material((1.0, 1.0, 1.0, 1.0), 0.95, texture=pitch(field))
    found = [Shape("mesh", material="pitch", mesh=surface(field), casts_shadow=False)]
    floor = 3.0 * max(back, side)
    found.append(Shape("box", (2 * floor, 2 * floor, 0.02), placed(0.0, 0.0, -0.012), "floor", casts_shadow=False))
    for sign in (-1.0, 1.0):
        x, y = sign * (end + 0.5 * thick), sign * (side + 0.5 * thick)
        found += wall(-end - thick, end + thick, y - 0.5 * thick, y + 0.5 * thick)
        for half in (-1.0, 1.0):  # beside the goal, and the goal's own sides
            a, b = sorted((half * post, half * side))
            found += wall(x - 0.5 * thick, x + 0.5 * thick, a, b)
            a, b = sorted((half * post, half * (post + thick)))
            first, last = sorted((sign * (end + thick), sign * (back + thick)))
            found += wall(first, last, a, b)
        colour = "goal-blue" if sign < 0 else "goal-yellow"
        first, last = sorted((sign * back, sign * (back + thick)))
        found += wall(first, last, -post, post, face=colour)
        first, last = sorted((sign * end, sign * back))
        floor_in_goal = rectangle(first, last, -post, post)
        found.append(Shape("mesh", material=colour, mesh=prism(floor_in_goal, -0.001, 0.0006), casts_shadow=False))
        if field.corner > 0:
            for half in (-1.0, 1.0):
                cut = field.corner
                triangle = np.array([[end, side], [end - cut, side], [end, side - cut]]) * [sign, half]
                triangle = triangle if sign * half > 0 else triangle[::-1]
                found.append(Shape("mesh", material="wall", mesh=prism(triangle, 0.0, WALL_HEIGHT)))
                found.append(Shape("mesh", material="wall-top", mesh=prism(triangle, WALL_HEIGHT, WALL_HEIGHT + 0.001)))
    return tuple(found)


def surface(field: PlayingField) -> TriangleMesh:
    """Where the ball can roll: between the walls, and into both goals."""
    end, side, post = 0.5 * field.length, 0.5 * field.width, 0.5 * field.goal_width
    back = end + field.goal_depth
    parts = [rectangle(-end, end, -side, side), rectangle(end, back, -post, post), rectangle(-back, -end, -post, post)]
    flat = np.concatenate(parts)
    corner = np.array([[0, 1, 2], [0, 2, 3]])
    uv = 0.5 + 0.5 * flat / np.array([back, side])
    faces = np.concatenate([corner + 4 * k for k in range(len(parts))])
    return TriangleMesh(np.column_stack([flat, np.zeros(len(flat))]), faces, uv)


def wall(x0: float, x1: float, y0: float, y1: float, *, face: str = "wall") -> list[Shape]:
    """Dark sides, a light upper edge."""
    outline = rectangle(x0, x1, y0, y1)
    cap = Shape("mesh", material="wall-top", mesh=prism(outline, WALL_HEIGHT, WALL_HEIGHT + 0.001), casts_shadow=False)
    return [Shape("mesh", material=face, mesh=prism(outline, 0.0, WALL_HEIGHT)), cap]


def pitch(field: PlayingField) -> np.ndarray:
    """The grass in broad stripes and the markings, seen from above with x to the right and y up."""
    end, side = 0.5 * field.length, 0.5 * field.width
    back = end + field.goal_depth
    nx, ny = PIXELS, max(16, round(PIXELS * side / back))
    x = ((np.arange(nx) + 0.5) / nx * 2.0 - 1.0)[None, :] * back
    y = (1.0 - (np.arange(ny) + 0.5) / ny * 2.0)[:, None] * side
    pixel, half = 2.0 * back / nx, LINE * (end + side) * 0.5
    away = np.minimum(np.abs(x), np.abs(np.abs(x) - end) + 0.0 * y)  # middle and goal lines
    if field.center_radius > 0:
        away = np.minimum(away, np.abs(np.hypot(x, y) - field.center_radius))
        away = np.minimum(away, np.maximum(np.hypot(x, y) - 2.0 * half, 0.0))
    if field.penalty_depth > 0 and field.penalty_width > 0:
        deep, wide = np.abs(x) - (end - field.penalty_depth), np.abs(y) - 0.5 * field.penalty_width
        away = np.minimum(away, np.maximum(np.abs(deep), wide))
        away = np.minimum(away, np.where(np.abs(x) <= end, np.maximum(np.abs(wide), -deep), np.inf))
    if field.penalty_point > 0:
        dot = np.hypot(np.abs(x) - field.penalty_point, y) - 2.0 * half
        away = np.minimum(away, np.maximum(dot, 0.0))
    covered = np.clip((half - away) / pixel + 0.5, 0.0, 1.0)
    covered = np.where(np.abs(x) > end + half, 0.0, covered)[..., None]
    count = 10
    stripe = np.floor((x / end * 0.5 + 0.5) * count) % 2 == 0
    image = np.where((stripe | np.zeros_like(y, dtype=bool))[..., None], GRASS, STRIPE)
    image = image * (0.94 + 0.12 * smooth_noise((ny, nx), (24, 28), seed=3))[..., None]
    image = image + (np.array(MARKING) - image) * covered
    return as_bytes(image)


# --- robots ------------------------------------------------------------------------------------------------


def robot_nodes(name: str, robot: PlacedSoccerRobot, number: int) -> list[Node]:
    """A cube between its wheels, whose outer faces are flush with it."""
    side = robot.side
    painted = PaintedRobot.of(name, {"team": robot.team, "id": number, "side": side})
    thick = max(min(side - robot.track, 0.2 * side), 0.06 * side)
    inner = min(max(0.5 * (robot.track - thick), 0.1 * side), 0.5 * side)
    shapes = robot_shapes(side, inner, (robot.team, *painted.code))
    found = [Node(name, shapes=shapes, motion=Follows(f"{name}/pose"), shown_by=f"{name}/playing")]
    for part, sign in (("left", 1.0), ("right", -1.0)):
        wheel = getattr(robot.wheels, part)
        look = wheel_shapes(wheel.radius, thick, spokes=4)
        place = placed(0.0, sign * 0.5 * robot.track, wheel.radius)
        found.append(Node(f"{name}/{part}", name, place, look, Turns(f"{name}/{part}/angle", (0.0, 1.0, 0.0))))
    return found


def robot_shapes(side: float, inner: float, tags: tuple[str, str, str]) -> tuple[Shape, ...]:
    """The body, and on top the patches of its team and number as the camera paints them."""
    half = 0.5 * side
    shell, roof, *patches = robot_meshes(side, inner)
    found = [
        Shape("mesh", material=f"shell-{tags[0]}", mesh=shell),
        Shape("mesh", material="dark", mesh=roof),
        Shape("box", (0.02 * side, 0.5 * side, 0.16 * side), placed(half - 0.008 * side, 0.0, 0.28 * side), "trim"),
    ]
    for y in (-0.3 * side, 0.3 * side):
        found.append(Shape("cylinder", (0.055 * side, 0.02 * side), facing((half, y, 0.58 * side), (1, 0, 0)), "lamp"))
    for colour, mesh in zip(tags, patches, strict=True):
        found.append(Shape("mesh", material=f"tag-{colour}", mesh=mesh, casts_shadow=False))
    return tuple(found)


@lru_cache(maxsize=16)  # equal robots share their meshes, which travel once
def robot_meshes(side: float, inner: float) -> tuple[TriangleMesh, ...]:
    """The shell between the wheels, the roof that completes the cube, and the patches of team, left and right."""
    half, edge = 0.5 * side, 0.03 * side
    low, high = INNER * half, OUTER * half
    patches = ((low, high, -high, high), (-high, -low, low, high), (-high, -low, -high, -low))
    return (
        prism(rectangle(-half, half, -inner, inner, cut=edge), 0.05 * side, 0.97 * side),
        prism(rectangle(-half, half, -half, half, cut=edge), 0.78 * side, side, chamfer=0.02 * side),
        *(prism(rectangle(*patch, cut=0.01 * side), side, 1.006 * side) for patch in patches),
    )
