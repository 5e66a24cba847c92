"""Folders of our own whose names anybody can guess: made for this user alone, and refused where somebody else could
have put something in their place."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path


class NotPrivate(OSError):
    """A folder that cannot be trusted; the text says why, for the user."""


def user_mark() -> str:
    """What tells this user's folders from those of others in a place that all share."""
    return str(os.getuid()) if hasattr(os, "getuid") else os.environ.get("USERNAME", "user")


def private_folder(folder: Path) -> Path:
    """Make `folder` with mode 0700 where it is missing, and check that it is a folder of this user, no symbolic link,
    in which nobody else may write. The mode of a folder that was there before is never changed."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    status = folder.lstat()
    if stat.S_ISLNK(status.st_mode):
        raise NotPrivate(f"{folder} is a symbolic link")
    if not stat.S_ISDIR(status.st_mode):
        raise NotPrivate(f"{folder} is not a folder")
    if hasattr(os, "getuid"):
        if status.st_uid != os.getuid():
            raise NotPrivate(f"{folder} belongs to another user")
        if status.st_mode & 0o022:
            raise NotPrivate(f"other users may write into {folder} (mode {stat.S_IMODE(status.st_mode):04o})")
    return folder


def starts_with(path: Path, magic: bytes) -> bool:
    """Whether `path` is a regular file, no link to one, that begins with these bytes."""
    try:
        if not stat.S_ISREG(path.lstat().st_mode):
            return False
        with path.open("rb") as file:
            return file.read(len(magic)) == magic
    except OSError:
        return False
