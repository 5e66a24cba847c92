"""Run by the peers' own interpreter: seconds per simulated second of a match in rc-robosim, nothing drawn.

The argument is the match as JSON, made by `bench/soccer/suite.py`: where robots and ball stand, the wheels' speeds
to follow (a row every `period_ms`), how often the simulator is told and asked (`control_ms`), and how long. It takes
five steps of its own between two such times, whatever they are apart. The last line printed is the result.
"""

import json
import math
import sys
import time

from robosim import VSS

FIELD_OF_THREE = 0


def main():
    case = json.loads(sys.argv[1])
    blue, yellow = case["blue"], case["yellow"]
    control = case["control_ms"]
    steps = round(1000 * case["seconds"] / control)
    commands = [case["speeds"][k * control // case["period_ms"] % len(case["speeds"])] for k in range(steps)]

    best = [float("inf")] * steps  # each step at its best, as the benchmark times its own pieces
    for _ in range(case["repeats"]):
        match = VSS(FIELD_OF_THREE, len(blue), len(yellow), control, [*case["ball"], 0.0, 0.0], blue, yellow)
        before = match.get_state()
        for k, command in enumerate(commands):
            began = time.perf_counter()
            match.step(command)
            match.get_state()
            best[k] = min(best[k], time.perf_counter() - began)

    after = match.get_state()
    if not all(map(math.isfinite, after)):
        raise RuntimeError("the match is not finite")
    firsts = range(5, len(after), 6)  # x, y of each robot, after five numbers of the ball
    if max(math.hypot(after[k] - before[k], after[k + 1] - before[k + 1]) for k in firsts) < 0.05:
        raise RuntimeError("no robot has moved")
    print(json.dumps({"value": sum(best) / case["seconds"]}))


main()
