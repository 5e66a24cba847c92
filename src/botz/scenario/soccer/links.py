"""How teams, the referee and viewers reach a match that is served."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field, model_validator

from botz.scenario.links import Address, Endpoint, Interface, RunLinks, with_endpoints
from botz.scenario.misfits import Misfits
from botz.scenario.ports import CAMERA, LEAGUE_COMMANDS, LEAGUE_VISION, REFEREE, REPLACER, VOLTAGES
from botz.scenario.schema import Strict
from botz.scenario.units import Hertz, Metres, Number, PerSecond, Radians, Seconds


class LeagueLink(Endpoint):
    """The league simulators' messages over UDP: vision out, commands and replacements in."""

    opens: ClassVar[str] = "botz.endpoints.soccer.league:LeagueLink"
    vision: Address = LEAGUE_VISION
    """Where the state of the game goes; a multicast group by default."""
    interface: Interface = "127.0.0.1"
    """Network interface out of which the multicast goes; loopback keeps it on this machine."""
    listen: Address = LEAGUE_COMMANDS
    """Where commands and replacements are taken; 0.0.0.0 for all interfaces."""
    rate: Hertz = Field(default=60.0, gt=0, le=1000)
    """Vision messages per second of real time."""


class RefereeLink(Endpoint):
    """The league's referee and replacer: its calls, and where the teams put their robots, over UDP."""

    opens: ClassVar[str] = "botz.endpoints.soccer.referee:RefereeLink"
    listen: Address = REFEREE
    """Where the referee's calls are taken: the league's group, or an address of this machine."""
    replacer: Address = REPLACER
    """Where the teams' placements are taken."""
    interface: Interface = "127.0.0.1"
    """Network interface on which the groups are joined; loopback: programs on this machine, and no others."""


class VoltageLink(Endpoint):
    """Motor voltages as JSON over UDP."""

    opens: ClassVar[str] = "botz.endpoints.soccer.voltage:VoltageLink"
    listen: Address = VOLTAGES
    """Where voltages are taken."""


class Camera(Strict):
    """A camera above the field that looks straight down, and the noise of its images."""

    position: Annotated[list[Metres], Field(min_length=3, max_length=3)] = Field(default=[0.0, 0.0, 2.0])
    """Of the lens: x, y and height above the ground [m]."""
    view: Metres = Field(default=1.80, gt=0, le=1e4)
    """How much of the ground the width of the image shows [m]."""
    turn: Radians = 0.0
    """Turn of the image about the vertical: at 0 the field's +x points right and +y up [rad]."""
    size: Annotated[list[int], Field(min_length=2, max_length=2)] = Field(default=[640, 480])
    """Width and height of the image [pixels]."""
    period: Seconds = Field(default=0.030, gt=0, le=10)
    """Time between two images [s]."""
    distortion: Number = Field(default=0.0, ge=-0.3, le=0.3)
    """Radial distortion of the lens: a point at distance r from the middle (1 at the image's half width) is seen at
    r (1 + k r²)."""
    noise: Number = Field(default=0.0, ge=0, le=100)
    """Standard deviation of each pixel's colours, of 255."""
    blur: Number = Field(default=0.0, ge=0, le=20)
    """Standard deviation of the blur [pixels]."""
    drift: Number = Field(default=0.0, ge=0, le=0.5)
    """How far the brightness wanders from 1, as a fraction of it."""
    drift_rate: PerSecond = Field(default=0.2, gt=0, le=10)
    """How fast it wanders [1/s]."""
    latency: Seconds = Field(default=0.0, ge=0, le=5)
    """How late an image is sent [s]."""
    drop: Number = Field(default=0.0, ge=0, le=1)
    """Share of the images that are lost."""

    @model_validator(mode="after")
    def _sizes(self) -> Camera:
        found = [
            (("size", index), f"{pixels} pixels; from 16 to 4096")
            for index, pixels in enumerate(self.size)
            if not 16 <= pixels <= 4096
        ]
        if self.position[2] <= 0:
            found.append((("position", 2), f"a lens {self.position[2]:g} m high sees no field; give its height"))
        if found:
            raise Misfits(found)
        return self


class CameraLink(Camera, Endpoint):
    """The camera, and where its images are sent: over TCP, the empty field first and then what changed."""

    serves: ClassVar[str] = "botz.endpoints.camera.stream:serve_camera"
    listen: Address = CAMERA
    """Address and port at which clients connect."""


@with_endpoints("soccer")
class SoccerLinks(RunLinks):
    """What `botz run --serve` opens; null leaves one out."""

    league: LeagueLink | None = LeagueLink()
    """The league simulators' messages."""
    referee: RefereeLink | None = RefereeLink()
    """The league's referee and replacer."""
    voltage: VoltageLink | None = VoltageLink()
    """Motor voltages."""
    camera: CameraLink | None = CameraLink()
    """Images of the field."""
