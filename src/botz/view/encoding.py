"""Pictures to a file: mp4, webm, gif, or one PNG."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from botz.errors import ArgumentProblem, InputError
from botz.record.whole_file import whole_file

FORMATS = (".mp4", ".webm", ".gif", ".png")
CODECS = {
    ".mp4": ("libx264", {"crf": "20", "preset": "veryfast"}),
    ".webm": ("libvpx-vp9", {"crf": "32", "b": "0", "deadline": "realtime", "cpu-used": "6"}),
}
Encode = Callable[[np.ndarray], None]


def check_format(path: Path, key: str = "out") -> None:
    if path.suffix.lower() not in FORMATS:
        raise InputError(ArgumentProblem(f"cannot write {path.name!r}: it must end in {', '.join(FORMATS)}", key=key))


@contextmanager
def open_encoder(path: Path, size: tuple[int, int], fps: float) -> Iterator[Encode]:
    """A function that takes one picture (rows, columns, 3) after the other. The file appears whole, or not at all."""
    check_format(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    kinds: dict[str, Any] = {".gif": gif, ".png": png}
    with whole_file(path) as unfinished, kinds.get(path.suffix.lower(), film)(unfinished, size, fps) as encode:
        yield encode


@contextmanager
def film(path: Path, size: tuple[int, int], fps: float) -> Iterator[Encode]:
    import av

    codec, options = CODECS[path.suffix.lower()]
    with av.open(str(path), "w") as container:
        stream: Any = container.add_stream(codec, rate=Fraction(fps).limit_denominator(1001), options=options)
        stream.width, stream.height, stream.pix_fmt = size[0], size[1], "yuv420p"

        def encode(picture: np.ndarray) -> None:
            for packet in stream.encode(av.VideoFrame.from_ndarray(np.ascontiguousarray(picture), format="rgb24")):
                container.mux(packet)

        yield encode
        for packet in stream.encode():
            container.mux(packet)


@contextmanager
def gif(path: Path, size: tuple[int, int], fps: float) -> Iterator[Encode]:
    from PIL import Image

    del size
    pictures: list[Any] = []

    def encode(picture: np.ndarray) -> None:
        # A palette for all frames flickers less and is smaller than one for each.
        image = Image.fromarray(picture)
        if pictures:
            pictures.append(image.quantize(palette=pictures[0], dither=Image.Dither.FLOYDSTEINBERG))
        else:
            # By the range of colours and not by how common they are: a robot is small, and ground and sky are not.
            pictures.append(image.quantize(256, method=Image.Quantize.MAXCOVERAGE))

    yield encode
    if pictures:
        hundredths = max(2, round(100.0 / fps))  # viewers show no shorter ones
        pictures[0].save(
            path, save_all=True, append_images=pictures[1:], duration=10 * hundredths, loop=0, optimize=False
        )


@contextmanager
def png(path: Path, size: tuple[int, int], fps: float) -> Iterator[Encode]:
    """The last picture that is given."""
    from PIL import Image

    del size, fps
    last: list[np.ndarray] = []

    def encode(picture: np.ndarray) -> None:
        last[:] = [picture.copy()]

    yield encode
    if last:
        Image.fromarray(last[0]).save(path)
