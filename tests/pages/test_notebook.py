"""What a notebook shows: cells run by a kernel, and each object's text is there, once."""

import ast
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import numpy as np
import pyarrow as pa
import pytest

import weigh

FITTED = """
%matplotlib inline
import weigh
people = weigh.datasets.titanic()
model = weigh.EvidenceNB().fit(people, "Survived")
shown = {
    "sheet": model.balance_sheet({"Class": "3rd", "Sex": "Female", "Age": "Child"}),
    "evidence": model.evidence_,
    "evaluation": weigh.evaluate(model, people, "Survived"),
    "comparison": weigh.compare(
        people, "Survived", [weigh.EvidenceNB(), weigh.PerplexedNB()], cv=2, random_state=0
    ),
    "card": weigh.Scorecard(model),
    "regression": weigh.BoostedNBRegressor(n_rounds=2).fit(
        people.select(["Class", "Sex"]), [float(i % 7) for i in range(2201)]
    ).balance_sheet({"Class": "3rd", "Sex": "Male"}),
    "tree": weigh.C44Classifier().fit(people, "Survived").tree_,
    "path": weigh.C44Classifier().fit(people, "Survived").path(
        {"Class": "3rd", "Sex": "Female", "Age": "Child"}
    ),
}
"""
NAMES = ("sheet", "evidence", "evaluation", "comparison", "card", "regression", "tree", "path")
TOUR = Path(__file__).parents[2] / "examples" / "tour.ipynb"
TEXTS = "{name: [str(one), repr(one), one.to_text(), f'{one}'] for name, one in shown.items()}"


# in a process of its own, whose sockets are not this one's to close
RUN = """
import sys, nbclient, nbformat
nb = nbformat.read(sys.stdin, as_version=4)
manager = nbclient.client.KernelManager(kernel_name="python3")
manager.kernel_spec.argv[0] = sys.executable
nbclient.NotebookClient(nb, km=manager, timeout=300).execute()
nbformat.write(nb, sys.stdout)
"""


def run(cells, folder):
    """The outputs of each cell, run in a kernel of this Python."""
    nb = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    done = subprocess.run(
        [sys.executable, "-c", RUN],
        input=nbformat.writes(nb),
        cwd=folder,
        env=os.environ | {"IPYTHONDIR": str(folder / "ipython"), "FORCE_COLOR": "1"},
        capture_output=True,
        text=True,
        timeout=360,
    )
    assert done.returncode == 0, done.stderr
    return [cell.outputs for cell in nbformat.reads(done.stdout, as_version=4).cells]


@pytest.fixture(scope="module")
def notebook(tmp_path_factory):
    """Each cell's outputs, by name; and the folder that the notebook wrote to."""
    folder = tmp_path_factory.mktemp("notebook")
    cells = {"fitted": FITTED, "texts": TEXTS}
    for name in NAMES:
        cells[f"print {name}"] = f"print(shown[{name!r}])"
        cells[f"show {name}"] = f"shown[{name!r}]"
        cells[f"write {name}"] = f"written = open('{name}.txt', 'w').write(str(shown[{name!r}]))"
    for name in ("evaluation", "comparison"):
        cells[f"plot {name}"] = f"shown[{name!r}].plot()"
        cells[f"keep {name}"] = f"kept = shown[{name!r}].plot()"
    cells["model"] = "model"
    cells["display"] = "weigh.EvidenceDisplay.from_estimator(model)"
    return dict(zip(cells, run([*cells.values()], folder), strict=True)), folder


@pytest.fixture(scope="module")
def texts(notebook):
    (output,) = notebook[0]["texts"]
    return ast.literal_eval(output.data["text/plain"])


@pytest.mark.parametrize("name", NAMES)
def test_the_text_of_an_object_is_the_same_in_every_form(texts, name):
    said = texts[name]
    assert len(set(said)) == 1
    assert len(said[0].splitlines()) > 3


@pytest.mark.parametrize("name", NAMES)
def test_printing_shows_the_text_once_and_nothing_else(notebook, texts, name):
    outputs = notebook[0][f"print {name}"]  # a kernel may send a text in parts
    assert {(output.output_type, output.get("name")) for output in outputs} == {
        ("stream", "stdout")
    }
    assert "".join(output.text for output in outputs) == texts[name][0] + "\n"


@pytest.mark.parametrize("name", NAMES)
def test_a_file_holds_the_text_and_the_cell_shows_nothing(notebook, texts, name):
    outputs, folder = notebook
    assert outputs[f"write {name}"] == []
    assert (folder / f"{name}.txt").read_text() == texts[name][0]


@pytest.mark.parametrize("name", NAMES)
def test_a_cell_that_ends_with_an_object_shows_it_once(notebook, texts, name):
    (output,) = notebook[0][f"show {name}"]
    assert output.output_type == "execute_result"
    assert output.data["text/plain"] == texts[name][0]
    assert "<table" in output.data["text/html"]


@pytest.mark.parametrize(
    "name", ["plot evaluation", "keep evaluation", "plot comparison", "keep comparison", "display"]
)
def test_a_figure_is_shown_once(notebook, name):
    pictures = [o for o in notebook[0][name] if "image/png" in o.get("data", {})]
    assert len(pictures) == 1


def test_a_fitted_model_shows_the_box_and_a_short_summary(notebook):
    (output,) = notebook[0]["model"]
    page = output.data["text/html"]
    assert output.data["text/plain"] == "EvidenceNB()"
    assert "sk-top-container" in page
    summary = page[page.index("weigh-view") :]
    assert "2,201" in summary
    order = [summary.index(f">{name}<") for name in ("Sex", "Class", "Age")]
    assert order == sorted(order)
    assert summary.count("<tr>") == 4


def test_the_tour_runs_and_every_cell_shows_what_it_ends_with_once(tmp_path):
    tour = nbformat.read(TOUR, as_version=4)
    code = [cell.source for cell in tour.cells if cell.cell_type == "code"]
    assert all(cell.outputs == [] for cell in tour.cells if cell.cell_type == "code")
    for source, outputs in zip(code, run(code, tmp_path), strict=True):
        outputs = without_bars(outputs)
        shown = [o for o in outputs if o.output_type in ("execute_result", "display_data")]
        printed = [o for o in outputs if o.output_type == "stream" and o.name == "stdout"]
        wanted = 0 if _ends_with_statement(source) else 1
        pictures = [o for o in shown if "image/png" in o.data]
        assert len(shown) - len(pictures) + bool(printed) == wanted, source
        assert len(pictures) == (".plot(" in source or "Display" in source), source
        for output in shown:
            assert output.data.get("text/plain"), source


def without_bars(outputs):
    """The outputs without those of progress bars, which are empty at the end."""
    return [output for output in outputs if output.get("data") != {"text/plain": ""}]


def _ends_with_statement(source):
    """Whether a cell ends with something that has no value to show, or whose figure shows it."""
    last = ast.parse(source.removeprefix("%matplotlib inline\n")).body[-1]
    silent = isinstance(last, ast.Expr) and ast.unparse(last).startswith(
        ("weigh.save", "weigh.rep", "found.plot")
    )
    return silent or not isinstance(last, ast.Expr)


def test_fitting_and_evaluating_display_nothing(notebook):
    """The bar of a long fit is emptied at its end, and nothing is written to standard error."""
    shown = without_bars(notebook[0]["fitted"])
    assert shown == [], json.dumps(shown)


@pytest.mark.system
def test_names_of_sixteen_letters_and_p_values_are_on_one_line(browser, tmp_path):
    rng = np.random.default_rng(0)
    y = rng.choice(["good", "bad"], 600)
    names = ["internetservices", "deviceprotection", "paperlessbilling", "onlinesecurities"]
    table = pa.table({n: np.where(rng.random(600) < 0.8, y, "no services") for n in names})
    shown = weigh.screen(table, y), weigh.Scorecard.from_table(table, y, adverse="bad")
    page = tmp_path / "view.html"
    page.write_text("<meta charset=utf-8>" + "".join(one._repr_html_() for one in shown))
    browser.width(1000)
    browser.open(page)
    lines = browser.run(
        "return [...document.querySelectorAll('td')].filter((cell) => cell.innerText)"
        ".map((cell) => { const text = document.createRange(); text.selectNodeContents(cell);"
        "const tops = [...text.getClientRects()].map((box) => Math.round(box.top));"
        "return [cell.innerText, new Set(tops).size]; })"
    )
    told = dict(lines)
    assert {*names} <= {*told}
    assert any(text.startswith("<") for text in told)
    assert all(n == 1 for text, n in lines if text in names or text.startswith("<"))


@pytest.mark.system
def test_names_are_left_aligned_beside_the_styles_of_jupyterlab(browser, tmp_path):
    page = tmp_path / "view.html"
    own = (
        ":not(.jp-RenderedMarkdown).jp-RenderedHTMLCommon"  # as JupyterLab 4 and nbconvert write it
    )
    style = f"<style>{own} td, {own} th, {own} tr {{ text-align: right }}</style>"
    view = weigh.EvidenceNB().fit([{"x": "a"}, {"x": "b"}], [0, 1]).evidence_._repr_html_()
    page.write_text(f"{style}<div class='jp-RenderedHTMLCommon'>{view}</div>", encoding="utf-8")
    browser.open(page)
    sides = browser.run(
        "return [...document.querySelectorAll('td, th')].map((cell) =>"
        " [cell.classList.contains('name'), getComputedStyle(cell).textAlign])"
    )
    assert {*map(tuple, sides)} == {(True, "left"), (False, "right")}


def test_a_level_with_a_less_than_sign_is_shown_as_it_is():
    table = pa.table({"x": ["A < B", "B < A"] * 20, "y": [0, 1, 1, 0] * 10})
    shown = weigh.EvidenceNB().fit(table, "y").evidence_["x"]._repr_html_()
    assert "A &lt; B" in shown


@pytest.mark.parametrize("y", ["Survived", "Class"])
def test_a_table_of_weights_alone_has_a_view(y):
    table = weigh.EvidenceNB().fit(weigh.datasets.titanic(), y).evidence_["Sex"]
    cells = re.findall(r"<td[^>]*>([^<]*)</td>", table._repr_html_())
    weights = [f"{100 * weight:+.0f}" for row in table.by_class for weight in row]
    assert {*table.labels, "470", "1,731", *weights} <= {*cells}


@pytest.mark.system
def test_a_wide_table_scrolls_on_a_phone_and_its_rows_stay_low(browser, tmp_path):
    people = weigh.datasets.titanic()
    model = weigh.EvidenceNB().fit(people, "Survived")
    page = tmp_path / "drift.html"
    page.write_text(weigh.drift(model, people.slice(0, 700), "Survived").view().to_page())
    browser.width(390)
    browser.open(page)
    assert browser.run("return document.documentElement.scrollWidth") <= 390
    rows = browser.run(
        "return [...document.querySelector('tbody').rows].map((row) => row.offsetHeight)"
    )
    assert len(rows) == 3
    assert max(rows) <= 45  # two lines
