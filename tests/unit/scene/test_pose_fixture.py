"""web/tests/poses.json, against which the page's rules of motion are tested, is what the simulator computes."""

from __future__ import annotations

import importlib.util
import json
import math
from pathlib import Path
from typing import Any

import numpy as np

TOOL = Path(__file__).resolve().parents[3] / "tools" / "make_pose_fixture.py"


def alike(one: Any, other: Any) -> bool:
    """Whether two documents say the same; numbers may differ in their last digits, which depend on the processor."""
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=1e-12, abs_tol=1e-15)
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(alike(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(alike, one, other))
    return bool(one == other)


def test_fixture_of_poses_is_current() -> None:
    spec = importlib.util.spec_from_file_location("make_pose_fixture", TOOL)
    assert spec is not None and spec.loader is not None
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    fresh, held = json.loads(tool.fixture_text()), json.loads(tool.FIXTURE.read_text(encoding="utf-8"))
    remedy = "run tools/make_pose_fixture.py"
    assert len(fresh) == len(held), remedy
    for a, b in zip(fresh, held, strict=True):
        assert all(alike(a[part], b[part]) for part in ("nodes", "tree", "values")), remedy
        assert a["poses"].keys() == b["poses"].keys(), remedy
        for name, pose in a["poses"].items():
            np.testing.assert_allclose(pose, b["poses"][name], rtol=0, atol=1e-9, err_msg=remedy)
