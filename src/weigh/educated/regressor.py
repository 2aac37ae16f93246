"""EducatedRegressor: the tables of EducatedNB for amounts, counts and rates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.metrics import r2_score

from weigh import engine
from weigh.arrays import Floats
from weigh.base import NumberEstimator, warn_columns
from weigh.educated.blanks import zero_not_known
from weigh.educated.fit import Fit
from weigh.educated.intervals import check_stated, error_quantiles, row_interval, warn_lone_row
from weigh.educated.learner import (
    EducatedParameters,
    Pair,
    check_pairs,
    fit_and_warn,
    found_pairs,
    request_pairs,
    warn_light_rows,
)
from weigh.educated.numbers import (
    FittedNumbers,
    NumberTarget,
    Unit,
    check_target,
    find_family,
    in_unit,
    merging_limit,
)
from weigh.educated.tables import replace_tables
from weigh.educated.task import Task
from weigh.engine import Block
from weigh.errors import Parameter, ParameterError
from weigh.evidence import Evidence, record, with_labels
from weigh.evidence.exposure import (
    find_given,
    list_offsets,
    name_given,
    read_offset,
    refuse_missing,
    spread_out,
)
from weigh.formula import Spread
from weigh.frames import Sample, Table, as_rows, build_beside, keep_reader, number_sample, read
from weigh.newton.regression import Family
from weigh.parameters import read_orders
from weigh.sheet import (
    COVERAGE,
    EstimateSheet,
    contribute,
    explain_number,
    refuse_classes,
    total_variances,
)


@dataclass(kw_only=True, eq=False, repr=False)
class EducatedRegressor(EducatedParameters, RegressorMixin, NumberEstimator):
    """Regressor with one table of weights per feature, all weights fitted together.

    The model is::

        estimate = w_0 + w_1(x_1) + ... + w_d(x_d)            family="gaussian"
        estimate = exp(w_0 + w_1(x_1) + ... + w_d(x_d))       "poisson", "gamma", "tweedie"

    The weights minimise a penalised loss, as in `EducatedNB`. Levels of categories are shrunk
    towards zero, and neighbouring bins towards each other. Scales and noise maximise the marginal
    likelihood, so there is nothing to tune. The prior is the mean of the training rows. Weights of
    the gaussian family are in the unit of the target; with a log link, exp(weight) is a factor.

    Parameters
    ----------
    bins : "fine", int or dict, default="fine"
        Bins of numeric columns, as in `EducatedNB`.
    categorical_features, missing, special_values, max_levels, crosses
        As in `EvidenceNB`.
    family : "gaussian", "poisson", "gamma" or "tweedie", default="gaussian"
        Kind of target: any amount ("gaussian", mean = total), or, with mean = exp(total), a count
        ("poisson"), a positive amount ("gamma") or an amount of 0 or more ("tweedie"). With
        "poisson", targets that are not all whole are amounts whose variance is a multiple of their
        mean.
    power : float, default=1.5
        Variance power of family="tweedie", between 1 and 2: variance = dispersion mean^power.
    pairs : "auto", int or list of pairs of columns, default="auto"
        Pairs of features with their own tables, as in `EducatedNB`.
    unpaired : list of columns, optional
        Columns to leave out of the search for pairs.
    monotonic_cst : dict or array, optional
        Monotone constraints: numeric or ordered columns whose weights only rise (1) or only fall
        (-1), such as {"age": 1}.

    Attributes
    ----------
    evidence_ : Evidence
        The prior and the tables, in the target's unit or its logarithm.
    dispersion_ : float
        Variance of the noise (gaussian), or the factor of the family's variance. At least 1 for
        counts (family="poisson" and whole numbers).
    loo_deviance_ : float
        Leave-one-out mean deviance of the training rows; for the gaussian family the mean squared
        error.
    scales_ : ndarray
        One over the variance of the weights of each table.
    tied_ : ndarray of bool
        Whether a table is one of many weak pairs, which share one scale and a smooth prior.
    error_quantiles_ : ndarray
        Quantiles of the leave-one-out errors of the training rows, in standard deviations, which
        give the intervals. None for counts.
    pairs_ : list of Pair
        The pairs: their `columns`, and the `gain`, the share by which `loo_deviance_` would rise
        without the pair.
    n_passes_ : int
        Passes over the rows after counting.

    Notes
    -----
    With an exposure e, the mean of a row is e times exp(total). A sample weight of two equals a row
    given twice; weights that add up to far less than the number of rows raise a warning. Intervals
    of gaussian fits of up to 1,000 rows include the uncertainty of the scales; others assume that
    they are known.

    Examples
    --------
    >>> import numpy as np
    >>> from weigh import EducatedRegressor
    >>> X = np.arange(300.0).reshape(-1, 1) % 30
    >>> model = EducatedRegressor().fit(X, X[:, 0] ** 2)
    >>> model.predict([[10.0]]).round()
    array([100.])
    """

    smoothing: Any = field(default=0.0, init=False)  # not a parameter
    family: str = "gaussian"
    power: float = 1.5

    _extras = (
        "scales_",
        "tied_",
        "dispersion_",
        "loo_deviance_",
        "error_quantiles_",
        "pair_gains_",
        "n_passes_",
    )
    _later_extras = ("tied_",)
    no_classes: ClassVar[str] = "estimates numbers, not classes; EducatedNB takes classes"

    @property
    def pairs_(self) -> list[Pair]:
        """The pairs that have their own tables, the largest gain first."""
        return found_pairs(self.evidence_, self.pair_gains_)

    # ------------------------------------------------------------ learning

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, exposure: Any = None, offset: Any = None
    ) -> Self:
        """Fit the model to a table.

        Parameters
        ----------
        X : table
            Any dataframe, array or list of dicts.
        y : array or str
            Numbers, or the name of their column in X.
        sample_weight, exposure, offset : array or str, optional
            Row weights; factors of the mean (log link), such as years at risk; and numbers added to
            the total. Each may be the name of a column of X, which is then not a feature.
        """
        family = self._check()
        table = read(X).to_learn_from()
        _refuse_target(y, exposure=exposure, offset=offset)
        apart = read_offset(family, self.family, table, exposure, offset)
        sample, numbers = number_sample(table, y, sample_weight)
        named = {name for name in (exposure, offset) if isinstance(name, str)}
        if named & {*sample.table.names}:
            sample = replace(sample, table=sample.table.without(named & {*sample.table.names}))
        check_target(family, numbers, sample.target, self.family, sample.kept)
        warn_light_rows(sample)
        self._learn(sample, family, numbers, apart[sample.kept])
        given = {"exposure": name_given(exposure), "offset": name_given(offset)}
        self._learnt = replace(self._learnt, **given)
        own = self.evidence_
        warn_columns(own.features, sample.table, own.tables, self.categorical_features)
        self.provenance_ = record(sample.table, y)
        return self

    def _learn(self, sample: Sample, family: Family, numbers: Floats, apart: Floats) -> None:
        tally = self._tally(sample)
        features = [counts.feature for counts in tally.tables]
        coded = engine.code_rows(sample, features)
        assert isinstance(coded, engine.CodedRows)
        orders = read_orders(self.monotonic_cst, tally, sample.table.names)
        request = request_pairs(self.pairs, self.unpaired, sample.table)
        with engine.one_blas_thread():  # rounding would depend on the number of threads
            seen = FittedNumbers.of(family, numbers, sample.weights, apart)
            warn_lone_row(seen.target, len(numbers))
            rows = replace(coded, labels=seen.labels)
            task = Task(rows, tally.tables, seen.target, orders, request)
            fit = fit_and_warn(task, type(self).__name__)
            evidence = self._merge_intervals(sample, fit, seen.target)
            block, known = Block(rows.codes, rows.labels, rows.weight), evidence.covariance
            self.error_quantiles_ = error_quantiles(fit, block, known is not None)
            evidence, passes = zero_not_known(evidence, rows, features, seen.target)
        self._state(fit, seen.unit, fit.n_passes + passes[0])
        self._name(sample.table.names, sample.table.named)
        evidence = in_unit(evidence, seen.unit)
        self._keep(replace(evidence, backend=sample.table.backend, columns=sample.table.names))

    def _merge_intervals(self, sample: Sample, fit: Fit, target: NumberTarget) -> Evidence:
        """The tables of a fit, with bins of nearly equal weight merged."""
        bare = Evidence(
            classes=np.array([sample.target], dtype=object),
            class_counts=np.array([target.n_rows]),
            prior=0.0,
            tables=(),
            assumed_rate=np.ones(1),
            form=target.family.link,
        )
        fine, limit = self._fine(sample.table), merging_limit(target, fit.search.noise)
        return replace_tables(bare, fit.counts, [fit], fine, limit)

    def _state(self, fit: Fit, unit: Unit, n_passes: int) -> None:
        """Store dispersion, loss, scales and gains of a fit, in the unit of the target."""
        self.dispersion_ = fit.search.noise * unit.noise
        self.loo_deviance_ = 2 * fit.held_out.mean * unit.noise
        self.scales_ = fit.scales / fit.search.noise / unit.scale**2
        self.tied_ = fit.tied
        self.pair_gains_ = np.array(fit.gains) * np.log(2) / max(fit.held_out.mean, 1e-300)
        self.n_passes_ = n_passes

    def _unknown_extras(self) -> dict[str, Any]:
        own_scales = np.zeros(len(self._learnt), dtype=bool)
        return super()._unknown_extras() | {"tied_": own_scales}

    def _check(self) -> Family:
        self._check_bins()
        check_pairs(self.pairs)
        return find_family(self.family, self.power)

    @property
    def _family(self) -> Family:
        return find_family(self.family, self.power)

    # ------------------------------------------------------------ predicting

    def predict(self, X: Any, *, exposure: Any = None, offset: Any = None) -> Floats:
        """The estimated mean of each row.

        Parameters
        ----------
        X : table
            Rows.
        exposure, offset : array or str, optional
            As in `fit`. Default, and where they are missing (with a warning): an exposure of 1 and
            an offset of 0. An exposure may be one number.
        """
        return self._predict(*self._read_beside(X, exposure, offset))

    def _beside(self) -> tuple[str, ...]:
        return self._learnt.beside  # type: ignore[no-any-return]

    def _predict(self, table: Table, apart: Floats | float = 0.0) -> Floats:
        return self._learnt.means(self._learnt.total(table)[:, 0] + apart)  # type: ignore[no-any-return]

    def _read_beside(self, X: Any, exposure: Any, offset: Any) -> tuple[Table, Floats | float]:
        """Rows, and the offset of each total, from any columns of X, which is read once."""
        self._column_names()  # an unfitted model is reported before errors about X
        table = read(X)
        rows = self._match(table)
        if exposure is None and offset is None:
            return rows, 0.0
        exposure = spread_out(exposure, table.n_rows)
        return rows, read_offset(self._family, self.family, table, exposure, offset, missing=True)

    def score(
        self, X: Any, y: Any, sample_weight: Any = None, *, exposure: Any = None, offset: Any = None
    ) -> float:
        """R2 of the estimates: 1 - squared error/squared error of predicting the mean of y.

        Parameters
        ----------
        X, y, sample_weight
            Rows, with their targets and weights, or the names of their columns in X.
        exposure, offset : array or str, optional
            As in `fit`. Default: the columns of the fit, which X must then have. `exposure=1` gives
            estimates per unit of exposure.
        """
        X = keep_reader(X)
        table = read(X)
        sample, numbers = number_sample(table, y, sample_weight)
        given = find_given(self.evidence_, table.names, exposure, offset)
        refuse_missing(table, given)
        estimates = self.predict(X, **given)[sample.kept]
        return float(r2_score(numbers, estimates, sample_weight=sample.weight))

    def predict_interval(
        self, X: Any, coverage: float = 0.9, *, exposure: Any = None, offset: Any = None
    ) -> Floats:
        """The interval in which the target of a new row lies with probability `coverage`.

        The columns are the lower and the upper limit. Their distance from the estimate comes from
        the leave-one-out errors of the training rows, in standard deviations; of few rows, their
        outermost quantiles are those of Student's t. For counts it comes
        from the Poisson or negative binomial distribution: it is the shortest interval that
        reaches `coverage`.

        Coverage holds on average over all rows, and for each row if the noise has the same
        distribution everywhere. A feature that is not known adds its variance; with a log link,
        the distribution is averaged over its levels by their shares of training rows.
        """
        rows, apart = self._read_beside(X, exposure, offset)
        check_stated(coverage)
        return np.column_stack(self._interval(rows, coverage, apart))

    def _interval(
        self, table: Table, coverage: float, apart: Floats | float = 0.0
    ) -> tuple[Floats, Floats]:
        mean = self._predict(table, apart)
        return row_interval(self._learnt, table, mean, self._spread, coverage)

    @property
    def _spread(self) -> Spread:
        return Spread(self._family.power, self.dispersion_, self.error_quantiles_)

    def predict_error(self, X: Any) -> Floats:
        """The standard error of each row's estimated mean; NaN if it is not known.

        With a log link it is the error of the logarithm: an error of 0.05 is about 5 percent.
        """
        table = self._read(X)
        if self._learnt.covariance is None:
            return np.full(table.n_rows, np.nan)
        return np.sqrt(total_variances(self._learnt, table))

    def _score_columns(
        self, table: Table, exposure: Any = None, offset: Any = None
    ) -> dict[str, Any]:
        """The estimate of every row and its 90% prediction interval, as columns."""
        rows, apart = self._read_beside(table, exposure, offset)
        low, high = self._interval(rows, 0.9, apart)
        return {"estimate": self._predict(rows, apart), "low": low, "high": high}

    # ------------------------------------------------------------ explaining

    def contributions(self, X: Any) -> Any:
        """The contributions of the prior and of each table to the total of every row, as columns.

        The columns add up to `predict`, or to its logarithm if the family has a log link. The
        result is a dataframe of the same library as X (an Arrow table for arrays and lists).
        """
        table = self._read(X)
        return build_beside(X, contribute(self.evidence_, table), table.backend)

    def balance_sheet(self, row: Any, *, labels: Any = None) -> EstimateSheet:
        """Explain the estimate of one case, in the unit of y.

        Parameters
        ----------
        row : mapping, sequence or table of one row
            The case. A mapping may leave out values that are not known. If the model was fitted
            with named columns of exposure or offset, the row's own values are used; where the row
            has none, an exposure of 1 and an offset of 0.
        labels : dict, optional
            Your names of columns and levels, as in `report`.
        """
        table = self._read_one(row, "a balance sheet")
        return self._explain(table, self._apart_of(row), with_labels(self._learnt, labels))

    def _apart_of(self, row: Any) -> dict[str, float]:
        """What the row's exposure and offset add to its total; a missing one is left out."""
        columns = list_offsets(self._learnt)
        table = read(as_rows(row)) if columns else None
        found = {}
        for column in columns:
            if table is not None and column.name in table.names:
                cell = table.column(column.name, categorical=False)
                value = float(cell.values[0])  # type: ignore[arg-type]
                if not np.isnan(value):
                    found[f"{column.name} = {value:g} ({column.role})"] = column.add(value)
        return found

    def _explain(
        self, table: Table, apart: Mapping[str, float] | None = None, named: Evidence | None = None
    ) -> EstimateSheet:
        """The sheet of a table's only row; `apart` adds to its total beside the weights.

        `named` is the evidence with the names to show.
        """
        beside = sum((apart or {}).values())
        low, high = (float(end[0]) for end in self._interval(table, COVERAGE, beside))
        return explain_number(named or self._learnt, table, (low, high), apart)

    def _explain_case(
        self, row: Any, pos_label: Any, against: Any, labels: Any = None
    ) -> EstimateSheet:
        refuse_classes("a regressor has no classes", pos_label, against)
        return self.balance_sheet(row, labels=labels)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = self.family in ("poisson", "gamma", "tweedie")
        return tags


def _refuse_target(y: Any, **columns: Any) -> None:
    """Raise an error if one column is named twice: as target, exposure or offset."""
    for role, column in columns.items():
        if isinstance(y, str) and isinstance(column, str) and column == y:
            raise ParameterError(Parameter(role), f" {column!r} is the target; name another column")
    exposure, offset = columns["exposure"], columns["offset"]
    if isinstance(exposure, str) and isinstance(offset, str) and exposure == offset:
        raise ParameterError(
            Parameter("offset"),
            f" {offset!r} is also the exposure; name another column",
        )
