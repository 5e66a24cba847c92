"""The build backend of the tiny project in test_launcher.py: installs `fakebotz.py` in place, needs no registry.

Files beside it steer it: `fail` makes the build fail, `hold` makes it wait (it then writes `held`). Every build
adds a line to `builds`.
"""

from __future__ import annotations

import time
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent
INFO = "botz-1.0.dist-info"
METADATA = "Metadata-Version: 2.1\nName: botz\nVersion: 1.0\nProvides-Extra: test\nProvides-Extra: oracles\n"
ENTRY_POINTS = "[console_scripts]\nbotz = fakebotz:main\n"


def prepare_metadata_for_build_editable(metadata_directory, config_settings=None):
    folder = Path(metadata_directory, INFO)
    folder.mkdir()
    (folder / "METADATA").write_text(METADATA)
    (folder / "entry_points.txt").write_text(ENTRY_POINTS)
    return INFO


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    with (ROOT / "builds").open("a") as log:
        log.write("build\n")
    if (ROOT / "fail").exists():
        raise RuntimeError("the fake build was told to fail")
    while (ROOT / "hold").exists():
        (ROOT / "held").touch()
        time.sleep(0.02)
    files = {
        "fakebotz.pth": f"{ROOT}\n",
        f"{INFO}/METADATA": METADATA,
        f"{INFO}/WHEEL": "Wheel-Version: 1.0\nGenerator: fake\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{INFO}/entry_points.txt": ENTRY_POINTS,
    }
    files[f"{INFO}/RECORD"] = "".join(f"{name},,\n" for name in [*files, f"{INFO}/RECORD"])
    name = "botz-1.0-py3-none-any.whl"
    with zipfile.ZipFile(Path(wheel_directory, name), "w") as wheel:
        for path, text in files.items():
            wheel.writestr(path, text)
    return name
