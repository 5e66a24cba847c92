"""Every check of the project, one after the other: `./botz test`. With arguments, only pytest with these.

All checks run even when one fails, and pytest comes last, so that its closing line is the last of the output.
The exit code is 1 when any check failed.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

CHECKS: list[tuple[str, list[str], dict[str, str]]] = [
    ("ruff check", ["ruff", "check", "."], {}),
    ("ruff format", ["ruff", "format", "--check", "."], {}),
    ("mypy", ["mypy"], {}),
    # Without the compiler the equations run as the plain Python they are written in, with real tracebacks.
    ("pytest, physics uncompiled", ["pytest", "-q", "-n", "2", "tests/unit/physics"], {"NUMBA_DISABLE_JIT": "1"}),
    ("pytest", ["pytest", "-n", "2", "--dist", "loadfile"], {}),
]


def run(module_and_arguments: list[str], extra_environ: dict[str, str]) -> int:
    return subprocess.run(
        [sys.executable, "-m", *module_and_arguments], cwd=ROOT, env=os.environ | extra_environ, check=False
    ).returncode


def run_all() -> int:
    failed: list[str] = []
    for name, command, extra_environ in CHECKS:
        so_far = f"   (failed so far: {', '.join(failed)})" if failed else ""
        print(f"\n== {name}{so_far}", flush=True)
        if run(command, extra_environ) != 0:
            failed.append(name)
    return 1 if failed else 0


def main(arguments: list[str]) -> int:
    try:
        return run(["pytest", *arguments], {}) if arguments else run_all()
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
