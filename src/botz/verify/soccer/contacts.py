"""Single contacts of every kind, made by hand: two bodies of random parameters a moment before they touch at one point.

Place, normal and arms are chosen, so that nothing of the engine's search is needed to know them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from botz.verify.soccer.rig import Data, Model, match, model_of, random_robot

STEP = 1e-6
"""Of the engine [s]: so short that a turning robot's geometry does not change."""
SLOWEST = 0.05
"""Slower approaches are not tried [m/s]; the engine takes those below 1 mm/s for rest."""
GAP = 0.0
"""Between the bodies at first [m]: they meet at once, before a corner's normal has turned."""
FIELD: Data = {"length": 2.4, "width": 2.4, "goal_width": 0.6, "goal_depth": 0.4, "corner": 0.5}
END, SIDE, POST, BACK, CORNER = 1.2, 1.2, 0.3, 1.6, 1.9
KINDS = ("ball on wall", "robot on wall", "robot on post", "ball on face", "ball on corner", "robot on robot")
PAIR_OF = dict(
    zip(KINDS, ("ball_wall", "robot_wall", "robot_wall", "robot_ball", "robot_ball", "robot_robot"), strict=True)
)


@dataclass
class Body:
    """One side of a contact: speeds u, inverse mass, and g along the normal and along the tangent."""

    index: int
    """0 and 1 for robots, −1 for the ball."""
    u: np.ndarray
    mass: np.ndarray
    normal: np.ndarray
    tangent: np.ndarray
    arm: np.ndarray
    heading: float = 0.0

    @property
    def inverse(self) -> np.ndarray:
        return np.linalg.inv(self.mass)


@dataclass
class Contact:
    """First body, second body (None: a wall) and the normal towards the first."""

    first: Body
    second: Body | None
    n: np.ndarray

    @property
    def bodies(self) -> list[tuple[Body, float]]:
        """With the sign of the impulse on each."""
        return [(self.first, 1.0)] + ([(self.second, -1.0)] if self.second is not None else [])

    def speed(self, along: str = "normal") -> float:
        return float(sum(sign * getattr(body, along) @ body.u for body, sign in self.bodies))

    def give(self, along: str = "normal") -> float:
        """w₁ + w₂ with w = gᵀM⁻¹g."""
        vectors = [(getattr(body, along), body.inverse) for body, _ in self.bodies]
        return float(sum(g @ inverse @ g for g, inverse in vectors))

    def after(self, restitution: float, friction: float) -> tuple[list[np.ndarray], float]:
        """Speeds of the bodies by the physics of rigid impulses, and the energy lost."""
        impulse = -(1.0 + restitution) * self.speed() / self.give()
        found = [body.u + sign * body.inverse @ body.normal * impulse for body, sign in self.bodies]
        lost = 0.5 * (1.0 - restitution**2) * self.speed() ** 2 / self.give()
        if friction > 0.0:
            sliding = sum(sign * body.tangent @ u for (body, sign), u in zip(self.bodies, found, strict=True))
            most, give = friction * impulse, self.give("tangent")
            rub = float(np.clip(-sliding / give, -most, most))
            found = [
                u + sign * body.inverse @ body.tangent * rub for (body, sign), u in zip(self.bodies, found, strict=True)
            ]
            lost -= rub * (sliding + 0.5 * give * rub)
        return found, lost


def turned(angle: float, vector: np.ndarray) -> np.ndarray:
    c, s = np.cos(angle), np.sin(angle)
    return np.array([c * vector[0] - s * vector[1], s * vector[0] + c * vector[1]])


def robot_body(index: int, model: Model, heading: float, arm: np.ndarray, n: np.ndarray, u: np.ndarray) -> Body:
    """g = [e_θ·n, (k×d)·n]."""
    ahead, across = np.array([np.cos(heading), np.sin(heading)]), np.array([-n[1], n[0]])
    swing = np.array([-arm[1], arm[0]])
    return Body(
        index, u, model.mass, np.array([ahead @ n, swing @ n]), np.array([ahead @ across, swing @ across]), arm, heading
    )


def ball_body(mass: float, radius: float, n: np.ndarray, u: np.ndarray) -> Body:
    return Body(-1, u, mass * np.eye(2), n, np.array([-n[1], n[0]]), -radius * n)


class Maker:
    """Two robots without drag and a ball, and contacts between them at random."""

    def __init__(self, rng: np.random.Generator, restitution: float, friction: float, model: str = "rigid"):
        self.rng = rng
        self.restitution, self.friction = restitution, friction
        self.robots = [random_robot(rng, free=True) for _ in range(2)]
        self.models = [model_of(robot) for robot in self.robots]
        self.halves = [0.5 * robot["side"] for robot in self.robots]
        self.radius = float(rng.uniform(0.01, 0.05))
        mass, rolling = float(rng.uniform(0.01, 0.5)), bool(rng.random() < 0.5)
        self.ball_mass = 1.4 * mass if rolling else mass
        pairs = dict.fromkeys(PAIR_OF.values(), (restitution, friction))
        ball: Data = {"radius": self.radius, "mass": mass, "rolling": rolling, "friction": 0.0, "position": [0.0, 0.9]}
        self.rig = match(self.robots, step=STEP, field=FIELD, ball=ball, pairs=pairs, model=model)

    def wall(self) -> tuple[np.ndarray, np.ndarray]:
        """A point inside of a straight wall, and its normal into the field."""
        walls = (
            ((0.0, SIDE), (0.0, -1.0)),
            ((END, 0.5), (-1.0, 0.0)),
            ((BACK, 0.0), (-1.0, 0.0)),
            ((0.5 * (END + BACK), POST), (0.0, -1.0)),
            ((0.5 * CORNER, 0.5 * CORNER), (-np.sqrt(0.5), -np.sqrt(0.5))),
        )
        point, normal = walls[self.rng.integers(len(walls))]
        mirror = self.rng.choice([-1.0, 1.0], 2)
        return np.array(point) * mirror, np.array(normal) * mirror

    def lowest_vertex(self, half: float, heading: float, n: np.ndarray) -> np.ndarray:
        corners = [turned(heading, half * np.array(sign)) for sign in ((1, 1), (-1, 1), (-1, -1), (1, -1))]
        return min(corners, key=lambda corner: float(corner @ n))

    def slanted(self, n: np.ndarray) -> float:
        """A heading at which a vertex and no edge points against n."""
        return float(
            np.arctan2(n[1], n[0]) + self.rng.integers(4) * np.pi / 2.0 + self.rng.uniform(0.1, np.pi / 2.0 - 0.1)
        )

    def draw(self) -> tuple[str, Contact]:
        """A contact whose bodies approach, put into the match shortly before it."""
        while True:
            kind = KINDS[self.rng.integers(len(KINDS))]
            made, place = self._geometry(kind)
            speed = made.speed()
            if speed > 0.0:
                for body, _ in made.bodies:
                    body.u = -body.u
            if abs(speed) < SLOWEST:
                continue
            place()
            return kind, made

    def _geometry(self, kind: str) -> tuple[Contact, Callable[[], object]]:
        """The contact, and what puts its bodies into the match. Its point is the vertex where there is one."""
        rng, rig = self.rng, self.rig.reset()
        speeds = [np.array([rng.normal(0.0, 1.0), rng.normal(0.0, 10.0)]) for _ in range(2)]
        roll = rng.normal(0.0, 2.0, 2)
        rig.ball(0.0, 0.9)
        if kind == "ball on wall":
            point, n = self.wall()
            if rng.random() < 0.2:  # a post, from anywhere in the field or the goal
                mirror, angle = rng.choice([-1.0, 1.0], 2), rng.uniform(0.05, np.pi / 2.0 - 0.05)
                point, n = np.array([END, POST]) * mirror, -np.array([np.cos(angle), np.sin(angle)]) * mirror
            ball = ball_body(self.ball_mass, self.radius, n, roll)
            return Contact(ball, None, n), lambda: rig.ball(*(point + (self.radius + GAP) * n), *ball.u)
        if kind == "robot on wall":
            point, n = self.wall()
            heading = self.slanted(n)
            arm = self.lowest_vertex(self.halves[0], heading, n)
            body = robot_body(0, self.models[0], heading, arm, n, speeds[0])
            return Contact(body, None, n), lambda: rig.robot(0, [*(point + GAP * n - arm), heading], *body.u)
        # Contacts in the middle of a face of robot 0, whose outward normal is `out`.
        half, heading = self.halves[0], rng.uniform(-np.pi, np.pi)
        if kind == "robot on post":
            mirror, angle = rng.choice([-1.0, 1.0], 2), rng.uniform(0.1, np.pi / 2.0 - 0.1)
            out = np.array([np.cos(angle), np.sin(angle)]) * mirror
            heading = float(np.arctan2(out[1], out[0]) + rng.integers(4) * np.pi / 2.0)
            arm = (half + GAP) * out + rng.uniform(-0.7, 0.7) * half * np.array([-out[1], out[0]])
            body, post = robot_body(0, self.models[0], heading, arm, -out, speeds[0]), np.array([END, POST]) * mirror
            return Contact(body, None, -out), lambda: rig.robot(0, [*(post - arm), heading], *body.u)
        middle = rng.uniform(-0.2, 0.2, 2)
        side = rng.integers(4) * np.pi / 2.0
        out = turned(heading + side, np.array([1.0, 0.0]))
        arm = turned(heading + side, half * np.array([1.0, rng.uniform(-0.9, 0.9)]))
        if kind == "ball on corner":
            arm = turned(heading + side, half * np.array([1.0, 1.0]))
            out = turned(heading + side + rng.uniform(0.05, np.pi / 2.0 - 0.05), np.array([1.0, 0.0]))
        if kind == "robot on robot":
            arm = arm + GAP * out
            other = self.slanted(out)
            vertex = self.lowest_vertex(self.halves[1], other, out)
            face = robot_body(0, self.models[0], heading, arm, out, speeds[0])
            body = robot_body(1, self.models[1], other, vertex, out, speeds[1])

            def put_robots() -> None:
                rig.robot(0, [*middle, heading], *face.u)
                rig.robot(1, [*(middle + arm - vertex), other], *body.u)

            return Contact(body, face, out), put_robots
        face = robot_body(0, self.models[0], heading, arm, out, speeds[0])
        ball = ball_body(self.ball_mass, self.radius, out, roll)

        def put_ball() -> None:
            rig.robot(0, [*middle, heading], *face.u)
            rig.ball(*(middle + arm + (self.radius + GAP) * out), *ball.u)

        return Contact(ball, face, out), put_ball

    def found(self, made: Contact) -> list[np.ndarray]:
        """Speeds of the contact's bodies, as the match has them."""
        row = self.rig.row()
        velocity = self.rig.value("ball/velocity", row)
        twists = [self.rig.value(f"r{index}/twist", row)[[0, 2]] for index in range(2)]
        return [velocity if body.index < 0 else twists[body.index] for body, _ in made.bodies]


def makers(
    rng: np.random.Generator,
    samples: int,
    most: int,
    draw_pair: Callable[[], tuple[float, float]],
    model: str = "rigid",
) -> Iterator[tuple[Maker, int]]:
    """A new set of parameters for every few of the samples: yields (maker, how many)."""
    each = max(20, samples // most)
    done = 0
    while done < samples:
        restitution, friction = draw_pair()
        yield Maker(rng, restitution, friction, model), min(each, samples - done)
        done += each
