"""How masters reach arms that are served."""

from __future__ import annotations

from typing import ClassVar

from botz.scenario.arm.motion import Teleoperation
from botz.scenario.links import Address, Endpoint, RunLinks, with_endpoints
from botz.scenario.ports import TELEOPERATION
from botz.scenario.schema import Name


class TeleoperationLink(Teleoperation, Endpoint):
    """Where a master device drives an arm: messages over UDP, answered with the slave's state."""

    opens: ClassVar[str] = "botz.endpoints.teleop.slave:TeleoperationLink"
    listen: Address = TELEOPERATION
    """Where the master's messages are taken."""
    robot: Name | None = None
    """The arm that is driven; null: the first."""


@with_endpoints("arm")
class ArmLinks(RunLinks):
    """What `botz run --serve` opens; null leaves one out."""

    teleoperation: TeleoperationLink | None = TeleoperationLink()
    """A master device."""
