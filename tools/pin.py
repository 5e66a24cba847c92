"""Writes constraints.txt anew: one pinned version of every package, direct or not, for all supported Pythons.

    pip install uv
    python tools/pin.py             keeps the versions that still fit
    python tools/pin.py --upgrade   takes the newest ones

uv resolves for every Python and platform at once and adds a marker where versions have to differ. The build tools
are pinned with the rest.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HEADER = """\
# Pinned versions of everything that is installed, direct or not, on Python 3.11 to 3.14.
# Used as `pip install -c constraints.txt`. Made by `python tools/pin.py`; do not edit by hand.
"""


def main(options: list[str]) -> int:
    uv = shutil.which("uv") or shutil.which("uv", path=str(Path(sys.executable).parent))
    if uv is None:
        print("uv is missing: pip install uv", file=sys.stderr)
        return 1
    pyproject = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    oldest = pyproject["project"]["requires-python"].removeprefix(">=")
    constraints = ROOT / "constraints.txt"
    fresh = ROOT / "constraints.new"
    if constraints.exists():
        shutil.copyfile(constraints, fresh)  # uv keeps the pins that it finds in its output file
    command = [uv, "pip", "compile", "pyproject.toml", "-", "--all-extras", "--universal"]
    command += [
        "--python-version",
        oldest,
        "--no-header",
        "--no-annotate",
        "--no-emit-index-url",
        "--quiet",
        "-o",
        fresh.name,
        *options,
    ]
    try:
        done = subprocess.run(
            command,
            cwd=ROOT,
            input="\n".join(pyproject["build-system"]["requires"]),
            text=True,
            stdout=subprocess.DEVNULL,
            check=False,
        )
        if done.returncode == 0:
            pins = [line for line in fresh.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
            constraints.write_text(HEADER + "\n".join(pins) + "\n", encoding="utf-8")
        return done.returncode
    finally:
        fresh.unlink(missing_ok=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
