"""Builds the lab's page and the software bill of materials with the package, for wheels and for editable installs.

Where it cannot be built (no Node.js, no network) the package is installed without it, `botz lab` then says why; with
BOTZ_REQUIRE_CLIENT=1, as in CI, that is an error. BOTZ_SKIP_CLIENT=1 leaves the page out.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
import tempfile
from pathlib import Path
from types import ModuleType
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


def tool(root: Path, name: str) -> ModuleType:
    """A module of tools/, which is not part of the package."""
    spec = importlib.util.spec_from_file_location(f"botz_{name}", root / "tools" / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def is_set(name: str) -> bool:
    return os.environ.get(name, "") not in ("", "0")


class ClientBuild(BuildHookInterface):
    PLUGIN_NAME = "custom"

    def dependencies(self) -> list[str]:
        """Node.js as a Python package, where the system has none."""
        root = Path(self.root)
        if self.target_name != "wheel" or is_set("BOTZ_SKIP_CLIENT") or not (root / "web").is_dir():
            return []
        web = tool(root, "build_web")
        if web.is_current(root) or web.system_node() is not None or not web.wheel_is_offered():
            return []
        return [web.WHEEL]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        root = Path(self.root)
        if self.target_name == "wheel":
            self.materials = tempfile.TemporaryDirectory()
            sbom = tool(root, "sbom")
            file = Path(self.materials.name) / sbom.NAME
            file.write_text(sbom.written(sbom.release(root)), encoding="utf-8")
            build_data["sbom_files"].append(str(file))
        if self.target_name != "wheel" or is_set("BOTZ_SKIP_CLIENT") or not (root / "web").is_dir():
            return
        web = tool(root, "build_web")
        try:
            web.build(root)
        except web.NotBuilt as error:
            if is_set("BOTZ_REQUIRE_CLIENT"):
                raise RuntimeError(f"the lab's page could not be built: {error}") from error
            # An older page would not understand this server.
            shutil.rmtree(web.client_of(root), ignore_errors=True)
            web.missing_note(root).parent.mkdir(parents=True, exist_ok=True)
            web.missing_note(root).write_text(f"{error}\n", encoding="utf-8")
            self.app.display_warning(f"botz is installed without the lab's page, which could not be built: {error}")

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        if self.target_name == "wheel":
            self.materials.cleanup()
