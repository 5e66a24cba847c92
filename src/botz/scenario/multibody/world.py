"""What surrounds multibody robots: ground, terrain, obstacles, air and wind, and where on earth it is."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from botz.scenario.misfits import Misfits
from botz.scenario.multibody.elements import DEFAULT_DENSITY
from botz.scenario.schema import LONGEST, Name, Strict
from botz.scenario.shapes import AnyShape
from botz.scenario.terrain import Terrain
from botz.scenario.units import Metres, MetresPerSecond, Number, Quantity, Seconds

Velocity = Annotated[list[MetresPerSecond], Field(min_length=3, max_length=3)]


class Gust(Strict):
    """A gust of the form 1 − cos: it rises to its velocity and falls again."""

    at: Seconds = Field(ge=0, le=LONGEST)
    """When it begins [s]."""
    duration: Seconds = Field(gt=0, le=LONGEST)
    """How long it lasts [s]."""
    velocity: Velocity
    """In its middle, added to the steady wind [m/s]."""


class Turbulence(Strict):
    """Random wind, for each axis a process with an exponential correlation, as in Dryden's longitudinal spectrum."""

    intensity: Velocity
    """Standard deviations along the world's x, y and z [m/s]."""
    length: Metres = Field(default=50.0, gt=0, le=1e6)
    """Length over which it changes [m]."""
    speed: MetresPerSecond = Field(default=10.0, gt=0, le=1e4)
    """Speed with which it is carried past: the correlation time is length/speed [m/s]."""


class Wind(Strict):
    steady: Velocity = Field(default=[0.0, 0.0, 0.0])
    """Velocity of the air in the world [m/s]."""
    gusts: list[Gust] = Field(default=[], max_length=1000)
    """Gusts in time."""
    turbulence: Turbulence | None = None
    """Random wind; null: none."""


class Earth(Strict):
    """Where on earth the world's origin is, for GPS, barometer and magnetometer."""

    latitude: float = Field(default=0.0, ge=-89.9, le=89.9)
    """[degrees], north positive."""
    longitude: float = Field(default=0.0, ge=-180, le=180)
    """[degrees], east positive."""
    height: Metres = Field(default=0.0, ge=-500, le=20000)
    """Of the world's z = 0 above sea level [m]."""
    magnetic_field: Annotated[list[Annotated[float, Quantity("T")]], Field(min_length=3, max_length=3)] = Field(
        default=[0.0, 2.0e-5, -4.0e-5]
    )
    """In the world's axes, east, north, up [T]."""


class Contacts(Strict):
    """How surfaces give way: MuJoCo's soft constraints."""

    time_constant: Seconds = Field(default=0.02, gt=0, le=10)
    """Time in which a penetration decays; at least twice the step [s]."""
    damping_ratio: Number = Field(default=1.0, gt=0, le=100)
    """1 does not bounce."""
    cone: Literal["pyramidal", "elliptic"] | None = None
    """Of friction: with four sides, or round; null: as an MJCF file says, else pyramidal."""
    impratio: Number | None = Field(default=None, gt=0, le=1e6)
    """Stiffness of friction relative to that of the normal force; more slips less. null: as an MJCF file says, else
    1."""


class MultibodyWorld(Strict):
    gravity: Annotated[list[Annotated[float, Quantity("m/s^2")]], Field(min_length=3, max_length=3)] = Field(
        default=[0.0, 0.0, -9.81]
    )
    """Acceleration of free fall in the world [m/s²]."""
    ground: bool = True
    """A level floor at z = 0, where there is no terrain."""
    ground_friction: Number = Field(default=0.8, ge=0, le=10)
    """Coulomb's coefficient of floor and terrain, for everything on them."""
    terrain: Terrain | None = None
    """The ground as a grid of heights, as for vehicles; null: none. A run ends where a robot leaves it."""
    obstacles: dict[Name, AnyShape] = Field(default={}, max_length=1000)
    """What stands about and does not move, by name."""
    air_density: Annotated[float, Quantity("kg/m^3")] = Field(default=DEFAULT_DENSITY, ge=0, le=100)
    """Density of the air [kg/m³]."""
    wind: Wind = Wind()
    """How the air moves."""
    earth: Earth = Earth()
    """Where on earth it is."""
    contact: Contacts = Contacts()
    """How surfaces give way."""
    memory: int | None = Field(default=None, ge=1, le=2**40)
    """Bytes that MuJoCo works in; null: as much as it thinks it needs."""

    @model_validator(mode="after")
    def _terrain_ends(self) -> MultibodyWorld:
        if self.terrain is not None and self.terrain.outside == "mirror":
            why = "mirror is for engine vehicle; here the run ends where a robot leaves the terrain, choose edge or end"
            raise Misfits([(("terrain", "outside"), why)])
        return self
