"""EducatedSurvival: the tables of EducatedNB for the time to an event."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np

from weigh.arrays import Floats
from weigh.base import NumberEstimator, warn_columns
from weigh.educated import EducatedNB
from weigh.educated.learner import EducatedParameters
from weigh.errors import Parameter, ParameterError
from weigh.evidence import Evidence, FeatureTable, Provenance, record
from weigh.frames import Table
from weigh.parameters import check_parameters
from weigh.sheet import BalanceSheet, explain, refuse_classes
from weigh.survival.outcomes import Outcomes, check_time, check_times, order_times
from weigh.survival.periods import (
    Expanded,
    Periods,
    count_rows,
    hazard_parameters,
    read_survival,
    spell_moment,
    with_rows,
)


@dataclass(kw_only=True, eq=False, repr=False)
class EducatedSurvival(EducatedParameters, NumberEstimator):
    """Survival model with one table of weights per feature, in discrete time.

    Follow-up is divided into periods. The hazard of a period is the probability that the event
    comes in it, given that it has not come before::

        log odds of the hazard = w_0 + w_time(period) + w_1(x_1) + ... + w_d(x_d)
        survival to the end of period k = (1 - hazard_1) ... (1 - hazard_k)

    The weights are those of `EducatedNB`, fitted to one row for each row and period at risk
    (`person_periods`). The data decide how strongly each table is shrunk. A pair of a feature and
    the time lets the effect of the feature change over time.

    Parameters
    ----------
    periods : int or list of numbers, default=20
        Number of periods, with about equally many events each, or their ends, in the unit of the
        duration. Periods in which more than about a fifth of the rows at risk have the event are
        divided further. Events after the last end given are not used.
    bins, categorical_features, missing, special_values, max_levels, crosses
        As in `EducatedNB`.
    pairs, unpaired, monotonic_cst
        As in `EducatedNB`. The time may be named in them.

    Attributes
    ----------
    evidence_ : Evidence
        The prior and the tables of the log odds of the hazard, including the table of the time.
    hazard_ : EducatedNB
        The model of the hazard, with the end of the period as a column.
    period_ends_ : ndarray
        The end of each period.
    horizon_ : float
        The end of the follow-up, until which survival is estimated: the longest duration of the
        training rows or, if events come after the last of the given `periods`, its end.
    level_rows_ : ndarray of shape (levels, 2) or None
        Numbers of censored training rows and of those with the event, for each level of the tables
        without the time, table by table, and in the last row for all rows. `weigh.drift` compares
        new rows with them. None if the model was saved by a release that did not count them.

    Notes
    -----
    A row that is censored within a period has as its weight the share of the period's cumulative
    hazard, estimated from all rows, up to the censoring time. If every time of an event ends a
    period, the model without features and without shrinkage is the Kaplan-Meier estimator.

    Examples
    --------
    >>> import numpy as np
    >>> from weigh import EducatedSurvival
    >>> random = np.random.default_rng(0)
    >>> drug = random.integers(0, 2, 2000)
    >>> days = np.minimum(random.exponential(np.where(drug, 200.0, 100.0)), 300.0)
    >>> rows = [{"drug": d, "days": t, "died": t < 300} for d, t in zip(drug, days)]
    >>> model = EducatedSurvival().fit(rows, ("died", "days"))
    >>> model.predict_survival([{"drug": 0}, {"drug": 1}], [100.0]).round(1)
    array([[0.4],
           [0.6]])
    """

    smoothing: Any = field(default=0.0, init=False)  # not a parameter
    periods: Any = 20

    _extras = (
        "period_ends_",
        "times_",
        "done_",
        "horizon_",
        "event_name_",
        "time_name_",
        "level_rows_",
    )
    _later_extras = ("level_rows_",)

    no_classes: ClassVar[str] = "estimates the time to an event, not classes; give its hazard_"

    # ------------------------------------------------------------ learning

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the model to a table.

        Parameters
        ----------
        X : table
            Any dataframe, array or list of dicts, in memory.
        y : pair or triple of str, dataframe or structured array
            Names of the columns of X with the event (1 if it came, 0 if the row is censored), the
            duration and, optionally, the entry, before which the row was not observed: such as
            ("died", "days"). Or a dataframe of these columns, in this order, or a structured array
            with a boolean field of events and a field of durations, as in scikit-survival.
        sample_weight : array or str, optional
            Row weights, or the name of their column in X.
        """
        check_parameters(self)
        table, outcomes, weight = read_survival(X, y, sample_weight)
        self._learn(table, outcomes, weight)
        own = [f for f in self._learnt.features if outcomes.time_name not in _columns(f)]
        warn_columns(own, table)
        self.provenance_ = record(table, ", ".join(outcomes.names))
        return self

    def _learn(self, table: Table, outcomes: Outcomes, weight: Floats) -> None:
        found = Periods.of(outcomes, weight, self.periods)
        self._keep_periods(found)
        self.horizon_ = found.horizon(outcomes)
        self.event_name_, self.time_name_ = outcomes.event_name, outcomes.time_name
        rows = found.expand(outcomes)
        if rows.event.all():
            raise ParameterError(
                "every row has the event in the first period; give earlier ends in ",
                Parameter("periods"),
            )
        at_risk = self._at_risk(table, rows)
        hazard = EducatedNB(**hazard_parameters(self, table.names, outcomes.time_name, found.ends))
        hazard.fit(at_risk, rows.event, sample_weight=rows.share * weight[rows.rows])
        self._name(table.names, table.named)
        self._keep(hazard.evidence_)
        self.level_rows_ = count_rows(self._timeless, table, outcomes, weight)

    def _at_risk(self, table: Table, rows: Expanded) -> Table:
        """One row for each row and period at risk, with the end of the period."""
        own = replace(table, named=True).rows(rows.rows)
        return own.with_numbers(self.time_name_, self._periods.ends[rows.period])

    def _keep_periods(self, found: Periods) -> None:
        self.period_ends_, self.times_, self.done_ = found.ends, found.times, found.done

    def _own_columns(self, learnt: Any) -> tuple[str, ...]:
        """Columns of a table to predict, which has no time column."""
        return tuple(name for name in learnt.column_names[:-1])

    @property
    def _periods(self) -> Periods:
        own = (self.period_ends_, self.times_, self.done_)
        return Periods(*map(np.atleast_1d, own))

    @property
    def evidence_(self) -> Evidence:
        """The prior and the tables of the hazard's log odds."""
        learnt = super().evidence_
        return replace(learnt, classes=np.array(self._class_texts, dtype=object), form="hazard")

    @property
    def _class_texts(self) -> tuple[str, str]:
        return f"no {self.event_name_}", str(self.event_name_)

    @property
    def hazard_(self) -> EducatedNB:
        """Model of the hazard: a classifier whose rows have the end of the period as a column."""
        learnt = replace(self._learnt, class_texts=self._class_texts)
        origin = Provenance(part_of=type(self).__name__)  # its rows are not those of this fit
        model = EducatedNB.of(learnt, named=True, provenance=origin)
        model.__dict__.update(model._unknown_extras())
        return model

    @property
    def _timeless(self) -> list[FeatureTable]:
        """The tables that do not read the time."""
        return [own for own in self._learnt if self.time_name_ not in _columns(own.feature)]

    @property
    def _population(self) -> Evidence:
        """Tables without the time, with counts of rows instead of counts of rows and periods."""
        if self.level_rows_ is None:
            raise ValueError(
                f"this {type(self).__name__} was saved without the counts of its training rows, "
                "which drift compares new rows with: fit it again"
            )
        own = replace(self.evidence_, columns=self._own_columns(self._learnt), covariance=None)
        return with_rows(own, self._timeless, np.asarray(self.level_rows_))

    # ------------------------------------------------------------ predicting

    def predict_survival(self, X: Any, times: Any) -> Floats:
        """Probability of survival: that the event has not come by each of some times.

        Parameters
        ----------
        X : table
            Rows.
        times : float or array
            Times from 0 to `horizon_`, the end of the follow-up.

        Returns
        -------
        ndarray of shape (rows, times)
            A single time gives one column.
        """
        table = self._read(X)
        passed = self._periods.passed(check_times(times, self.horizon_))
        shares = self._periods.shares(passed, np.arange(len(self._periods.ends))[:, None])
        return np.exp(self._logs(table) @ shares)

    def predict_hazard(self, X: Any) -> Floats:
        """The probability of the event in each period, given that it has not come before.

        Returns
        -------
        ndarray of shape (rows, periods)
            In the order of `period_ends_`.
        """
        return -np.expm1(self._logs(self._read(X)))

    def predict_median(self, X: Any) -> Floats:
        """Median time to the event, by which it has come with probability one half.

        It is infinite if survival is above one half at the last event of the training rows.
        """
        logs, periods = self._logs(self._read(X)), self._periods
        passed = np.cumsum(logs, axis=1)
        wanted = np.log(0.5) + 1e-12
        period = np.sum(passed > wanted, axis=1)
        reached = period < logs.shape[1]
        at = np.minimum(period, logs.shape[1] - 1)[:, None]
        own = np.take_along_axis(logs, at, 1)[:, 0]
        before = np.take_along_axis(passed, at, 1)[:, 0] - own
        needed = at[:, 0] + (wanted - before) / np.minimum(own, -1e-300)
        place = np.searchsorted(periods.done, np.minimum(needed, len(periods.ends)) - 1e-12)
        return np.where(reached, periods.times[np.minimum(place, len(periods.times) - 1)], np.inf)

    def predict_risk(self, X: Any) -> Floats:
        """Cumulative hazard by the end of the last period; a larger risk means an earlier event."""
        return np.asarray(-self._logs(self._read(X)).sum(axis=1))

    def score(self, X: Any, y: Any) -> float:
        """The concordance index of `predict_risk`: 0.5 is chance, 1 is perfect."""
        from weigh.metrics.survival import concordance  # not needed for a fit

        table, outcomes, _ = read_survival(X, y, None)
        risk = self.predict_risk(table)
        return concordance(outcomes.event, outcomes.duration, risk, outcomes.entry)

    def _score_columns(self, table: Table, times: Any = None) -> dict[str, Any]:
        """Median time, risk, and survival to each of some times, as columns."""
        rows = self._read(table)
        found = {"median": self.predict_median(rows), "risk": self.predict_risk(rows)}
        if times is None:
            return found
        asked = self._order_times(times)
        names = [f"survival_{time:.12g}" for time in asked]
        return found | dict(zip(names, self.predict_survival(rows, asked).T, strict=True))

    def _logs(self, table: Table) -> Floats:
        """log(1 - hazard) of each row and period."""
        totals = [self._learnt.total(at)[:, 0] for at in self._at_each(table)]
        return np.asarray(-np.logaddexp(0.0, np.column_stack(totals)))

    def _at_each(self, table: Table) -> Iterator[Table]:
        """Yield the table of all rows once per period, with the end of the period as a column."""
        for end in self._periods.ends.tolist():
            yield table.with_numbers(self.time_name_, np.full(table.n_rows, end))

    def _order_times(self, times: Any) -> Floats:
        """Times to score or evaluate, in order."""
        return order_times(times, self.horizon_)

    # ------------------------------------------------------------ explaining

    def balance_sheet(self, row: Any, time: float | None = None) -> BalanceSheet:
        """Explain the hazard of one case: the weights for and against the event.

        Parameters
        ----------
        row : mapping, sequence or table of one row
            The case. A mapping may leave out answers that are not known.
        time : float, optional
            A time in the period to explain, above 0 and at most `horizon_`; a time after the last
            period means the last period. The sheet also has the probability of the event by then.
            Default: no period, so that the time weighs nothing.
        """
        return self._explain(self._read_one(row, "a balance sheet"), time)

    def _explain(self, table: Table, time: float | None = None) -> BalanceSheet:
        check_time(time, self.horizon_)
        whole = self._at_time(table, time)
        sheet = explain(
            self.evidence_, whole, self.event_name_, None, self.hazard_._why_no_errors()
        )
        when = "in one period" if time is None else self._periods.spell(self.time_name_, time)
        sheet = replace(sheet, outcome=f"{self.event_name_} happens {when}, if not earlier")
        if time is None:
            return sheet
        came = float(1 - self.predict_survival(table, time)[0, 0])
        return replace(sheet, event_by=(spell_moment(self.time_name_, time), came))

    def _at_time(self, table: Table, time: float | None = None) -> Table:
        """Table with the period of `time` as a column; without a time the period is not known."""
        value = np.nan if time is None else min(float(time), float(self._periods.ends[-1]))
        values = np.full(table.n_rows, value)
        return table.with_numbers(self.time_name_, values, known=time is not None)

    def _explain_case(
        self, row: Any, pos_label: Any, against: Any, time: float | None = None
    ) -> BalanceSheet:
        refuse_classes("a survival model has one event", pos_label, against)
        return self.balance_sheet(row, time)


def _columns(feature: Any) -> list[str]:
    return [part.name for part in feature.parts]
