"""Heights from images."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
from PIL import Image

from botz.errors import InputError, Problem
from botz.scenario.terrain import ImageTerrain
from botz.terrain.matrix_file import check_size

FORMATS = ("PNG", "TIFF", "JPEG")


def read_image(spec: ImageTerrain, key: str) -> np.ndarray:
    """Heights with rows along x and columns along y; the image has x to the right and y up. Raises InputError."""
    file = Path(spec.file)
    values, white = _pixels(file, f"{key}.file")
    # Pixels come as (rows from the top, columns from the left).
    heights = np.ascontiguousarray(values[::-1].T, dtype=np.float64)
    if white is None:
        if spec.height is not None:
            twice = "the image holds 32-bit floats, which are heights in metres already; leave this out"
            raise InputError(Problem(twice, key=f"{key}.height"))
        return heights
    if spec.height is None:
        raise InputError(Problem("missing (heights of black and of white [m])", key=f"{key}.height"))
    low, high = spec.height
    heights *= (high - low) / white
    heights += low
    return heights


def _pixels(file: Path, key: str) -> tuple[np.ndarray, float | None]:
    """Values of the pixels, and that of white; None for floats."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of large images and odd metadata; the size is checked below
        try:
            with Image.open(file, formats=FORMATS) as image:
                check_size(image.size, ("pixels wide", "pixels high"), file, key)
                return _values(image, file, key)
        except InputError:
            raise
        except FileNotFoundError:
            raise InputError(Problem("no such file", key=key, file=file)) from None
        except Image.UnidentifiedImageError:
            message = f"not an image that can be read; needs {', '.join(FORMATS)}"
            raise InputError(Problem(message, key=key, file=file)) from None
        except Image.DecompressionBombError:
            message = "far too many pixels; a terrain has at most 4096 x 4096 points"
            raise InputError(Problem(message, key=key, file=file)) from None
        except Exception as error:  # broken files make Pillow fail in many ways, not all of them its own
            raise InputError(Problem(f"a broken image: {error}", key=key, file=file)) from None


def _values(image: Image.Image, file: Path, key: str) -> tuple[np.ndarray, float | None]:
    match image.mode:
        case "F":
            return np.asarray(image), None
        case "I;16" | "I;16L" | "I;16B" | "I;16N":
            return np.asarray(image), 65535.0
        case "I" if image.format == "PNG":  # how some versions of Pillow give 16 bits of grey
            return np.asarray(image), 65535.0
        case "I":
            message = "its values are signed or 32-bit whole numbers; save it with 8 or 16 bits, or as 32-bit floats"
            raise InputError(Problem(message, key=key, file=file))
        case "P" | "PA":
            return np.asarray(image.convert("RGB").convert("L")), 255.0
        case _:
            return np.asarray(image.convert("L")), 255.0
