"""Force elements called as the loop calls them: by address, with a record of parameters and a frame."""

from __future__ import annotations

from ctypes import CFUNCTYPE, c_void_p

import numpy as np
from pydantic import TypeAdapter

from botz.engines.multibody.elements.base import FRAME, BuiltElement, compiled_call
from botz.engines.multibody.elements.kinds import built
from botz.models.robot_model import ModelJoint
from botz.scenario.multibody.schema import AnyElement
from botz.transforms import rotation_from_rpy

LINKS = ("body", "arm", "rotor")
JOINTS = {
    "tilt": ModelJoint("tilt", "revolute", "body", "arm", axis=(0.0, 1.0, 0.0)),
    "spin": ModelJoint("spin", "continuous", "arm", "rotor"),
    "slide": ModelJoint("slide", "prismatic", "body", "arm"),
    "glue": ModelJoint("glue", "fixed", "body", "arm"),
}
ANY: TypeAdapter = TypeAdapter(AnyElement)


def element(**spec) -> BuiltElement:
    """The element 'mine' of robot 'bot'."""
    return built("mine", ANY.validate_python(spec), "bot", LINKS, JOINTS)


class Called:
    """An element with a frame of its own; `frame` keeps its states from call to call."""

    def __init__(self, one: BuiltElement):
        self.element = one
        self.call = compiled_call(one.kind, one.parameters.dtype)
        self.function = CFUNCTYPE(None, c_void_p, c_void_p)(self.call.address)
        self.frames = np.zeros(1, FRAME)
        self.frame = self.frames[0]
        self.frame["rotation"], self.frame["air_density"] = np.eye(3), 1.225
        self.frame["joint_axis"], self.frame["ground"] = (0.0, 0.0, 1.0), -np.inf

    def __call__(self, **given):
        """Call it, with fields of the frame as given; what it writes was set to 0 before, as by the loop."""
        for name in ("force", "torque", "joint_effort", "reports"):
            self.frame[name] = 0.0
        for name, value in given.items():
            self.frame[name] = value
        self.function(self.element.parameters.ctypes.data, self.frames.ctypes.data)
        return self.frame

    def report(self, name: str) -> float:
        names = [one.name for one in self.element.kind.reports]
        return float(self.frame["reports"][names.index(name)])


def somewhere(seed: int) -> dict:
    """A link turned, moving and turning in wind; its joint's axis and anchor are elsewhere."""
    rng = np.random.default_rng(seed)
    axis = rng.normal(size=3)
    return {
        "position": rng.normal(size=3),
        "rotation": rotation_from_rpy(*rng.uniform(-3, 3, 3)),
        "velocity": rng.normal(0, 5, 3),
        "angular": rng.normal(0, 2, 3),
        "joint_axis": axis / np.linalg.norm(axis),
        "joint_anchor": rng.normal(size=3),
        "wind": rng.normal(0, 3, 3),
    }
