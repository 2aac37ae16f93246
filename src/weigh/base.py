"""What learners share: read a table, learn `Evidence`, predict and explain from it.

A learner stores its parameters and writes one method, `_learn(sample) -> Evidence`. One that ends
as something else than a table builds on `TableEstimator`, which reads and nothing more.
"""

from __future__ import annotations

import copy
import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from weigh import engine
from weigh.bins import Cross, Feature, label
from weigh.errors import warn_caller
from weigh.evidence import (
    Evidence,
    FeatureTable,
    Provenance,
    ask_only,
    evidence_of,
    record,
    share_importance,
    with_labels,
)
from weigh.evidence.view import summarise_model, tell_classes
from weigh.frames import (
    Floats,
    Sample,
    Table,
    as_rows,
    build_beside,
    label_sample,
    match,
    read,
    set_names,
)
from weigh.parameters import check_parameters, read_crosses, read_rate, read_settings
from weigh.sheet import BalanceSheet, contribute, explain
from weigh.tally import Tally


class TableEstimator(BaseEstimator):
    """Any table in, its columns as levels, and the same columns again when predicting."""

    crosses: Any = None
    ask_if: Any = None
    max_levels: Any = None
    event_model: str = "levels"

    _smoothings: tuple[str, ...] = ("1/n",)  # that have names
    _default_bins: str | int = "mdl"  # of columns that a dict of bins does not name
    _extras: tuple[str, ...] = ()  # fitted numbers beside the model itself, saved with it
    _later_extras: tuple[str, ...] = ()  # those that files of earlier releases lack

    _learnt: Any  # Evidence, a tree, a vote: it knows its columns
    _bodies: tuple[str, ...] = ("evidence",)  # what a file may hold it as
    provenance_: Provenance  # where the fit is known

    _doc_link_module = "weigh"

    @property
    def _doc_link_template(self) -> str:
        """The page that a notebook's box of the estimator links to; empty for no link.

        `$WEIGH_DOCS` is the address of a built site: the project has published none.
        """
        site = os.environ.get("WEIGH_DOCS", "").rstrip("/")
        return f"{site}/generated/weigh.{{estimator_name}}.html" if site else ""

    def _keep(self, learnt: Any) -> Self:
        self._learnt, self.classes_ = learnt, learnt.classes
        self.__dict__.pop("provenance_", None)  # of other rows, unless a fit records it again
        return self

    def _column_names(self) -> tuple[str, ...]:
        """The columns that the fitted model reads."""
        check_is_fitted(self, "n_features_in_")
        return self._learnt.column_names  # type: ignore[no-any-return]

    def _tally(self, sample: Sample) -> Tally:
        """The counts of a sample, on the levels that the shared parameters ask for."""
        tally = self._count(sample)
        for counts in tally.tables:
            _warn_uncut(counts.feature)
        return tally

    def _count(self, sample: Sample) -> Tally:
        """The same without a word: for rows held out the levels are found again."""
        table = sample.table
        return engine.tally(sample, read_settings(self, table), read_crosses(self.crosses, table))

    def _split(self, sample: Sample, cv: Any, random_state: Any) -> engine.Splits:
        """Rows on the levels that the shared parameters ask for, found again in each split."""
        table = sample.table
        settings, crosses = read_settings(self, table), read_crosses(self.crosses, table)
        splits = engine.find_splits(sample, cv, random_state, settings, crosses)
        for counts in splits.whole.tally.tables:
            _warn_uncut(counts.feature)
        return splits

    def _name(self, names: tuple[str, ...], named: bool) -> Self:
        return set_names(self, names, named)  # type: ignore[no-any-return]

    def _read(self, X: Any) -> Table:
        self._column_names()  # not fitted is said before anything about X
        return self._match(read(X))

    def _read_one(self, row: Any, what: str) -> Table:
        self._column_names()
        table = self._read(as_rows(row))
        if table.n_rows != 1:
            raise ValueError(f"{what} explains one row, got {table.n_rows}; pass one of them")
        return table

    def _match(self, table: Table) -> Table:
        named = hasattr(self, "feature_names_in_")
        return match(table, self._column_names(), named, type(self).__name__)

    def _html_repr(self) -> str:
        """The box that scikit-learn draws, and of a fitted model a short summary."""
        box: str = super()._html_repr()
        return box + self._summary()

    def _summary(self) -> str:
        """A fitted model in a few lines, as HTML; nothing of one that has no tables."""
        evidence = getattr(self, "evidence_", None)
        if evidence is None:
            return ""
        loss = getattr(self, "loo_loss_", None)
        told = [("Classes", tell_classes(evidence))] if hasattr(self, "classes_") else []
        if loss is not None and np.isfinite(np.mean(loss)):
            told.append(("Leave-one-out loss", f"{np.mean(loss):.4f} bits a row"))
        return summarise_model(type(self).__name__, evidence, told).to_html()

    @property
    def feature_importances_(self) -> Floats:
        """How much each input column matters: its mean absolute contribution on training rows.

        The tables' importances, those of a pair shared equally between its two columns, in the
        order of `feature_names_in_`. They are in nats and do not add up to 1. Of more than two
        classes it is the mean over classes.
        """
        return share_importance(self.evidence_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.event_model == "levels"
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.sparse = self.event_model == "counts"
        tags.input_tags.positive_only = self.event_model == "counts"
        return tags


def _warn_uncut(feature: Feature | Cross) -> None:
    """A number that was not cut adds nothing to its cross."""
    for part in feature.parts:
        if part.is_numeric and not part.cuts and len(feature.parts) > 1:
            warn_caller(
                f"crosses joins {part.name!r}, which alone tells nothing and was not cut: the pair "
                f"says no more than its other column; give cut points, bins={{{part.name!r}: ...}}",
                UserWarning,
            )


def read_sample(
    learner: Any, X: Any, y: Any, sample_weight: Any = None, classes: Any = None, cv: Any = None
) -> Sample:
    """What a classifier learns from: its parameters, table, labels and weights are checked.

    Where `cv`, or that of the learner, names a column, it tells the folds and is no feature.
    """
    check_parameters(learner)
    table = read(X, allow_sparse=learner.event_model == "counts")
    named = [given for given in (cv, getattr(learner, "cv", None)) if isinstance(given, str)]
    folds = named[0] if named else None
    sample = label_sample(table.to_learn_from(), y, sample_weight, classes, folds)
    if len(sample.classes) < 2:
        raise ValueError(
            f"{sample.target} holds one class only ({sample.classes.tolist()}); a classifier "
            "needs two or more"
        )
    return sample


class EvidenceClassifier(ClassifierMixin, TableEstimator):
    """What all classifiers of the family share; a learner adds `_learn`."""

    class_prior: Any = None

    def _learn(self, sample: Sample) -> Any:
        raise NotImplementedError("a learner turns a sample into Evidence, or a vote")

    @property
    def evidence_(self) -> Evidence:
        """The prior and the tables of weights."""
        if not hasattr(self, "classes_"):
            raise AttributeError(f"this {type(self).__name__} has no evidence_ before it is fitted")
        if not isinstance(self._learnt, Evidence):
            raise AttributeError(self._learnt.no_table)
        return self._learnt

    def _class_rate(self, classes: np.ndarray[Any, Any]) -> Floats | None:
        """The class probabilities that `class_prior` gives, if it does."""
        given = self.class_prior
        return None if given is None else read_rate(given, classes, "class_prior")

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from a table.

        Parameters
        ----------
        X : table
            Any dataframe, array or list of dicts.
        y : array or str
            Class labels, or the name of the column of X that holds them.
        sample_weight : array or str, optional
            Row weights, or the name of the column of X that holds them.
        """
        sample = read_sample(self, X, y, sample_weight)
        learnt = self._fit_sample(sample)._learnt
        table = getattr(learnt, "linear", learnt)  # the rounds of a vote have no counts
        tables = getattr(table, "tables", ())  # nor has what is no sum of weights
        warn_ids(learnt.features, sample.table.n_rows, tables)
        self.provenance_ = record(sample.table, y)
        return self

    def _fit_sample(self, sample: Sample) -> Self:
        learnt = branch(self._learn(sample), self.ask_if, sample.table)
        self._name(sample.table.names, sample.table.named)
        return self._keep(remember(learnt, sample.table))

    def _read(self, X: Any) -> Table:
        check_is_fitted(self, "classes_")
        return self._match(read(X, allow_sparse=self._learnt.event_model == "counts"))

    # ------------------------------------------------------------ predicting

    def decision_function(self, X: Any) -> Floats:
        """The total: log odds of `classes_[1]`, or one total per class for more than two."""
        totals = self._total(X)
        return totals[:, 0] if totals.shape[1] == 1 else totals

    def _total(self, X: Any) -> Floats:
        """Totals as columns: one for two classes, else one per class."""
        table = self._read(X)
        return self._learnt.total(table)  # type: ignore[no-any-return]

    def predict_proba(self, X: Any) -> Floats:
        """The probability of each class, in the order of `classes_`."""
        totals = self._total(X)
        return self._learnt.probabilities(totals)  # type: ignore[no-any-return]

    def predict_log_proba(self, X: Any) -> Floats:
        """The log of the probability of each class, exact far into the tails."""
        totals = self._total(X)
        if totals.shape[1] == 1:
            return -np.logaddexp(0.0, np.hstack([totals, -totals]))
        if self._learnt.link == "ovr":
            totals = -np.logaddexp(0.0, -totals)
        shifted = totals - totals.max(axis=1, keepdims=True)
        return shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))  # type: ignore[no-any-return]

    def predict(self, X: Any) -> np.ndarray[Any, Any]:
        """The most probable class."""
        return self._decide(self._read(X))

    def _decide(self, table: Table, totals: Floats | None = None) -> np.ndarray[Any, Any]:
        """The most probable class of each row, whose totals may be known already."""
        if totals is None:
            totals = self._learnt.total(table)
        return self._learnt.decide(totals)  # type: ignore[no-any-return]

    def _score_columns(self, table: Table) -> dict[str, Any]:
        """The class, the totals and the probabilities of every row, as columns."""
        names, rows = [*map(label, self.classes_.tolist())], self._read(table)
        totals = self._learnt.total(rows)
        heads = ["log_odds"] if len(names) == 2 else [f"total_{name}" for name in names]
        found = {"prediction": self._decide(rows, totals)}
        found |= dict(zip(heads, totals.T, strict=True))
        shares = self._learnt.probabilities(totals).T
        return found | {f"probability_{n}": p for n, p in zip(names, shares, strict=True)}

    # ------------------------------------------------------------ explaining

    def _explain_case(self, row: Any, pos_label: Any, against: Any) -> BalanceSheet:
        evidence_of(self)  # what has no table says so
        return self.balance_sheet(row, pos_label, against)

    def balance_sheet(
        self, row: Any, pos_label: Any = None, against: Any = None, *, labels: Any = None
    ) -> BalanceSheet:
        """What speaks for and against one case.

        Parameters
        ----------
        row : mapping, sequence or table of one row
            The case. A mapping may leave out answers that are not known.
        pos_label : label, optional
            The class that positive weights speak for: by default `classes_[1]` of two, the most
            probable of more.
        against : label, optional
            Its rival, for more than two classes; by default all the others together.
        labels : dict, optional
            Columns, levels and classes in the user's words, as in `report`.
        """
        table = self._read_one(row, "a balance sheet")
        return explain(with_labels(self.evidence_, labels), table, pos_label, against)

    def contributions(self, X: Any, pos_label: Any = None) -> Any:
        """What the prior and each table add to the total of every row.

        Parameters
        ----------
        X : table
            Rows.
        pos_label : label, optional
            The class that positive numbers favour: by default `classes_[1]` of two. Of more classes
            it must be given, and the columns add up to that class's total.

        Returns
        -------
        table
            The columns "prior" and one for each table, in the library that X came from (an Arrow
            table for arrays and lists). A recalibrated model has the column "recalibration" too.
            The columns add up to `decision_function`.

        Examples
        --------
        >>> import weigh
        >>> people = weigh.datasets.titanic()
        >>> model = weigh.EvidenceNB().fit(people, "Survived")
        >>> parts = model.contributions([{"Class": "3rd", "Sex": "Female", "Age": "Child"}])
        >>> {name: round(100 * parts[name][0].as_py()) for name in parts.column_names}
        {'prior': -74, 'Class': -35, 'Sex': 174, 'Age': 83}
        """
        table = self._read(X)
        return build_beside(X, contribute(self.evidence_, table, pos_label), table.backend)

    def with_prior(self, rate: Any) -> Self:
        """The fitted model for a population with other class frequencies.

        It changes what was fitted and no parameter: `fit` learns the rows' own frequencies again,
        unless `class_prior` gives others. `partial_fit` and `merge` keep the rate.

        Parameters
        ----------
        rate : float, array or mapping
            The probability of `classes_[1]` (two classes), or of every class: in the order of
            `classes_`, or by label.
        """
        check_is_fitted(self, "classes_")
        known = read_rate(rate, self.classes_, "rate")
        moved = copy.copy(self)._keep(self._learnt.with_prior(known))
        if hasattr(self, "provenance_"):
            moved.provenance_ = self.provenance_
        return moved

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = self.event_model == "counts"
        return tags


FEW_IDS = 50
"""In a table of so few rows every row may have a level of its own by chance."""


def warn_ids(
    features: Sequence[Feature | Cross], n_rows: int, tables: Sequence[FeatureTable] = ()
) -> None:
    """A column whose every row has a level of its own is an id, and says nothing of new rows.

    The counts in `tables` tell it of columns whose levels `max_levels` has joined.
    """
    joined = {name for table in tables for name in _joined_ids(table, n_rows)}
    for part in [part for feature in features for part in feature.parts]:
        text = bool(part.values) and isinstance(part.values[0], str) and not part.in_order
        n = n_rows if part.name in joined else len(part.values)
        if text and n >= n_rows > FEW_IDS:
            what = "values" if part.other else "levels"
            warn_caller(
                f"column {part.name!r} has {n:,} {what} in {n_rows:,} rows, one for "
                "each row, as an id has: it says nothing of other rows; leave it out",
                UserWarning,
            )


def _joined_ids(table: FeatureTable, n_rows: int) -> list[str]:
    """Columns with the level `other` of whose values none weighs more than a mean row.

    The values kept are the heaviest, so that there are as many values as rows, at least.
    """
    found, feature, weight = [], table.feature, table.counts.sum(axis=1)
    for k, part in enumerate(feature.parts):
        if part.other:
            alone = [(i,) for i in range(len(weight))]
            places = feature.pairs if isinstance(feature, Cross) else alone
            *kept, rest = np.bincount([at[k] for at in places], weight, part.rest + 1)[
                : part.rest + 1
            ]
            if max(kept) * n_rows <= (sum(kept) + rest) * (1 + 1e-9):
                found.append(part.name)
    return found


def branch(learnt: Any, ask_if: Any, table: Table) -> Any:
    """What was learnt from a table, with the rule of which questions are asked."""
    if ask_if is None:
        return learnt
    if not isinstance(learnt, Evidence):
        raise ValueError(f"ask_if is a rule of tables: {learnt.no_table}")
    ruled = ask_only(learnt, ask_if)
    parts = {part.name: part for feature in ruled.features for part in feature.parts}
    for part in parts.values() if type(table) is Table else ():
        _warn_unasked(part, table)
    return ruled


def _warn_unasked(part: Feature, table: Table) -> None:
    """Training rows with an answer to a question that is not asked were counted all the same."""
    n = int((replace(part, asked=()).answers(table) & ~part.is_asked(table)).sum())
    if part.asked and n:
        when = " and ".join(ask.words for ask in part.asked)
        warn_caller(
            f"column {part.name!r} has an answer in {n:,} training rows where it is not asked "
            f"(ask_if: {when}), and these were counted; make them missing to leave them out",
            UserWarning,
        )


def remember(learnt: Any, table: Table) -> Any:
    """What was learnt, with what it keeps of the table that it came from."""
    columns = table.names if learnt.event_model == "levels" else ()  # tokens are levels already
    return replace(learnt, backend=table.backend, columns=columns)
