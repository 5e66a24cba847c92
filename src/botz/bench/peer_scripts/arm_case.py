"""What the peers' arm scripts have in common: states of the arm, how calls are timed, and whether the results agree."""

import json
import sys
import time

import numpy as np

coarse = time.get_clock_info("process_time").resolution > 1e-5
clock = time.perf_counter if coarse else time.process_time


def read_case():
    """The arm and what to measure, made by `bench/arm/functions.py`: rows of Denavit and Hartenberg, bodies, states."""
    case = json.loads(sys.argv[1])
    return {key: np.array(value) if isinstance(value, list) else value for key, value in case.items()}


def states(case, count):
    """Random positions within the ranges, speeds and accelerations: (count, n) each."""
    rng = np.random.default_rng(5)
    low, high = case["low"], case["high"]
    q = rng.uniform(low, high, (count, len(low)))
    return q, rng.uniform(-1.0, 1.0, q.shape), rng.uniform(-1.0, 1.0, q.shape)


def rows(*arrays, first=()):
    """Arguments of each call, made before the clock runs; `first` are those that are always the same."""
    return [(*first, *(row.copy() for row in together)) for together in zip(*arrays, strict=True)]


def single(case, call, arguments):
    """Microseconds of one call from Python: the best of several rounds over all arguments."""

    def work():
        for one in arguments:
            call(*one)

    return best(case, work, len(arguments))


def best(case, work, count):
    """Microseconds of one of `count` items, by this process's own time, so that others on the machine count little;
    work that is short is done several times in a round."""
    work()
    began = clock()
    work()
    times = max(1, round(case["round"] / max(clock() - began, 1e-6)))
    found = []
    for _ in range(case["repeats"]):
        began = clock()
        for _ in range(times):
            work()
        found.append((clock() - began) / times)
    return 1e6 * min(found) / count


def require(name, found, wanted):
    """What computes something else is no peer: raise unless the numbers agree."""
    found, wanted = np.asarray(found, dtype=float), np.asarray(wanted, dtype=float)
    off = np.abs(found - wanted).max() if found.shape == wanted.shape else np.inf
    if not off <= 1e-9 * max(1.0, np.abs(wanted).max()):
        raise RuntimeError(f"{name} differs by {off:.3g}: not the same arm")


def answer(found):
    print(json.dumps({"value": found}))
