"""`botz verify kinematics`: every check passes, and fails when the package is broken where it looks."""

from __future__ import annotations

import json

import mutated_kinematics as mutated
import pytest
from mutations import noticed_by_process

from botz.errors import InputError
from botz.verify import checks
from botz.verify.kinematics import FUNCTIONS

KEYS = ["name", "expected", "measured", "tolerance", "passed", "skipped"]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_checks_pass(function):
    found = checks.make(function, checks.FAST)
    assert found
    for check in found:
        assert check.passed, (
            f"{check.name}: {check.measured}, expected {check.expected} ± {check.tolerance}\n{check.why}"
        )
        assert check.why, check.name


def test_names_are_unique():
    names = [check.name for function in FUNCTIONS for check in checks.make(function, 2)]
    assert len(names) == len(set(names))


@pytest.fixture(scope="module")
def noticed() -> dict[str, list[str]]:
    return noticed_by_process(mutated.__file__)


@pytest.mark.parametrize("mutation", mutated.MUTATIONS, ids=lambda mutation: mutation.name)
def test_a_broken_line_is_noticed(noticed, mutation):
    assert noticed[mutation.name] == list(mutation.noticed_by)


def test_the_unbroken_package_passes_uncompiled(noticed):
    assert noticed["nothing"] == []


def test_every_check_can_fail():
    named = {name for mutation in mutated.MUTATIONS for name in mutation.noticed_by}
    assert named == {function.__name__ for function in FUNCTIONS}


# --- the frame around the checks ------------------------------------------------------------------------------


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
        checks.run("kinematic")
