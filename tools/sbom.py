"""Writes the software bill of materials of Botz (CycloneDX 1.6): what is installed with it, what the lab's page holds.

    python tools/sbom.py                 of a release: the versions of locked/base.txt, on every Python and platform
    python tools/sbom.py --installed     of this environment, with who needs whom
    python tools/sbom.py -o FILE         into a file instead of to stdout

The build puts the first into every wheel (`botz-VERSION.dist-info/sboms/botz.cdx.json`). It follows from files of the
repository alone, so that it can be made again and compared. Hashes of Python packages stand in locked/: a package has
many files, one for each Python and platform, where CycloneDX has one hash for a component.
"""

from __future__ import annotations

import argparse
import base64
import json
import re
import sys
import tomllib
import uuid
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
NAME = "botz.cdx.json"
PINNED = re.compile(
    r"^(?P<name>[A-Za-z0-9._-]+)==(?P<version>[^\s;\\]+)(?:\s*;\s*(?P<marker>[^\\\n]+?))?\s*\\?$", re.MULTILINE
)


def release(root: Path = ROOT) -> dict[str, Any]:
    """Of a release: all pinned versions, those that hold on some Pythons or platforms only with their marker."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    text = (root / "locked" / "base.txt").read_text(encoding="utf-8")
    packages = [
        python_package(found["name"], found["version"], marker=found["marker"]) for found in PINNED.finditer(text)
    ]
    named = {normalized(re.split(r"[\s<>=!~;\[]", line)[0]) for line in project["project"]["dependencies"]}
    page = list(page_packages(root / "web" / "package-lock.json"))
    direct = [part["bom-ref"] for part in packages if part["name"] in named]
    botz = python_package("botz", project["project"]["version"], licence=project["project"]["license"])
    return bill(botz, [*packages, *page], {botz["bom-ref"]: [*direct, *(part["bom-ref"] for part in page)]})


def installed() -> dict[str, Any]:
    """Of this environment: Botz and all that it needs, as their metadata say."""
    from packaging.requirements import Requirement

    found: dict[str, dict[str, Any]] = {}
    needs: dict[str, list[str]] = {}
    waiting = [("botz", frozenset[str]())]
    seen = set(waiting)
    while waiting:
        name, extras = waiting.pop()
        about = metadata.distribution(name)
        licence = about.metadata.json.get("license_expression")
        part = python_package(name, about.version, licence=str(licence or ""))
        found[name] = part
        for line in about.requires or ():
            need = Requirement(line)
            holds = need.marker is None or any(need.marker.evaluate({"extra": extra}) for extra in ("", *extras))
            if not holds:
                continue
            other = (normalized(need.name), frozenset(need.extras))
            version = metadata.version(other[0])
            needs.setdefault(part["bom-ref"], []).append(python_package(other[0], version)["bom-ref"])
            if other not in seen:
                seen.add(other)
                waiting.append(other)
    botz = found.pop("botz")
    page = list(page_packages(ROOT / "web" / "package-lock.json"))
    needs.setdefault(botz["bom-ref"], []).extend(part["bom-ref"] for part in page)
    return bill(botz, [*found.values(), *page], needs)


def normalized(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def python_package(name: str, version: str, *, marker: str | None = None, licence: str | None = None) -> dict[str, Any]:
    name = normalized(name)
    address = f"pkg:pypi/{name}@{version.replace('+', '%2B')}"
    part: dict[str, Any] = {"type": "library", "bom-ref": address, "name": name, "version": version, "purl": address}
    if licence:
        part["licenses"] = [{"expression": licence}]
    if marker:
        part["properties"] = [{"name": "botz:marker", "value": marker}]
    return part


def page_packages(lock: Path) -> Iterator[dict[str, Any]]:
    """What is built into the lab's page: the packages of the lock that are not tools of development."""
    for place, about in json.loads(lock.read_text(encoding="utf-8"))["packages"].items():
        if not place or about.get("dev") or about.get("optional"):
            continue
        name = place.rpartition("node_modules/")[2]
        address = f"pkg:npm/{name.replace('@', '%40')}@{about['version']}"
        algorithm, _, digest = about["integrity"].partition("-")
        yield {
            "type": "library",
            "bom-ref": address,
            "name": name,
            "version": about["version"],
            "purl": address,
            "licenses": [{"expression": about["license"]}],
            "hashes": [{"alg": algorithm.upper().replace("SHA", "SHA-"), "content": base64.b64decode(digest).hex()}],
        }


def bill(about: dict[str, Any], parts: list[dict[str, Any]], needs: dict[str, list[str]]) -> dict[str, Any]:
    parts = sorted(parts, key=lambda part: str(part["bom-ref"]))
    refs = [about["bom-ref"], *(part["bom-ref"] for part in parts)]
    content: dict[str, Any] = {
        "metadata": {"component": about | {"type": "application"}},
        "components": parts,
        "dependencies": [{"ref": ref, "dependsOn": sorted(set(needs.get(ref, ())))} for ref in refs],
    }
    number = uuid.uuid5(uuid.NAMESPACE_OID, json.dumps(content, sort_keys=True))
    head = {"bomFormat": "CycloneDX", "specVersion": "1.6", "serialNumber": f"urn:uuid:{number}", "version": 1}
    return head | content


def written(document: dict[str, Any]) -> str:
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description="Writes the software bill of materials (CycloneDX 1.6, JSON).")
    parser.add_argument("--installed", action="store_true", help="of this environment, not of a release")
    parser.add_argument("-o", "--out", type=Path, help="a file instead of stdout")
    options = parser.parse_args()
    text = written(installed() if options.installed else release())
    if options.out:
        options.out.write_text(text, encoding="utf-8")
    else:
        sys.stdout.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
