"""Whether two versions of the source compute the same bits: for work that must not change any result.

Every shipped scenario runs with every method of its engine, and each recorded channel becomes a hash of its times and
values. Then hashes of two versions are compared; a step of the work is right when nothing differs.

    python tools/compare_bits.py commits main                          the working tree against a commit
    python tools/compare_bits.py commits v1 v2 --renamed map.json      two commits, some channels renamed between them
    python tools/compare_bits.py hash -o old.json                      this checkout's hashes, into a file
    python tools/compare_bits.py compare old.json new.json             two such files

Both versions run by tools/run_bits.py, one Python and one set of libraries, so little of Botz is used: `botz list`,
`botz schema`, `botz.load`, `botz.simulate`, and recordings as plain MCAP files. Processors and their instructions do
not matter as long as both versions run on one machine; hashes of two machines may differ.

What is hashed, with the names by which it is listed:

    rover/pose                      a channel of the default stream; `rover/pose (stream fast)` of another one
    command: rover/left/speed       raw inputs; `command: rover (source)` who gave them
    state: arrays/x                 complete states: arrays, random generators, and what controllers keep
    /rover/odom                     other topics, as bytes
    summary: status                 how the run ended, without its wall time
    error                           what ended it before its time

A map of new names is a JSON object, {"old": "new"}. A `*` stands for one part of a name, as in "*/pose" for that of any
robot, and is the same in both names; null is for what is gone on purpose. {"channels": …, "methods": …, "scenarios": …,
"added": ["new", …]} also maps the names of methods and scenarios, and leaves aside what is new on purpose.
"""

from __future__ import annotations

import argparse
import fnmatch
import hashlib
import json
import os
import re
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from pathlib import Path
from typing import NamedTuple

from run_bits import ERROR, PARTS, Bits, Options, Runs, hashed
from versions import ROOT, WORKING_TREE, NoResult, command, commit_of, source_of

WHOLE = "(the whole run)"
SHOWN = 8
"""Differences that are listed of one run, the earliest first."""


# --- kept hashes -----------------------------------------------------------------------------------------------------


def write(runs: Runs, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f"{path.name}.{os.getpid()}")
    beside.write_text(json.dumps(runs, indent=0), encoding="utf-8")
    beside.replace(path)


def read(path: Path) -> Runs:
    try:
        plain = json.loads(path.read_text("utf-8"))
        return {
            scenario: {method: {name: Bits(*bits) for name, bits in found.items()} for method, found in methods.items()}
            for scenario, methods in plain.items()
        }
    except OSError as error:
        raise NoResult(f"{path} cannot be read: {error.strerror}") from error
    except (ValueError, TypeError, AttributeError) as error:
        raise NoResult(f"{path} does not hold hashes; make it by: compare_bits.py hash -o {path}") from error


# --- comparing -------------------------------------------------------------------------------------------------------


@dataclass
class Names:
    """New names of what had others."""

    channels: dict[str, str | None] = field(default_factory=dict)
    methods: dict[str, str] = field(default_factory=dict)
    scenarios: dict[str, str] = field(default_factory=dict)
    added: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, path: Path | None) -> Names:
        if path is None:
            return cls()
        try:
            plain = json.loads(path.read_text("utf-8"))
            sections = plain if any(isinstance(one, dict | list) for one in plain.values()) else {"channels": plain}
            names = cls(**sections)
            wrong = [old for old, new in names.channels.items() if new and new.count("*") > old.count("*")]
        except OSError as error:
            raise NoResult(f"{path} cannot be read: {error.strerror}") from error
        except (ValueError, TypeError, AttributeError) as error:
            known = "channels, methods, scenarios, added"
            raise NoResult(f'{path} is no map of names: write {{"old": "new"}}, or sections of {known}') from error
        if wrong:
            raise NoResult(f"{path}: the new name of {wrong[0]!r} has more * than the old one; write no more")
        return names

    def channel(self, name: str) -> str | None:
        """The new name of a channel; the first line that fits holds, exact ones before patterns."""
        if name in self.channels:
            return self.channels[name]
        for old, new in self.channels.items():
            if "*" in old and (match := re.fullmatch(re.escape(old).replace(r"\*", "([^/:]+)"), name)):
                return None if new is None else new.replace("*", "{}").format(*match.groups())
        return name


class Difference(NamedTuple):
    scenario: str
    method: str
    name: str
    what: str
    """different, missing, added, failed"""
    hint: str = ""
    part: int = 0
    """Where in the run it begins, of PARTS."""
    twin: str = ""
    """What is new and has the same bits as what is missing."""


def fits(name: str, patterns: Iterable[str]) -> bool:
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)


def differences(old: Runs, new: Runs, names: Names, ignored: Sequence[str] = ()) -> list[Difference]:
    """Nothing when all that the old one has is in the new one, bit for bit, and nothing else."""
    found: list[Difference] = []
    old = {
        names.scenarios.get(scenario, scenario): {names.methods.get(one, one): bits for one, bits in methods.items()}
        for scenario, methods in old.items()
    }
    for scenario in sorted({*old, *new}):
        before, after = old.get(scenario, {}), new.get(scenario, {})
        for method in sorted({*before, *after}):
            if method not in after:
                found.append(Difference(scenario, method, WHOLE, "missing"))
            elif method not in before:
                found.append(Difference(scenario, method, WHOLE, "added"))
            else:
                run = of_run(scenario, method, before[method], after[method], names)
                found += [one for one in run if not fits(one.name, ignored)]
    return found


def of_run(
    scenario: str, method: str, old: Mapping[str, Bits], new: Mapping[str, Bits], names: Names
) -> list[Difference]:
    found = []
    met = set()
    for name, bits in old.items():
        target = names.channel(name)
        if target is None:
            continue
        met.add(target)
        if target not in new:
            same = [other for other, its in new.items() if its.hash == bits.hash and other not in old]
            twin = max(same, key=lambda other: SequenceMatcher(None, name, other).ratio(), default="")
            hint = f"{twin} is new and has the same bits" if twin else f"not there as {target}" * (target != name)
            found.append(Difference(scenario, method, name, "missing", hint, twin=twin))
        elif new[target].hash != bits.hash:
            part = next((i for i, (a, b) in enumerate(zip(bits.parts, new[target].parts, strict=False)) if a != b), 0)
            found.append(Difference(scenario, method, target, "different", how(bits, new[target], part), part))
    for name in new:
        if name not in met and not fits(name, names.added):
            found.append(Difference(scenario, method, name, "added"))
    # A run that never began says nothing, even where both say it alike.
    if ERROR in new and len(new) == 1:
        found.append(Difference(scenario, method, ERROR, "failed", new[ERROR].form))
    kinds = ("failed", "different", "missing", "added")
    return sorted(found, key=lambda one: (kinds.index(one.what), one.part))


def how(old: Bits, new: Bits, part: int) -> str:
    """From when on, and how much at the end."""
    if old.form != new.form:
        return f"{old.form} became {new.form}"
    texts = [f"the first {part}/{PARTS} of it are equal" if part else "from the start"]
    gaps = [abs(a - b) for a, b in zip(old.last, new.last, strict=False) if a != b and a == a and b == b]
    if gaps:
        texts.append(f"the last sample is off by {max(gaps):.1e} of {max(map(abs, old.last)):.1e}")
    return "; ".join(texts)


def told(found: list[Difference], runs: int, shown: int) -> str:
    """A table of all differences, and what they have in common."""
    if not found:
        return f"no difference in {runs} runs"
    lines = []
    rows: dict[tuple[str, str], list[Difference]] = {}
    for one in found:
        rows.setdefault((one.scenario, one.method), []).append(one)
    for (scenario, method), ones in rows.items():
        lines.append(f"{scenario}, {method}: {counted(ones)}")
        width = max((len(one.name) for one in ones[:shown]), default=0)
        lines += [f"    {one.what:9}  {one.name:{width}}  {one.hint}".rstrip() for one in ones[:shown]]
        if len(ones) > shown:
            lines.append(f"    … and {len(ones) - shown} more (--shown {len(ones)} lists them)")
    lines.append(f"{len(rows)} of {runs} runs differ: {counted(found)}")
    return "\n".join(lines + hints(found))


def counted(found: list[Difference]) -> str:
    return ", ".join(f"{count} {what}" for what, count in Counter(one.what for one in found).items())


def of_any_robot(name: str) -> str:
    """`*/pose` of `rover/pose`: a robot's name says nothing of the channel. What is no channel stays what it is."""
    if "/" not in name or name.startswith(("/", "state: ", "summary: ")):
        return name
    kind = "command: " if name.startswith("command: ") else ""
    return f"{kind}*/{name.split('/', 1)[1]}"


def hints(found: list[Difference]) -> list[str]:
    """What they have in common, and what to do about it."""
    lines = []
    changed = [one for one in found if one.what == "different"]
    if changed:
        often = Counter(of_any_robot(one.name) for one in changed).most_common(5)
        lines += ["", f"most often different: {', '.join(f'{name} ({count})' for name, count in often)}"]
        if all(one.name.startswith(("state: ", "summary: ", "/")) for one in changed):
            lines.append("All channels have the same bits; only complete states or other topics are not the same.")
    twins: dict[str, Counter[str]] = {}
    for one in found:
        if one.twin:
            alike = one.name.split("/")[0] == one.twin.split("/")[0]
            old, new = (of_any_robot(name) if alike else name for name in (one.name, one.twin))
            twins.setdefault(old, Counter())[new] += 1
    if twins:
        best = {old: news.most_common(1)[0][0] for old, news in twins.items()}
        lines += ["", "If these were renamed on purpose, give this map by --renamed:", json.dumps(best, indent=2)]
    return lines


# --- commits ---------------------------------------------------------------------------------------------------------


def hashed_commit(name: str, options: Options, keep: Path) -> Runs:
    """The hashes of a commit, from where they are kept; made where they are not."""
    commit = commit_of(name)
    folder = keep / commit
    kept = folder / f"{options.key()}.json"
    if kept.is_file():
        print(f"{name}: {commit}, kept", file=sys.stderr, flush=True)
        return {scenario: run for scenario, run in read(kept).items() if fnmatch.fnmatch(scenario, options.only)}
    part = folder / f"{options.key()}-{hashlib.sha256(options.only.encode()).hexdigest()[:8]}.json"
    if part.is_file():
        print(f"{name}: {commit}, kept", file=sys.stderr, flush=True)
        return read(part)
    print(f"{name}: {commit}", file=sys.stderr, flush=True)
    runs = hashed(source_of(name, keep), options, keep / "kernels")
    write(runs, kept if options.only == "*" else part)
    return runs


# --- the command -----------------------------------------------------------------------------------------------------


def main() -> int:
    args = arguments().parse_args()
    return command("compare_bits.py", lambda: int(args.do(args)))


def arguments() -> argparse.ArgumentParser:
    runs = argparse.ArgumentParser(add_help=False)
    runs.add_argument(
        "--only", default="*", metavar="PATTERN", help="only scenarios of this name; * and ? as in a shell"
    )
    runs.add_argument("--duration", type=float, metavar="SECONDS", help="how long scenarios run at most")
    runs.add_argument("--whole", action="store_true", help="all scenarios to their end; takes long")
    runs.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="as of botz run; may be repeated")
    runs.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes; by default one for each core")
    shown = argparse.ArgumentParser(add_help=False)
    shown.add_argument("--renamed", type=Path, metavar="MAP.json", help="new names of what was renamed")
    shown.add_argument("--ignore", action="append", default=[], metavar="PATTERN", help="names that are left aside")
    shown.add_argument("--shown", type=int, default=SHOWN, help="differences that are listed of one run")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    one = commands.add_parser("hash", parents=[runs], help="hash all runs of a checkout")
    one.add_argument("-o", "--out", type=Path, required=True, metavar="FILE.json")
    one.add_argument("--source", type=Path, default=ROOT / "src", help="folder with another package botz")
    one.set_defaults(do=hash_command)
    one = commands.add_parser("compare", parents=[shown], help="compare two files of hashes")
    one.add_argument("old", type=Path, metavar="OLD.json")
    one.add_argument("new", type=Path, metavar="NEW.json")
    one.set_defaults(do=lambda args: compared(read(args.old), read(args.new), args))
    one = commands.add_parser("commits", parents=[runs, shown], help="hash and compare two commits")
    one.add_argument("old", metavar="OLD", help="a commit")
    one.add_argument(
        "new", metavar="NEW", nargs="?", default=WORKING_TREE, help="a commit; by default the working tree"
    )
    one.add_argument("--keep", type=Path, default=Path(sys.prefix) / "compare-bits", help="where hashes are kept")
    one.set_defaults(do=commits_command)
    return parser


def options_of(args: argparse.Namespace) -> Options:
    if wrong := [text for text in args.set if "=" not in text]:
        raise NoResult(f"--set {wrong[0]}: write KEY=VALUE")
    return Options(args.only, args.duration, args.whole, args.set, args.jobs)


def hash_command(args: argparse.Namespace) -> int:
    write(hashed(args.source, options_of(args)), args.out)
    return 0


def commits_command(args: argparse.Namespace) -> int:
    options = options_of(args)
    keep = args.keep.absolute()
    old = hashed_commit(args.old, options, keep)
    if args.new == WORKING_TREE:
        print(f"{WORKING_TREE}: {ROOT}", file=sys.stderr, flush=True)
        new, kept = hashed(ROOT / "src", options), keep / "working-tree.json"
        write(new, kept)
        print(f"{WORKING_TREE}: kept as {kept} until the next time", file=sys.stderr, flush=True)
        return compared(old, new, args)
    return compared(old, hashed_commit(args.new, options, keep), args)


def compared(old: Runs, new: Runs, args: argparse.Namespace) -> int:
    if not old or not new:
        raise NoResult("there is nothing to compare")
    found = differences(old, new, Names.of(args.renamed), args.ignore)
    print(told(found, sum(len(methods) for methods in new.values()), args.shown))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
