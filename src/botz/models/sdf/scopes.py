"""The parts of an SDF model gathered from its file, its nested models and the files that it includes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from botz.errors import InputError
from botz.models.sdf.frames import MODEL, WORLD, Frame, Frames, read_pose, truth
from botz.models.sdf.sources import find_resource, model_file, version_of
from botz.models.xml_tree import XmlNode, XmlReading, read_xml

OLDEST, NEWEST = (1, 4), (1, 12)
RESERVED = (1, 7)
"""Since this version no link may be called world; before, converters from URDF wrote one to tie a robot to."""
MOST_INCLUDES = 1000
DEEPEST = 50
"""Models within models."""
SILENT = frozenset({"pose", "static", "self_collide", "allow_auto_disable", "enable_wind", "link_name"})
"""What a model may say and what makes no difference here, or is read elsewhere."""

SCENERY = frozenset({"sun", "ground_plane"})
"""Models of Gazebo's own that nearly every world includes and nobody has beside it."""


@dataclass(frozen=True)
class Scope:
    """The model that a name is said in."""

    prefix: str
    """Before names said here: '' or 'arm::'."""
    frame: str
    """Full name of the model's own frame."""
    version: tuple[int, int]

    def full(self, name: str) -> str:
        return self.frame if name == MODEL else self.prefix + name


@dataclass(frozen=True)
class Part:
    node: XmlNode
    name: str
    """Full name."""
    scope: Scope


@dataclass
class SdfParts(XmlReading):
    """What was found, and what was wrong with it."""

    packages: Mapping[str, str]
    frames: Frames = field(default_factory=Frames)
    links: dict[str, Part] = field(default_factory=dict)
    joints: dict[str, Part] = field(default_factory=dict)
    plugins: list[Part] = field(default_factory=list)
    includes: int = 0

    def __post_init__(self) -> None:
        super().__init__()

    # --- files ---

    def opened(self, file: Path) -> tuple[XmlNode, tuple[int, int]]:
        """The <sdf> element of a file and its version; raises InputError."""
        root = read_xml(file)
        if root.tag != "sdf":
            what = {"robot": "a URDF", "mujoco": "an MJCF"}.get(root.tag)
            hint = f"this is {what} file" if what else f"this begins with <{root.tag}>"
            raise InputError(root.problem(f'an SDF file begins with <sdf version="1.9">; {hint}'))
        version = version_of(root)
        if version is None or not OLDEST <= version <= NEWEST:
            said = root.get("version")
            message = f'versions 1.{OLDEST[1]} to 1.{NEWEST[1]} are read, not {said!r}; write <sdf version="1.9">'
            raise InputError(root.problem(message, "version"))
        return root, version

    def included(self, node: XmlNode, chain: tuple[Path, ...]) -> tuple[XmlNode, tuple[int, int], Path] | None:
        """The model that an <include> means; None with a problem."""
        uri = node.first("uri")
        if uri is None or not uri.text:
            self.wrong(node, "<include> needs <uri>: the path of a model, or model://NAME")
            return None
        self.includes += 1
        if self.includes > MOST_INCLUDES:
            if self.includes == MOST_INCLUDES + 1:
                self.wrong(node, f"more than {MOST_INCLUDES} models are included; make it a smaller model")
            return None
        found = find_resource(uri.text, node.file, self.packages)
        file = model_file(found) if isinstance(found, Path) else found
        if isinstance(file, str) and uri.text.strip().removeprefix("model://") in SCENERY:
            self.note(uri, f"{uri.text.strip()!r} is left out: light and ground are the scenario's", "include")
            return None
        if isinstance(file, str):
            self.wrong(uri, file, "include")
            return None
        file = file.resolve()
        if file in chain:
            way = " -> ".join(one.name for one in (*chain[chain.index(file) :], file))
            self.wrong(uri, f"goes round in a circle: {way}; take one <include> out", "include")
            return None
        try:
            root, version = self.opened(file)
        except InputError as error:
            self.problems.extend(error.problems)
            return None
        models = list(root.all("model"))
        if len(models) != 1:
            names = ", ".join(repr(one.get("name")) for one in models) or "none"
            self.wrong(uri, f"{file.name} should hold one <model>, it has {names}", "include")
            return None
        return models[0], version, file

    # --- models ---

    def add_model(self, node: XmlNode, scope: Scope, placed: Frame, chain: tuple[Path, ...], depth: int = 0) -> None:
        """A model's parts; `placed` is its own frame without what it is attached to."""
        if depth > DEEPEST:
            self.wrong(node, f"models are nested more than {DEEPEST} deep; make it a flatter model")
            return
        carrier: str | None = None
        for child in node.children:
            match child.tag:
                case "link" if child.get("name") == WORLD and scope.version < RESERVED:
                    self.note(child, "a link called 'world' is the world itself; what else it says is not read")
                case "link" | "joint" | "frame" | "model":
                    own = self._name(child)
                    if own is None:
                        continue
                    if child.tag == "model":
                        self._add_nested(child, own, scope, scope.version, chain, depth)
                    else:
                        getattr(self, f"_add_{child.tag}")(child, own, scope)
                    if child.tag in ("link", "model") and carrier is None:
                        carrier = scope.full(own)
                case "include":
                    own = self._add_include(child, scope, chain, depth)
                    carrier = carrier or own
                case "plugin":
                    self.plugins.append(Part(child, scope.prefix + (child.get("name") or ""), scope))
                case tag if tag not in SILENT and ":" not in tag:
                    self.note(child, f"<{tag}> is not read")
        said = (node.get("canonical_link") or "").strip()
        placed.attached_to = scope.full(said) if said else carrier
        placement = (node.get("placement_frame") or "").strip()
        if placed.placement is None and placement:
            placed.placement = scope.full(placement)
        self.frames.add(self, scope.frame, placed)

    def _name(self, node: XmlNode) -> str | None:
        name = self.attribute(node, "name")
        if name is not None and (name == WORLD or (name.startswith("__") and name.endswith("__"))):
            self.wrong(node, f"the name {name!r} is SDF's own; give the {node.tag} another one", "name")
            return None
        return name

    def _pose(self, node: XmlNode, scope: Scope, default: str) -> tuple[np.ndarray, str]:
        """The pose said in an element, and the full name of the frame that it is said in."""
        pose = node.first("pose")
        said = ""
        if pose is not None:
            said = (pose.get("relative_to") or pose.get("frame") or "").strip()
        return read_pose(self, pose), scope.full(said) if said else default

    def posed(self, node: XmlNode, scope: Scope, link: str) -> np.ndarray:
        """Pose in the link's frame of something in it; to be asked once all frames are known."""
        pose, base = self._pose(node, scope, link)
        if base == link or not self.frames.known(self, node, base, "relative_to"):
            return pose
        return self.frames.between(link, base) @ pose

    def _add_link(self, node: XmlNode, name: str, scope: Scope) -> None:
        pose, base = self._pose(node, scope, scope.frame)
        full = scope.full(name)
        self.frames.add(self, full, Frame(node, pose, base, None))
        self.links.setdefault(full, Part(node, full, scope))

    def _add_joint(self, node: XmlNode, name: str, scope: Scope) -> None:
        child = node.value("child") or ""
        for tag in ("parent", "child"):
            if not node.value(tag):
                self.wrong(node, f"joint {name!r} needs <{tag}>: the name of a link")
        if child == WORLD:
            self.wrong(node, f"joint {name!r} moves the world; make the world its <parent>", "child")
        elif child and node.value("parent"):
            full = scope.full(name)
            pose, base = self._pose(node, scope, scope.full(child))
            self.frames.add(self, full, Frame(node, pose, base, scope.full(child)))
            self.joints.setdefault(full, Part(node, full, scope))

    def _add_frame(self, node: XmlNode, name: str, scope: Scope) -> None:
        said = (node.get("attached_to") or "").strip()
        carrier = scope.full(said) if said else scope.frame
        pose, base = self._pose(node, scope, carrier)
        self.frames.add(self, scope.full(name), Frame(node, pose, base, carrier))

    def _add_nested(
        self, node: XmlNode, name: str, scope: Scope, version: tuple[int, int], chain: tuple[Path, ...], depth: int
    ) -> None:
        pose, base = self._pose(node, scope, scope.frame)
        inner = Scope(f"{scope.full(name)}::", f"{scope.full(name)}::{MODEL}", version)
        self._add_inner(node, scope.full(name), inner, Frame(node, pose, base, None), chain, depth)

    def _add_inner(
        self, node: XmlNode, full: str, inner: Scope, placed: Frame, chain: tuple[Path, ...], depth: int
    ) -> None:
        self.frames.add(self, full, Frame(placed.node, np.eye(4), inner.frame, inner.frame))
        if truth(node.value("static")):
            self.note(node, f"model {full!r} is static inside another one: it is held by its joints alone")
        self.add_model(node, inner, placed, chain, depth + 1)

    def _add_include(self, node: XmlNode, scope: Scope, chain: tuple[Path, ...], depth: int) -> str | None:
        """Gives the full name of the model that it brings, where it brings one."""
        found = self.included(node, chain)
        if found is None:
            return None
        model, version, file = found
        name = node.value("name") or self._name(model)
        if name is None:
            return None
        # The include's own pose replaces the model's, which is said in this model too.
        pose, base = self._pose(node if node.first("pose") is not None else model, scope, scope.frame)
        placed = Frame(node, pose, base, None)
        for plugin in node.all("plugin"):
            inner = Scope(f"{scope.full(name)}::", f"{scope.full(name)}::{MODEL}", scope.version)
            self.plugins.append(Part(plugin, inner.prefix + (plugin.get("name") or ""), inner))
        if truth(node.get("merge")):
            # Its parts become this model's own; only its frame gets a name that nothing else has.
            inner = Scope(scope.prefix, f"{scope.prefix}_merged__{name}{MODEL}", version)
            self._place_by(node, inner, placed)
            self.add_model(model, inner, placed, (*chain, file), depth + 1)
            return inner.frame
        inner = Scope(f"{scope.full(name)}::", f"{scope.full(name)}::{MODEL}", version)
        self._place_by(node, inner, placed)
        self._add_inner(model, scope.full(name), inner, placed, (*chain, file), depth)
        return scope.full(name)

    def _place_by(self, node: XmlNode, inner: Scope, placed: Frame) -> None:
        said = (node.value("placement_frame") or "").strip()
        if said:
            placed.placement = inner.full(said)
