"""Casts, comparisons, literals and names in the SQL of each database."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from math import isinf
from typing import Any

from weigh.bins import Kind
from weigh.errors import Extra
from weigh.exports.targets import is_no_unicode
from weigh.formula import Input
from weigh.frames import Value, did_you_mean

sqlglot, exp = (
    Extra(name, "SQL exports need sqlglot", "sql") for name in ("sqlglot", "sqlglot.expressions")
)

DIALECTS = ("duckdb", "postgres", "sqlite", "spark", "bigquery", "snowflake", "tsql", "mysql")

NAN = "NULLIF(CAST(c AS DOUBLE), CAST('NaN' AS DOUBLE))"
NUMBER = r"^[[:space:]]*[-+]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][-+]?[0-9]+)?[[:space:]]*;$"
IS_NUMBER = f"REGEXP_REPLACE(CONCAT(c, ';'), '{NUMBER}', '') = ''"
FAIL = "EXP(1000 + LENGTH(c))"  # MySQL casts text to 0 without an error, but overflow is an error
NO_TEXT = "CASE WHEN TYPEOF(c) = 'text' THEN JSON_EXTRACT('0', 'refuse' || TYPEOF(c)) ELSE c END"
READ = {  # NaN becomes NULL, text in a numeric column fails, and text is compared byte by byte
    "numbers": {
        "": NAN,
        "bigquery": "IF(IS_NAN(CAST(c AS FLOAT64)), NULL, CAST(c AS FLOAT64))",
        "sqlite": "CASE WHEN TYPEOF(c) = 'text' THEN JSON_EXTRACT('0', 'refuse' || TYPEOF(c)) "
        "ELSE CAST(c AS REAL) END",
        "tsql": "CASE WHEN CAST(c AS NVARCHAR(MAX)) <> N'' THEN CAST(c AS FLOAT) END",
        "mysql": f"CASE WHEN {IS_NUMBER} THEN CAST(c AS DOUBLE) WHEN NOT c IS NULL THEN {FAIL} END",
    },
    "codes": {  # not cast to doubles, which cannot represent all large integers
        "": "CASE WHEN CAST(c AS DOUBLE) = CAST('NaN' AS DOUBLE) THEN NULL ELSE c END",
        "bigquery": "IF(IS_NAN(CAST(c AS FLOAT64)), NULL, c)",
        "sqlite": NO_TEXT,
        "tsql": "c",
        "mysql": f"CASE WHEN {IS_NUMBER} THEN c WHEN NOT c IS NULL THEN CAST({FAIL} AS SIGNED) END",
    },
    "text": {  # numbers other than NaN fail, in databases where a query can raise an error
        "duckdb": "CASE WHEN REGEXP_MATCHES(TYPEOF(c), '^([A-Z]*INT|FLOAT|DOUBLE|DECIMAL|BOOL)') "
        "THEN CASE WHEN CAST(c AS TEXT) <> 'nan' THEN ERROR('refuse' || TYPEOF(c)) END "
        "ELSE CAST(c AS TEXT) END COLLATE C",
        "postgres": "CASE WHEN CAST(PG_TYPEOF(c) AS TEXT) IN ('smallint', 'integer', 'bigint', "
        "'real', 'double precision', 'numeric', 'boolean') THEN CASE WHEN CAST(c AS TEXT) <> 'NaN' "
        "THEN CAST(CAST('refuse' || PG_TYPEOF(c) AS INT) AS TEXT) END ELSE CAST(c AS TEXT) END "
        'COLLATE "C"',
        "snowflake": "COLLATE(CAST(c AS TEXT), '')",
        "spark": "CAST(CAST(c AS STRING) AS BINARY)",
        "bigquery": "CAST(CAST(c AS STRING) AS BYTES)",
        "sqlite": "CASE WHEN TYPEOF(c) IN ('integer', 'real') "
        "THEN JSON_EXTRACT('0', 'refuse' || TYPEOF(c)) ELSE CAST(c AS TEXT) END COLLATE BINARY",
        "tsql": "CAST(CAST(c AS NVARCHAR(MAX)) AS VARBINARY(MAX))",
        "mysql": "CAST(CONVERT(c USING utf8mb4) AS BINARY)",
    },
    "booleans": {
        "": "c",
        "sqlite": NO_TEXT,
        "mysql": (  # a value of type BIT is the character with code 0 or 1
            f"CASE WHEN {IS_NUMBER} OR (ORD(c) < 2 AND LENGTH(c) > 0) THEN c "
            f"WHEN NOT c IS NULL THEN CAST({FAIL} AS SIGNED) END"
        ),
    },
    "nothing": {"": "c"},  # all values were missing in training, so any type is accepted
}
REFUSE = "refuse"
"""Placeholder in a template for the error message that names the column."""

BYTES = ("tsql", "mysql", "bigquery", "spark")
"""Dialects in which text is cast to bytes, so that no collation affects comparisons."""

SOURCE = "weigh_rows"
"""Alias of the table inside the query. Columns are qualified by it, because SQLite reads an
unqualified quoted name as text if there is no such column."""


@dataclass(frozen=True)
class Dialect:
    """The SQL of one database, as expressions of sqlglot."""

    name: str

    @classmethod
    def named(cls, name: str) -> Dialect:
        """The dialect with this name; an unknown name is an error."""
        if name not in DIALECTS:
            meant = did_you_mean(name, DIALECTS)
            raise ValueError(f"dialect must be one of {', '.join(DIALECTS)}, got {name!r}{meant}")
        return cls(name)

    def read(self, column: Input) -> Any:
        """A column of the table, cast so that values compare as they do in Python."""
        kind = column.kind.value if column.kinds else "nothing"
        if kind == Kind.NUMBERS and not column.is_numeric:
            kind = "codes"
        return self._fill(kind, name_column(column.name, SOURCE), self.label(_refuse(column)))

    def _fill(self, kind: str, own: Any, words: Any = None) -> Any:
        """The template of a kind with `own` as the column and `words` as the error message."""
        template = READ[kind].get(self.name) or READ[kind][""]
        if template == "c":
            return own
        return _parse(template, self.name).transform(lambda node: _swap(node, own, words))

    def is_equal(self, x: Any, value: Value) -> Any:
        """A comparison of a column, as given by `read`, with a value."""
        if isinstance(value, bool):
            return exp.EQ(this=x, expression=exp.Boolean(this=value))
        if isinstance(value, str):
            return exp.EQ(this=x, expression=self.text(value))
        if isinstance(value, float) and isinf(value):
            far = self.number(1.7976931348623157e308, exact=True)
            return (
                exp.GT(this=x, expression=far)
                if value > 0
                else exp.LT(this=x, expression=minus(far))
            )
        number = self.number(value, exact=True)
        return exp.EQ(this=x, expression=number)

    def text(self, value: str) -> Any:
        """A text literal to compare with a column; cast to bytes where the column is."""
        text = self.label(value)
        return self._fill("text", text) if self.name in BYTES else text

    def label(self, value: str) -> Any:
        """A text literal to show in the result."""
        return exp.National(this=value) if self.name == "tsql" else exp.Literal.string(value)

    def number(self, value: Any, exact: bool = False) -> Any:
        """A numeric literal that is read back as the same double.

        Floats are written with an exponent, because databases read other literals as decimals.
        SQLite can be off by one bit for short literals; 17 digits are always exact.
        """
        if isinstance(value, int):
            text = str(abs(value))
        else:
            text = (
                format(abs(value), ".17g") if exact and self.name == "sqlite" else repr(abs(value))
            )
            text = text if "e" in text else f"{text}e0"
        literal = exp.Literal(this=text, is_string=False)
        return minus(literal) if value < 0 else literal

    def double(self, tree: Any) -> Any:
        """A cast to double, because PostgreSQL reads literals as decimals."""
        return exp.cast(tree, "DOUBLE")

    def largest(self, trees: list[Any]) -> Any:
        """The largest of some numbers."""
        name = "MAX" if self.name == "sqlite" else "GREATEST"
        return trees[0] if len(trees) == 1 else exp.Anonymous(this=name, expressions=trees)

    def finish(self, query: Any) -> str:
        """The query as text, with ${ escaped for Spark, which substitutes variables in literals."""
        text = str(query.sql(dialect=self.name, pretty=True, comments=False, copy=False))
        return text.replace("${", r"\u0024{") if self.name == "spark" else text


@cache
def _parse(template: str, dialect: str) -> Any:
    """The tree of a template; `transform` copies it."""
    return sqlglot.parse_one(template, dialect=dialect)


def _swap(node: Any, own: Any, words: Any) -> Any:
    if type(node).__name__ == "Literal" and node.this == REFUSE:
        return words
    return own if type(node).__name__ == "Column" else node


def _refuse(column: Input) -> str:
    """The error message of a query for a column whose type differs from training."""
    other = Kind.NUMBERS if column.kind is Kind.TEXT else Kind.TEXT
    seen = f"held {column.kind} in training and holds {other} here"
    return f"column {column.name!r} {seen}; convert it from "


def minus(tree: Any) -> Any:
    """The negative of a number."""
    return exp.Neg(this=tree)


def name_column(name: str, table: str = "") -> Any:
    """A column by its quoted name, qualified by the table if one is given."""
    of = exp.to_identifier(table, quoted=True) if table else None
    return exp.Column(this=exp.to_identifier(name, quoted=True), table=of)


LONGEST_NAME = 60  # bytes; PostgreSQL truncates names at 63
LINE_BREAK = "__SQLGLOT__LB__"
"""The text that sqlglot replaces by a line break, even inside names and literals."""

STEP = "weigh_"
"""Prefix of the names of steps, so that they differ from the names of tables."""


def is_no_sql(text: str) -> bool:
    """Whether text contains what no query can: NUL, a lone surrogate, or sqlglot's line break."""
    return "\0" in text or LINE_BREAK in text or is_no_unicode(text)


def refuse_columns(names: Iterable[str], dialect: str) -> None:
    """Raise an error for column names that the database does not allow."""
    for name in names:
        if not name:
            raise ValueError("a column without a name cannot be queried; name it before fitting")
        flaw = "BigQuery has no names with dots" if dialect == "bigquery" and "." in name else ""
        _refuse_name("column", name, flaw or _flaw(name, dialect))


def split_table(table: str, dialect: str, steps: Iterable[str] = ()) -> list[str]:
    """The parts of a table's name in this order: table, schema, catalog."""
    parts = table.split(".")
    if not all(parts) or len(parts) > 3:
        raise ValueError(
            f"table must be a name, schema.name or catalog.schema.name, got {table!r}; for any "
            "other name create a view"
        )
    for part in parts:
        _refuse_name("table", part, _flaw(part, dialect))
    if table.casefold() in steps:
        _refuse_name("table", table, "a step of the query has this name")
    return parts[::-1]


def _refuse_name(what: str, name: str, flaw: str) -> None:
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
    """Names that the database allows: short, and distinct even if case is ignored."""
    found: dict[str, str] = {}  # by the name in small letters
    times: Counter[str] = Counter()
    for name in names:
        able = _spell(name, dialect)
        short = _cut(able)
        same = short.casefold()
        while short.casefold() in found:
            times[same] += 1
            short = f"{_cut(able, LONGEST_NAME - 6)}_{1 + times[same]}"
        found[short.casefold()] = short
    return [*found.values()]


def _spell(name: str, dialect: str) -> str:
    """A name with the characters replaced that the database does not allow in names."""
    if dialect == "mysql":
        return "".join(c if c <= "\uffff" else f"U+{ord(c):X}" for c in name).rstrip(" ")
    return name.replace("${", "$ {") if dialect == "spark" else name


def _cut(name: str, longest: int = LONGEST_NAME) -> str:
    """A name truncated to a number of bytes."""
    return name.encode("utf-8")[:longest].decode("utf-8", errors="ignore")
