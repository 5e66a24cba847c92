"""Who imports whom in Botz: the rooms, their levels, and the picture of `docs/architecture.md`.

    python tools/import_graph.py            draws docs/pictures/architecture.png
    python tools/import_graph.py --print    the rooms that each room imports

A room is a folder or module directly under `src/botz`. Late imports inside functions count as well, and so do those
for type checkers alone: they are part of what a reader must know. What a record names as `module:name`
(registry.py) does not: the room of the record need not know what it names.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "botz"
PICTURE = ROOT / "docs" / "pictures" / "architecture.png"
LEVELS = {
    "errors": 0, "child": 0, "interrupts": 0, "private_folder": 0, "kernel_files": 0, "kernel_cache": 1, "registry": 1,
    "scenario": 2, "kernels": 2, "transforms": 2, "channels": 3, "rotations": 3, "physics": 4, "terrain": 4,
    "models": 5, "robots": 5, "scene": 6, "engines": 6, "control": 7, "sim": 8, "record": 9, "run": 10, "replay": 11,
    "endpoints": 12, "view": 13, "__init__": 14, "verify": 15, "bench": 15, "cli": 16, "__main__": 17,
}  # fmt: skip
"""A room may import rooms of a lower level, and itself. `import botz` is the level of `__init__`."""
DETAILS = {
    "errors", "child", "interrupts", "private_folder", "kernel_files", "kernel_cache", "registry", "kernels",
    "transforms", "rotations", "channels", "__main__",
}  # fmt: skip
"""Small modules that nearly every room imports: the picture names them in one box."""
HOLDS = {
    "scenario": "what a user writes", "terrain": "height grids", "models": "URDF, SDF, MJCF",
    "physics": "equations", "robots": "arms, wheeled robots", "scene": "what is drawn",
    "engines": "model, state, step", "control": "controllers", "sim": "loop, clock, snapshots",
    "record": "MCAP files", "run": "loop and recorder", "replay": "run it again",
    "__init__": "for Python", "endpoints": "the network", "view": "plots, films, the lab",
    "verify": "checks of the physics", "bench": "speed", "cli": "commands",
}  # fmt: skip


def room_of(module: str) -> str:
    """`physics` of `botz.physics.arm.dh`; `__init__` of `botz` itself and of the names it offers."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else "__init__"


def imports_of(file: Path) -> Iterator[tuple[int, str]]:
    """Line and room of every import of ours in a file, at its top or inside a function."""
    module = ".".join(["botz", *file.relative_to(PACKAGE).with_suffix("").parts])
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            for name in node.names:
                if name.name.split(".")[0] == "botz":
                    yield node.lineno, room_of(name.name)
        elif isinstance(node, ast.ImportFrom):
            source = node.module or ""
            if node.level:
                source = ".".join([*module.split(".")[: -node.level], *filter(None, [source])])
            if source == "botz":
                for name in node.names:
                    yield node.lineno, name.name if name.name in LEVELS else "__init__"
            elif source.startswith("botz."):
                yield node.lineno, room_of(source)


def files_of(room: str) -> list[Path]:
    return sorted(f for f in PACKAGE.rglob("*.py") if f.relative_to(PACKAGE).parts[0].removesuffix(".py") == room)


def graph() -> dict[str, set[str]]:
    """The rooms that each room imports."""
    return {room: {other for file in files_of(room) for _, other in imports_of(file)} - {room} for room in LEVELS}


def essential(edges: dict[str, set[str]]) -> dict[str, set[str]]:
    """Without the imports that follow from others: `cli` imports `run`, which imports `record`."""

    def reach(room: str) -> set[str]:
        return {far for other in edges[room] for far in {other, *reach(other)}}

    return {room: others - {far for other in others for far in reach(other)} for room, others in edges.items()}


def draw(path: Path) -> None:
    from matplotlib.figure import Figure
    from matplotlib.patches import FancyBboxPatch

    whole = graph()
    edges = essential({room: others - DETAILS for room, others in whole.items() if room not in DETAILS})

    def height(room: str) -> int:
        return 1 + max((height(other) for other in edges[room]), default=0)

    rows: dict[int, list[str]] = {}
    for room in sorted(edges, key=lambda name: LEVELS[name]):
        rows.setdefault(height(room), []).append(room)
    places: dict[str, tuple[float, float]] = {}
    for row in sorted(rows):
        # Each room above the middle of what it imports, as far as its neighbours leave room.
        wanted = {
            room: sum(places[other][0] for other in edges[room]) / len(edges[room]) if edges[room] else 0.0
            for room in rows[row]
        }
        order = sorted(rows[row], key=lambda room: wanted[room])
        middle = sum(wanted.values()) / len(wanted)
        for index, room in enumerate(order):
            places[room] = (middle + 2.5 * (index - 0.5 * (len(order) - 1)), 1.25 * row)
    figure = Figure(figsize=(9.0, 0.92 * max(rows) + 0.9), dpi=130, facecolor="white")
    axes = figure.add_axes((0.01, 0.01, 0.98, 0.98))
    for room, others in edges.items():
        for other in others:
            (x, y), (u, v) = places[room], places[other]
            arrow = {"arrowstyle": "-|>", "color": "#9aa3ad", "shrinkA": 0, "shrinkB": 0, "lw": 1.0}
            axes.annotate("", (u, v + 0.33), (x, y - 0.33), arrowprops=arrow, zorder=1)
    for room, (x, y) in places.items():
        box = FancyBboxPatch((x - 0.95, y - 0.30), 1.9, 0.60, boxstyle="round,pad=0,rounding_size=0.1", zorder=2)
        box.set(facecolor="#eef3f8", edgecolor="#5b7fa6")
        axes.add_patch(box)
        name = "botz" if room == "__init__" else room
        axes.text(x, y + 0.10, name, ha="center", va="center", fontsize=10.5, weight="bold", zorder=3)
        axes.text(x, y - 0.15, HOLDS[room], ha="center", va="center", fontsize=7.5, color="#444", zorder=3)
    names = ", ".join(sorted(DETAILS - {"__main__"}))
    axes.text(0.5, 0.02, f"below all: {names}", transform=axes.transAxes, ha="center", fontsize=8, color="#444")
    xs = [x for x, _ in places.values()]
    axes.set_xlim(min(xs) - 1.4, max(xs) + 1.4)
    axes.set_ylim(0.45, 1.25 * max(rows) + 0.6)
    axes.axis("off")
    figure.savefig(path, metadata={"Software": None})


def main() -> int:
    if "--print" in sys.argv[1:]:
        for room, others in graph().items():
            print(f"{room}: {', '.join(sorted(others))}")
    else:
        draw(PICTURE)
    return 0


if __name__ == "__main__":
    sys.exit(main())
