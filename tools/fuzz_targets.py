"""What tools/fuzz.py feeds: every reader of files and messages that come from others, with examples to begin from and
the errors that it may raise. A reader that raises anything else has a fault."""

from __future__ import annotations

import functools
import json
import tempfile
import zlib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

from google.protobuf.message import DecodeError

from botz.errors import InputError, RecordingError

ROOT = Path(__file__).resolve().parent.parent
LIBRARY = ROOT / "src" / "botz" / "scenario" / "library"
MODELS = ROOT / "tests" / "models"


class Target(NamedTuple):
    name: str
    read: Callable[[bytes, Path], object]
    """Takes the bytes, and a folder of its own to write them into."""
    examples: Callable[[], Iterable[bytes]]
    raises: tuple[type[Exception], ...] = (InputError,)


# --- files -----------------------------------------------------------------------------------------------------------


def written(data: bytes, folder: Path, name: str) -> Path:
    path = folder / name
    path.write_bytes(data)
    return path


def scenario(data: bytes, folder: Path) -> object:
    from botz.scenario.load import load

    return load(written(data, folder, "fuzzed.yaml"))


def robot(data: bytes, folder: Path) -> object:
    from botz.scenario.load import load_robot

    return load_robot(written(data, folder, "fuzzed.yaml"))


def model(name: str, data: bytes, folder: Path) -> object:
    from botz.models.files import load_model

    return load_model(written(data, folder, name))


def mesh(ending: str, data: bytes, folder: Path) -> object:
    from botz.models.meshes.mesh import load_mesh

    return load_mesh(written(data, folder, f"fuzzed{ending}"))


def image(data: bytes, folder: Path) -> object:
    from botz.scenario.terrain import ImageTerrain
    from botz.terrain.height_image import read_image

    path = written(data, folder, "fuzzed.png")
    return read_image(ImageTerrain.model_construct(type="image", file=str(path), height=[0.0, 1.0]), "world.terrain")


def matrix(name: str, data: bytes, folder: Path) -> object:
    from botz.terrain.matrix_file import read_matrix

    return read_matrix(written(data, folder, name), "world.terrain.file")


def table(data: bytes, folder: Path) -> object:
    from botz.control.table import read_columns

    return read_columns(written(data, folder, "fuzzed.csv"), required=("time",))


def thrust(data: bytes, folder: Path) -> object:
    from botz.models.thrust_fit import read_thrust_table

    return read_thrust_table(written(data, folder, "fuzzed.csv"))


def recording(data: bytes, folder: Path) -> object:
    from botz.record.reader import read

    found = read(written(data, folder, "fuzzed.mcap"))
    for stream in found.streams:
        found.table(stream.name)
    return found.duration, found.logs(), found.snapshots(), found.clock(), found.problem


# --- messages --------------------------------------------------------------------------------------------------------


def league(kind: str, data: bytes, _: Path) -> object:
    from botz.endpoints.soccer import league_messages

    return league_messages.read_message(getattr(league_messages, kind), data)


def voltages(data: bytes, _: Path) -> object:
    from botz.endpoints.soccer.voltage import read_voltages

    return read_voltages(data)


def camera(data: bytes, folder: Path) -> object:
    from botz.endpoints.camera.protocol import HEAD, read_head, rebuild

    shape = (8, 12, 3)
    if len(data) < HEAD.size:
        return None  # a client waits for the rest
    kind, length, *_ = read_head(data[: HEAD.size], 288)
    return rebuild(kind, data[HEAD.size :][:length], camera_image(), shape)


def teleoperation(data: bytes, _: Path) -> object:
    from botz.control.teleop.messages import read_from_master

    # With its checksum, or nothing would come further.
    return read_from_master(f"{zlib.crc32(data):08x} ".encode() + data, 6)


def lab(data: bytes, _: Path) -> object:
    from botz.view.lab.messages import understood

    return understood(data)


def snapshot(data: bytes, _: Path) -> object:
    from botz.sim.snapshots import decode

    return decode(data)


def quantity(data: bytes, _: Path) -> object:
    from botz.scenario.units import parse

    return parse(data.decode("utf-8", "replace"))


def formula(data: bytes, _: Path) -> object:
    from botz.scenario.formula import parse

    return parse(data.decode("utf-8", "replace"))(0.5, 0.25)


# --- examples --------------------------------------------------------------------------------------------------------

URDF = b"""<?xml version="1.0"?>
<robot name="bot">
  <material name="red"><color rgba="1 0 0 1"/></material>
  <link name="a">
    <inertial><origin xyz="0 0 0.1" rpy="0 0 0"/><mass value="2"/>
      <inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>
    <visual><geometry><box size="0.1 0.2 0.3"/></geometry><material name="red"/></visual>
    <collision><geometry><sphere radius="0.1"/></geometry></collision>
  </link>
  <link name="b"><inertial><mass value="1"/>
    <inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="j" type="revolute"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/>
    <limit lower="-1" upper="1" effort="10" velocity="2"/><dynamics damping="0.1" friction="0.2"/></joint>
  <transmission name="t"><type>transmission_interface/SimpleTransmission</type>
    <joint name="j"><hardwareInterface>hardware_interface/EffortJointInterface</hardwareInterface></joint>
    <actuator name="m"><mechanicalReduction>50</mechanicalReduction></actuator></transmission>
  <gazebo reference="a"><mu1>0.8</mu1><mu2 value="0.7"/></gazebo>
</robot>
"""
SDF = b"""<?xml version="1.0"?>
<sdf version="1.9"><model name="bot">
  <link name="a"><pose>0 0 1 0 0 0</pose>
    <inertial><mass>2</mass><inertia><ixx>0.1</ixx><iyy>0.1</iyy><izz>0.1</izz></inertia></inertial>
    <collision name="c"><geometry><cylinder><radius>0.1</radius><length>0.3</length></cylinder></geometry>
      <surface><friction><ode><mu>0.8</mu></ode></friction></surface></collision>
    <sensor name="s" type="imu"><update_rate>100</update_rate></sensor></link>
  <link name="b"><pose relative_to="a">0 0 0.5 0 0 0</pose><inertial><mass>1</mass></inertial></link>
  <frame name="f" attached_to="a"><pose degrees="true">0 0 0 0 0 90</pose></frame>
  <joint name="j" type="revolute"><parent>a</parent><child>b</child>
    <axis><xyz expressed_in="f">0 0 1</xyz><limit><lower>-1</lower><upper>1</upper></limit></axis></joint>
</model></sdf>
"""
MJCF = b"""<mujoco model="bot">
  <compiler angle="degree"/><option timestep="0.001" integrator="implicitfast"/>
  <default><geom friction="0.8 0.005 0.0001"/></default>
  <worldbody><body name="a" pos="0 0 1"><freejoint/><geom type="box" size="0.1 0.2 0.3" mass="2"/>
    <body name="b"><joint name="j" type="hinge" axis="0 0 1" range="-90 90"/><geom type="capsule" size="0.05 0.2"/>
      <site name="s"/></body></body></worldbody>
  <actuator><position name="m" joint="j" kp="10"/></actuator>
  <sensor><gyro name="g" site="s"/></sensor>
</mujoco>
"""


def files(folder: Path, pattern: str) -> list[bytes]:
    return [path.read_bytes() for path in sorted(folder.glob(pattern))]


@functools.cache
def meshes(ending: str) -> tuple[bytes, ...]:
    import numpy as np
    import trimesh

    body = trimesh.creation.box((1.0, 2.0, 3.0))
    if ending == ".msh":  # MuJoCo's own: counts, vertices, faces
        counts = np.array([len(body.vertices), 0, 0, len(body.faces)], "<i4")
        return (counts.tobytes() + body.vertices.astype("<f4").tobytes() + body.faces.astype("<i4").tobytes(),)
    kind = ending[1:]
    found = [body.export(file_type=kind)]
    if kind == "stl":
        found.append(body.export(file_type="stl_ascii"))
    if kind == "ply":
        found.append(body.export(file_type="ply", encoding="ascii"))
    return tuple(data.encode() if isinstance(data, str) else bytes(data) for data in found)


@functools.cache
def images() -> tuple[bytes, ...]:
    import io

    import numpy as np
    from PIL import Image

    grey = np.arange(64, dtype=np.uint8).reshape(8, 8)
    kinds: list[tuple[np.ndarray, str]] = [
        (grey, "PNG"),
        (grey.astype(np.uint16) * 900, "PNG"),
        (grey.astype(np.float32), "TIFF"),
    ]
    kinds += [(np.stack([grey] * 3, axis=-1), "JPEG"), (np.stack([grey] * 3, axis=-1), "TIFF")]
    found = []
    for pixels, form in kinds:
        file = io.BytesIO()
        Image.fromarray(pixels).save(file, form)
        found.append(file.getvalue())
    return tuple(found)


@functools.cache
def matrices() -> tuple[bytes, ...]:
    import io

    import numpy as np

    file = io.BytesIO()
    np.save(file, np.arange(12.0).reshape(3, 4))
    return (file.getvalue(),)


@functools.cache
def run_of_a_robot() -> tuple[bytes, list[bytes]]:
    """A short recording, and its snapshots."""
    from botz.record.reader import read
    from botz.run import simulate
    from botz.scenario.load import load

    with tempfile.TemporaryDirectory() as folder:
        simulate(load("differential-circle", overrides=["time.duration=0.05"]), out=folder)
        path = Path(folder) / "recording.mcap"
        return path.read_bytes(), [data for _, data in read(path).snapshots()]


@functools.cache
def league_packets() -> tuple[bytes, ...]:
    from botz.endpoints.soccer.league_messages import Packet

    packet = Packet()
    command = packet.cmd.robot_commands.add()
    command.id, command.yellowteam, command.wheel_left, command.wheel_right = 1, True, 10.0, -10.0
    packet.replace.ball.x = 0.5
    place = packet.replace.robots.add()
    place.position.robot_id, place.position.x, place.yellowteam, place.turnon = 2, 0.1, False, True
    return (packet.SerializeToString(),)


@functools.cache
def referee_calls() -> tuple[bytes, ...]:
    from botz.endpoints.soccer.league_messages import RefereeCall

    return (RefereeCall(foul=1, teamcolor=1, foulQuadrant=2, timestamp=1.5).SerializeToString(),)


@functools.cache
def placements() -> tuple[bytes, ...]:
    from botz.endpoints.soccer.league_messages import Placement

    placement = Placement()
    placement.world.teamColor = 1
    robot = placement.world.robots.add()
    robot.robot_id, robot.x, robot.orientation = 1, 0.25, 90.0
    return (placement.SerializeToString(),)


@functools.cache
def camera_image():
    import numpy as np

    return np.arange(288, dtype=np.uint8).reshape(8, 12, 3)


def camera_messages() -> list[bytes]:
    import numpy as np

    from botz.endpoints.camera.protocol import empty_message, frame_message

    whole = camera_image()
    changes = np.array([[2, 3, 2]]), whole[2, 3:5]
    frames = [frame_message(whole, None, noisy=noisy, number=1, step=5) for noisy in (False, True)]
    return [empty_message(whole), *frames, frame_message(whole, changes, noisy=False, number=2, step=6)]


def lab_messages() -> list[bytes]:
    from botz.view.lab.messages import packed

    said: list[dict] = [
        {"t": "hello", "token": "a", "name": "page"},
        {"t": "start", "scenario": "differential-circle", "set": {"time.duration": 2.0}, "factor": 1.0},
        {"t": "watch", "run": "r1", "channels": ["duo/pose"], "rate": 30.0},
        {"t": "drive", "run": "r1", "robot": "duo", "axes": {"forward": 0.5}},
        {"t": "ping", "at": 1.5},
    ]
    return [packed(message) for message in said]


def as_json(*messages: dict) -> list[bytes]:
    return [json.dumps(message).encode() for message in messages]


TARGETS: tuple[Target, ...] = (
    Target("scenario", scenario, lambda: files(LIBRARY / "scenarios", "*.yaml")),
    Target("robot", robot, lambda: files(LIBRARY / "robots", "*.yaml")),
    Target("urdf", functools.partial(model, "fuzzed.urdf"), lambda: [URDF, *files(MODELS, "*.urdf")]),
    Target("sdf", functools.partial(model, "fuzzed.sdf"), lambda: [SDF, *files(MODELS, "*.sdf")]),
    Target("mjcf", functools.partial(model, "fuzzed.xml"), lambda: [MJCF, *files(MODELS, "*.xml")]),
    *(
        Target(f"mesh-{ending[1:]}", functools.partial(mesh, ending), functools.partial(meshes, ending))
        for ending in (".stl", ".obj", ".ply", ".off", ".glb", ".dae", ".msh")
    ),
    Target("image", image, images),
    Target(
        "matrix-text", functools.partial(matrix, "fuzzed.csv"), lambda: [b"0 1 2\n3 4 5e-1\n", b"# h\n0, 1\n2, 3\n"]
    ),
    Target("matrix-npy", functools.partial(matrix, "fuzzed.npy"), matrices),
    Target("table", table, lambda: [b"time,left,right\n0,1,2\n0.5,2,3\n", *files(LIBRARY / "scenarios", "*.csv")]),
    Target("thrust", thrust, lambda: [b"speed [rpm],T (N)\n1000,0.5\n2000,2.1\n", b"omega_rad_s;F_N\n100;1\n200;4\n"]),
    Target("recording", recording, lambda: [run_of_a_robot()[0]], (InputError, RecordingError)),
    Target("snapshot", snapshot, lambda: run_of_a_robot()[1][:1]),
    Target("league", functools.partial(league, "Packet"), league_packets, (DecodeError,)),
    Target("referee", functools.partial(league, "RefereeCall"), referee_calls, (DecodeError,)),
    Target("replacer", functools.partial(league, "Placement"), placements, (DecodeError,)),
    Target(
        "voltages",
        voltages,
        lambda: as_json({"team": "blue", "robots": {"0": [1.5, -2]}}),
        (ValueError, RecursionError),
    ),
    Target("camera", camera, camera_messages, (ValueError,)),
    Target(
        "teleoperation",
        teleoperation,
        lambda: as_json(
            {"hello": 1, "nonce": 5},
            {"session": "s", "number": 3, "time": 0.5, "joints": [0, 0.1, 0, 0, 0, 0], "clutch": True, "opening": 0.1},
            {"session": "s", "number": 4, "time": 0.6, "twist": [0, 0, 0.1, 0, 0, 0], "stop": False},
        ),
        (ValueError, RecursionError),
    ),
    Target("lab", lab, lab_messages),
    Target("quantity", quantity, lambda: [b"45 deg", b"1.5e-3 N*m/rad", b"2 km/h"], (ValueError,)),
    Target(
        "formula", formula, lambda: [b"0.1*sin(2*pi*x/3)*cos(y)", b"abs(x) if x > y else -sqrt(y**2)"], (ValueError,)
    ),
)
BY_NAME = {target.name: target for target in TARGETS}
