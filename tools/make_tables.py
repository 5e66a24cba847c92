"""Writes the tables of the documentation that are made of the code: keys, robots, measured numbers.

    python tools/make_tables.py                 all but the measured numbers
    python tools/make_tables.py --bench         runs `botz bench` and writes the measured numbers too
    python tools/make_tables.py --bench FILE…   the same from outputs of `botz bench NAME --json`

A table stands between `<!-- table: NAME -->` and `<!-- end of table -->`.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from math import degrees
from pathlib import Path
from typing import Any, get_args

from pydantic import BaseModel

from botz.control.capability import capability_of
from botz.engines import aero_elements, joint_elements, multibody_rows, multibody_sensing
from botz.engines.arm_rows import channels_of as arm_channels_of
from botz.engines.base import Channel
from botz.engines.soccer_rows import channels_of as soccer_channels_of
from botz.engines.vehicle_rows import channels_of as vehicle_channels_of
from botz.engines.wheeled_robot import WheeledRobotModel
from botz.links.league_messages import PACKAGES
from botz.scenario import (
    arm,
    arm_motion,
    arm_world,
    elements,
    flight,
    kinematics,
    library,
    links,
    multibody,
    multibody_world,
    schema,
    sensors,
    shapes,
    soccer,
    terrain,
    tyre,
    vehicle,
)
from botz.scenario.load import load, load_robot
from botz.scene.soccer_camera import BALL_COLOUR, CODE_COLOURS, TEAM_COLOURS

ROOT = Path(__file__).resolve().parent.parent
SCENARIO_PAGE = ROOT / "docs" / "scenario-files.md"
CONTROLLER_PAGE = ROOT / "docs" / "controllers.md"
ROBOT_PAGE = ROOT / "docs" / "wheeled-robots.md"
VEHICLE_PAGE = ROOT / "docs" / "vehicles.md"
SOCCER_PAGE = ROOT / "docs" / "soccer.md"
ARM_PAGE = ROOT / "docs" / "arms.md"
MULTIBODY_PAGE = ROOT / "docs" / "multibody.md"
README = ROOT / "README.md"
BENCH_PAGES = {
    "kinematics": README,
    "vehicle": VEHICLE_PAGE,
    "soccer": SOCCER_PAGE,
    "arm": ARM_PAGE,
    "multibody": MULTIBODY_PAGE,
}
"""Where the numbers of each benchmark stand."""

END = "<!-- end of table -->"

KEYS: list[tuple[Path, str, type[BaseModel]]] = [
    (SCENARIO_PAGE, "scenario", kinematics.KinematicsScenario),
    (SCENARIO_PAGE, "time", kinematics.KinematicsTime),
    (SCENARIO_PAGE, "record", schema.RecordSettings),
    (SCENARIO_PAGE, "process", schema.ProcessSettings),
    (SCENARIO_PAGE, "inputs", schema.InputSettings),
    (SCENARIO_PAGE, "poses", links.PoseLink),
    (SCENARIO_PAGE, "world", kinematics.KinematicsWorld),
    (SCENARIO_PAGE, "robot", kinematics.PlacedWheeledRobot),
    (ROBOT_PAGE, "fixed", kinematics.FixedWheel),
    (ROBOT_PAGE, "steered", kinematics.SteeredWheel),
    (ROBOT_PAGE, "castor", kinematics.CastorWheel),
    (ROBOT_PAGE, "swedish", kinematics.SwedishWheel),
    (ROBOT_PAGE, "spherical", kinematics.SphericalWheel),
    (ROBOT_PAGE, "drives", kinematics.Drive),
    (ROBOT_PAGE, "steering", kinematics.Steering),
    (ROBOT_PAGE, "body", kinematics.Body),
    (ROBOT_PAGE, "encoder", kinematics.Encoder),
    (ROBOT_PAGE, "slip", kinematics.Slip),
    (CONTROLLER_PAGE, "constant", schema.ConstantController),
    (CONTROLLER_PAGE, "table", schema.TableController),
    (CONTROLLER_PAGE, "go-to-pose", schema.GoToPoseController),
    (CONTROLLER_PAGE, "waypoints", schema.WaypointsController),
    (CONTROLLER_PAGE, "trajectory", schema.TrajectoryController),
    (CONTROLLER_PAGE, "user", schema.UserController),
    (CONTROLLER_PAGE, "limits", schema.SpeedLimits),
    (VEHICLE_PAGE, "world", vehicle.VehicleWorld),
    (VEHICLE_PAGE, "time", vehicle.VehicleTime),
    (VEHICLE_PAGE, "contact", vehicle.ContactSettings),
    (VEHICLE_PAGE, "matrix", terrain.MatrixTerrain),
    (VEHICLE_PAGE, "image", terrain.ImageTerrain),
    (VEHICLE_PAGE, "formula", terrain.FormulaTerrain),
    (VEHICLE_PAGE, "flat", terrain.FlatTerrain),
    (VEHICLE_PAGE, "plane", terrain.PlaneTerrain),
    (VEHICLE_PAGE, "ramp", terrain.RampTerrain),
    (VEHICLE_PAGE, "step", terrain.StepTerrain),
    (VEHICLE_PAGE, "bumps", terrain.BumpsTerrain),
    (VEHICLE_PAGE, "half-pipe", terrain.HalfPipeTerrain),
    (VEHICLE_PAGE, "rough", terrain.RoughTerrain),
    (VEHICLE_PAGE, "texture", terrain.Texture),
    (VEHICLE_PAGE, "placed", vehicle.PlacedVehicle),
    (VEHICLE_PAGE, "chassis", vehicle.Chassis),
    (VEHICLE_PAGE, "corners", vehicle.CornerContact),
    (VEHICLE_PAGE, "wheel", vehicle.VehicleWheel),
    (VEHICLE_PAGE, "suspension", vehicle.Suspension),
    (VEHICLE_PAGE, "coulomb", tyre.CoulombTyre),
    (VEHICLE_PAGE, "magic-formula", tyre.MagicFormulaTyre),
    (VEHICLE_PAGE, "combined", tyre.CombinedSlip),
    (VEHICLE_PAGE, "motor", vehicle.Motor),
    (VEHICLE_PAGE, "friction", vehicle.AxleFriction),
    (VEHICLE_PAGE, "battery", vehicle.Battery),
    (VEHICLE_PAGE, "wheel-speed", vehicle.WheelSpeedController),
    (VEHICLE_PAGE, "waypoints", vehicle.FollowWaypointsController),
    (VEHICLE_PAGE, "gains", vehicle.WheelSpeeds),
    (VEHICLE_PAGE, "limits", vehicle.DriveLimits),
    (SOCCER_PAGE, "field", soccer.PlayingField),
    (SOCCER_PAGE, "ball", soccer.Ball),
    (SOCCER_PAGE, "impacts", soccer.Impacts),
    (SOCCER_PAGE, "pair", soccer.BallWall),
    (SOCCER_PAGE, "match", soccer.Match),
    (SOCCER_PAGE, "time", soccer.SoccerTime),
    (SOCCER_PAGE, "placed", soccer.PlacedSoccerRobot),
    (SOCCER_PAGE, "wheel", soccer.SoccerWheel),
    (SOCCER_PAGE, "motor", soccer.SoccerMotor),
    (SOCCER_PAGE, "speed control", soccer.SpeedControl),
    (SOCCER_PAGE, "links", soccer.SoccerLinks),
    (SOCCER_PAGE, "league", links.LeagueLink),
    (SOCCER_PAGE, "voltage", links.VoltageLink),
    (SOCCER_PAGE, "camera", links.CameraLink),
    (SOCCER_PAGE, "poses", links.PoseLink),
    (CONTROLLER_PAGE, "player", soccer.SoccerPlayer),
    (ARM_PAGE, "joint", arm.Joint),
    (ARM_PAGE, "friction", arm.JointFriction),
    (ARM_PAGE, "actuator", arm.Actuator),
    (ARM_PAGE, "submerged", arm.Submerged),
    (ARM_PAGE, "tool", arm.Tool),
    (ARM_PAGE, "gripper", arm.Gripper),
    (ARM_PAGE, "servo", arm.Servo),
    (ARM_PAGE, "gains", arm.ServoGains),
    (ARM_PAGE, "placed", arm.PlacedArm),
    (ARM_PAGE, "time", arm.ArmTime),
    (ARM_PAGE, "world", arm_world.ArmWorld),
    (ARM_PAGE, "water", arm_world.Water),
    (ARM_PAGE, "plane", arm_world.Plane),
    (ARM_PAGE, "box", arm_world.Box),
    (ARM_PAGE, "object", arm_world.ArmObject),
    (ARM_PAGE, "contact", arm_world.ContactLaw),
    (ARM_PAGE, "joints", arm_motion.JointMove),
    (ARM_PAGE, "arc", arm_motion.ArcMove),
    (ARM_PAGE, "grip", arm_motion.GripMove),
    (ARM_PAGE, "wait", arm_motion.WaitMove),
    (ARM_PAGE, "teleoperation", arm_motion.Teleoperation),
    (ARM_PAGE, "limits", arm_motion.TeleoperationLimits),
    (ARM_PAGE, "delay", arm_motion.Line),
    (ARM_PAGE, "links", links.ArmLinks),
    (ARM_PAGE, "teleoperation link", links.TeleoperationLink),
    (CONTROLLER_PAGE, "program", arm_motion.ProgramController),
    (CONTROLLER_PAGE, "teleoperation", arm_motion.TeleoperationController),
    (CONTROLLER_PAGE, "master", arm_motion.MasterScript),
    (MULTIBODY_PAGE, "placed", multibody.PlacedMultibody),
    (MULTIBODY_PAGE, "link", multibody.LinkSpec),
    (MULTIBODY_PAGE, "actuator", multibody.ActuatorSpec),
    (MULTIBODY_PAGE, "propeller", elements.Propeller),
    (MULTIBODY_PAGE, "lift-drag", elements.LiftDrag),
    (MULTIBODY_PAGE, "dc-motor", elements.DcMotorElement),
    (MULTIBODY_PAGE, "lugre", elements.LugreElement),
    (MULTIBODY_PAGE, "vehicle-wheels", elements.VehicleWheels),
    (MULTIBODY_PAGE, "user", elements.UserElement),
    (MULTIBODY_PAGE, "time", multibody.MultibodyTime),
    (MULTIBODY_PAGE, "world", multibody_world.MultibodyWorld),
    (MULTIBODY_PAGE, "wind", multibody_world.Wind),
    (MULTIBODY_PAGE, "gust", multibody_world.Gust),
    (MULTIBODY_PAGE, "turbulence", multibody_world.Turbulence),
    (MULTIBODY_PAGE, "earth", multibody_world.Earth),
    (MULTIBODY_PAGE, "contact", multibody_world.Contacts),
    (CONTROLLER_PAGE, "hover", flight.HoverController),
    (CONTROLLER_PAGE, "hover gains", flight.PidGains),
    (CONTROLLER_PAGE, "manoeuvre", flight.Manoeuvre),
    (CONTROLLER_PAGE, "multicopter", flight.MulticopterController),
    (CONTROLLER_PAGE, "setpoint", flight.Setpoint),
    (CONTROLLER_PAGE, "flight gains", flight.AxisGains),
    (CONTROLLER_PAGE, "flight limits", flight.FlightLimits),
    (CONTROLLER_PAGE, "fixed-wing", flight.FixedWingController),
    (CONTROLLER_PAGE, "wing gains", flight.WingGains),
]
SAID_ONCE = {
    kinematics.WheelBase: ("position", "radius", "width", "encoder", "slip"),
    schema.Controller: ("robot", "rate"),
    terrain.TerrainBase: ("x", "y", "outside", "texture", "resolution", "roughness"),
    vehicle.Vehicle: tuple(vehicle.Vehicle.model_fields),
    soccer.SoccerRobot: tuple(soccer.SoccerRobot.model_fields),
    arm.Arm: tuple(arm.Arm.model_fields),
    arm_motion.CartesianMove: tuple(arm_motion.CartesianMove.model_fields),
    arm_world.ArmObject: tuple(arm_world.Box.model_fields),
    links.TeleoperationLink: tuple(arm_motion.Teleoperation.model_fields),
    multibody.PlacedMultibody: tuple(multibody.MultibodyRobot.model_fields),
}
"""Keys that every wheel, controller, terrain, vehicle, soccer robot, arm, move or box has; a page says them once."""


def tables() -> Iterator[tuple[Path, str, str]]:
    """Page, name and text of every table that follows from the code alone."""
    yield ROBOT_PAGE, "degrees", degrees_table()
    yield ROBOT_PAGE, "wheel", keys_table(kinematics.WheelBase, ())
    yield CONTROLLER_PAGE, "controller", keys_table(schema.Controller, ())
    # Flat ground has all keys that terrains share, and one of its own.
    yield VEHICLE_PAGE, "terrain", keys_table(terrain.FlatTerrain, ("type", "height"))
    yield VEHICLE_PAGE, "vehicle", keys_table(vehicle.Vehicle, ())
    yield VEHICLE_PAGE, "vehicle channels", vehicle_channels_table()
    yield SOCCER_PAGE, "robot", keys_table(soccer.SoccerRobot, ())
    yield SOCCER_PAGE, "channels", soccer_channels_table()
    yield SOCCER_PAGE, "messages", messages_table()
    yield SOCCER_PAGE, "colours", colours_table()
    yield ARM_PAGE, "arm", keys_table(arm.Arm, ())
    yield ARM_PAGE, "line", keys_table(arm_motion.LineMove, ("type",))
    yield ARM_PAGE, "channels", arm_channels_table()
    yield ARM_PAGE, "table 3.1", parameters_table("titan4")
    yield MULTIBODY_PAGE, "robot", keys_table(multibody.MultibodyRobot, ())
    yield MULTIBODY_PAGE, "joint", keys_table(multibody.JointSpec, ())
    yield MULTIBODY_PAGE, "shape", keys_table(shapes.Shape, ())
    yield MULTIBODY_PAGE, "shapes", kinds_table(shapes.AnyShape, shapes.Shape)
    yield MULTIBODY_PAGE, "sensor", keys_table(sensors.Sensor, ())
    yield MULTIBODY_PAGE, "sensors", kinds_table(sensors.AnySensor, sensors.Sensor)
    yield MULTIBODY_PAGE, "channels", multibody_channels_table()
    for page, name, model in KEYS:
        left_out = tuple(key for base, keys in SAID_ONCE.items() if issubclass(model, base) for key in keys)
        yield page, name, keys_table(model, left_out if has_kinds(model) else ("type", *left_out))


def has_kinds(model: type[BaseModel]) -> bool:
    """Whether its `type` is a choice with a default; that of most models is their own name."""
    kind = model.model_fields.get("type")
    return kind is not None and not kind.is_required() and len(get_args(kind.annotation)) > 1


def keys_table(model: type[BaseModel], left_out: tuple[str, ...]) -> str:
    """Keys without a description of their own share that of the next one which has one."""
    rows, waiting = [], []
    for name, field in model.model_fields.items():
        if name in left_out:
            continue
        waiting.append(f"`{name}`")
        if field.description:
            shown = "needed" if field.is_required() else shown_default(field)
            rows.append([", ".join(waiting), shown, one_line(field.description)])
            waiting = []
    return markdown(["key", "default", "meaning"], rows)


def kinds_table(kinds: Any, base: type[BaseModel]) -> str:
    """Keys of several kinds of one thing, beyond those that they share; or whose defaults differ."""
    rows = []
    for model in get_args(get_args(kinds)[0]):
        kind = get_args(model.model_fields["type"].annotation)[0]
        own = {
            name: field
            for name, field in model.model_fields.items()
            if name != "type" and (name not in base.model_fields or field.default != base.model_fields[name].default)
        }
        cells = [
            [f"`{name}`", "needed" if field.is_required() else shown_default(field), one_line(field.description)]
            for name, field in own.items()
        ]
        shown = [f"`{kind}`", *[""] * (len(cells) - 1)]
        rows += [[first, *rest] for first, rest in zip(shown, cells or [["", "", "nothing more"]], strict=False)]
    return markdown(["type", "key", "default", "meaning"], rows)


def shown_default(field: Any) -> str:
    value = field.default
    if value is None:
        return "none"
    if isinstance(value, soccer.BallWall):
        return f"`{{restitution: {value.restitution:g}, friction: {value.friction:g}}}`"
    if isinstance(value, BaseModel):
        return "see below"
    if isinstance(value, tuple):
        value = list(value)
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    if isinstance(value, float):
        return f"`{value:.6g}`"
    return f"`{json.dumps(value)}`" if not isinstance(value, str) else (f"`{value}`" if value else "empty")


def degrees_table() -> str:
    rows = []
    for name in library.names("robot"):
        spec = load_robot(name).spec
        if not isinstance(spec, kinematics.WheeledRobot):
            continue
        model = WheeledRobotModel(spec)
        degrees = model.structure()
        capability = capability_of(model)
        inputs = ", ".join(f"`{one.name}`" for one in model.inputs)
        moves = capability.motion.value if capability else "no controller of poses can drive it"
        rows.append(
            [
                f"`{name}`",
                str(degrees.mobility),
                str(degrees.steerability),
                str(degrees.manoeuvrability),
                inputs,
                moves,
            ]
        )
    return markdown(["robot", "δ_m", "δ_s", "δ_M", "inputs", "how it moves"], rows)


def vehicle_channels_table() -> str:
    """Channels of a robot, of one of its wheels and of one of its motors."""
    spec = load("skid-circle").spec
    assert isinstance(spec, vehicle.VehicleScenario)
    robot = spec.robots["six"]
    wheel, motor = next(iter(robot.wheels)), next(iter(robot.motors))
    found = []
    for channel in vehicle_channels_of("ROBOT", robot):
        _, part, *rest = channel.name.split("/")
        if part in (*robot.wheels, *robot.motors) and part not in (wheel, motor):
            continue
        named = {wheel: "WHEEL", motor: "MOTOR"}.get(part, part)
        found.append((channel, "/".join(["ROBOT", named, *rest])))
    return channels_table(found)


def soccer_channels_table() -> str:
    """Channels of a robot, of one of its wheels, of the ball and of the match."""
    spec = load("soccer").spec
    assert isinstance(spec, soccer.SoccerScenario)
    first = next(iter(spec.robots))
    found = []
    for channel in soccer_channels_of(spec):
        actor, *rest = channel.name.split("/")
        if rest[0] == "right" or (actor in spec.robots and actor != first):
            continue
        named = "ROBOT" if actor == first else actor
        found.append((channel, "/".join([named, *("WHEEL" if part == "left" else part for part in rest)])))
    return channels_table(found)


def arm_channels_table() -> str:
    """Channels of an arm with a gripper and of an object; joints' names stand in the robot's file."""
    spec = load("titan4-pick").spec
    assert isinstance(spec, arm.ArmScenario)
    robot, thing = next(iter(spec.robots)), next(iter(spec.world.objects))
    joints = tuple(spec.robots[robot].joints)
    found = []
    for channel in arm_channels_of(spec):
        actor, *rest = channel.name.split("/")
        shown = replace(channel, components=("one a joint",)) if channel.components == joints else channel
        found.append((shown, "/".join([{robot: "ARM", thing: "OBJECT"}[actor], *rest])))
    return channels_table(found)


def multibody_channels_table() -> str:
    """Channels of a robot, of one of its joints, and of elements and sensors of each kind that is built in."""
    found = [*multibody_rows.root_channels("ROBOT"), *multibody_rows.joint_channels("ROBOT/JOINT", turns=True)]
    found.append(Channel("ROBOT/ELEMENT/force", "N", "on its link, in the world's axes", ("x", "y", "z")))
    for name, kind in (
        ("PROPELLER", aero_elements.PROPELLER),
        ("SURFACE", aero_elements.SURFACE),
        ("MOTOR", joint_elements.DC_MOTOR),
        ("FRICTION", joint_elements.JOINT_FRICTION),
    ):
        found += [Channel(f"ROBOT/{name}/{one.name}", one.unit, one.description) for one in kind.reports]
    for model in get_args(get_args(sensors.AnySensor)[0]):
        kind = get_args(model.model_fields["type"].annotation)[0]
        sensor = model.model_validate({"type": kind, "link": "body"})
        found += multibody_sensing.channels_of(f"ROBOT/{kind.upper()}", sensor)
    return channels_table([(channel, channel.name) for channel in found])


def parameters_table(name: str) -> str:
    """Denavit and Hartenberg's table of an arm, with its ranges."""
    spec = load_robot(name).spec
    assert isinstance(spec, arm.Arm)
    rows = []
    for number, (joint, row) in enumerate(spec.joints.items(), 1):
        offset = f" {'−' if row.theta < 0 else '+'} {abs(degrees(row.theta)):g}°" if row.theta else ""
        turns = [f"{degrees(end):g}°".replace("-", "−") for end in row.range] if row.range else []
        rows.append(
            [
                str(number),
                f"`{joint}`",
                f"{degrees(row.alpha):g}°".replace("-", "−"),
                f"{row.a:g} m",
                f"{row.d:g} m",
                f"θ{'₀₁₂₃₄₅₆₇₈₉'[number]}{offset}",
                " to ".join(turns) or "none",
            ]
        )
    return markdown(["", "joint", "α", "a", "d", "θ", "range"], rows)


def channels_table(found: list[tuple[Channel, str]]) -> str:
    """Channels, each under the name by which the page calls it."""
    rows = []
    for channel, name in found:
        components = f" ({', '.join(channel.components)})" if channel.components else ""
        unit = "" if channel.unit == "1" else channel.unit
        rows.append([f"`{name}`", unit, channel.description + components])
    return markdown(["channel", "unit", "what"], rows)


def messages_table() -> str:
    """The league's messages as the link has them: number and name of each field, then the type."""
    rows = [
        [f"`{name}`", f"`{package}`", fields]
        for package, messages in PACKAGES.items()
        for name, fields in messages.items()
    ]
    return markdown(["message", "package", "fields: number, name, type"], rows)


def colours_table() -> str:
    teams = {name: f"patch of team {name}" for name in TEAM_COLOURS}
    codes = {name: f"patches of numbers: digit {digit}" for digit, name in enumerate(CODE_COLOURS)}
    colours = {**TEAM_COLOURS, **CODE_COLOURS, "orange": BALL_COLOUR}
    rows = [
        [f"`{name}`", ", ".join(map(str, colour)), {**teams, **codes, "orange": "the ball, at its top"}[name]]
        for name, colour in colours.items()
    ]
    return markdown(["colour", "red, green, blue", "what"], rows)


def bench_table(result: dict[str, Any]) -> str:
    rows = []
    for one in result["results"]:
        # Costs and rates alike: a target that is met from below is a limit.
        target = one["target"]
        if target is None:
            shown = ""
        else:
            shown = f"{'≤' if (one['value'] <= target) == one['met'] else '≥'} {number(target)}"
        peer = one["peer"] or ""
        ratio = peer if one["ratio"] is None else f"{float(format(one['ratio'], '.2g')):g} × {peer}"
        unit = "" if one["unit"] == "1" else one["unit"]
        rows.append([one["metric"], f"{number(one['value'])} {unit}".strip(), shown, ratio])
    return f"On {result['machine']}:\n\n" + markdown(["measured", "value", "target", "peer in the same run"], rows)


def number(value: float) -> str:
    if value >= 1e6:
        return f"{value / 1e6:.3g} million"
    return f"{float(f'{value:.2g}'):,.0f}" if value >= 100 else f"{value:.2g}"


def markdown(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def one_line(text: str | None) -> str:
    return " ".join((text or "").split())


def table_in(text: str, name: str) -> str:
    found = pattern_of(name).search(text)
    return found[2].strip("\n") if found else ""


def with_table(text: str, name: str, table: str) -> str:
    if not pattern_of(name).search(text):
        raise SystemExit(f"no place for the table {name!r}")
    return pattern_of(name).sub(lambda found: f"{found[1]}\n\n{table}\n\n{found[3]}", text)


def pattern_of(name: str) -> re.Pattern[str]:
    return re.compile(rf"(<!-- table: {re.escape(name)} -->)(.*?)({re.escape(END)})", re.DOTALL)


def write(page: Path, name: str, table: str) -> None:
    page.write_text(with_table(page.read_text(encoding="utf-8"), name, table), encoding="utf-8")


def main(arguments: list[str]) -> int:
    for page, name, table in tables():
        write(page, name, table)
    if arguments[:1] == ["--bench"]:
        if len(arguments) > 1:
            texts = [Path(file).read_text(encoding="utf-8") for file in arguments[1:]]
        else:
            command = [sys.executable, "-m", "botz", "bench", "--json"]
            texts = [subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout]
        found = [json.loads(text) for text in texts]
        for result in [one for part in found for one in (part if isinstance(part, list) else [part])]:
            write(BENCH_PAGES[result["bench"]], "bench", bench_table(result))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
