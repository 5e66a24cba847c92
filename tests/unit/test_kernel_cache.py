"""Compiled kernels are never stale, lie where only their user writes, and are not needed to run."""

from __future__ import annotations

import os
import pickle
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import botz
from botz import kernel_cache
from botz.kernel_files import checked_files

PROGRAM = """
import json, sys
from botz import Simulation
from botz.scenario.load import load_data
wheels = {
    "left": {"type": "fixed", "position": [0, 0.1], "radius": 0.05, "driven": True},
    "right": {"type": "fixed", "position": [0, -0.1], "radius": 0.05, "driven": True},
}
simulation = Simulation(load_data({"engine": "kinematics", "name": "s", "robots": {"duo": {"wheels": wheels}}}))
simulation.step({"duo": {"left/speed": 10.0, "right/speed": 10.0}}, n=100)
print(json.dumps(simulation.values()["duo/pose"].tolist()))
"""


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """A copy of the package, to be edited."""
    package = tmp_path / "source" / "botz"
    shutil.copytree(Path(botz.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    return package


def pose_by(package: Path, **environment: str) -> tuple[list[float], str]:
    """Where the copy of the package says the robot is after 0.1 s, and what it wrote to standard error."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={**os.environ, "PYTHONPATH": str(package.parent), **environment},
        capture_output=True,
        text=True,
        cwd=package.parent,
    )
    assert done.returncode == 0, done.stderr
    return [float(part) for part in done.stdout.strip().strip("[]").split(",")], done.stderr


def double_the_arc(package: Path) -> None:
    """Edit an equation that the engine's kernel calls, in another file than the kernel's: all move twice as far."""
    file = package / "physics" / "wheels" / "constraints.py"
    text = file.read_text(encoding="utf-8")
    head, body = text.split("def arc_displacement(", 1)
    assert body.count("chord * (") == 2
    file.write_text(f"{head}def arc_displacement({body.replace('chord * (', '2.0 * chord * (')}", encoding="utf-8")


def test_an_edited_equation_is_compiled_again(copied: Path, tmp_path: Path):
    cache = tmp_path / "kernels"
    before, notices = pose_by(copied, BOTZ_CACHE_DIR=str(cache))
    assert before == pytest.approx([0.05, 0.0, 0.0])
    assert notices.count("compiling the kernels of 'kinematics', once") == 1
    # The second time it comes from the cache, and says nothing.
    again, notices = pose_by(copied, BOTZ_CACHE_DIR=str(cache))
    assert again == before and notices == ""
    own = cache / "botz-kernels"
    assert list(cache.iterdir()) == [own], "a subfolder of our own, nothing else"
    assert len(folders := list(own.iterdir())) == 1 and any(folders[0].rglob("*.nbc"))
    if os.name == "posix":
        assert [path.stat().st_mode & 0o777 for path in (own, folders[0])] == [0o700, 0o700]
    double_the_arc(copied)
    after, notices = pose_by(copied, BOTZ_CACHE_DIR=str(cache))
    assert after == pytest.approx([0.1, 0.0, 0.0]), "a stale kernel"
    assert "compiling" in notices
    assert len(list(own.iterdir())) == 2


def test_without_a_place_to_write_kernels_are_compiled_for_this_run_only(copied: Path, tmp_path: Path):
    no_folder = tmp_path / "file"
    no_folder.touch()
    place = str(no_folder)
    pose, notices = pose_by(
        copied, BOTZ_CACHE_DIR=f"{place}/kernels", HOME=place, XDG_CACHE_HOME=place, NUMBA_CACHE_DIR=""
    )
    assert pose == pytest.approx([0.05, 0.0, 0.0])
    assert notices.count("no cache folder can be used") == 1
    assert list(copied.rglob("*.nb[ci]")) == [], "Numba's own folder beside the source is not a place that is safe"


# --- the folder's name -------------------------------------------------------------------------------------


def hash_of(package: Path) -> str:
    code = "from botz.kernel_cache import source_hash; print(source_hash())"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": str(package.parent), "BOTZ_CACHE_DIR": str(package.parent / "cache")},
        capture_output=True,
        text=True,
        check=True,
        cwd=package.parent,
    )
    return done.stdout.strip()


def test_the_folder_is_named_by_the_sources_of_kernels(copied: Path):
    before = hash_of(copied)
    for room in sorted(kernel_cache.ROOMS_WITHOUT_KERNELS):
        if (copied / room).is_dir():
            (copied / room / "__init__.py").write_text('"""Edited."""\n', encoding="utf-8")
    assert hash_of(copied) == before, "the command line has no kernels"
    edited = {before}
    for place in ("physics/wheels/constraints.py", "engines/kinematics/step.py", "sim/shared_memory.py"):
        file = copied / place
        file.write_text(file.read_text(encoding="utf-8") + "\n# edited\n", encoding="utf-8")
        edited.add(hash_of(copied))
    assert len(edited) == 4


def test_a_users_own_elements_are_part_of_the_name(tmp_path: Path):
    element = tmp_path / "spring.py"
    element.write_text("k = 1.0")
    one = kernel_cache.source_hash([element])
    assert one != kernel_cache.source_hash()
    element.write_text("k = 2.0")
    assert kernel_cache.source_hash([element]) != one


def marked(folder: Path) -> Path:
    """A folder of kernels as Botz makes it."""
    kernel_cache.prepare_folder(folder)
    (folder / "kernel.nbc").touch()
    return folder


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX's")
def test_a_folder_must_be_the_users_alone_and_keeps_its_mode(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    folder = tmp_path / "open"
    folder.mkdir()
    folder.chmod(0o777)
    with pytest.raises(OSError, match=r"other users may write into .*open \(mode 0777\)"):
        kernel_cache.prepare_folder(folder / "0123456789abcdef")
    assert folder.stat().st_mode & 0o777 == 0o777
    folder.chmod(0o755)
    kernel_cache.prepare_folder(folder / "0123456789abcdef")
    assert folder.stat().st_mode & 0o777 == 0o755
    (tmp_path / "link").symlink_to(folder)
    with pytest.raises(OSError, match="is a symbolic link"):
        kernel_cache.prepare_folder(tmp_path / "link" / "0123456789abcdef")
    monkeypatch.setattr(os, "getuid", lambda: 12345)
    with pytest.raises(OSError, match="belongs to another user"):  # what lies in it is loaded as code
        kernel_cache.prepare_folder(folder / "0123456789abcdef")


def test_old_kernels_are_forgotten(tmp_path: Path):
    folders = [marked(tmp_path / f"{number:016x}") for number in range(8)]
    for age, folder in enumerate(folders):
        os.utime(folder, (1e9 - age, 1e9 - age))
    kernel_cache.forget_old(folders[-1])
    left = sorted(path.name for path in tmp_path.iterdir())
    assert left == sorted(folder.name for folder in [*folders[: kernel_cache.KEEP], folders[-1]])


def test_nothing_but_marked_folders_of_kernels_is_ever_removed(tmp_path: Path):
    ours = [marked(tmp_path / f"{number:016x}") for number in range(kernel_cache.KEEP + 1)]
    theirs = [tmp_path / f"thesis{number}" for number in range(8)]
    theirs += [tmp_path / f"{number:016x}" for number in range(0x100, 0x108)]  # the name without the mark
    for folder in theirs:
        folder.mkdir()
        (folder / "chapter.txt").write_text("two years of work", encoding="utf-8")
    theirs += [marked(tmp_path / "a-copy-for-a-friend")]  # the mark without the name
    if os.name == "posix":
        elsewhere = marked(tmp_path / "elsewhere" / f"{0x300:016x}")
        theirs.append(tmp_path / f"{0x200:016x}")
        theirs[-1].symlink_to(elsewhere)
    for age, folder in enumerate([*ours, *theirs]):
        os.utime(folder, (1e9 - age, 1e9 - age))
    kernel_cache.forget_old(marked(tmp_path / f"{0x400:016x}"))
    assert [folder for folder in theirs if not folder.exists()] == []
    assert [folder.exists() for folder in ours] == [True] * kernel_cache.KEEP + [False]


def test_the_users_own_folders_survive_a_run(copied: Path, tmp_path: Path):
    chosen = tmp_path / "v"
    for number in range(1, 9):
        (chosen / f"p{number}").mkdir(parents=True)
        (chosen / f"p{number}" / "data.csv").write_text("1,2,3", encoding="utf-8")
    chosen.chmod(0o755)
    for _ in range(2):
        pose_by(copied, BOTZ_CACHE_DIR=str(chosen))
    assert sorted(path.name for path in chosen.iterdir()) == ["botz-kernels", *(f"p{n}" for n in range(1, 9))]
    assert all((chosen / f"p{number}" / "data.csv").exists() for number in range(1, 9))
    if os.name == "posix":
        assert chosen.stat().st_mode & 0o777 == 0o755


def test_numba_that_came_first_is_told(tmp_path: Path):
    code = "import numba, botz, os; print(numba.config.CACHE_DIR == os.environ['NUMBA_CACHE_DIR'])"
    environment = {**os.environ, "BOTZ_CACHE_DIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "True"


# --- damaged files -----------------------------------------------------------------------------------------

ONE_KERNEL = """
import sys
from botz.physics.wheels.constraints import arc_displacement
print(arc_displacement(0.0, 1.0, 0.0, 0.5, 0.1), sum(arc_displacement.stats.cache_hits.values()))
"""
DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda data: b"",
    "truncated": lambda data: data[: len(data) // 2],
    "zeros": lambda data: bytes(len(data)),  # what some file systems leave of a file after a power failure
    "another pickle": lambda data: pickle.dumps("0.0.0"),
    "one bit": lambda data: data[:-40] + bytes([data[-40] ^ 1]) + data[-39:],
}


def test_a_damaged_cache_is_cleared_and_compiled_again_with_one_notice(tmp_path: Path):
    def run() -> tuple[str, str]:
        environment = {**os.environ, "BOTZ_CACHE_DIR": str(tmp_path)}
        environment.pop("NUMBA_DISABLE_JIT", None)
        done = subprocess.run([sys.executable, "-c", ONE_KERNEL], env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip(), done.stderr

    compiled, _ = run()
    assert compiled.endswith(" 0")
    for name, damage in DAMAGES.items():
        files = list(tmp_path.rglob("*.nb[ic]"))
        assert {file.suffix for file in files} == {".nbi", ".nbc"}
        for file in files:
            file.write_bytes(damage(file.read_bytes()))
        again, notices = run()
        assert again == compiled, name
        assert notices.count(f"{len(files)} damaged files removed from the kernel cache") == 1, name
        assert len(notices.splitlines()) == 1, name
    found, notices = run()
    assert (found, notices) == (compiled.removesuffix("0") + "1", "")


def test_first_runs_at_once_share_one_empty_cache(tmp_path: Path):
    environment = {**os.environ, "BOTZ_CACHE_DIR": str(tmp_path / "none yet")}
    environment.pop("NUMBA_DISABLE_JIT", None)
    command = [sys.executable, "-c", ONE_KERNEL]
    together = [
        subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(6)
    ]
    answers = [(*process.communicate(), process.returncode) for process in together]
    assert [(notices, code) for _, notices, code in answers] == [("", 0)] * len(together)
    assert len({out.rsplit(maxsplit=1)[0] for out, _, _ in answers}) == 1
    later = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert later.stdout.endswith(" 1\n") and later.stderr == ""


def cache_files(folder: Path):
    from numba.core import caching

    numbas_own = type(caching.IndexDataCacheFile(str(folder), "kernel", "stamp"))
    (folder / "sub").mkdir(exist_ok=True)
    return checked_files(folder, numbas_own)(str(folder / "sub"), "kernel", "stamp")


def test_an_index_does_not_vouch_for_data_of_another_signature(tmp_path: Path):
    """A process that is killed after it wrote its index and before its data leaves the data of a lost index there."""
    files = cache_files(tmp_path)
    files.save("float", "code for float")
    assert cache_files(tmp_path).load("float") == "code for float"
    assert cache_files(tmp_path).load("int") is None
    files._save_index({"int": "kernel.1.nbc"})
    assert cache_files(tmp_path).load("int") is None
    files.save("int", "code for int")
    assert cache_files(tmp_path).load("int") == "code for int"


def test_kernels_that_cannot_be_kept_are_no_failure(tmp_path: Path):
    files = cache_files(tmp_path)
    (tmp_path / "sub" / "kernel.nbi").mkdir()  # as an unreadable disk: neither to be read nor to be replaced
    assert files.load("float") is None
    files.save("float", "code for float")
    assert cache_files(tmp_path).load("float") is None


def test_caches_elsewhere_stay_as_numba_makes_them(tmp_path: Path):
    from numba.core import caching

    theirs = caching.IndexDataCacheFile(str(tmp_path), "kernel", "stamp")
    assert type(theirs).__name__ == "IndexDataCacheFile"
