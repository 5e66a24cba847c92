"""Height grids: interpolation against SciPy, the shapes against their formulas, files and what is wrong with them."""

from __future__ import annotations

import math
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from pydantic import TypeAdapter
from scipy.interpolate import RegularGridInterpolator

from botz.errors import InputError
from botz.scenario.terrain import Terrain
from botz.terrain.height_grid import HeightGrid, make_grid

TERRAIN: TypeAdapter[Any] = TypeAdapter(Terrain)


def grid(kind: str, seed: int = 0, **keys: Any) -> HeightGrid:
    return make_grid(TERRAIN.validate_python({"type": kind, **keys}), seed)


def told(kind: str, **keys: Any) -> list[str]:
    """What is said about a terrain, with the name of the file instead of its path."""
    with pytest.raises(InputError) as caught:
        grid(kind, **keys)
    folder = str(Path(keys["file"]).parent) + str(Path("/")) if "file" in keys else ""
    return [str(problem).replace(folder, "") if folder else str(problem) for problem in caught.value.problems]


# --- the grid ----------------------------------------------------------------------------------------------------

RANDOM = HeightGrid(
    np.random.default_rng(1).standard_normal((7, 5)), x_min=-1.0, x_max=2.0, y_min=10.0, y_max=11.0
)  # fmt: skip


def test_interpolation_agrees_with_scipy_inside():
    rng = np.random.default_rng(2)
    x, y = rng.uniform(-1, 2, 500), rng.uniform(10, 11, 500)
    oracle = RegularGridInterpolator((RANDOM.x, RANDOM.y), RANDOM.heights)
    np.testing.assert_allclose(RANDOM.height(x, y), oracle(np.column_stack([x, y])), rtol=0, atol=1e-12)


def test_the_points_of_the_grid_keep_their_heights():
    heights = RANDOM.height(RANDOM.x[:, None], RANDOM.y[None, :])
    np.testing.assert_allclose(heights, RANDOM.heights, rtol=0, atol=1e-13)
    assert (RANDOM.dx, RANDOM.dy) == (0.5, 0.25)


@given(st.floats(-1e9, 1e9), st.floats(-1e9, 1e9))
def test_outside_the_height_is_that_of_the_nearest_edge(x: float, y: float):
    nearest = RANDOM.height(min(max(x, -1.0), 2.0), min(max(y, 10.0), 11.0))
    assert RANDOM.height(x, y) == nearest
    assert bool(RANDOM.contains(x, y)) == (-1 <= x <= 2 and 10 <= y <= 11)


def test_where_there_is_no_place_there_is_no_height():
    found = RANDOM.height(np.array([math.nan, 0.0, math.inf, 0.0]), np.array([10.5, math.nan, 10.5, 10.5]))
    assert np.isnan(found).tolist() == [True, True, False, False]
    assert found[2] == RANDOM.height(2.0, 10.5)


# --- shapes ------------------------------------------------------------------------------------------------------


def test_every_grid_is_ready_for_compiled_code():
    for kind, keys in {
        "flat": {},
        "plane": {"slope": 0.1},
        "ramp": {"height": 1},
        "step": {},
        "bumps": {},
        "half-pipe": {},
        "rough": {"iso_class": "C"},
        "formula": {"expression": "x*y"},
    }.items():
        made = grid(kind, x=[0, 4], y=[-1, 1], resolution=0.1, **keys)
        assert made.heights.shape == (41, 21)
        assert made.heights.dtype == np.float64
        assert made.heights.flags.c_contiguous
        assert (made.x_min, made.x_max, made.y_min, made.y_max) == (0, 4, -1, 1)
        assert made.outside == "edge"
        assert made.texture_file is None


def test_texture_and_outside_are_handed_on(tmp_path: Path):
    made = grid("flat", height=0.3, outside="end", texture={"file": str(tmp_path / "grass.png"), "scale": 2.0})
    assert (made.outside, made.texture_file, made.texture_scale) == ("end", tmp_path / "grass.png", 2.0)
    assert np.all(made.heights == 0.3)


def test_a_plane_rises_along_its_direction():
    made = grid("plane", slope="10 deg", direction="30 deg", height=0.5)
    t = math.tan(math.radians(10))
    assert made.height(0, 0) == pytest.approx(0.5, abs=1e-12)
    c, s = math.cos(math.radians(30)), math.sin(math.radians(30))
    assert made.height(3 * c, 3 * s) == pytest.approx(0.5 + 3 * t, abs=1e-12)
    assert made.height(-3 * s, 3 * c) == pytest.approx(0.5, abs=1e-12)


@pytest.mark.parametrize("quarter", range(4))
def test_along_the_axes_the_other_coordinate_does_not_matter(quarter: int):
    made = grid("step", at=0.5, direction=f"{90 * quarter} deg")
    across = made.heights if quarter % 2 == 0 else made.heights.T
    assert np.all(across == across[:, :1])
    assert (made.heights.min(), made.heights.max()) == (0.0, 0.1)


def test_a_step_rises_over_one_cell_behind_its_place():
    made = grid("step", at=1.0, height=0.2)
    assert made.height([0.0, 1.0, 1.025, 1.05, 9.0], 3.3) == pytest.approx([0, 0, 0.1, 0.2, 0.2], abs=1e-9)
    wide = grid("step", at=1.0, height=-0.2, edge=0.5)
    assert wide.height([1.0, 1.25, 1.5], 0.0) == pytest.approx([0, -0.1, -0.2], abs=1e-9)


def test_a_ramp_with_its_two_levels():
    made = grid("ramp", start=1.0, length=4.0, angle="20 deg")
    t = math.tan(math.radians(20))
    assert made.height([-5.0, 1.0, 3.0, 5.0, 9.0], 1.0) == pytest.approx([0, 0, 2 * t, 4 * t, 4 * t], abs=1e-9)


def test_a_blended_ramp_bends_evenly_and_keeps_its_levels():
    made = grid("ramp", start=1.0, length=4.0, height=2.0, blend=1.0)
    # (u + b/2)²/(2b) times the slope of 0.5: at the ramp's foot 0.5·b/8.
    places = [0.5, 1.0, 1.5, 3.0, 5.0, 5.5]
    assert made.height(places, 0.0) == pytest.approx([0, 0.0625, 0.25, 1.0, 2 - 0.0625, 2.0], abs=1e-9)
    slopes = np.diff(made.heights[:, 0]) / made.dx
    assert np.all(np.abs(np.diff(slopes)) <= 0.5 * made.dx / 1.0 + 1e-9)


def test_a_half_pipe_is_a_circle_and_then_straight():
    made = grid("half-pipe", radius=2.0, wall="60 deg", y=[-4, 4], resolution=0.01, x=[-1, 1])
    end = 2 * math.sin(math.radians(60))
    for side in (-1, 1):
        y = side * np.array([0.0, 0.5, 1.0, 1.5])
        assert made.height(0.3, y) == pytest.approx(2 - np.sqrt(4 - y * y), abs=1e-4)
        assert made.height(0.3, side * 3.5) == pytest.approx(1 + math.tan(math.radians(60)) * (3.5 - end), abs=1e-9)
    slopes = np.abs(np.diff(made.heights[0])) / made.dy
    assert slopes.max() == pytest.approx(math.tan(math.radians(60)), rel=1e-9)


def test_bumps_lie_where_they_may():
    made = grid("bumps", count=200, height=[0.1, 0.1], radius=[0.5, 0.5], clear=2.0, seed=4)
    x, y = made.x[:, None], made.y[None, :]
    assert np.all(made.heights[np.hypot(x, y) <= 2.0] == 0)
    assert made.heights.max() > 0.09
    # One bump of height h has the volume h r² (π/2 − 2/π); none is cut off by more than half at the edges.
    one = 0.1 * 0.25 * (math.pi / 2 - 2 / math.pi)
    assert 0.8 * 200 * one < made.heights.sum() * made.dx * made.dy < 200 * one


def test_a_single_bump_has_its_form():
    made = grid("bumps", count=1, height=[0.2, 0.2], radius=[3, 3], clear=0, resolution=0.02)
    i, j = np.unravel_index(made.heights.argmax(), made.heights.shape)
    x_0, y_0 = made.x[i], made.y[j]
    assert made.heights.max() == pytest.approx(0.2, rel=1e-3)
    assert made.height(x_0 + (1.5 if x_0 < 5 else -1.5), y_0) == pytest.approx(0.1, rel=0.02)
    assert np.all(made.heights >= 0)


def test_formulas_on_the_grid():
    made = grid("formula", expression="0.1*sin(2*pi*x/3)*cos(y)", x=[-3, 5], y=[0, 2])
    x, y = made.x[:, None], made.y[None, :]
    np.testing.assert_allclose(made.heights, 0.1 * np.sin(2 * np.pi * x / 3) * np.cos(y), rtol=0, atol=1e-15)


def test_large_formulas_are_put_together_from_blocks():
    made = grid("formula", expression="x + 100*y", x=[0, 1500], y=[0, 1500], resolution=1)
    assert made.heights.shape == (1501, 1501)
    assert np.array_equal(made.heights, np.arange(1501)[:, None] + 100.0 * np.arange(1501)[None, :])


@pytest.mark.parametrize(
    ("expression", "says"),
    [
        (
            "1/x",
            "world.terrain.expression: the height at x = 0 m, y = -1 m is inf (and so at 20 more points); "
            "it must be between -1e+06 m and 1e+06 m on the whole grid",
        ),
        (
            "sqrt(x)",
            "world.terrain.expression: the height at x = -1 m, y = -1 m is nan (and so at 209 more points); "
            "it must be between -1e+06 m and 1e+06 m on the whole grid",
        ),
        (
            "where(hypot(x - 1, y - 1) < 0.05, -9e9, 0)",
            "world.terrain.expression: the height at x = 1 m, y = 1 m is -9e+09; "
            "it must be between -1e+06 m and 1e+06 m on the whole grid",
        ),
    ],
)
def test_a_formula_must_be_finite_everywhere(expression: str, says: str):
    assert told("formula", expression=expression, x=[-1, 1], y=[-1, 1], resolution=0.1) == [says]


def test_no_room_for_a_bump():
    (says,) = told("bumps", clear=20.0, radius=[0.5, 0.5])
    assert says == (
        "world.terrain.clear: no room for a bump of radius 0.5 m farther than 20 m from the origin; make it less"
    )


# --- matrices ----------------------------------------------------------------------------------------------------

MATRIX = np.array([[0.0, 1.0, 2.0], [10.0, 11.0, 12.5]])


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("blanks.txt", "0 1 2\n10 11   12.5\n"),
        ("tabs.TXT", "0\t1\t2\r\n10\t11\t12.5"),
        ("comments.txt", "# rows along x\n\n 0 1 2 # the first\n   \n10 11 12.5\n\n"),
        ("commas.csv", "0,1,2\n10, 11, 1.25e1\n"),
        ("semicolons.csv", "0;1;2\n10;+11;12.5\n"),
        ("mark.csv", "\ufeff0,1,2\n10,11,12.5\n"),
    ],
)
def test_matrices_of_text(tmp_path: Path, name: str, text: str):
    (tmp_path / name).write_bytes(text.encode())
    made = grid("matrix", file=str(tmp_path / name), x=[0, 1], y=[0, 4])
    assert np.array_equal(made.heights, MATRIX)
    # Rows run along x and columns along y.
    assert (made.height(1, 0), made.height(0, 4), made.height(0, 2)) == (10.0, 2.0, 1.0)


@pytest.mark.parametrize("dtype", ["f8", "f4", ">f8", "i2", "u1", "f2"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_matrices_of_numpy(tmp_path: Path, dtype: str, order: Any):
    values = np.array([[0, 1, 2], [10, 11, 12]], dtype=dtype, order=order)
    np.save(tmp_path / "m.npy", values)
    made = grid("matrix", file=str(tmp_path / "m.npy"))
    assert np.array_equal(made.heights, values)
    assert made.heights.dtype == np.float64
    assert made.heights.flags.c_contiguous
    assert made.heights.dtype.isnative


# fmt: off
BAD_TEXT = [
    ("1 2 3\n4 nan 6\n", "m.txt:2: world.terrain.file: row 2, column 2 is nan; needs a finite number"),
    ("# a\n1 2 3\n\n4 5 -inf\n", "m.txt:4: world.terrain.file: row 2, column 3 is -inf; needs a finite number"),
    ("1 2\n3 1e999\n", "m.txt:2: world.terrain.file: row 2, column 2 is '1e999', too large for a number"),
    ("1 2 3\n4 5\n6 7 8\n", "m.txt:2: world.terrain.file: row 2 has 2 values, the first one (line 1) has 3"),
    ("1 2\n3 4 5\n", "m.txt:2: world.terrain.file: row 2 has 3 values, the first one (line 1) has 2"),
    ("x y\n1 2\n3 4\n",
     "m.txt:1: world.terrain.file: row 1, column 1 is 'x'; needs a number",
     "m.txt:1: world.terrain.file: row 1, column 2 is 'y'; needs a number"),
    ("1;2\n3;4,5\n", "m.txt:2: world.terrain.file: row 2, column 2 is '4,5'; needs a number; write a decimal point"),
    ("1,2\n3,\n", "m.txt:2: world.terrain.file: row 2, column 2 is empty; needs a number"),
    ("1 2\n3 1_000\n", "m.txt:2: world.terrain.file: row 2, column 2 is '1_000'; needs a number"),
    ("", "m.txt: world.terrain.file: is empty; needs rows of numbers"),
    ("# nothing\n\n", "m.txt: world.terrain.file: is empty; needs rows of numbers"),
    ("1 2 3\n", "m.txt: world.terrain.file: 1 rows; a terrain needs at least 2 x 2 points"),
    ("1\n2\n", "m.txt: world.terrain.file: 1 columns; a terrain needs at least 2 x 2 points"),
    ("0 " * 4097 + "\n", "m.txt: world.terrain.file: 4097 columns, at most 4096; leave some out or cut a part"),
    ("0 0\n" * 4097, "m.txt: world.terrain.file: more than 4096 rows; leave some out or cut a part"),
    ("0" * 300_000, "m.txt: world.terrain.file: a line has more than 262144 characters, too long for a row"),
    (b"\xff\xfe1\x002\x00", "m.txt: world.terrain.file: not a text file in UTF-8"),
    (b"1 2\n3 \xe9\n", "m.txt: world.terrain.file: not a text file in UTF-8"),
    ("1 2\n3 4e7\n", "m.txt: world.terrain.file: the height at x = 10 m, y = 10 m is 4e+07; "
                     "it must be between -1e+06 m and 1e+06 m on the whole grid"),
]
# fmt: on


@pytest.mark.parametrize("case", BAD_TEXT, ids=lambda case: repr(case[0][:20]))
def test_a_bad_matrix_of_text_is_told_exactly(tmp_path: Path, case: tuple[Any, ...]):
    file = tmp_path / "m.txt"
    file.write_bytes(case[0] if isinstance(case[0], bytes) else case[0].encode())
    assert told("matrix", file=str(file)) == list(case[1:])


def test_many_mistakes_are_counted(tmp_path: Path):
    (tmp_path / "m.txt").write_text("nan nan\n" * 50, encoding="utf-8")
    says = told("matrix", file=str(tmp_path / "m.txt"))
    assert len(says) == 21
    assert says[-1] == "m.txt: world.terrain.file: 80 more mistakes of this kind"
    np.save(tmp_path / "m.npy", np.full((50, 2), np.nan))
    assert told("matrix", file=str(tmp_path / "m.npy"))[-1].endswith("80 more mistakes of this kind")


def npy(header: bytes) -> bytes:
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header


def huge_header() -> bytes:
    """A .npy file that claims terabytes and holds none."""
    header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (1000000, 1000000), }"
    header += b" " * (118 - 1 - len(header)) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header


NAN_AT = np.array([[0.0, 1.0], [2.0, math.nan]])
BAD_NPY = [
    (NAN_AT, "row 2, column 2 is nan; needs a finite number"),
    (np.zeros((2, 2, 2)), "an array of shape (2, 2, 2); needs one of two dimensions"),
    (np.zeros(5), "an array of shape (5,); needs one of two dimensions"),
    (np.zeros((1, 5)), "1 rows; a terrain needs at least 2 x 2 points"),
    (np.zeros((2, 4097)), "4097 columns, at most 4096; leave some out or cut a part"),
    (np.zeros((2, 2), complex), "its values are of type complex128; needs real numbers"),
    (np.zeros((2, 2), bool), "its values are of type bool; needs real numbers"),
    (np.array([["a", "b"], ["c", "d"]]), "its values are of type <U1; needs real numbers"),
    (np.array([[{}, 1], [2, 3]], object), "not a whole .npy file with an array of numbers"),
    (b"", "not a whole .npy file with an array of numbers"),
    (b"1 2\n3 4\n", "not a whole .npy file with an array of numbers"),
    (b"\x93NUMPY\x01\x00", "not a whole .npy file with an array of numbers"),
    (huge_header(), "not a whole .npy file with an array of numbers"),
    (
        npy(b"{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4,"),
        "not a whole .npy file with an array of numbers",
    ),
]


@pytest.mark.parametrize(("content", "says"), BAD_NPY, ids=[says for _, says in BAD_NPY])
def test_a_bad_matrix_of_numpy_is_told_exactly(tmp_path: Path, content: Any, says: str):
    file = tmp_path / "m.npy"
    if isinstance(content, bytes):
        file.write_bytes(content)
    else:
        np.save(file, content, allow_pickle=True)
    assert told("matrix", file=str(file)) == [f"m.npy: world.terrain.file: {says}"]


def test_an_archive_is_no_matrix(tmp_path: Path):
    np.savez(tmp_path / "m.npz", a=MATRIX)
    (tmp_path / "m.npz").rename(tmp_path / "m.npy")
    (says,) = told("matrix", file=str(tmp_path / "m.npy"))
    assert says.endswith("an archive of several arrays (.npz); save one array with numpy.save")


@pytest.mark.parametrize(("kind", "name"), [("matrix", "m.txt"), ("matrix", "m.npy"), ("image", "m.png")])
def test_a_file_that_is_gone(tmp_path: Path, kind: str, name: str):
    assert told(kind, file=str(tmp_path / name)) == [f"{name}: world.terrain.file: no such file"]


# --- images ------------------------------------------------------------------------------------------------------


def image_grid(file: Path, image: Image.Image, **keys: Any) -> HeightGrid:
    image.save(file)
    return grid("image", file=str(file), x=[0, 2], y=[0, 1], **keys)


@pytest.mark.parametrize("name", ["m.png", "m.tif"])
@pytest.mark.parametrize(("dtype", "white"), [(np.uint8, 255), (np.uint16, 65535)])
def test_images_are_seen_from_above(tmp_path: Path, name: str, dtype: Any, white: int):
    pixels = np.zeros((2, 3), dtype)
    pixels[0, 0] = white  # upper left: least x, greatest y
    pixels[1, 2] = white // 5  # lower right
    made = image_grid(tmp_path / name, Image.fromarray(pixels), height=[-1, 4])
    assert made.heights.shape == (3, 2)
    assert made.height(0, 1) == pytest.approx(4.0)
    assert made.height(2, 0) == pytest.approx(0.0, abs=1e-12)
    assert made.height(1, 0) == -1.0


def test_sixteen_bits_are_kept(tmp_path: Path):
    pixels = np.arange(65536, dtype=np.uint16).reshape(256, 256)
    made = image_grid(tmp_path / "m.png", Image.fromarray(pixels), height=[0, 65.535])
    assert np.unique(made.heights).size == 65536
    assert made.height(2, 1) == pytest.approx(0.255)


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGB", "RGBA"])
def test_all_kinds_of_black_and_white(tmp_path: Path, mode: str):
    pixels = np.array([[255, 0], [0, 255]], np.uint8)
    made = image_grid(tmp_path / "m.png", Image.fromarray(pixels).convert(mode), height=[0, 1])
    assert np.array_equal(made.heights, [[0, 1], [1, 0]])


def test_a_tiff_of_floats_holds_metres(tmp_path: Path):
    pixels = np.array([[0.5, -1.5], [2.25, 3.0]], np.float32)
    made = image_grid(tmp_path / "m.tiff", Image.fromarray(pixels))
    assert np.array_equal(made.heights, [[2.25, 0.5], [3.0, -1.5]])
    assert told("image", file=str(tmp_path / "m.tiff"), height=[0, 1]) == [
        "world.terrain.height: the image holds 32-bit floats, which are heights in metres already; leave this out"
    ]


def test_bad_images_are_told_exactly(tmp_path: Path):
    def about(image: Image.Image | bytes, name: str = "m.png", **keys: Any) -> str:
        if isinstance(image, bytes):
            (tmp_path / name).write_bytes(image)
        else:
            image.save(tmp_path / name)
        (says,) = told("image", file=str(tmp_path / name), **{"height": [0, 1], **keys})
        return says.removeprefix(f"{name}: world.terrain.file: ")

    assert about(Image.new("L", (1, 1))) == "1 pixels wide; a terrain needs at least 2 x 2 points"
    assert about(Image.new("L", (5, 1))) == "1 pixels high; a terrain needs at least 2 x 2 points"
    assert about(Image.new("L", (4097, 2))) == "4097 pixels wide, at most 4096; leave some out or cut a part"
    assert about(Image.new("L", (3, 3)), height=None) == (
        "world.terrain.height: missing (heights of black and of white [m])"
    )
    assert about(b"hello") == "not an image that can be read; needs PNG, TIFF, JPEG"
    assert about(b"") == "not an image that can be read; needs PNG, TIFF, JPEG"
    assert about(Image.new("I", (3, 3), 7), "m.tif") == (
        "its values are signed or 32-bit whole numbers; save it with 8 or 16 bits, or as 32-bit floats"
    )
    nan = Image.fromarray(np.full((2, 2), np.nan, np.float32))
    assert "is nan (and so at 3 more points)" in about(nan, "m.tif", height=None)


def test_a_torn_image_is_an_input_error(tmp_path: Path):
    noise = np.random.default_rng(0).integers(0, 256, (64, 64), dtype=np.uint8)
    Image.fromarray(noise).save(tmp_path / "m.png")
    whole = (tmp_path / "m.png").read_bytes()
    for end in (20, 40, 200, len(whole) // 2):
        (tmp_path / "m.png").write_bytes(whole[:end])
        (says,) = told("image", file=str(tmp_path / "m.png"), height=[0, 1])
        assert says.startswith("m.png: world.terrain.file: ")


def test_an_image_that_claims_too_much_is_not_decoded(tmp_path: Path):
    """A PNG of 60000 x 60000 pixels would take 3.6 GB."""
    Image.new("L", (2, 2)).save(tmp_path / "m.png")
    content = bytearray((tmp_path / "m.png").read_bytes())
    content[16:24] = (60000).to_bytes(4, "big") * 2
    content[29:33] = zlib.crc32(content[12:29]).to_bytes(4, "big")
    (tmp_path / "m.png").write_bytes(content)
    (says,) = told("image", file=str(tmp_path / "m.png"), height=[0, 1])
    assert says == "m.png: world.terrain.file: far too many pixels; a terrain has at most 4096 x 4096 points"
