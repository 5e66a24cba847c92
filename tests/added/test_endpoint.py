"""A network endpoint that comes in one file of another package: checked, opened, asked during a run, counted."""

from __future__ import annotations

import json
import re
import signal
import socket
import sys
from collections.abc import Iterator

import pytest
from common import PATIENCE, BotzProcess
from packages import Package, documented, install

SCENARIO = """
engine: kinematics
time: {step: 0.005, duration: 100000}
robots: {rover: {extends: differential, pose: [0.25, 0.5, 0]}}
links: {poses: null, beacon: {listen: "127.0.0.1:0", digits: 2}}
"""
ADDRESS = re.compile(r"^  beacon +127\.0\.0\.1:(\d+)$", re.MULTILINE)


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Package:
    points = documented("botz.endpoints", poses="botz_extras.beacon:BeaconEndpoint", odd="botz_extras.beacon:Beacon")
    made = install(tmp_path_factory.mktemp("package"), "beacon.py", points)
    (made.folder / "shown.yaml").write_text(SCENARIO, encoding="utf-8")
    return made


@pytest.fixture
def served(package: Package) -> Iterator[BotzProcess]:
    arguments = ["run", "shown.yaml", "--serve", "--out", "run"]
    process = BotzProcess(arguments, package.folder, package.environment)
    yield process
    process.end()


def test_it_answers_during_a_run_and_says_what_it_counted(package: Package, served: BotzProcess):
    port = int(served.wait_for(lambda: ADDRESS.search(served.err), "the address")[1])
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
        asking.settimeout(PATIENCE)
        asking.sendto(b"rover", ("127.0.0.1", port))
        answer = json.loads(asking.recv(1024))
    assert answer["pose"] == [0.25, 0.5, 0.0]
    assert answer["t"] >= 0.0
    if sys.platform != "win32":
        served.signal(signal.SIGINT)
        served.finish()
        counted = json.loads((package.folder / "run" / "links.json").read_text(encoding="utf-8"))
        assert counted == {"beacon": {"answered": 1}}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("links.beacon.digits=-1", "links.beacon.digits: must be at least 0, not -1"),
        ("links.beacon.listen=nowhere", "links.beacon.listen: needs an IPv4 address and a port"),
        ("links.beaconn.digits=1", "links.beaconn: unknown key; did you mean 'beacon'?"),
    ],
)
def test_its_keys_are_checked(package: Package, change: str, message: str):
    done = package.botz("check", "shown.yaml", "--set", change)
    assert done.code == 2
    assert message in done.err


def test_it_is_in_the_json_schema_of_the_families_that_it_fits_and_takes_no_name_of_botz(package: Package):
    done = package.botz("schema")
    assert "'odd' of botz.endpoints is left out: botz_extras.beacon:Beacon is no Endpoint" in done.err
    definitions = json.loads(done.out)["$defs"]
    entry = definitions["KinematicsLinks"]["properties"]["beacon"]
    assert entry["description"] == "Where a robot is, told to whoever asks."
    assert definitions["BeaconEndpoint"]["properties"]["digits"]["description"] == "Digits after the point."
    assert "beacon" not in definitions["SoccerLinks"]["properties"]
    assert "PoseLink" in json.dumps(definitions["KinematicsLinks"]["properties"]["poses"])
