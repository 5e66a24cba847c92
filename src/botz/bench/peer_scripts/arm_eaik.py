"""Run by the peers' own interpreter: microseconds of EAIK for all inverse solutions of a pose of the benchmark's arm.

The argument is the arm as JSON (`arm_case.py`). The last line printed is the result, a mapping.
"""

import numpy as np
from arm_case import answer, best, read_case, require, single, states
from eaik.IK_DH import DhRobot


def main():
    case = read_case()
    robot = DhRobot(case["alpha"], case["a"], case["d"])
    flange = np.array(case["pose"]) @ np.linalg.inv(case["tool"])
    require("the last frame", robot.fwdKin(case["probe"] + case["theta"]), flange)
    if not len(robot.IK(flange).Q):
        raise RuntimeError("finds no solution")
    poses = [np.asfortranarray(robot.fwdKin(q)) for q in states(case, case["calls"])[0] + case["theta"]]
    many = [np.asfortranarray(robot.fwdKin(q)) for q in states(case, case["batch"] // 10)[0] + case["theta"]]
    answer(
        {
            "all inverse solutions": single(case, robot.IK, [(pose,) for pose in poses]),
            # One thread, as the benchmark's own; process time counts it although it is another one.
            "all inverse solutions, batched": best(case, lambda: robot.IK_batched(many, 1), len(many)),
        }
    )


main()
