"""Grounds, bodies and blocks of wheels with ordinary numbers, for the tests of the vehicle's equations."""

from __future__ import annotations

from typing import Any

import numpy as np

from botz.physics.contact.terrain import GRID, Ground
from botz.physics.wheels.wheel_block import (
    BODY,
    COULOMB,
    LANES,
    MAGIC,
    WHEEL_MODEL,
    WHEEL_STATE,
    WHEEL_WORK,
    start_wheels,
)
from botz.rotations import rotation_of
from botz.scenario.vehicle.tyre import MagicFormulaTyre
from botz.terrain.height_grid import HeightGrid
from botz.transforms import quaternion_from_attitude

EPS = np.finfo(float).eps
SLICES = 18
ORDER = np.array([0, *(sign * k for k in range(1, SLICES // 2 + 1) for sign in (1, -1))])
SINES, COSINES = np.sin(ORDER * np.pi / SLICES), np.cos(ORDER * np.pi / SLICES)
"""Of the slices' angles, from the lowest point outwards."""
RIM = np.column_stack([SINES, COSINES])
TABLES = MagicFormulaTyre(type="magic-formula")
"""Tables 4 and 5 of [virtualbotz]."""


def rough_ground(rng: np.random.Generator, roughness: float = 0.01, shape: tuple[int, int] = (41, 31)) -> HeightGrid:
    """Random heights with other spacings along x than along y."""
    return HeightGrid(rng.uniform(-roughness, roughness, shape), x_min=-2.0, x_max=2.0, y_min=-1.0, y_max=2.0)


def step_ground(edge: float) -> HeightGrid:
    """Level, then a step of 0.3 m at x = 0 that rises over `edge`."""
    x = np.linspace(-1.0, 1.0, 2001)
    profile = 0.3 * np.clip(x / edge, 0.0, 1.0)
    return HeightGrid(np.repeat(profile[:, None], 3, axis=1), x_min=-1.0, x_max=1.0, y_min=-1.0, y_max=1.0)


def grid_of(ground: HeightGrid) -> Any:
    grid = np.zeros(1, GRID)[0]
    grid.x_min, grid.y_min = ground.x_min, ground.y_min
    grid.cells_x, grid.cells_y = 1.0 / ground.dx, 1.0 / ground.dy
    grid.last_x, grid.last_y = ground.heights.shape[0] - 1, ground.heights.shape[1] - 1
    grid.mirrored = ground.outside == "mirror"
    return grid


def ground_of(ground: HeightGrid) -> Ground:
    """As kernels take it."""
    return Ground(ground.heights, grid_of(ground))


class Block:
    """The records of one block, and their fields by name, whichever record they are in; work begins as NaN."""

    def __init__(self, model: np.dtype, state: np.dtype, work: np.dtype):
        self.__dict__["parts"] = tuple(np.zeros(1, dtype)[0] for dtype in (model, state, work))
        for field in work.names or ():
            self[field][:] = np.nan

    @property
    def model(self) -> Any:
        return self.parts[0]

    @property
    def state(self) -> Any:
        return self.parts[1]

    @property
    def work(self) -> Any:
        return self.parts[2]

    def _part(self, field: str) -> Any:
        return next(part for part in self.__dict__["parts"] if field in part.dtype.names)

    def __getitem__(self, field: str) -> Any:
        return self._part(field)[field]

    def __getattr__(self, field: str) -> Any:
        return self._part(field)[field]

    def __setattr__(self, field: str, value: Any) -> None:
        self._part(field)[field] = value


def slope_limit(ground: HeightGrid) -> float:
    """No slope of the ground is steeper."""
    along_x = np.abs(np.diff(ground.heights, axis=0)).max() / ground.dx
    along_y = np.abs(np.diff(ground.heights, axis=1)).max() / ground.dy
    return float(np.hypot(along_x, along_y))


def body_at(position: Any, attitude: Any, velocity: Any = (0, 0, 0), angular: Any = (0, 0, 0)) -> Any:
    body = np.zeros(1, BODY)[0]
    axes = np.array(rotation_of(*quaternion_from_attitude(*attitude)))
    body.position, body.n, body.t, body.b = position, axes[:3], axes[3:6], axes[6:]
    body.velocity, body.angular = velocity, angular
    return body


def random_body(rng: np.random.Generator, tilt: float = 0.3) -> Any:
    attitude = (*rng.uniform(-tilt, tilt, 2), rng.uniform(-np.pi, np.pi))
    return body_at(rng.uniform(-0.5, 0.5, 3), attitude, rng.uniform(-2, 2, 3), rng.uniform(-3, 3, 3))


def rotation(body: Any) -> np.ndarray:
    """Columns n, t, b."""
    return np.column_stack([body.n, body.t, body.b])


def wheels(rng: np.random.Generator, kind: float = COULOMB, **changes: float) -> Any:
    """Four wheels at the corners, alike but for their places; nothing touches the ground yet."""
    block = Block(WHEEL_MODEL, WHEEL_STATE, WHEEL_WORK)
    start_wheels(block.state)
    ordinary = {
        "present": 1.0, "kind": kind, "radius": 0.11, "half_width": 0.04, "blend": 1.6e-4,
        "stiffness": 6000.0, "damping": 200.0, "travel": 0.04, "progression": 5e5,
        "h_min": -1.6e-4, "h_max": 0.15, "tolerance": 1e-13,
        "mu_static": 0.9, "mu_dynamic": 0.7, "tread_stiffness": 5e4, "tread_damping": 0.3,
    }  # fmt: skip
    for field, value in {**ordinary, **changes}.items():
        block[field][:] = value
    block.x[:], block.y[:], block.z[:] = (
        [0.22, 0.22, -0.22, -0.22],
        [0.2, -0.2, 0.2, -0.2],
        rng.uniform(-0.06, -0.04, 4),
    )
    put_magic(block)
    block.any_coulomb, block.any_magic = kind == COULOMB, kind == MAGIC
    return block


def put_magic(block: Any) -> None:
    tyre = TABLES
    assert tyre.aligning is not None
    for letter, values in (("x", tyre.longitudinal), ("y", tyre.lateral), ("m", tyre.aligning)):
        for number, value in enumerate(values, 1):
            block[f"{letter}a{number}"][:] = value
    block.c_x[:], block.c_y[:], block.c_m[:] = tyre.shapes
    combined = tyre.combined
    block.b1_x[:], block.b2_x[:] = combined.b_x
    block.b1_y[:], block.b2_y[:] = combined.b_y
    block.cc_x[:], block.cc_y[:] = combined.c_x, combined.c_y
    block.friction_scale[:], block.stiffness_scale[:] = 1.0, 1.0
    block.sigma_x[:], block.sigma_y[:] = tyre.relaxation
    block.largest_load[:], block.v_park[:] = tyre.largest_load, tyre.parking_speed
    # Arguments of the peaks at small loads: C arctan{w − E (w − arctan w)} = π/2.
    block.peak_x[:], block.peak_y[:] = 1.6, 11.0


def vectors(block: Any, name: str) -> np.ndarray:
    """A vector of each of the four wheels, as rows."""
    return np.column_stack([block[f"{name}_{axis}"] for axis in "xyz"])


def lanes() -> range:
    return range(LANES)


def shape(b: float, c: float, e: float, x: float) -> float:
    """Eq. 3.28 over D."""
    return float(np.sin(c * np.arctan(b * x - e * (b * x - np.arctan(b * x)))))


def weight(b: float, c: float, e: float, shift: float, x: float) -> float:
    """Eqs. 3.37-3.38, no less than 0."""

    def part(x: float) -> float:
        return float(np.cos(c * np.arctan(b * x - e * (b * x - np.arctan(b * x)))))

    return max(part(x + shift) / part(shift), 0.0)
