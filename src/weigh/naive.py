"""Naive Bayes as weights of evidence: one pass of counts."""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from weigh import engine
from weigh.arrays import Floats
from weigh.base import EvidenceClassifier, branch, read_sample, remember
from weigh.bins import Density, Rule
from weigh.errors import Parameter, ParameterWarning, warn_caller
from weigh.evidence import (
    PRINTED,
    Added,
    Evidence,
    log_density,
    log_shares,
    rows_added,
    weigh_density,
    weigh_tally,
)
from weigh.evidence.model import merge_provenance, refuse_different
from weigh.frames import Sample, Table, count_matrix, read_classes, rows_with
from weigh.parameters import by_column, read_caps, read_settings
from weigh.tally import Tally, add


@dataclass(kw_only=True, eq=False, repr=False)
class EvidenceNB(EvidenceClassifier):
    """Naive Bayes as weights of evidence.

    The model is::

        log odds = w_0 + w_1(x_1) + ... + w_d(x_d),   w_j(v) = ln P(x_j = v|1)/P(x_j = v|0)
        P(v|c) = (n_vc + s)/(N_c + s m)

    with n_vc the count of level v in class c, s the pseudo-count and m the number of levels
    (Ridgeway 2025, Eq. 1; Good 1950; Spiegelhalter & Knill-Jones 1984).

    Parameters
    ----------
    smoothing : float, "1/n", "zhang-sheng", "hong" or "hong-1/n", default=1.0
        Pseudo-count s added to each level. 0 gives plain frequencies, kept within [1e-10, 1 -
        1e-10]; "1/n" is one over the number of rows. Corrections of papers: "zhang-sheng" is P(v|c)
        = (n_vc + 1)/(N_c + k), with k the number of classes, and "hong" is P(c|v) = (n_vc + L)/(n_v
        + 2 L), with L = 1 ("hong-1/n": one over the number of rows).
    bins : "mdl", "fine", int, Binning, Density or dict, default="mdl"
        Bins of numeric columns: "mdl" (Fayyad & Irani), "fine" (about 128 levels of about equal
        size), a number of quantile bins, a `Binning`, a `Density` (a curve in each class), or a
        dict from column to one of these or to cut points. A dict may also list
        the categories that share a level, such as {"town": [["North", "South"], ["East"]]};
        categories that are not listed share `other`.
    categorical_features : "from_dtype", "all", list or dict, default="from_dtype"
        Columns of categories: by their type, all, names or positions, or a dict from column to its
        levels (a list is ordered, a set is not).
    missing : "level", "skip" or dict, default="level"
        Whether a missing value is a level of its own or is ignored.
    special_values : list or dict, optional
        Codes that become levels of their own: of all numeric columns, such as [-9, -8], or by
        column, such as {"income": [-999]}. A code without training rows weighs nothing.
    max_levels : int or dict, optional
        Number of the most frequent categories that keep their own levels, for all columns or by
        name. The others, and values never seen in training, share the level `other`.
    class_prior : array, float or dict, optional
        Class probabilities instead of the training frequencies.
    crosses : list of pairs, optional
        Pairs of columns to join into one feature, such as [("Class", "Sex")]. Its levels are the
        combinations that occur.
    ask_if : dict, optional
        Columns that are asked for only where another column has a given level, such as
        {"pain_site": ("pain", "yes")}. Elsewhere, and where they are missing, they weigh nothing.
    event_model : "levels" or "counts", default="levels"
        "levels": each column has a level. "counts": a row is a document and each column counts a
        token.

    Attributes
    ----------
    evidence_ : Evidence
        The prior and the table of weights.
    classes_ : ndarray
        The class labels. With two, positive weights favour the second.
    n_features_in_ : int
        The number of columns.
    feature_names_in_ : ndarray of str
        Names of the columns, if the table has names.

    Examples
    --------
    >>> from weigh import EvidenceNB
    >>> from weigh.datasets import titanic
    >>> model = EvidenceNB().fit(titanic(), "Survived")
    >>> sheet = model.balance_sheet({"Class": "1st", "Sex": "Female", "Age": "Adult"})
    >>> round(sheet.probability, 2)
    0.9
    """

    event_model: str = "levels"

    _smoothings = ("1/n", *PRINTED)
    _takes_densities = True

    def _learn(self, sample: Sample) -> Evidence:
        tally = self._tally(sample)
        return self._weigh(tally, self._class_rate(tally.classes))

    def _tally(self, sample: Sample) -> Tally:
        if self.event_model == "counts":
            return engine.tally_counts(sample)
        return super()._tally(sample)

    def _weigh(self, tally: Tally, rate: Floats | None) -> Evidence:
        evidence = weigh_tally(tally, self.smoothing, rate)
        if curves := self._curves(tally):
            s = rows_added(self.smoothing, tally.class_counts.sum())
            pairs = zip(evidence, tally.tables, strict=True)
            tables = (
                weigh_density(counts, curves[table.name], s) if table.name in curves else table
                for table, counts in pairs
            )
            evidence = replace(evidence, tables=tuple(tables))
        return replace(evidence, event_model=self.event_model)  # type: ignore[arg-type]

    def _curves(self, tally: Tally) -> dict[str, str]:
        """The kind of density of each column that has one."""
        if self.event_model == "counts":
            return {}
        parts = [part for table in tally.tables for part in table.feature.parts]
        rules = by_column(self.bins, [part.name for part in parts], "bins", type(self).bins)
        return {
            part.name: rules[part.name].kind
            for part in parts
            if part.is_numeric and isinstance(rules[part.name], Density)
        }

    def predict_joint_log_proba(self, X: Any) -> Floats:
        """Log of the joint probability of each row and class under naive Bayes.

        ln P(x, c) = ln P(c) + sum over features j of ln P(x_j|c). What is not known adds nothing.
        With `event_model="counts"` it is ln P(c) + sum over tokens of count times ln P(token|c). A
        column with a `Density` adds the log of its density. The numbers are those of scikit-learn's
        naive Bayes.

        Parameters
        ----------
        X : table
            Rows.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Classes in the order of `classes_`. Less its `logsumexp`, a row is `predict_log_proba`.
        """
        table = self._read(X)
        evidence = self.evidence_
        if evidence.edits:
            raise ValueError(
                "the weights were edited by hand and are no longer those of the counts, so there "
                "is no joint probability; use predict_log_proba"
            )
        prior, logs = np.log(evidence.assumed_rate), self._log_shares(evidence.tally)
        if self.event_model == "counts":
            return engine.total_counts(table, logs[0], prior)
        padded = [np.vstack([log, np.zeros(len(prior))]) for log in logs]
        return engine.total(table, evidence.features, padded, prior)

    def _log_shares(self, tally: Tally) -> list[Floats]:
        """Log shares ln P(v|c) by level and class, of every table."""
        n, curves = tally.class_counts.sum(), self._curves(tally)
        added, s = Added.read(self.smoothing, n, len(tally.classes)), rows_added(self.smoothing, n)
        return [
            log_density(counts, curves[counts.feature.name], s)
            if counts.feature.name in curves
            else log_shares(counts, added)
            for counts in tally.tables
        ]

    def partial_fit(
        self,
        X: Any,
        y: Any,
        classes: Any = None,
        sample_weight: Any = None,
        *,
        feature_names: Any = None,
    ) -> Self:
        """Add a batch of rows to the model.

        The first batch sets the cut points of numeric columns, unless `bins` gives them. When a
        column first exceeds `max_levels`, its levels are fixed. With `event_model="counts"` the
        first batch fixes the vocabulary: other words of later batches are ignored, and rows of
        dicts without any known word give a warning. Give the first batch every word, with the count
        0 where it does not occur.

        Parameters
        ----------
        X : table
            Rows of the same columns as before.
        y : array or str
            Class labels, or the name of their column in X.
        classes : array, optional
            All class labels; needed at the first call unless the first batch has all of them.
        sample_weight : array or str, optional
            Row weights, or the name of their column.
        feature_names : list of str, optional
            Names of the columns of an array or a sparse matrix, as in `fit`.
        """
        if not hasattr(self, "evidence_"):
            return self._begin(X, y, classes, sample_weight, feature_names)
        _refuse_edits(self)
        if classes is not None and read_classes(classes).tolist() != self.classes_.tolist():
            raise ValueError(
                f"classes={classes!r} differs from the classes of the first batch: "
                f"{self.classes_.tolist()}"
            )
        sample = read_sample(self, X, y, sample_weight, self.classes_, feature_names=feature_names)
        given, sample = sample.table, replace(sample, table=self._match(sample.table))
        before = self.evidence_.tally
        if self.event_model == "counts":
            counted = replace(sample.table, matrix=count_matrix(sample.table))
            _warn_new_words(given, counted)
            batch = engine.tally_counts(replace(sample, table=counted))
        else:
            features = [table.feature for table in before.tables]
            batch = engine.tally_levels(sample, features, read_settings(self, sample.table))
        known = getattr(self, "provenance_", None)
        self._keep(self._add(before + batch))
        if known is not None:
            self.provenance_ = known.add(sample.table, y)
        return self

    def _join_rare(self, tally: Tally) -> Tally:
        """Join rare categories of columns that now exceed `max_levels`."""
        if self.max_levels is None:
            return tally
        return tally.join_rare(read_caps(self, self.evidence_.column_names))

    def _add(self, tally: Tally) -> Evidence:
        """Evidence of new counts, with this model's given prior, backend and columns."""
        evidence = self._weigh(self._join_rare(tally), self.evidence_.given_rate)
        return replace(evidence, backend=self.evidence_.backend, columns=self.evidence_.columns)

    def _begin(self, X: Any, y: Any, classes: Any, sample_weight: Any, feature_names: Any) -> Self:
        sample = read_sample(self, X, y, sample_weight, classes, feature_names=feature_names)
        tally = self._tally(sample)
        found = []
        if self.event_model == "levels":
            rules = read_settings(self, sample.table)
            parts = [part for table in tally.tables for part in table.feature.parts]
            cut = [part.name for part in parts if part.is_numeric]
            found = [name for name in cut if isinstance(rules[name].bins, Rule)]
        if found:
            warn_caller(
                f"partial_fit found the cut points of {len(found)} numeric columns in the first "
                f"batch of {sample.table.n_rows} rows and keeps them; bins= can give others",
                UserWarning,
            )
        self._name(sample.table.names, sample.table.named)
        evidence = self._weigh(tally, self._class_rate(tally.classes))
        evidence = branch(evidence, self.ask_if, sample.table)
        return self._keep(remember(evidence, sample.table))

    def merge(self, *others: EvidenceNB) -> EvidenceNB:
        """Merge models of different rows into the model of all rows.

        Parameters
        ----------
        *others : EvidenceNB
            Models of other rows, fitted with the same parameters and, for numeric columns, the same
            cut points. Levels of categories are united; if `max_levels` has joined some, the kept
            levels must be the same.
        """
        check_is_fitted(self, "evidence_")
        _refuse_edits(self)
        for other in others:
            _check_mergeable(self, other)
        tally = add([model.evidence_.tally for model in (self, *others)])
        model = copy.copy(self)._keep(self._add(tally))
        merge_provenance(model, (self, *others))
        return model._name(model.evidence_.column_names, hasattr(self, "feature_names_in_"))


def _refuse_edits(model: EvidenceNB) -> None:
    """Refuse a model edited by hand: recomputing weights from counts would undo the edits."""
    if edits := model.evidence_.edits:
        made = "; ".join(edit.call for edit in edits)
        raise ValueError(
            f"this {type(model).__name__} was edited by hand, which more rows would undo: {made}. "
            "Add the rows to the model before its edits, then make them again: "
            "weigh.edit(updated, X, y).replay(edited.evidence_.edits).model"
        )


def _warn_new_words(given: Table, counted: Table) -> None:
    """Warn of rows of dicts that have words, none of which is in the vocabulary."""
    known = {*counted.names}
    new = [name for name in given.names if name not in known] if given.partial else []
    without = np.diff(counted.matrix.indptr) == 0
    if not (new and without.any()):
        return
    rows = int((without & rows_with(given, new)).sum())
    if rows:
        warn_caller(
            ParameterWarning(
                Parameter("X"),
                f" has {rows:,} of {given.n_rows:,} rows without any word of the first batch, "
                f"which fixes the vocabulary; new words, such as {new[0]!r}, are ignored. Give the "
                "first batch every word, with the count 0 where it does not occur",
            )
        )


def _check_mergeable(one: EvidenceNB, other: EvidenceNB) -> None:
    if not isinstance(other, EvidenceNB):
        raise TypeError(
            f"merge takes models of EvidenceNB, got {type(other).__name__}; EducatedNB has a merge "
            "of its own, and other learners are fitted to all rows"
        )
    check_is_fitted(other, "evidence_")
    _refuse_edits(other)
    named = [hasattr(model, "feature_names_in_") for model in (one, other)]
    if named[0] != named[1] or (not named[0] and one.n_features_in_ != other.n_features_in_):
        raise ValueError(
            f"the models differ in their columns: {one.n_features_in_} against "
            f"{other.n_features_in_}, with names: {named[0]} and {named[1]}"
        )
    for name in ("smoothing", "event_model", "crosses", "max_levels", "ask_if"):
        refuse_different(name, getattr(one, name), getattr(other, name))
    refuse_different("class_prior", one.evidence_.given_rate, other.evidence_.given_rate)
    _check_same_curves(one._curves(one.evidence_.tally), other._curves(other.evidence_.tally))


def _check_same_curves(mine: dict[str, str], theirs: dict[str, str]) -> None:
    """Refuse models with different densities: equal cut points alone would let them merge."""
    for name in mine | theirs:
        kinds = [curves.get(name) for curves in (mine, theirs)]
        if kinds[0] != kinds[1]:
            told = " against ".join(f"a {kind} density" if kind else "bins" for kind in kinds)
            raise ValueError(f"the models differ in bins of column {name!r}: {told}")
