"""What a user writes: carts, their pendulums, and the world that they stand in."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from botz.scenario.links import RunLinks
from botz.scenario.schema import ByType, ConstantController, Name, ScenarioBase, Strict, TableController, UserController
from botz.scenario.units import Kilograms, Metres, Quantity, Radians


class CartPole(Strict):
    """A robot file of engine `cartpole`."""

    engine: Literal["cartpole"] = "cartpole"
    """The engine that it is made for."""
    description: str = ""
    """What it is, for people."""
    source: str = ""
    """Where its numbers come from."""
    cart: Kilograms = Field(default=1.0, gt=0)
    """Mass of the cart [kg]."""
    bob: Kilograms = Field(default=0.1, gt=0)
    """Mass at the end of the rod, which has none [kg]."""
    length: Metres = Field(default=0.5, gt=0)
    """Length of the rod [m]."""


class PlacedCartPole(CartPole):
    """A robot in a scenario."""

    position: Metres = 0.0
    """Of the cart at the start, along x [m]."""
    angle: Radians = 0.0
    """Of the pendulum at the start; 0 hangs, positive swings ahead [rad]."""


class CartPoleWorld(Strict):
    gravity: Annotated[float, Quantity("m/s^2")] = Field(default=9.81, ge=0)
    """Gravity [m/s²]."""


CartPoleController = Annotated[ConstantController | TableController | UserController, ByType()]


class CartPoleScenario(ScenarioBase):
    """Carts with pendulums, which do not meet each other."""

    engine: Literal["cartpole"]
    """What moves the robots."""
    world: CartPoleWorld = CartPoleWorld()
    """What they stand in."""
    robots: dict[Name, PlacedCartPole] = Field(min_length=1)
    """The robots by name."""
    controllers: dict[Name, Annotated[ConstantController | TableController | UserController, ByType()]] = Field(
        default={}
    )
    """What drives the robots, by name."""
    links: RunLinks = RunLinks()
    """How viewers reach the run, with `botz run --serve`."""
