"""What tests of several files share."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def own_checkout(tmp_path: Path) -> Path:
    """A repository of one commit with the source and the tools, as it is now."""
    root = tmp_path / "checkout"
    ignored = shutil.ignore_patterns("__pycache__", "client", "pictures")
    shutil.copytree(ROOT / "src" / "botz", root / "src" / "botz", ignore=ignored)
    shutil.copytree(ROOT / "tools", root / "tools", ignore=ignored)
    git = ["git", "-C", str(root), "-c", "user.name=A", "-c", "user.email=a@b"]
    for words in (["init", "-q"], ["add", "src"], ["commit", "-q", "-m", "Begin"]):
        subprocess.run([*git, *words], check=True)
    return root
