"""Numbers made ready for a coder such as deflate: each row as its difference from the one before, and then all lowest
bytes, all second ones and so on. Neighbours are alike, so that most high bytes become zero; nothing is lost.

`web/src/packing.ts` undoes it.
"""

from __future__ import annotations

import json
import struct

import numpy as np

COMPONENTS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4}
BYTES = {5123: 2, 5125: 4, 5126: 4}
"""Of a number, by glTF's name of its kind."""
GLB_HEADER, CHUNK_HEADER = 12, 8


def differences(data: bytes, columns: int, size: int) -> bytes:
    """`data` holds rows of so many columns of numbers of `size` bytes, little-endian; the result is as long."""
    table = np.frombuffer(data, dtype=f"<u{size}").reshape(-1, columns)
    steps = np.diff(table.T, axis=1, prepend=table.dtype.type(0))  # unsigned: it goes round where it is negative
    planes = np.ascontiguousarray(steps).view(np.uint8).reshape(columns, len(table), size).transpose(0, 2, 1)
    return planes.tobytes()


def differences_of_glb(glb: bytes) -> bytes:
    """A GLB of `botz.scene.glb` whose arrays are stored as differences; its JSON says how they are cut."""
    (length,) = struct.unpack_from("<I", glb, GLB_HEADER)
    document = json.loads(glb[GLB_HEADER + CHUNK_HEADER :][:length])
    start = GLB_HEADER + CHUNK_HEADER + length + CHUNK_HEADER
    found = bytearray(glb)
    for accessor in document.get("accessors", []):
        view = document["bufferViews"][accessor["bufferView"]]
        part = slice(start + view["byteOffset"], start + view["byteOffset"] + view["byteLength"])
        found[part] = differences(glb[part], COMPONENTS[accessor["type"]], BYTES[accessor["componentType"]])
    return bytes(found)
