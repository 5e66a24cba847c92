"""How programs outside reach a run that is served: addresses, and what is there for every robot."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable
from typing import Annotated, Any, ClassVar, TypeVar

from pydantic import BeforeValidator, Field, WithJsonSchema, create_model

from botz.registry import discovered
from botz.scenario.ports import POSES
from botz.scenario.schema import Strict
from botz.scenario.units import Hertz, show


def _address(value: Any) -> Any:
    """`127.0.0.1:20011`, checked; numbers only, so that no name has to be looked up while a match runs."""
    needed = 'needs an IPv4 address and a port, as "127.0.0.1:20011"'
    if not isinstance(value, str):
        raise ValueError(f"{needed}, not {show(value)}")
    host, colon, port = value.rpartition(":")
    try:
        ipaddress.IPv4Address(host)
    except ValueError:
        raise ValueError(f"{needed}, not {show(value)}") from None
    if not colon or not (port.isascii() and port.isdecimal()) or int(port) > 65535:
        raise ValueError(f"{needed}, not {show(value)}; a port is a number from 0 (any free one) to 65535")
    return value


def _interface(value: Any) -> Any:
    try:
        return str(ipaddress.IPv4Address(value)) if isinstance(value, str) else _address(value)
    except ValueError:
        raise ValueError(f"needs the IPv4 address of a network interface, not {show(value)}") from None


Address = Annotated[
    str, BeforeValidator(_address), WithJsonSchema({"type": "string", "pattern": r"^\d+\.\d+\.\d+\.\d+:\d+$"})
]
Interface = Annotated[
    str, BeforeValidator(_interface), WithJsonSchema({"type": "string", "pattern": r"^\d+\.\d+\.\d+\.\d+$"})
]


def host_and_port(address: str) -> tuple[str, int]:
    host, _, port = address.rpartition(":")
    return host, int(port)


class Endpoint(Strict):
    """Common part of all network endpoints: each is one record, that a scenario names under `links`."""

    opens: ClassVar[str] = ""
    """What opens it, as `module:name`: called with the run and this record, it gives a `Connection`
    (`endpoints/server_process.py`). All of them share one process."""
    serves: ClassVar[str] = ""
    """In place of that, a function with a process of its own: called with the run, this record and the seed, `ready` to
    call with an address, and `should_stop` to ask; it gives what it has counted."""
    families: ClassVar[tuple[str, ...]] = ()
    """Engines whose runs it serves, of an endpoint that comes from another package; none named: all."""


class PoseLink(Endpoint):
    """Where everything is, for viewers on other machines: read-only, over TCP."""

    opens: ClassVar[str] = "botz.endpoints.pose.stream:PoseStream"
    listen: Address = POSES
    """Address and port at which viewers connect."""
    rate: Hertz = Field(default=50.0, gt=0, le=1000)
    """Frames per second of real time."""


class RunLinks(Strict):
    """What `botz run --serve` opens; null leaves it out."""

    poses: PoseLink | None = PoseLink()
    """Where everything is."""


L = TypeVar("L", bound=RunLinks)


def with_endpoints(family: str) -> Callable[[type[L]], type[L]]:
    """Adds what installed packages name in the entry-point group `botz.endpoints`, as far as it fits the family. A run
    has one of them where its scenario says so: `links: {NAME: {}}`."""

    def with_others(links: type[L]) -> type[L]:
        others: dict[str, Any] = {
            name: (record | None, Field(default=None, description=record.__doc__))
            for name, record in discovered("botz.endpoints", Endpoint).items()
            if name not in links.model_fields and (not record.families or family in record.families)
        }
        if not others:
            return links
        # Where pickle finds it: the physics process gets the whole scenario.
        about: dict[str, Any] = {"__module__": links.__module__, "__doc__": links.__doc__}
        return create_model(links.__name__, __base__=links, **about, **others)

    return with_others
