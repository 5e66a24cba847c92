"""`metadata.yaml` of rosbag2, which makes the folder of a run a bag."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import yaml

VERSION = 5
"""Of rosbag2's metadata: the first that names each file, read by every later one."""


class BagTopic(NamedTuple):
    """A topic of the bag: its name, its type, and how many messages it has."""

    name: str
    kind: str
    messages: int


def bag_metadata(file: str, topics: Sequence[BagTopic], first_ns: int, last_ns: int) -> str:
    """The text for a bag of one MCAP file, with messages from `first_ns` to `last_ns`."""
    total = sum(topic.messages for topic in topics)
    start, duration = {"nanoseconds_since_epoch": first_ns}, {"nanoseconds": last_ns - first_ns}
    about: dict[str, Any] = {
        "version": VERSION,
        "storage_identifier": "mcap",
        "duration": duration,
        "starting_time": start,
        "message_count": total,
        "topics_with_message_count": [
            {
                "topic_metadata": {
                    "name": topic.name,
                    "type": topic.kind,
                    "serialization_format": "cdr",
                    "offered_qos_profiles": "",
                },
                "message_count": topic.messages,
            }
            for topic in topics
        ],
        # Chunks are compressed inside the file, which MCAP's readers do by themselves.
        "compression_format": "",
        "compression_mode": "",
        "relative_file_paths": [file],
        "files": [
            {"path": file, "starting_time": dict(start), "duration": dict(duration), "message_count": total},
        ],
    }
    return yaml.safe_dump({"rosbag2_bagfile_information": about}, sort_keys=False)
