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
from pathlib import Path
from typing import Any, get_args

from model_tables import (
    arm_channels_table,
    bench_table,
    colours_table,
    degrees_table,
    described_elements,
    layers_table,
    markdown,
    messages_table,
    multibody_channels_table,
    parameters_table,
    soccer_channels_table,
    vehicle_channels_table,
)
from pydantic import BaseModel

from botz.scenario import links, schema, shapes, terrain
from botz.scenario.arm import links as arm_links
from botz.scenario.arm import motion as arm_motion
from botz.scenario.arm import schema as arm
from botz.scenario.arm import world as arm_world
from botz.scenario.families import FAMILIES
from botz.scenario.kinematics import schema as kinematics
from botz.scenario.multibody import flight, sensors
from botz.scenario.multibody import schema as multibody
from botz.scenario.multibody import world as multibody_world
from botz.scenario.problems import child, field_type, models_by_tag
from botz.scenario.soccer import links as soccer_links
from botz.scenario.soccer import schema as soccer
from botz.scenario.vehicle import schema as vehicle
from botz.scenario.vehicle import tyre

ROOT = Path(__file__).resolve().parent.parent
SCENARIO_PAGE = ROOT / "docs" / "scenario-files.md"
CONTROLLER_PAGE = ROOT / "docs" / "controllers.md"
ROBOT_PAGE = ROOT / "docs" / "wheeled-robots.md"
VEHICLE_PAGE = ROOT / "docs" / "vehicles.md"
SOCCER_PAGE = ROOT / "docs" / "soccer.md"
ARM_PAGE = ROOT / "docs" / "arms.md"
MULTIBODY_PAGE = ROOT / "docs" / "multibody.md"
LAB_PAGE = ROOT / "docs" / "lab.md"
README = ROOT / "README.md"
BENCH_PAGES = {
    "kinematics": README,
    "vehicle": VEHICLE_PAGE,
    "soccer": SOCCER_PAGE,
    "arm": ARM_PAGE,
    "multibody": MULTIBODY_PAGE,
    "lab": LAB_PAGE,
    "startup": ROOT / "docs" / "running.md",
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
    (SOCCER_PAGE, "links", soccer_links.SoccerLinks),
    (SOCCER_PAGE, "league", soccer_links.LeagueLink),
    (SOCCER_PAGE, "referee", soccer_links.RefereeLink),
    (SOCCER_PAGE, "voltage", soccer_links.VoltageLink),
    (SOCCER_PAGE, "camera", soccer_links.CameraLink),
    (SOCCER_PAGE, "poses", links.PoseLink),
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
    (ARM_PAGE, "links", arm_links.ArmLinks),
    (ARM_PAGE, "teleoperation link", arm_links.TeleoperationLink),
    (CONTROLLER_PAGE, "master", arm_motion.MasterScript),
    (MULTIBODY_PAGE, "placed", multibody.PlacedMultibody),
    (MULTIBODY_PAGE, "link", multibody.LinkSpec),
    (MULTIBODY_PAGE, "actuator", multibody.ActuatorSpec),
    *((MULTIBODY_PAGE, section, kind) for section, kind in described_elements().items()),
    (MULTIBODY_PAGE, "time", multibody.MultibodyTime),
    (MULTIBODY_PAGE, "world", multibody_world.MultibodyWorld),
    (MULTIBODY_PAGE, "wind", multibody_world.Wind),
    (MULTIBODY_PAGE, "gust", multibody_world.Gust),
    (MULTIBODY_PAGE, "turbulence", multibody_world.Turbulence),
    (MULTIBODY_PAGE, "earth", multibody_world.Earth),
    (MULTIBODY_PAGE, "contact", multibody_world.Contacts),
    (CONTROLLER_PAGE, "hover gains", flight.PidGains),
    (CONTROLLER_PAGE, "manoeuvre", flight.Manoeuvre),
    (CONTROLLER_PAGE, "setpoint", flight.Setpoint),
    (CONTROLLER_PAGE, "flight gains", flight.AxisGains),
    (CONTROLLER_PAGE, "flight limits", flight.FlightLimits),
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
    arm_links.TeleoperationLink: tuple(arm_motion.Teleoperation.model_fields),
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
    page, section = sensors.Sensor.docs.split("#")
    yield ROOT / "docs" / page, section, kinds_table(multibody.AnySensor, sensors.Sensor)
    yield MULTIBODY_PAGE, "channels", multibody_channels_table()
    yield LAB_PAGE, "layers", layers_table()
    yield CONTROLLER_PAGE, "controllers", controllers_table()
    of_controllers = [(ROOT / "docs" / page_of(model), schema.tags(model)[0], model) for model in controllers()]
    for place, name, model in [*KEYS, *of_controllers]:
        left_out = tuple(key for base, keys in SAID_ONCE.items() if issubclass(model, base) for key in keys)
        yield place, name, keys_table(model, left_out if has_kinds(model) else ("type", *left_out))


def controllers() -> dict[Any, list[str]]:
    """All controllers, each with the engines whose robots it drives."""
    found: dict[Any, list[str]] = {}
    for engine, family in FAMILIES.items():
        kinds = child(field_type(family.scenario.model_fields["controllers"]), "")
        for model in dict.fromkeys(models_by_tag(kinds).values()):
            found.setdefault(model, []).append(engine)
    return found


def page_of(model: type[schema.Controller]) -> str:
    return model.docs.partition("#")[0]


def controllers_table() -> str:
    rows = []
    for model, engines in controllers().items():
        section = model.docs.partition("#")[2] or schema.tags(model)[0]
        place = f"#{section}" if page_of(model) == CONTROLLER_PAGE.name else f"{page_of(model)}#{section}"
        types = ", ".join(f"[`{tag}`]({place})" for tag in schema.tags(model))
        what = one_line(model.__doc__).split(". ")[0].rstrip(".")
        rows.append([types, "all" if len(engines) == len(FAMILIES) else ", ".join(engines), what])
    return markdown(["type", "engine", "what it does"], rows)


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
    for kind, model in models_by_tag(kinds).items():
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
    if isinstance(value, schema.Translated):
        return f"`{value}`" if value.en else "empty"
    if isinstance(value, BaseModel):
        return "see below"
    if isinstance(value, tuple):
        value = list(value)
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    if isinstance(value, float):
        return f"`{value:.6g}`"
    return f"`{json.dumps(value)}`" if not isinstance(value, str) else (f"`{value}`" if value else "empty")


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
