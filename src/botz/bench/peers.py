"""Other programs to compare with: in an environment of their own, so that Botz does not depend on them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
from pathlib import Path
from typing import Any

from botz import kernel_cache
from botz.errors import BotzError

PACKAGES = {"ir-sim": "ir-sim==2.12.0", "mujoco": "mujoco==4.0.0", "pybullet": "pybullet==3.2.7"}
"""What is installed for each peer."""
PATIENCE = 600
"""Longest that a peer may take [s]."""


def folder() -> Path:
    return kernel_cache.base_folder().parent / "peers"


def interpreter() -> Path:
    return folder() / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")


def install() -> None:
    """Make the environment and install every peer into it; what fails is told and left out."""
    if not interpreter().exists():
        print(f"botz: making an environment for peers in {folder()}", file=sys.stderr)
        venv.create(folder(), with_pip=True, clear=True)
    for name, package in PACKAGES.items():
        print(f"botz: installing {name} for comparison", file=sys.stderr)
        options = ["--quiet", "--disable-pip-version-check", "--only-binary=:all:"]  # compiling one takes a compiler
        command = [str(interpreter()), "-m", "pip", "install", *options, package]
        done = subprocess.run(command, stdout=sys.stderr, check=False)
        if done.returncode:
            print(f"botz: {name} could not be installed; it is left out", file=sys.stderr)


def measure(script: str, case: Any = None) -> tuple[float | None, str]:
    """The number that a peer's script prints as {"value": …}, or None and why there is none.

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
        return float(json.loads(done.stdout.strip().splitlines()[-1])["value"]), ""
    except subprocess.TimeoutExpired:
        return None, f"took longer than {PATIENCE} s"
    except (IndexError, ValueError, KeyError, TypeError):
        last = (done.stderr.strip().splitlines() or ["no output"])[-1]
        return None, f"failed: {last[:120]}"
    except OSError as error:
        raise BotzError(f"cannot start {interpreter()}: {error.strerror}") from error
