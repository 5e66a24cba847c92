"""Writes constraints.txt and the files of locked/ anew: one pinned version of every package, direct or not, for all
supported Pythons and platforms, and the hashes of its files.

    pip install uv
    python tools/pin.py             keeps the versions that still fit
    python tools/pin.py --upgrade   takes the newest ones

uv resolves for every Python and platform at once and adds a marker where versions have to differ. constraints.txt holds
everything; a file of locked/ holds what one way of installing needs, with hashes, so that pip refuses any other file.
Build tools are pinned with the rest. No file names the registry that the versions and hashes came from.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Any

from build_web import WHEEL

ROOT = Path(__file__).resolve().parent.parent
CONSTRAINTS = ROOT / "constraints.txt"
LOCKED = ROOT / "locked"
CONSTRAINTS_HEADER = """\
# Pinned versions of everything that is installed, direct or not, on Python 3.11 to 3.14.
# Used as `pip install -c constraints.txt`. Made by `python tools/pin.py`; do not edit by hand.
"""
LOCKED_HEADER = """\
# {purpose}: versions and hashes, for Python 3.11 to 3.14.
# Used as `pip install --require-hashes -r locked/{name}`. Made by `python tools/pin.py`; not edited by hand.
"""


SETS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("base", "What Botz needs", ()),
    ("oracles", "What Botz and `./botz verify` need", ("--extra", "oracles")),
    ("test", "What Botz, `./botz verify` and `./botz test` need", ("--extra", "test")),
)
"""Each holds the one before it."""


class NotPinned(Exception):
    """The requirements could not be resolved; the text says why."""


def resolved(requirements: list[str], *options: str, keep: str = "") -> str:
    """What uv makes of the requirements; `keep` is a former answer whose versions may stay."""
    uv = shutil.which("uv") or shutil.which("uv", path=str(Path(sys.executable).parent))
    if uv is None:
        raise NotPinned("uv is missing: pip install uv")
    oldest = project()["project"]["requires-python"].removeprefix(">=")
    with tempfile.TemporaryDirectory() as folder:
        fresh = Path(folder) / "pins.txt"
        fresh.write_text(keep, encoding="utf-8")  # uv keeps the versions that it finds in its output file
        command = [uv, "pip", "compile", "-", "--universal", "--python-version", oldest, "--quiet", "-o", str(fresh)]
        command += ["--no-header", "--no-annotate", "--no-emit-index-url", "--no-emit-find-links", *options]
        text = "\n".join(requirements)
        done = subprocess.run(command, cwd=ROOT, input=text, text=True, stdout=subprocess.DEVNULL, check=False)
        if done.returncode != 0:
            raise NotPinned(f"uv could not resolve the requirements (exit code {done.returncode})")
        lines = fresh.read_text(encoding="utf-8").splitlines(keepends=True)
    return "".join(line for line in lines if not line.startswith("#"))


def project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def packages(text: str) -> list[str]:
    """Each package of a requirements file, with the lines of its hashes."""
    return re.findall(r"^[a-z0-9](?:.*\\\n)*.*\n", text, flags=re.MULTILINE | re.IGNORECASE)


def write_locked(name: str, purpose: str, beyond: str, found: list[str]) -> None:
    header = LOCKED_HEADER.format(purpose=purpose, name=f"{name}.txt")
    LOCKED.mkdir(exist_ok=True)
    (LOCKED / f"{name}.txt").write_text(header + beyond + "".join(found), encoding="utf-8")


def main(options: list[str]) -> int:
    tools = project()["build-system"]["requires"]
    former = CONSTRAINTS.read_text(encoding="utf-8") if CONSTRAINTS.exists() else ""
    hashed = ("--generate-hashes", "-c", CONSTRAINTS.name)
    try:
        pins = resolved([*tools, WHEEL], "pyproject.toml", "--all-extras", *options, keep=former)
        CONSTRAINTS.write_text(CONSTRAINTS_HEADER + pins, encoding="utf-8")
        there: list[str] = []
        beyond = ""
        for name, purpose, extra in SETS:
            found = packages(resolved(tools, "pyproject.toml", *extra, *hashed))
            write_locked(name, purpose, beyond, [package for package in found if package not in there])
            there += found
            beyond = f"-r {name}.txt\n"
        node = packages(resolved([WHEEL], *hashed))
        write_locked("node", "Node.js, where the system has none, to build the lab's page", "", node)
    except NotPinned as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
