"""What a page may say: each message checked before anything is done with it."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgpack
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from botz.view.lab.sentences import LabError, Sentence

LARGEST_MESSAGE = 1 << 16
"""Bytes."""
FASTEST_FRAMES = 60.0
"""Frames a second that a page may ask for."""

Id = Annotated[str, Field(min_length=1, max_length=200)]
Short = Annotated[str, Field(max_length=200)]
AxisName = Annotated[str, Field(max_length=16)]
Share = Annotated[float, Field(ge=-1.0, le=1.0)]
Factor = Annotated[float, Field(ge=0.0, le=1000.0)]
SetValue = bool | int | float | Short


class BadMessage(LabError):
    """A message that cannot be understood; its text is for the page."""


class Said(BaseModel):
    """Common part. Keys that are not known are left aside: a newer page may say more."""

    model_config = ConfigDict(strict=True, frozen=True, allow_inf_nan=False, populate_by_name=False)


class Hello(Said):
    t: Literal["hello"]
    token: Annotated[str, Field(max_length=512)] | None = None
    name: Annotated[str, Field(max_length=64)] | None = None


class Origin(Said):
    recording: Id
    time: float = Field(ge=0.0)


class Start(Said):
    t: Literal["start"]
    scenario: Short | None = None
    set: dict[Short, SetValue] | None = Field(default=None, max_length=500)
    factor: Factor | None = None
    origin: Origin | None = Field(default=None, alias="from")


class Watch(Said):
    t: Literal["watch"]
    run: Id
    channels: list[Short] = Field(max_length=8192)
    rate: float = Field(default=FASTEST_FRAMES, gt=0.0, le=1000.0)


class Pause(Said):
    t: Literal["pause"]
    run: Id
    on: bool


class Step(Said):
    t: Literal["step"]
    run: Id
    n: int = Field(default=1, ge=1, le=10**9)


class Speed(Said):
    t: Literal["speed"]
    run: Id
    factor: Factor


class Reset(Said):
    t: Literal["reset"]
    run: Id


class Stop(Said):
    t: Literal["stop"]
    run: Id


class Drive(Said):
    t: Literal["drive"]
    run: Id
    robot: Short
    mode: Short | None = None
    axes: dict[AxisName, Share] = Field(max_length=16)
    buttons: dict[AxisName, bool] | None = Field(default=None, max_length=16)
    seq: int = Field(default=0, ge=0, lt=2**53)


class Release(Said):
    t: Literal["release"]
    run: Id


class Seat(Said):
    t: Literal["seat"]
    run: Id
    action: Literal["take", "give", "ask"]
    to: Short | None = None


class Solutions(Said):
    t: Literal["solutions"]
    run: Id | None = None
    recording: Id | None = None
    robot: Short
    joints: list[float] | None = Field(default=None, max_length=64)


class Ping(Said):
    t: Literal["ping"]
    at: float


AnyMessage = (
    Hello | Start | Watch | Pause | Step | Speed | Reset | Stop | Drive | Release | Seat | Solutions | Ping
)  # fmt: skip
_ADAPTER: TypeAdapter[AnyMessage] = TypeAdapter(Annotated[AnyMessage, Field(discriminator="t")])


def understood(data: bytes | None) -> AnyMessage:
    """A message as it was sent, or BadMessage with what is wrong about it."""
    if data is None:
        raise BadMessage(Sentence("message.binary"))
    if len(data) > LARGEST_MESSAGE:
        raise BadMessage(Sentence("message.large", most=LARGEST_MESSAGE))
    try:
        found: Any = msgpack.unpackb(data, raw=False, strict_map_key=True)
    except Exception as error:  # a decoder fed with anything has many ways to fail
        raise BadMessage(Sentence("message.packing", why=type(error).__name__)) from None
    if not isinstance(found, dict):
        raise BadMessage(Sentence("message.map"))
    try:
        return _ADAPTER.validate_python(found)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"])[:80]
        raise BadMessage(Sentence("message.wrong", key=place or "t", why=first["msg"][:200])) from None


def packed(message: dict[str, Any]) -> bytes:
    return bytes(msgpack.packb(message, use_bin_type=True))
