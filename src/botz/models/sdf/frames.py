"""Frames of an SDF model: links, joints, frames and nested models, each placed relative to another one.

Names are those of the whole model: what stands in a nested model `arm` begins with `arm::`. Every model has a frame
`__model__` of its own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from botz.models.xml_tree import XmlNode, XmlReading
from botz.scenario.names import closest
from botz.transforms import inverse, posed, rotation_from_quaternion, rotation_from_rpy, shifted

MODEL = "__model__"
WORLD = "world"


@dataclass
class Frame:
    node: XmlNode
    """Where it is said."""
    pose: np.ndarray
    """In the frame `relative_to` (4, 4)."""
    relative_to: str | None
    """Full name; None for the model as a whole."""
    attached_to: str | None
    """Full name of what it moves with; None for a link, which moves with nothing else."""
    placement: str | None = None
    """Of a nested model: its frame that `pose` is said of, where that is not its own."""


class Frames:
    """All frames of a model by full name. Call `check` once all are there: afterwards every pose can be had."""

    def __init__(self) -> None:
        self.by_name: dict[str, Frame] = {}
        self._poses: dict[str, np.ndarray] = {}

    def add(self, reading: XmlReading, name: str, frame: Frame) -> None:
        if name in self.by_name:
            first = self.by_name[name].node
            line = f" in line {first.line}" if first.file == frame.node.file else ""
            reading.wrong(frame.node, f"the name {name!r} is taken by <{first.tag}>{line}; give it another one")
            return
        self.by_name[name] = frame

    def check(self, reading: XmlReading) -> None:
        """Report frames that are not there and circles, and cut them, so that what follows finds more mistakes."""
        for frame in self.by_name.values():
            if frame.node.tag == "joint" and frame.attached_to not in self.by_name:
                # Whoever joins the links says that one is missing.
                if frame.relative_to == frame.attached_to:
                    frame.relative_to = None
                frame.attached_to = None
            for key in ("relative_to", "attached_to", "placement"):
                name = getattr(frame, key)
                if name is not None and name not in self.by_name:
                    said = "placement_frame" if key == "placement" else key
                    reading.wrong(frame.node, f"there is no frame {name!r}{closest(name, self._named())}", said)
                    setattr(frame, key, None)
        for key in ("relative_to", "attached_to"):
            done: set[str] = set()
            for name in self.by_name:
                self._cut_circle(reading, name, key, done)

    def _cut_circle(self, reading: XmlReading, name: str, key: str, done: set[str]) -> None:
        way: list[str] = []
        here: str | None = name
        while here is not None and here not in done:
            if here in way:
                circle = [*way[way.index(here) :], here]
                message = f"goes round in a circle: {' -> '.join(circle)}; place one of them in the model's frame"
                reading.wrong(self.by_name[here].node, message, key)
                setattr(self.by_name[way[-1]], key, None)
                break
            way.append(here)
            here = getattr(self.by_name[here], key)
        done.update(way)

    def _named(self) -> list[str]:
        return [name for name in self.by_name if not name.endswith(MODEL)]

    def known(self, reading: XmlReading, node: XmlNode, name: str, key: str) -> bool:
        """Whether there is such a frame; with a problem if not."""
        if name in self.by_name:
            return True
        reading.wrong(node, f"there is no frame {name!r}{closest(name, self._named())}", key)
        return False

    def pose(self, name: str) -> np.ndarray:
        """In the frame of the whole model (4, 4)."""
        way: list[str] = []
        here: str | None = name
        while here is not None and here not in self._poses:
            way.append(here)
            here = self.by_name[here].relative_to
        found = np.eye(4) if here is None else self._poses[here]
        for one in reversed(way):
            found = found @ self._own(one)
            self._poses[one] = found
        return found

    def between(self, base: str, name: str) -> np.ndarray:
        """Pose of `name` in the frame `base`."""
        return inverse(self.pose(base)) @ self.pose(name)

    def link(self, name: str) -> str:
        """The link that a frame moves with; '' where it moves with none."""
        here = name
        while (attached := self.by_name[here].attached_to) is not None:
            here = attached
        return here if self.by_name[here].node.tag == "link" else ""

    def _own(self, name: str) -> np.ndarray:
        frame = self.by_name[name]
        if frame.placement is None:
            return frame.pose
        # The pose is that of a frame inside: go from there back to the model's own.
        inside = np.eye(4)
        here: str | None = frame.placement
        while here is not None and here != name:
            inside = self._own(here) @ inside
            here = self.by_name[here].relative_to
        return frame.pose @ inverse(inside)


def read_pose(reading: XmlReading, node: XmlNode | None) -> np.ndarray:
    """The matrix of a <pose>, in any of SDF's notations; identity where there is none."""
    if node is None or not node.text:
        if node is not None and (node.get("rotation_format") or "euler_rpy") not in ("euler_rpy", "quat_xyzw"):
            reading.wrong(node, "rotation_format is euler_rpy or quat_xyzw", "pose")
        return np.eye(4)
    form = node.get("rotation_format") or "euler_rpy"
    if form == "quat_xyzw":
        x, y, z, qx, qy, qz, qw = reading.text_numbers(node, 7)
        length = float(np.linalg.norm([qx, qy, qz, qw]))
        if length < 1e-9:
            reading.wrong(node, "needs a quaternion x y z w that is not 0", "pose")
            return shifted(np.array([x, y, z]))
        return posed(rotation_from_quaternion(qw, qx, qy, qz), np.array([x, y, z]))
    if form != "euler_rpy":
        reading.wrong(node, f"rotation_format is euler_rpy or quat_xyzw, not {form!r}", "pose")
        return np.eye(4)
    x, y, z, roll, pitch, yaw = reading.text_numbers(node, 6)
    if truth(node.get("degrees")):
        roll, pitch, yaw = np.radians([roll, pitch, yaw])
    return posed(rotation_from_rpy(roll, pitch, yaw), np.array([x, y, z]))


def truth(text: str | None) -> bool:
    return (text or "").strip().lower() in ("true", "1")
