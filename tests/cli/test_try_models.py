"""tools/try_models.py: every model of a folder is a row, whatever becomes of it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_a_row_for_every_model_of_a_folder():
    command = [sys.executable, str(ROOT / "tools" / "try_models.py"), str(ROOT / "tests" / "models"), "--json"]
    done = subprocess.run([*command, "--seconds", "0.2", "--limit", "300"], capture_output=True, text=True, check=False)
    rows = {row["file"]: row for row in json.loads(done.stdout)}
    assert done.returncode == 1, "one of them is broken"
    assert {name: row["run"] for name, row in rows.items()} == {
        "broken.xml": "",
        "several-joints.xml": "good (rk4)",
        "simulator-words.urdf": "good (rk4)",
        "stiff-servos.xml": "good (implicit-fast)",
    }
    assert "mass and inertia of moving bodies" in rows["broken.xml"]["reason"]
    assert rows["stiff-servos.xml"]["check"] == rows["several-joints.xml"]["check"] == "good"
