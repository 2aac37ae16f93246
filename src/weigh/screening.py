"""screen: univariate statistics of each column against two classes, before a fit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from weigh.arrays import Floats
from weigh.bins import label
from weigh.errors import ColumnError, Parameter, ParameterError
from weigh.evaluation.findings import list_leaks
from weigh.evidence import Evidence, FeatureTable, plain_woe
from weigh.frames import NOT_KNOWN, Codes, FarTable, Numbers, Scan, Table, build, label_sample, read
from weigh.holdout import mark_holdout
from weigh.layout import Grid, Shown, View, count_of
from weigh.metrics.numbers import columns_of
from weigh.metrics.stability import compare_counts
from weigh.sheet import find_class
from weigh.transformers import WeightOfEvidence, measure_information

LARGEST = 1e6
"""Above this variance inflation factor, a column is determined by the others."""

LEAK = "tells the classes apart alone: check whether it is known before the outcome"
UNCUT = "no cut point found"


@dataclass(frozen=True)
class Column:
    """Statistics of one column.

    `correlation` is the largest absolute correlation of its WoE with that of another column,
    `nearest`; `vif` the variance inflation factor of its WoE; `stability` the population stability
    index between two periods, None without a time column.
    """

    name: str
    information_value: float
    p_value: float
    missing: float
    largest: float  # the share of the most frequent level
    levels: int
    correlation: float
    nearest: str
    vif: float
    stability: float | None = None


@dataclass(frozen=True)
class Selection:
    """The columns that are kept, and why each of the others is left out."""

    kept: tuple[str, ...]
    left_out: dict[str, str]


@dataclass(frozen=True, eq=False, repr=False)
class Screening(Shown):
    """Result of `screen`: one line per column, the largest information value first."""

    columns: tuple[Column, ...]
    correlations: Floats  # of the WoE columns, in the order of `columns`
    pos_label: Any
    n_rows: int
    time: str = ""
    backend: str | None = None
    skips_missing: bool = False  # in some column
    unread: Mapping[str, str] = field(default_factory=dict)  # columns without levels, and why
    leaks: tuple[str, ...] = ()  # columns that each tell the classes apart
    uncut: tuple[str, ...] = ()  # numeric columns of one bin, although their values differ

    def to_dict(self) -> dict[str, Any]:
        """The statistics as plain data: a list of columns."""
        names = [name for name in Column.__dataclass_fields__ if name != "stability" or self.time]
        columns = [{name: getattr(column, name) for name in names} for column in self.columns]
        data = {"rows": self.n_rows, "pos_label": self.pos_label, "columns": columns}
        return data | {"unread": {**self.unread}, "leaks": [*self.leaks]}

    def to_frame(self) -> Any:
        """One row per column, in the dataframe library of X."""
        return build(columns_of(self.to_dict()["columns"]), self.backend)

    def view(self) -> View:
        """The table as data for text and pages."""
        head = ["Column", "IV", "p", "Missing", "Largest level", "Levels"]
        head += ["Correlation", "With", "VIF"]
        rows = [_row(column, bool(self.time)) for column in self.columns]
        notes = [
            f"WoE is positive for {label(self.pos_label)}. IV is the information value of these "
            "levels; a scorecard has levels of its own, so its IV may differ. Correlation is the "
            "largest with the WoE of another column. VIF is the variance inflation factor."
        ]
        if self.skips_missing:
            notes.append(
                "Missing values are skipped: IV, p and the largest level of a column are those of "
                "its rows with a value. Missing is a share of all rows."
            )
        if self.time:
            head.append("PSI")
            notes.append(
                f"PSI compares the later half of the rows, by {self.time}, with the other."
            )
        title = f"Screening of {count_of(len(rows), 'column')} on {count_of(self.n_rows, 'row')}"
        return View(title, (Grid(tuple(head), tuple(rows)),), notes=tuple(notes))

    def select(
        self,
        *,
        min_iv: float = 0.02,
        max_missing: float = 0.95,
        max_largest: float = 0.99,
        max_correlation: float = 0.9,
        max_stability: float = 0.25,
    ) -> Selection:
        """Choose columns by limits, the largest information value first.

        A column that alone tells the classes apart is left out, whatever the limits.

        Parameters
        ----------
        min_iv : float, default=0.02
            The least information value.
        max_missing, max_largest : float
            The largest share of missing values, and of the most frequent level.
        max_correlation : float, default=0.9
            The largest absolute correlation of the WoE with that of a column kept before.
        max_stability : float, default=0.25
            The largest population stability index between the two periods.

        Returns
        -------
        Selection
            `kept`, and `left_out`: by column, the reason.
        """
        kept: list[int] = []
        left_out: dict[str, str] = {**self.unread}
        limits = (
            ("information value", "information_value", min_iv, False),
            ("share of missing values", "missing", max_missing, True),
            ("share of the largest level", "largest", max_largest, True),
            ("stability index", "stability", max_stability, True),
        )
        for place, column in enumerate(self.columns):
            reasons = [LEAK] if column.name in self.leaks else []
            beyond = [*filter(None, (_beyond(column, *limit) for limit in limits))]
            reasons += [UNCUT] if beyond and column.name in self.uncut else beyond
            near = [k for k in kept if abs(self.correlations[place, k]) > max_correlation]
            reasons += [
                f"correlation {self.correlations[place, k]:.2f} with {self.columns[k].name}"
                for k in near[:1]
            ]
            why = "; ".join(reasons)
            if why:
                left_out[column.name] = why
            else:
                kept.append(place)
        return Selection(tuple(self.columns[k].name for k in kept), left_out)


def _beyond(column: Column, words: str, name: str, limit: float, high: bool) -> str:
    value = getattr(column, name)
    if value is None or not (value > limit if high else value < limit):
        return ""
    return f"{words} {value:.3g} is {'above' if high else 'below'} {limit:g}"


def _row(column: Column, timed: bool) -> tuple[str, ...]:
    c = column
    p = "< 0.0001" if c.p_value < 1e-4 else f"{c.p_value:.4f}"
    near = (f"{c.correlation:.2f}", c.nearest) if c.nearest else ("-", "")
    vif = f"> {LARGEST:g}" if c.vif > LARGEST else f"{c.vif:.2f}"
    shares = (f"{100 * c.missing:.1f}%", f"{100 * c.largest:.1f}%", str(c.levels))
    psi = (f"{c.stability:.3f}",) if timed and c.stability is not None else ()
    return (c.name, f"{c.information_value:.3f}", p, *shares, *near, vif, *psi)


def screen(
    X: Any,
    y: Any,
    *,
    time: str | None = None,
    pos_label: Any = None,
    adverse: Any = None,
    **options: Any,
) -> Screening:
    """Describe columns before a fit: information value, missing values, correlation, stability.

    Columns become levels and weights of evidence, as `WeightOfEvidence` makes them. Information
    value, missing values and the largest level are those of each column alone. With
    `missing="skip"` the information value and the largest level are those of the rows with a value.
    Correlations and variance inflation factors are those of the WoE columns. Columns without
    levels, such as dates, are not measured: `select()` leaves them out and says why. It leaves out
    columns that alone tell the classes apart, too, which are not looked for in scans.

    Parameters
    ----------
    X : table
        Rows.
    y : array or str
        Labels of two classes, or the name of their column in X.
    time : str, optional
        Column of X with the time of each row, as numbers or dates, which is then not a feature. The
        stability index compares the levels of the later half of the rows with the earlier half.
    pos_label : label, optional
        The class that positive WoE favours. Default: the second in sorted order.
    adverse : label, optional
        The bad class, instead of `pos_label`: positive WoE favours the other one.
    **options
        Further parameters of `WeightOfEvidence`, such as `bins=10`. There is no `sample_weight`:
        all rows count alike.

    Returns
    -------
    Screening
        Prints as a table; `select()` chooses columns and says why others are left out.

    Examples
    --------
    >>> import weigh
    >>> found = weigh.screen(weigh.datasets.titanic(), "Survived")
    >>> [(column.name, round(column.information_value, 3)) for column in found.columns]
    [('Sex', 0.925), ('Class', 0.375), ('Age', 0.04)]
    >>> found.select(min_iv=0.1).left_out
    {'Age': 'information value 0.0398 is below 0.1'}
    """
    if "sample_weight" in options:
        raise TypeError(
            "screen takes no sample_weight, because it counts all rows alike; "
            "WeightOfEvidence().fit(X, y, sample_weight).information_ has weighted information "
            "values"
        )
    table = read(X)
    later = None if time is None else mark_holdout(table, y, holdout=0.5, time=time)
    features = table if time is None else table.without({time})
    unread = _find_unread(features, y)
    _refuse_options(options, unread)
    features = features.without({*unread})
    favoured = pos_label if adverse is None else _find_good(features, y, pos_label, adverse)
    model = WeightOfEvidence(pos_label=favoured, **options).fit(features, y)
    evidence, rows = model.evidence_, table.select(model.evidence_.column_names)
    correlations = _correlate(model.transform(rows))
    measured = _measure(evidence, rows, correlations, later)
    order = sorted(range(len(measured)), key=lambda j: -measured[j].information_value)
    return Screening(
        tuple(measured[j] for j in order),
        correlations[np.ix_(order, order)],
        evidence.classes.tolist()[1],
        table.n_rows,
        time or "",
        evidence.backend,
        any(part.feature.parts[0].skip_missing for part in evidence),
        unread,
        _find_leaks(features, y),
        tuple(part.name for part in evidence if _is_uncut(part, rows)),
    )


def _find_unread(table: Table, y: Any) -> dict[str, str]:
    """The columns whose type has no levels, and what to do; none where all are of that kind.

    All batches of a scan have the same types, so its first batch is enough.
    """
    found: dict[str, str] = {}
    if isinstance(table, FarTable):
        return found
    names = table.without({y} if isinstance(y, str) else set()).names
    table = next(table.batches()) if isinstance(table, Scan) else table
    for name in names:
        try:
            table.column(name)
        except ColumnError as error:
            found[name] = error.reason
    return found if len(found) < len(names) else {}


def _refuse_options(options: Mapping[str, Any], unread: Mapping[str, str]) -> None:
    """Raise an error that says why, if an option names a column that is not measured."""
    for option, value in options.items():
        listed = option == "categorical_features" and not isinstance(value, str)
        for name in unread if listed or isinstance(value, Mapping) else ():
            if name in value:
                why = f" names {name!r}, but this column {unread[name]}"
                raise ParameterError(Parameter(option), why)


def _find_leaks(table: Table, y: Any) -> tuple[str, ...]:
    """The columns that alone tell the classes apart; scans would need a pass for each column."""
    if isinstance(table, FarTable | Scan):
        return ()
    sample = label_sample(table, y)
    return list_leaks(sample.table, sample.kept, sample.labels)


def _find_good(table: Table, y: Any, pos_label: Any, adverse: Any) -> Any:
    """The class of two that is not the adverse one."""
    if pos_label is not None:
        raise ValueError("pos_label and adverse are both given; give one of them")
    classes = label_sample(table, y).classes.tolist()
    return classes[1 - find_class(classes, adverse, 0, "adverse")] if len(classes) == 2 else None


def _share_missing(column: Numbers | Codes) -> float:
    """Of the column itself: where missing values are skipped, no level counts them."""
    if isinstance(column, Numbers):
        return float(np.isnan(column.values).mean())
    absent = np.array([value is None or value is NOT_KNOWN for value in column.values])
    return float(absent[column.codes].mean())


def _is_uncut(part: FeatureTable, rows: Table) -> bool:
    """Whether all rows of a numeric column are in one bin, although their values differ."""
    if not part.feature.parts[0].is_numeric or len(part.levels) > 1:
        return False
    column = rows.column(part.name, False)
    if not isinstance(column, Numbers):
        return False
    values = column.values[~np.isnan(column.values)]
    return len(values) > 0 and bool(values.min() < values.max())


def _measure(evidence: Evidence, rows: Table, correlations: Floats, later: Any) -> list[Column]:
    """Statistics of every column; `later` marks the rows of the later half, if there is a time."""
    others = np.abs(correlations) - 3 * np.eye(len(correlations))  # no column is its own neighbour
    found = []
    for part, near, inflation in zip(evidence, others, _inflate(correlations), strict=True):
        tested, nearest = measure_information(part), int(np.argmax(near))
        column = rows.column(part.name, not part.feature.parts[0].is_numeric)
        found.append(
            Column(
                part.name,
                tested["information_value"],
                tested["p_value"],
                _share_missing(column),
                float(part.share.max(initial=0.0)),
                len(part.levels),
                max(float(near[nearest]), 0.0),
                evidence.names[nearest] if len(near) > 1 else "",
                float(inflation),
                None if later is None else _compare_halves(part, rows, later),
            )
        )
    return found


def _correlate(columns: Floats) -> Floats:
    """The correlations of columns; a column that does not vary has none, which is 0."""
    centred = columns - columns.mean(axis=0)
    norms = np.sqrt((centred**2).sum(axis=0))
    varies = norms > 1e-12 * max(len(columns), 1)
    scaled = np.where(varies, centred / np.where(varies, norms, 1.0), 0.0)
    found = np.asarray(np.clip(scaled.T @ scaled, -1.0, 1.0))
    np.fill_diagonal(found, 1.0)
    return found


def find_alike(evidence: Evidence, X: Any, limit: float = 0.9) -> list[tuple[str, str, float]]:
    """Pairs of columns whose WoE is correlated above a limit on rows, the closest first.

    WoE is that of the levels of a model, from their counts of two classes.
    """
    table = read(X)
    columns = []
    for part in evidence:
        placed = part.feature.read(table)
        columns.append(np.append(plain_woe(part.counts), 0.0)[placed.levels[placed.codes]])
    found = _correlate(np.column_stack(columns)) if columns else np.zeros((0, 0))
    pairs = zip(*np.nonzero(np.triu(np.abs(found), 1) > limit), strict=True)
    alike = [(evidence.names[i], evidence.names[j], float(found[i, j])) for i, j in pairs]
    return sorted(alike, key=lambda pair: -abs(pair[2]))


def _inflate(correlations: Floats) -> Floats:
    """1/(1 - R^2) of each column on the others: the diagonal of the inverse correlations."""
    values, vectors = np.linalg.eigh(correlations)
    kept = np.maximum(values, 1 / (10 * LARGEST))  # columns that others determine
    return np.asarray((vectors**2 / kept).sum(axis=1))


def _compare_halves(part: FeatureTable, rows: Table, later: Any) -> float:
    """The population stability index of the later rows against the earlier."""
    placed = part.feature.read(rows)
    levels, n = placed.levels[placed.codes], len(part.levels) + 1
    halves = [np.bincount(levels[half], minlength=n).astype(np.float64) for half in (~later, later)]
    used = (halves[0] + halves[1]) > 0
    names = [str(k) for k in np.flatnonzero(used)]
    return compare_counts(names, halves[0][used], halves[1][used]).value
