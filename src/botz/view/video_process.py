"""Images of a recording, drawn in a process of its own: a graphics library must be chosen before MuJoCo is imported,
and one that crashes takes nobody along.

When standard input closes, the parent is gone and the work ends.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from botz.child import end_with_parent, take_orders
from botz.errors import BotzError, InputError

PLACES = 50
"""Of a robot's way that say where the ground is seen best."""


def main() -> None:
    orders, tell = take_orders()
    end_with_parent()
    if orders["gl"]:
        os.environ["MUJOCO_GL"] = orders["gl"]

    try:
        made_renderer = open_graphics(tuple(orders["size"]))
    except Exception as error:  # each graphics library has its own ways to say that it is not there
        tell({"event": "no graphics", "reason": f"{type(error).__name__}: {error}"})
        return
    tell({"event": "graphics"})
    try:
        draw(orders, made_renderer, tell)
    except InputError as error:
        tell({"event": "failed", "problems": [[problem.message, problem.key] for problem in error.problems]})
    except (BotzError, OSError) as error:
        tell({"event": "failed", "reason": str(error)})


def way_of(recording: Any) -> list[tuple[float, float]]:
    """Places where robots were, for ground that is finest there."""
    found: list[tuple[float, float]] = []
    for name in recording:
        if name.count("/") == 1 and name.endswith("/pose"):
            rows = recording[name]
            found += [(float(row[0]), float(row[1])) for row in rows[:: max(1, len(rows) // PLACES)]]
    return found


def open_graphics(size: tuple[int, int]) -> Any:
    """Draw an empty picture; what fails here is the machine's graphics."""
    import mujoco

    spec = mujoco.MjSpec()
    spec.visual.global_.offwidth, spec.visual.global_.offheight = size
    spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[0.1, 0.0, 0.0])
    model = spec.compile()
    with mujoco.Renderer(model, height=16, width=16) as renderer:
        renderer.update_scene(mujoco.MjData(model))
        renderer.render()
    return mujoco.Renderer


def draw(orders: dict[str, Any], made_renderer: Any, tell: Any) -> None:
    import mujoco
    import numpy as np

    from botz.record.reader import read
    from botz.scenario.load import load_data
    from botz.scene.build import scene_of
    from botz.scene.scene_spec import OffscreenModel, set_camera
    from botz.scene.world_scene import node_poses
    from botz.view.cameras import VERTICAL_VIEW, CameraPath, View
    from botz.view.encoding import open_encoder
    from botz.view.sampling import Samples

    recording = read(orders["recording"])
    scene = scene_of(load_data(recording.scenario, recording.label).spec, way_of(recording))
    samples = Samples(recording, scene.channels())
    size = (int(orders["size"][0]), int(orders["size"][1]))
    offscreen = OffscreenModel(scene, size)
    camera = orders["camera"]
    fixed = None
    if "eye" in camera:
        eye, target = np.array(camera["eye"], dtype=float), np.array(camera["target"], dtype=float)
        fixed = View(eye, target, np.array([0.0, 0.0, 1.0]), float(camera.get("vertical_view", VERTICAL_VIEW)))
    path = CameraPath(scene, camera.get("name", "chase"), camera.get("target_robot"))
    times = orders["times"]
    with (
        made_renderer(offscreen.model, height=size[1], width=size[0], max_geom=20000) as renderer,
        open_encoder(Path(orders["out"]), size, float(orders["fps"])) as encode,
    ):
        drawn = renderer.scene
        drawn.flags[mujoco.mjtRndFlag.mjRND_SHADOW] = True
        drawn.flags[mujoco.mjtRndFlag.mjRND_REFLECTION] = False
        drawn.flags[mujoco.mjtRndFlag.mjRND_HAZE] = False  # which MuJoCo has for endless planes only
        drawn.flags[mujoco.mjtRndFlag.mjRND_FOG] = True
        for index, time in enumerate(times):
            poses = node_poses(scene, samples.at(time))
            view = fixed or path.view(time, poses)
            if fixed is not None and camera.get("name") == "follow":  # from where it stood in the page
                view = View(fixed.eye, path.view(time, poses).target, fixed.up, fixed.vertical_view)
            offscreen.place(poses, view.target)
            renderer.update_scene(offscreen.data)
            offscreen.let_ground_cast_none(drawn)
            far = 40.0 * scene.radius + float(np.linalg.norm(view.eye - np.array(scene.centre)))
            far = max(far, offscreen.sight)
            set_camera(drawn, view.eye, view.target, view.up, view.vertical_view, far)
            encode(renderer.render())
            tell({"event": "progress", "frame": index + 1})
    tell({"event": "finished"})
