"""SDF texts for the tests of the reader: models of which a test says only what it is about."""

from __future__ import annotations

from pathlib import Path

from botz.models.robot_model import RobotModel
from botz.models.sdf.reader import read_sdf

MASS = "<inertial><mass>1</mass><inertia><ixx>1</ixx><iyy>1</iyy><izz>1</izz></inertia></inertial>"
AXIS = "<axis><xyz>0 0 1</xyz></axis>"


def read_inside(folder: Path, inside: str, version: str = "1.9") -> RobotModel:
    """The model with this inside, from a file robot.sdf; `<M/>` stands for a mass."""
    path = folder / "robot.sdf"
    text = f'<sdf version="{version}">\n<model name="robot">\n{inside}\n</model>\n</sdf>'
    path.write_text(text.replace("<M/>", MASS))
    return read_sdf(path)


def two_links(joint: str, child: str = "", kind: str = "revolute") -> str:
    """A base and an arm, with what the joint and the arm say."""
    return (
        f'<link name="base"><M/></link>\n<link name="arm">{child}<M/></link>\n'
        f'<joint name="elbow" type="{kind}"><parent>base</parent><child>arm</child>{joint}</joint>'
    )
