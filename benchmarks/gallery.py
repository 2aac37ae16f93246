"""The pictures of docs/plots.md, by the code that stands there.

python -m benchmarks.gallery
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

PAGE = Path(__file__).parents[1] / "docs" / "plots.md"


def main() -> None:
    folder = PAGE.with_suffix("")
    folder.mkdir(exist_ok=True)
    blocks = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text("utf-8"), re.M | re.S)
    os.chdir(folder)
    names: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, PAGE.name, "exec"), names)
    for picture in sorted(folder.glob("*.png")):
        print(f"{picture.name}: {picture.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
