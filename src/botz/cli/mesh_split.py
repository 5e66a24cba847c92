"""botz mesh --split: a file per separate body, and a table of what each of them weighs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from botz.cli.common import console
from botz.errors import InputError, Problem

if TYPE_CHECKING:
    import trimesh

DENSITY = "kg/m^3"


def densities_of(text: str | None) -> list[float] | None:
    """Of `--density`: one or several between commas, as '1200, 7.8 g/cm^3'."""
    from botz.scenario.units import to_si

    if text is None:
        return None
    found = [to_si(part.strip(), DENSITY) for part in re.split("[,;]", text)]
    if not all(value > 0.0 for value in found):
        raise InputError(Problem(f"{text!r}; needs positive densities [kg/m³]", key="--density"))
    return found


def split(
    part: trimesh.Trimesh, file: Path, folder: Path, scale: float, mass: float | None, densities: list[float] | None
) -> tuple[list[dict[str, Any]], list[Problem]]:
    """Write the bodies of a mesh and report on each; and why some have no mass where one was asked for."""
    from botz.cli.meshes import sdf_inertial, urdf_inertial, written
    from botz.models.meshes.bodies import body_properties, separate_bodies
    from botz.models.meshes.mesh import WRITABLE

    try:
        bodies = separate_bodies(part)
    except InputError as error:
        raise InputError([Problem(one.message, file=file) for one in error.problems]) from None
    properties = body_properties(bodies, mass, densities)
    ending = file.suffix.lower() if file.suffix.lower() in WRITABLE else ".stl"
    digits = len(str(len(bodies)))
    reports: list[dict[str, Any]] = []
    problems = []
    for k, (body, found) in enumerate(zip(bodies, properties, strict=True), 1):
        path = written(body, folder / f"{file.stem}-{k:0{digits}}{ending}", scale)
        report: dict[str, Any] = {"file": str(path), "faces": len(body.faces)}
        if isinstance(found, InputError):
            report["no_volume"] = found.problems[0].message
            problems.append(Problem(found.problems[0].message, file=path))
        else:
            report |= {"volume_m3": found.volume, "centre_m": found.centre.tolist()}
            if mass is not None or densities is not None:
                report |= {
                    "mass_kg": found.mass,
                    "density_kg_m3": found.mass / found.volume,
                    "inertia_kg_m2": found.inertia.tolist(),
                    "principal_kg_m2": found.principal.tolist(),
                    "urdf": urdf_inertial(found),
                    "sdf": sdf_inertial(found),
                }
        reports.append(report)
    return reports, problems


def _place(centre: list[float], volume: float) -> str:
    """What is 0 but for the rounding of single precision, which files have, is 0."""
    least = 1e-6 * volume ** (1 / 3)
    return ", ".join("0" if abs(value) < least else f"{value:.5g}" for value in centre)


def print_bodies(reports: list[dict[str, Any]]) -> None:
    """A row per body and one for all."""
    from rich.table import Table

    weighed = any("mass_kg" in report for report in reports)
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("body", no_wrap=True)
    titles = ["faces", "volume [m³]", "centre x, y, z [m]", *(["mass [kg]", "principal moments [kg·m²]"] * weighed)]
    for title in titles:
        table.add_column(title, justify="right", no_wrap=True)
    for report in reports:
        row = [report["file"], str(report["faces"])]
        if "volume_m3" in report:
            row += [f"{report['volume_m3']:.6g}", _place(report["centre_m"], report["volume_m3"])]
        else:
            row += ["none", "not closed"]
        if "mass_kg" in report:
            row += [f"{report['mass_kg']:.6g}", "  ".join(f"{value:.4e}" for value in report["principal_kg_m2"])]
        table.add_row(*row)
    volume = sum(report.get("volume_m3", 0.0) for report in reports)
    mass = sum(report.get("mass_kg", 0.0) for report in reports)
    faces = sum(report["faces"] for report in reports)
    table.add_row("all", str(faces), f"{volume:.6g}", "", *([f"{mass:.6g}", ""] if weighed else []))
    out = console()
    # A table of numbers is for reading across: on a narrow terminal, and in a pipe, it is better wide than folded.
    out.width = max(out.width, 110 + max(len(report["file"]) for report in reports))
    out.print(table)
