"""Mass properties of rigid bodies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from pydantic import Field, model_validator

from botz.scenario.misfits import Misfits
from botz.scenario.schema import Strict
from botz.scenario.units import Kilograms, Metres, Quantity

Inertia = Annotated[float, Quantity("kg*m^2")]


class Body(Strict):
    """Mass properties of a rigid body."""

    mass: Kilograms = Field(default=0.0, ge=0, le=1e6)
    """Mass [kg]."""
    centre: Annotated[list[Metres], Field(min_length=3, max_length=3)] = Field(default=[0.0, 0.0, 0.0])
    """Centre of mass in the body's frame [m]."""
    inertia: Annotated[list[Inertia], Field(min_length=3, max_length=6)] = Field(default=[0.0, 0.0, 0.0])
    """About the centre of mass, in the frame's axes: Ixx, Iyy, Izz, and where they are not 0, Ixy, Ixz, Iyz (the
    entries of the matrix) [kg·m²]."""

    @model_validator(mode="after")
    def _possible_inertia(self) -> Body:
        if self.inertia is None:
            return self
        if len(self.inertia) not in (3, 6):
            raise Misfits([(("inertia",), f"needs Ixx, Iyy, Izz, or six numbers, not {len(self.inertia)}")])
        if any(value != 0.0 for value in self.inertia) and self.mass == 0.0:
            raise Misfits([(("inertia",), "a body without mass has none")])
        if complaint := impossible_inertia(self.inertia):
            raise Misfits([(("inertia",), complaint)])
        return self


def impossible_inertia(values: Sequence[float]) -> str | None:
    """What no body can have of Ixx, Iyy, Izz and optionally Ixy, Ixz, Iyz; None where one can."""
    from numpy.linalg import eigvalsh

    ixx, iyy, izz, ixy, ixz, iyz = [*values, 0.0, 0.0, 0.0][:6]
    small, middle, large = sorted(eigvalsh([[ixx, ixy, ixz], [ixy, iyy, iyz], [ixz, iyz, izz]]).tolist())
    rounding = 1e-9 * max(abs(large), abs(small))
    if small < -rounding:
        return f"has the principal moment {small:.4g} kg·m²; none can be negative"
    if large > small + middle + rounding:
        found = f"principal moments {small:.4g}, {middle:.4g}, {large:.4g} kg·m²"
        return f"{found}; no body has one above the sum of the other two"
    return None
