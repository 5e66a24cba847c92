"""Numba's cache files with a checksum: what a power failure has damaged is removed and compiled again.

Numba loads what it finds, so that an empty, truncated or overwritten file ends the process with a traceback, or
without one. Here each file begins with a mark and the hash of the rest, and nothing is loaded that does not fit it.
"""

from __future__ import annotations

import hashlib
import pickle
import sys
from pathlib import Path
from typing import Any

MARK = b"botz kernel 1\n"
DIGEST = hashlib.sha256().digest_size


def sealed(content: bytes) -> bytes:
    return MARK + hashlib.sha256(content).digest() + content


def opened(data: bytes) -> bytes | None:
    """What was sealed, or None where it is damaged."""
    content = data[len(MARK) + DIGEST :]
    return content if data == sealed(content) else None


def remove_damaged(folder: Path) -> None:
    """Remove all damaged files at once, so that one notice is enough for all kernels and processes of a run."""
    removed = 0
    for path in folder.rglob("*.nb[ic]"):
        try:
            if path.is_file() and opened(path.read_bytes()) is None:
                path.unlink()
                removed += 1
        except OSError:
            continue
    if removed:
        text = f"{removed} damaged file{'s' if removed > 1 else ''} removed from the kernel cache {folder}"
        print(f"botz: {text}; compiling again, once (up to half a minute) …", file=sys.stderr, flush=True)


def checked_files(folder: Path, numbas_own: type[Any]) -> Any:
    """What makes Numba's cache files: checked ones for caches below `folder`, Numba's own for others."""

    class CheckedFiles(numbas_own):
        def _read(self, path: str) -> Any:
            """The object in a file; None where there is none, or a damaged one."""
            try:
                content = opened(Path(path).read_bytes())
            except OSError:
                return None
            if content is None:
                remove_damaged(folder)
                return None
            return pickle.loads(content)

        def _write(self, path: str, value: Any) -> None:
            with self._open_for_write(path) as file:
                file.write(sealed(self._dump(value)))

        def _load_index(self) -> dict[Any, str]:
            index = self._read(self._index_path)
            if index is None or index[:2] != (self._version, self._source_stamp):
                return {}
            return index[2]

        def _save_index(self, overloads: dict[Any, str]) -> None:
            self._write(self._index_path, (self._version, self._source_stamp, overloads))

        def _save_data(self, name: str, data: Any) -> None:
            self._write(self._data_path(name), data)

        def load(self, key: Any) -> Any:
            """The kernel of a signature. Its key is kept with it: an index may name data that is not its own."""
            name = self._load_index().get(key)
            kept = None if name is None else self._read(self._data_path(name))
            return kept[1] if kept is not None and kept[0] == key else None

        def save(self, key: Any, data: Any) -> None:
            try:
                super().save(key, (key, data))
            except OSError:
                return  # a full disk, say: the kernel is there, and the next process compiles it again

    def cache_file(cache_path: str, filename_base: str, source_stamp: Any) -> Any:
        kind = CheckedFiles if folder in Path(cache_path).parents else numbas_own
        return kind(cache_path=cache_path, filename_base=filename_base, source_stamp=source_stamp)

    return cache_file


def check_files_of(folder: Path, caching: Any) -> None:
    """Let Numba, whose module `numba.core.caching` this is, use checked files for what lies below `folder`."""
    caching.IndexDataCacheFile = checked_files(folder, caching.IndexDataCacheFile)
