"""Volume, area, centre of mass and inertia of solids that are filled evenly, in closed form."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import pi

import numpy as np


@dataclass(frozen=True, eq=False)
class MassProperties:
    """Of a solid that is filled evenly."""

    volume: float
    """[m³]"""
    area: float
    """Of its surface [m²]."""
    centre: np.ndarray
    """Centre of mass (3) [m]."""
    inertia: np.ndarray
    """For `mass`, about the centre of mass (3, 3) [kg·m²]."""
    mass: float = 1.0
    """[kg]"""

    @property
    def principal(self) -> np.ndarray:
        """Principal moments, the smallest first (3) [kg·m²]."""
        return np.linalg.eigvalsh(self.inertia)

    def placed(self, pose: np.ndarray) -> MassProperties:
        """The same solid seen from a frame in which it has this pose (4, 4)."""
        rotation = pose[:3, :3]
        return replace(self, centre=rotation @ self.centre + pose[:3, 3], inertia=rotation @ self.inertia @ rotation.T)

    def with_mass(self, mass: float) -> MassProperties:
        return replace(self, inertia=self.inertia * (mass / self.mass), mass=mass)


def steiner(offset: np.ndarray) -> np.ndarray:
    """What 1 kg at an offset adds to a tensor, by the parallel-axis theorem: d·d 1 − d dᵀ [kg·m²]."""
    return offset @ offset * np.eye(3) - np.outer(offset, offset)


def together(parts: Sequence[MassProperties]) -> MassProperties:
    """Several bodies as one; what they share in space counts in each of them."""
    mass = sum(part.mass for part in parts)
    centre = sum((part.mass * part.centre for part in parts), np.zeros(3)) / mass
    inertia = sum((part.inertia + part.mass * steiner(part.centre - centre) for part in parts), np.zeros((3, 3)))
    return MassProperties(sum(part.volume for part in parts), sum(part.area for part in parts), centre, inertia, mass)


def tensor_for_mass(tensor: np.ndarray, volume: float, mass: float, per_metre: float = 1.0) -> np.ndarray:
    """A tensor for density 1 and in the drawing's unit, as mesh programs give it, for a mass and in metres.

    [costa2022] section 3.5: I = I_mesh / s⁵ / (V / s³) · m, where a metre is s units of the drawing (1000 for mm).
    """
    return np.asarray(tensor, dtype=float) / per_metre**5 / (volume / per_metre**3) * mass


def box(size: Sequence[float], mass: float = 1.0) -> MassProperties:
    """Edges along x, y and z."""
    a, b, c = size
    diagonal = mass / 12 * np.array([b * b + c * c, a * a + c * c, a * a + b * b])
    return MassProperties(a * b * c, 2 * (a * b + b * c + c * a), np.zeros(3), np.diag(diagonal), mass)


def sphere(radius: float, mass: float = 1.0) -> MassProperties:
    inertia = 2 / 5 * mass * radius**2 * np.eye(3)
    return MassProperties(4 / 3 * pi * radius**3, 4 * pi * radius**2, np.zeros(3), inertia, mass)


def ellipsoid(radii: Sequence[float], mass: float = 1.0) -> MassProperties:
    from scipy.special import elliprg

    a, b, c = radii
    diagonal = mass / 5 * np.array([b * b + c * c, a * a + c * c, a * a + b * b])
    # The area has no elementary form; Carlson's integral R_G gives it (DLMF, 19.33.2).
    area = 4 * pi * float(elliprg(a * a * b * b, a * a * c * c, b * b * c * c))
    return MassProperties(4 / 3 * pi * a * b * c, area, np.zeros(3), np.diag(diagonal), mass)


def cylinder(radius: float, length: float, mass: float = 1.0) -> MassProperties:
    """Along z."""
    across = mass * (3 * radius**2 + length**2) / 12
    inertia = np.diag([across, across, mass * radius**2 / 2])
    area = 2 * pi * radius * (radius + length)
    return MassProperties(pi * radius**2 * length, area, np.zeros(3), inertia, mass)


def capsule(radius: float, length: float, mass: float = 1.0) -> MassProperties:
    """A cylinder along z of this length, with half spheres at its ends."""
    tube, ball = pi * radius**2 * length, 4 / 3 * pi * radius**3
    of_tube, of_ball = mass * tube / (tube + ball), mass * ball / (tube + ball)
    # A half sphere has 2/5 r² about its flat face's middle; its centre lies 3/8 r away from there, so that moving it by
    # length/2 adds (length/2)² + 2 · 3/8 r · length/2.
    across = of_tube * (3 * radius**2 + length**2) / 12
    across += of_ball * (2 / 5 * radius**2 + length**2 / 4 + 3 / 8 * radius * length)
    along = of_tube * radius**2 / 2 + of_ball * 2 / 5 * radius**2
    area = 2 * pi * radius * length + 4 * pi * radius**2
    return MassProperties(tube + ball, area, np.zeros(3), np.diag([across, across, along]), mass)
