"""EducatedRegressor: the tables of EducatedNB for amounts, counts and rates."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.exceptions import ConvergenceWarning

from weigh import engine
from weigh.base import TableEstimator, warn_ids
from weigh.educated.blanks import settle
from weigh.educated.fit import Fit, fit_task
from weigh.educated.intervals import (
    Amounts,
    Counts,
    Factors,
    Law,
    error_interval,
    error_quantiles,
    law_interval,
)
from weigh.educated.learner import Pair, check_pairs, found_pairs, warn_light_rows, wish_for
from weigh.educated.numbers import Numbers
from weigh.educated.tables import evidence_of
from weigh.educated.task import Task
from weigh.engine import Block
from weigh.errors import Parameter, ParameterError, warn_caller
from weigh.evidence import Evidence, record
from weigh.formula import Spread
from weigh.frames import (
    Floats,
    Sample,
    Table,
    build_beside,
    number_sample,
    read,
    read_numbers,
)
from weigh.newton.families import GAMMA, GAUSSIAN, POISSON, Family, Power
from weigh.parameters import check_parameters, is_number, read_orders, read_settings
from weigh.sheet import (
    COVERAGE,
    EstimateSheet,
    contribute,
    explain_number,
    find_blanks,
    total_variances,
)

FAMILIES: dict[str, Family | None] = {
    "gaussian": GAUSSIAN,
    "poisson": POISSON,
    "gamma": GAMMA,
    "tweedie": None,
}
APART = 0.05
"""Merging intervals moves no total by more than this, relative to the noise of a row."""


@dataclass(frozen=True)
class _Unit:
    """The unit in which a fit sees numbers: their totals are shift + scale t, t those of the fit.

    `noise` is the dispersion of numbers whose dispersion is one to the fit.
    """

    shift: float
    scale: float
    noise: float


class EducatedRegressor(RegressorMixin, TableEstimator):
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
        The exponent of family="tweedie", between 1 and 2: variance = dispersion mean^power.
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
    error_quantiles_ : ndarray
        Quantiles of the leave-one-out errors of the training rows, in standard deviations, which
        give the intervals. None for counts.
    pairs_ : list of Pair
        The pairs: their `columns`, and the `gain`, the share by which `loo_deviance_` would rise
        without the pair.
    n_passes_ : int
        Passes over the rows after counting.

    Notes ----- With an exposure e, the mean of a row is e times exp(total). A sample weight of two
    equals a row given twice; weights that add up to far less than the number of rows raise a
    warning. Intervals assume that the scales are known.

    Examples
    --------
    >>> import numpy as np
    >>> from weigh import EducatedRegressor
    >>> X = np.arange(300.0).reshape(-1, 1) % 30
    >>> model = EducatedRegressor().fit(X, X[:, 0] ** 2)
    >>> model.predict([[10.0]]).round()
    array([100.])
    """

    _default_bins = "fine"
    _extras = (
        "scales_",
        "dispersion_",
        "loo_deviance_",
        "error_quantiles_",
        "pair_gains_",
        "n_passes_",
    )
    smoothing: ClassVar[float] = 0.0
    no_classes: ClassVar[str] = "estimates numbers, not classes; EducatedNB takes classes"

    def __init__(
        self,
        *,
        bins: Any = "fine",
        categorical_features: Any = "from_dtype",
        missing: Any = "level",
        special_values: Any = None,
        max_levels: Any = None,
        crosses: Any = None,
        family: str = "gaussian",
        power: float = 1.5,
        pairs: Any = "auto",
        unpaired: Any = None,
        monotonic_cst: Any = None,
    ) -> None:
        self.bins = bins
        self.categorical_features = categorical_features
        self.missing = missing
        self.special_values = special_values
        self.max_levels = max_levels
        self.crosses = crosses
        self.family = family
        self.power = power
        self.pairs = pairs
        self.unpaired = unpaired
        self.monotonic_cst = monotonic_cst

    @property
    def evidence_(self) -> Evidence:
        """The prior and the tables of weights."""
        if "_learnt" not in vars(self):
            raise AttributeError(f"this {type(self).__name__} has no evidence_ before it is fitted")
        return self._learnt  # type: ignore[no-any-return]

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
        apart = self._read_apart(table, exposure, offset)
        sample, numbers = number_sample(table, y, sample_weight)
        named = {name for name in (exposure, offset) if isinstance(name, str)}
        if named & {*sample.table.names}:
            sample = replace(sample, table=sample.table.without(named & {*sample.table.names}))
        _check_target(family, numbers, y if isinstance(y, str) else "y", self.family)
        warn_light_rows(sample)
        self._learn(sample, family, numbers, apart[sample.kept])
        warn_ids(self.evidence_.features, sample.table.n_rows, self.evidence_.tables)
        self.provenance_ = record(sample.table, y)
        return self

    def _learn(self, sample: Sample, family: Family, numbers: Floats, apart: Floats) -> None:
        weight = np.ones(len(numbers)) if sample.weight is None else sample.weight
        labels, unit = _labels(family, numbers, weight, apart)
        mean = float(labels[:, 0] @ (weight * labels[:, 1]) / (weight @ labels[:, 1]))
        least = 1 / unit.noise if family.power == 1 and _are_counts(numbers) else 0.0
        target = Numbers(family, mean, float(weight.sum()), least=least)
        tally = self._tally(sample)
        rows = engine.code_rows(sample, [counts.feature for counts in tally.tables])
        assert isinstance(rows, engine.CodedRows)
        plain = labels[:, 0].copy() if (labels[:, 1] == 1).all() else labels
        rows = replace(rows, labels=plain)
        orders = read_orders(self.monotonic_cst, tally, sample.table)
        wish = wish_for(self.pairs, self.unpaired, sample.table)
        with engine.one_blas_thread():  # whose sums would depend on how many there are
            fit = _fit_and_warn(Task(rows, tally.tables, target, orders, wish))
            noise = fit.search.noise
            bare = Evidence(
                classes=np.array([sample.target], dtype=object),
                class_counts=np.array([weight.sum()]),
                prior=0.0,
                tables=(),
                assumed_rate=np.ones(1),
                form=family.link,
            )
            fine = {n for n, s in read_settings(self, sample.table).items() if s.bins == "fine"}
            evidence = evidence_of(bare, fit.counts, [fit], fine, _apart(family, noise, mean))
            known = evidence.covariance is not None
            self.error_quantiles_ = error_quantiles(
                fit, Block(rows.codes, rows.labels, rows.weight), known
            )
            evidence, passes = settle(evidence, rows, [c.feature for c in tally.tables], target)
        self.dispersion_ = noise * unit.noise
        self.loo_deviance_ = 2 * fit.held_out.mean * unit.noise
        self.scales_ = fit.scales / noise / unit.scale**2
        self.pair_gains_ = np.array(fit.gains) * np.log(2) / max(fit.held_out.mean, 1e-300)
        self.n_passes_ = fit.n_passes + passes[0]
        self._name(sample.table.names, sample.table.named)
        evidence = _in_unit(evidence, unit)
        self._keep(replace(evidence, backend=sample.table.backend, columns=sample.table.names))

    def _keep(self, learnt: Evidence) -> Self:
        self._learnt = learnt
        self.__dict__.pop("provenance_", None)
        return self

    def _check(self) -> Family:
        check_parameters(self)
        rules = self.bins.values() if isinstance(self.bins, dict) else [self.bins]
        if any(isinstance(rule, str) and rule == "mdl" for rule in rules):
            raise ValueError("bins='mdl' needs classes; give 'fine', a number of bins, or cuts")
        check_pairs(self.pairs)
        if not (isinstance(self.family, str) and self.family in FAMILIES):
            raise ValueError(f"family must be one of {[*FAMILIES]}, got {self.family!r}")
        if not (is_number(self.power) and 1 < self.power < 2):
            raise ValueError(f"power must be a number between 1 and 2, got {self.power!r}")
        return self._family

    @property
    def _family(self) -> Family:
        return FAMILIES[self.family] or Power(float(self.power))

    def _read_apart(self, table: Table, exposure: Any, offset: Any) -> Floats:
        """What is added to the total of each row beside its weights."""
        found = np.zeros(table.n_rows)
        if offset is not None:
            found = found + read_numbers(table, offset, "offset")
        if exposure is None:
            return found
        if self._family.link != "log":
            raise ParameterError(
                Parameter("exposure"),
                f" multiplies the mean, which family={self.family!r} does not do; give ",
                Parameter("offset"),
                ", or a family with a log link ('poisson', 'gamma', 'tweedie')",
            )
        own = read_numbers(table, exposure, "exposure")
        if not (own > 0).all():
            named = f" {exposure!r}" if isinstance(exposure, str) else ""
            raise ParameterError(
                Parameter("exposure"),
                f"{named} must be positive, but holds {own.min():g}; drop such rows",
            )
        return found + np.log(own)

    # ------------------------------------------------------------ predicting

    def predict(self, X: Any, *, exposure: Any = None, offset: Any = None) -> Floats:
        """The estimated mean of each row.

        Parameters
        ----------
        X : table
            Rows.
        exposure, offset : array or str, optional
            As in `fit`; 1 and 0 where they are not given.
        """
        table = self._read(X)
        return self._predict(table, self._apart(X, exposure, offset))

    def _predict(self, table: Table, apart: Floats | float = 0.0) -> Floats:
        return self._learnt.means(self._learnt.total(table)[:, 0] + apart)  # type: ignore[no-any-return]

    def _apart(self, X: Any, exposure: Any, offset: Any) -> Floats | float:
        """The columns are looked for in the whole of X."""
        if exposure is None and offset is None:
            return 0.0
        return self._read_apart(read(X), exposure, offset)

    def predict_interval(
        self, X: Any, coverage: float = 0.9, *, exposure: Any = None, offset: Any = None
    ) -> Floats:
        """The interval in which the target of a new row lies with probability `coverage`.

        The columns are the lower and the upper limit. Their distance from the estimate comes from
        the leave-one-out errors of the training rows, in standard deviations (for counts, from the
        Poisson distribution). Coverage is right on average, and at each estimate if the noise has
        the same shape everywhere. A feature that is not known widens the interval by its variance;
        with a log link, its levels are averaged as frequent as in training.
        """
        table = self._read(X)
        _check_coverage(coverage)
        apart = self._apart(X, exposure, offset)
        return np.column_stack(self._interval(table, coverage, apart))

    def _interval(
        self, table: Table, coverage: float, apart: Floats | float = 0.0
    ) -> tuple[Floats, Floats]:
        mean = self._predict(table, apart)
        blank = find_blanks(self._learnt, table)
        if self._family.power:
            return law_interval(self._law, mean, Factors.of(self._learnt, blank), coverage)
        low, high = error_interval(self.error_quantiles_, coverage)
        varied = np.array([float(part.share @ part.centred[:, 0] ** 2) for part in self._learnt])
        known = total_variances(self._learnt, table)
        spread = np.sqrt(self.dispersion_ + known + blank @ varied)
        return mean + low * spread, mean + high * spread

    @property
    def _law(self) -> Law:
        if len(self.error_quantiles_) == 0:
            return Counts(self.dispersion_)
        return Amounts(self.error_quantiles_, self.dispersion_, self._family.power)

    @property
    def _spread(self) -> Spread:
        return Spread(self._family.power, self.dispersion_, self.error_quantiles_)

    def predict_error(self, X: Any) -> Floats:
        """The standard error of each row's estimate, that of the mean; NaN where it is not known.

        With a log link it is the error of the logarithm: an error of 0.05 is about 5 percent.
        """
        table = self._read(X)
        if self._learnt.covariance is None:
            return np.full(table.n_rows, np.nan)
        return np.sqrt(total_variances(self._learnt, table))

    def _score_columns(self, table: Table, exposure: str | None = None) -> dict[str, Any]:
        """The estimate of every row and an interval of 90% around it, as columns."""
        rows, apart = self._read(table), self._apart(table, exposure, None)
        low, high = self._interval(rows, 0.9, apart)
        return {"estimate": self._predict(rows, apart), "low": low, "high": high}

    # ------------------------------------------------------------ explaining

    def contributions(self, X: Any) -> Any:
        """What the prior and each table add to the total of every row, as columns.

        The columns add up to `predict`, or to its logarithm where the family has a log link. They
        come in the library that X came from (an Arrow table for arrays and lists).
        """
        table = self._read(X)
        return build_beside(X, contribute(self.evidence_, table), table.backend)

    def balance_sheet(self, row: Any) -> EstimateSheet:
        """Explain the estimate of one case, in the unit of y.

        Parameters
        ----------
        row : mapping, sequence or table of one row
            The case. A mapping may leave out answers that are not known.
        """
        return self._explain(self._read_one(row, "a balance sheet"))

    def _explain(self, table: Table) -> EstimateSheet:
        """The sheet of a table's only row."""
        low, high = (float(end[0]) for end in self._interval(table, COVERAGE))
        return explain_number(self._learnt, table, (low, high))

    def _explain_case(self, row: Any, pos_label: Any, against: Any) -> EstimateSheet:
        if pos_label is not None or against is not None:
            both = Parameter("pos_label"), " and ", Parameter("against")
            raise ParameterError("a regressor has no classes: leave ", *both, " out")
        return self.balance_sheet(row)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = self.family in ("poisson", "gamma", "tweedie")
        return tags


def _fit_and_warn(task: Task) -> Fit:
    fit = fit_task(task)
    if fit.complaint():
        warn_caller(f"EducatedRegressor has not converged: {fit.complaint()}", ConvergenceWarning)
    return fit


def _labels(family: Family, numbers: Floats, weight: Floats, apart: Floats) -> tuple[Floats, _Unit]:
    """Numbers as the fit sees them, and what each counts for.

    Amounts are centred and divided by their standard deviation. With a log link, a number is
    divided by its exposure e = exp(apart), and counts for e^(2 - power): the loss of y at the mean
    e m is that of y/e at m, times so much. Exposures are relative to their geometric mean, and what
    comes of it to its own mean, so that a fit does not depend on the unit of either.
    """
    large = float(np.abs(numbers).max()) or 1.0  # so that no square or sum is too large
    if family.link == "identity":
        return _centred((numbers - apart) / large, weight, large)
    usual = float(apart[0]) if np.ptp(apart) == 0 else float(np.average(apart, weights=weight))
    own = np.exp((apart - usual) * (2 - family.power))
    each = numbers / large * np.exp(usual - apart)
    mean = float(each @ (weight * own) / (weight @ own))
    shift = float(np.log(large) + np.log(mean))
    unit = _Unit(shift - usual, 1.0, float(np.exp(shift * (2 - family.power))))
    return np.column_stack([each / mean, own]), unit


def _are_counts(numbers: Floats) -> bool:
    """Whether numbers are whole, and small enough that a fraction would be seen."""
    return bool((numbers == np.rint(numbers)).all() and numbers.max() < 2**52)


def _centred(net: Floats, weight: Floats, large: float) -> tuple[Floats, _Unit]:
    """Amounts that are so many times as large in the target's unit, in standard deviations."""
    share = weight / weight.sum()
    mean = float(net @ share)
    spread = float(np.sqrt((net - mean) ** 2 @ share))
    spread = spread if spread > 1e-13 * np.abs(net).max() else 1 / large
    scale = spread * large
    if not SMALL < scale < 1 / SMALL:
        raise ValueError(
            f"y varies by {scale:.3g}, whose square is too {'small' if scale < 1 else 'large'} a "
            f"number; give y in another unit, such as y/{scale:.0e}"
        )
    unit = _Unit(mean * large, scale, scale**2)
    return np.column_stack([(net - mean) / spread, np.ones(len(net))]), unit


def _apart(family: Family, noise: float, mean: float) -> float:
    """How far merging intervals may move a total; with a log link no factor by more than 5%."""
    if family.link == "identity":
        return APART * float(np.sqrt(noise))
    return APART * min(float(np.sqrt(noise * mean ** (family.power - 2))), 1.0)


SMALL = 1e-150
"""The square of a number as small, or of one over it, is still a number with all its digits."""


def _in_unit(evidence: Evidence, unit: _Unit) -> Evidence:
    """Tables and prior in the target's unit."""
    k = unit.scale
    tables = tuple(
        replace(
            table,
            by_class=table.by_class * k,
            known_errors=None if table.known_errors is None else table.known_errors * k,
        )
        for table in evidence
    )
    prior = unit.shift + k * float(evidence.prior_row[0])
    covariance = None if evidence.covariance is None else evidence.covariance * k**2
    return replace(evidence, tables=tables, prior=prior, covariance=covariance)


def _check_target(family: Family, numbers: Floats, name: str, told: str) -> None:
    """Refuse numbers that the family does not have."""
    if family.least is None:
        return
    if not numbers.any():
        raise ValueError(f"{name} is zero in every row; family={told!r} needs a positive mean")
    low = float(numbers.min())
    if low < family.least or (family.open and low == family.least):
        wanted = "positive numbers" if family.open else "numbers of 0 or more"
        raise ValueError(
            f"{name} holds {low:g}, but family={told!r} takes {wanted}; drop such rows or choose "
            "another family, such as family='gaussian'"
        )


def _refuse_target(y: Any, **columns: Any) -> None:
    """Refuse a column that is the target and something else as well."""
    for role, column in columns.items():
        if isinstance(y, str) and isinstance(column, str) and column == y:
            raise ParameterError(Parameter(role), f" {column!r} is the target; name another column")


def _check_coverage(coverage: Any) -> None:
    if not (is_number(coverage) and 0 < coverage < 1):
        raise ValueError(f"coverage must be a number between 0 and 1, got {coverage!r}")
