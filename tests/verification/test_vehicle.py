"""`botz verify vehicle`: every check passes, and fails when the package is broken where it looks."""

from __future__ import annotations

import mutated_vehicle as mutated
import pytest
from mutations import noticed_by_process

from botz.verify import checks
from botz.verify.vehicle import FUNCTIONS, vehicle_checks


@pytest.fixture(scope="module")
def found() -> dict[str, list[checks.Check]]:
    return {function.__name__: checks.make(function, checks.FAST) for function in FUNCTIONS}


@pytest.mark.parametrize("name", [function.__name__ for function in FUNCTIONS])
def test_checks_pass(found, name):
    assert found[name]
    for check in found[name]:
        assert check.passed, (
            f"{check.name}: {check.measured}, expected {check.expected} ± {check.tolerance}\n{check.why}"
        )
        assert check.why, check.name


def test_names_are_unique(found):
    names = [check.name for made in found.values() for check in made]
    assert len(names) == len(set(names))
    assert len(found) == len(FUNCTIONS)


def test_the_family_is_all_of_its_functions(monkeypatch):
    def one(samples: int) -> checks.Check:
        """One."""
        return checks.close("one", samples, samples, 0, "")

    monkeypatch.setattr("botz.verify.vehicle.FUNCTIONS", (one, one))
    assert [check.expected for check in vehicle_checks(7)] == [7, 7]
    assert [check.expected for check in checks.run("vehicle")] == [checks.FAST] * 2
    assert [check.expected for check in checks.run("vehicle", full=True)] == [checks.FULL] * 2


@pytest.fixture(scope="module")
def noticed() -> dict[str, list[str]]:
    return noticed_by_process(mutated.__file__)


@pytest.mark.parametrize("mutation", mutated.MUTATIONS, ids=lambda mutation: mutation.name)
def test_a_broken_line_is_noticed(noticed, mutation):
    assert noticed[mutation.name] == list(mutation.noticed_by)


def test_the_unbroken_package_passes_uncompiled(noticed):
    assert noticed["nothing"] == []
