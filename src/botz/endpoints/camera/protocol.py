"""How images of a camera travel: what server and client share. NumPy and the standard library alone.

A client sends one line, `botz-camera 1`. The server answers with one line, `botz-camera 1 {…}`, whose JSON says what is
to be seen, and then with messages: a head of 32 bytes and a body. The first is the empty field; each later one is a
frame, which stands alone: it says where it differs from the empty field, so a client may join at any time and miss any
number of them.

    head    little-endian: 4 bytes "BZCF", kind (uint32), bytes of the body (uint64), frame number (int64), step (int64)
    kinds   1 the empty field, zlib       3 a whole image, zlib
            2 spans, zlib                 4 a whole image as it is
    spans   their number n (uint32), n times row, first column, length (uint16 each), then their pixels
    pixels  red, green, blue (uint8 each), from left to right; whole images from top to bottom
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np

VERSION = 1
HELLO = b"botz-camera 1\n"
GREETING = b"botz-camera 1 "
REFUSAL = b"botz-camera error: "
HEAD = struct.Struct("<4sIQqq")
MAGIC = b"BZCF"
EMPTY, SPANS, WHOLE, RAW = 1, 2, 3, 4
LONGEST_LINE = 1 << 20
"""Bytes of the server's first line: a thousand robots need a fifth of it."""
LARGEST_SIDE = 4096
"""Pixels."""
LEVEL = 1
"""Of zlib: more would take longer than it saves."""


class ProtocolError(ValueError):
    """Bytes that are none of this protocol; says what is wrong with them."""


def greeting(about: Mapping[str, Any]) -> bytes:
    return GREETING + json.dumps(about, separators=(",", ":")).encode() + b"\n"


def message(kind: int, body: bytes, *, number: int, step: int) -> bytes:
    return HEAD.pack(MAGIC, kind, len(body), number, step) + body


def empty_message(image: np.ndarray) -> bytes:
    return message(EMPTY, zlib.compress(image.tobytes(), LEVEL), number=-1, step=0)


def frame_message(
    image: np.ndarray, changes: tuple[np.ndarray, np.ndarray] | None, *, noisy: bool, number: int, step: int
) -> bytes:
    """A frame: its spans (n, 3) and pixels, or the whole image where there are no `changes`."""
    if changes is not None:
        spans, pixels = changes
        body = struct.pack("<I", len(spans)) + spans.astype("<u2", copy=False).tobytes() + pixels.tobytes()
        return message(SPANS, zlib.compress(body, LEVEL), number=number, step=step)
    if noisy:  # zlib would need longer for noise than a frame lasts, and gain little
        return message(RAW, image.tobytes(), number=number, step=step)
    return message(WHOLE, zlib.compress(image.tobytes(), LEVEL), number=number, step=step)


def read_head(data: bytes, size: int) -> tuple[int, int, int, int]:
    """Kind, bytes of the body, number and step of a message. `size`: bytes of a whole image."""
    magic, kind, length, number, step = HEAD.unpack(data)
    if magic != MAGIC:
        raise ProtocolError(f"a message that begins with {magic!r} instead of {MAGIC!r}")
    if kind not in (EMPTY, SPANS, WHOLE, RAW):
        raise ProtocolError(f"a message of the unknown kind {kind}")
    if length > longest_body(size):
        raise ProtocolError(f"a message of {length} bytes for images of {size} bytes")
    return kind, length, number, step


def longest_body(size: int) -> int:
    """Of a message: what zlib makes of pixels that it cannot shorten, with a span for every two of them."""
    return 2 * size + size // 100 + 4096


def unpacked(data: bytes, limit: int) -> bytes:
    """What zlib has packed; at most `limit` bytes of it are ever held."""
    unpacker = zlib.decompressobj()
    try:
        found = unpacker.decompress(data, limit + 1)
    except zlib.error as error:
        raise ProtocolError(f"a body that zlib cannot read ({error})") from None
    if len(found) > limit:
        raise ProtocolError(f"a body of more than {limit} bytes")
    if not unpacker.eof:
        raise ProtocolError("a body that ends too early")
    return found


def rebuild(kind: int, body: bytes, empty: np.ndarray | None, shape: tuple[int, int, int]) -> np.ndarray:
    """The image of a message, bit for bit, as an array of its own. `empty` may be None for the empty field itself."""
    size = shape[0] * shape[1] * shape[2]
    if kind == SPANS:
        if empty is None:
            raise ProtocolError("a frame before the empty field")
        image = empty.copy()
        _fill_spans(image, unpacked(body, longest_body(size)))
        return image
    pixels = body if kind == RAW else unpacked(body, size)
    if len(pixels) != size:
        raise ProtocolError(f"an image of {len(pixels)} bytes instead of {size}")
    return np.frombuffer(pixels, dtype=np.uint8).reshape(shape).copy()


def _fill_spans(image: np.ndarray, data: bytes) -> None:
    rows, width, _ = image.shape
    count = struct.unpack_from("<I", data)[0] if len(data) >= 4 else 0
    start = 4 + 6 * count
    if len(data) < max(4, start):
        raise ProtocolError(f"a frame of {len(data)} bytes with {count} spans")
    spans = np.frombuffer(data, dtype="<u2", count=3 * count, offset=4).reshape(-1, 3).astype(np.int64)
    pixels = np.frombuffer(data, dtype=np.uint8, offset=start)
    row, first, length = spans.T
    total = int(length.sum())
    if (row >= rows).any() or (first + length > width).any():
        raise ProtocolError("a span outside the image")
    if pixels.size != 3 * total:
        raise ProtocolError(f"{pixels.size} bytes of pixels for spans of {total} pixels")
    # Where in the image each pixel goes: along its span from where the span begins.
    begins = np.repeat(row * width + first - np.concatenate(([0], np.cumsum(length)[:-1])), length)
    image.reshape(-1, 3)[begins + np.arange(total)] = pixels.reshape(-1, 3)


def image_shape(about: Mapping[str, Any]) -> tuple[int, int, int]:
    """Of the images that a greeting announces."""
    try:
        width, rows = (int(side) for side in about["size"])
    except (KeyError, TypeError, ValueError):
        raise ProtocolError("a greeting without the size of the images") from None
    if not (1 <= width <= LARGEST_SIDE and 1 <= rows <= LARGEST_SIDE):
        raise ProtocolError(f"images of {width} x {rows} pixels")
    return rows, width, 3
