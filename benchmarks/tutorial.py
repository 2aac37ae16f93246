"""The pictures of docs/tutorial.md, of the pages that its code writes.

    WEIGH_DATA=... python -m benchmarks.tutorial

needs chromium, its driver, and what the tests need.
"""

from __future__ import annotations

import contextlib
import os
import re
import tempfile
from pathlib import Path

from PIL import Image
from tests.browser import Browser

PAGE = Path(__file__).parents[1] / "docs" / "tutorial.md"
COLOURS = 32
WEIGHTS = "const all = document.querySelector('details'); all.open = true; all.scrollIntoView()"
"""Opens the first folded part of a report, with every weight."""


def main() -> None:
    text, folder = PAGE.read_text("utf-8"), PAGE.with_suffix("")
    folder.mkdir(exist_ok=True)
    fragment = re.search(r"^ +calculator\.html(#\S+)$", text, re.M)
    assert fragment is not None
    with tempfile.TemporaryDirectory() as place:
        write_pages(text, Path(place))
        browser = Browser(Path(place, "browser"))
        with contextlib.closing(browser):
            form, account = Path(place, "calculator.html"), Path(place, "report.html")
            shoot(browser, form, fragment[1], (1120, 900), folder / "calculator.png")
            shoot(browser, form, fragment[1], (390, 780), folder / "phone.png")
            shoot(browser, account, "", (1000, 900), folder / "report.png", WEIGHTS)
    for picture in sorted(folder.glob("*.png")):
        print(f"{picture.name}: {picture.stat().st_size / 1000:.0f} kB")


def write_pages(text: str, place: Path) -> None:
    """Run the tutorial."""
    names: dict[str, object] = {}
    with contextlib.chdir(place), open(os.devnull, "w") as nowhere:
        for block in re.findall(r"^```python\n(.*?)^```$", text, re.M | re.S):
            with contextlib.redirect_stdout(nowhere):
                exec(compile(block, PAGE.name, "exec"), names)


def shoot(
    browser: Browser,
    page: Path,
    fragment: str,
    size: tuple[int, int],
    picture: Path,
    script: str = "",
) -> None:
    """What the browser shows after a script, in few colours."""
    browser.width(*size)
    browser.open(page, fragment)
    browser.run(script)
    browser.driver.save_screenshot(str(picture))
    Image.open(picture).convert("RGB").quantize(COLOURS).save(picture, optimize=True)


if __name__ == "__main__":
    main()
