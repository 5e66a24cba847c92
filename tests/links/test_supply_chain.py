"""What is installed is what was pinned: hashes of locked/, the installer that compares them, the bill of materials."""

from __future__ import annotations

import hashlib
import importlib
import importlib.metadata
import json
import os
import re
import shutil
import signal
import sys
import tomllib
import zipfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from packaging.markers import Marker
from packaging.requirements import Requirement
from test_launcher import answer, builds, call, make_project

REPOSITORY = Path(__file__).resolve().parents[2]
LOCKED = REPOSITORY / "locked"
SETS = ("base", "oracles", "test")
posix = pytest.mark.skipif(os.name == "nt", reason="the launcher is a POSIX shell script")


@pytest.fixture
def tool(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], ModuleType]]:
    """Imports a module of tools/."""
    monkeypatch.syspath_prepend(REPOSITORY / "tools")

    ctrl_c = signal.getsignal(signal.SIGINT)  # which tools/bootstrap.py takes over
    yield importlib.import_module
    signal.signal(signal.SIGINT, ctrl_c)


def normalized(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def locked(name: str) -> list[tuple[Requirement, int]]:
    """The requirements of a file of locked/ and of those that it includes, with the number of their hashes."""
    text = (LOCKED / f"{name}.txt").read_text(encoding="utf-8")
    found = []
    for entry in re.sub(r"\\\n", " ", text).splitlines():
        if include := re.fullmatch(r"-r (\w+)\.txt", entry):
            found += locked(include[1])
        elif entry and not entry.startswith("#"):
            requirement, *hashes = re.split(r"\s+--hash=", entry.strip())
            assert all(re.fullmatch(r"sha256:[0-9a-f]{64}", one) for one in hashes), entry
            found.append((Requirement(requirement), len(hashes)))
    return found


def needed(lines: Iterable[str]) -> set[str]:
    """The names of all that these requirements bring here, as the metadata of what is installed say."""
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
    seen: set[tuple[str, str]] = set()
    waiting = [(line, "") for line in lines]
    while waiting:
        line, extra = waiting.pop()
        need = Requirement(line)
        if need.marker is not None and not need.marker.evaluate({"extra": extra}):
            continue
        name = normalized(need.name)
        for one in {(name, inner) for inner in ("", *need.extras)} - seen:
            seen.add(one)
            # This project's own metadata are as old as its last install.
            own = project["optional-dependencies"][one[1]] if one[1] and name == "botz" else ()
            waiting += [(inner, one[1]) for inner in (own or importlib.metadata.requires(name) or ())]
    return {name for name, _ in seen} - {"botz"}


def here(name: str) -> dict[str, str]:
    """Versions that a file of locked/ has installed on this Python and platform."""
    holding = [one for one, _ in locked(name) if one.marker is None or one.marker.evaluate()]
    return {normalized(one.name): str(one.specifier).removeprefix("==") for one in holding}


@pytest.mark.parametrize("name", [*SETS, "node"])
def test_locked_files_pin_versions_and_hashes_and_name_no_registry(name: str):
    constraints = [
        Requirement(line) for line in (REPOSITORY / "constraints.txt").read_text().splitlines() if line[0] != "#"
    ]
    pinned = {(one.name, str(one.specifier)) for one in constraints}
    assert locked(name)
    for one, hashes in locked(name):
        assert (one.name, str(one.specifier)) in pinned, "constraints.txt has another version: run tools/pin.py"
        assert hashes > 0
    assert "://" not in (LOCKED / f"{name}.txt").read_text()


@pytest.mark.parametrize("name", SETS)
def test_locked_files_hold_all_that_is_installed(name: str):
    about = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())
    wanted = [*about["build-system"]["requires"], *about["project"]["dependencies"]]
    wanted += [] if name == "base" else about["project"]["optional-dependencies"][name]
    assert needed(wanted) == here(name).keys(), "run tools/pin.py"


# --- the installer ---------------------------------------------------------------------------------------------------


def tiny_wheel(folder: Path, name: str) -> tuple[str, str]:
    """A wheel without content; the line of a requirements file, and its hash."""
    folder.mkdir(exist_ok=True)
    info = f"{name}-1.0.dist-info"
    files = {
        f"{name}.py": "",
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    files[f"{info}/RECORD"] = "".join(f"{path},,\n" for path in [*files, f"{info}/RECORD"])
    path = folder / f"{name}-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as wheel:
        for inner, text in files.items():
            wheel.writestr(inner, text)
    return f"{name}==1.0", f"sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}"


@pytest.fixture(scope="module")
def locked_project(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The launcher's tiny project with locked/, installed, and the folder that stands for a registry."""
    folder = tmp_path_factory.mktemp("locked")
    root, registry = make_project(folder / "project"), folder / "registry"
    (root / "locked").mkdir()
    for name, package, before in (("base", "tinyneed", ""), ("test", "tinytest", "-r base.txt\n")):
        line, digest = tiny_wheel(registry, package)
        (root / "locked" / f"{name}.txt").write_text(f"{before}{line} \\\n    --hash={digest}\n")
    done = call(root, PIP_FIND_LINKS=str(registry))
    assert answer(done) and "hashes" not in done.stderr
    return root, registry


@pytest.fixture
def copied(locked_project: tuple[Path, Path], tmp_path: Path) -> tuple[Path, Path]:
    """For one test alone."""
    for folder in locked_project:
        shutil.copytree(folder, tmp_path / folder.name, symlinks=True)
    return tmp_path / "project", tmp_path / "registry"


@posix
def test_the_installer_holds_to_the_hashes(copied: tuple[Path, Path]):
    root, registry = copied
    assert list((root / ".venv").glob("lib/*/site-packages/tinyneed.py"))
    assert not list((root / ".venv").glob("lib/*/site-packages/tinytest.py"))
    assert "tinytest" not in (root / ".venv" / "botz-install.log").read_text()
    # A file of the same name and version with other content, as from a registry that was broken into.
    with zipfile.ZipFile(registry / "tinytest-1.0-py3-none-any.whl", "a") as wheel:
        wheel.writestr("more.py", "")
    done = call(root, "test", PIP_FIND_LINKS=str(registry))
    assert (done.returncode, done.stdout) == (1, "")
    assert "is not the one that this version of Botz was made with" in done.stderr
    assert not list((root / ".venv").glob("lib/*/site-packages/tinytest.py"))
    # Whoever says so installs it by its version.
    done = call(root, "test", PIP_FIND_LINKS=str(registry), BOTZ_HASHES="0")
    assert done.returncode == 0
    assert "BOTZ_HASHES=0: versions are pinned, but files of packages are not compared" in done.stderr


@posix
def test_changed_hashes_install_again_and_what_is_not_covered_is_said(copied: tuple[Path, Path]):
    root, registry = copied
    file = root / "locked" / "base.txt"
    file.write_text("# again\n" + file.read_text())
    answer(call(root, PIP_FIND_LINKS=str(registry)))
    assert builds(root) == 2
    done = call(root, "verify", PIP_FIND_LINKS=str(registry))
    assert answer(done) and "locked/oracles.txt is missing: versions are pinned" in done.stderr


@posix
def test_a_requirement_that_is_not_locked_is_not_fetched(copied: tuple[Path, Path]):
    root, registry = copied
    backend = root / "fake_backend.py"
    backend.write_text(
        backend.read_text().replace("Version: 1.0\\nProvides", "Version: 1.0\\nRequires-Dist: unlocked\\nProvides")
    )
    done = call(root, PIP_FIND_LINKS=str(registry))
    assert done.returncode == 1
    assert "unlocked" in done.stderr and "python tools/pin.py writes locked/ anew" in done.stderr


def test_hashes_hold_up_to_the_newest_supported_python(tool, tmp_path: Path, capfd, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("BOTZ_HASHES", raising=False)
    environment = tool("bootstrap").Environment(REPOSITORY, 0)
    environment.folder = tmp_path
    for version, files in (("3.14.9", ["locked/base.txt", "locked/test.txt"]), ("3.15.0", [])):
        (tmp_path / "pyvenv.cfg").write_text(f"home = /usr/bin\nversion = {version}\n")
        assert environment.locked_files(frozenset({"test"})) == files
    assert "no hashes for Python 3.15: versions are pinned" in capfd.readouterr().err


# --- the bill of materials -------------------------------------------------------------------------------------------


def python_parts(bill: dict[str, Any]) -> dict[str, str]:
    """Versions of the Python packages that hold here."""
    found = {}
    for part in bill["components"]:
        markers = [one["value"] for one in part.get("properties", ()) if one["name"] == "botz:marker"]
        if part["purl"].startswith("pkg:pypi/") and all(Marker(text).evaluate() for text in markers):
            assert part["name"] not in found
            found[part["name"]] = part["version"]
    return found


def check_form(bill: dict[str, Any]) -> None:
    """What CycloneDX 1.6 asks for of the parts that we use."""
    assert (bill["bomFormat"], bill["specVersion"], bill["version"]) == ("CycloneDX", "1.6", 1)
    assert re.fullmatch(r"urn:uuid:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", bill["serialNumber"])
    parts = [bill["metadata"]["component"], *bill["components"]]
    refs = [part["bom-ref"] for part in parts]
    assert len(refs) == len(set(refs))
    assert [entry["ref"] for entry in bill["dependencies"]] == refs
    assert {need for entry in bill["dependencies"] for need in entry["dependsOn"]} <= set(refs)
    assert all(part["type"] in ("application", "library") and part["name"] and part["version"] for part in parts)
    for digest in (digest for part in parts for digest in part.get("hashes", ())):
        assert digest["alg"] == "SHA-512" and re.fullmatch(r"[0-9a-f]{128}", digest["content"])


def test_the_bill_of_materials_is_what_is_installed(tool):
    sbom = tool("sbom")
    of_release, of_here = sbom.release(), sbom.installed()
    for bill in (of_release, of_here):
        check_form(bill)
    assert of_release == sbom.release()
    assert python_parts(of_release) == here("base")
    assert python_parts(of_here) == {name: importlib.metadata.version(name) for name in needed(["botz"])}
    # The versions are equal too where this environment was installed by the pins.
    assert python_parts(of_here).keys() <= python_parts(of_release).keys()
    page = json.loads((REPOSITORY / "web" / "package.json").read_text())["dependencies"].keys()
    assert page <= {part["name"] for part in of_release["components"] if part["purl"].startswith("pkg:npm/")}
    assert page <= {part["name"] for part in of_here["components"]}


def test_a_wheel_carries_the_bill_of_materials(tool, tmp_path: Path):
    root = tmp_path / "source"
    shutil.copytree(REPOSITORY / "locked", root / "locked")
    for name in ("pyproject.toml", "hatch_build.py", "README.md", "LICENSE", "tools/build_web.py", "tools/sbom.py"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(REPOSITORY / name, root / name)
    for name in ("src/botz/__init__.py", "web/package-lock.json"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(REPOSITORY / name, root / name)
    from hatchling.builders.wheel import WheelBuilder

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BOTZ_SKIP_CLIENT", "1")
        (built,) = WheelBuilder(str(root)).build(directory=str(tmp_path), versions=["standard"])
    with zipfile.ZipFile(built) as wheel:
        (name,) = [name for name in wheel.namelist() if ".dist-info/sboms/" in name]
        assert name.endswith("/sboms/botz.cdx.json")
        assert json.loads(wheel.read(name)) == tool("sbom").release()


# --- advisories ------------------------------------------------------------------------------------------------------


def test_the_audit_tells_known_from_not_compared(tool, capsys: pytest.CaptureFixture[str]):
    audit = tool("audit")
    known = {"id": "PYSEC-1", "fix_versions": ["2.0"], "aliases": [], "description": ""}
    bad = {"name": "bad", "version": "1.0", "vulns": [known]}
    good, unknown = {"name": "good", "version": "1.0", "vulns": []}, {"name": "new", "skip_reason": "not found"}
    of = audit.of_pip_audit
    assert of({"dependencies": [good, bad]}) == (2, ["bad 1.0: PYSEC-1, mended in 2.0"], [])
    assert audit.report([of({"dependencies": [good]})]) == 0
    assert audit.report([of({"dependencies": [good, unknown]})]) == 2
    assert audit.report([of({"dependencies": [bad, unknown]})]) == 1
    assert "new: not found" in capsys.readouterr().out


def test_the_audit_says_when_nothing_could_be_compared(tool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys):
    audit = tool("audit")
    failing = tmp_path / "pip-audit"
    failing.write_text(f"#!{sys.executable}\nimport sys\nsys.exit('no route to the service')\n")
    failing.chmod(0o755)
    monkeypatch.setattr(audit.shutil, "which", lambda *_, **__: str(failing))
    monkeypatch.setattr(audit.build_web, "find_node", lambda: None)
    assert audit.main() == 2
    said = capsys.readouterr().out
    assert "gave no answer (exit code 1): no route to the service" in said
    assert "0 packages compared" in said and "npm is missing" in said
