"""The frame around the checks of `botz verify`: what passes, what is shown, and what happens when one breaks down."""

from __future__ import annotations

import json

import pytest

from botz.errors import InputError
from botz.verify import checks, suites

KEYS = ["name", "expected", "measured", "tolerance", "passed", "skipped"]


def test_close_passes_within_the_tolerance_only():
    assert checks.close("a", 1.0, 1.5, 0.5, "").passed is True
    assert checks.close("a", 1.0, 1.6, 0.5, "").passed is False
    assert checks.close("a", 1.0, float("nan"), 0.5, "").passed is False


def test_worst_shows_the_largest_error_and_needs_one():
    assert checks.worst("a", [0.1, -0.3], 0.2, "").measured == 0.3
    assert checks.worst("a", [0.1, float("nan"), 0.0], 0.2, "").passed is False
    assert checks.worst("a", [], 0.2, "").passed is False


def test_an_exception_becomes_a_failed_check():
    def breaks_down(samples: int):
        yield checks.close("first", 0, 0, 0, "")
        raise ZeroDivisionError("no ground")

    first, second = checks.make(breaks_down, 1)
    assert first.passed is True
    assert second.passed is False
    assert "no ground" in str(second.measured)
    assert second.name.startswith("breaks down")


def test_json_has_exactly_the_agreed_keys_and_is_json():
    listed = [checks.close("a", 1.0, float("nan"), 0.5, "why"), checks.skip("b", "pinocchio is not installed")]
    made = checks.to_json("kinematics", listed)
    assert list(made) == ["family", "checks"]
    assert [list(check) for check in made["checks"]] == [KEYS, KEYS]
    again = json.loads(json.dumps(made, allow_nan=False))
    assert again["checks"][0]["passed"] is False
    assert again["checks"][1]["passed"] is None
    assert again["checks"][1]["skipped"] == "pinocchio is not installed"


def test_an_unknown_family_is_a_users_mistake():
    with pytest.raises(InputError, match="did you mean 'kinematics'"):
        suites.run("kinematic")
