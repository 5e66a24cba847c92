"""Errors between runs against closed forms."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from botz.channels import Channel, ChannelTable
from botz.errors import InputError
from botz.record.compare import compare, open_track
from botz.record.reader import read
from botz.record.streams import RecordingHeader, StreamSpec
from botz.record.trajectory import Trajectory, distance_to_path, load_trajectory
from botz.record.writer import RecordingWriter

PLANAR = (("x", "y", "heading"), "m, m, rad")
SPATIAL = (("x", "y", "z", "qw", "qx", "qy", "qz"), "m, m, m, 1, 1, 1, 1")


@pytest.fixture
def record(tmp_path):
    """Writes a recording of one robot's pose at the given steps of 1 ms."""

    def make(name, steps, pose, robot="vivi", form=PLANAR):
        table = ChannelTable([Channel(f"{robot}/pose", form[1], "", form[0]), Channel(f"{robot}/speed", "m/s", "")])
        streams = [StreamSpec("state", 1, (f"{robot}/pose", f"{robot}/speed"))]
        path = tmp_path / f"{name}.mcap"
        writer = RecordingWriter(path, RecordingHeader({}, name, "", 0, 1_000_000), table, ChannelTable([]), streams)
        writer.write_rows(0, steps, np.column_stack([pose, 2.0 * np.asarray(steps)]))
        writer.close({})
        return read(path)

    return make


def circle(steps, centre=(0.0, 0.0), radius=1.0):
    angle = 2 * np.pi * np.asarray(steps) / 1000.0
    x, y = centre[0] + radius * np.cos(angle), centre[1] + radius * np.sin(angle)
    return np.column_stack([x, y, np.remainder(angle + np.pi / 2 + np.pi, 2 * np.pi) - np.pi])


def test_a_shifted_circle_is_off_by_the_shift_everywhere(record):
    steps = np.arange(0, 1001, 10)
    result = compare(record("a", steps, circle(steps)), [record("b", steps, circle(steps, (0.3, 0.4)))])
    [difference] = result.differences
    assert (result.channel, difference.channel, result.unit) == ("vivi/pose", "vivi/pose", "m, m, rad")
    assert difference.by_time
    assert [error.label for error in difference.errors] == ["distance", "heading"]
    np.testing.assert_allclose(difference.errors[0].values, 0.5, rtol=1e-12)
    assert difference.rms == pytest.approx(0.5, rel=1e-12)
    assert difference.max == pytest.approx(0.5, rel=1e-12)
    assert difference.errors[1].max == 0.0
    assert result.points.shape == difference.points.shape == (101, 2)


def test_a_delay_on_a_line_is_speed_times_delay_whatever_the_rates(record):
    # x = v t against x = v (t - τ): off by v τ; straight lines are interpolated exactly.
    coarse, fine = np.arange(0, 1000, 7), np.arange(200, 1500, 3)
    line = lambda t: np.column_stack([0.002 * t, 0 * t, 0 * t])  # noqa: E731
    result = compare(record("a", coarse, line(coarse)), [record("b", fine, line(fine - 50.0))])
    [difference] = result.differences
    assert difference.time[0] >= 0.2
    assert difference.time[-1] <= 0.999
    np.testing.assert_allclose(difference.errors[0].values, 0.1, rtol=1e-9)


def test_rms_and_maximum_of_a_growing_error(record):
    # e(k) = k/1000 for k = 0 … n: rms = sqrt((n + 1/2)(n + 1)/3 · …) summed directly, maximum at the end.
    steps = np.arange(101)
    still = np.zeros((101, 3))
    drift = np.column_stack([steps / 1000.0, 0 * steps, -steps / 500.0])
    [difference] = compare(record("a", steps, still), [record("b", steps, drift)]).differences
    expected = np.sqrt(100 * 101 * 201 / 6 / 101) / 1000.0
    assert difference.rms == pytest.approx(expected, rel=1e-12)
    assert (difference.max, difference.errors[0].worst) == (pytest.approx(0.1), 100)
    assert difference.errors[1].max == pytest.approx(0.2)


def test_headings_are_compared_the_short_way_round(record):
    steps = np.arange(50)
    a = np.column_stack([np.zeros((50, 2)), np.full(50, 3.1)])
    b = np.column_stack([np.zeros((50, 2)), np.full(50, -3.1)])
    [difference] = compare(record("a", steps, a), [record("b", steps, b)]).differences
    assert difference.errors[1].max == pytest.approx(2 * np.pi - 6.2)


def test_wrapped_headings_are_interpolated_across_the_jump(record):
    fine, coarse = np.arange(0, 2001), np.arange(0, 2001, 100)
    [difference] = compare(record("a", fine, circle(fine)), [record("b", coarse, circle(coarse))]).differences
    assert difference.errors[1].max < 1e-9


def test_quaternions_give_the_angle_between(record):
    steps = np.arange(0, 100, 5)

    def spin(offset, sign):
        half = 0.5 * (0.05 * steps + offset)
        quats = np.column_stack([np.cos(half), 0 * half, 0 * half, np.sin(half)])
        return np.column_stack([np.zeros((len(steps), 3)), sign[:, None] * quats])

    flips = np.where(np.arange(len(steps)) % 3 == 0, -1.0, 1.0)
    a = record("a", steps, spin(0.0, np.ones(len(steps))), form=SPATIAL)
    b = record("b", steps, spin(0.2, flips), form=SPATIAL)
    [difference] = compare(a, [b]).differences
    assert [error.label for error in difference.errors] == ["distance", "rotation"]
    np.testing.assert_allclose(difference.errors[1].values, 0.2, rtol=1e-12)


def test_single_numbers_and_robots_of_other_names(record):
    steps = np.arange(10)
    a, b = record("a", steps, circle(steps)), record("b", steps, circle(steps), robot="rosa")
    [difference] = compare(a, [b], "vivi/speed").differences
    assert (difference.channel, difference.errors[0].label, difference.rms) == ("rosa/speed", "speed", 0.0)


def test_several_others(record):
    steps = np.arange(10)
    a = record("a", steps, circle(steps))
    others = [record(f"o{n}", steps, circle(steps, (float(n), 0.0))) for n in range(3)]
    result = compare(a, others)
    assert [difference.name for difference in result.differences] == ["o0.mcap", "o1.mcap", "o2.mcap"]
    np.testing.assert_allclose([difference.max for difference in result.differences], [0.0, 1.0, 2.0])


def test_a_recording_beside_a_text_path(record, tmp_path):
    (tmp_path / "line.txt").write_text("# measured\nX, Y, Z\n-10, 0.25, 7\n10, 0.25, 7\n")
    steps = np.arange(0, 1000, 10)
    run = record("a", steps, np.column_stack([steps / 1000.0, 0 * steps, 0 * steps]))
    path = open_track(tmp_path / "line.txt")
    for reference, other in ((path, run), (run, path)):
        [difference] = compare(reference, [other]).differences
        assert not difference.by_time
        np.testing.assert_array_equal(difference.time, steps / 1000.0)
        np.testing.assert_allclose(difference.errors[0].values, 0.25, rtol=1e-12)


def test_two_text_paths():
    square = Trajectory("square", np.array([[0, 0], [1, 0], [1, 1], [0, 1], [0, 0]], float))
    points = Trajectory("points", np.array([[0.5, 0.5], [2, 2], [1, 0.3], [-3, 0.5]], float))
    [difference] = compare(square, [points]).differences
    np.testing.assert_allclose(difference.errors[0].values, [0.5, np.sqrt(2), 0.0, 3.0], atol=1e-15)
    assert difference.time is None


coordinates = st.floats(-100, 100, width=32)


@settings(max_examples=60, deadline=None)
@given(
    arrays(float, st.tuples(st.integers(1, 20), st.just(3)), elements=coordinates),
    arrays(float, st.tuples(st.integers(1, 60), st.just(3)), elements=coordinates),
)
def test_distance_to_a_path_equals_the_plain_search(points, path):
    def plain(point):
        best = np.linalg.norm(point - path[0])
        for a, b in pairwise(path):
            along = b - a
            length = along @ along
            share = min(1.0, max(0.0, (point - a) @ along / length)) if length > 0 else 0.0
            best = min(best, np.linalg.norm(point - a - share * along))
        return best

    np.testing.assert_allclose(distance_to_path(points, path), [plain(point) for point in points], atol=1e-9)


def test_distance_keeps_unknown_points_unknown():
    path = np.column_stack([np.arange(50.0), np.zeros(50)])
    distance = distance_to_path(np.array([[3.0, 4.0], [np.nan, 0.0]]), path)
    assert distance[0] == 4.0
    assert np.isnan(distance[1])


def test_text_files_in_their_forms(tmp_path):
    expected = [[1.0, 2.0, 3.0], [4.0, -5.0, 6e-1]]
    for text in (
        "1 2 3\n4 -5 0.6",
        "x y z\n1\t2\t3\n4\t-5\t.6\n",
        "1,2,3\n\n# c\n4, -5, 0.6 # d\n",
        "\ufeff1 2 3\n4 -5 6e-1",
    ):
        (tmp_path / "t.txt").write_text(text, encoding="utf-8")
        np.testing.assert_array_equal(load_trajectory(tmp_path / "t.txt").points, expected)
    (tmp_path / "t.txt").write_text("1 2\n3 4\n")
    assert load_trajectory(tmp_path / "t.txt").points.shape == (2, 2)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("1 2 3\n4 5\n", ":2: expected 3 finite numbers, found '4 5'"),
        ("1 2 3 4\n", ":1: expected two or three"),
        ("7\n", ":1: expected two or three"),
        ("1 2 3\n1 x 3\n", ":2: expected 3 finite"),
        ("1 2 3\n1 nan 3\n", ":2: expected 3 finite"),
        ("x y\nu v\n1 2\n", ":2: expected two or three"),
        ("# nothing\n", "holds no points"),
        ("", "holds no points"),
    ],
)
def test_bad_text_files_name_the_line(tmp_path, text, place):
    (tmp_path / "t.txt").write_text(text)
    with pytest.raises(InputError) as caught:
        open_track(tmp_path / "t.txt")
    assert f"t.txt{place}" in str(caught.value) or (f"t.txt: {place}" in str(caught.value))


def test_binary_files_are_no_text(tmp_path):
    (tmp_path / "t.bin").write_bytes(bytes(range(128, 256)))
    with pytest.raises(InputError, match="neither a recording nor a text file"):
        open_track(tmp_path / "t.bin")


def test_what_cannot_be_compared(record, tmp_path):
    steps = np.arange(10)
    a = record("a", steps, circle(steps))
    with pytest.raises(InputError, match=r"b\.mcap: has no time in common"):
        compare(a, [record("b", steps + 100, circle(steps))])
    with pytest.raises(InputError, match="not comparable"):
        compare(a, [record("c", steps, np.zeros((10, 7)), form=SPATIAL)])
    with pytest.raises(InputError, match="holds no samples"):
        compare(a, [record("d", steps[:0], circle(steps[:0]))])
    with pytest.raises(InputError, match="unknown channel 'vivi/sped'; did you mean 'vivi/speed'"):
        compare(a, [a], "vivi/sped")
    with pytest.raises(InputError, match="no x and y"):
        compare(a, [Trajectory("t", np.zeros((3, 2)))], "vivi/speed")
    with pytest.raises(InputError, match="no such file"):
        open_track(tmp_path / "missing.txt")
