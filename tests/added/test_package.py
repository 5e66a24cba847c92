"""The example package, built and installed by pip: all that it adds is there, and its scenario runs."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from common import PATIENCE
from packages import EXTRAS, Package

from botz.record.reader import read


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Package:
    site = tmp_path_factory.mktemp("site")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-index"]
    options = ["--no-deps", "--no-build-isolation", "--target", str(site), str(EXTRAS)]
    done = subprocess.run(pip + options, capture_output=True, encoding="utf-8", timeout=PATIENCE, check=False)
    assert done.returncode == 0, done.stderr
    return Package(site)


def test_its_scenario_runs_with_its_element_and_its_sensor(package: Package, tmp_path: Path):
    done = package.botz("run", str(EXTRAS / "swing.yaml"), "--out", "swing", cwd=tmp_path)
    assert done.code == 0, done.err
    run = read(tmp_path / "swing")
    assert run["ball/rope/pull"].max() > 2.0 * 9.81 and "ball/needle/heading" in run
    assert package.botz("replay", "swing", cwd=tmp_path).code == 0


def test_what_it_adds_is_in_the_lists(package: Package):
    schema = json.loads(package.botz("schema").out)["$defs"]
    assert {"Tether", "Compass", "HomingController", "BeaconEndpoint"} <= set(schema)
    assert json.loads(package.botz("verify", "coin", "--json").out)["family"] == "coin"
    layers = package.python(
        "-c", "from botz.scene.lab_layers import all_layers; print(*(one.name for one in all_layers()))"
    )
    assert "tether" in layers.out.split(), layers
