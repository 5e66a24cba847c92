"""Reading an MCAP file that may be cut short, damaged or hostile.

`scan` walks over the records of the file without unpacking chunks; it works the same with and without the
summary at the end. `Chunks.messages` unpacks one chunk and finds the messages in it. Nothing read here is ever
executed, and every length is checked against the file before it is believed.
"""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

import numpy as np
import zstandard
from mcap.data_stream import ReadDataStream
from mcap.exceptions import McapError
from mcap.opcode import Opcode
from mcap.records import Channel, Metadata

from botz.errors import InputError, Problem, RecordingError
from botz.record.cdr import MESSAGE_OPCODE
from botz.record.mcap_file import LARGEST_CHUNK, MAGIC

HEAD = struct.Struct("<BQ")
CHUNK_HEAD = struct.Struct("<QQQI")
LARGEST_RECORD = 64 << 20
"""Descriptions (channels, metadata) are smaller than this."""
CUT = "the file ends in the middle of a record: the run was killed or the disk was full"
NO_END = "the file has no end mark: the run was killed, is still going on, or the disk was full"


@dataclass
class ChunkPlace:
    """Where a chunk lies in the file and what it says about itself."""

    at: int
    uncompressed_size: int
    crc: int
    compression: str
    data_at: int
    data_size: int
    index_at: int = 0
    index_size: int = 0
    indexed: bool = False
    """Whether all of its message indexes are in the file."""


@dataclass
class Contents:
    """What the file holds, in the order found."""

    source: Path | bytes
    """The file, or what would be in it."""
    channels: dict[int, Channel] = field(default_factory=dict)
    metadata: dict[str, dict[str, str]] = field(default_factory=dict)
    chunks: list[ChunkPlace] = field(default_factory=list)
    problem: str = ""
    bag: str = ""
    """Text of rosbag2's metadata, of a recording in memory."""

    @property
    def file(self) -> Path | None:
        """Where it lies; None in memory."""
        return self.source if isinstance(self.source, Path) else None

    def open(self) -> BinaryIO:
        return self.source.open("rb") if isinstance(self.source, Path) else BytesIO(self.source)


def scan(source: Path | bytes) -> Contents:
    """All records of the file. Raises InputError for a file that is not MCAP, RecordingError for absurd ones."""
    contents = Contents(source)
    try:
        with contents.open() as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(0)
            if file.read(len(MAGIC)) != MAGIC:
                raise InputError(Problem("not an MCAP file, so not a recording", file=contents.file))
            contents.problem = _scan_records(file, size, contents)
    except OSError as error:
        raise InputError(Problem(f"cannot be read: {error.strerror or error}", file=contents.file)) from error
    return contents


def _scan_records(file: BinaryIO, size: int, contents: Contents) -> str:
    """Fills `contents`; returns what is wrong with the file, or nothing."""
    at = len(MAGIC)
    footer = False
    while True:
        file.seek(at)
        if footer:
            return "" if file.read(len(MAGIC)) == MAGIC else NO_END
        head = file.read(HEAD.size)
        if not head:
            return NO_END
        if len(head) < HEAD.size:
            return CUT
        opcode, length = HEAD.unpack(head)
        body = at + HEAD.size
        if opcode == 0:
            return f"the file is damaged from byte {at} on"
        if length > LARGEST_CHUNK + 1024:
            raise RecordingError(f"{contents.file}: damaged: the record at byte {at} claims {length} bytes")
        if opcode != Opcode.MESSAGE_INDEX and contents.chunks:
            contents.chunks[-1].indexed = True
        if body + length > size:
            return CUT
        try:
            footer = _take_record(opcode, file, body, length, contents)
        except (McapError, struct.error, UnicodeDecodeError):
            return f"the file is damaged at byte {at}"
        at = body + length


def _take_record(opcode: int, file: BinaryIO, body: int, length: int, contents: Contents) -> bool:
    """Notes one record; whether it was the footer."""
    match opcode:
        case Opcode.CHANNEL | Opcode.METADATA:
            if length > LARGEST_RECORD:
                raise RecordingError(f"{contents.file}: damaged: a description at byte {body} of {length} bytes")
            stream = ReadDataStream(BytesIO(file.read(length)))
            if opcode == Opcode.CHANNEL:
                channel = Channel.read(stream)
                contents.channels.setdefault(channel.id, channel)
            else:
                record = Metadata.read(stream)
                contents.metadata.setdefault(record.name, record.metadata)
        case Opcode.CHUNK:
            contents.chunks.append(_chunk_place(file, body, length, contents.file))
        case Opcode.MESSAGE_INDEX if contents.chunks:
            chunk = contents.chunks[-1]
            chunk.index_at = chunk.index_at or body - HEAD.size
            chunk.index_size = body + length - chunk.index_at
    return opcode == Opcode.FOOTER


def _chunk_place(file: BinaryIO, body: int, length: int, path: Path | None) -> ChunkPlace:
    fixed = file.read(CHUNK_HEAD.size + 4)
    _, _, uncompressed, crc = CHUNK_HEAD.unpack_from(fixed)
    if uncompressed > LARGEST_CHUNK:
        raise RecordingError(f"{path}: refused: the chunk at byte {body} claims {uncompressed} bytes unpacked")
    [name_size] = struct.unpack_from("<I", fixed, CHUNK_HEAD.size)
    rest = file.read(min(name_size, 64) + 8)
    compression = rest[:-8].decode()
    [data_size] = struct.unpack_from("<Q", rest, len(rest) - 8)
    data_at = body + CHUNK_HEAD.size + 4 + name_size + 8
    if data_at + data_size > body + length:
        raise struct.error("chunk data longer than its record")
    return ChunkPlace(body - HEAD.size, uncompressed, crc, compression, data_at, data_size)


class DamagedChunk(Exception):
    """A chunk that cannot be unpacked; the message says why."""


def unpack(file: BinaryIO, chunk: ChunkPlace) -> bytes:
    """The bytes of a chunk, checked."""
    file.seek(chunk.data_at)
    packed = file.read(chunk.data_size)
    match chunk.compression:
        case "":
            data = packed
        case "zstd":
            data = _decompress(packed, chunk.uncompressed_size)
        case other:
            raise DamagedChunk(f"compressed with {other!r}, which is not read")
    if len(data) != chunk.uncompressed_size:
        raise DamagedChunk("of another size than it says")
    if chunk.crc and zlib.crc32(data) != chunk.crc:
        raise DamagedChunk("with a wrong checksum")
    return data


def _decompress(packed: bytes, size: int) -> bytes:
    try:
        # The frame's own claim decides how much memory is taken, so it has to agree with the chunk's.
        claimed = zstandard.get_frame_parameters(packed).content_size
        if claimed not in (size, zstandard.CONTENTSIZE_UNKNOWN):
            raise DamagedChunk("of another size than it says")
        return zstandard.ZstdDecompressor().decompress(packed, max_output_size=size)
    except (zstandard.ZstdError, MemoryError) as error:
        raise DamagedChunk(f"that cannot be unpacked ({error})") from error


def message_offsets(file: BinaryIO, chunk: ChunkPlace, data: bytes) -> dict[int, np.ndarray]:
    """Where the message records of each channel start in the unpacked chunk, all inside it.

    The file's index answers at once for thousands of messages; where it is missing or wrong, the chunk is walked.
    """
    if chunk.indexed and chunk.index_size:
        file.seek(chunk.index_at)
        found = _from_index(file.read(chunk.index_size), data)
        if found is not None:
            return found
    return _from_walk(data)


def _from_index(index: bytes, data: bytes) -> dict[int, np.ndarray] | None:
    found: dict[int, np.ndarray] = {}
    at = 0
    heads = np.dtype({"names": ["opcode", "length", "channel"], "formats": ["u1", "<u8", "<u2"], "offsets": [0, 1, 9]})
    while at + 15 <= len(index):
        _, length, channel, size = struct.unpack_from("<BQHI", index, at)
        if size != length - 6 or size % 16 or at + 15 + size > len(index):
            return None
        offsets = np.frombuffer(index, "<u8", size // 8, at + 15)[1::2]
        at += 15 + size
        if not len(offsets):
            continue
        if int(offsets.max()) + heads.itemsize > len(data) or channel in found:
            return None
        offsets = offsets.astype(np.int64)
        records = records_at(data, offsets, heads)
        room = len(data) - 9 - offsets
        whole = (records["opcode"] == MESSAGE_OPCODE) & (records["channel"] == channel) & (records["length"] <= room)
        if not whole.all():
            return None
        found[channel] = offsets
    return found


def _from_walk(data: bytes) -> dict[int, np.ndarray]:
    found: dict[int, list[int]] = {}
    at = 0
    while at + 11 <= len(data):
        opcode, length = HEAD.unpack_from(data, at)
        if at + HEAD.size + length > len(data):
            break
        if opcode == MESSAGE_OPCODE:
            found.setdefault(data[at + 9] | data[at + 10] << 8, []).append(at)
        at += HEAD.size + length
    return {channel: np.array(offsets, np.int64) for channel, offsets in found.items()}


def records_at(data: bytes, offsets: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Structured records of `dtype` at any byte offsets, as a copy."""
    count = len(data) - dtype.itemsize + 1
    return np.ndarray((max(0, count),), dtype, data, strides=(1,))[offsets]


ReadChunk = Callable[[bytes, dict[int, np.ndarray]], None]


def read_chunks(contents: Contents, take: ReadChunk) -> str:
    """Give each whole chunk and its message offsets to `take`; returns what is wrong, or nothing."""
    with contents.open() as file:
        for chunk in contents.chunks:
            try:
                data = unpack(file, chunk)
                take(data, message_offsets(file, chunk, data))
            except DamagedChunk as error:
                return f"the file is damaged: a chunk at byte {chunk.at} {error}"
    return contents.problem
