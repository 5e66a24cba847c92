"""Load, check, convert and run every model file in a folder, and print a table: python tools/try_models.py FOLDER.

Each model has a process of its own with a time limit, so that a crash is a row and not the end.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ENDINGS = (".urdf", ".xacro", ".sdf", ".world", ".xml")
STAGES = ("load", "check", "convert", "run")
RAISE = re.compile(r"raise its z to (-?[\d.]+) or more")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="searched with all folders in it")
    parser.add_argument("--seconds", type=float, default=2.0, help="how long each model runs [s]")
    parser.add_argument("--limit", type=float, default=60.0, help="wall time that each model may take [s]")
    parser.add_argument("--match", default="", help="regular expression that paths must hold")
    parser.add_argument("--most", type=int, default=0, help="try that many models at most; 0: all")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.one:
        print(json.dumps(tried(args.folder, args.seconds)))
        return 0
    if not args.folder.is_dir():
        parser.error(f"{args.folder} is not a folder")
    files = [file for file in model_files(args.folder) if re.search(args.match, str(file))]
    rows = []
    for file in files[: args.most or None]:
        row = {"file": str(file.relative_to(args.folder)), **in_a_process(file, args.seconds, args.limit)}
        rows.append(row)
        if not args.json:
            print(f"| {row['file']} | {' | '.join(row[stage] for stage in STAGES)} | {row['reason']} |", flush=True)
    good = sum(row["run"].startswith("good") for row in rows)
    if args.json:
        print(json.dumps(rows, indent=2))
    else:
        print(f"{len(rows)} models, {good} run")
    return 0 if good == len(rows) else 1


def model_files(folder: Path) -> list[Path]:
    """Model files; of XML files those that are MJCF with bodies."""
    found = []
    for file in sorted(folder.rglob("*")):
        if file.suffix.lower() not in ENDINGS or not file.is_file():
            continue
        if file.suffix.lower() == ".xml":
            text = file.read_text(encoding="utf-8", errors="replace")
            if "<mujoco" not in text or ("<body" not in text and "<include" not in text):
                continue
        found.append(file)
    return found


def in_a_process(file: Path, seconds: float, limit: float) -> dict[str, str]:
    command = [sys.executable, __file__, str(file), "--one", "--seconds", str(seconds)]
    empty = dict.fromkeys((*STAGES, "reason"), "")
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit, check=False)
    except subprocess.TimeoutExpired:
        return empty | {"reason": f"took longer than {limit:g} s"}
    lines = done.stdout.strip().splitlines()
    try:
        return empty | json.loads(lines[-1])
    except (IndexError, ValueError):
        last = (done.stderr.strip().splitlines() or ["nothing was printed"])[-1]
        return empty | {"reason": f"ended with exit code {done.returncode}: {shortened(last)}"}


def tried(file: Path, seconds: float) -> dict[str, str]:
    """What each stage made of a model; ends at the first that fails, but for the conversion."""
    from botz.errors import BotzError, InputError
    from botz.scene.model_check import check_model
    from botz.scene.model_files import load_model, save_model

    row: dict[str, str] = {}
    stage = "load"
    try:
        model = load_model(file)
        row["load"] = "good"
        stage = "check"
        found = check_model(model, 0.00025)
        errors = [one for one in found if one.severity == "error"]
        row["check"] = f"{len(errors)} errors" if errors else f"{len(found)} warnings" if found else "good"
        reasons = [f"{one.place}: {one.message}" for one in errors[:1]]
        stage = "convert"
        ending = "sdf" if model.native is not None else "xml"
        try:
            with tempfile.TemporaryDirectory() as folder:
                save_model(model, Path(folder) / f"converted.{ending}")
                load_model(Path(folder) / f"converted.{ending}")
            row["convert"] = f"good ({ending})"
        except InputError as error:
            row["convert"] = "no"
            reasons.append(f"{ending}: {error.problems[0].message}")
        stage = "run"
        row["run"] = f"good ({ran(file, seconds)})"
        row["reason"] = shortened("; ".join(reasons))
    except BotzError as error:
        text = error.problems[0].message if isinstance(error, InputError) else str(error)
        row |= {stage: "no", "reason": shortened(text)}
    return row


def ran(file: Path, seconds: float) -> str:
    """Run it on a floor, as high as it needs; gives the method that was taken."""
    import numpy as np

    from botz.engines.multibody import MultibodyEngine
    from botz.errors import BotzError, InputError
    from botz.scenario.multibody import MultibodyScenario

    height = 0.0
    while True:
        robot: dict[str, Any] = {"file": str(file), "pose": {"z": height}, "unknown_plugins": "ignore"}
        try:
            engine = MultibodyEngine(MultibodyScenario.model_validate({"engine": "multibody", "robots": {"it": robot}}))
            break
        except InputError as error:
            higher = RAISE.search(str(error))
            if higher is None or float(higher[1]) <= height:
                raise
            height = float(higher[1])
    engine.reset(np.random.default_rng(0))
    steps = round(seconds / engine.dt)
    if not engine.advance(0, steps, 0, np.zeros((1, engine.channels.width))):
        raise BotzError(f"diverged; {engine.stability_hint()}")
    return engine.method


def shortened(text: str) -> str:
    words = " ".join(text.split()).replace("|", "/")
    return words if len(words) <= 160 else f"{words[:157]}…"


if __name__ == "__main__":
    sys.exit(main())
