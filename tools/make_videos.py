"""Makes the films of the documentation, one of each family, from the code as it is.

    python tools/make_videos.py [NAME …]

Runs each scenario and films it with `botz video` into docs/videos/*.mp4. Needs graphics, as `botz video` does.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import av

import botz
from botz.view.video import render_video

ROOT = Path(__file__).resolve().parent.parent
VIDEOS = ROOT / "docs" / "videos"
SIZE, FPS = (480, 270), 20.0
MOST_BYTES = 400_000
QUALITIES = range(24, 45, 3)
"""Quantizers of x264 to try, the best first, until the film is small enough for a repository."""


@dataclass(frozen=True)
class Film:
    """What a film shows: seconds of a scenario, at a speed, by a camera."""

    scenario: str
    start: float
    end: float
    speed: float = 1.0
    camera: str | dict[str, Any] = "chase"
    target: str | None = None


FILMS = {
    "vivi": Film("vivi-rough", 13.0, 20.0),
    "soccer": Film("soccer-match", 0.0, 7.0, camera="field"),
    "arm": Film("titan4-pick", 0.5, 17.5, 2.5, camera={"eye": [2.5, 1.65, 0.7], "target": [0.6, 0.3, 0.05]}),
    "lophorina": Film("lophorina-waypoints", 1.0, 15.0, 2.0),
    "wheeled": Film("wheeled-parade", 0.0, 20.0, 2.5, target="car"),
}


def main() -> int:
    parser = argparse.ArgumentParser(description="Makes the films of the documentation.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"which of {', '.join(FILMS)}; all by default")
    names = parser.parse_args().names or list(FILMS)
    if unknown := [name for name in names if name not in FILMS]:
        parser.error(f"no film {unknown[0]!r}; there are {', '.join(FILMS)}")
    VIDEOS.mkdir(exist_ok=True)
    for name in names:
        path = VIDEOS / f"{name}.mp4"
        make(FILMS[name], path)
        print(f"{path.relative_to(ROOT)}: {path.stat().st_size / 1000:.0f} kB", flush=True)
    return 0


def make(film: Film, path: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        botz.simulate(film.scenario, duration=film.end, out=run)
        drawn = Path(folder) / "drawn.mp4"
        render_video(
            run,
            drawn,
            camera=film.camera,
            target=film.target,
            size=SIZE,
            fps=FPS,
            speed=film.speed,
            start=film.start,
            end=film.end,
        )
        small = drawn
        for quality in QUALITIES:
            if small.stat().st_size < MOST_BYTES:
                break
            small = encoded(drawn, Path(folder) / f"{quality}.mp4", quality)
        else:
            raise RuntimeError(f"{path.name} does not come below {MOST_BYTES} bytes; show less of it")
        path.write_bytes(small.read_bytes())


def encoded(source: Path, path: Path, quality: int) -> Path:
    """The same film with less detail, slowly packed: it is made once and fetched often."""
    with av.open(str(source)) as film, av.open(str(path), "w") as smaller:
        options = {"crf": str(quality), "preset": "slower"}
        stream: Any = smaller.add_stream("libx264", rate=Fraction(FPS).limit_denominator(1001), options=options)
        stream.width, stream.height, stream.pix_fmt = SIZE[0], SIZE[1], "yuv420p"
        for frame in film.decode(video=0):
            frame.pict_type = av.video.frame.PictureType.NONE
            smaller.mux(stream.encode(frame))
        smaller.mux(stream.encode())
    return path


if __name__ == "__main__":
    sys.exit(main())
