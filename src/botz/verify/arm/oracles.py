"""Serial arms in Pinocchio and in MuJoCo, built from the same parameters, and EAIK's inverse kinematics.

None of the three is needed by the package: each is loaded where it is used, and where it is missing, its checks are
skipped.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, Protocol

import numpy as np

from botz.scenario.rigid_body import Body
from botz.verify.arm.reference import Chain, about, along, inertia_of

CALLS = {"Pinocchio": "pinocchio", "MuJoCo": "mujoco", "EAIK": "eaik.IK_DH"}
"""What they are called, and the module of each."""
INSTALL = {"Pinocchio": "pin", "MuJoCo": "mujoco", "EAIK": "eaik"}


def missing(name: str) -> str | None:
    """Why this oracle cannot be asked; None where it can."""
    try:
        importlib.import_module(CALLS[name])
    except ImportError as error:
        return f"{name} is not installed (pip install {INSTALL[name]}): {error}"
    return None


@dataclass(frozen=True)
class Computed:
    """All that an oracle says of states, state first."""

    frames: np.ndarray
    """Links and tool in the world: (N, n + 1, 4, 4)."""
    jacobian: np.ndarray
    inertia: np.ndarray
    bias: np.ndarray
    """C q̇ + G."""
    torques: np.ndarray
    """Inverse dynamics with a wrench at the tool."""
    accelerations: np.ndarray
    """Forward dynamics with a wrench at the tool."""


Answers = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]
"""The same of one state."""


class Oracle(Protocol):
    def asked(self, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray, tau: np.ndarray, wrench: np.ndarray) -> Answers: ...


def oracle(name: str, chain: Chain) -> Oracle:
    return PinocchioArm(chain) if name == "Pinocchio" else MujocoArm(chain)


def ask(name: str, chain: Chain, states: Sequence[np.ndarray]) -> Computed:
    """`states`: q, q̇, q̈, torques and wrenches, (N, …) each."""
    asked = oracle(name, chain).asked
    answers = [asked(*(values[k] for values in states)) for k in range(len(states[0]))]
    return Computed(*(np.array([answer[k] for answer in answers]) for k in range(len(fields(Computed)))))


def link_transforms(chain: Chain) -> list[np.ndarray]:
    """From each joint's frame, at zero, to that of its link: the part of eq. 3-1 that does not move."""
    return [
        about(2, joint.theta) @ along(2, joint.d) @ along(0, joint.a)
        @ about(0, joint.alpha)
        for joint in chain.robot.joints.values()
    ]  # fmt: skip


def square(turn: np.ndarray, place: np.ndarray) -> np.ndarray:
    found = np.eye(4)
    found[:3, :3], found[:3, 3] = turn, place
    return found


class PinocchioArm:
    """Joints about (or along) z at the frame before; the payload is a body of its own at the tool."""

    def __init__(self, chain: Chain):
        pin = self.pin = importlib.import_module("pinocchio")
        model = self.model = pin.Model()
        place, parent = pin.SE3(chain.base), 0
        self.links = []
        for (name, joint), within in zip(chain.robot.joints.items(), link_transforms(chain), strict=True):
            kind = pin.JointModelRZ() if joint.type == "revolute" else pin.JointModelPZ()
            parent = model.addJoint(parent, kind, place, name)
            place = pin.SE3(within)
            model.appendBodyToJoint(parent, self._inertia(joint), place)
            self.links.append(place)
        self.tool = place * pin.SE3(chain.tool)
        model.appendBodyToJoint(parent, self._inertia(chain.robot.payload), self.tool)
        self.frame = model.addFrame(pin.Frame("tool", parent, 0, self.tool, pin.FrameType.OP_FRAME))
        model.armature = np.array([joint.rotor_inertia for joint in chain.robot.joints.values()])
        model.gravity.linear = chain.gravity
        self.data = model.createData()

    def _inertia(self, body: Body) -> Any:
        return self.pin.Inertia(float(body.mass), np.array(body.centre), inertia_of(body))

    def asked(self, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray, tau: np.ndarray, wrench: np.ndarray) -> Answers:
        pin, model, data = self.pin, self.model, self.data
        jacobian = pin.computeFrameJacobian(model, data, q, self.frame, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED)
        pin.framesForwardKinematics(model, data, q)
        frames = [(data.oMi[k + 1] * within).homogeneous for k, within in enumerate(self.links)]
        tool = data.oMf[self.frame]
        frames.append(tool.homogeneous)
        # The wrench acts at the tool's point along the world's axes; Pinocchio wants it in the last joint's frame.
        last = model.njoints - 1
        there = data.oMi[last].inverse() * pin.SE3(np.eye(3), tool.translation)
        forces = pin.StdVec_Force()
        for _ in range(last):
            forces.append(pin.Force.Zero())
        forces.append(there.act(pin.Force(wrench[:3], wrench[3:])))
        upper = np.triu(pin.crba(model, data, q))
        return (
            np.array(frames),
            jacobian.reshape(6, -1).copy(),
            upper + np.triu(upper, 1).T,
            pin.nonLinearEffects(model, data, q, qd).copy(),
            pin.rnea(model, data, q, qd, qdd, forces).copy(),
            pin.aba(model, data, q, qd, tau, forces).copy(),
        )

    def coriolis(self, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        return np.array(self.pin.computeCoriolisMatrix(self.model, self.data, q, qd))


def quat_wxyz(turn: np.ndarray) -> np.ndarray:
    """Of a rotation matrix: the eigenvector of the largest eigenvalue of Bar-Itzhack's matrix, good at every angle."""
    xx, yx, zx, xy, yy, zy, xz, yz, zz = turn.T.ravel()
    k = np.array(
        [
            [xx + yy + zz, zy - yz, xz - zx, yx - xy],
            [zy - yz, xx - yy - zz, yx + xy, xz + zx],
            [xz - zx, yx + xy, yy - xx - zz, zy + yz],
            [yx - xy, xz + zx, zy + yz, zz - xx - yy],
        ]
    )
    return np.asarray(np.linalg.eigh(k)[1][:, -1])


def numbers(values: Any) -> str:
    """All digits: MuJoCo reads its model as text."""
    return " ".join(repr(float(value)) for value in values)


class MujocoArm:
    """A tree of bodies, one a joint, without shapes; principal moments are handed over, so that nothing is rounded by
    its own search for them."""

    def __init__(self, chain: Chain):
        self.mujoco = mujoco = importlib.import_module("mujoco")
        self.n = chain.n
        self.model = mujoco.MjModel.from_xml_string(self._xml(chain))
        self.data = mujoco.MjData(self.model)
        self.sites = [mujoco.mj_name2id(self.model, mujoco.mjtObj.mjOBJ_SITE, f"s{k}") for k in range(chain.n + 1)]
        self.last = mujoco.mj_name2id(self.model, mujoco.mjtObj.mjOBJ_BODY, f"b{chain.n - 1}")

    @staticmethod
    def _inertial(body: Body, place: np.ndarray) -> str:
        moments, axes = np.linalg.eigh(inertia_of(body))
        axes = place[:3, :3] @ axes * np.linalg.det(axes)
        # Rounding must not make a flat body an impossible one.
        moments[0] = max(moments[0], moments[2] - moments[1])
        centre = place[:3, :3] @ np.array(body.centre) + place[:3, 3]
        return (
            f'<inertial pos="{numbers(centre)}" quat="{numbers(quat_wxyz(axes))}" mass="{numbers([body.mass])}" '
            f'diaginertia="{numbers(moments)}"/>'
        )

    @classmethod
    def _xml(cls, chain: Chain) -> str:
        place, opened, closed = chain.base, "", ""
        within = chain.base
        for k, (joint, within) in enumerate(zip(chain.robot.joints.values(), link_transforms(chain), strict=True)):
            kind = "hinge" if joint.type == "revolute" else "slide"
            opened += (
                f'<body name="b{k}" pos="{numbers(place[:3, 3])}" quat="{numbers(quat_wxyz(place[:3, :3]))}">'
                f'<joint type="{kind}" axis="0 0 1" armature="{numbers([joint.rotor_inertia])}"/>'
                f"{cls._inertial(joint, within)}{cls._site(k, within)}"
            )
            closed += "</body>"
            place = within
        tool = within @ chain.tool
        payload = chain.robot.payload
        if payload.mass > 0:
            opened += f'<body name="payload">{cls._inertial(payload, tool)}</body>'
        return (
            '<mujoco><compiler angle="radian" autolimits="false" inertiafromgeom="false"/>'
            f'<option gravity="{numbers(chain.gravity)}"><flag contact="disable"/></option>'
            f"<worldbody>{opened}{cls._site(chain.n, tool)}{closed}</worldbody></mujoco>"
        )

    @staticmethod
    def _site(k: int, place: np.ndarray) -> str:
        return f'<site name="s{k}" pos="{numbers(place[:3, 3])}" quat="{numbers(quat_wxyz(place[:3, :3]))}"/>'

    def asked(self, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray, tau: np.ndarray, wrench: np.ndarray) -> Answers:
        mujoco, model, data = self.mujoco, self.model, self.data
        data.qpos[:], data.qvel[:], data.qfrc_applied[:] = q, qd, tau
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        tool = data.site_xpos[self.sites[-1]]
        # A force on a body acts at its centre of mass.
        data.xfrc_applied[self.last, :3] = wrench[:3]
        data.xfrc_applied[self.last, 3:] = wrench[3:] + np.cross(tool - data.xipos[self.last], wrench[:3])
        mujoco.mj_forward(model, data)
        frames = [square(data.site_xmat[s].reshape(3, 3), data.site_xpos[s]) for s in self.sites]
        jacobian, inertia = np.zeros((6, self.n)), np.zeros((self.n, self.n))
        mujoco.mj_jacSite(model, data, jacobian[:3], jacobian[3:], self.sites[-1])
        self._full_inertia(inertia)
        bias, accelerations = data.qfrc_bias.copy(), data.qacc.copy()
        data.qacc[:] = qdd
        mujoco.mj_inverse(model, data)
        # It gives all that acts at the joints, of which the wrench is a part.
        torques = data.qfrc_inverse - jacobian.T @ wrench
        return np.array(frames), jacobian, inertia, bias, torques, accelerations

    def _full_inertia(self, out: np.ndarray) -> None:
        if hasattr(self.data, "qM"):
            self.mujoco.mj_fullM(self.model, out, self.data.qM)  # before version 4
        else:
            self.mujoco.mj_fullM(self.model, self.data, out)


class EaikArm:
    """All solutions of a pose by subproblem decomposition."""

    def __init__(self, chain: Chain):
        rows = list(chain.robot.joints.values())
        self.offsets = np.array([joint.theta for joint in rows])
        self.base, self.tool = np.linalg.inv(chain.base), np.linalg.inv(chain.tool)
        alpha, a, d = (np.array([getattr(joint, key) for joint in rows]) for key in ("alpha", "a", "d"))
        self.solver = importlib.import_module("eaik.IK_DH").DhRobot(alpha, a, d)

    def exact(self, pose: np.ndarray) -> np.ndarray:
        """(k, n): what it does not mark as an approximation."""
        found = self.solver.IK(self.base @ pose @ self.tool)
        q = np.array(found.Q).reshape(-1, len(self.offsets))
        return np.asarray(q[~np.array(found.is_LS, dtype=bool)] - self.offsets)

    def solutions(self, pose: np.ndarray) -> np.ndarray:
        """The same by its own forward kinematics, since it marks all solutions of some families; each once."""
        flange = self.base @ pose @ self.tool
        found: list[np.ndarray] = []
        for q in np.array(self.solver.IK(flange).Q).reshape(-1, len(self.offsets)):
            if np.abs(self.solver.fwdKin(q) - flange).max() < 1e-8:
                turned = (np.abs(np.exp(1j * q) - np.exp(1j * other)).max() for other in found)
                if all(apart > 1e-6 for apart in turned):
                    found.append(q)
        return np.array(found).reshape(-1, len(self.offsets)) - self.offsets
