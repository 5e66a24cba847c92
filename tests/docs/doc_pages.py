"""The documentation as the tests see it: pages, fenced blocks, and how each kind of block is carried out."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import os
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import botz
from botz.cli.main import main
from botz.errors import BotzError
from botz.scenario.load import load, load_robot
from botz.view.lab.client import client_folder

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])

NOT_RUN = re.compile(r"<!-- not run: (.+?) -->")
NEEDS = re.compile(r"<!-- needs: (\w+) -->")
MISTAKES = "<!-- has mistakes -->"
FILE_NAME = re.compile(r"#\s*([\w-]+\.(?:yaml|py|csv))\b")
EXIT_CODE = re.compile(r"\s+# exit code (\d+)$")
SHELL_SIGNS = frozenset("|<>;&$`")

BASE = """\
engine: kinematics
time: {duration: 1 s}
robots:
  rover: {extends: differential-castor-rear}
"""
"""What a block that shows only a part of a scenario is laid over."""


@cache
def graphics_are_there() -> bool:
    """Where CI asks for everything they must be."""
    if os.environ.get("BOTZ_REQUIRE_CLIENT", "") not in ("", "0"):
        return True
    probe = "from botz.view.video_process import open_graphics; open_graphics((16, 16))"
    environ = {"MUJOCO_GL": "egl"} | dict(os.environ) if sys.platform == "linux" else dict(os.environ)
    return subprocess.run([sys.executable, "-c", probe], env=environ, capture_output=True, check=False).returncode == 0


@cache
def page_is_there() -> bool:
    """Where CI asks for it it must be."""
    if os.environ.get("BOTZ_REQUIRE_CLIENT", "") not in ("", "0"):
        return True
    try:
        client_folder()
    except BotzError:
        return False
    return True


@dataclass(frozen=True)
class Block:
    """One fenced block."""

    language: str
    text: str
    line: int
    not_run: str = ""
    """Why it is not carried out; empty where it is."""
    needs: str = ""
    """A package of an extra without which it cannot be carried out; or `graphics`, to draw images with; or `page`, the
    lab's."""
    has_mistakes: bool = False

    @property
    def possible(self) -> bool:
        if self.needs == "graphics":
            return graphics_are_there()
        if self.needs == "page":
            return page_is_there()
        return not self.needs or importlib.util.find_spec(self.needs) is not None

    @property
    def file(self) -> str:
        """The file that it shows, named in a comment on its first line."""
        found = FILE_NAME.match(self.text)
        return found[1] if found else ""

    @property
    def commands(self) -> list[str]:
        joined = self.text.replace("\\\n", " ")
        return [line for line in joined.splitlines() if line.strip() and not line.startswith("#")]


def blocks_of(page: Path) -> list[Block]:
    found: list[Block] = []
    lines = page.read_text(encoding="utf-8").splitlines()
    at = 0
    while at < len(lines):
        if not lines[at].startswith("```"):
            at += 1
            continue
        end = lines.index("```", at + 1)
        before = next((line for line in reversed(lines[:at]) if line.strip()), "")
        reason, needs = NOT_RUN.fullmatch(before.strip()), NEEDS.fullmatch(before.strip())
        found.append(
            Block(
                language=lines[at][3:].strip(),
                text="\n".join(lines[at + 1 : end]) + "\n",
                line=at + 1,
                not_run=reason[1] if reason else "",
                needs=needs[1] if needs else "",
                has_mistakes=before.strip() == MISTAKES,
            )
        )
        at = end + 1
    return found


class Reader:
    """Someone who reads a page from top to bottom in an empty folder and does everything that it says."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.names: dict[str, Any] = {"__name__": "__main__"}
        self.output = ""
        """What the last block printed."""
        (folder / "base.yaml").write_text(BASE, encoding="utf-8")

    def follow(self, block: Block) -> None:
        if block.file:
            (self.folder / block.file).write_text(block.text, encoding="utf-8")
        match block.language:
            case "yaml":
                if not block.has_mistakes:
                    self.check_yaml(block)
            case "python":
                if not block.file:
                    self.run_python(block)
            case "sh":
                self.run_commands(block)
            case "text":
                assert_shown(block.text, self.output)

    def check_yaml(self, block: Block) -> None:
        keys = {line.split(":")[0] for line in block.text.splitlines() if re.match(r"[a-z_]+:", line)}
        path = self.folder / (block.file or f"block-{block.line}.yaml")
        is_part = not keys & {"engine", "extends"}
        path.write_text(("extends: base.yaml\n" if is_part else "") + block.text, encoding="utf-8")
        if keys & {"wheels", "joints"}:
            load_robot(path)
        else:
            load(path)

    def run_python(self, block: Block) -> None:
        printed = io.StringIO()
        code = compile("\n" * block.line + block.text, "<documentation>", "exec")
        with contextlib.redirect_stdout(printed):
            exec(code, self.names)
        self.output = printed.getvalue()

    def run_commands(self, block: Block) -> None:
        self.output = ""
        for line in block.commands:
            wanted = EXIT_CODE.search(line)
            command = line[: wanted.start()] if wanted else line
            code, text = self.run_command(re.sub(r"(^|\| *)\./botz\b", r"\1botz", command))
            self.output += text
            assert code == (int(wanted[1]) if wanted else 0), f"{command!r} ended with exit code {code}:\n{text}"

    def run_command(self, command: str) -> tuple[int, str]:
        """Plain `botz` commands run in this process, which spares each of them the start of an interpreter."""
        if command.startswith("botz ") and not SHELL_SIGNS & set(command):
            return run_botz(shlex.split(command, comments=True)[1:])
        done = subprocess.run(
            ["sh", "-c", command], cwd=self.folder, env=self.environ(), text=True, capture_output=True, check=False
        )
        return done.returncode, done.stdout + done.stderr

    def environ(self) -> dict[str, str]:
        """The commands `botz` and `python` are those of this test, wherever they are installed."""
        programs = self.folder.parent / "programs"
        if not programs.exists():
            programs.mkdir()
            for name, arguments in (("botz", "-m botz "), ("python", "")):
                script = programs / name
                script.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} {arguments}"$@"\n', encoding="utf-8")
                script.chmod(0o755)
        sources = str(Path(botz.__file__).parents[1])
        return os.environ | {"PATH": f"{programs}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": sources}


def run_botz(arguments: list[str]) -> tuple[int, str]:
    printed = io.StringIO()
    code: Any = 0
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        try:
            main(arguments)
        except SystemExit as end:
            code = end.code
    return int(code or 0), printed.getvalue()


def assert_shown(expected: str, output: str) -> None:
    """The expected lines come in this order; spaces count once, and `…` stands for anything within a line."""
    position = 0
    seen = [" ".join(line.split()) for line in output.splitlines()]
    for line in expected.splitlines():
        wanted = " ".join(line.split())
        if wanted in ("", "…"):
            continue
        pattern = re.compile(".*?".join(re.escape(part) for part in wanted.split("…")))
        while position < len(seen) and not pattern.fullmatch(seen[position]):
            position += 1
        assert position < len(seen), f"the page shows {line!r}, which is not in the output:\n{output}"
        position += 1
