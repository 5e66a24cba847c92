"""Vision as multicast. It runs only inside a network namespace made for it: no packet leaves the test."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

CASE = Path(__file__).with_name("multicast_case.py")


@pytest.fixture(scope="module")
def seen() -> dict[str, Any]:
    """What the clients saw."""
    for needed in ("unshare", "ip"):
        if shutil.which(needed) is None:
            pytest.skip(f"a network namespace needs {needed!r}, which is not installed")
    allowed = subprocess.run(["unshare", "--map-root-user", "--net", "true"], capture_output=True, text=True)
    if allowed.returncode:
        pytest.skip(f"no network namespace may be made here: {allowed.stderr.strip()}")
    command = ["unshare", "--map-root-user", "--net", sys.executable, str(CASE)]
    answer = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert answer.returncode == 0, answer.stderr
    return json.loads(answer.stdout)


@pytest.fixture
def two_interfaces(seen: dict[str, Any]) -> dict[str, Any]:
    if seen["missing"]:
        pytest.skip(f"no second interface could be made: {seen['missing']}")
    return seen


@pytest.mark.parametrize(
    "client",
    [
        "bound to the group",
        "bound to the group and joined",
        "bound to the port",
        "bound to the port and joined",
        "joined on loopback",
    ],
)
def test_the_leagues_group_reaches_every_kind_of_client_on_this_machine(seen, client):
    assert seen[client] == 11
    assert seen[f"{client}: once more"] is None, "a copy meant for another"


def test_a_client_bound_to_the_loopback_address_gets_a_copy(seen):
    assert seen["bound to 127.0.0.1"] == ["11", "None"]


def test_a_referee_is_heard_on_this_machine_whatever_interface_it_takes(seen):
    assert (seen["calls by loopback"], seen["calls by default interface"]) == (1, 1)
    assert seen["calls ignored"] == 0
    assert seen["the team hears the referee"] == 7


def test_it_is_not_to_leave_the_machine_by_default(seen):
    assert seen["ttl on loopback"] == 0


def test_another_group_works_as_well(seen):
    assert seen["another group on loopback"] == 12


def test_nothing_goes_out_of_another_interface_by_default(two_interfaces):
    assert two_interfaces["packets out of the other interface"] == 0


def test_another_interface_by_choice(two_interfaces):
    assert two_interfaces["ttl on the other interface"] == 1
    assert two_interfaces["joined on the other interface"] == 13
    assert two_interfaces["packets out of it when chosen"] == 1
    assert two_interfaces["bound to loopback"] is None
