"""Names: those that a database can read, and those that we make."""

from __future__ import annotations

from collections.abc import Iterable

from weigh.exports.refusals import is_no_unicode

LONGEST_NAME = 60  # bytes; PostgreSQL cuts names at 63
LINE_BREAK = "__SQLGLOT__LB__"
"""What sqlglot writes as a line break, wherever it stands."""

STEP = "weigh_"
"""How the names of steps begin, so that they are not those of tables."""


def is_no_sql(text: str) -> bool:
    """Whether text holds what no query can: a NUL, half a character, or sqlglot's line break."""
    return "\0" in text or LINE_BREAK in text or is_no_unicode(text)


def refuse_columns(names: Iterable[str], dialect: str) -> None:
    """Refuse columns that a database cannot name."""
    for name in names:
        if not name:
            raise ValueError("a column without a name cannot be queried; name it before fitting")
        flaw = "BigQuery has no names with dots" if dialect == "bigquery" and "." in name else ""
        _refuse("column", name, flaw or _flaw(name, dialect))


def split_table(table: str, dialect: str, steps: Iterable[str] = ()) -> list[str]:
    """The parts of a table's name: the table, its schema, its catalog."""
    parts = table.split(".")
    if not all(parts) or len(parts) > 3:
        raise ValueError(
            f"table must be a name, schema.name or catalog.schema.name, got {table!r}; make a view "
            "of what has more parts or dots"
        )
    for part in parts:
        _refuse("table", part, _flaw(part, dialect))
    if table.casefold() in steps:
        _refuse("table", table, "a step of the query has this name")
    return parts[::-1]


def _refuse(what: str, name: str, flaw: str) -> None:
    if flaw:
        raise ValueError(f"{what} {name!r}: {flaw}; rename it, or make a view with another name")


def _flaw(name: str, dialect: str) -> str:
    if is_no_sql(name):
        return "SQL cannot write this name"
    if dialect == "spark" and "${" in name:
        return "Spark puts a variable in the place of ${...}"
    if dialect != "mysql":
        return ""
    if any(c > "\uffff" for c in name):
        return "MySQL has no names with characters beyond U+FFFF"
    if len(name) > 64 or name.endswith(" "):
        return "MySQL has no names of more than 64 characters or with a blank at the end"
    return ""


def make_names(names: Iterable[str], dialect: str) -> list[str]:
    """Names that a database can read, and takes for no other: short, and apart in any case."""
    found: list[str] = []
    for name in names:
        able = _spell(name, dialect)
        short, n = _cut(able), 1
        while short.casefold() in {other.casefold() for other in found}:
            n += 1
            short = f"{_cut(able, LONGEST_NAME - 6)}_{n}"
        found.append(short)
    return found


def _spell(name: str, dialect: str) -> str:
    """A name without what the database cannot read in one."""
    if dialect == "mysql":
        return "".join(c if c <= "\uffff" else f"U+{ord(c):X}" for c in name).rstrip(" ")
    return name.replace("${", "$ {") if dialect == "spark" else name


def _cut(name: str, longest: int = LONGEST_NAME) -> str:
    """The beginning of a name that is too long."""
    return name.encode("utf-8")[:longest].decode("utf-8", errors="ignore")
