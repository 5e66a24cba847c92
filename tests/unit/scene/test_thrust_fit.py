"""Thrust by speed: the source's table, laws that are known, and tables with mistakes."""

from __future__ import annotations

from math import pi
from pathlib import Path

import numpy as np
import pytest
import yaml

from botz.errors import InputError
from botz.models.thrust_fit import (
    fit_by_least_squares,
    fit_by_sums,
    fit_curve,
    propeller_lines,
    read_thrust_table,
    thrust_fits,
    yaml_number,
)
from botz.scenario.library import library_folder
from botz.scenario.multibody.elements import Propeller

TABLE = library_folder() / "robots" / "lophorina" / "thrust.csv"


def test_the_sources_table():
    """K = Σf/Σω² of both columns, and the least squares of the measured one [costa2022, section 3.8]."""
    table = read_thrust_table(TABLE)
    maker, measured = table.columns
    assert (maker.name, measured.name, table.speed_column) == ("maker [N]", "measured [N]", "speed [rpm]")
    assert f"{fit_by_sums(table.speed, measured.force).coefficient:.7e}" == "2.0032092e-05"
    assert f"{fit_by_least_squares(table.speed, measured.force).coefficient:.7e}" == "2.0032084e-05"
    assert f"{fit_by_sums(table.speed, maker.force).coefficient:.4e}" == "1.8201e-05"
    assert measured.force.sum() == pytest.approx(44.814)
    assert (table.speed**2).sum() == pytest.approx(2237110.32580105, rel=1e-8)


def test_least_squares_has_the_least_squares():
    table = read_thrust_table(TABLE, force_columns=["maker"])
    (maker,) = table.columns
    sums, least, curve = thrust_fits(table.speed, maker.force)
    assert curve.rms < least.rms < sums.rms
    for nearby in (0.9999, 1.0001):
        other = maker.force - least.curve[2] * nearby * table.speed**2
        assert np.sqrt((other**2).mean()) > least.rms
    # Sums: residuals add up to nothing; least squares: they are across ω².
    assert (maker.force - sums.thrust(table.speed)).sum() == pytest.approx(0, abs=1e-9)
    assert (maker.force - least.thrust(table.speed)) @ table.speed**2 == pytest.approx(0, abs=1e-6)


def test_a_curve_is_found_again():
    speed = np.linspace(50, 900, 12)
    found = fit_curve(speed, -0.3 + 2e-3 * speed + 1.5e-5 * speed**2)
    np.testing.assert_allclose(found.curve, (-0.3, 2e-3, 1.5e-5), rtol=1e-9)
    assert found.rms < 1e-9 and found.coefficient is None


def test_the_largest_residual_keeps_sign_and_speed():
    speed = np.array([100.0, 200.0, 300.0, 400.0])
    force = 1e-5 * speed**2
    force[1] -= 0.5
    found = fit_by_least_squares(speed, force)
    assert found.largest < 0 and found.largest_at == 200.0
    assert found.largest == pytest.approx(force[1] - found.coefficient * 200.0**2)


def test_two_speeds_give_no_curve():
    speed = np.array([100.0, 200.0, 200.0])
    assert [fit.method for fit in thrust_fits(speed, 1e-5 * speed**2)] == ["sums", "least-squares"]


@pytest.mark.parametrize("value", [2.0032092e-5, 1e-5, -2e-7, 0.0, 3.25, 1e20])
def test_numbers_are_numbers_in_yaml(value: float):
    read = yaml.safe_load(yaml_number(value))
    assert isinstance(read, int | float) and read == pytest.approx(value, rel=1e-8)


def test_the_lines_make_a_propeller():
    for fit in thrust_fits(*_law(lambda w: 0.1 + 1e-4 * w + 2e-5 * w**2)):
        read = Propeller(type="propeller", joint="spin", **yaml.safe_load(propeller_lines(fit)))
        assert (read.curve is None) == (fit.method != "curve")


def _law(law):
    speed = np.linspace(100, 800, 8)
    return speed, law(speed)


# --- tables ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "speed", "force"),
    [
        ("omega [rad/s],thrust [N]\n100,2\n", 100, 2),
        ("ω (RPM);T Fabricante (N)\n1000;0,2001\n", 1000 * pi / 30, 0.2001),
        ("rpm\tN\n60\t1\n", 2 * pi, 1),
        ("speed_rad_s, thrust_N\n5, 1\n", 5, 1),
        ("note,w [rev/s],f [gf]\nfirst,10,100\n", 20 * pi, 0.980665),
        ("# comment\n\n\ufeffw [rad/s],f [kgf]\n10,1\n", 10, 9.80665),
        ('"speed [rpm]","thrust [mN]"\n"30","500"\n', pi, 0.5),
    ],
)
def test_headings_and_units(tmp_path: Path, text: str, speed: float, force: float):
    path = tmp_path / "table.csv"
    path.write_text(text.replace("\ufeff", ""), encoding="utf-8")
    table = read_thrust_table(path)
    np.testing.assert_allclose(table.speed, [speed])
    np.testing.assert_allclose(table.columns[0].force, [force])


def test_columns_by_name(tmp_path: Path):
    path = tmp_path / "table.csv"
    path.write_text("rpm [rpm],w [rad/s],a [N],b [N]\n1,100,2,3\n", encoding="utf-8")
    table = read_thrust_table(path, speed_column="w", force_columns=["b [N]"])
    assert table.speed.tolist() == [100] and [column.name for column in table.columns] == ["b [N]"]
    with pytest.raises(InputError, match=r"no column 'c'.*a \[N\]"):
        read_thrust_table(path, force_columns=["c"])
    with pytest.raises(InputError, match=r"column 'a \[N\]' has the unit 'N'; needs rpm or rad/s"):
        read_thrust_table(path, speed_column="a")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is empty"),
        ("# only a comment\n", "is empty"),
        ("w [rad/s],f [N]\n", "no row with a speed above 0"),
        ("w [rad/s],f [N]\n0,1\n", "no row with a speed above 0"),
        ("w,f [N]\n1,1\n", "no column of speeds among 'w'"),
        ("w [rad/s],f\n1,1\n", "no column of forces"),
        ("w [rad/s],f [N]\n1,1\n2,two\n", r"table\.csv:3: column 'f \[N\]' is 'two'; needs a number"),
        ("w [rad/s],f [N]\n1,1\n\n2\n", r"table\.csv:4: has 1 values, the first row names 2"),
        ("w [rad/s],f [N]\n1,nan\n", r"table\.csv:2: .*finite"),
        ("w [rad/s],f [N]\n-1,1\n", r"table\.csv:2: .*from 0"),
        ("w [rad/s],f [N]\n1,1,5\n", r"table\.csv:2: has 3 values"),
        ("w [rad/s],f [N]\n1,-1\n", "thrust is positive"),
        ("w [rad/s],f [N]\n1_0,1\n", "finite"),
    ],
)
def test_tables_with_mistakes(tmp_path: Path, text: str, words: str):
    path = tmp_path / "table.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=words):
        read_thrust_table(path)


def test_all_bad_rows_are_named_at_once(tmp_path: Path):
    path = tmp_path / "table.csv"
    path.write_text("w [rad/s],f [N]\n" + "x,1\n" * 30, encoding="utf-8")
    with pytest.raises(InputError) as found:
        read_thrust_table(path)
    assert len(found.value.problems) == 21 and "10 more rows" in str(found.value.problems[-1])


def test_files_that_are_no_table(tmp_path: Path):
    with pytest.raises(InputError, match="no such file"):
        read_thrust_table(tmp_path / "none.csv")
    (tmp_path / "image.csv").write_bytes(b"\xff\xfe\x00\x80")
    with pytest.raises(InputError, match="no text in UTF-8"):
        read_thrust_table(tmp_path / "image.csv")
