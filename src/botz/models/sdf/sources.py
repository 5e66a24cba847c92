"""Where the files lie that an SDF file names: included models and their folders."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import unquote, urlsplit
from urllib.request import url2pathname

from botz.errors import InputError
from botz.models.xml_tree import XmlNode, parsed_numbers, read_xml

PATHS = ("GZ_SIM_RESOURCE_PATH", "IGN_GAZEBO_RESOURCE_PATH", "SDF_PATH", "GAZEBO_MODEL_PATH", "ROS_PACKAGE_PATH")
"""Variables with folders of models."""


def find_resource(uri: str, near: Path | None, packages: Mapping[str, str]) -> Path | str:
    """The file or folder of a URI said in the file `near`; or what is wrong, with a remedy. Nothing is fetched."""
    if "://" not in uri:
        plain = Path(uri)
        tried = [plain] if plain.is_absolute() else [folder / plain for folder in _beside(near)]
        return _first(tried) or f"there is no {uri!r} beside the file, nor in a folder of {PATHS[0]}"
    try:
        parts = urlsplit(uri)
    except ValueError:
        return f"{uri!r} is not an address; write a path, model://NAME/FILE or package://NAME/FILE"
    if parts.scheme == "file":
        path = Path(url2pathname(parts.path)) if not parts.netloc else Path(unquote(parts.netloc + parts.path))
        tried = [path] if path.is_absolute() else [folder / path for folder in _beside(near)]
        return _first(tried) or f"there is no file {str(path)!r}"
    if parts.scheme in ("http", "https"):
        return f"{uri!r} is on the network, which is never asked; download it and name the file by a path"
    if parts.scheme not in ("model", "package"):
        return f"cannot follow {parts.scheme}://; write a path, model://NAME/FILE or package://NAME/FILE"
    name, rest = unquote(parts.netloc), unquote(parts.path).lstrip("/")
    if not name:
        return f"{uri!r} names no {parts.scheme}; write {parts.scheme}://NAME/FILE"
    found = _first(folder / rest for folder in _folders(name, near, packages))
    if found is not None:
        return found
    where = "beside the file, above it, nor"
    return (
        f"cannot find {uri!r} {where} in a folder of {PATHS[0]} or {PATHS[3]}; put a folder {name!r} there, "
        "or name its place under 'packages'"
    )


def model_file(path: Path) -> Path | str:
    """The SDF file of a model's folder, by its model.config; or what is wrong. A file is itself."""
    if not path.is_dir():
        return path
    config = path / "model.config"
    if not config.is_file():
        plain = path / "model.sdf"
        return plain if plain.is_file() else f"the folder {str(path)!r} has neither model.config nor model.sdf"
    try:
        named = [node for node in read_xml(config).all("sdf") if node.text]
    except InputError as error:
        return str(error)
    if not named:
        return f"{str(config)!r} names no <sdf> file"
    newest = max(named, key=lambda node: version_of(node) or (0, 0))
    return path / newest.text


def version_of(node: XmlNode) -> tuple[int, int] | None:
    """The version attribute; None where it is none."""
    major, _, minor = (node.get("version") or "").strip().partition(".")
    if isinstance(parsed_numbers(f"{major} {minor}", 2), str) or not (major.isdigit() and minor.isdigit()):
        return None
    return int(major), int(minor)


def _first(tried: Iterator[Path] | list[Path]) -> Path | None:
    for path in tried:
        try:
            if path.exists():
                return path.resolve()
        except (OSError, ValueError):  # a name that no file system takes
            continue
    return None


def _beside(near: Path | None) -> Iterator[Path]:
    yield near.parent if near is not None else Path()
    yield from _listed()


def _listed() -> Iterator[Path]:
    for variable in PATHS:
        for folder in os.environ.get(variable, "").split(os.pathsep):
            if folder:
                yield Path(folder)


def _folders(name: str, near: Path | None, packages: Mapping[str, str]) -> Iterator[Path]:
    """Folders that a model or package of this name may be, nearest first."""
    if name in packages:
        yield Path(packages[name])
    if near is not None:
        for folder in near.resolve().parents:
            if folder.name == name:
                yield folder
            yield folder / name
            yield folder / "models" / name
    for folder in _listed():
        yield folder / name
        if folder.name == name:
            yield folder
    for prefix in os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep):
        if prefix:
            yield Path(prefix) / "share" / name
