"""What the command line says to a newcomer: types, names, classes, files that are not there."""

import pyarrow as pa
import pytest
from pyarrow import parquet
from tests.test_cli import run

import weigh
from weigh.datasets import titanic
from weigh.frames import write_file


@pytest.fixture(scope="module")
def people(tmp_path_factory):
    path = tmp_path_factory.mktemp("words") / "people.csv"
    write_file(titanic(), str(path))
    return path


@pytest.fixture(scope="module")
def model(people):
    path = people.parent / "model.json"
    run("fit", people, "--target", "Survived", "-o", path)
    return path


# ---------------------------------------------------------------- types

CODES = pa.table(
    {
        "code": [1, 2, 1, None] * 3,
        "size": [0.5, 2.0, 2.0, 0.5] * 3,
        "new": [True, False, True, True] * 3,
        "y": ["a", "b", "a", "b"] * 3,
    }
)
CATEGORICAL = ["--categorical", "code", "--categorical", "size", "--categorical", "new"]


def write_both(folder):
    """The same table as CSV, as Parquet, and as a folder of Parquet files, which is scanned."""
    parquet.write_table(CODES, folder / "t.parquet")
    (folder / "parts").mkdir()
    for i in range(3):
        parquet.write_table(CODES.slice(4 * i, 4), folder / "parts" / f"{i}.parquet")
    lines = [["code", "size", "new", "y"]]
    for row in CODES.to_pylist():
        code, new = "" if row["code"] is None else row["code"], str(row["new"]).lower()
        lines.append([code, "2" if row["size"] == 2 else row["size"], new, row["y"]])
    (folder / "t.csv").write_text("\n".join(",".join(map(str, line)) for line in lines) + "\n")
    return [folder / name for name in ("t.csv", "t.parquet", "parts")]


def test_categories_are_the_same_levels_from_a_file_with_types_and_from_one_without(tmp_path):
    texts = []
    for path in write_both(tmp_path):
        run("fit", path, "--target", "y", *CATEGORICAL, "-o", tmp_path / "m.json")
        texts.append((tmp_path / "m.json").read_text())
    assert texts[0] == texts[1] == texts[2]
    assert weigh.load(tmp_path / "m.json").evidence_["code"].levels == ("1", "2", None)


def test_a_file_is_scored_with_the_types_of_training_whatever_its_kind(tmp_path):
    paths = write_both(tmp_path)
    run("fit", paths[0], "--target", "y", *CATEGORICAL, "-o", tmp_path / "m.json")
    scores = [run("score", tmp_path / "m.json", path, "--keep", "code").stdout for path in paths]
    assert scores[0] == scores[1] == scores[2]
