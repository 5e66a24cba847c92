"""The description of a recording, as far as a file can be believed."""

from __future__ import annotations

import json
from typing import Any

from botz.channels import Channel
from botz.errors import InputError, Problem
from botz.record.mcap_scan import Contents
from botz.record.streams import RecordingHeader, StreamSpec
from botz.record.writer import FORMAT, HEADER_RECORD

DAMAGE = (ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError)
"""What comes of reading a description that does not have the expected form."""


def fields_of(about: dict[str, Any]) -> tuple[Channel, ...]:
    """The channels of one of Botz's own topics, in the order of its fields."""
    channels = tuple(
        Channel(
            name=str(item["channel"]),
            unit=str(item["unit"]),
            description=str(item["description"]),
            components=tuple(str(component) for component in item["components"]),
        )
        for item in about["fields"].values()
    )
    if not all("/" in channel.name for channel in channels):
        raise ValueError("a channel without a robot")
    return channels


def streams_of(contents: Contents) -> tuple[StreamSpec, ...]:
    return tuple(
        StreamSpec(str(item["name"]), int(item["every"]), tuple(str(name) for name in item["channels"]))
        for item in json.loads(contents.metadata[HEADER_RECORD]["streams"])
    )


def header_of(contents: Contents) -> RecordingHeader:
    metadata = contents.metadata.get(HEADER_RECORD)
    if metadata is None:
        why = "an MCAP file, but not a recording of Botz"
        if contents.problem:
            why = "not a recording of Botz, or cut off before its description was written"
        raise InputError(Problem(why, file=contents.file))
    if metadata.get("format") != FORMAT:
        wanted = f"this version reads format {FORMAT}, the recording has format {metadata.get('format')!r}"
        raise InputError(Problem(wanted, file=contents.file))
    try:
        scenario, info = json.loads(metadata["scenario"]), json.loads(metadata["info"])
        header = RecordingHeader(
            scenario=dict(scenario),
            scenario_name=metadata["scenario_name"],
            engine=metadata["engine"],
            seed=int(metadata["seed"]),
            step_ns=int(metadata["step_ns"]),
            info={str(key): str(value) for key, value in dict(info).items()},
        )
        if not 0 < header.step_ns < 1 << 62:
            raise ValueError("step")
    except DAMAGE as error:
        raise InputError(Problem("not a recording that Botz can read: damaged header", file=contents.file)) from error
    return header
