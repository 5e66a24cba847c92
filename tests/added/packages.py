"""A package beside Botz, installed for the processes that a test starts: one file, and what it adds."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from common import PATIENCE, Answer

HERE = Path(__file__).parent


class Package(NamedTuple):
    """A folder in which Python finds modules and their entry points."""

    folder: Path

    @property
    def environment(self) -> dict[str, str]:
        paths = [str(self.folder), *filter(None, [os.environ.get("PYTHONPATH")])]
        return {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}

    def python(self, *arguments: str, cwd: Path | None = None) -> Answer:
        done = subprocess.run(
            [sys.executable, *arguments],
            cwd=cwd or self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            timeout=PATIENCE,
            check=False,
        )
        return Answer(done.returncode, done.stdout, done.stderr)

    def botz(self, *arguments: str, cwd: Path | None = None) -> Answer:
        return self.python("-m", "botz", *arguments, cwd=cwd)


def install(folder: Path, file: str, points: Mapping[str, Mapping[str, str]]) -> Package:
    """`file` of this folder as a package with entry points: for each group, what is named by `module:name`."""
    information = folder / "added-1.0.dist-info"
    information.mkdir(parents=True)
    shutil.copy(HERE / file, folder)
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: added\nVersion: 1.0\n", encoding="utf-8")
    lines = [
        line
        for group, names in points.items()
        for line in (f"[{group}]", *(f"{name} = {target}" for name, target in names.items()))
    ]
    (information / "entry_points.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return Package(folder)
