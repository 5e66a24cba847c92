"""Where compiled kernels are kept between runs.

Numba notices an edit in the file of a kernel, but not in the files that the kernel calls into. So the cache folder's
name is a hash of all sources that kernels are made of: another source, another folder, never a stale kernel. The folder
is the user's alone, since what lies in it is loaded as code. Nothing here imports Numba.
"""

from __future__ import annotations

import atexit
import hashlib
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

from botz.kernel_files import check_files_of
from botz.private_folder import private_folder, starts_with, user_mark

ROOMS_WITHOUT_KERNELS = {
    "scenario", "terrain", "models", "scene", "control", "record", "run", "view", "endpoints", "cli", "verify", "bench",
}  # fmt: skip
"""Edits in these do not touch compiled code; a test checks that no kernel lives there."""
ROOM_NEEDED = 4 << 20
"""Bytes that a new cache must have room for: Numba does not forgive a disk that fills up while it saves."""
KEEP = 4
"""How many older folders stay: enough for a few checkouts and branches."""
NAME = re.compile("[0-9a-f]{16}")
MARK, MARK_TEXT = ".botz-kernels", b"compiled kernels of Botz"
"""The file that marks a folder of kernels as one of ours, and how it begins: nothing else is ever removed."""


def source_hash(extra_files: list[Path] | None = None) -> str:
    """Hash of the sources that kernels are made of, the interpreter, and a user's own element files."""
    digest = hashlib.sha256(f"{sys.version_info[:2]}{sys.implementation.cache_tag}".encode())
    package = Path(__file__).parent
    own = [file for file in package.rglob("*.py") if file.relative_to(package).parts[0] not in ROOMS_WITHOUT_KERNELS]
    for file in sorted(own) + sorted(extra_files or []):
        digest.update(file.name.encode())
        digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


def cache_folder(kind: str) -> Path:
    """Where this user's `kind` of kept things lies: in a subfolder of our own of `$BOTZ_CACHE_DIR`, or in the user's
    cache folder of this system."""
    chosen = os.environ.get("BOTZ_CACHE_DIR")
    if chosen:
        return Path(chosen).absolute() / f"botz-{kind}"
    try:
        if sys.platform == "win32":
            place = Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local"))
        elif sys.platform == "darwin":
            place = Path.home() / "Library" / "Caches"
        else:
            place = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))
    except RuntimeError:  # no home folder
        return Path(tempfile.gettempdir()) / f"botz-{user_mark()}-{kind}"
    return place / "botz" / kind


def prepare_folder(folder: Path) -> None:
    """Make the folder of one source and the one it lies in, mark it as ours, and see that it can be written."""
    private_folder(folder.parent)
    private_folder(folder)
    mark = folder / MARK
    if not starts_with(mark, MARK_TEXT):
        mark.write_bytes(MARK_TEXT)
    probe = folder / f".probe-{os.getpid()}"
    try:
        probe.write_bytes(bytes(ROOM_NEEDED) if not any(folder.glob("*.ready")) else b"")
    finally:
        probe.unlink(missing_ok=True)


def prepare() -> tuple[Path | None, str]:
    """Point Numba at this source's cache folder, before Numba is imported. Returns the folder, and why it does not
    last, if so: where no lasting place can be written, kernels are compiled anew in every run, with one notice."""
    if os.environ.get("NUMBA_DISABLE_JIT") == "1":
        return None, ""
    folder = cache_folder("kernels") / source_hash()
    try:
        prepare_folder(folder)
        passing = ""
    except OSError as error:
        # Numba refuses to define a cached function when it finds no place at all, so it gets one for this process and
        # those that it starts.
        passing = str(error)
        place = tempfile.mkdtemp(prefix="botz-kernels-")
        atexit.register(shutil.rmtree, place, ignore_errors=True)
        os.environ["BOTZ_CACHE_DIR"] = place
        folder = cache_folder("kernels") / folder.name
        folder.mkdir(mode=0o700, parents=True)
    point_numba_at(folder)
    return folder, passing


def point_numba_at(folder: Path) -> None:
    os.environ["NUMBA_CACHE_DIR"] = str(folder)
    if "numba.np.arraymath" not in sys.modules:
        sys.meta_path.insert(0, WhenImported("numba.np.arraymath", without_scipy))
    numba = sys.modules.get("numba")
    if numba is None:
        sys.meta_path.insert(0, WhenImported("numba.core.caching", partial(with_checksums, folder)))
        return
    # Numba came first (a notebook, say): it reads this setting when a function is defined.
    numba.config.CACHE_DIR = str(folder)
    check_files_of(folder, sys.modules["numba.core.caching"])


class WhenImported(MetaPathFinder, Loader):
    """Changes a module of Numba when Numba imports it, and not before: importing Numba takes long."""

    def __init__(self, name: str, load: Callable[[Loader, ModuleType], None]):
        self._name = name
        self._load = load
        self._loader: Loader | None = None

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if fullname != self._name:
            return None
        sys.meta_path.remove(self)
        spec = find_spec(fullname)
        if spec is not None:
            self._loader, spec.loader = spec.loader, self
        return spec

    def exec_module(self, module: ModuleType) -> None:
        assert self._loader is not None
        self._load(self._loader, module)


def with_checksums(folder: Path, loader: Loader, caching: ModuleType) -> None:
    loader.exec_module(caching)
    check_files_of(folder, caching)


def without_scipy(loader: Loader, arraymath: ModuleType) -> None:
    """Numba looks for SciPy's linear algebra, a sixth of the time in which a run starts, to know whether products of
    matrices can be compiled. It looks again where one is compiled."""
    from numba.np import linalg

    look = linalg.ensure_blas
    linalg.ensure_blas = lambda: None
    try:
        loader.exec_module(arraymath)
    finally:
        linalg.ensure_blas = look


def is_ours(folder: Path) -> bool:
    """Whether a folder beside ours holds kernels of another source: by its name, and by the mark in it."""
    return bool(NAME.fullmatch(folder.name)) and not folder.is_symlink() and starts_with(folder / MARK, MARK_TEXT)


def forget_old(folder: Path) -> None:
    """Remove the folders of older sources."""
    try:
        others = sorted(
            (path for path in folder.parent.iterdir() if path != folder and is_ours(path)),
            key=lambda path: path.stat().st_mtime,
            reverse=True,
        )
    except OSError:
        return
    for path in others[KEEP:]:
        shutil.rmtree(path, ignore_errors=True)


FOLDER, PASSING = prepare()


def must_compile(engine: str) -> bool:
    """Whether the kernels of an engine have never run from this folder, and so are compiled first."""
    return FOLDER is not None and not (FOLDER / f"{engine}.ready").exists()


def announce(engine: str) -> None:
    """Before the first kernels of an engine run: say why it takes a while, once for each source."""
    if not must_compile(engine):
        return
    text = f"botz: compiling the kernels of '{engine}', once (up to half a minute) …"
    if PASSING:
        why = f"no cache folder can be used (set BOTZ_CACHE_DIR): {PASSING}"
        text = f"botz: compiling the kernels of '{engine}' for this run only: {why}"
    print(text, file=sys.stderr, flush=True)


def mark_ready(engine: str) -> None:
    """After the first kernels of an engine have run."""
    if FOLDER is None:
        return
    marker = FOLDER / f"{engine}.ready"
    try:
        if not marker.exists():
            marker.touch()
            forget_old(FOLDER)
    except OSError:
        return
