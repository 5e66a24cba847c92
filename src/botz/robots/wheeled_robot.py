"""A wheeled robot as matrices: built from its list of wheels, used by the engine, the controllers and `botz wheels`.

With the rows of all wheels stacked, R(β) (2n, 3), everything that a motor or an axle imposes on the twist ξ is
A(β) ξ = B u, where A = G R(β) selects or averages rows, and u are the robot's inputs. The geometry enters through the
steering angles only, so the matrices G and B are built once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import assert_never

import numpy as np

from botz.physics.wheels import constraints as wc
from botz.scenario.kinematics.schema import (
    CastorWheel,
    FixedWheel,
    SphericalWheel,
    SteeredWheel,
    Steering,
    Support,
    SwedishWheel,
    WheeledRobot,
)

INDIVIDUAL, PARALLEL, ACKERMANN = range(3)


@dataclass(frozen=True)
class Input:
    """One number that a controller sets."""

    name: str
    unit: str
    description: str
    wheels: tuple[int, ...]


@dataclass(frozen=True)
class Structure:
    """Degrees of freedom of a robot [alsina-rodas; physics of wheeled robots]."""

    mobility: int
    """δ_m: dimension of the velocities possible without turning a steered wheel."""
    steerability: int
    """δ_s: how many independent choices the steering adds."""

    @property
    def manoeuvrability(self) -> int:
        return self.mobility + self.steerability

    def __str__(self) -> str:
        return f"{self.mobility}/{self.steerability}/{self.manoeuvrability}"


def wheel_kind(wheel) -> int:
    match wheel:
        case FixedWheel():
            return wc.FIXED
        case SteeredWheel():
            return wc.STEERED
        case CastorWheel():
            return wc.CASTOR
        case SwedishWheel():
            return wc.SWEDISH
        case SphericalWheel():
            return wc.SPHERICAL
        case Support():
            return wc.SUPPORT
        case _:
            assert_never(wheel)


def limit_of(steered: SteeredWheel | Steering) -> float:
    return np.inf if steered.endless else steered.limit


class WheeledRobotModel:
    """Matrices and names of one robot."""

    def __init__(self, spec: WheeledRobot):
        self.spec = spec
        wheels = list(spec.wheels.values())
        self.wheel_names = list(spec.wheels)
        self.kind = np.array([wheel_kind(wheel) for wheel in wheels], dtype=np.int64)
        self.is_castor = self.kind == wc.CASTOR
        n = len(wheels)

        def values(name: str, default: float = 0.0) -> np.ndarray:
            return np.array([getattr(wheel, name, default) for wheel in wheels], dtype=float)

        self.x = np.array([wheel.position[0] for wheel in wheels], dtype=float)
        self.y = np.array([wheel.position[1] for wheel in wheels], dtype=float)
        self.heading = values("heading")
        self.radius = values("radius")
        self.roller_angle = values("roller_angle")
        self.roller_radius = values("roller_radius", 1.0)
        self.offset = values("offset")
        self.driven = np.array([getattr(wheel, "driven", False) for wheel in wheels], dtype=bool)
        spread = np.sqrt(np.mean((self.x - self.x.mean()) ** 2 + (self.y - self.y.mean()) ** 2))
        self.length = float(max(spread, np.hypot(self.x, self.y).max(), self.radius.max()))
        """A length of the robot's own size: makes turning comparable to moving in ranks and least motions."""

        self._build_steering(n)
        self._build_drives(n)

    # --- building ------------------------------------------------------------------------------------------

    def _build_steering(self, n: int) -> None:
        """Steering groups: a steered wheel on its own is a group of one."""
        spec = self.spec
        grouped = {wheel for group in spec.steering.values() for wheel in group.wheels}
        groups: list[tuple[str, list[int], int, float, float]] = []
        for name, group in spec.steering.items():
            indices = [self.wheel_names.index(wheel) for wheel in group.wheels]
            coupling = ACKERMANN if group.coupling == "ackermann" else PARALLEL
            groups.append((name, indices, coupling, limit_of(group), group.rate or np.inf))
        for index, (name, wheel) in enumerate(spec.wheels.items()):
            if isinstance(wheel, SteeredWheel) and name not in grouped:
                groups.append((name, [index], INDIVIDUAL, limit_of(wheel), wheel.rate or np.inf))
        self.steering_names = [name for name, *_ in groups]
        self.group_of_wheel = np.full(n, -1, dtype=np.int64)
        for number, (_, indices, *_rest) in enumerate(groups):
            self.group_of_wheel[indices] = number
        self.group_coupling = np.array([group[2] for group in groups], dtype=np.int64)
        self.group_limit = np.array([group[3] for group in groups], dtype=float)
        self.group_rate = np.array([group[4] for group in groups], dtype=float)
        self.group_mid = np.zeros((len(groups), 3))
        for number, (_, indices, *_rest) in enumerate(groups):
            self.group_mid[number] = self.x[indices].mean(), self.y[indices].mean(), self.heading[indices[0]]
        self.axle = np.zeros(3)
        fixed = self.lateral_rows(np.flatnonzero(self.kind == wc.FIXED), self.heading)
        if ACKERMANN in self.group_coupling:
            if rank_of(fixed, self.length) != 1:
                raise ValueError(
                    "coupling 'ackermann' needs fixed wheels on exactly one axle, which its axles can meet"
                )
            self.axle[:] = fixed[0]

    def _build_drives(self, n: int) -> None:
        """Equations A ξ = B u: one row a motor-driven wheel (or group), one a wheel that cannot slide sideways."""
        spec = self.spec
        inputs: list[Input] = []
        select: list[np.ndarray] = []
        factors: list[tuple[int, float]] = []
        row_names: list[str] = []
        self.motor_of_wheel = np.full(n, -1, dtype=np.int64)
        self.second_motor_of_wheel = np.full(n, -1, dtype=np.int64)

        def add_row(weights: dict[int, float], input_index: int, factor: float, name: str) -> None:
            row = np.zeros(2 * n)
            for column, weight in weights.items():
                row[column] = weight
            select.append(row)
            factors.append((input_index, factor))
            row_names.append(name)

        grouped = {wheel for drive in spec.drives.values() for wheel in drive.wheels}
        for name, drive in spec.drives.items():
            indices = [self.wheel_names.index(wheel) for wheel in drive.wheels]
            inputs.append(
                Input(f"{name}/speed", "rad/s", f"speed of the motor of {', '.join(drive.wheels)}", tuple(indices))
            )
            if drive.coupling == "common":
                for i in indices:
                    self.motor_of_wheel[i] = len(inputs) - 1
                    add_row({2 * i: 1.0}, len(inputs) - 1, self.radius[i], f"{self.wheel_names[i]} rolling")
            else:
                # A differential gear: the motor turns with the mean of the wheels' speeds.
                mean_radius = self.radius[indices].mean()
                weights = {2 * i: mean_radius / (len(indices) * self.radius[i]) for i in indices}
                add_row(weights, len(inputs) - 1, mean_radius, f"{name} rolling")
        for i, name in enumerate(self.wheel_names):
            if not self.driven[i] or name in grouped:
                continue
            inputs.append(Input(f"{name}/speed", "rad/s", f"rotation speed of wheel {name}", (i,)))
            self.motor_of_wheel[i] = len(inputs) - 1
            add_row({2 * i: 1.0}, len(inputs) - 1, self.radius[i] * np.cos(self.roller_angle[i]), f"{name} rolling")
            if self.kind[i] == wc.SPHERICAL:
                inputs.append(Input(f"{name}/side_speed", "rad/s", f"speed of ball {name} to its left", (i,)))
                self.second_motor_of_wheel[i] = len(inputs) - 1
                add_row({2 * i + 1: 1.0}, len(inputs) - 1, self.radius[i], f"{name} lateral")
            elif self.kind[i] == wc.CASTOR:
                inputs.append(Input(f"{name}/steering_rate", "rad/s", f"pivot rate of castor {name}", (i,)))
                self.second_motor_of_wheel[i] = len(inputs) - 1
                add_row({2 * i + 1: 1.0}, len(inputs) - 1, -self.offset[i], f"{name} lateral")
        for i, name in enumerate(self.wheel_names):
            if self.kind[i] in (wc.FIXED, wc.STEERED):
                add_row({2 * i + 1: 1.0}, -1, 0.0, f"{name} lateral")
        self.n_rates = len(inputs)
        for number, name in enumerate(self.steering_names):
            members = tuple(np.flatnonzero(self.group_of_wheel == number).tolist())
            inputs.append(Input(f"{name}/steering", "rad", f"steering angle of {name}", members))
        self.inputs = tuple(inputs)
        self.row_names = row_names
        self.select = np.array(select).reshape(len(select), 2 * n)
        """G (m, 2n): which wheel rows each equation reads."""
        self.factors = np.zeros((len(select), self.n_rates))
        """B (m, rates): what each equation's right side is made of."""
        for row, (index, factor) in enumerate(factors):
            if index >= 0:
                self.factors[row, index] = factor

    # --- geometry ------------------------------------------------------------------------------------------

    @property
    def n_steering(self) -> int:
        return len(self.steering_names)

    def wheel_headings(self, steering: np.ndarray | None = None, castor: np.ndarray | None = None) -> np.ndarray:
        """Heading ψ of every wheel for the steering groups' angles and the castors' pivots (zeros by default)."""
        psi = self.heading.copy()
        for i in range(psi.size):
            group = self.group_of_wheel[i]
            if group >= 0:
                psi[i] += self.steering_angle(i, 0.0 if steering is None else float(steering[group]))
            elif castor is not None and self.kind[i] == wc.CASTOR:
                psi[i] += castor[i]
        return psi

    def steering_angle(self, wheel: int, delta: float) -> float:
        group = self.group_of_wheel[wheel]
        if self.group_coupling[group] != ACKERMANN:
            return delta
        return wc.ackermann_angle(
            *self.axle, *self.group_mid[group], self.x[wheel], self.y[wheel], self.heading[wheel], delta
        )

    def rows(self, psi: np.ndarray) -> np.ndarray:
        rows = np.empty((2 * psi.size, 3))
        wc.constraint_rows(self.x, self.y, self.roller_angle, self.offset, psi, rows)
        return rows

    def lateral_rows(self, wheels: np.ndarray, psi: np.ndarray) -> np.ndarray:
        return self.rows(psi)[2 * wheels + 1] if wheels.size else np.zeros((0, 3))

    def system(self, psi: np.ndarray) -> np.ndarray:
        """A(β) (m, 3)."""
        return self.select @ self.rows(psi)

    # --- analysis ------------------------------------------------------------------------------------------

    def constraint_matrices(self, theta: float = 0.0, steering: np.ndarray | None = None):
        """J_q R(θ)ᵀ, the rolling rows of all wheels but supports, and C_q R(θ)ᵀ, the lateral rows of the standard
        ones: both act on q' = (x', y', θ') of the world [alsina-rodas]."""
        psi = self.wheel_headings(steering)
        rows = self.rows(psi)
        c, s = np.cos(theta), np.sin(theta)
        to_body = np.array([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]])
        rolling = np.flatnonzero(self.kind != wc.SUPPORT)
        standard = np.flatnonzero(np.isin(self.kind, (wc.FIXED, wc.STEERED)))
        return rows[2 * rolling] @ to_body, rows[2 * standard + 1] @ to_body

    def structure(self, steering: np.ndarray | None = None) -> Structure:
        """Degrees of mobility and steerability at the given (consistent) steering angles, straight by default."""
        psi = self.wheel_headings(steering)
        standard = np.flatnonzero(np.isin(self.kind, (wc.FIXED, wc.STEERED)))
        rank = rank_of(self.lateral_rows(standard, psi), self.length)
        rank_fixed = rank_of(self.lateral_rows(np.flatnonzero(self.kind == wc.FIXED), psi), self.length)
        return Structure(3 - rank, min(rank - rank_fixed, self.n_steering))

    def inverse_matrix(self, psi: np.ndarray) -> tuple[np.ndarray, int]:
        """A⁺ (3, m) and the rank of A."""
        system = self.system(psi)
        inverse, work = np.empty((3, system.shape[0])), np.empty_like(system)
        rank = wc.pseudo_inverse3(system, self.length, work, inverse)
        return inverse, rank

    def forward(self, inputs: np.ndarray, castor: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Twist of the body and the slip velocity of every equation (A ξ − B u, zero where wheels agree)."""
        inputs = np.asarray(inputs, dtype=float)
        psi = self.wheel_headings(inputs[self.n_rates :], castor)
        inverse, _ = self.inverse_matrix(psi)
        right = self.factors @ inputs[: self.n_rates]
        twist = inverse @ right
        return twist, self.system(psi) @ twist - right

    def free_directions(self) -> np.ndarray:
        """Twists that no motor and no axle determines (k, 3), at straight steering; empty for a complete robot."""
        system = self.system(self.wheel_headings()) / np.array([1.0, 1.0, self.length])
        _, singular, vectors = np.linalg.svd(np.vstack([system, np.zeros((3, 3))]))
        tolerance = 1e-9 * max(singular.max(), 1e-300)
        return vectors[singular < tolerance] / np.array([1.0, 1.0, self.length])


def rank_of(rows: np.ndarray, length: float) -> int:
    """Rank of rows that act on twists, the turning column scaled by a length of the robot."""
    if rows.size == 0:
        return 0
    return int(np.linalg.matrix_rank(rows / np.array([1.0, 1.0, length]), tol=1e-9))


def centre_of_rotation(twist: np.ndarray) -> np.ndarray:
    """Instantaneous centre of rotation in the body's frame; infinite when the body does not turn."""
    vx, vy, turn = twist
    if abs(turn) <= 1e-12 * max(1e-300, float(np.hypot(vx, vy))):
        return np.array([np.inf, np.inf]) if vx or vy else np.array([np.nan, np.nan])
    return np.array([-vy / turn, vx / turn])
