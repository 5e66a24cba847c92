"""Plugin blocks of Gazebo, and our own, as force elements and actuators."""

from __future__ import annotations

import re

import pytest
from pydantic import TypeAdapter

from botz.models.plugin_blocks import actuator_block, element_block, sensor_block
from botz.models.plugins import SOURCE_COEFFICIENT, PluginReading, clean_name, library_name
from botz.models.robot_model import ModelActuator, ModelJoint
from botz.models.xml_tree import read_xml, xml_text
from botz.scenario.multibody.elements import LiftDrag, Propeller
from botz.scenario.multibody.schema import AnyElement, AnySensor

LINKS = ["body", "rotor_0", "wing", "flap"]
JOINTS = {
    "rotor_0_joint": ModelJoint("rotor_0_joint", "continuous", "body", "rotor_0"),
    "sideways": ModelJoint("sideways", "continuous", "body", "rotor_0", axis=(1.0, 0.0, 0.0)),
    "glue": ModelJoint("glue", "fixed", "body", "wing"),
    "flap_joint": ModelJoint("flap_joint", "revolute", "wing", "flap", lower=-0.5, upper=0.5),
}
MOTOR = """
  <robotNamespace>x3</robotNamespace><jointName>rotor_0_joint</jointName><linkName>rotor_0</linkName>
  <turningDirection>ccw</turningDirection><timeConstantUp>0.0125</timeConstantUp>
  <timeConstantDown>0.025</timeConstantDown><maxRotVelocity>800</maxRotVelocity>
  <motorConstant>8.54858e-06</motorConstant><momentConstant>0.016</momentConstant>
  <commandSubTopic>command/motor_speed</commandSubTopic><motorNumber>0</motorNumber>
  <rotorDragCoefficient>8.06428e-05</rotorDragCoefficient>
  <rollingMomentCoefficient>1e-06</rollingMomentCoefficient>
  <rotorVelocitySlowdownSim>10</rotorVelocitySlowdownSim><motorType>velocity</motorType>"""
GZ_MOTOR = 'filename="gz-sim-multicopter-motor-model-system" name="gz::sim::systems::MulticopterMotorModel"'
GZ_WING = 'filename="gz-sim-lift-drag-system" name="gz::sim::systems::LiftDrag"'


def taken(*blocks: str) -> PluginReading:
    reading = PluginReading(LINKS, JOINTS)
    for block in blocks:
        reading.take(read_xml(block))
    return reading


@pytest.mark.parametrize(
    ("attributes", "name"),
    [
        (GZ_MOTOR, "rotor_0"),
        ('filename="libgazebo_motor_model.so" name="Front Left"', "front_left"),
        ('filename="librotors_gazebo_motor_model.so" name="m0"', "m0"),
        (
            'filename="libignition-gazebo6-multicopter-motor-model-system.so" '
            'name="ignition::gazebo::systems::MulticopterMotorModel"',
            "rotor_0",
        ),
    ],
)
def test_motor_models_become_a_propeller_and_a_velocity_actuator_with_lag(attributes: str, name: str):
    reading = taken(f"<plugin {attributes}>{MOTOR}</plugin>")
    assert reading.problems == []
    assert reading.elements == {
        name: Propeller(
            type="propeller", joint="rotor_0_joint", coefficient=8.54858e-06, sense="ccw", drag_torque=0.016,
            rotor_drag=8.06428e-05, rolling_moment=1e-06,
        )
    }  # fmt: skip
    actuator = reading.actuators["rotor_0_joint"]
    assert (actuator.kind, actuator.lag, actuator.lag_down, actuator.speed) == ("velocity", 0.0125, 0.025, 800.0)
    (note,) = reading.notes
    assert "10 is undone" in note.message
    assert "full speed" in note.message


def test_a_motor_without_numbers_has_the_plugins_own():
    names = "<jointName>rotor_0_joint</jointName><turningDirection>cw</turningDirection>"
    reading = taken(f"<plugin {GZ_MOTOR}>{names}</plugin>")
    element, actuator = reading.elements["rotor_0"], reading.actuators["rotor_0_joint"]
    assert isinstance(element, Propeller)
    assert (element.coefficient, element.drag_torque, element.rotor_drag) == (8.54858e-6, 0.016, 1e-4)
    assert (actuator.lag, actuator.lag_down, actuator.speed) == (1 / 80, 1 / 40, 838.0)
    assert (element.sense, reading.notes) == ("cw", [])


@pytest.mark.parametrize(("kind", "actuator"), [("position", "position"), ("force", "effort")])
def test_motors_that_are_servos_make_no_thrust(kind: str, actuator: str):
    reading = taken(f"<plugin {GZ_MOTOR}>{MOTOR.replace('>velocity<', f'>{kind}<')}</plugin>")
    assert reading.elements == {}
    assert reading.actuators["rotor_0_joint"].kind == actuator
    assert "makes no thrust" in reading.notes[0].message


def test_the_sources_thrust_plugin():
    block = "<plugin name='{}' filename='{}'><link_name>rotor_0</link_name><force>20</force>{}</plugin>"
    reading = taken(
        block.format("front_push", "libhelice_push.so", ""),
        block.format("rear_push", "libhelice_push.so", "<dir>ccw</dir>"),
        block.format("own_build", "libmine.so", "<dir>1</dir><K>3e-5</K>"),
        block.format("other", "libmine.so", "<dir>-1</dir><k>4e-5</k>"),
    )
    assert reading.problems == []
    found = [(one.sense, one.coefficient, one.max_force, one.joint) for one in reading.elements.values()]
    assert found == [
        ("cw", SOURCE_COEFFICIENT, 20.0, "rotor_0_joint"),
        ("ccw", SOURCE_COEFFICIENT, 20.0, "rotor_0_joint"),
        ("ccw", 3e-5, 20.0, "rotor_0_joint"),
        ("cw", 4e-5, 20.0, "rotor_0_joint"),
    ]
    assert list(reading.elements) == ["front_push", "rear_push", "own_build", "other"]
    assert reading.actuators == {}


@pytest.mark.parametrize("attributes", [GZ_WING, 'filename="libLiftDragPlugin.so" name="wing"'])
def test_lift_drag_plugins(attributes: str):
    values = """<a0>0.4</a0><cla>4.75</cla><cda>0.64</cda><cma>0.1</cma><alpha_stall>1.5</alpha_stall>
      <cla_stall>-3.85</cla_stall><cda_stall>-0.92</cda_stall><cma_stall>0.2</cma_stall><cp>-0.37 0 0.77</cp>
      <area>0.1</area><air_density>1.2</air_density><forward>0 -1 0</forward><upward>1 0 0</upward>
      <link_name>plane::wing</link_name><radial_symmetry>true</radial_symmetry>
      <control_joint_name>plane::flap_joint</control_joint_name>
      <control_joint_rad_to_cl>-2.5</control_joint_rad_to_cl>"""
    reading = taken(f"<plugin {attributes}>{values}</plugin>")
    assert (reading.problems, reading.notes) == ([], [])
    assert reading.elements == {
        "wing": LiftDrag(
            type="lift-drag", link="wing", area=0.1, a0=0.4, cla=4.75, cda=0.64, cma=0.1, alpha_stall=1.5,
            cla_stall=-3.85, cda_stall=-0.92, cma_stall=0.2, cp=[-0.37, 0, 0.77], forward=[0, -1, 0], upward=[1, 0, 0],
            air_density=1.2, radial_symmetry=True, control_joint="flap_joint", control_slope=-2.5,
        )
    }  # fmt: skip


def test_two_surfaces_of_one_link_have_two_names_and_gazebos_defaults():
    reading = taken(*2 * [f"<plugin {GZ_WING}><link_name>wing</link_name></plugin>"])
    assert list(reading.elements) == ["wing", "wing_2"]
    found = reading.elements["wing"]
    assert isinstance(found, LiftDrag)
    assert (found.area, found.cla, found.cda, found.cma, found.air_density) == (1.0, 1.0, 0.01, 0.0, 1.2041)


@pytest.mark.parametrize(
    ("library", "words"),
    [
        ("libgazebo_ros_control.so", "not needed here: joints are commanded by their transmissions"),
        ("libgazebo_ros_camera.so", "not recognised and has no effect; recognised are"),
    ],
)
def test_other_plugins_are_listed(library: str, words: str):
    reading = taken(f"<plugin name='p' filename='{library}'/>")
    assert reading.problems == []
    assert words in reading.notes[0].message
    assert reading.notes[0].line == 1


def test_unknown_parameters_are_listed():
    reading = taken(f"<plugin {GZ_WING}>\n<link_name>wing</link_name>\n<wobble>3</wobble></plugin>")
    assert [(note.line, "wobble" in note.message) for note in reading.notes] == [(3, True)]


WRONG = [
    (f"<plugin {GZ_MOTOR}><jointName>rotor_0_join</jointName></plugin>", "no joint 'rotor_0_join'; did you mean"),
    (f"<plugin {GZ_MOTOR}><linkName>rotor_0</linkName></plugin>", "needs <jointName>"),
    (f"<plugin {GZ_MOTOR}><jointName>rotor_0_joint</jointName></plugin>", "needs <turningDirection>"),
    (
        f"<plugin {GZ_MOTOR}>{MOTOR.replace('>ccw<', '>left<')}</plugin>",
        "turningDirection: needs cw or ccw, not 'left'",
    ),
    (f"<plugin {GZ_MOTOR}>{MOTOR.replace('>rotor_0<', '>wing<')}</plugin>", "moves link 'rotor_0'"),
    (f"<plugin {GZ_MOTOR}>{MOTOR.replace('rotor_0_joint', 'sideways')}</plugin>", "turns about 1 0 0"),
    (f"<plugin {GZ_MOTOR}>{MOTOR.replace('0.0125', '-1')}</plugin>", "timeConstantUp: must not be negative"),
    (
        f"<plugin {GZ_MOTOR}>{MOTOR.replace('8.54858e-06', 'much')}</plugin>",
        "motorConstant: needs a number, not 'much'",
    ),
    (
        f"<plugin {GZ_MOTOR}>{MOTOR.replace('8.54858e-06', '-1')}</plugin>",
        "motorConstant: .* greater than or equal to 0",
    ),
    (f"<plugin {GZ_MOTOR}>{MOTOR.replace('>velocity<', '>magic<')}</plugin>", "motorType: unknown 'magic'"),
    (f"<plugin {GZ_WING}></plugin>", "needs <link_name>"),
    (f"<plugin {GZ_WING}><link_name>wings</link_name></plugin>", "no link 'wings'; did you mean 'wing'"),
    (f"<plugin {GZ_WING}><link_name>wing</link_name><area>0</area></plugin>", "area: .* greater than 0"),
    (f"<plugin {GZ_WING}><link_name>wing</link_name><cp>1 2</cp></plugin>", "cp: needs 3 numbers, not 2"),
    (f"<plugin {GZ_WING}><link_name>wing</link_name><upward>2 0 0</upward></plugin>", "upward: is along 'forward'"),
    ("<plugin filename='libhelice_push.so'><link_name>wing</link_name><force>1</force></plugin>", "does not turn"),
    (
        "<plugin filename='x'><link_name>rotor_0</link_name><force>1</force><dir>up</dir></plugin>",
        "dir: needs cw or ccw",
    ),
    ("<plugin filename='botz-element' name='a'><type>rocket</type></plugin>", "unknown type 'rocket'"),
    (
        "<plugin filename='botz-element' name='a'><type>dc-motor</type><joint>glue</joint>"
        "<resistance>1</resistance></plugin>",
        "torque_constant: is missing",
    ),
    (
        "<plugin filename='botz-element' name='a'><type>evil.py:run</type><link>body</link></plugin>",
        "names a function of a user, 'evil.py:run', which a model file may not",
    ),
    (
        "<plugin filename='botz-element' name='a'><type>propeller</type><joint>none</joint>"
        "<coefficient>1</coefficient></plugin>",
        "no joint 'none'",
    ),
]


@pytest.mark.parametrize(("block", "words"), WRONG, ids=range(len(WRONG)))
def test_wrong_blocks_have_a_message_with_the_line(block: str, words: str):
    reading = taken(f"\n{block}")
    assert len(reading.problems) == 1, reading.problems
    assert reading.problems[0].line is not None
    assert re.search(words, str(reading.problems[0])), str(reading.problems[0])


ELEMENTS = [
    {"type": "propeller", "joint": "rotor_0_joint", "coefficient": 2e-5, "sense": "cw", "max_force": 14.0},
    {
        "type": "propeller", "joint": "rotor_0_joint", "curve": [0.1, 1e-3, 2e-5], "lag_up": 0.1, "lag_down": 0.2,
        "inflow_loss": 0.05, "radius": 0.15,
    },
    {
        "type": "propeller", "joint": "rotor_0_joint", "coefficient": 1e-5, "lag_up": 0.01, "radius": 0.2,
        "drag_torque": 0.02, "rotor_drag": 1e-4, "rolling_moment": 1e-6,
    },
    {"type": "propeller", "joint": "sideways", "coefficient": 1e-5},
    {"type": "lift-drag", "link": "wing", "area": 0.3, "cd0": 0.02, "a0": 0.1},
    {
        "type": "lift-drag", "link": "wing", "area": 0.3, "air_density": 1.1, "control_joint": "flap_joint",
        "control_slope": 2,
    },
    {"type": "dc-motor", "joint": "flap_joint", "resistance": 1.5, "torque_constant": 0.02, "gear_ratio": 30},
    {"type": "lugre", "joint": "flap_joint", "stiffness": 10, "coulomb": 0.1, "static": 0.2, "form": "continuous"},
]  # fmt: skip


@pytest.mark.parametrize("values", ELEMENTS, ids=lambda values: values["type"])
@pytest.mark.parametrize("kind", ["velocity", "effort", None])
def test_every_element_is_read_back_as_it_was_written(values: dict, kind: str | None):
    element = TypeAdapter(AnyElement).validate_python(values)
    actuators = {}
    if kind is not None:
        actuators = {name: ModelActuator(name, kind, speed=900.0, lag=0.1, lag_down=0.2) for name in JOINTS}
    text = xml_text(element_block("my_name", element, JOINTS, actuators))
    reading = taken(text)
    assert (reading.problems, reading.notes) == ([], [])
    assert reading.elements == {"my_name": element}
    for actuator in reading.actuators.values():
        assert (actuator.kind, actuator.speed, actuator.lag, actuator.lag_down) == ("velocity", 900.0, 0.1, 0.2)


def test_gazebo_gets_a_motor_where_it_has_one():
    element = Propeller(type="propeller", joint="rotor_0_joint", coefficient=1e-5)
    fast = {"rotor_0_joint": ModelActuator("rotor_0_joint", "velocity", speed=900.0)}
    assert element_block("a", element, JOINTS, fast).get("name") == "gz::sim::systems::MulticopterMotorModel"
    assert element_block("a", element, JOINTS, {}).get("filename") == "botz-element"


def test_sensors_and_actuators_are_read_back_too():
    sensor = TypeAdapter(AnySensor).validate_python({"type": "imu", "link": "body", "rate": 250, "gyro_noise": 1e-3})
    assert taken(xml_text(sensor_block("imu", sensor))).sensors == {"imu": sensor}
    for kind in ("position", "velocity", "effort"):
        actuator = ModelActuator("flap_joint", kind, speed=2.0, lag=0.05, lag_down=0.1)
        found = taken(xml_text(actuator_block(actuator))).actuators["flap_joint"]
        assert (found.kind, found.speed, found.lag, found.lag_down) == (kind, 2.0, 0.05, 0.1)


def test_one_controller_of_several_joints_whose_gains_are_listed():
    names = "<joint_name>flap_joint</joint_name><joint_name>rotor_0_joint</joint_name><p_gain>3</p_gain>"
    system = 'filename="gz-sim-joint-position-controller-system" name="gz::sim::systems::JointPositionController"'
    reading = taken(f"<plugin {system}>{names}</plugin>")
    assert {name: one.kind for name, one in reading.actuators.items()} == {
        "flap_joint": "position",
        "rotor_0_joint": "position",
    }
    assert [note.message for note in reading.notes if "<p_gain>" in note.message] != []


@pytest.mark.parametrize(
    ("filename", "name"),
    [
        ("libLiftDragPlugin.so", "LiftDragPlugin"),
        ("gz-sim8-lift-drag-system", "lift-drag-system"),
        ("/opt/lib/libhelice_push.so.1.2", "helice_push"),
        ("LiftDragPlugin.dll", "LiftDragPlugin"),
        ("", ""),
    ],
)
def test_library_names(filename: str, name: str):
    assert library_name(filename) == name


@pytest.mark.parametrize(("given", "name"), [("Front Left", "front_left"), ("1", "element_1"), ("a::b-c", "a_b_c")])
def test_names_of_elements(given: str, name: str):
    assert clean_name(given) == name


def motor(**said: str) -> str:
    text = MOTOR
    for tag, value in said.items():
        text = re.sub(f"<{tag}>[^<]*<", f"<{tag}>{value}<", text)
    return f"<plugin {GZ_MOTOR}>{text}</plugin>"


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"timeConstantUp": "200"}, "timeConstantUp: must be less than or equal to 100, not 200.0"),
        ({"timeConstantDown": "101"}, "timeConstantDown: must be less than or equal to 100, not 101.0"),
        ({"jointName": "glue", "linkName": "wing"}, "jointName: joint 'glue' is fixed; what does not move"),
    ],
)
def test_motors_that_no_actuator_can_be(said: dict[str, str], words: str):
    (problem,) = taken(motor(**said)).problems
    assert words in str(problem) and problem.line is not None


def test_controllers_that_no_actuator_can_be():
    head = '<plugin filename="x" name="gz::sim::systems::JointController">'
    block = f"{head}<joint_name>flap_joint</joint_name><botz>\n<lag>-1</lag>\n<speed>-3</speed></botz></plugin>"
    found = [str(problem) for problem in taken(block).problems]
    assert len(found) == 2
    assert "speed: must be greater than 0, not -3.0" in found[0]
    assert "lag: must be greater than or equal to 0, not -1.0" in found[1]
    held = taken(f"{head}<joint_name>glue</joint_name></plugin>")
    assert "joint 'glue' is fixed" in str(held.problems[0]) and not held.actuators
