"""Feeds damaged files and messages to every reader of Botz; raising anything but its own errors is a reader's fault.

    python tools/fuzz.py --list
    python tools/fuzz.py scenario urdf --seconds 300
    python tools/fuzz.py                          every reader, a minute each
    python tools/fuzz.py urdf fuzz-found/urdf-1a2b3c4d5e     again with an input that was found

With atheris (`pip install atheris`) the search follows coverage: inputs that reach new code of Botz are mutated again.
A reader that takes longer than ten seconds or 4 GB has a fault there too. Without it Hypothesis mutates examples, and
makes what it finds smaller. Either way an input that fails is kept in fuzz-found/, and the exit code is 1. --corpus DIR
keeps the inputs that reach new code. tests/properties/test_fuzz.py is the short form.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import os
import re
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path
from typing import Any

from fuzz_targets import BY_NAME, TARGETS, Target
from hypothesis import HealthCheck, Phase, Verbosity, given, settings
from hypothesis import strategies as st

FOUND = Path("fuzz-found")
LARGEST = 1 << 16
"""Bytes of an input."""
SLOWEST = 10
"""Seconds that a reader may take."""
LARGEST_MEMORY = 4096
"""MB."""
BATCH = 100
"""Inputs between two looks at the clock."""
ODD = [
    b"",
    b"0",
    b"-1",
    b"1e999",
    b"nan",
    b".inf",
    b"1e-320",
    b"99999999999999999999",
    b"null",
    b"true",
    b"[]",
    b"{}",
    b"''",
]
ODD += [
    b"\x00",
    b"\xff\xfe",
    "é√\u202e".encode(),
    b"%s%n",
    b"[bold]",
    b"\x1b[2J",
    b"../../x",
    b"&amp;",
    b"&x;",
    b"<a/>",
    b"*",
    b"&a",
]
ODD += [
    b"\xff\xff\xff\xff",
    b"\x00\x00\x00\x80",
    b"\xff\xff\xff\x7f",
    b"[" * 200,
    b"-",
    b":",
    b"\n",
    b"\t",
    b"=",
    b'"',
    b"#",
]
INSTRUMENTED = [f"botz.{room}" for room in ("scenario", "scene", "control", "record", "endpoints", "view")]
"""Rooms without kernels: Numba cannot compile what counts its own lines."""
_TOKEN = re.compile(rb"[A-Za-z0-9_.+-]+|[^\sA-Za-z0-9_.+-]")


class Fault(Exception):
    """A reader raised what it must not raise."""

    def __init__(self, target: Target, data: bytes, error: BaseException):
        super().__init__(f"{target.name} raised {type(error).__name__}: {error}")
        self.target, self.data, self.error = target, data, error


def feed(target: Target, data: bytes, folder: Path) -> None:
    """Have an input read; raises Fault."""
    try:
        target.read(data, folder)
    except target.raises:
        pass
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:
        raise Fault(target, data, error) from error


# --- Hypothesis ------------------------------------------------------------------------------------------------------


@st.composite
def damaged(draw: Any, examples: list[bytes]) -> bytes:
    """An example with a few words, lines or bytes changed."""
    data = draw(st.sampled_from(examples))
    for _ in range(draw(st.integers(1, 6))):
        change = draw(st.sampled_from(("word", "word", "line", "byte", "cut", "copy", "put")))
        words = [found.span() for found in _TOKEN.finditer(data[:LARGEST])] if change == "word" else []
        if words:
            a, b = draw(st.sampled_from(words))
            c, d = draw(st.sampled_from(words))
            data = data[:a] + draw(st.sampled_from([*ODD, data[c:d], data[a:b] * 2])) + data[b:]
        elif change == "line" and b"\n" in data:
            lines = data.split(b"\n")
            i, j = draw(st.integers(0, len(lines) - 1)), draw(st.integers(0, len(lines) - 1))
            lines[i : i + 1] = draw(st.sampled_from(([], [lines[j]], [lines[i], lines[j]], [b"  " + lines[i]])))
            data = b"\n".join(lines)
        elif data:
            a = draw(st.integers(0, len(data) - 1))
            b = min(len(data), a + draw(st.integers(1, 64)))
            if change == "byte":
                data = data[:a] + bytes([data[a] ^ (1 << draw(st.integers(0, 7)))]) + data[a + 1 :]
            elif change == "cut":
                data = data[:a] + (data[b:] if draw(st.booleans()) else b"")
            elif change == "copy":
                data = data[:b] + data[a:b] * draw(st.integers(1, 20)) + data[b:]
            else:
                data = data[:a] + draw(st.one_of(st.sampled_from(ODD), st.binary(max_size=16))) + data[b:]
    return data[:LARGEST]


def by_hypothesis(target: Target, runs: int, seed: int | None = None) -> Fault | None:
    """Feed so many inputs; the smallest that fails. Without a seed always the same inputs."""
    examples = list(target.examples())

    with tempfile.TemporaryDirectory() as name, working_in(Path(name)) as folder:

        @settings(
            max_examples=runs,
            derandomize=seed is None,
            database=None,
            deadline=None,
            phases=(Phase.generate, Phase.shrink),
            suppress_health_check=list(HealthCheck),
            verbosity=Verbosity.quiet,
            report_multiple_bugs=False,
        )
        @given(st.one_of(damaged(examples), damaged(examples), damaged(examples), st.binary(max_size=256)))
        def search(data: bytes) -> None:
            feed(target, data, folder)

        try:
            for data in examples:
                feed(target, data, folder)
            if seed is not None:
                from hypothesis import seed as seeded

                search = seeded(seed)(search)
            search()
        except Fault as fault:
            return fault
    return None


def for_so_long(target: Target, seed: int, seconds: float) -> Fault | None:
    """One batch of inputs after the other, each with a seed of its own, until the time is over or one fails."""
    end = time.monotonic() + seconds
    while True:
        fault = by_hypothesis(target, BATCH, seed)
        if fault or time.monotonic() >= end:
            return fault
        seed += 1


class working_in:
    """A folder as the current one: MuJoCo leaves a log where it stands."""

    def __init__(self, folder: Path):
        self.folder = folder

    def __enter__(self) -> Path:
        self.before = Path.cwd()
        os.chdir(self.folder)
        return self.folder

    def __exit__(self, *_: object) -> None:
        os.chdir(self.before)


# --- atheris ---------------------------------------------------------------------------------------------------------


def by_atheris(target: Target, seconds: float, seed: int, corpus: Path | None) -> int:
    """In a process of its own, for libFuzzer ends the one that it runs in; the exit code."""
    FOUND.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        examples, odd = Path(name) / "examples", Path(name) / "odd.dict"
        examples.mkdir()
        for number, data in enumerate(target.examples()):
            (examples / str(number)).write_bytes(data)
        odd.write_text("".join('"' + "".join(f"\\x{byte:02x}" for byte in word) + '"\n' for word in ODD if word))
        kept = corpus or Path(name) / "corpus"
        kept.mkdir(parents=True, exist_ok=True)
        command = [sys.executable, str(Path(__file__).resolve()), "--within-atheris", target.name]
        command += [f"-artifact_prefix={FOUND.resolve()}/{target.name}-", f"-max_total_time={round(seconds)}"]
        command += [f"-seed={seed}", f"-timeout={SLOWEST}", f"-rss_limit_mb={LARGEST_MEMORY}", f"-max_len={LARGEST}"]
        command += [f"-dict={odd}", "-print_final_stats=1", str(kept.resolve()), str(examples)]
        return subprocess.run(command, check=False).returncode


def within_atheris(target: Target, options: list[str]) -> None:
    import atheris

    with atheris.instrument_imports(include=INSTRUMENTED, enable_loader_override=False):
        for data in target.examples():  # imports all that the reader needs
            with tempfile.TemporaryDirectory() as name:
                feed(target, data, Path(name))
    name = tempfile.mkdtemp()
    os.chdir(name)

    def one(data: bytes) -> None:
        try:
            feed(target, data, Path(name))
        except Fault as fault:
            traceback.print_exception(fault.error)
            raise

    atheris.Setup([sys.argv[0], *options], one)
    atheris.Fuzz()


# --- command line ----------------------------------------------------------------------------------------------------


def tell(fault: Fault) -> None:
    FOUND.mkdir(exist_ok=True)
    path = FOUND / f"{fault.target.name}-{hashlib.sha256(fault.data).hexdigest()[:10]}"
    path.write_bytes(fault.data)
    traceback.print_exception(fault.error)
    print(f"{fault}\n  again: python tools/fuzz.py {fault.target.name} {path}", flush=True)


def main(arguments: list[str]) -> int:
    if arguments[:1] == ["--within-atheris"]:
        within_atheris(BY_NAME[arguments[1]], arguments[2:])
        return 0
    parser = argparse.ArgumentParser(description="Feeds damaged files and messages to every reader of Botz.")
    parser.add_argument("what", nargs="*", help="readers; or one reader and files to feed to it")
    parser.add_argument("--list", action="store_true", help="name the readers")
    parser.add_argument("--seconds", type=float, default=60.0, help="for each reader (default 60)")
    parser.add_argument("--seed", type=int, default=1, help="of the inputs (default 1)")
    parser.add_argument("--engine", choices=("atheris", "hypothesis"), help="atheris where it is installed")
    parser.add_argument("--corpus", type=Path, help="folder to keep inputs in that reach new code (atheris)")
    options = parser.parse_args(arguments)
    if options.list:
        print(*BY_NAME, sep="\n")
        return 0
    names = [word for word in options.what if word in BY_NAME]
    files = [Path(word) for word in options.what if word not in BY_NAME]
    if files and len(names) != 1:
        parser.error(f"no reader {str(files[0])!r}; choose from: {', '.join(BY_NAME)}")
    if missing := [path for path in files if not path.is_file()]:
        parser.error(f"no reader and no file {str(missing[0])!r}; readers: {', '.join(BY_NAME)}")
    engine = options.engine or ("atheris" if importlib.util.find_spec("atheris") else "hypothesis")
    failed = []
    for target in [BY_NAME[name] for name in names] or TARGETS:
        print(f"== {target.name}: {'again' if files else engine}", flush=True)
        if files:
            faults = [fault for path in files if (fault := fed_again(target, path.read_bytes()))]
        elif engine == "atheris":
            faults = []
            kept = options.corpus / target.name if options.corpus else None
            if by_atheris(target, options.seconds, options.seed, kept) != 0:
                failed.append(target.name)
        else:
            fault = for_so_long(target, options.seed, options.seconds)
            faults = [fault] if fault else []
        for fault in faults:
            tell(fault)
            failed.append(target.name)
    print(f"faults in: {', '.join(dict.fromkeys(failed))}" if failed else "no fault found")
    return 1 if failed else 0


def fed_again(target: Target, data: bytes) -> Fault | None:
    with tempfile.TemporaryDirectory() as name, working_in(Path(name)) as folder:
        try:
            feed(target, data, folder)
        except Fault as fault:
            return fault
    return None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
