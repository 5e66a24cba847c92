"""Where a camera that looks straight down sees what: NumPy alone, so that a vision program needs no more."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from math import cos, inf, sin
from typing import Any

import numpy as np

NEWTON_STEPS = 30
"""Six are enough for most; near the rim of a folding lens each only halves the error."""


@dataclass(frozen=True)
class Lens:
    """A pinhole with radial distortion. u counts pixels to the right and v down; whole numbers are their middles."""

    x: float
    """Of the lens [m]."""
    y: float
    height: float
    """Above the ground [m]."""
    view: float
    """How much of the ground the width of the image shows, without distortion [m]."""
    turn: float
    """Of the camera about the vertical, counter-clockwise seen from above: where the image's right points [rad]."""
    distortion: float
    """A point at r from the middle (1 at half the width) is seen at r (1 + k r²)."""
    width: int
    """Of the image [pixels]."""
    rows: int
    """Height of the image [pixels]."""

    @classmethod
    def of(cls, camera: Any) -> Lens:
        """Of a scenario's camera."""
        x, y, height = camera.position
        width, rows = camera.size
        return cls(x, y, height, camera.view, camera.turn, camera.distortion, width, rows)

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Lens:
        """What `data()` gave; raises KeyError, TypeError or ValueError for what is none."""
        numbers = {name: float(data[name]) for name in ("x", "y", "height", "view", "turn", "distortion")}
        if not all(abs(number) < 1e9 for number in numbers.values()) or numbers["height"] <= 0 or numbers["view"] <= 0:
            raise ValueError("not a lens")
        return cls(**numbers, width=int(data["width"]), rows=int(data["rows"]))

    def data(self) -> dict[str, Any]:
        return asdict(self)

    @property
    def fold(self) -> float:
        """Squared radius at which the distortion would fold the image over: nothing beyond it is seen."""
        return 1.0 / (-3.0 * self.distortion) if self.distortion < 0 else inf

    @property
    def middle(self) -> tuple[float, float]:
        return 0.5 * (self.width - 1), 0.5 * (self.rows - 1)

    def pixel(self, x: Any, y: Any, height: Any = 0.0) -> tuple[Any, Any]:
        """u, v at which a point of the field is seen; NaN for what the lens does not show. Numbers or arrays."""
        with np.errstate(all="ignore"):
            lift = self.height / (self.height - np.asarray(height, dtype=float))
            lift = np.where(lift > 0, lift, np.nan) * 2.0 / self.view
            dx, dy = (np.asarray(x, dtype=float) - self.x) * lift, (np.asarray(y, dtype=float) - self.y) * lift
            c, s = cos(self.turn), sin(self.turn)
            a, b = c * dx + s * dy, c * dy - s * dx
            r2 = a * a + b * b
            seen = np.where(r2 <= self.fold, 0.5 * self.width * (1.0 + self.distortion * r2), np.nan)
            u0, v0 = self.middle
            return _plain(u0 + seen * a), _plain(v0 - seen * b)

    def field(self, u: Any, v: Any, height: Any = 0.0) -> tuple[Any, Any]:
        """x, y [m] of what is seen at a pixel, if it is that high above the ground; NaN where nothing is."""
        gx, gy = self.ground(u, v)
        share = 1.0 - np.asarray(height, dtype=float) / self.height
        return _plain(self.x + share * gx), _plain(self.y + share * gy)

    def ground(self, u: Any, v: Any) -> tuple[np.ndarray, np.ndarray]:
        """Where the rays of pixels meet the ground, from the foot of the lens [m]."""
        u0, v0 = self.middle
        half = 0.5 * self.width
        a, b = (np.asarray(u, dtype=float) - u0) / half, (v0 - np.asarray(v, dtype=float)) / half
        stretch = self._undistorted(np.hypot(a, b)) * 0.5 * self.view
        c, s = cos(self.turn), sin(self.turn)
        return stretch * (c * a - s * b), stretch * (s * a + c * b)

    def _undistorted(self, seen: np.ndarray) -> np.ndarray:
        """True radius by the one seen. Newton's steps for r + k r³ = seen come to the root from one side: from the
        right where k > 0 (convex), from the left where k < 0 (concave)."""
        k = self.distortion
        if k == 0.0:
            return np.ones_like(seen)
        rim = 2.0 / 3.0 * self.fold**0.5  # the largest that is seen, inf for k > 0
        goal = np.minimum(seen, rim).ravel()
        r, moving = goal.copy(), np.arange(goal.size)
        for _ in range(NEWTON_STEPS):
            part = r[moving]
            slope = 1.0 + 3.0 * k * part * part
            step = (part + k * part**3 - goal[moving]) / np.maximum(slope, 1e-12)
            r[moving] = part - step
            moving = moving[np.abs(step) > 1e-13]
        seen_as = np.where(goal > 0, goal, 1.0)
        stretch = np.where(goal > 0, r / seen_as, 1.0).reshape(np.shape(seen))
        return np.where(seen <= rim, stretch, np.nan)


def _plain(values: np.ndarray) -> Any:
    """A number stays a number."""
    return float(values) if np.ndim(values) == 0 else values
