"""Quantities: SI numbers and strings with units."""

from __future__ import annotations

import math
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError

from botz.errors import InputError
from botz.scenario import units
from botz.scenario.units import CommandValue, Metres, PlanarPose, Quantity


@pytest.mark.parametrize(
    ("unit", "text", "value"),
    [
        ("m", "0.12 m", 0.12),
        ("m", "12cm", 0.12),
        ("m", "  2 in ", 0.0508),
        ("m", "1e-3", 0.001),
        ("m", "1e-3 km", 1.0),
        ("rad", "45 deg", math.pi / 4),
        ("rad", "-90 °", -math.pi / 2),
        ("rad", "2 turn", 4 * math.pi),
        ("s", "30 ms", 0.03),
        ("s", "5 µs", 5e-6),
        ("s", "5 μs", 5e-6),
        ("Hz", "1 kHz", 1000.0),
        ("rad/s", "60 rpm", 2 * math.pi),
        ("rad/s", "0.5 rev/s", math.pi),
        ("rad/s", "1 rev/min", 2 * math.pi / 60),
        ("m/s", "36 km/h", 10.0),
        ("m/s", "2 knot", 2 * 1852 / 3600),
        ("", "5 %", 0.05),
        ("Nm", "2 N*m", 2.0),
        ("Nm", "3 mN·m", 0.003),
        ("kg*m^2", "5 g*cm^2", 5e-7),
        ("kg*m^2", "5 g·cm²", 5e-7),
        ("rad/s/V", "254 rpm/V", 254 * 2 * math.pi / 60),
        ("K", "20 degC", 293.15),
        (None, "60 rpm", 2 * math.pi),
        (None, "7", 7.0),
    ],
)
def test_a_string_becomes_si(unit: str | None, text: str, value: float) -> None:
    assert Quantity(unit).convert(text) == pytest.approx(value, rel=1e-14)


def test_radians_count_as_one_beside_other_units() -> None:
    # A thrust coefficient in N/(rad/s)² may be written N*s^2; rpm² keeps its factor.
    coefficient = Quantity("N/(rad/s)^2")
    assert coefficient.convert("2 N*s^2") == 2.0
    assert coefficient.convert("1 N/rpm^2") == pytest.approx((60 / (2 * math.pi)) ** 2)


@pytest.mark.parametrize("unit", list(units.COMMON_UNITS))
def test_the_table_agrees_with_pint(unit: str) -> None:
    factor, dimension = units.COMMON_UNITS[unit]
    by_pint, dimension_by_pint = units._by_pint(1.0, unit)
    assert dimension == dimension_by_pint
    assert factor == pytest.approx(by_pint, rel=1e-15)


def test_every_example_in_a_message_is_accepted() -> None:
    for dimension, (_, example) in units._WORDS.items():
        assert units.parse(example)[1] == dimension


@pytest.mark.parametrize("text", ["3 m^2", "3 m 2", "3 1/m", "3 m*m"])
def test_a_digit_at_the_end_does_not_hide_a_wrong_dimension(text: str) -> None:
    with pytest.raises(ValueError):
        Quantity("m").convert(text)


@pytest.mark.parametrize("value", [True, None, [1], {"x": 1}, math.nan, math.inf, 10**400, "nan", "inf", "1e999"])
def test_what_is_no_finite_number_is_refused(value: object) -> None:
    with pytest.raises(ValueError):
        Quantity("m").convert(value)


@settings(deadline=None)  # the first unit that needs pint imports it
@given(st.text(max_size=80) | st.from_regex(r"[0-9]{1,3} ?[a-zA-Zµ°%²³*/^(). 0-9+-]{0,60}", fullmatch=True))
def test_no_string_does_worse_than_value_error(text: str) -> None:
    for unit in ("m", "rad/s", "", None):
        try:
            assert math.isfinite(Quantity(unit).convert(text))
        except ValueError as error:
            assert str(error).isprintable()


@given(st.floats(allow_nan=False, allow_infinity=False), st.sampled_from(sorted(units.COMMON_UNITS)))
def test_any_number_with_a_common_unit_scales_by_its_factor(number: float, unit: str) -> None:
    try:
        value, _ = units.parse(f"{number!r} {unit}")
    except ValueError:
        assert not math.isfinite(number * units.COMMON_UNITS[unit][0])
    else:
        assert value == number * units.COMMON_UNITS[unit][0]


class _Fields(BaseModel):
    length: Metres = 0.0
    pose: PlanarPose = (0.0, 0.0, 0.0)
    command: CommandValue = 0.0


def test_a_pose_is_a_list_or_a_mapping() -> None:
    listed = _Fields.model_validate({"pose": [1, "20 cm", "90 deg"]}).pose
    assert listed == (1.0, 0.2, math.pi / 2)
    assert _Fields.model_validate({"pose": {"y": "20 cm", "x": 1, "heading": "90 deg"}}).pose == listed
    assert _Fields.model_validate({"pose": {"heading": 1}}).pose == (0.0, 0.0, 1.0)


def test_a_command_is_one_number_or_several() -> None:
    assert _Fields.model_validate({"command": "60 rpm"}).command == pytest.approx(2 * math.pi)
    assert _Fields.model_validate({"command": [1, "2 cm/s"]}).command == [1.0, 0.02]
    with pytest.raises(ValidationError):
        _Fields.model_validate({"command": {"x": 1}})


def test_common_units_do_without_pint() -> None:
    code = (
        "import sys; from botz.scenario.units import Quantity as Q;"
        "Q('m').convert('3 cm'); Q('rad/s').convert('60 rpm'); Q('s').convert('30 ms');"
        "assert 'pint' not in sys.modules; Q('m').convert('3 ft'); assert 'pint' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_quantity_outside_a_file_is_checked_the_same() -> None:
    assert units.to_si("90 deg", "rad") == math.pi / 2
    with pytest.raises(InputError, match=r'"3 kg" is a mass, needs an angle such as "45 deg"'):
        units.to_si("3 kg", "rad")
