"""The pictures of docs/plots.md and docs/monitoring.md, by the code that stands there.

python -m benchmarks.gallery
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

DOCS = Path(__file__).parents[1] / "docs"
PAGES = ("plots", "monitoring")


def draw(name: str) -> None:
    """Run the code of a page, and keep its pictures in a folder of the page's name."""
    page, folder = DOCS / f"{name}.md", DOCS / name
    folder.mkdir(exist_ok=True)
    blocks = re.findall(r"^```python\n(.*?)^```$", page.read_text("utf-8"), re.M | re.S)
    names: dict[str, object] = {}
    with tempfile.TemporaryDirectory() as place:
        os.chdir(place)
        for block in blocks:
            exec(compile(block, page.name, "exec"), names)
        for picture in sorted(Path(place).glob("*.png")):
            print(f"{name}/{picture.name}: {picture.stat().st_size / 1000:.0f} kB")
            shutil.copy(picture, folder)
        os.chdir(DOCS)


if __name__ == "__main__":
    for page in PAGES:
        draw(page)
