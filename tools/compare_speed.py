"""Whether a version of the source is as fast as another one, both measured side by side in one run.

    python tools/compare_speed.py main                     the working tree against a commit
    python tools/compare_speed.py v1 v2 --only vehicle     two commits, one family
    python tools/compare_speed.py --list                   what is measured

Both versions run by tools/run_speed.py in processes of their own, which take turns: old, new, new, old, … The best pass
of each process counts, so that whatever else the machine does is left out. Where code and data lie in memory changes
from process to process and takes a few per cent, so there are several processes of each version: the best of them is
the version's time, and how far their middle one is from it is the noise. The exit code is 1 where the new version is
slower by more than 3 % and the noise.
"""

from __future__ import annotations

import argparse
import fnmatch
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, replace
from math import ceil
from pathlib import Path
from statistics import median
from typing import NamedTuple

import run_speed
from run_speed import Case
from versions import WORKING_TREE, NoResult, Worker, checked, command, environment_of, source_of

ALLOWED = 0.03
"""So much slower may the new version be."""
TURN = 0.1
"""Passes are repeated until a turn takes as long [s]."""


class Row(NamedTuple):
    """A case in both versions: seconds of one step, or of a whole run."""

    case: Case
    old: float
    new: float
    noise: float

    @property
    def ratio(self) -> float:
        """Above 1: the new version takes longer."""
        return self.new / self.old

    @property
    def slower(self) -> bool:
        return self.ratio > 1.0 + ALLOWED + self.noise


def row_of(case: Case, old: Sequence[float], new: Sequence[float]) -> Row:
    """From the best of each process."""
    noise = max(median(times) / min(times) - 1.0 for times in (old, new))
    return Row(case, min(old), min(new), noise)


def table(rows: Sequence[Row]) -> str:
    lines = ["| bench | old | new | new/old | noise |", "| --- | ---: | ---: | ---: | ---: |"]
    for row in rows:
        old, new = (f"{value:.3g} s" if row.case.whole else f"{1e6 * value:.4g} µs" for value in (row.old, row.new))
        mark = " **slower**" if row.slower else ""
        lines.append(f"| {row.case.name} | {old} | {new} | {row.ratio:.3f}{mark} | {100 * row.noise:.1f} % |")
    return "\n".join(lines)


# --- measuring -------------------------------------------------------------------------------------------------------


def measured(cases: Sequence[Case], workers: Mapping[str, Worker], rounds: int) -> dict[tuple[str, str], float]:
    """Best time of each case (its name) in each version, whose processes take turns."""

    def turn(version: str, case: Case, passes: int) -> tuple[float, int]:
        answer = workers[version].ask(case.name, {"case": asdict(case), "passes": passes})
        if "error" in answer:
            raise NoResult(f"{case.name}, {version}: {answer['error']}")
        return min(answer["seconds"]), answer["count"]

    best: dict[tuple[str, str], float] = {}
    for case in cases:
        print(f"    {case.name}", file=sys.stderr, flush=True)
        for version in workers:  # each once by itself: one may compile
            best[case.name, version], count = turn(version, case, 1)
        passes = 1 if case.whole else max(1, ceil(TURN / (best[case.name, next(iter(workers))] * count)))
        for number in range(max(2, rounds // 2) if case.whole else rounds):
            for version in list(workers)[:: -1 if number % 2 else 1]:
                seconds, _ = turn(version, case, passes)
                best[case.name, version] = min(best[case.name, version], seconds)
    return best


def compared(cases: Sequence[Case], sources: Mapping[str, Path], args: argparse.Namespace) -> list[Row]:
    found: dict[tuple[str, str], list[float]] = {}
    for number in range(args.processes):
        print(f"processes {number + 1} of {args.processes}", file=sys.stderr, flush=True)
        with ExitStack() as stack:
            noise = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="botz-speed-")))
            workers = {}
            for version, source in sources.items():
                environment = environment_of(source, args.keep.absolute() / "kernels")
                workers[version] = Worker(run_speed.__file__, source, environment, noise / version)
                stack.callback(workers[version].end)
            for key, seconds in measured(cases, workers, args.rounds).items():
                found.setdefault(key, []).append(seconds)
    return [row_of(case, *(found[case.name, version] for version in sources)) for case in cases]


# --- the command -----------------------------------------------------------------------------------------------------


def arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", metavar="OLD", nargs="?", default="HEAD", help="a commit; by default the last one")
    parser.add_argument(
        "new", metavar="NEW", nargs="?", default=WORKING_TREE, help="a commit; by default the working tree"
    )
    parser.add_argument("--only", default="*", metavar="PATTERN", help="a family, or cases of this name; * and ?")
    parser.add_argument("--rounds", type=int, default=5, help="turns of each process")
    parser.add_argument("--processes", type=int, default=3, help="of each version, one after the other")
    parser.add_argument("--seconds", type=float, default=1e9, help="simulated in a pass at most")
    parser.add_argument("--keep", type=Path, default=Path(sys.prefix) / "compare-bits", help="where commits are kept")
    parser.add_argument("--list", action="store_true", help="print what is measured")
    return parser


def run() -> int:
    args = arguments().parse_args()
    chosen = [
        case for case in run_speed.cases() if any(fnmatch.fnmatch(x, args.only) for x in (case.name, case.family))
    ]
    if not chosen:
        raise NoResult(f"nothing measured is called {args.only!r}; --list names it all")
    if args.list:
        print("\n".join(case.name for case in chosen))
        return 0
    cases = [replace(case, seconds=min(case.seconds, args.seconds)) for case in chosen]
    keep = args.keep.absolute()
    sources = {version: checked(source_of(name, keep)) for version, name in (("old", args.old), ("new", args.new))}
    rows = compared(cases, sources, args)
    print(table(rows))
    noisy = [row for row in rows if row.noise > ALLOWED]
    if noisy:
        print(f"\nThe noise of {len(noisy)} of {len(rows)} is above {100 * ALLOWED:g} %: measure on a quiet machine.")
    slower = [row for row in rows if row.slower]
    print(f"\n{len(slower)} of {len(rows)} are slower by more than {100 * ALLOWED:g} % and the noise.")
    return 1 if slower else 0


if __name__ == "__main__":
    sys.exit(command("compare_speed.py", run))
