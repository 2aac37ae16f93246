"""Pictures of the display, the report and the calculator, made by one command and looked at.

python -m benchmarks.pictures            # or: make pictures
python -m benchmarks.pictures --only heloc --rows 5000

Three models: `census` (mixed columns, thirteen of the census set), `heloc` (23 numeric columns with
special codes, generated) and `pairs` (forty pairs). Each gives the display, the report on a wide
screen, on a phone, in the dark and on paper, and the calculator. `editor` is the editor in the
browser. They need Chromium and WEIGH_DATA. All are written to build/pictures; docs/pictures has
those that pages show.
"""

from __future__ import annotations

import argparse
import os
import shutil
import tempfile
import time
from base64 import b64decode
from collections.abc import Callable
from contextlib import chdir
from io import BytesIO
from pathlib import Path
from queue import Queue
from threading import Thread
from typing import Any

import matplotlib

matplotlib.use("Agg")

import numpy as np
import pyarrow as pa

import weigh
from weigh.frames import read_file
from weigh.workbench import Session, edit_in_browser

ROOT = Path(__file__).parents[1]
FOLDER, DOCS = ROOT / "build" / "pictures", ROOT / "docs" / "pictures"
SHOWN = ("heloc-report.png", "editor.png")
"""Pictures of the documentation."""

DATA = Path(os.environ.get("WEIGH_DATA", Path(__file__).parents[2] / "shared" / "data"))
COLUMNS = (
    "age", "class_of_worker", "education", "wage_per_hour", "marital_stat", "major_industry_code",
    "major_occupation_code", "sex", "capital_gains", "capital_losses",
    "dividends_from_stocks", "num_persons_worked_for_employer", "weeks_worked_in_year",
)  # fmt: skip
TALLEST = 2000
"""Pixels of a picture; a longer page is cut."""


def census(rows: int) -> tuple[Any, pa.Table, str]:
    """Mixed columns: the census set."""
    table = read_file(str(DATA / "census_income_kdd.csv.gz"))
    picked = np.random.default_rng(0).permutation(table.num_rows)[: 2 * rows]
    return weigh.EducatedNB(random_state=0), table.select([*COLUMNS, "class"]).take(picked), "class"


def heloc(rows: int) -> tuple[Any, pa.Table, str]:
    """23 numbers of which some rows hold codes in place of a measurement."""
    rng = np.random.default_rng(0)
    n, columns, total = 2 * rows, {}, np.zeros(2 * rows)
    for j in range(23):
        x = rng.gamma(2.0 + j % 5, 10.0, n).round()
        total += (0.5 / (1 + j)) * (-1) ** j * (x - x.mean()) / x.std()
        odd = rng.random(n)
        columns[f"measure {j + 1}"] = np.where(odd < 0.05, -9, np.where(odd < 0.08, -8, x))
    columns["risk"] = np.where(rng.random(n) < 1 / (1 + np.exp(-total)), "Bad", "Good")
    codes = {name: [-9, -8] for name in columns if name != "risk"}
    return weigh.EducatedNB(random_state=0, special_values=codes), pa.table(columns), "risk"


def pairs(rows: int) -> tuple[Any, pa.Table, str]:
    """Twelve categories, and forty pairs of them."""
    rng = np.random.default_rng(0)
    n, m = 2 * rows, 12
    codes = rng.integers(0, 4, (n, m))
    total = sum(0.5 * np.cos(codes[:, j] * codes[:, j + 1]) for j in range(m - 1))
    columns: dict[str, Any] = {
        f"trait {j + 1}": [f"kind {v}" for v in codes[:, j]] for j in range(m)
    }
    columns["y"] = np.where(rng.random(n) < 1 / (1 + np.exp(-(total - total.mean()))), "yes", "no")
    return weigh.EducatedNB(random_state=0, pairs=40), pa.table(columns), "y"


SETS: dict[str, Callable[[int], tuple[Any, pa.Table, str]]] = {
    "census": census, "heloc": heloc, "pairs": pairs,
}  # fmt: skip


def draw(name: str, rows: int, camera: Any, folder: Path) -> None:
    """Every picture of one model."""
    learner, table, target = SETS[name](rows)
    half = table.num_rows // 2
    model = learner.fit(table.slice(0, half), target)
    display = weigh.EvidenceDisplay.from_estimator(model)
    display.figure_.savefig(folder / f"{name}-display.png", dpi=70)
    with tempfile.TemporaryDirectory() as place:
        report, form = Path(place, "report.html"), Path(place, "calculator.html")
        weigh.report(model, table.slice(half), target, path=report, examples=2)
        weigh.calculator(model, path=form)
        take(camera, report, folder / f"{name}-report.png")
        take(camera, report, folder / f"{name}-report-phone.png", width=390)
        take(camera, report, folder / f"{name}-report-dark.png", scheme="dark")
        n_pages = print_pages(camera, report)
        take(camera, form, folder / f"{name}-calculator.png")
        take(camera, form, folder / f"{name}-calculator-phone.png", width=390)
    print(f"{name}: {len(model.evidence_)} tables, the report prints on {n_pages} pages")


def draw_editor(rows: int, camera: Any, folder: Path) -> None:
    """The editor in the browser, with a change of age that is tried.

    The effects are shown by sex, which is no feature of the model.
    """
    learner, table, target = census(rows)
    model = learner.set_params(pairs=0).fit(table.slice(0, rows).drop_columns("sex"), target)
    rest = table.slice(rows)
    folder = folder.absolute()
    with tempfile.TemporaryDirectory() as place, chdir(place):
        session = Session(weigh.edit(model, rest, target), rest, Path("new.json"), by="sex")
        addresses: Queue[str] = Queue()
        ends = {"title": "Edit model.json", "tell": addresses.put}
        Thread(target=edit_in_browser, args=(session,), kwargs=ends, daemon=True).start()
        camera.media()
        camera.width(1280)
        camera.driver.get(addresses.get(timeout=60))
        for step in TRIED:
            time.sleep(3)
            camera.run(step)
        time.sleep(3)
        photograph(camera, folder / "editor.png", 1280, 1000)


TRIED = (
    "[...document.querySelectorAll('#tables button')].find((b) => b.textContent === 'age').click()",
    "document.querySelector('[data-do=rise]').click()",
)
"""What is done on the editor's page before it is photographed."""


def take(camera: Any, page: Path, picture: Path, width: int = 1280, scheme: str = "light") -> None:
    """A picture of a page."""
    camera.media(scheme=scheme)
    camera.width(width)
    camera.open(page)
    height = min(int(camera.run("return document.documentElement.scrollHeight")), TALLEST)
    photograph(camera, picture, width, height)


def photograph(camera: Any, picture: Path, width: int, height: int) -> None:
    """What the browser shows, at half of its size and in few colours, so that it is small."""
    from PIL import Image

    camera.width(width, height)
    shot = Image.open(BytesIO(camera.driver.get_screenshot_as_png())).convert("RGB")
    small = shot.resize((shot.width // 2, shot.height // 2), Image.Resampling.LANCZOS)
    small.quantize(96, Image.Quantize.MAXCOVERAGE).save(picture, optimize=True)


def print_pages(camera: Any, page: Path) -> int:
    """How many pages a report takes on paper."""
    from pypdf import PdfReader

    camera.media("")
    camera.open(page)
    asked = {"preferCSSPageSize": True, "printBackground": True}
    found = camera.driver.execute_cdp_cmd("Page.printToPDF", asked)["data"]
    return len(PdfReader(BytesIO(b64decode(found))).pages)


def main() -> None:
    """Draw all sets, or one."""
    from tests.browser import Browser

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=[*SETS, "editor"])
    parser.add_argument("--rows", type=int, default=2500, help="rows to fit, and as many to judge")
    given = parser.parse_args()
    FOLDER.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as profile:
        camera = Browser(Path(profile))
        try:
            for name in [given.only] if given.only else [*SETS, "editor"]:
                if name == "editor":
                    draw_editor(given.rows, camera, FOLDER)
                else:
                    draw(name, given.rows, camera, FOLDER)
        finally:
            camera.close()
    for picture in sorted(FOLDER.glob("*.png")):
        print(f"{picture.name}: {picture.stat().st_size / 1000:.0f} kB")
        if picture.name in SHOWN:
            shutil.copy(picture, DOCS)


if __name__ == "__main__":
    main()
