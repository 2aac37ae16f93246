"""Small tables that come with the package, and loaders for the papers' data."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from weigh.frames import build, read_csv

_TITANIC = {  # survived by class (1st, 2nd, 3rd, crew), for each sex and age
    ("No", "Male", "Child"): (0, 0, 35, 0),
    ("No", "Female", "Child"): (0, 0, 17, 0),
    ("No", "Male", "Adult"): (118, 154, 387, 670),
    ("No", "Female", "Adult"): (4, 13, 89, 3),
    ("Yes", "Male", "Child"): (5, 11, 13, 0),
    ("Yes", "Female", "Child"): (1, 13, 14, 0),
    ("Yes", "Male", "Adult"): (57, 14, 75, 192),
    ("Yes", "Female", "Adult"): (140, 80, 76, 20),
}

_SIMPSON = {  # (sex, drug): recovered, not recovered
    ("male", "yes"): (18, 12),
    ("male", "no"): (7, 3),
    ("female", "yes"): (2, 8),
    ("female", "no"): (9, 21),
}


def titanic(backend: str = "pyarrow") -> Any:
    """The 2201 people aboard the Titanic: Class, Sex, Age, Survived (Dawson 1995).

    Parameters
    ----------
    backend : {"pyarrow", "pandas", "polars"}
        The dataframe library of the table returned.

    Examples
    --------
    >>> titanic().shape
    (2201, 4)
    """
    rows = [
        (name, sex, age, survived)
        for (survived, sex, age), counts in _TITANIC.items()
        for name, n in zip(("1st", "2nd", "3rd", "Crew"), counts, strict=True)
        for _ in range(n)
    ]
    return _table(("Class", "Sex", "Age", "Survived"), rows, backend)


def simpson(backend: str = "pyarrow") -> Any:
    """Simpson's paradox: 80 patients, with Sex, Drug and Recovered (Pearl 2000, section 6.1).

    The drug looks helpful in the whole group and harmful among men and among women.

    Examples
    --------
    >>> simpson().shape
    (80, 3)
    """
    rows = [
        (sex, drug, recovered)
        for (sex, drug), counts in _SIMPSON.items()
        for recovered, n in zip(("yes", "no"), counts, strict=True)
        for _ in range(n)
    ]
    return _table(("Sex", "Drug", "Recovered"), rows, backend)


def _table(names: tuple[str, ...], rows: Sequence[tuple[str, ...]], backend: str) -> Any:
    columns = zip(*rows, strict=True)
    return build(dict(zip(names, map(list, columns), strict=True)), backend)


def load(name: str) -> pa.Table:
    """One of the papers' data sets, from the folder that $WEIGH_DATA names.

    Empty fields are missing; the text `NA` is a value. The file's checksum must be the one in
    `sha256sums.txt` beside it.

    Parameters
    ----------
    name : str
        The file's name without its ending, such as "nij_recidivism_full".
    """
    folder = os.environ.get("WEIGH_DATA")
    if not folder:
        raise FileNotFoundError(
            "the papers' data do not come with the package: set WEIGH_DATA to their folder; the "
            "page 'Data sets' of the documentation lists their sources"
        )
    for ending in (".csv", ".csv.gz"):
        path = Path(folder, name + ending)
        if path.exists():
            _check(path)
            return read_csv(path)
    known = sorted(p.name.split(".")[0] for p in Path(folder).glob("*.csv*"))
    raise FileNotFoundError(f"no data set {name!r} in {folder}; there are: {', '.join(known)}")


def _check(path: Path) -> None:
    sums = path.parent / "sha256sums.txt"
    lines = [line.split() for line in sums.read_text().splitlines() if line.strip()]
    listed = {name: digest for digest, name in lines}
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    if listed.get(path.name) != found:
        raise ValueError(
            f"{path.name} is not the file that sha256sums.txt lists (its checksum is {found}); "
            "fetch it again"
        )
