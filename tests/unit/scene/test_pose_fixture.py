"""web/tests/poses.json, against which the page's rules of motion are tested, is what the simulator computes."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import numpy as np

TOOL = Path(__file__).resolve().parents[3] / "tools" / "make_pose_fixture.py"


def test_fixture_of_poses_is_current() -> None:
    spec = importlib.util.spec_from_file_location("make_pose_fixture", TOOL)
    assert spec is not None and spec.loader is not None
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    fresh, held = json.loads(tool.fixture_text()), json.loads(tool.FIXTURE.read_text(encoding="utf-8"))
    remedy = "run tools/make_pose_fixture.py"
    assert len(fresh) == len(held), remedy
    for a, b in zip(fresh, held, strict=True):
        assert a["nodes"] == b["nodes"] and a["tree"] == b["tree"] and a["values"] == b["values"], remedy
        assert a["poses"].keys() == b["poses"].keys(), remedy
        for name, pose in a["poses"].items():
            np.testing.assert_allclose(pose, b["poses"][name], rtol=0, atol=1e-9, err_msg=remedy)
