"""The launcher and tools/bootstrap.py on a tiny project that needs nothing from a registry.

The project's build backend is fake_backend.py, so that every case makes real environments with a real pip and no
network.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the launcher is a POSIX shell script")

REPOSITORY = Path(__file__).resolve().parents[2]
PATIENCE = 120.0

FAKEBOTZ = """\
import json, os, sys

def main():
    where = {"args": sys.argv[1:], "cwd": os.getcwd(), "prefix": sys.prefix, "module": __file__}
    print(json.dumps(where))
    sys.exit(7 if sys.argv[1:] == ["seven"] else 0)
"""

CHECKS = """\
import sys
print("checks", sys.argv[1:])
"""

PYPROJECT = """\
[build-system]
requires = []
build-backend = "fake_backend"
backend-path = ["."]

[project]
name = "botz"
version = "1.0"
"""


def make_project(root: Path) -> Path:
    (root / "tools").mkdir(parents=True)
    shutil.copy(REPOSITORY / "botz", root / "botz")
    shutil.copy(REPOSITORY / "tools" / "bootstrap.py", root / "tools")
    shutil.copy(Path(__file__).with_name("fake_backend.py"), root)
    (root / "tools" / "checks.py").write_text(CHECKS)
    (root / "fakebotz.py").write_text(FAKEBOTZ)
    (root / "pyproject.toml").write_text(PYPROJECT)
    (root / "constraints.txt").write_text("# none\n")
    return root


def environ(**changes: str) -> dict[str, str]:
    """This process's environment as a user's shell would have it: no network for pip, this Python first."""
    dropped = ("BOTZ_PYTHON", "PYTHONPATH", "PYTHONHOME", "PIP_FIND_LINKS", "PIP_EXTRA_INDEX_URL")
    kept = {name: value for name, value in os.environ.items() if name not in dropped}
    return kept | {"PIP_NO_INDEX": "1", "BOTZ_PYTHON": sys.executable} | changes


def call(root: Path, *args: str, cwd: Path | None = None, **changes: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [root / "botz", *args],
        cwd=cwd or root,
        env=environ(**changes),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


def start(root: Path, *args: str) -> subprocess.Popen[str]:
    """A call in a process group of its own, so that a signal reaches pip as a terminal's Ctrl-C does."""
    return subprocess.Popen(
        [root / "botz", *args],
        cwd=root,
        env=environ(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def wait_for(path: Path, process: subprocess.Popen[str]) -> None:
    end = time.monotonic() + PATIENCE
    while not path.exists():
        assert process.poll() is None, f"ended early:\n{process.communicate()[1]}"
        assert time.monotonic() < end, f"{path} never came"
        time.sleep(0.02)


def builds(root: Path) -> int:
    return len((root / "builds").read_text().splitlines()) if (root / "builds").exists() else 0


def answer(done: subprocess.CompletedProcess[str]) -> dict:
    """What the fake command printed; fails when anything else is on stdout."""
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def commands_folder(folder: Path, *names: str) -> Path:
    """A folder for PATH that holds only the commands named: no Python unless it is one of them."""
    folder.mkdir()
    for name in names:
        found = shutil.which(name)
        assert found is not None
        (folder / name).symlink_to(found)
    return folder


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, subprocess.CompletedProcess[str]]]:
    root = make_project(tmp_path_factory.mktemp("launcher") / "a folder, with spaces")
    yield root, call(root, "run", "two words")


@pytest.fixture
def installed(first, tmp_path: Path) -> Path:
    """A project with its environment ready, for one test alone: moved here, and repaired by a first call."""
    root = tmp_path / "installed"
    shutil.copytree(first[0], root, symlinks=True)
    answer(call(root))
    (root / "builds").unlink()
    return root


def test_first_call_makes_the_environment_and_keeps_stdout_clean(first):
    root, done = first
    where = answer(done)
    assert where["args"] == ["run", "two words"]
    assert where["prefix"] == str(root / ".venv")
    assert "making .venv" in done.stderr
    assert builds(root) == 1


def test_later_calls_start_at_once_without_python_on_the_path_or_a_network(first, tmp_path: Path):
    root, _ = first
    tools_only = commands_folder(tmp_path / "bin", "cat", "cksum", "readlink")
    link = tmp_path / "link to botz"
    link.symlink_to(root / "botz")
    second_link = tmp_path / "relative"
    second_link.symlink_to("link to botz")
    before = builds(root)
    done = subprocess.run(
        [second_link, "x"],
        cwd=tmp_path,
        env={"PATH": str(tools_only)},
        capture_output=True,
        text=True,
        check=False,
    )
    where = answer(done)
    assert (where["args"], where["cwd"]) == (["x"], str(tmp_path))
    assert done.stderr == ""
    assert builds(root) == before


def test_the_commands_exit_code_is_handed_on(first):
    assert call(first[0], "seven").returncode == 7


@pytest.mark.parametrize("name", ["pyproject.toml", "constraints.txt"])
def test_a_change_of_the_requirements_installs_again(installed: Path, name: str):
    with (installed / name).open("a") as file:
        file.write("# changed\n")
    assert "installing the project" in call(installed).stderr
    assert builds(installed) == 1
    assert call(installed).stderr == ""
    assert builds(installed) == 1


@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGINT])
def test_an_install_that_was_cut_off_is_repaired(installed: Path, sent: signal.Signals):
    with (installed / "pyproject.toml").open("a") as file:
        file.write("# changed\n")
    (installed / "hold").touch()
    process = start(installed)
    wait_for(installed / "held", process)
    os.killpg(process.pid, sent)
    output, errors = process.communicate(timeout=PATIENCE)
    assert output == ""
    if sent == signal.SIGINT:
        assert process.returncode == 130
        assert "interrupted" in errors and "Traceback" not in errors
    (installed / "hold").unlink()
    # What pip had half written is gone with the old environment.
    leftover = installed / ".venv" / "half-written"
    leftover.touch()
    done = call(installed)
    assert answer(done)["prefix"] == str(installed / ".venv")
    assert "cut off" in done.stderr
    assert not leftover.exists()
    assert call(installed).stderr == ""


def test_a_half_made_environment_is_made_anew(tmp_path: Path):
    root = make_project(tmp_path / "project")
    (root / ".venv" / "bin").mkdir(parents=True)
    (root / ".venv" / "bin" / "python").symlink_to(tmp_path / "no such python")
    (root / ".venv" / "pyvenv.cfg").write_text("home = nowhere\n")
    assert answer(call(root))["prefix"] == str(root / ".venv")
    assert call(root).stderr == ""


def test_two_first_calls_at_once_install_once(tmp_path: Path):
    root = make_project(tmp_path / "project")
    (root / "hold").touch()
    one = start(root, "one")
    wait_for(root / "held", one)
    two = start(root, "two")
    assert two.stderr is not None
    heard = two.stderr.readline()
    (root / "hold").unlink()
    for process, name in ((one, "one"), (two, "two")):
        output, errors = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0, errors
        assert json.loads(output)["args"] == [name]
    assert "waiting" in heard
    assert builds(root) == 1


def test_a_moved_checkout_is_repaired_offline(first, tmp_path: Path):
    root = tmp_path / "moved" / "somewhere else"
    shutil.copytree(first[0], root, symlinks=True)
    done = call(root)
    where = answer(done)
    assert where["prefix"] == str(root / ".venv")
    assert where["module"] == str(root / "fakebotz.py")
    assert "moved" in done.stderr
    # Other scripts of the environment, too, belong to the new place.
    pip = subprocess.run([root / ".venv" / "bin" / "pip", "--version"], capture_output=True, text=True, check=False)
    assert str(root / ".venv") in pip.stdout, pip.stderr
    assert call(root).stderr == ""


def test_a_failed_install_says_why_and_the_next_call_tries_again(installed: Path):
    before = (installed / "pyproject.toml").read_text()
    (installed / "pyproject.toml").write_text(before + "# changed\n")
    (installed / "fail").touch()
    done = call(installed)
    assert (done.returncode, done.stdout) == (1, "")
    assert "the fake build was told to fail" in done.stderr
    assert "next call tries again" in done.stderr
    # Nothing was broken: with the requirements of before, the environment of before still serves.
    (installed / "pyproject.toml").write_text(before)
    assert call(installed).stderr == ""
    (installed / "pyproject.toml").write_text(before + "# changed\n")
    assert call(installed).returncode == 1
    (installed / "fail").unlink()
    answer(call(installed))


def test_a_package_that_cannot_be_fetched_is_named(installed: Path):
    (installed / "pyproject.toml").write_text(PYPROJECT.replace("requires = []", 'requires = ["no-such-tool>=1"]'))
    done = call(installed)
    assert (done.returncode, done.stdout) == (1, "")
    assert "no-such-tool" in done.stderr
    assert "offline" in done.stderr


def test_extras_add_up(installed: Path):
    done = call(installed, "test", "-k", "a b")
    assert (done.returncode, done.stdout) == (0, "checks ['-k', 'a b']\n")
    assert "with test" in done.stderr
    assert call(installed, "test").stderr == ""
    assert call(installed, "plain").stderr == ""
    assert "with oracles, test" in call(installed, "verify").stderr
    assert call(installed, "test").stderr == ""
    assert builds(installed) == 2


def test_verify_goes_on_without_oracles_that_cannot_be_installed(installed: Path):
    (installed / "fail").touch()
    done = call(installed, "verify", "kinematics")
    assert answer(done)["args"] == ["verify", "kinematics"]
    assert "without the oracles" in done.stderr


def test_without_a_python_it_says_what_to_install(tmp_path: Path):
    root = make_project(tmp_path / "project")
    for path in (commands_folder(tmp_path / "some", "cat", "cksum", "readlink"), tmp_path / "none"):
        done = call(root, BOTZ_PYTHON="", PATH=str(path))
        assert (done.returncode, done.stdout) == (1, "")
        assert "Python 3.11 or newer" in done.stderr
        assert "sudo apt install python3 python3-venv" in done.stderr
        assert "brew install python" in done.stderr
        assert not (root / ".venv").exists()


def fake_python(path: Path, body: str) -> None:
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)


def test_a_python_that_is_too_old_is_passed_over(tmp_path: Path):
    root = make_project(tmp_path / "project")
    tools = commands_folder(tmp_path / "bin", "cat", "cksum", "readlink")
    pretend = "import sys; sys.version_info = (3, 9, 2); exec(sys.argv[1])"
    fake_python(tools / "python3", f"exec '{sys.executable}' -I -c '{pretend}' \"$3\"")
    done = call(root, BOTZ_PYTHON="", PATH=str(tools))
    assert (done.returncode, done.stdout) == (1, "")
    assert "Python 3.11 or newer" in done.stderr
    (tools / "python3.12").symlink_to(sys.executable)
    assert answer(call(root, BOTZ_PYTHON="", PATH=str(tools)))["prefix"] == str(root / ".venv")


def test_without_the_venv_module_it_names_the_package(tmp_path: Path):
    root = make_project(tmp_path / "project")
    tools = commands_folder(tmp_path / "bin", "cat", "cksum", "readlink")
    pretend = 'import sys; sys.modules["ensurepip"] = None; exec(sys.argv[1])'
    fake_python(tools / "python3", f"exec '{sys.executable}' -I -c '{pretend}' \"$3\"")
    done = call(root, BOTZ_PYTHON="", PATH=str(tools))
    assert (done.returncode, done.stdout) == (1, "")
    assert "sudo apt install python3-venv" in done.stderr
    assert not (root / ".venv").exists()


def test_a_folder_of_the_users_in_the_environments_place_is_left_alone(tmp_path: Path):
    root = make_project(tmp_path / "project")
    (root / ".venv").mkdir()
    (root / ".venv" / "thesis.tex").write_text("two years of work\n")
    for _ in range(2):
        done = call(root)
        assert (done.returncode, done.stdout) == (1, "")
        assert "is no Python environment" in done.stderr and "Traceback" not in done.stderr
    assert (root / ".venv" / "thesis.tex").exists()


def test_an_environment_elsewhere_that_does_not_work_is_not_emptied_through_a_link(tmp_path: Path):
    root = make_project(tmp_path / "project")
    shared = tmp_path / "shared"
    shared.mkdir()
    (shared / "pyvenv.cfg").write_text("home = nowhere\n")
    (shared / "thesis.tex").write_text("two years of work\n")
    (root / ".venv").symlink_to(shared)
    done = call(root)
    assert done.returncode == 1 and f"leads to {shared}" in done.stderr and "Traceback" not in done.stderr
    assert (shared / "thesis.tex").exists()


def test_a_python_that_was_asked_for_is_not_replaced_by_another(first):
    done = call(first[0], BOTZ_PYTHON="/no/such/python")
    assert (done.returncode, done.stdout) == (1, "")
    assert "/no/such/python" in done.stderr


def test_a_folder_that_cannot_be_written_gives_a_message(tmp_path: Path):
    root = make_project(tmp_path / "project")
    (root / ".venv").write_text("in the way\n")
    done = call(root)
    assert (done.returncode, done.stdout) == (1, "")
    assert "could not make the environment" in done.stderr and "Traceback" not in done.stderr
