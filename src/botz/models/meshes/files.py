"""Where the mesh files of a model are, and how they move along when it is written elsewhere."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Literal
from urllib.parse import unquote
from urllib.request import url2pathname

from botz.errors import InputError, Problem
from botz.models.meshes.mesh import READABLE, load_mesh
from botz.models.robot_model import RobotModel
from botz.models.xml_tree import XmlNode, XmlReading

if TYPE_CHECKING:
    import trimesh

MESHES = "meshes"
"""Folder beside a written model that holds its meshes."""
MissingMeshes = Literal["refuse", "ignore-visual", "ignore"]
MISSING_MESHES: tuple[MissingMeshes, ...] = ("refuse", "ignore-visual", "ignore")
"""What becomes of a mesh that is not there or of no format that is read: an error; left out with a note where it is
only seen; left out with a note in any case."""
_SCHEME = re.compile(r"^([A-Za-z][A-Za-z0-9+.-]+):(.*)$", re.DOTALL)


class MeshFinding:
    """Finds the meshes of a model file, and knows which of them may be missing."""

    def __init__(self, packages: Mapping[str, str], missing: MissingMeshes = "ignore-visual"):
        self.packages = packages
        self.missing = missing

    def find(
        self, reading: XmlReading, node: XmlNode, reference: str, file: Path | None, *, seen: bool, key: str
    ) -> Path | None:
        """The file of a reference at `node`; None with a note where it is left out, else with a problem."""
        try:
            return resolve_mesh(reference, file, self.packages)
        except InputError as error:
            for problem in error.problems:
                if self.missing == "ignore" or (seen and self.missing == "ignore-visual"):
                    reading.note(node, f"{problem.message}; it is left out", key)
                else:
                    # What is touched changes how a robot moves, so nobody leaves it out but the user.
                    remedy = "" if seen else "; or leave it out by 'missing_meshes: ignore' of the robot"
                    reading.wrong(node, problem.message + remedy, key)
            return None


def resolve_mesh(reference: str, file: Path | None, packages: Mapping[str, str] | None = None) -> Path:
    """The file that a model's mesh reference means: package://, model://, file:// or a path relative to `file`.

    Raises InputError, without a place, where there is none; nothing is ever fetched.
    """
    reference = reference.strip()
    scheme = _SCHEME.match(reference)  # a drive letter is one letter, no scheme
    if scheme is None:
        found = Path(reference) if file is None else file.parent / reference
    elif scheme[1] in ("package", "model"):
        return _in_package(reference, scheme[2].lstrip("/"), file, packages or {})
    elif scheme[1] == "file":
        rest = scheme[2]
        # file:///x is absolute; file://x, as many write it, is relative to the model.
        local = url2pathname("/" + rest.lstrip("/")) if rest.startswith("///") else unquote(rest.removeprefix("//"))
        found = Path(local) if file is None else file.parent / local
    else:
        raise _missing(f"mesh {reference!r} is not on this computer; save it beside the model and name its path")
    if not _exists(found):
        raise _missing(f"mesh {reference!r} is missing: there is no file {found}; put it there or mend the path")
    return _readable(reference, found)


def _readable(reference: str, found: Path) -> Path:
    if found.suffix.lower() not in READABLE:
        formats = ", ".join(READABLE)
        raise _missing(f"mesh {reference!r} is in no format that is read ({formats}); export it as one of them")
    return found


def _exists(path: Path) -> bool:
    return os.path.isfile(path)  # noqa: PTH113 (False for a name that no disk takes)


def _missing(message: str) -> InputError:
    return InputError(Problem(message))


def _in_package(reference: str, path: str, file: Path | None, packages: Mapping[str, str]) -> Path:
    package, _, rest = unquote(path).partition("/")
    folders = list(dict.fromkeys(_folders(package, file, packages)))
    for folder in folders:
        if _exists(folder / rest):
            return _readable(reference, folder / rest)
    where = ", ".join(str(folder) for folder in folders)
    if folders:
        raise _missing(f"mesh {reference!r} is missing: package {package!r} is {where}, without {rest!r}")
    message = f"mesh {reference!r} is in package {package!r}, which is not found; give its folder under 'packages'"
    raise _missing(f"{message} (--package {package}=FOLDER on the command line)")


def package_folder(package: str, file: Path | None, packages: Mapping[str, str]) -> Path | None:
    """The folder of a package; None where it is not found."""
    return next(_folders(package, file, packages), None)


def _folders(package: str, file: Path | None, packages: Mapping[str, str]) -> Iterator[Path]:
    """Folders that a package may be: as given, then above the model, then where ROS and Gazebo look."""
    here = Path() if file is None else file.parent
    if package in packages:
        yield here / packages[package]
        return
    for above in [] if file is None else list(file.resolve().parents):
        if above.name == package or _names(above / "package.xml", package):
            yield above
        if (above / package).is_dir():
            yield above / package
    roots = [
        *(Path(root) for root in os.environ.get("ROS_PACKAGE_PATH", "").split(os.pathsep) if root),
        *(Path(root) / "share" for root in os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep) if root),
        *(Path(root) for root in os.environ.get("GZ_SIM_RESOURCE_PATH", "").split(os.pathsep) if root),
        *(Path(root) for root in os.environ.get("GAZEBO_MODEL_PATH", "").split(os.pathsep) if root),
    ]
    yield from (root / package for root in roots if (root / package).is_dir())


def _names(manifest: Path, package: str) -> bool:
    try:
        return (
            re.search(rf"<name>\s*{re.escape(package)}\s*</name>", manifest.read_text("utf-8", "replace")) is not None
        )
    except OSError:
        return False


def copied_meshes(model: RobotModel, beside: Path) -> dict[Path, str]:
    """Copy the model's meshes into a folder beside a file that is to be written; gives each one's path from there.

    Files of the same name from different folders are told apart by a number, and so is one from another file that
    already lies there: nothing is overwritten.
    """
    folder = beside.parent / MESHES
    found: dict[Path, str] = {}
    taken: dict[str, Path] = {}
    for link in model.links.values():
        for shape in link.shapes:
            if shape.kind != "mesh" or shape.file is None or shape.file in found:
                continue
            source = shape.file.resolve()
            own = source.suffix.lower() == ".msh"  # which only MuJoCo and Botz know
            ending = ".stl" if own else source.suffix
            try:
                content = binary_stl(load_mesh(source)) if own else source.read_bytes()
                target = kept_beside(folder / f"{source.stem}{ending}", content, source, taken)
            except OSError as error:
                message = f"cannot be copied to {folder / source.name}: {error.strerror or error}"
                raise InputError(Problem(message, file=shape.file)) from None
            found[shape.file] = f"{MESHES}/{target.name}"
    return found


def binary_stl(mesh: trimesh.Trimesh) -> bytes:
    content = mesh.export(file_type="stl")
    assert isinstance(content, bytes)
    return content


def kept_beside(wanted: Path, content: bytes, source: Path, taken: dict[str, Path]) -> Path:
    """Write a mesh under this name, or with a number where the name is `taken` or another file has it, perhaps one that
    the model is made of. The same content is not written again."""
    wanted.parent.mkdir(parents=True, exist_ok=True)
    target, number = wanted, 1
    while taken.get(target.name.lower(), source) != source or not _is_free(target, content):
        number += 1
        target = wanted.with_name(f"{wanted.stem}-{number}{wanted.suffix}")
    taken[target.name.lower()] = source
    return target


def _is_free(target: Path, content: bytes) -> bool:
    """Whether `target` holds this content now."""
    try:
        with target.open("xb") as file:
            try:
                file.write(content)
            except OSError:
                target.unlink()
                raise
    except FileExistsError:
        return target.is_file() and target.read_bytes() == content
    return True
