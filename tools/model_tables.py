"""Tables of the documentation that describe robots, what they record and what they exchange, and measured numbers.

The tables of keys are made by make_tables.py, which writes all of them.
"""

from __future__ import annotations

from dataclasses import replace
from math import degrees
from typing import Any, get_args

from botz.channels import Channel
from botz.control.wheeled.capability import capability_of
from botz.endpoints.soccer.league_messages import PACKAGES
from botz.engines.arm.rows import channels_of as arm_channels_of
from botz.engines.multibody import rows as multibody_rows
from botz.engines.multibody import sensing as multibody_sensing
from botz.engines.multibody.elements.base import ElementKind
from botz.engines.soccer.rows import channels_of as soccer_channels_of
from botz.engines.vehicle.rows import channels_of as vehicle_channels_of
from botz.registry import imported
from botz.robots.wheeled_robot import WheeledRobotModel
from botz.scenario import library
from botz.scenario.arm import schema as arm
from botz.scenario.kinematics import schema as kinematics
from botz.scenario.load import load, load_robot
from botz.scenario.multibody import sensors
from botz.scenario.multibody.elements import ELEMENTS, Element
from botz.scenario.schema import tags
from botz.scenario.soccer import schema as soccer
from botz.scenario.vehicle import schema as vehicle
from botz.scene.lab_layers import LAYERS
from botz.scene.soccer.camera import BALL_COLOUR, CODE_COLOURS, TEAM_COLOURS


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
    found = multibody_rows.ROOT.of("ROBOT") + multibody_rows.HINGE.of("ROBOT/JOINT")
    found.append(Channel("ROBOT/ELEMENT/force", "N", "on its link, in the world's axes", ("x", "y", "z")))
    for name, element in described_elements().items():
        kind = imported(element.implementation) if element.implementation else None
        if isinstance(kind, ElementKind):
            part = f"ROBOT/{name.upper()}"
            found += [Channel(f"{part}/{one.name}", one.unit, one.description) for one in kind.reports]
    for model in sensors.SENSORS:
        name = get_args(model.model_fields["type"].annotation)[0].upper()
        found += multibody_sensing.channels_of(f"ROBOT/{name}", imported(model.implementation))
    return channels_table([(channel, channel.name) for channel in found])


def described_elements() -> dict[str, type[Element]]:
    """By section of the family's page."""
    return {element.docs.partition("#")[2] or tags(element)[0]: element for element in ELEMENTS}


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


def layers_table() -> str:
    rows = [[f"{title}{' (on at first)' if layer.on else ''}", about] for layer in LAYERS
            for title, about in [layer.texts["en"]]]  # fmt: skip
    return markdown(["layer", "what it shows"], rows)


def markdown(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)
