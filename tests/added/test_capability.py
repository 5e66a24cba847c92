"""A capability that comes in one file of another package: `botz verify` and `botz bench` have it."""

from __future__ import annotations

import json

import pytest
from packages import Package, documented, install

from botz.scenario.families import FAMILIES, capabilities


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Package:
    points = documented("botz.capabilities", odd="botz_extras.coin:run")
    return install(tmp_path_factory.mktemp("package"), "coin.py", points)


def test_it_is_verified(package: Package):
    done = package.botz("verify", "coin", "--json")
    assert done.code == 0, done.err
    assert "'odd' of botz.capabilities is left out: botz_extras.coin:run is no Capability" in done.err
    report = json.loads(done.out)
    assert (report["family"], [check["passed"] for check in report["checks"]]) == ("coin", [True])


def test_it_is_measured(package: Package):
    done = package.botz("bench", "coin", "--json")
    assert done.code == 0, done.err
    assert [row["metric"] for row in json.loads(done.out)["results"]] == ["throws"]


def test_it_is_among_the_names_to_choose_from(package: Package):
    for command in ("verify", "bench"):
        done = package.botz(command, "coins")
        assert done.code == 2
        assert "did you mean 'coin'?" in done.err


def test_families_come_first_and_the_lab_is_one_that_is_no_family():
    assert list(capabilities())[: len(FAMILIES)] == list(FAMILIES)
    assert "lab" in capabilities()
