"""Run by the peers' own interpreter: seconds per step of the benchmark's vehicle in PyBullet, nothing drawn.

The argument is vehicle, ground and steps as JSON, made by `bench/vehicle/suite.py`. A box, and for each wheel a
slider and a hinge with a cylinder on a height field. Bullet needs masses: a wheel has one here, taken from the chassis,
half of it in the part that slides. PyBullet has no springs and no motors of this kind: their forces are written before
each step, and only the steps themselves are timed, in the peer's favour. The last line printed is the result.
"""

import json
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pybullet as bullet
from vehicle_case import chassis_mass, require_a_drive, words


def inertial_xml(mass, xx, yy, zz, xy=0.0, xz=0.0, yz=0.0):
    entries = {"ixx": xx, "iyy": yy, "izz": zz, "ixy": xy, "ixz": xz, "iyz": yz}
    tensor = " ".join(f'{name}="{value:.17g}"' for name, value in entries.items())
    return f'<inertial><mass value="{mass:.17g}"/><inertia {tensor}/></inertial>'


def wheel_xml(case, wheel):
    name, half = wheel["name"], case["wheel_mass"] / 2
    across = wheel["inertia"] / 2 + half * wheel["width"] ** 2 / 12
    small = 0.4 * half * wheel["radius"] ** 2
    return f"""
  <link name="{name}_hub">{inertial_xml(half, small, small, small)}</link>
  <link name="{name}">
    {inertial_xml(half, across, wheel["inertia"], across)}
    <collision>
      <origin rpy="{words(np.pi / 2)} 0 0"/>
      <geometry><cylinder radius="{words(wheel["radius"])}" length="{words(wheel["width"])}"/></geometry>
    </collision>
  </link>
  <joint name="{name}_slide" type="prismatic">
    <parent link="chassis"/><child link="{name}_hub"/><axis xyz="0 0 1"/>
    <origin xyz="{words(*wheel["position"])}"/><limit lower="-1" upper="1" effort="1e9" velocity="1e9"/>
  </joint>
  <joint name="{name}_spin" type="continuous">
    <parent link="{name}_hub"/><child link="{name}"/><axis xyz="0 1 0"/>
  </joint>"""


def vehicle_xml(case):
    box = case["box"]
    return f"""<?xml version="1.0"?>
<robot name="vehicle">
  <link name="chassis">
    {inertial_xml(chassis_mass(case), *case["inertia"])}
    <collision>
      <origin xyz="{words(*box["middle"])}"/>
      <geometry><box size="{words(*(2 * side for side in box["half"]))}"/></geometry>
    </collision>
  </link>
  {"".join(wheel_xml(case, wheel) for wheel in case["wheels"])}
</robot>"""


def make_ground(case, heights):
    (x_min, x_max), (y_min, y_max) = case["ground"]["x"], case["ground"]["y"]
    scale = (x_max - x_min) / (heights.shape[0] - 1), (y_max - y_min) / (heights.shape[1] - 1), 1.0
    # x runs fastest in Bullet's field, and its origin is the middle of its bounding box.
    shape = bullet.createCollisionShape(
        bullet.GEOM_HEIGHTFIELD,
        meshScale=scale,
        heightfieldData=heights.T.ravel().tolist(),
        numHeightfieldRows=heights.shape[0],
        numHeightfieldColumns=heights.shape[1],
    )
    middle = (x_max + x_min) / 2, (y_max + y_min) / 2, (float(heights.max()) + float(heights.min())) / 2
    ground = bullet.createMultiBody(0, shape, basePosition=middle)
    bullet.changeDynamics(ground, -1, lateralFriction=1.0)  # Bullet multiplies the two bodies' coefficients


def make_vehicle(case):
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "vehicle.urdf"
        file.write_text(vehicle_xml(case))
        vehicle = bullet.loadURDF(str(file), basePosition=case["start"], flags=bullet.URDF_USE_INERTIA_FROM_FILE)
    joints = {bullet.getJointInfo(vehicle, k)[1].decode(): k for k in range(bullet.getNumJoints(vehicle))}
    slides = [joints[wheel["name"] + "_slide"] for wheel in case["wheels"]]
    spins = [joints[wheel["name"] + "_spin"] for wheel in case["wheels"]]
    for joint in (*slides, *spins):  # Bullet brakes every joint unless it is told not to.
        bullet.setJointMotorControl2(vehicle, joint, bullet.VELOCITY_CONTROL, force=0)
        bullet.changeDynamics(vehicle, joint, lateralFriction=case["friction"])
    return vehicle, slides, spins


def make_step(case, vehicle, slides, spins):
    """A function that writes the forces of springs and motors and takes one step; it returns the step's seconds."""

    def force(wheel, slide, spin):
        torque = wheel["torque_per_volt"] * wheel["voltage"] - wheel["torque_per_speed"] * spin[1]
        limit = wheel["largest_torque"] or float("inf")
        spring = -wheel["stiffness"] * slide[0] - wheel["damping"] * slide[1]
        return spring, max(-limit, min(limit, torque))

    def step():
        states = zip(
            case["wheels"], bullet.getJointStates(vehicle, slides), bullet.getJointStates(vehicle, spins), strict=True
        )
        springs, torques = zip(*(force(*state) for state in states), strict=True)
        bullet.setJointMotorControlArray(vehicle, slides + spins, bullet.TORQUE_CONTROL, forces=[*springs, *torques])
        began = time.perf_counter()
        bullet.stepSimulation()
        return time.perf_counter() - began

    return step


def main():
    case = json.loads(sys.argv[1])
    heights = np.load(case["ground"]["file"])
    bullet.connect(bullet.DIRECT)
    bullet.setTimeStep(case["dt"])
    bullet.setGravity(0, 0, -case["gravity"])
    make_ground(case, heights)
    vehicle, slides, spins = make_vehicle(case)
    step = make_step(case, vehicle, slides, spins)
    for _ in range(round(case["settle"] / case["dt"])):
        step()
    best = min(sum(step() for _ in range(case["steps"])) / case["steps"] for _ in range(case["repeats"]))

    position, rotation = bullet.getBasePositionAndOrientation(vehicle)
    require_a_drive(case, heights, position, bullet.getMatrixFromQuaternion(rotation)[8])
    print(json.dumps({"value": best}))


main()
