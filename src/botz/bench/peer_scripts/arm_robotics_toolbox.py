"""Run by the peers' own interpreter: microseconds of the Robotics Toolbox's functions for the benchmark's arm.

The argument is the arm as JSON (`arm_case.py`). Its inverse kinematics find one solution: in closed form where the
last three axes meet, else by iterations in compiled code (`ik_LM`). The last line printed is the result, a mapping.
"""

import numpy as np
import roboticstoolbox as rtb
from arm_case import answer, read_case, require, rows, single, states
from spatialmath import SE3


def build(case):
    links = [
        rtb.RevoluteDH(
            d=case["d"][i], a=case["a"][i], alpha=case["alpha"][i], offset=case["theta"][i], m=case["mass"][i],
            r=case["centre"][i], I=np.array(case["inertia"][i])[[0, 1, 2, 3, 5, 4]], Jm=case["rotor"][i], G=1.0, B=0.0,
            Tc=[0.0, 0.0], qlim=[case["low"][i], case["high"][i]],
        )
        for i in range(len(case["alpha"]))
    ]  # fmt: skip
    return rtb.DHRobot(links, tool=SE3(case["tool"]), gravity=case["gravity"])


def main():
    case = read_case()
    robot = build(case)
    probe = case["probe"]
    require("the tool's pose", robot.fkine(probe).A, case["pose"])
    require("the torques", robot.rne(probe, probe, probe), case["torques"])
    q, qd, qdd = states(case, case["calls"] // 10)
    poses = [(robot.fkine(one),) for one in q]
    found = {
        "forward kinematics": single(case, robot.fkine, rows(q)),
        "Jacobian": single(case, robot.jacob0, rows(q)),
        "one inverse solution": single(case, robot.ik_LM, poses[:5]),
        "Newton-Euler": single(case, robot.rne, rows(q, qd, qdd)),
        "forward dynamics": single(case, robot.accel, rows(q, qd, qdd)),
    }
    answer(found)


main()
