"""How wheels grip the ground: the tyre part of a vehicle's file. Equations in physics/wheels/tyre.py."""

from __future__ import annotations

import math
from typing import Annotated, Literal

from pydantic import Field, model_validator

from botz.scenario.misfits import Misfits
from botz.scenario.schema import Strict
from botz.scenario.units import Metres, MetresPerSecond, Newtons, Number, Quantity

Eight = Annotated[list[float], Field(min_length=8, max_length=8)]


class CoulombTyre(Strict):
    """Friction proportional to the load ([virtualbotz] eqs. 3.16-3.22), with a tangential spring while it sticks."""

    type: Literal["coulomb"]
    static: Number = Field(ge=0)
    """μ: up to where it sticks."""
    dynamic: Number = Field(ge=0)
    """μ*: while it slides."""
    stiffness: Annotated[float, Quantity("N/m")] = Field(default=5e4, gt=0)
    """Of the tread along the ground, while it sticks [N/m]."""
    damping_ratio: Number = Field(default=0.3, ge=0, le=5)
    """Of that spring, under the mass that the wheel carries."""

    @model_validator(mode="after")
    def _static_is_more(self) -> CoulombTyre:
        if self.static < self.dynamic:
            raise Misfits([(("static",), f"{self.static:g} is less than dynamic, {self.dynamic:g}")])
        return self


class CombinedSlip(Strict):
    """Weights of combined slip ([virtualbotz] eqs. 3.37-3.38): κ as a ratio, α in radians."""

    b_x: Annotated[list[float], Field(min_length=2, max_length=2)] = Field(default=[12.35, -10.77])
    """B_xα = b₁ cos(arctan(b₂ κ))."""
    c_x: float = Field(default=1.092, gt=0, le=2)
    """C_xα."""
    e_x: float = Field(default=0.0, le=1)
    """E_xα."""
    shift_x: float = 0.0
    """S_Hα; the published 0.007 makes left and right differ."""
    b_y: Annotated[list[float], Field(min_length=2, max_length=2)] = Field(default=[6.461, 4.196])
    """B_yκ = b₁ cos(arctan(b₂ α))."""
    c_y: float = Field(default=1.081, gt=0, le=2)
    """C_yκ."""
    shift_y: float = 0.0
    """S_Hκ."""


class MagicFormulaTyre(Strict):
    """The Magic Formula with coefficients that depend on the load ([virtualbotz] eqs. 3.25-3.38).

    The defaults are tables 5 and 4: load in kN, slip in percent, slip angle in degrees, fitted for 2 to 8 kN.
    """

    type: Literal["magic-formula"]
    longitudinal: Eight = Field(default=[-21.3, 1144.0, 49.6, 226.0, 0.069, -0.006, 0.056, 0.486])
    """a₁ … a₈ of F_x, table 5."""
    lateral: Eight = Field(default=[-22.1, 1011.0, 1078.0, 1.82, 0.208, 0.0, -0.354, 0.707])
    """a₁ … a₈ of F_y, table 5."""
    aligning: Eight | None = Field(default=[-2.72, -2.28, -1.86, -2.73, 0.110, -0.070, 0.643, -4.04])
    """a₁ … a₈ of M_z, table 5; null: no aligning moment."""
    shapes: Annotated[list[float], Field(min_length=3, max_length=3)] = Field(default=[1.69, 1.19, 2.40])
    """C of F_x, F_y and M_z."""
    combined: CombinedSlip = CombinedSlip()
    """What one slip takes from the other's force."""
    friction_scale: Number = Field(default=1.0, gt=0)
    """Factor of all friction, for other grounds."""
    stiffness_scale: Number = Field(default=1.0, gt=0)
    """Factor of the slip stiffness."""
    relaxation: Annotated[list[Metres], Field(min_length=2, max_length=2)] = Field(default=[0.05, 0.1])
    """Length that the wheel rolls until F_x and F_y have built up [m]."""
    largest_load: Newtons = Field(default=20e3, gt=0, le=22.9e3)
    """More load has no more effect: the formula's peak falls again past 22.9 kN [N]."""
    parking_speed: MetresPerSecond = Field(default=0.1, gt=0)
    """Below this the tread is a damped spring that holds the vehicle where it stands [m/s]."""
    parking_damping: Number = Field(default=0.3, ge=0, le=5)
    """Damping ratio of that spring, under the mass that the wheel carries."""

    @model_validator(mode="after")
    def _shapes_in_range(self) -> MagicFormulaTyre:
        wrong = [index for index, value in enumerate(self.shapes) if not 1.0 < value < 3.0]
        if wrong:
            raise Misfits([(("shapes", index), f"{self.shapes[index]:g} is not between 1 and 3") for index in wrong])
        for key, table in (("longitudinal", self.longitudinal), ("lateral", self.lateral)):
            loads = [self.largest_load / 1000 * share for share in (1e-6, 0.25, 0.5, 0.75, 1.0)]
            peaks = [(table[0] * load + table[1]) * load for load in loads]
            if min(peaks) <= 0:
                raise Misfits([((key,), "a₁ and a₂ give no positive peak D for all loads up to largest_load")])
            if key == "longitudinal":
                stiffness = [(table[2] * load + table[3]) * load for load in loads]
            else:
                stiffness = [table[2] * math.sin(table[3] * math.atan(table[4] * load)) for load in loads]
            if min(stiffness) <= 0:
                raise Misfits([((key,), "a₃, a₄ and a₅ give no positive stiffness for all loads up to largest_load")])
        if min(self.relaxation) <= 0:
            raise Misfits([(("relaxation",), "both lengths must be greater than 0")])
        return self


Tyre = Annotated[CoulombTyre | MagicFormulaTyre, Field(discriminator="type")]
