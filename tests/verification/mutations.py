"""Breaks one line of the package at a time, and says which checks notice. What is broken, and by how many samples of
which checks it must show, is said by the files mutated_*.py.

Each mutation replaces a piece of text in one function; the function is made anew from the changed text and put
wherever the package has the original. This needs functions that are not compiled, so it runs in a process of its own.
"""

from __future__ import annotations

import importlib
import inspect
import json
import os
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Functions = Sequence[Callable[[int], Any]]
"""Of `botz.verify`; each makes checks with a number of samples."""


@dataclass(frozen=True)
class Mutation:
    name: str
    module: str
    function: str
    old: str
    new: str
    noticed_by: tuple[str, ...]
    """Functions that must have a failed check."""


@contextmanager
def applied(mutation: Mutation) -> Iterator[None]:
    module = importlib.import_module(mutation.module)
    owner: Any = module
    *outer, name = mutation.function.split(".")
    for part in outer:
        owner = getattr(owner, part)
    original = inspect.getattr_static(owner, name, None)
    if original is None:
        raise LookupError(f"{mutation.module} has no {mutation.function} any more")
    # The record that a decorator makes of a function is made anew with it.
    source = textwrap.dedent(inspect.getsource(getattr(original, "function", original)))
    if mutation.old not in source:
        raise LookupError(f"{mutation.module}.{mutation.function} has no {mutation.old!r} any more")
    made: dict[str, Any] = {}
    exec(compile(source.replace(mutation.old, mutation.new), mutation.module, "exec"), module.__dict__, made)
    places = [owner] if outer else [one for key, one in sys.modules.items() if key.startswith("botz.")]
    places = [place for place in places if inspect.getattr_static(place, name, None) is original]
    for place in places:
        setattr(place, name, made[name])
    try:
        yield
    finally:
        for place in places:
            setattr(place, name, original)


def failing(functions: Functions, names: Sequence[str], samples: int) -> list[str]:
    """Those of the named functions of `verify` that have a failed check."""
    known = {function.__name__: function for function in functions}
    return [name for name in names if fails(known[name], samples)]


def fails(function: Callable[[int], Any], samples: int) -> bool:
    """Whether any of its checks does, or it breaks down. Checks are made one by one: the first that fails is enough."""
    from botz.verify.checks import Check

    try:
        result = function(samples)
        return not all(check.passed for check in ([result] if isinstance(result, Check) else result))
    except Exception:
        return True


def print_noticed(mutations: Sequence[Mutation], functions: Functions, samples: int) -> None:
    """One JSON object: mutation -> functions of `verify` with a failed check; `nothing` for the package as it is."""
    result: dict[str, list[str]] = {}
    for mutation in mutations:
        try:
            with applied(mutation):
                result[mutation.name] = failing(functions, mutation.noticed_by, samples)
        except LookupError as error:
            result[mutation.name] = [str(error)]
    named = {name for mutation in mutations for name in mutation.noticed_by}
    result["nothing"] = failing(functions, sorted(named), samples)
    json.dump(result, sys.stdout)


def noticed_by_process(script: str) -> dict[str, list[str]]:
    """What becomes of the mutations of a file mutated_*.py, uncompiled, by an interpreter of its own."""
    import botz

    package = Path(botz.__file__).parents[1]
    environ = os.environ | {"NUMBA_DISABLE_JIT": "1", "PYTHONPATH": str(package)}
    done = subprocess.run([sys.executable, __file__, script], env=environ, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


if __name__ == "__main__":
    broken = importlib.import_module(sys.argv[1])
    print_noticed(broken.MUTATIONS, broken.functions(), broken.SAMPLES)
