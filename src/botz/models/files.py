"""Robot models from files and into files, by their endings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from botz.errors import InputError, Problem
from botz.models.meshes.files import MissingMeshes
from botz.models.robot_model import RobotModel
from botz.models.xml_tree import read_xml
from botz.scenario.multibody.schema import MultibodyRobot

ENDINGS = {".urdf": "urdf", ".xacro": "urdf", ".sdf": "sdf", ".world": "sdf"}
"""Of files to read; what an .xml holds, its first element tells."""
ROOTS = {"robot": "urdf", "mujoco": "mjcf", "sdf": "sdf"}
WRITTEN = {".urdf": "urdf", ".sdf": "sdf", ".xml": "mjcf"}
CHOICES = ".urdf, .xacro, .sdf, .world or .xml (MJCF)"


def load_model(
    file: Path,
    packages: Mapping[str, str] | None = None,
    *,
    model: str | None = None,
    check_inertia: bool = True,
    fixed: bool = False,
    missing_meshes: MissingMeshes = "ignore-visual",
) -> RobotModel:
    """The model of a file; raises InputError with all problems.

    `packages` are folders by the names of package:// references; `model` names one of several in an SDF file. Without
    `check_inertia` links are read as they are, for tools that report or fill what is missing; with `fixed` the root
    needs no mass.
    """
    file = Path(file)
    form = _format(file)
    if model is not None and form != "sdf":
        raise InputError(Problem(f"'model' names one of several in an SDF file; this is {form.upper()}", file=file))
    # Readers are large, MuJoCo's more so: only the one that is needed is loaded.
    match form:
        case "urdf":
            from botz.models.urdf.reader import read_urdf

            return read_urdf(file, packages, check_inertia=check_inertia, fixed=fixed, missing_meshes=missing_meshes)
        case "sdf":
            from botz.models.sdf.reader import read_sdf

            return read_sdf(
                file, packages, model, check_inertia=check_inertia, fixed=fixed, missing_meshes=missing_meshes
            )
        case _:
            from botz.models.mjcf.reader import read_mjcf

            return read_mjcf(file)


def loaded(
    robot: MultibodyRobot,
    folder: Path | None = None,
    packages: Mapping[str, str] | None = None,
    *,
    check_inertia: bool = True,
) -> RobotModel:
    """The model of a robot's `file`, which is relative to `folder`; `packages` are laid over the robot's."""
    assert robot.file is not None
    return load_model(
        (folder or Path()) / robot.file,
        {**robot.packages, **(packages or {})},
        model=robot.model,
        check_inertia=check_inertia,
        fixed=robot.base == "fixed",
        missing_meshes=robot.missing_meshes,
    )


def _format(file: Path) -> str:
    ending = file.suffix.lower()
    if ending == ".xml":
        root = read_xml(file)
        if root.tag not in ROOTS:
            message = f"begins with <{root.tag}>; a model file begins with <robot>, <sdf> or <mujoco>"
            raise InputError(root.problem(message))
        return ROOTS[root.tag]
    if ending not in ENDINGS:
        said = f"the ending {ending!r}" if ending else "no ending"
        raise InputError(Problem(f"has {said}; a model file ends in {CHOICES}", file=file))
    return ENDINGS[ending]


def save_model(model: RobotModel, path: Path) -> list[Problem]:
    """Write the model in the format of the path's ending, its meshes beside it; gives what the format could not hold.

    Raises InputError where the model cannot be said in links and joints, or the file cannot be written.
    """
    path = Path(path)
    ending = path.suffix.lower()
    if ending not in WRITTEN:
        raise InputError(Problem(f"has the ending {ending!r}; models are written as .urdf, .sdf or .xml", file=path))
    if model.native is not None:
        from botz.models.mjcf.reader import convertible

        model = convertible(model)
    return list(_writer(WRITTEN[ending])(model, path) or [])


def _writer(form: str) -> Callable[[RobotModel, Path], list[Problem] | None]:
    if form == "urdf":
        from botz.models.urdf.writer import write_urdf

        return write_urdf
    if form == "sdf":
        from botz.models.sdf.writer import write_sdf

        return write_sdf
    from botz.models.mjcf.writer import write_mjcf

    return write_mjcf
