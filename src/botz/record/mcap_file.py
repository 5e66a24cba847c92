"""An MCAP file written in bulk: whole blocks of message records go into compressed chunks.

Each chunk is written together with its message indexes in one call to the unbuffered file, so what is written
survives the death of the process. A write that fails is undone back to the last whole record.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import struct
import zlib
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import zstandard
from mcap.data_stream import RecordBuilder
from mcap.opcode import Opcode
from mcap.records import (
    Channel,
    Chunk,
    ChunkIndex,
    DataEnd,
    Footer,
    Header,
    McapRecord,
    Metadata,
    MetadataIndex,
    Schema,
    Statistics,
    SummaryOffset,
)

from botz.errors import RecordingError

MAGIC = b"\x89MCAP0\r\n"
CHUNK_BYTES = 1 << 20
"""A chunk is closed when it holds so many bytes."""
LARGEST_CHUNK = 1 << 30
"""No chunk of a recording is larger; readers refuse one that says so."""
COMPRESSION = "zstd"
NOT_SYNCED = (errno.EINVAL, errno.ENOTSUP)
"""Errors of a file system that has nothing to sync, such as a pipe's."""


class McapFile:
    """The file under construction. Any failure to write raises RecordingError, now and from then on."""

    _first: int
    _last: int
    """Times of the open chunk [ns]."""

    def __init__(self, path: Path | None, *, profile: str, library: str):
        """Without a path the file is in memory, and `data` at the end."""
        self.path = path
        self.data = b""
        self.failure = ""
        self._end = 0
        self._crc = 0
        self._schemas: dict[str, Schema] = {}
        self._channels: list[Channel] = []
        self._chunks: list[ChunkIndex] = []
        self._metadata: list[MetadataIndex] = []
        self._counts: dict[int, int] = {}
        self._compressor = zstandard.ZstdCompressor(level=1)
        self._start_chunk()
        self._file: io.RawIOBase | io.BytesIO
        try:
            self._file = io.BytesIO() if path is None else path.open("wb", buffering=0)
        except OSError as error:
            raise RecordingError(f"{path}: cannot write the recording: {error.strerror or error}") from error
        self._write(MAGIC + _encoded(Header(profile=profile, library=library)))

    # --- what describes the messages ------------------------------------------------------------------

    def add_schema(self, name: str, text: str) -> int:
        """The id of the schema; a name already there keeps its first text."""
        if name not in self._schemas:
            schema = Schema(id=len(self._schemas) + 1, data=text.encode(), encoding="ros2msg", name=name)
            self._schemas[name] = schema
            self._write(_encoded(schema))
        return self._schemas[name].id

    def add_channel(self, topic: str, schema_id: int, metadata: Mapping[str, str]) -> int:
        channel = Channel(
            id=len(self._channels) + 1,
            topic=topic,
            message_encoding="cdr",
            metadata=dict(metadata),
            schema_id=schema_id,
        )
        self._channels.append(channel)
        self._write(_encoded(channel))
        return channel.id

    def add_metadata(self, name: str, values: Mapping[str, str]) -> None:
        self.close_chunk()
        clean = {_clean(key): _clean(value) for key, value in values.items()}
        data = _encoded(Metadata(name=name, metadata=clean))
        index = MetadataIndex(offset=self._end, length=len(data), name=name)
        self._write(data)
        self._metadata.append(index)

    # --- messages -------------------------------------------------------------------------------------

    @property
    def pending(self) -> int:
        """Bytes of the open chunk."""
        return self._size

    def add_records(self, channel_id: int, times_ns: np.ndarray, records: np.ndarray) -> None:
        """Message records of equal size, laid side by side in `records`."""
        entries = np.empty((len(times_ns), 2), "<u8")
        entries[:, 0] = times_ns
        entries[:, 1] = self._size + records.dtype.itemsize * np.arange(len(times_ns), dtype=np.uint64)
        self._append(channel_id, entries, records.tobytes(), int(times_ns.min()), int(times_ns.max()))

    def add_record(self, channel_id: int, time_ns: int, record: bytes) -> None:
        """One message record of any size."""
        if self._size and self._size + len(record) > CHUNK_BYTES:
            self.close_chunk()
        entries = np.array([[time_ns, self._size]], "<u8")
        self._append(channel_id, entries, record, time_ns, time_ns)

    def _append(self, channel_id: int, entries: np.ndarray, data: bytes, first: int, last: int) -> None:
        if self.failure:
            raise RecordingError(self.failure)
        if self._parts:
            first, last = min(self._first, first), max(self._last, last)
        self._first, self._last = first, last
        self._parts.append(data)
        self._size += len(data)
        self._entries.setdefault(channel_id, []).append(entries)

    def _start_chunk(self) -> None:
        self._parts: list[bytes] = []
        self._entries: dict[int, list[np.ndarray]] = {}
        self._size = 0
        self._first = self._last = 0

    def close_chunk(self) -> None:
        """Everything given so far goes to the operating system."""
        if self.failure:
            raise RecordingError(self.failure)
        if not self._parts:
            return
        data = b"".join(self._parts)
        packed = self._compressor.compress(data)
        chunk = _encoded(
            Chunk(
                compression=COMPRESSION,
                data=packed,
                message_start_time=self._first,
                message_end_time=self._last,
                uncompressed_crc=zlib.crc32(data),
                uncompressed_size=len(data),
            )
        )
        offsets: dict[int, int] = {}
        index_data = b""
        counts = {}
        for channel_id, parts in self._entries.items():
            entries = np.concatenate(parts)
            offsets[channel_id] = self._end + len(chunk) + len(index_data)
            index_data += _message_index(channel_id, entries)
            counts[channel_id] = len(entries)
        index = ChunkIndex(
            chunk_length=len(chunk),
            chunk_start_offset=self._end,
            compression=COMPRESSION,
            compressed_size=len(packed),
            message_end_time=self._last,
            message_index_length=len(index_data),
            message_index_offsets=offsets,
            message_start_time=self._first,
            uncompressed_size=len(data),
        )
        self._start_chunk()
        self._write(chunk + index_data)
        self._chunks.append(index)
        for channel_id, count in counts.items():
            self._counts[channel_id] = self._counts.get(channel_id, 0) + count

    # --- the end --------------------------------------------------------------------------------------

    def sync(self) -> None:
        """What has gone to the operating system goes on to the disk, so that it survives a power failure."""
        if self.path is None:
            return
        try:
            os.fsync(self._file.fileno())
        except OSError as error:
            if error.errno not in NOT_SYNCED:
                self._fail(error)

    def finish(self, *, sync: bool = True) -> None:
        """Write the summary section and close the file."""
        self.close_chunk()
        self._write(_encoded(DataEnd(self._crc)))
        start = self._end
        summary = b""
        groups: list[SummaryOffset] = []
        for opcode, records in self._summary_groups():
            data = b"".join(_encoded(record) for record in records)
            if data:
                groups.append(SummaryOffset(opcode, start + len(summary), len(data)))
                summary += data
        offsets_start = start + len(summary)
        summary += b"".join(_encoded(group) for group in groups)
        # The CRC covers the summary and the footer up to the CRC itself.
        crc = zlib.crc32(struct.pack("<BQQQ", Opcode.FOOTER, 20, start, offsets_start), zlib.crc32(summary))
        self._write(summary + _encoded(Footer(start, offsets_start, crc)) + MAGIC)
        if sync:
            self.sync()
        self.abandon()

    def abandon(self) -> None:
        """Close the file as it is."""
        if isinstance(self._file, io.BytesIO) and not self._file.closed:
            self.data = self._file.getvalue()
        with contextlib.suppress(OSError):
            self._file.close()

    @property
    def span_ns(self) -> tuple[int, int]:
        """First and last time of all closed chunks [ns]."""
        first = min((chunk.message_start_time for chunk in self._chunks), default=0)
        return first, max((chunk.message_end_time for chunk in self._chunks), default=0)

    def topics(self) -> list[tuple[Channel, str, int]]:
        """Channel, name of its schema, and messages in closed chunks."""
        names = {schema.id: schema.name for schema in self._schemas.values()}
        return [(one, names[one.schema_id], self._counts.get(one.id, 0)) for one in self._channels]

    def _summary_groups(self) -> list[tuple[int, list[McapRecord]]]:
        first, last = self.span_ns
        statistics = Statistics(
            attachment_count=0,
            channel_count=len(self._channels),
            channel_message_counts=self._counts,
            chunk_count=len(self._chunks),
            message_count=sum(self._counts.values()),
            message_end_time=last,
            message_start_time=first,
            metadata_count=len(self._metadata),
            schema_count=len(self._schemas),
        )
        return [
            (Opcode.SCHEMA, list(self._schemas.values())),
            (Opcode.CHANNEL, list(self._channels)),
            (Opcode.STATISTICS, [statistics]),
            (Opcode.CHUNK_INDEX, list(self._chunks)),
            (Opcode.METADATA_INDEX, list(self._metadata)),
        ]

    def _write(self, data: bytes) -> None:
        if self.failure:
            raise RecordingError(self.failure)
        rest = memoryview(data)
        try:
            while rest:
                rest = rest[self._file.write(rest) or 0 :]
        except OSError as error:
            self._fail(error)
        self._end += len(data)
        self._crc = zlib.crc32(data, self._crc)

    def _fail(self, error: OSError) -> None:
        """Take back what was written by halves, so that the file ends with a whole record."""
        with contextlib.suppress(OSError):
            self._file.truncate(self._end)
        self._start_chunk()
        self.failure = f"{self.path or 'memory'}: the recording stopped: {error.strerror or error}"
        raise RecordingError(self.failure) from error


def _encoded(record: McapRecord) -> bytes:
    builder = RecordBuilder()
    record.write(builder)
    return builder.end()


def _message_index(channel_id: int, entries: np.ndarray) -> bytes:
    head = struct.pack("<BQHI", Opcode.MESSAGE_INDEX, 6 + entries.nbytes, channel_id, entries.nbytes)
    return head + entries.tobytes()


def _clean(text: str) -> str:
    """Half a surrogate pair (from an undecodable file name) cannot be written as UTF-8."""
    return text.encode("utf-8", "replace").decode()
