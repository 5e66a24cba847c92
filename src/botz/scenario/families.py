"""The robot families that a scenario can name: one record each, `family.py` beside the family's schema.

Every list in the program is made from these records: engines, schemas, scenes, plots, `botz verify`, `botz bench`, the
lab and the tables of the documentation. A record names code as `module:name`, which is imported when it is first used,
so that a command loads the schema of its own family only.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from botz.registry import discovered, imported

ENTRY_POINTS = "botz.families"
"""The group in which an installed package names its `Family`."""


@dataclass(frozen=True, kw_only=True)
class Capability:
    """What can be verified and measured."""

    name: str
    """In `botz verify` and `botz bench`; that of a family also names its engine."""
    checks: str | None = None
    """`botz verify`: called with the number of random samples."""
    benchmark: str | None = None
    """`botz bench`: called without arguments."""


@dataclass(frozen=True, kw_only=True)
class Family(Capability):
    """All that the program knows of one robot family."""

    title: str
    """What its robots are, in lists."""
    place: int
    """Where it stands in lists; families of other packages come after those of Botz."""
    scenario_type: str
    """Its ScenarioBase."""
    robot_type: str
    """Its schema of robot files."""
    engine_type: str
    """Its Engine; `build(scenario, user_elements)` makes one."""
    scene_module: str
    """How it looks: `build(scenario, seen) -> Scene`, and `described(scenario) -> list[RobotDescription]` where a
    recording is to say more of the robots than the scene does."""
    overview: str | None = None
    """Picture of a recording, `(recording, title, warning) -> Figure`; None, or a result of None: paths, velocities."""
    path_plot: str | None = None
    """What its paths and quantities are drawn with, `(recording) -> PathPlot`; None: as of any robot."""
    driving: str | None = None
    """How the lab lets a robot be driven, `(scenario, robot, sizes of its commands) -> Hands`; None: each command by
    itself."""
    postures: str | None = None
    """Model of a robot whose other postures and workspace the lab shows, `(robot) -> SerialArm`."""
    keywords: str = ""
    """Words that the lab finds its scenarios by beside names and descriptions, in English and Portuguese."""
    docs: str = ""
    """Its page of the documentation."""
    library: str | None = None
    """Package with folders `scenarios/` and `robots/`; None for the library of Botz."""
    own_process: bool = False
    """Its engine calls a library whose fatal errors end the process; the recorder must be in another one."""

    @cached_property
    def scenario(self) -> Any:
        return imported(self.scenario_type)

    @cached_property
    def robot(self) -> Any:
        return imported(self.robot_type)

    @cached_property
    def engine(self) -> Any:
        return imported(self.engine_type)

    @cached_property
    def scene(self) -> Any:
        return imported(self.scene_module)


class Families(Mapping[str, Family]):
    """By engine name, in the order of lists."""

    @cached_property
    def _records(self) -> dict[str, Family]:
        folders = Path(__file__).parent.glob("*/family.py")
        own = [imported(f"botz.scenario.{file.parent.name}.family:FAMILY") for file in folders]
        records = sorted(own, key=lambda family: family.place)
        records += discovered(ENTRY_POINTS, Family).values()
        return {family.name: family for family in reversed(records)}  # a name of Botz is not taken over

    def __getitem__(self, name: str) -> Family:
        return self._records[name]

    def __iter__(self) -> Iterator[str]:
        return reversed(self._records)

    def __len__(self) -> int:
        return len(self._records)


FAMILIES = Families()
SHARED = (Capability(name="lab", benchmark="botz.bench.lab:run"),)
"""Capabilities that all families share."""


def capabilities() -> dict[str, Capability]:
    """All that can be verified or measured, by name."""
    return {**FAMILIES, **{capability.name: capability for capability in SHARED}}
