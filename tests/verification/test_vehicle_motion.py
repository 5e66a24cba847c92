"""`botz verify vehicle`: energy, motion and contact, in the fast form."""

from __future__ import annotations

import pytest

from botz.verify import checks, vehicle_contact, vehicle_energy, vehicle_motion

FUNCTIONS = (*vehicle_energy.FUNCTIONS, *vehicle_motion.FUNCTIONS, *vehicle_contact.FUNCTIONS)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_checks_pass(function):
    found = checks.make(function, checks.FAST)
    assert found
    names = [check.name for check in found]
    assert len(names) == len(set(names))
    for check in found:
        assert check.passed, (
            f"{check.name}: {check.measured}, expected {check.expected} ± {check.tolerance}\n{check.why}"
        )
        assert check.why, check.name


def test_functions_have_different_names():
    assert len({function.__name__ for function in FUNCTIONS}) == len(FUNCTIONS)
