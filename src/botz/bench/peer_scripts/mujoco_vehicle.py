"""Run by the peers' own interpreter: seconds per step of the benchmark's vehicle in MuJoCo, nothing drawn.

The argument is vehicle, ground and steps as JSON, made by `bench/vehicle/suite.py`. A free box, and for each
wheel one body on a slide joint (spring, damper) and a hinge (motor), with a cylinder on a height field. MuJoCo needs
masses: a wheel has one here, taken from the chassis. A motor's torque falls with speed, as a DC motor's without
friction. Solver, friction cone and integrator are MuJoCo's defaults. The last line printed is the result.
"""

import json
import sys
import time

import mujoco
import numpy as np
from vehicle_case import chassis_mass, require_a_drive, words


def wheel_xml(case, wheel):
    mass = case["wheel_mass"]
    across = wheel["inertia"] / 2 + mass * wheel["width"] ** 2 / 12
    return f"""
      <body name="{wheel["name"]}" pos="{words(*wheel["position"])}">
        <joint type="slide" axis="0 0 1" stiffness="{words(wheel["stiffness"])}" damping="{words(wheel["damping"])}"/>
        <joint name="{wheel["name"]}" type="hinge" axis="0 1 0"/>
        <inertial pos="0 0 0" mass="{words(mass)}" diaginertia="{words(across, wheel["inertia"], across)}"/>
        <geom type="cylinder" size="{words(wheel["radius"], wheel["width"] / 2)}" zaxis="0 1 0" contype="0"
              conaffinity="1" friction="{words(case["friction"])} 0.005 0.0001"/>
      </body>"""


def motor_xml(wheel):
    limit = wheel["largest_torque"]
    bound = f'forcelimited="true" forcerange="{words(-limit, limit)}"' if limit else ""
    return f"""
      <general joint="{wheel["name"]}" gainprm="{words(wheel["torque_per_volt"])}" biastype="affine"
               biasprm="0 0 {words(-wheel["torque_per_speed"])}" {bound}/>"""


def world_xml(case, heights):
    box, ground = case["box"], case["ground"]
    (x_min, x_max), (y_min, y_max) = ground["x"], ground["y"]
    size = (x_max - x_min) / 2, (y_max - y_min) / 2, float(np.ptp(heights)) or 1.0, 1.0
    middle = (x_max + x_min) / 2, (y_max + y_min) / 2, float(heights.min())
    rows, columns = heights.shape[1], heights.shape[0]
    return f"""
    <mujoco>
      <option timestep="{words(case["dt"])}" gravity="0 0 {words(-case["gravity"])}"/>
      <asset><hfield name="ground" nrow="{rows}" ncol="{columns}" size="{words(*size)}"/></asset>
      <worldbody>
        <geom type="hfield" hfield="ground" pos="{words(*middle)}" contype="1" conaffinity="0"/>
        <body name="chassis" pos="{words(*case["start"])}">
          <freejoint/>
          <inertial pos="0 0 0" mass="{words(chassis_mass(case))}"
                    fullinertia="{words(*case["inertia"])}"/>
          <geom type="box" pos="{words(*box["middle"])}" size="{words(*box["half"])}" contype="0" conaffinity="1"/>
          {"".join(wheel_xml(case, wheel) for wheel in case["wheels"])}
        </body>
      </worldbody>
      <actuator>{"".join(motor_xml(wheel) for wheel in case["wheels"])}</actuator>
    </mujoco>"""


def main():
    case = json.loads(sys.argv[1])
    heights = np.load(case["ground"]["file"])
    model = mujoco.MjModel.from_xml_string(world_xml(case, heights))
    # Rows of a height field run along y, and its heights from 0 to 1.
    model.hfield_data[:] = ((heights.T - heights.min()) / (np.ptp(heights) or 1.0)).ravel()
    data = mujoco.MjData(model)
    data.ctrl[:] = [wheel["voltage"] for wheel in case["wheels"]]
    mujoco.mj_step(model, data, nstep=round(case["settle"] / case["dt"]))

    steps = case["steps"]
    best = float("inf")
    for _ in range(case["repeats"]):
        began = time.perf_counter()
        mujoco.mj_step(model, data, nstep=steps)
        best = min(best, (time.perf_counter() - began) / steps)

    if any(warning.number for warning in data.warning):
        raise RuntimeError("MuJoCo warned of an unstable run")
    chassis = data.body("chassis")
    require_a_drive(case, heights, chassis.xpos, chassis.xmat[8])
    print(json.dumps({"value": best}))


main()
