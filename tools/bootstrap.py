"""Makes, updates or repairs the environment `.venv` of a checkout. Called by the launcher `botz`, not by hand.

    python -I tools/bootstrap.py ROOT CHECKSUM [EXTRA]

Three small files in `.venv` carry what the launcher and this program have to know of each other:

- `botz-stamp`, written last: checksum of the requirements, folder, extras, and the BOTZ_PYTHON asked for.
- `botz-installing`, there while files of the environment are being changed. Found by a later call, it means that
  the work was cut off somewhere, and the environment is made anew.
- `botz-lock`, held while working. pip inherits it, so that an orphaned pip still keeps others out.

Packages are installed by the files of `locked/`, which pin versions and hashes, or, where these do not hold (a newer
Python, BOTZ_HASHES=0), by the versions of `constraints.txt` alone.

Only the standard library is used, and all output goes to stderr.
"""

from __future__ import annotations

import os
import signal

# ruff: noqa: E402
# Ctrl-C while modules are imported ends without a traceback; `main` takes it from there.
signal.signal(signal.SIGINT, lambda *_: os._exit(130))

import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

TAIL_LINES = 12
LONGEST_SHEBANG = 127  # the kernel's limit, which pip respects too
NEWEST_LOCKED = (3, 14)  # the files of locked/ hold for Pythons up to this one


class InstallFailed(Exception):
    """Making the environment failed; the text is for the user."""


@dataclass(frozen=True)
class Stamp:
    checksum: str
    root: str
    extras: frozenset[str]
    asked_python: str

    @classmethod
    def read(cls, path: Path) -> Stamp | None:
        try:
            checksum, root, extras, asked_python = path.read_text(encoding="utf-8").split("\n")[:4]
        except (OSError, ValueError):
            return None
        return cls(checksum, root, frozenset(extras.split()), asked_python)

    def write(self, path: Path) -> None:
        fresh = path.with_suffix(".new")
        lines = (self.checksum, self.root, " ".join(sorted(self.extras)), self.asked_python)
        fresh.write_text("\n".join(lines) + "\n", encoding="utf-8")
        fresh.replace(path)

    def serves(self, wanted: Stamp) -> bool:
        return (
            self.checksum == wanted.checksum
            and self.root == wanted.root
            and self.extras >= wanted.extras
            and wanted.asked_python in ("", self.asked_python)
        )


def say(text: str) -> None:
    print(f"botz: {text}", file=sys.stderr, flush=True)


def clean_environ() -> dict[str, str]:
    """The caller's environment without the settings that would send packages elsewhere than into `.venv`."""
    dropped = {"PYTHONHOME", "PYTHONPATH", "PIP_TARGET", "PIP_PREFIX", "PIP_ROOT", "PIP_REQUIRE_HASHES"}
    dropped.add("__PYVENV_LAUNCHER__")
    environ = {name: value for name, value in os.environ.items() if name not in dropped}
    return environ | {"PIP_USER": "0", "PIP_NO_INPUT": "1", "PYTHONUNBUFFERED": "1"}


@contextmanager
def locked(path: Path) -> Iterator[int]:
    """Hold the lock of an environment; yields the descriptor that keeps it."""
    import fcntl

    with path.open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("another botz is installing; waiting for it")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield file.fileno()


class Environment:
    def __init__(self, root: Path, lock: int) -> None:
        self.root = root
        self.lock = lock
        self.folder = root / ".venv"
        self.python = self.folder / "bin" / "python"
        self.stamp = self.folder / "botz-stamp"
        self.installing = self.folder / "botz-installing"
        self.log = self.folder / "botz-install.log"

    def base_python(self) -> Path | None:
        """The Python that the environment rests on; None when the environment does not work."""
        probe = "import pip, sys; assert sys.version_info >= (3, 11); assert sys.prefix != sys.base_prefix; "
        probe += "print(sys._base_executable)"
        try:
            done = subprocess.run(
                [self.python, "-I", "-c", probe], capture_output=True, text=True, env=clean_environ(), check=False
            )
        except OSError:
            return None
        return Path(done.stdout.strip()) if done.returncode == 0 and done.stdout.strip() else None

    def make(self, maker: Path) -> None:
        ours = {self.stamp.name, self.installing.name}
        names = {entry.name for entry in self.folder.iterdir()} - {"botz-lock"}
        if names and not names.intersection(ours | {"pyvenv.cfg"}):
            raise InstallFailed(f"{self.folder} holds files and is no Python environment; move them elsewhere")
        if names and self.folder.is_symlink() and not names.intersection(ours):
            raise InstallFailed(
                f"{self.folder} leads to {self.folder.resolve()}, an environment of others; remove the link"
            )
        self.installing.touch()
        for entry in self.folder.iterdir():
            if entry.name not in ("botz-lock", "botz-installing"):
                if entry.is_dir() and not entry.is_symlink():
                    shutil.rmtree(entry)
                else:
                    entry.unlink()
        self.run_venv(maker)

    def run_venv(self, maker: Path, *options: str) -> None:
        done = subprocess.run(
            [maker, "-I", "-m", "venv", *options, self.folder],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            env=clean_environ(),
            pass_fds=(self.lock,),
            check=False,
        )
        if done.returncode != 0:
            raise InstallFailed(f"{maker} could not make {self.folder}:\n{tail(done.stdout.splitlines())}")

    def follow_move(self, old_root: str, base: Path) -> None:
        """Set the environment's own paths right after the checkout was moved or copied; needs no network."""
        self.installing.touch()
        self.run_venv(base, "--without-pip")
        old = os.fsencode(f"{old_root}/.venv/bin/python")
        for script in (self.folder / "bin").iterdir():
            if script.is_symlink() or not script.is_file():
                continue
            content = script.read_bytes()
            if content.startswith(b"#!") and old in content[: 2 * LONGEST_SHEBANG + len(old)]:
                script.write_bytes(with_shebang(content, os.fsencode(self.python)))

    def pip_install(self, *arguments: str) -> None:
        command = [str(self.python), "-m", "pip", "--disable-pip-version-check", "install"]
        if (self.root / "constraints.txt").exists() and "--require-hashes" not in arguments:
            command += ["-c", "constraints.txt"]
        process = subprocess.Popen(
            [*command, *arguments],
            cwd=self.root,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            env=clean_environ(),
            pass_fds=(self.lock,),
        )
        lines: list[str] = []
        assert process.stdout is not None
        try:
            with self.log.open("a", encoding="utf-8") as log:
                for line in process.stdout:
                    lines.append(line.rstrip())
                    log.write(line)
                    show_progress(line)
            code = process.wait()
        except BaseException:
            process.terminate()
            process.wait()
            raise
        finally:
            show_progress("")
        if code != 0:
            # Up to this line pip only looks up, downloads and builds: what was installed before is still whole.
            if not any(line.startswith("Installing collected packages") for line in lines):
                self.installing.unlink(missing_ok=True)
            raise InstallFailed(
                f"pip could not install the project (exit code {code}). The end of its output:\n{tail(lines)}\n"
                f"botz: all of it is in {self.log}\nbotz: {remedy(lines, arguments)}"
            )

    def install(self, extras: frozenset[str]) -> None:
        self.installing.touch()
        self.log.unlink(missing_ok=True)
        pyproject = tomllib.loads((self.root / "pyproject.toml").read_text(encoding="utf-8"))
        locked = self.locked_files(extras)
        # The build tools go into the same environment, pinned like all else: a later change of pyproject.toml that
        # asks for nothing new is then installed without a network.
        if locked:
            self.pip_install("--require-hashes", *(part for file in locked for part in ("-r", file)))
        elif tools := pyproject.get("build-system", {}).get("requires", []):
            self.pip_install(*tools)
        self.install_node(hashed=bool(locked))
        target = f".[{','.join(sorted(extras))}]" if extras else "."
        # All that was locked is there: what is asked for beyond it must not come in without a hash.
        self.pip_install(*(["--no-index"] if locked else []), "--no-build-isolation", "-e", target)

    def locked_files(self, extras: frozenset[str]) -> list[str]:
        """The files with hashes of what is to be installed; none, with a word, where there are no hashes to hold to."""
        files = [f"locked/{name}.txt" for name in ("base", *sorted(extras))]
        if not (self.root / "locked").is_dir():
            return []
        version = self.python_version()
        if os.environ.get("BOTZ_HASHES") == "0":
            reason = "BOTZ_HASHES=0"
        elif version > NEWEST_LOCKED:
            reason = f"locked/ has no hashes for Python {'.'.join(map(str, version))}"
        elif missing := [file for file in files if not (self.root / file).is_file()]:
            reason = f"{missing[0]} is missing"
        else:
            return files
        say(f"{reason}: versions are pinned, but files of packages are not compared with hashes")
        return []

    def python_version(self) -> tuple[int, ...]:
        """Of the environment, which may have been made by another Python than the one that runs this."""
        found = re.search(r"^version\s*=\s*(\d+)\.(\d+)", (self.folder / "pyvenv.cfg").read_text("utf-8"), re.MULTILINE)
        return tuple(map(int, found.groups())) if found else sys.version_info[:2]

    def install_node(self, hashed: bool) -> None:
        """The lab's page is built with Node.js: the system's, or one that comes as a Python package. Without either
        the project is installed without the page, and `botz lab` says so."""
        script = self.root / "tools" / "build_web.py"
        if not script.exists():
            return
        probe = [str(self.python), "-I", str(script), "--missing-node"]
        done = subprocess.run(probe, capture_output=True, text=True, env=clean_environ(), check=False)
        if done.returncode == 0 and (package := done.stdout.strip()):
            try:
                self.pip_install(*(("--require-hashes", "-r", "locked/node.txt") if hashed else (package,)))
            except InstallFailed:
                say("Node.js is not there and could not be installed; the lab will say what is missing")
                self.installing.touch()


def with_shebang(script: bytes, python: bytes) -> bytes:
    """The script with another interpreter, in the two forms that pip writes."""
    lines = script.split(b"\n")
    rest = lines[3:] if lines[0] == b"#!/bin/sh" else lines[1:]
    if b" " in python or len(python) + 3 > LONGEST_SHEBANG:
        head = [b"#!/bin/sh", b"'''exec' \"" + python + b'" "$0" "$@"', b"' '''"]
    else:
        head = [b"#!" + python]
    return b"\n".join(head + rest)


def tail(lines: list[str]) -> str:
    return "\n".join(f"    {line}" for line in [line for line in lines if line.strip()][-TAIL_LINES:])


def remedy(lines: list[str], arguments: tuple[str, ...]) -> str:
    if any("DO NOT MATCH THE HASHES" in line for line in lines):
        return (
            "a file that the registry gave is not the one that this version of Botz was made with, and was not "
            "installed. If your registry builds packages anew on purpose, BOTZ_HASHES=0 installs by version only."
        )
    if "--no-index" in arguments and any("No matching distribution" in line for line in lines):
        return "pyproject.toml asks for more than locked/ holds; python tools/pin.py writes locked/ anew."
    return "if this computer is offline, connect it; the next call tries again."


def show_progress(line: str) -> None:
    """One line that changes while pip works, on a terminal only; an empty text wipes it."""
    if not sys.stderr.isatty():
        return
    if line.startswith(("Collecting ", "Installing collected packages")):
        line = "installing packages" if line.startswith("Installing") else line.split(" (from")[0].strip().lower()
        print(f"\r\x1b[K  {line[:70]}", end="", file=sys.stderr, flush=True)
    elif not line:
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def lasting_name(python: Path) -> Path:
    """`/usr/bin/python3.11` rather than `/usr/bin/python3`, which an upgrade of the system points elsewhere."""
    versioned = python.with_name(f"python{sys.version_info.major}.{sys.version_info.minor}")
    return versioned if versioned.exists() else python


def same_file(a: Path, b: Path) -> bool:
    try:
        return a.samefile(b)
    except OSError:
        return False


def bring_up_to_date(root: Path, checksum: str, extra: str) -> None:
    folder = root / ".venv"
    folder.mkdir(exist_ok=True)
    asked_python = os.environ.get("BOTZ_PYTHON", "")
    wanted = Stamp(checksum, str(root), frozenset(extra.split()), asked_python)
    maker = lasting_name(Path(getattr(sys, "_base_executable", sys.executable)))
    with locked(folder / "botz-lock") as lock:
        environment = Environment(root, lock)
        cut_off = environment.installing.exists()
        stamp = Stamp.read(environment.stamp)
        base = None if cut_off else environment.base_python()
        if base and stamp and stamp.serves(wanted) and (folder / "bin" / "botz").is_file():
            return  # another call made it while this one waited
        if asked_python and base and not same_file(base, maker):
            base = None

        if base is None:
            version = ".".join(str(part) for part in sys.version_info[:3])
            again = "making .venv anew, the last install was cut off," if cut_off else "making .venv"
            say(f"{again} with Python {version}")
            environment.make(maker)
        elif stamp and stamp.root != str(root):
            say("the checkout has moved; repairing .venv")
            environment.follow_move(stamp.root, base)
        extras = wanted.extras | (stamp.extras if stamp else frozenset())
        named = f" with {', '.join(sorted(extras))}" if extras else ""
        patience = "; this takes a minute or two, later calls start at once" if base is None else ""
        say(f"installing the project{named} into .venv{patience}")
        environment.install(extras)
        Stamp(checksum, str(root), extras, asked_python).write(environment.stamp)
        environment.installing.unlink()
        say("ready")


def main(arguments: list[str]) -> int:
    root, checksum, extra = (*arguments, "")[:3]
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        bring_up_to_date(Path(root), checksum, extra)
    except InstallFailed as failure:
        say(str(failure))
        return 1
    except OSError as failure:
        say(f"could not make the environment in {root}/.venv: {failure}")
        return 1
    except KeyboardInterrupt:
        say("interrupted; the next call carries on")
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
