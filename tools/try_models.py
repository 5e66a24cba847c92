"""Load, check, convert and run every model file in a folder, and print a table: python tools/try_models.py FOLDER.

Each model has a process of its own with a time limit, so that a crash is a row and not the end. Where packages were
installed into the folder by `pip install --target FOLDER/NAME`, rows name the package and its version.

    python tools/try_models.py models --results tried.json         rows are kept, and kept ones are not tried again
    python tools/try_models.py models --list tools/models_tried.txt --page docs/models-tried.md
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

ENDINGS = (".urdf", ".xacro", ".sdf", ".world", ".xml")
STAGES = ("load", "check", "convert", "run")
TITLES = {"file": "model", "format": "format", "freedom": "degrees of freedom", **{one: one for one in STAGES}}
RAISE = re.compile(r"raise its z to (-?[\d.]+) or more")
SEVERAL = re.compile(r"name one by 'model: ([^']+)' of the robot")
START, END = "<!-- table: models -->", "<!-- end of table -->"
LONGEST = 240
"""Of a reason."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="searched with all folders in it")
    parser.add_argument("--seconds", type=float, default=2.0, help="how long each model runs [s]")
    parser.add_argument("--limit", type=float, default=120.0, help="wall time that each model may take [s]")
    parser.add_argument("--match", default="", help="regular expression that paths must hold")
    parser.add_argument("--skip", default="(?!)", help="regular expression of paths that are left out")
    parser.add_argument("--list", type=Path, help="file with paths in the folder; only those are tried, in that order")
    parser.add_argument("--most", type=int, default=0, help="try that many models at most; 0: all")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--results", type=Path, help="file in which rows are kept; models in it are not tried again")
    parser.add_argument("--page", type=Path, help="page of the documentation whose table is written")
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.one:
        print(json.dumps(tried(args.folder, args.seconds)))
        return 0
    if not args.folder.is_dir():
        parser.error(f"{args.folder} is not a folder")
    files = [
        file
        for file in model_files(args.folder)
        if re.search(args.match, file.as_posix()) and not re.search(args.skip, file.as_posix())
    ]
    if args.list is not None:
        files = [args.folder / line for line in args.list.read_text("utf-8").split()]
        if missing := [file for file in files if not file.is_file()]:
            parser.error(f"{args.list} names {missing[0]}, which is not there ({len(missing)} of {len(files)} are not)")
    kept = json.loads(args.results.read_text("utf-8")) if args.results is not None and args.results.is_file() else {}
    rows = []
    if not args.json:
        print(markdown_row(TITLES.values(), "reason"), markdown_row(["---"] * len(TITLES), "---"), sep="\n")
    for file in files[: args.most or None]:
        name = file.relative_to(args.folder).as_posix()
        if name not in kept:
            found = in_a_process(file, args.seconds, args.limit)
            found["reason"] = re.sub(rf"{re.escape(tempfile.gettempdir())}/tmp\w+/", "", found["reason"])
            found["reason"] = found["reason"].replace(f"{args.folder.resolve()}/", "")
            kept[name] = {"file": name, "package": package_of(file, args.folder), **found}
            if args.results is not None:
                args.results.write_text(json.dumps(kept, indent=1), encoding="utf-8")
        rows.append(kept[name])
        if not args.json:
            print(markdown_row((kept[name][key] for key in TITLES), shortened(kept[name]["reason"])), flush=True)
    good = sum(row["run"].startswith("good") for row in rows)
    if args.json:
        print(json.dumps(rows, indent=2))
    else:
        print(f"{len(rows)} models, {good} run")
    if args.page is not None:
        write_page(args.page, rows)
    return 0 if good == len(rows) else 1


def model_files(folder: Path) -> list[Path]:
    """Model files; of XML files those that are MJCF with bodies."""
    found = []
    for file in sorted(folder.resolve().rglob("*")):
        if file.suffix.lower() not in ENDINGS or not file.is_file():
            continue
        if file.suffix.lower() == ".xml":
            text = file.read_text(encoding="utf-8", errors="replace")
            if not re.search(r"<mujoco[\s>]", text) or ("<body" not in text and "<include" not in text):
                continue
        found.append(file)
    return [folder / file.relative_to(folder.resolve()) for file in found]


def package_of(file: Path, folder: Path) -> str:
    """Name and version of the installed package that a file belongs to; empty where there is none."""
    for above in file.parents:
        if above == folder.parent:
            break
        if (named := next(iter(sorted(above.glob("*.dist-info"))), None)) is not None:
            name, _, version = named.name.removesuffix(".dist-info").partition("-")
            return f"{name.replace('_', '-')} {version}"
    return ""


# --- one model -------------------------------------------------------------------------------------------------------


def in_a_process(file: Path, seconds: float, limit: float) -> dict[str, str]:
    command = [sys.executable, __file__, str(file.resolve()), "--one", "--seconds", str(seconds)]
    empty = dict.fromkeys(("format", "freedom", *STAGES, "reason"), "")
    with tempfile.TemporaryDirectory() as folder:  # a library that writes where it stands writes there
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=limit, check=False, cwd=folder)
        except subprocess.TimeoutExpired:
            return empty | {"load": "no", "reason": f"took longer than {limit:g} s"}
    lines = done.stdout.strip().splitlines()
    try:
        return empty | json.loads(lines[-1])
    except (IndexError, ValueError):
        last = (done.stderr.strip().splitlines() or ["nothing was printed"])[-1]
        return empty | {"load": "no", "reason": f"ended with exit code {done.returncode}: {last}"}


def tried(file: Path, seconds: float) -> dict[str, str]:
    """What each stage made of a model; ends at the first that fails, but for the conversion."""
    from botz.errors import BotzError

    row: dict[str, str] = {}
    reasons: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        try:
            stages(file, seconds, Path(folder), row, reasons)
        except BotzError as error:
            if row.get("load") != "no":
                row[next(one for one in STAGES if one not in row)] = "no"
            reasons.append(words_of(error))
    row["reason"] = "; ".join(reasons)
    return row


def stages(file: Path, seconds: float, folder: Path, row: dict[str, str], reasons: list[str]) -> None:
    from botz.errors import InputError
    from botz.models.check import check_model
    from botz.models.files import load_model, save_model
    from botz.models.fill import filled
    from botz.models.tree import inertia_problems, tied_if_massless

    robot: dict[str, Any] = {"file": str(file), "unknown_plugins": "ignore"}
    try:
        model = load_model(file, check_inertia=False)
    except InputError as error:
        if (several := SEVERAL.search(str(error))) is None:
            raise
        robot["model"] = several[1]
        model = load_model(file, check_inertia=False, model=several[1])
        reasons.append(f"holds several models; {several[1]!r} is taken")
    model = tied_if_massless(model)
    row["format"] = model.format.upper()
    joints = sum(joint.kind != "fixed" for joint in model.joints.values())
    row["freedom"] = str(joints + (0 if model.fixed_base else 6))
    ending = "sdf" if model.native is not None else "xml"
    where = folder / f"converted.{ending}"
    if problems := inertia_problems(model):
        row["load"] = "no"
        reasons.append(words_of(InputError(problems[:1])))
        model, _ = filled(model)
        if problems := inertia_problems(model):
            return
        save_model(model, where)
        reasons.append("the rest is told of what `botz model convert --fill-inertia` makes of it")
        robot = {"file": str(where)}
        row["load"] = "filled"
    else:
        row["load"] = "good"
    found = check_model(model, 0.00025)
    errors = [one for one in found if one.severity == "error"]
    row["check"] = counted(errors, "error") if errors else counted(found, "warning") if found else "good"
    reasons += [f"{one.place}: {one.message}" for one in errors[:1]]
    try:
        save_model(model, where)
        load_model(where, fixed=model.fixed_base)
        row["convert"] = f"good ({ending})"
    except InputError as error:
        row["convert"] = "no"
        reasons.append(f"{ending}: {words_of(error)}")
    if model.fixed_base:
        robot["base"] = "fixed"
    method, freedom = ran(robot, seconds)
    row |= {"freedom": str(freedom), "run": f"good ({method})"}


def ran(robot: Mapping[str, Any], seconds: float) -> tuple[str, int]:
    """Run it on a floor, as high as it needs; gives the method that was taken and the degrees of freedom."""
    import numpy as np

    from botz.engines.multibody.engine import MultibodyEngine
    from botz.errors import BotzError, InputError
    from botz.scenario.multibody.schema import MultibodyScenario

    height = 0.0
    while True:
        robots = {"it": {**robot, "pose": {"z": height}}}
        try:
            engine = MultibodyEngine(MultibodyScenario.model_validate({"engine": "multibody", "robots": robots}))
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
    return engine.method, int(engine.model.nv)


def words_of(error: Exception) -> str:
    """The first problem, with its part, and how many more there are."""
    problems = getattr(error, "problems", [])
    if not problems:
        return str(error)
    first = problems[0]
    place = f"{first.key}: " if first.key and not first.key.startswith("robots") else ""
    more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    return f"{place}{first.message}{more}"


def counted(things: list[Any], word: str) -> str:
    return f"{len(things)} {word}{'s' if len(things) > 1 else ''}"


# --- tables ----------------------------------------------------------------------------------------------------------


def write_page(page: Path, rows: list[dict[str, str]]) -> None:
    """Put the table into a page, by packages."""
    lines = ["", f"{len(rows)} models, of which {sum(row['run'].startswith('good') for row in rows)} run.", ""]
    for package in sorted({row["package"] for row in rows}):
        own = sorted((row for row in rows if row["package"] == package), key=lambda row: row["file"])
        good = sum(row["run"].startswith("good") for row in own)
        names = short_names([row["file"] for row in own])
        titles = [TITLES[key] for key in TITLES]
        lines += [f"### {package}", "", f"{len(own)} models, {good} run.", "", markdown_row(titles, "reason")]
        lines.append(markdown_row(["---"] * len(titles), "---"))
        for row, name in zip(own, names, strict=True):
            cells = [f"`{name}`", *(row[key] for key in TITLES if key != "file")]
            lines.append(markdown_row(cells, shortened(row["reason"])))
        lines.append("")
    text = page.read_text(encoding="utf-8")
    before, rest = text.split(START, 1)
    page.write_text(f"{before}{START}\n{chr(10).join(lines)}\n{END}{rest.split(END, 1)[1]}", encoding="utf-8")


def short_names(names: list[str]) -> list[str]:
    """Paths without the folders that all of them begin with."""
    parts = [name.split("/") for name in names]
    same = 0
    while all(len(one) > same + 1 and one[same] == parts[0][same] for one in parts):
        same += 1
    return ["/".join(one[same:]) for one in parts]


def markdown_row(cells: Iterable[str], last: str) -> str:
    return re.sub(r" +\|", " |", f"| {' | '.join([*cells, last])} |")


def shortened(text: str) -> str:
    words = " ".join(text.split()).replace("|", "/")
    return words if len(words) <= LONGEST else f"{words[: LONGEST - 1]}…"


if __name__ == "__main__":
    sys.exit(main())
