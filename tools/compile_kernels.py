"""Compiles the kernels of every engine, and those of inverse kinematics, that are not in the cache yet, so that tests
that run side by side find them."""

from __future__ import annotations

import sys

from botz import SerialArm
from botz.engines.registry import build_engine
from botz.scenario import library
from botz.scenario.load import load


def main() -> int:
    of_each_engine = {type(spec): spec for spec in (load(name).spec for name in library.names("scenario"))}
    for spec in of_each_engine.values():
        build_engine(spec)
    for name in ("titan4", "puma560"):
        arm = SerialArm.of(name)
        arm.inverse(arm.forward(arm.middle))
    return 0


if __name__ == "__main__":
    sys.exit(main())
