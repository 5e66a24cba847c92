"""The package as `pip install` gives it, on every supported Python that is here, and the wheels for the others."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement

REPOSITORY = Path(__file__).resolve().parents[2]
CONSTRAINTS = REPOSITORY / "constraints.txt"
SUPPORTED = ("3.11", "3.12", "3.13", "3.14")
THIS = f"{sys.version_info.major}.{sys.version_info.minor}"
LINUX_WHEELS = ("manylinux_2_28_x86_64", "manylinux_2_27_x86_64", "manylinux_2_17_x86_64", "manylinux2014_x86_64")
PATIENCE = 600.0


def run(*command: str | Path, **environ: str) -> subprocess.CompletedProcess[str]:
    dropped = ("PYTHONPATH", "PYTHONHOME", "NUMBA_CACHE_DIR", "NUMBA_DISABLE_JIT")
    kept = {name: value for name, value in os.environ.items() if name not in dropped}
    return subprocess.run(
        command,
        env=kept | environ,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
        cwd=tempfile.gettempdir(),
    )


def version_of(python: Path) -> str | None:
    """'3.12' for a Python that can make environments, None for anything else."""
    code = "import ensurepip, venv, sys; print('%d.%d' % sys.version_info[:2])"
    try:
        done = run(python, "-I", "-c", code)
    except OSError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None


@functools.cache
def other_pythons() -> dict[str, Path]:
    """One Python of each supported version but this one: from PATH, or from where pyenv and uv keep theirs."""
    found: dict[str, Path] = {}
    candidates = [Path(path) for version in SUPPORTED if (path := shutil.which(f"python{version}"))]
    homes = [
        Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions",
        Path(os.environ.get("XDG_DATA_HOME", Path.home() / ".local" / "share")) / "uv" / "python",
    ]
    for home in homes:
        candidates += sorted(home.glob("*/bin/python3"))
    for candidate in candidates:
        version = version_of(candidate)
        if version in SUPPORTED and version != THIS:
            found.setdefault(version, candidate)
    return found


@functools.cache
def registry_problem() -> str:
    """Why pip cannot get packages here; empty when it can."""
    pin = next(line for line in CONSTRAINTS.read_text().splitlines() if line.startswith("iniconfig=="))
    with tempfile.TemporaryDirectory() as folder:
        options = ("--no-deps", "--no-cache-dir", "--retries=1", "-d", folder)
        done = run(sys.executable, "-m", "pip", "download", *options, pin)
    return "" if done.returncode == 0 else f"pip cannot reach a package registry: {done.stderr.strip()[-200:]}"


def need_registry() -> None:
    if problem := registry_problem():
        pytest.skip(problem)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    need_registry()
    folder = tmp_path_factory.mktemp("wheel")
    done = run(sys.executable, "-m", "pip", "wheel", "--no-deps", "-w", folder, REPOSITORY)
    assert done.returncode == 0, done.stdout + done.stderr
    (built,) = folder.glob("botz-*.whl")
    return built


def pins_for(version: str) -> list[str]:
    """The pins of constraints.txt that hold for a Python on Linux."""
    environment = {
        "python_version": version,
        "python_full_version": f"{version}.0",
        "sys_platform": "linux",
        "implementation_name": "cpython",
        "platform_python_implementation": "CPython",
    }
    lines = [line.split("#")[0].strip() for line in CONSTRAINTS.read_text().splitlines()]
    requirements = [Requirement(line) for line in lines if line]
    return [
        f"{requirement.name}{requirement.specifier}"
        for requirement in requirements
        if requirement.marker is None or requirement.marker.evaluate(environment)
    ]


@pytest.mark.slow
def test_the_wheel_holds_every_file_of_the_package(wheel: Path):
    source = REPOSITORY / "src"
    files = {path for path in (source / "botz").rglob("*") if path.is_file() and "__pycache__" not in path.parts}
    expected = {path.relative_to(source).as_posix() for path in files}
    names = set(zipfile.ZipFile(wheel).namelist())
    assert "botz/py.typed" in names
    assert any(name.endswith(".yaml") for name in names)
    assert expected <= names
    assert not any(name.startswith(("tests/", "tools/")) for name in names)


@pytest.mark.slow
@pytest.mark.parametrize("version", [version for version in SUPPORTED if version != THIS])
def test_pip_install_and_a_run_on_another_python(version: str, wheel: Path, tmp_path: Path):
    if version not in other_pythons():
        pytest.skip(f"no Python {version} with venv on this machine")
    made = run(other_pythons()[version], "-m", "venv", tmp_path / "venv")
    assert made.returncode == 0, made.stdout + made.stderr
    scripts = tmp_path / "venv" / ("Scripts" if os.name == "nt" else "bin")
    installed = run(scripts / "python", "-m", "pip", "install", "--no-compile", "-c", CONSTRAINTS, wheel)
    assert installed.returncode == 0, installed.stdout + installed.stderr
    consistent = run(scripts / "python", "-m", "pip", "check")
    assert consistent.returncode == 0, consistent.stdout

    packages = next((tmp_path / "venv").glob("**/site-packages"))
    before = sorted(packages.rglob("*"))
    elsewhere = {"BOTZ_CACHE_DIR": str(tmp_path / "kernels"), "PYTHONPYCACHEPREFIX": str(tmp_path / "bytecode")}
    results = tmp_path / "results"
    done = run(scripts / "botz", "run", "differential-circle", "--duration", "1", "--out", results, **elsewhere)
    assert done.returncode == 0, done.stdout + done.stderr
    assert list(results.rglob("*.mcap")), done.stdout
    film = tmp_path / "film.mp4"
    done = run(scripts / "botz", "video", results, "--size", "160x120", "--fps", "5", "-o", film, **elsewhere)
    assert film.is_file() if done.returncode == 0 else "libEGL" in done.stderr or "libOSMesa" in done.stderr, (
        done.stderr
    )
    # Installed into a place that is read-only the package has to write elsewhere, so it never writes here.
    assert sorted(packages.rglob("*")) == before


@pytest.mark.slow
@pytest.mark.parametrize("version", SUPPORTED)
def test_every_pin_has_a_wheel_for_a_python_that_is_not_here(version: str, tmp_path: Path):
    if version == THIS or version in other_pythons():
        pytest.skip(f"Python {version} is on this machine and tested by installing")
    need_registry()
    command = [sys.executable, "-m", "pip", "install", "--dry-run", "--no-deps", "--only-binary=:all:"]
    # pip compares a package's requires-python with the running Python, whatever --python-version says.
    command += ["--ignore-requires-python", "--implementation=cp", f"--python-version={version}"]
    command += [f"--platform={tag}" for tag in LINUX_WHEELS]
    done = run(*command, "--target", tmp_path, *pins_for(version))
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    assert "Would install" in done.stdout


def test_constraints_pin_every_direct_dependency_and_name_no_registry():
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())
    groups = [project["build-system"]["requires"], project["project"]["dependencies"]]
    groups += project["project"]["optional-dependencies"].values()
    direct = [Requirement(line) for group in groups for line in group]
    for version in SUPPORTED:
        here = {"python_version": version, "sys_platform": "linux"}
        meant = [one for one in direct if one.marker is None or one.marker.evaluate(here)]
        wanted = {one.name.lower().replace("_", "-") for one in meant} - {"botz"}
        pins = [Requirement(line) for line in pins_for(version)]
        names = [pin.name.lower().replace("_", "-") for pin in pins]
        assert wanted <= set(names)
        assert len(names) == len(set(names)), "two pins of one package hold at once"
        assert all(str(pin.specifier).startswith("==") for pin in pins)
    text = CONSTRAINTS.read_text()
    assert "://" not in text and "--hash" not in text and "--index" not in text
