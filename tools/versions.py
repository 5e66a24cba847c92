"""Versions of the source side by side: commits unpacked, and processes that work with the package of one of them."""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
WORKING_TREE = "working tree"
KEPT = 6
"""Commits whose sources stay in the cache."""


class NoResult(Exception):
    """What the user is told."""


# --- commits ---------------------------------------------------------------------------------------------------------


def git(*words: str) -> bytes:
    done = subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True, check=False)
    if done.returncode != 0:
        raise NoResult(f"git {' '.join(words)}: {done.stderr.decode(errors='replace').strip()}")
    return done.stdout


def commit_of(name: str) -> str:
    return git("rev-parse", "--verify", "--end-of-options", f"{name}^{{commit}}").decode().strip()[:16]


def source_of(name: str, keep: Path) -> Path:
    """The folder that holds the package of a commit, unpacked below `keep`, or that of the working tree."""
    if name == WORKING_TREE:
        return ROOT / "src"
    commit = commit_of(name)
    source = keep / commit / "src"
    if not source.is_dir():
        unpack(commit, source.parent)
    source.parent.touch()  # the commits that were used last stay
    forget_old(keep)
    return source


def unpack(commit: str, folder: Path) -> None:
    """The sources of a commit. Not a worktree: files of an archive are as old as the commit wherever and whenever they
    are unpacked, so that kernels compiled of them stay valid, and the repository is left alone."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as beside:
        with tarfile.open(fileobj=io.BytesIO(git("archive", "--format=tar", commit, "src"))) as archive:
            archive.extractall(beside, filter="data")
        folder.mkdir(exist_ok=True)
        (Path(beside) / "src").rename(folder / "src")


def forget_old(keep: Path) -> None:
    """Only the sources: what else is kept of a commit is small."""
    sources = sorted(keep.glob("*/src"), key=lambda path: path.parent.stat().st_mtime, reverse=True)
    for path in sources[KEPT:]:
        shutil.rmtree(path, ignore_errors=True)


# --- processes -------------------------------------------------------------------------------------------------------


def checked(source: Path) -> Path:
    """A folder that holds the package, as an absolute path."""
    source = source.absolute()
    if not (source / "botz" / "__init__.py").is_file():
        raise NoResult(f"{source} holds no package botz; name the folder that does, as src of a checkout")
    return source


def environment_of(source: Path, cache: Path | None) -> dict[str, str]:
    """So that `import botz` gives that source's package, before the one that is installed."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(source), os.environ.get("PYTHONPATH", "")])}
    environment["PYTHONPATH"] = environment["PYTHONPATH"].rstrip(os.pathsep)
    if cache is not None:
        environment["BOTZ_CACHE_DIR"] = str(cache)
    return environment


class Worker:
    """A process that answers questions by the package of one source: a script that ends in `serve`."""

    def __init__(self, script: str, source: Path, environment: Mapping[str, str], noise: Path):
        self.noise = noise
        with noise.open("wb") as stderr:
            self.process = subprocess.Popen(
                [sys.executable, script, str(source)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stderr,
                env=environment,
                text=True,
                encoding="utf-8",
            )

    def ask(self, what: str, question: Mapping[str, Any]) -> dict[str, Any]:
        assert self.process.stdin is not None and self.process.stdout is not None
        try:
            print(json.dumps(question), file=self.process.stdin, flush=True)
            return dict(json.loads(self.process.stdout.readline()))
        except (OSError, ValueError):
            raise NoResult(f"{what}: the process ended.\n{self.said()}") from None

    def said(self) -> str:
        return "\n".join(self.noise.read_text("utf-8", errors="replace").splitlines()[-20:])

    def end(self) -> None:
        self.process.kill()
        self.process.communicate()


def serve(source: Path, answer: Callable[[Any, dict[str, Any]], Mapping[str, Any]]) -> None:
    """Answer what standard input asks, a line for each question: `answer(botz, question)`."""
    answers = os.fdopen(os.dup(1), "w", buffering=1, encoding="utf-8")
    os.dup2(2, 1)  # whatever else is printed stays out of the answers
    sys.stdout = sys.stderr
    import botz

    if not Path(botz.__file__).resolve().is_relative_to(source.resolve()):
        raise NoResult(f"botz came from {botz.__file__}, not from {source}")
    for line in sys.stdin:
        print(json.dumps(answer(botz, json.loads(line))), file=answers)


def command(name: str, work: Callable[[], int]) -> int:
    """What a tool's `main` does: its exit code, and a message in place of a traceback."""
    try:
        return work()
    except NoResult as error:
        print(f"{name}: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
