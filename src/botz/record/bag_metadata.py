"""`metadata.yaml` of rosbag2, which makes the folder of a run a bag."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import yaml

VERSION = 5
"""Of rosbag2's metadata: the first that names each file, read by every later one."""


QOS_KEY = "offered_qos_profiles"
"""Where rosbag2 looks for it in a channel's metadata."""
_FOREVER = {"sec": 2147483647, "nsec": 4294967295}
LATCHED = yaml.safe_dump(
    [
        {
            "history": 1,  # the last `depth` messages
            "depth": 1,
            "reliability": 1,  # reliable
            "durability": 1,  # transient local: also for those who come later
            "deadline": dict(_FOREVER),
            "lifespan": dict(_FOREVER),
            "liveliness": 1,
            "liveliness_lease_duration": dict(_FOREVER),
            "avoid_ros_namespace_conventions": False,
        }
    ],
    sort_keys=False,
)
"""Quality of service of a topic of one message, in the numbers of rmw."""


class BagTopic(NamedTuple):
    """A topic of the bag: its name, its type, how many messages it has, and its quality of service."""

    name: str
    kind: str
    messages: int
    qos: str = ""


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
                    QOS_KEY: topic.qos,
                },
                "message_count": topic.messages,
            }
            for topic in topics
        ],
        # Chunks are compressed inside the file, which MCAP's readers do by themselves.
        "compression_format": "",
        "compression_mode": "",
        "relative_file_paths": [file],
        "files": [{"path": file, "starting_time": dict(start), "duration": dict(duration), "message_count": total}],
    }
    return yaml.safe_dump({"rosbag2_bagfile_information": about}, sort_keys=False)
