"""Other programs to compare with: in an environment of their own, so that Botz does not depend on them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from botz import kernel_cache
from botz.errors import BotzError, InputError

Answer = TypeVar("Answer")

PACKAGES = {
    "eaik": "eaik==1.2.2",
    "ir-sim": "ir-sim==2.12.0",
    "mujoco": "mujoco==4.0.0",
    "pin": "pin==4.1.0",
    "pybullet": "pybullet==3.2.7",
    "roboticstoolbox-python": "roboticstoolbox-python==1.5.0",
    "rc-robosim": "rc-robosim==1.2",
}
"""What is installed for each peer."""
BUILT = {"rc-robosim": "it is built here and needs a C++ compiler and the library ODE with its headers"}
"""Peers that are published as source for the Pythons that Botz runs on, and what building them takes."""
PYBIND11 = "pybind11==2.13.6"
"""What rc-robosim is built with: the version that it names itself fails to compile for Python 3.11 and later."""
PATIENCE = 600
"""Longest that a peer may take [s]."""


def folder() -> Path:
    return kernel_cache.cache_folder("peers")


def interpreter() -> Path:
    return folder() / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")


def install() -> None:
    """Make the environment and install every peer into it; what fails is told and left out."""
    if not interpreter().exists():
        if folder().exists() and any(folder().iterdir()) and not (folder() / "pyvenv.cfg").exists():
            raise InputError(
                f"{folder()} is not an environment for peers, and not empty; move it, or set BOTZ_CACHE_DIR"
            )
        print(f"botz: making an environment for peers in {folder()}", file=sys.stderr)
        venv.create(folder(), with_pip=True, clear=True)
    for name, package in PACKAGES.items():
        print(f"botz: installing {name} for comparison", file=sys.stderr)
        if not (build(package) if name in BUILT else pip("--only-binary=:all:", package)):
            reason = f" ({BUILT[name]})" if name in BUILT else ""
            print(f"botz: {name} could not be installed; it is left out{reason}", file=sys.stderr)


def pip(*arguments: str, settings: dict[str, str] | None = None) -> bool:
    command = [str(interpreter()), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *arguments]
    done = subprocess.run(command, stdout=sys.stderr, env={**os.environ, **(settings or {})}, check=False)
    return done.returncode == 0


def build(package: str) -> bool:
    """Install a package from source. Its CMake would load pybind11 from the network: it gets the installed one."""
    if not pip("--only-binary=:all:", PYBIND11):
        return False
    asked = subprocess.run(
        [str(interpreter()), "-m", "pybind11", "--cmakedir"], capture_output=True, text=True, check=True
    )
    place = folder() / "pybind11"
    place.mkdir(exist_ok=True)
    found = "cmake_minimum_required(VERSION 3.24)\nfind_package(pybind11 CONFIG REQUIRED)\n"
    (place / "CMakeLists.txt").write_text(found, encoding="utf-8")
    options = {
        "FETCHCONTENT_SOURCE_DIR_PYBIND11": place.as_posix(),
        "pybind11_DIR": Path(asked.stdout.strip()).as_posix(),
        "CMAKE_FIND_PACKAGE_TARGETS_GLOBAL": "ON",
    }
    words = [os.environ.get("CMAKE_ARGS", ""), *(f'"-D{name}={value}"' for name, value in options.items())]
    return pip("--no-cache-dir", package, settings={"CMAKE_ARGS": " ".join(words).strip()})


def measure(script: str, case: Any = None) -> tuple[float | None, str]:
    """The number that a peer's script prints as {"value": …}, or None and why there is none."""
    value, missing = ask(script, case, float)
    return value, missing


def measure_many(script: str, case: Any = None) -> tuple[dict[str, float], str]:
    """The same of a script whose value is a mapping of numbers; empty where there is none."""
    value, missing = ask(script, case, lambda found: {name: float(number) for name, number in found.items()})
    return value or {}, missing


def ask(script: str, case: Any, read: Callable[[Any], Answer]) -> tuple[Answer | None, str]:
    """What `read` makes of a peer's answer, or None and why there is none.

    `case` is what to measure: the script gets it as JSON in its first argument.
    """
    if not interpreter().exists():
        return None, "not installed; botz bench --peers installs it"
    path = Path(__file__).parent / "peer_scripts" / script
    # The peer's own packages only, and no window.
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    try:
        done = subprocess.run(
            [str(interpreter()), str(path), *([] if case is None else [json.dumps(case)])],
            env={**environment, "MPLBACKEND": "Agg"},
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        return read(json.loads(done.stdout.strip().splitlines()[-1])["value"]), ""
    except subprocess.TimeoutExpired:
        return None, f"took longer than {PATIENCE} s"
    except (AttributeError, IndexError, ValueError, KeyError, TypeError):
        last = (done.stderr.strip().splitlines() or ["no output"])[-1]
        return None, f"failed: {last[:120]}"
    except OSError as error:
        raise BotzError(f"cannot start {interpreter()}: {error.strerror}") from error
