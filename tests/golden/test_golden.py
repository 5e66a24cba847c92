"""Short trajectories of shipped scenarios stay what they were; `regenerate_golden.py` changes them on purpose."""

from __future__ import annotations

import json

import numpy as np
import pytest
from regenerate_golden import SAMPLES, SCENARIOS, golden_file, trajectory


@pytest.mark.parametrize("name", SCENARIOS)
def test_trajectory_is_the_golden_one(name):
    golden = json.loads(golden_file(name).read_text(encoding="utf-8"))
    made = trajectory(name)
    assert (made["scenario"], made["step_ns"], made["steps"]) == (
        golden["scenario"],
        golden["step_ns"],
        golden["steps"],
    )
    assert list(made["channels"]) == list(golden["channels"])
    # Not bit for bit: another machine's sin and cos may differ in the last bit, in every step and the same way.
    tolerance = 4 * SAMPLES * golden["steps"] * np.finfo(float).eps
    for channel, series in golden["channels"].items():
        wanted, got = np.array(series), np.array(made["channels"][channel])
        worst = np.abs(got - wanted) / (1.0 + np.abs(wanted))
        assert worst.max() <= tolerance, f"{channel}: off by {worst.max():.2e}, {tolerance:.2e} allowed"


@pytest.mark.parametrize("name", SCENARIOS)
def test_golden_trajectories_move(name):
    """A file of zeros would agree with a simulator that does nothing."""
    golden = json.loads(golden_file(name).read_text(encoding="utf-8"))
    poses = [
        np.array(series)
        for channel, series in golden["channels"].items()
        if channel.endswith("/tool/pose") or (channel.count("/") == 1 and channel.endswith("/pose"))
    ]
    assert poses
    for pose in poses:
        assert np.hypot(*(pose[-1] - pose[0])[:2]) > 0.05
