"""botz mesh and botz thrust-fit: from drawn parts and measured thrust to the numbers of a model."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from botz.cli.common import AsJson, print_json, print_pairs
from botz.errors import InputError, Problem, printable

if TYPE_CHECKING:
    import trimesh

    from botz.models.meshes.solids import MassProperties
    from botz.models.thrust_fit import ThrustFit, ThrustTable

LARGE, SMALL = 20.0, 1e-3
"""Sizes that no part of a robot has [m]: its unit was forgotten."""


class Unit(StrEnum):
    mm = "mm"
    cm = "cm"
    m = "m"
    inch = "in"


def register(app: typer.Typer) -> None:
    app.command(rich_help_panel="Models and arms")(mesh)
    app.command("thrust-fit", rich_help_panel="Models and arms")(thrust_fit)


# --- botz mesh -------------------------------------------------------------------------------------------------------


def mesh(
    files: Annotated[list[Path], typer.Argument(metavar="FILE…", help="Meshes: STL, OBJ, PLY, DAE, GLB or OFF.")],
    mass: Annotated[
        str | None, typer.Option(metavar="MASS", help="Mass of the part, as 1.5 or '150 g': gives its inertia.")
    ] = None,
    unit: Annotated[Unit, typer.Option(help="What one unit of the drawing is; STL does not say.")] = Unit.m,
    repair: Annotated[
        bool, typer.Option("--repair", help="Merge near vertices, turn faces the right way round and close holes.")
    ] = False,
    simplify: Annotated[
        float | None, typer.Option(metavar="FRACTION", help="Keep about this fraction of the faces, e.g. 0.1.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("-o", "--out", help="Write the repaired or simplified mesh: STL, OBJ, PLY, GLB or OFF."),
    ] = None,
    split: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Write each separate body into a file of its own and print a table; --mass is shared by volume.",
        ),
    ] = None,
    density: Annotated[
        str | None,
        typer.Option(
            metavar="DENSITY",
            help="With --split, in place of --mass: kg/m³, or with a unit; one for all bodies, or one per body between "
            "commas, the largest body first.",
        ),
    ] = None,
    xml: Annotated[bool, typer.Option("--xml", help="Print the <inertial> blocks of URDF and SDF.")] = False,
    as_json: AsJson = False,
) -> None:
    """Look at meshes: whether they are closed, their size, volume, mass and inertia; repair, simplify, split."""
    from botz.cli.mesh_split import densities_of, print_bodies
    from botz.scenario.units import to_si

    kilograms = None if mass is None else to_si(mass, "kg")
    densities = densities_of(density)
    _check_options(files, kilograms, out, xml, split, densities)
    reports, problems = [], []
    for file in files:
        report, found = _examined(file, unit, kilograms, repair, simplify, out, xml, split, densities)
        reports.append(report)
        problems += found
    if as_json:
        print_json(reports[0] if len(reports) == 1 else reports)
    else:
        for k, report in enumerate(reports):
            if k:
                print()
            print_pairs(_shown(report))
            for language in ("urdf", "sdf"):
                if language in report:
                    print(f"\n{language.upper()}:\n{printable(report[language])}")
            if "split" in report:
                print()
                print_bodies(report["split"])
            for body in report.get("split", []) if xml else []:
                for language in ("urdf", "sdf"):
                    if language in body:
                        print(f"\n{printable(body['file'])}, {language.upper()}:\n{printable(body[language])}")
    # What a leaky mesh has not is an error only where it was asked for.
    if problems and (kilograms is not None or densities is not None or xml):
        raise InputError(problems)


def _check_options(
    files: list[Path],
    kilograms: float | None,
    out: Path | None,
    xml: bool,
    split: Path | None,
    densities: list[float] | None,
) -> None:
    from botz.models.meshes.mesh import WRITABLE

    problems = []
    if kilograms is not None and not kilograms > 0.0:
        problems.append(Problem(f"{kilograms:g} kg; needs a positive mass", key="--mass"))
    if xml and kilograms is None and densities is None:
        problems.append(Problem("needs --mass: an <inertial> block holds it", key="--xml"))
    if densities is not None and split is None:
        problems.append(Problem("needs --split: the mass of one part is --mass", key="--density"))
    if densities is not None and kilograms is not None:
        problems.append(Problem("says the mass as --mass does; leave one of them out", key="--density"))
    if split is not None and len(files) > 1:
        problems.append(Problem(f"one folder for {len(files)} files; give one file at a time", key="--split"))
    if split is not None and out is not None:
        problems.append(Problem("writes one mesh, --split one per body; leave one of them out", key="--out"))
    if out is not None and len(files) > 1:
        problems.append(Problem(f"one name for {len(files)} files; give one file at a time", key="--out"))
    if out is not None and out.suffix.lower() not in WRITABLE:
        message = f"{out.name!r} ends like no mesh that can be written; choose from: {', '.join(WRITABLE)}"
        problems.append(Problem(message, key="--out"))
    if problems:
        raise InputError(problems)


def _examined(
    file: Path,
    unit: Unit,
    kilograms: float | None,
    repair: bool,
    simplify: float | None,
    out: Path | None,
    xml: bool,
    split: Path | None,
    densities: list[float] | None,
) -> tuple[dict[str, Any], list[Problem]]:
    """The report of a file, and why it has no mass properties where it has none."""
    from botz.models.meshes import mesh as meshes
    from botz.models.meshes.repair import body_count
    from botz.models.meshes.repair import repair as mend

    scale = meshes.UNITS[unit.value]
    part = meshes.load_mesh(file, scale)
    report: dict[str, Any] = {"file": str(file), "unit": unit.value}
    report["faces_left_out"] = part.metadata.get(meshes.LEFT_OUT, 0)
    if repair:
        try:
            report["repaired"] = mend(part)
        except InputError as error:
            raise InputError([Problem(one.message, file=file) for one in error.problems]) from None
    if simplify is not None:
        before = len(part.faces)
        part = meshes.simplified(part, simplify)
        report["simplified"] = {"from_faces": before, "to_faces": len(part.faces)}
    low, high = part.bounds
    report |= {
        "watertight": meshes.is_closed(part),
        "holes": meshes.hole_count(part),
        "open_edges": len(meshes.open_edges(part)),
        "faces": len(part.faces),
        "vertices": len(part.vertices),
        "bodies": body_count(part),
        "box_m": {"min": low.tolist(), "max": high.tolist(), "size": (high - low).tolist()},
        "area_m2": float(part.area),
    }
    report["notes"] = _notes(part, report, unit)
    problems: list[Problem] = []
    if split is not None:
        from botz.cli.mesh_split import split as split_up

        report["split"], problems = split_up(part, file, split, 1 / scale, kilograms, densities)
        report["notes"] = [note for note in report["notes"] if "bodies: where" not in note]
    try:
        found = meshes.mass_properties(part, 1.0 if kilograms is None else kilograms)
        report |= {"volume_m3": found.volume, "centre_m": found.centre.tolist()}
        if kilograms is not None:
            report |= {
                "mass_kg": kilograms,
                "density_kg_m3": kilograms / found.volume,
                "inertia_kg_m2": found.inertia.tolist(),
                "principal_kg_m2": found.principal.tolist(),
            }
            if xml and split is None:
                report |= {"urdf": urdf_inertial(found), "sdf": sdf_inertial(found)}
    except InputError as error:
        message = error.problems[0].message
        if repair and (complaint := meshes.why_open(part)):
            message = f"{complaint}; the repair could not close it: mend it where it was drawn"
        report["no_volume"] = message
        problems = problems or [Problem(message, file=file)]
    if out is not None:
        report["written"] = str(written(part, out, 1 / scale))
    return report, problems


def _notes(part: trimesh.Trimesh, report: dict[str, Any], unit: Unit) -> list[str]:
    from botz.models.meshes.mesh import signed_volume

    notes = []
    if gone := report["faces_left_out"]:
        left = "1 face was" if gone == 1 else f"{gone} faces were"
        notes.append(f"{left} left out, with corners that are not finite numbers; export the part again")
    longest = max(report["box_m"]["size"])
    if longest > LARGE:
        notes.append(f"it is {longest:.4g} m long; if it was drawn in millimetres, say --unit mm")
    elif longest < SMALL:
        notes.append(f"it is only {longest:.2g} m long; look whether it was drawn in {unit.value}")
    if report["watertight"] and signed_volume(part) < 0.0:
        notes.append("its normals point inwards; --repair turns them, and volume and inertia are right all the same")
    if report["bodies"] > 1 and report["watertight"]:
        notes.append(f"{report['bodies']} bodies: where they overlap, the volume counts twice")
    return notes


def written(part: trimesh.Trimesh, out: Path, scale: float) -> Path:
    """In the unit in which it was read."""
    from botz.record.whole_file import whole_file

    copy = part.copy()
    copy.vertices = copy.vertices * scale
    content: Any = copy.export(file_type=out.suffix.lower().removeprefix("."))
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(out) as unfinished:
            unfinished.write_bytes(content.encode() if isinstance(content, str) else content)
    except OSError as error:
        raise InputError(Problem(f"cannot be written: {error.strerror or error}", file=out)) from error
    return out


def _shown(report: dict[str, Any]) -> dict[str, str]:
    """The report for people."""
    size = " × ".join(f"{value:.6g}" for value in report["box_m"]["size"])
    low, high = (", ".join(f"{value:.6g}" for value in report["box_m"][end]) for end in ("min", "max"))
    holes = f"no: {report['holes']} holes, {report['open_edges']} open edges"
    lines = {"mesh": report["file"]}
    for k, words in enumerate(report.get("repaired", [])):
        lines["repaired" if k == 0 else " " * (k + 1)] = words
    if report.get("repaired") == []:
        lines["repaired"] = "nothing to repair"
    if "simplified" in report:
        lines["simplified"] = f"from {report['simplified']['from_faces']} to {report['simplified']['to_faces']} faces"
    lines |= {
        "watertight": "yes" if report["watertight"] else holes,
        "faces": f"{report['faces']}, {report['vertices']} vertices, {report['bodies']} bodies",
        "box": f"{size} m",
        "from": f"({low}) m",
        "to": f"({high}) m",
        "area": f"{report['area_m2']:.6g} m²",
    }
    if "volume_m3" in report:
        lines["volume"] = f"{report['volume_m3']:.6g} m³"
        lines["centre"] = "(" + ", ".join(f"{value:.6g}" for value in report["centre_m"]) + ") m"
    else:
        lines["volume"] = f"none: {report['no_volume']}"
    if "mass_kg" in report:
        lines["mass"] = f"{report['mass_kg']:.6g} kg, {report['density_kg_m3']:.4g} kg/m³"
        for k, row in enumerate(report["inertia_kg_m2"]):
            name = "inertia" if k == 0 else f"{'':7}" + " " * k
            lines[name] = "  ".join(f"{value:13.5e}" for value in row) + ("  kg·m²" if k == 0 else "")
        lines["principal"] = "  ".join(f"{value:13.5e}" for value in report["principal_kg_m2"]) + "  kg·m²"
    elif "volume_m3" in report and "split" not in report:
        lines["inertia"] = "give --mass"
    for k, note in enumerate(report["notes"]):
        lines["note" if k == 0 else "note" + " " * k] = note
    if "written" in report:
        lines["written"] = f"{report['written']}, in {report['unit']}"
    elif "split" in report:
        count = len(report["split"])
        lines["written"] = f"{count} {'body' if count == 1 else 'bodies'}, in {report['unit']}"
    elif "repaired" in report or "simplified" in report:
        lines["written"] = "nothing; give --out FILE to keep the mesh"
    return lines


def _entries(found: MassProperties) -> dict[str, str]:
    """The tensor's six entries as text; what is 0 but for rounding is 0."""
    i = found.inertia
    values = {"ixx": i[0, 0], "ixy": i[0, 1], "ixz": i[0, 2], "iyy": i[1, 1], "iyz": i[1, 2], "izz": i[2, 2]}
    return {name: _text(value, i.trace()) for name, value in values.items()}


def _centre(found: MassProperties) -> str:
    size = (found.inertia.trace() / found.mass) ** 0.5
    return " ".join(_text(value, size) for value in found.centre)


def _text(value: float, size: float) -> str:
    return "0" if abs(value) < 1e-12 * size else f"{value:.9g}"


def urdf_inertial(found: MassProperties) -> str:
    """The block of a URDF link."""
    tensor = " ".join(f'{name}="{value}"' for name, value in _entries(found).items())
    return (
        f'<inertial>\n  <origin xyz="{_centre(found)}" rpy="0 0 0"/>\n  <mass value="{found.mass:.9g}"/>\n'
        f"  <inertia {tensor}/>\n</inertial>"
    )


def sdf_inertial(found: MassProperties) -> str:
    """The block of an SDF link."""
    tensor = "\n".join(f"    <{name}>{value}</{name}>" for name, value in _entries(found).items())
    return (
        f"<inertial>\n  <pose>{_centre(found)} 0 0 0</pose>\n  <mass>{found.mass:.9g}</mass>\n"
        f"  <inertia>\n{tensor}\n  </inertia>\n</inertial>"
    )


# --- botz thrust-fit -------------------------------------------------------------------------------------------------


def thrust_fit(
    table: Annotated[
        str, typer.Argument(metavar="TABLE.csv", help="Speeds and forces with units in the first row; or: lophorina.")
    ],
    speed_column: Annotated[
        str | None, typer.Option(help="Name of the column of speeds; the first in rpm or rad/s by default.")
    ] = None,
    force_column: Annotated[
        list[str] | None, typer.Option(help="Name of a column of forces; may be repeated; all by default.")
    ] = None,
    out: Annotated[Path | None, typer.Option("-o", "--out", help="Picture of data and fits: PNG, SVG or PDF.")] = None,
    as_json: AsJson = False,
) -> None:
    """Fit the thrust of a propeller to measurements: K of f = K ω² in two ways, and the curve a + b ω + c ω²."""
    from botz.models.thrust_fit import propeller_lines, read_thrust_table, thrust_fits

    if out is not None:
        from botz.view.style import picture_format

        picture_format(out)
    found = read_thrust_table(_table_file(table), speed_column=speed_column, force_columns=force_column or ())
    fits = [thrust_fits(found.speed, column.force) for column in found.columns]
    if out is not None:
        from botz.view.thrust_plot import draw_thrust

        draw_thrust(found, fits, out)
    if as_json:
        columns = [
            {"column": column.name, "fits": [{**_plain(fit), "yaml": propeller_lines(fit)} for fit in row]}
            for column, row in zip(found.columns, fits, strict=True)
        ]
        picture = {} if out is None else {"plot": str(out)}
        speeds = {"speed_column": found.speed_column, "rows": len(found.speed)}
        print_json({"table": str(found.file), **speeds, "columns": columns, **picture})
    else:
        _print_fits(found, fits)
        if out is not None:
            print(f"plot: {out}")


def _table_file(text: str) -> Path:
    """A file, or the table that comes with a robot of the library."""
    from botz.scenario.library import library_folder

    shipped = library_folder() / "robots" / text / "thrust.csv"
    return shipped if text.isidentifier() and shipped.is_file() and not Path(text).exists() else Path(text)


def _plain(fit: ThrustFit) -> dict[str, Any]:
    law: dict[str, Any] = {"method": fit.method, "coefficient": fit.coefficient, "curve": list(fit.curve)}
    return {**law, "rms_n": fit.rms, "largest_n": fit.largest, "largest_at_rad_s": fit.largest_at}


def _print_fits(table: ThrustTable, fits: list[list[ThrustFit]]) -> None:
    from botz.models.thrust_fit import propeller_lines

    names = {"sums": "K = Σf / Σω²", "least-squares": "K by least squares", "curve": "a + b ω + c ω²"}
    low, high = float(table.speed.min()), float(table.speed.max())
    for k, (column, row) in enumerate(zip(table.columns, fits, strict=True)):
        print(f"{chr(10) if k else ''}{printable(column.name)}: {len(table.speed)} rows, {low:.4g} … {high:.4g} rad/s")
        for fit in row:
            print(f"  {names[fit.method]:<18}  {propeller_lines(fit)}")
            largest = f"largest {fit.largest:+.3g} N at {fit.largest_at:.4g} rad/s"
            print(f"  {'':<18}  data − fit: rms {fit.rms:.3g} N, {largest}")
        if len(row) < 3:
            print(f"  {names['curve']:<18}  needs three different speeds")
    print(
        "\nIn a robot file:  elements: {rotor: {type: propeller, joint: JOINT, " + propeller_lines(fits[-1][0]) + "}}"
    )
