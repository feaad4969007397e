"""Makes the pictures small: `python shrink.py FROM TO`.

`FROM/*.png` become pictures of few colours in TO; the pictures in a folder `FROM/NAME/`, in the order of their names,
become the recording `TO/NAME.webp`. A name of the form `03-1500.png` says how many milliseconds the picture stays.
"""

from __future__ import annotations

import sys
from pathlib import Path

from PIL import Image

COLOURS = 96


def shrunk(picture: Path) -> Image.Image:
    """Few colours, without dithering: text stays sharp."""
    with Image.open(picture) as image:
        return image.convert("RGB").quantize(COLOURS, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)


def main() -> None:
    """Shrink all of them."""
    source, target = Path(sys.argv[1]), Path(sys.argv[2])
    target.mkdir(parents=True, exist_ok=True)
    for picture in sorted(source.glob("*.png")):
        shrunk(picture).save(target / picture.name, optimize=True)
    for folder in sorted(path for path in source.iterdir() if path.is_dir()):
        pictures = sorted(folder.glob("*.png"))
        first, *others = [shrunk(picture).convert("RGB") for picture in pictures]
        times = [int(picture.stem.split("-")[1]) for picture in pictures]
        first.save(
            target / f"{folder.name}.webp",
            save_all=True,
            append_images=others,
            duration=times,
            loop=0,
            # Of few colours, it is smaller without losses than with them.
            lossless=True,
            method=4,
        )


if __name__ == "__main__":
    main()
