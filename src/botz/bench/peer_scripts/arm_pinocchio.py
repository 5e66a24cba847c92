"""Run by the peers' own interpreter: microseconds of Pinocchio's functions for the benchmark's arm, called from Python.

The argument is the arm as JSON (`arm_case.py`). Joints turn about z of the frame before; links are bodies at their
joints, rotors are armatures; friction is left out. The last line printed is the result, a mapping.
"""

from functools import partial

import numpy as np
import pinocchio as pin
from arm_case import answer, best, read_case, require, rows, single, states


def turn(axis, angle):
    return pin.SE3(pin.AngleAxis(angle, axis).toRotationMatrix(), np.zeros(3))


def build(case):
    model, place, parent = pin.Model(), pin.SE3.Identity(), 0
    for i in range(len(case["alpha"])):
        parent = model.addJoint(parent, pin.JointModelRZ(), place, f"joint{i}")
        shift = pin.SE3(np.eye(3), np.array([case["a"][i], 0.0, case["d"][i]]))
        place = (
            turn(np.array([0.0, 0.0, 1.0]), case["theta"][i]) * shift * turn(np.array([1.0, 0, 0]), case["alpha"][i])
        )
        xx, yy, zz, xy, xz, yz = case["inertia"][i]
        inertia = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        model.appendBodyToJoint(parent, pin.Inertia(case["mass"][i], case["centre"][i], inertia), place)
    tool = model.addFrame(pin.Frame("tool", parent, 0, place * pin.SE3(case["tool"]), pin.FrameType.OP_FRAME))
    model.armature = case["rotor"]
    model.gravity.linear = case["gravity"]
    return model, tool


def main():
    case = read_case()
    model, tool = build(case)
    data = model.createData()
    world = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED

    def pose(q):
        """The same as the benchmark's own call: the tool's pose as a matrix."""
        pin.framesForwardKinematics(model, data, q)
        return data.oMf[tool].homogeneous

    probe = case["probe"]

    def energy(q, qd):
        return pin.computeKineticEnergy(model, data, q, qd), pin.computePotentialEnergy(model, data, q)

    require("the tool's pose", pose(probe), case["pose"])
    require("the torques", pin.rnea(model, data, probe, probe, probe), case["torques"])
    require("the accelerations", pin.aba(model, data, probe, probe, case["torques"]), probe)
    require("the mass matrix", np.triu(pin.crba(model, data, probe)), np.triu(case["inertia_matrix"]))
    require("gravity's torques", pin.computeGeneralizedGravity(model, data, probe), case["gravity_torques"])
    require("the kinetic energy", pin.computeKineticEnergy(model, data, probe, probe), case["kinetic_energy"])
    coriolis = pin.computeCoriolisMatrix(model, data, probe, probe) @ probe
    require("the torques of speeds", coriolis, case["coriolis_torques"])

    q, qd, qdd = states(case, case["calls"])
    one, three = rows(q, first=(model, data)), rows(q, qd, qdd, first=(model, data))
    two = rows(q, qd, first=(model, data))
    jacobians = [(*arguments, tool, world) for arguments in one]
    found = {
        "forward kinematics": single(case, pin.forwardKinematics, one),
        "tool's pose": single(case, pose, rows(q)),
        "Jacobian": single(case, pin.computeFrameJacobian, jacobians),
        "Newton-Euler": single(case, pin.rnea, three),
        "forward dynamics": single(case, pin.aba, three),
        "mass matrix": single(case, pin.crba, one),
        "gravity torques": single(case, pin.computeGeneralizedGravity, one),
        "Coriolis matrix": single(case, pin.computeCoriolisMatrix, two),
        "energy": single(case, energy, rows(q, qd)),
    }
    # One thread, as the benchmark's own.
    many = [np.asfortranarray(values.T) for values in states(case, case["batch"])]
    pool, out = pin.ModelPool(model, 1), np.zeros_like(many[0], order="F")
    for name, function in (("Newton-Euler", pin.rneaInParallel), ("forward dynamics", pin.abaInParallel)):
        found[f"{name}, batched"] = best(case, partial(function, 1, pool, *many, out), case["batch"])
    answer(found)


main()
