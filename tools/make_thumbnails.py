"""Makes the small pictures of the lab's library of the documentation's (tools/make_screenshots.py).

python tools/make_thumbnails.py
"""

from __future__ import annotations

from pathlib import Path

from PIL import Image

from botz.scenario import library
from botz.view.lab.catalogue import PICTURES

ROOT = Path(__file__).resolve().parent.parent
LARGE = ROOT / "docs" / "pictures" / "lab"
SIZE = (168, 96)
SEEN = (0.18, 0.10, 0.82, 0.86)
"""Part of a screenshot between its panels: left, top, right, bottom."""


def main() -> None:
    PICTURES.mkdir(exist_ok=True)
    for name in library.names("scenario"):
        large = LARGE / f"{name}.png"
        if not large.is_file():
            print(f"no picture of {name}")
            continue
        with Image.open(large) as image:
            wide, high = image.size
            box = (int(SEEN[0] * wide), int(SEEN[1] * high), int(SEEN[2] * wide), int(SEEN[3] * high))
            part = image.convert("RGB").crop(box)
        part.resize(SIZE, Image.Resampling.LANCZOS).save(PICTURES / f"{name}.webp", quality=78)


if __name__ == "__main__":
    main()
