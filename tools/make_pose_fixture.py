"""Writes web/tests/poses.json: scenes, values of channels and the poses of all nodes that `node_poses` finds for them,
which the page's own rules (web/src/motions.ts) are held against.

    python tools/make_pose_fixture.py [--check]
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

from botz.scene.world_scene import Follows, Motion, Node, Place, Scene, Slides, Turns, node_poses

FIXTURE = Path(__file__).resolve().parents[1] / "web" / "tests" / "poses.json"


def main() -> int:
    parser = argparse.ArgumentParser(description="Writes web/tests/poses.json.")
    parser.add_argument("--check", action="store_true", help="only tell whether the file is what would be written")
    options = parser.parse_args()
    text = fixture_text()
    if options.check:
        return 0 if FIXTURE.read_text(encoding="utf-8") == text else 1
    FIXTURE.write_text(text, encoding="utf-8")
    return 0


def fixture_text() -> str:
    rng = np.random.default_rng(7)
    return json.dumps([case(rng, k) for k in range(6)], indent=1) + "\n"


def case(rng: np.random.Generator, number: int) -> dict[str, Any]:
    """A tree of nodes of all kinds. The third case lacks a channel, the fourth hides a node with what hangs on it."""
    scene = Scene(nodes=tree(rng))
    values: dict[str, list[float]] = {
        "robot/pose": [*rng.normal(size=3), *unit(rng, 4)] if number % 2 == 0 else rounded(rng.normal(size=3)),
        "robot/joints": rounded(20.0 * rng.normal(size=3)),
        "robot/lift": rounded(rng.normal(size=1)),
        "robot/playing": [0.0 if number == 3 else 1.0],
    }
    values = {name: rounded(np.array(value)) for name, value in values.items()}
    if number == 2:
        del values["robot/lift"]
    poses = node_poses(scene, {name: np.array(value) for name, value in values.items()})
    return {
        "nodes": scene.description()["nodes"],
        "tree": [{"name": node.name, "parent": node.parent, "place": list(node.place)} for node in scene.nodes],
        "values": values,
        "poses": {name: rounded(pose) for name, pose in poses.items()},
    }


def tree(rng: np.random.Generator) -> list[Node]:
    def axis() -> tuple[float, float, float]:
        x, y, z = unit(rng, 3)
        return (x, y, z)

    def node(name: str, parent: str | None, motion: Motion | None = None, shown_by: str | None = None) -> Node:
        return Node(name, parent, place(rng), motion=motion, shown_by=shown_by)

    return [
        node("ground", None),
        node("robot", None, Follows("robot/pose")),
        node("robot/mast", "robot"),
        node("robot/shoulder", "robot/mast", Turns("robot/joints", axis(), 1, -1.5, 0.3)),
        node("robot/elbow", "robot/shoulder", Turns("robot/joints", axis(), 2)),
        node("robot/lift", "robot/elbow", Slides("robot/lift", axis(), 0, 2.0, -0.1)),
        node("robot/flag", "robot/mast", None, "robot/playing"),
        node("robot/flag/wheel", "robot/flag", Turns("robot/joints", axis())),
    ]


def place(rng: np.random.Generator) -> Place:
    x, y, z = rounded(rng.normal(size=3))
    qw, qx, qy, qz = unit(rng, 4)
    return (x, y, z, qw, qx, qy, qz)


def unit(rng: np.random.Generator, n: int) -> list[float]:
    vector = rng.normal(size=n)
    return [float(value) for value in vector / np.linalg.norm(vector)]


def rounded(values: np.ndarray) -> list[float]:
    """To what prints the same on every machine; the page is compared far more coarsely."""
    return [float(f"{value:.12g}") for value in values]


if __name__ == "__main__":
    sys.exit(main())
