"""A package beside Botz, installed for the processes that a test starts, or for the test's own: one file or folder, and
what it adds."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest
from common import PATIENCE, Answer

from botz.registry import discovered, installed_points
from botz.scenario.families import FAMILIES

HERE = Path(__file__).parent
EXTRAS = HERE.parents[1] / "examples" / "package"
"""A package that adds one of each kind but a family, as its files are installed one by one below."""
HOW_TO = HERE.parents[1] / "docs" / "architecture.md"
Points = Mapping[str, Mapping[str, str]]
"""Entry points: for each group, what is named by `module:name`."""


def how_to_add() -> dict[str, str]:
    """What the documentation says of adding each kind, by its heading."""
    text = HOW_TO.read_text(encoding="utf-8").partition("\n## How to add\n")[2].partition("\n## ")[0]
    return dict(part.split("\n", 1) for part in text.split("\n### ")[1:])


def documented(group: str, **others: str) -> Points:
    """The entry point of this group as the documentation has it, and others beside it."""
    blocks = [block for text in how_to_add().values() for block in re.findall(r"```toml\n(.+?)```", text, re.DOTALL)]
    points = [tomllib.loads(block)["project"]["entry-points"] for block in blocks]
    (entry,) = (point[group] for point in points if group in point)
    return {group: entry | others}


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


def install(folder: Path, file: str, points: Points) -> Package:
    """One file of the example package as a package with these entry points, and with nothing else."""
    register(folder, points)
    (folder / "botz_extras").mkdir()
    shutil.copy(EXTRAS / "botz_extras" / file, folder / "botz_extras")
    return Package(folder)


def register(folder: Path, points: Points) -> None:
    """What an installation leaves in a folder beside the code."""
    information = folder / "added-1.0.dist-info"
    information.mkdir(parents=True)
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: added\nVersion: 1.0\n", encoding="utf-8")
    lines = [
        line
        for group, names in points.items()
        for line in (f"[{group}]", *(f"{name} = {target}" for name, target in names.items()))
    ]
    (information / "entry_points.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


@contextmanager
def installed(*folders: Path) -> Iterator[None]:
    """With these folders on the path of this process and of those that it starts."""
    with pytest.MonkeyPatch.context() as patch:
        for folder in folders:
            patch.syspath_prepend(folder)
            patch.setenv("PYTHONPATH", str(folder), prepend=os.pathsep)
        forget_packages()
        yield
    forget_packages()


def forget_packages() -> None:
    """What installed packages add is looked for anew."""
    installed_points.cache_clear()
    discovered.cache_clear()
    vars(FAMILIES).pop("_records", None)
