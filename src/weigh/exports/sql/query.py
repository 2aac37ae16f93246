"""The whole query, a chain of common table expressions, and the names of its columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from weigh.bins import printable
from weigh.exports.sql import steps
from weigh.exports.sql.dialects import (
    SOURCE,
    STEP,
    Dialect,
    exp,
    is_no_sql,
    make_names,
    name_column,
    refuse_columns,
    split_table,
)
from weigh.exports.sql.steps import Named
from weigh.exports.targets import refuse_mixed, refuse_text
from weigh.formula import Formula
from weigh.parameters import check_count

SHORT = 4
"""Number of steps of a plain model of two classes: inputs, weights, total and power."""


@dataclass(frozen=True)
class Query:
    """The text of a query, and the names of the columns in its result."""

    text: str
    totals: tuple[str, ...]
    predictions: tuple[str, ...]
    contributions: tuple[str, ...] = ()  # by feature, then by total
    reasons: tuple[str, ...] = ()
    score: str = ""


def plan(
    formula: Formula,
    dialect: str = "duckdb",
    table: str = "rows",
    keep: Sequence[str] = (),
    contributions: bool = False,
    reasons: int = 0,
) -> Query:
    """A query that scores every row of a table.

    Parameters
    ----------
    formula : Formula
        The fitted model.
    dialect : str, default="duckdb"
        The SQL dialect, one of `DIALECTS`.
    table : str, default="rows"
        The table to read; dots separate a schema from its name.
    keep : list of str
        Columns of the table to copy.
    contributions : bool, default=False
        Add a column with the weight of every feature.
    reasons : int, default=0
        Number of features with the largest weights to name (two classes only).
    """
    if isinstance(keep, str):
        raise ValueError(f"keep is a list of columns, got the text {keep!r}")
    refuse_mixed(formula, "a database")
    refuse_text(formula, "SQL", is_no_sql)
    say = Dialect.named(dialect)
    refuse_columns((*formula.column_names, *keep), dialect)
    _check_reasons(formula, reasons)
    reasons = min(reasons, len(formula.terms))
    kept = {f"k{i}": name_column(name, SOURCE) for i, name in enumerate(keep)}
    chain = _Chain(say, kept, table)
    _add_steps(chain, formula, reasons)
    groups = _groups(formula, say, contributions, reasons)
    own = make_names([name for group in groups.values() for name, _ in group], dialect)
    _refuse_clash(keep, own)
    unused = iter(own)
    named = {what: tuple(next(unused) for _ in group) for what, group in groups.items()}
    told = [tree for group in groups.values() for _, tree in group]
    columns = {name: name_column(step) for name, step in zip(keep, kept, strict=True)}
    text = chain.end(columns | dict(zip(own, told, strict=True)))
    head = (
        f"-- {printable(formula.description)}, written down by weigh for {dialect}, table "
        f"{printable(table)}\n"
    )
    return Query(head + text + "\n", score="".join(named.pop("score")), **named)


def _refuse_clash(keep: Sequence[str], own: Sequence[str]) -> None:
    """Refuse to copy a column twice, or one with the name of a score."""
    folded = {name.casefold() for name in own}
    for name in keep:
        if name.casefold() in folded or [*keep].count(name) > 1:
            raise ValueError(
                f"keep names {name!r}, which is listed twice or is also a column of the scores; "
                "rename it"
            )


def _check_reasons(formula: Formula, reasons: int) -> None:
    check_count("reasons", reasons, 0)
    if reasons and len(formula.prior) > 1:
        raise ValueError(
            f"reasons in SQL need a model of two classes, and this one has {len(formula.classes)}; "
            "contributions=True gives the weights of every class"
        )


class _Chain:
    """Common table expressions, each a query over the one before it.

    Each step also selects the earlier columns that later steps need.
    """

    def __init__(self, dialect: Dialect, kept: Named, table: str) -> None:
        self.dialect, self.table, self.kept = dialect, table, kept
        self.queries: list[tuple[str, Any]] = []
        self.carried: list[str] = [*kept]

    def _source(self) -> Any:
        if self.queries:
            return exp.to_identifier(self.queries[-1][0], quoted=True)
        to_id = exp.to_identifier
        parts = [to_id(part, quoted=True) for part in split_table(self.table, self.dialect.name)]
        named = dict(zip(("this", "db", "catalog"), parts, strict=False))  # of up to three
        alias = exp.TableAlias(this=to_id(SOURCE, quoted=True))
        return exp.Table(**named, alias=alias)

    def step(self, name: str, columns: Named, drop: str = "") -> None:
        """Add a step with new columns, replacing columns of the same name.

        Columns whose names begin with `drop` are left out.
        """
        carried = [
            c for c in self.carried if c not in columns and not (drop and c.startswith(drop))
        ]
        old = {c: name_column(c) for c in carried} if self.queries else self.kept
        query = self._select(old | columns)
        self.queries.append((STEP + name, query))
        self.carried = [*old, *columns]

    def _keeps(self, name: str) -> bool:
        """Whether a step is MATERIALIZED, where the database would inline it at every use.

        The query of a plain model is short enough to be inlined, and then an index of the table
        can be used. Each reason refers to every weight and to every earlier reason: inlined, n
        features and k reasons give on the order of n to the power 2k terms.
        """
        long = len(self.queries) > SHORT and name not in (f"{STEP}inputs", f"{STEP}weights")
        if self.dialect.name == "duckdb":
            reasons = any(step.startswith(f"{STEP}heaviest") for step, _ in self.queries)
            written = (f"{STEP}powers", f"{STEP}heaviest", f"{STEP}named")
            return reasons and name.startswith(written)
        return long and self.dialect.name in ("postgres", "sqlite")

    def _select(self, columns: Named) -> Any:
        alias, to_id = exp.alias_, exp.to_identifier
        named = [alias(tree, to_id(name, quoted=True)) for name, tree in columns.items()]
        return exp.Select().select(*named, copy=False).from_(self._source(), copy=False)

    def end(self, columns: Named) -> str:
        """The text of the final query over all steps."""
        split_table(self.table, self.dialect.name, {name for name, _ in self.queries})
        query = self._select(columns)
        for name, step in self.queries:
            alias = exp.to_identifier(name, quoted=True)
            kept = self._keeps(name) or None
            query = query.with_(alias, as_=step, materialized=kept, copy=False)
        return self.dialect.finish(query) + ";"


def _add_steps(chain: _Chain, formula: Formula, reasons: int) -> None:
    say = chain.dialect
    chain.step("inputs", steps.read_inputs(formula, say))
    hidden = steps.hide_inputs(formula, say)
    if hidden:
        chain.step("asked", hidden)
    words = steps.say_levels(formula, say) if reasons else {}
    chain.step("weights", steps.weigh_terms(formula, say) | words, drop="x")
    chain.step("totals", steps.total_weights(formula, say), drop="n")
    if formula.score_name:
        chain.step("scores", {"score": name_column("t0")})
    if formula.curve is not None:
        chain.step("recalibrated", steps.apply_curve(formula.curve, say))
        chain.step("shifted", steps.shift_curve(formula.curve, say))
    if len(formula.prior) > 1:
        chain.step("top", steps.find_top(formula, say))
    if not formula.estimates:
        chain.step("powers", steps.raise_totals(formula, say), drop="top")
    for i in range(reasons):
        chain.step(f"heaviest_{i + 1}", steps.find_heaviest(formula, say, i))
        chain.step(f"named_{i + 1}", steps.name_heaviest(formula, say, i))


def _groups(
    formula: Formula, say: Dialect, contributions: bool, reasons: int
) -> dict[str, list[tuple[str, Any]]]:
    """Names and expressions of the final query's columns, in their order."""
    many, kind = len(formula.prior) > 1, "reason_weight" if formula.costs is None else "reason_cost"
    told = steps.estimate(formula) if formula.estimates else steps.share(formula, say)
    whys = [steps.tell_reason(formula, say, i).values() for i in range(reasons)]
    return {
        "score": [(formula.score_name, name_column("score"))] if formula.score_name else [],
        "totals": [(name, name_column(f"t{k}")) for k, name in enumerate(formula.total_names)],
        "predictions": [*zip(formula.prediction_names, told, strict=True)],
        "contributions": [
            (f"weight_{term.name}{f'_{name}' * many}", name_column(f"w{j}_{k}"))
            for j, term in enumerate(formula.terms if contributions else ())
            for k, name in enumerate(formula.class_names if many else ("",))
        ],
        "reasons": [
            pair
            for i, trees in enumerate(whys, 1)
            for pair in zip((f"reason_{i}", f"{kind}_{i}"), trees, strict=True)
        ],
    }
