"""Robots with every type of wheel."""

from __future__ import annotations

from typing import Any

import numpy as np

from botz.robots.wheeled_robot import WheeledRobotModel
from botz.scenario.kinematics.schema import WheeledRobot


def wheel(kind: str, x: float, y: float, **more: Any) -> dict[str, Any]:
    return {"type": kind, "position": [x, y], **more}


ROBOTS: dict[str, dict[str, Any]] = {
    "differential": {
        "wheels": {
            "right": wheel("fixed", 0.0, -0.2, radius=0.1, driven=True),
            "left": wheel("fixed", 0.0, 0.2, radius=0.1, driven=True),
        }
    },
    "castor": {
        "wheels": {
            "right": wheel("fixed", 0.0, -0.2, driven=True),
            "left": wheel("fixed", 0.0, 0.2, driven=True),
            "rear": wheel("castor", -0.3, 0.0, offset=-0.04),
        }
    },
    "bicycle": {
        "wheels": {
            "rear": wheel("fixed", 0.0, 0.0, radius=0.3, driven=True),
            "front": wheel("steered", 1.0, 0.0, radius=0.3),
        }
    },
    "three-omni": {
        "wheels": {
            f"w{k}": wheel("swedish", 0.2 * np.cos(a), 0.2 * np.sin(a), heading=a + np.pi / 2, driven=True)
            for k, a in enumerate(np.radians([60.0, 180.0, 300.0]))
        }
    },
    "mecanum": {
        "wheels": {
            f"w{k}": wheel("swedish", 0.2 * sx, 0.15 * sy, roller_angle=-sx * sy * np.pi / 4, driven=True)
            for k, (sx, sy) in enumerate([(1, 1), (1, -1), (-1, 1), (-1, -1)])
        }
    },
    "ball": {"wheels": {"ball": wheel("spherical", 0.0, 0.0, radius=0.1, driven=True)}},
    "synchro": {
        "wheels": {
            f"w{k}": wheel("steered", x, y, driven=True)
            for k, (x, y) in enumerate([(0.2, 0), (-0.1, 0.2), (-0.1, -0.2)])
        },
        "drives": {"drive": {"wheels": ["w0", "w1", "w2"]}},
        "steering": {"turn": {"wheels": ["w0", "w1", "w2"]}},
    },
    "driven-castors": {
        "wheels": {
            f"c{k}": wheel("castor", x, y, offset=-0.03, driven=True)
            for k, (x, y) in enumerate([(0.2, 0.2), (-0.2, -0.2)])
        }
    },
    "skid-steer": {
        "wheels": {
            f"{side}{end}": wheel("fixed", x, y, driven=True)
            for side, y in (("left", 0.2), ("right", -0.2))
            for end, x in (("_front", 0.2), ("_rear", -0.2))
        },
        "drives": {side: {"wheels": [f"{side}_front", f"{side}_rear"]} for side in ("left", "right")},
    },
    "supported": {
        "wheels": {
            "right": wheel("fixed", 0.0, -0.2, driven=True),
            "left": wheel("fixed", 0.0, 0.2, driven=True),
            "skid": wheel("support", 0.2, 0.0),
            "ball": wheel("spherical", -0.2, 0.0),
        },
        "body": {"outline": [[0.3, 0.0], [-0.3, 0.25], [-0.3, -0.25]]},
    },
}  # fmt: skip


def model_of(name: str) -> WheeledRobotModel:
    return WheeledRobotModel(WheeledRobot.model_validate(ROBOTS[name]))
