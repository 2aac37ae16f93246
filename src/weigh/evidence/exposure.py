"""Exposure and offset: known terms of a row's total, added to its weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, log
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from weigh.arrays import Floats
from weigh.errors import Parameter, ParameterError, warn_caller
from weigh.evidence.tables import Evidence
from weigh.frames import Table, read_numbers, tell_rows
from weigh.parameters import is_number

if TYPE_CHECKING:
    from weigh.newton.regression import Family  # imported late: it loads SciPy


@dataclass(frozen=True)
class OffsetColumn:
    """A column that adds to a row's total without a table: the exposure or the offset of a fit.

    An exposure multiplies the estimate, so its logarithm is added. A row without the value is
    estimated for an exposure of 1 and an offset of 0, which add nothing.
    """

    name: str
    role: Literal["exposure", "offset"]

    @property
    def neutral(self) -> float:
        """The value that adds nothing."""
        return 1.0 if self.role == "exposure" else 0.0

    def add(self, value: float | None) -> float:
        """What a value adds to the total; None and NaN add nothing.

        >>> OffsetColumn("years", "exposure").add(1), OffsetColumn("years", "exposure").add(None)
        (0.0, 0.0)
        """
        if value is None or value != value:
            return 0.0
        if not self.allows(value):
            least = " above 0" if self.role == "exposure" else ""
            raise ValueError(
                f"column {self.name!r}, the {self.role}, must be a finite number{least}, "
                f"got {value!r}"
            )
        return log(value) if self.role == "exposure" else float(value)

    def allows(self, value: Any) -> bool:
        """Whether a value is missing or can be added: finite and, for an exposure, above 0."""
        return value is None or (0.0 if self.role == "exposure" else -inf) < value < inf


def list_offsets(evidence: Evidence) -> tuple[OffsetColumn, ...]:
    """The named columns of exposure and offset that a regressor was fitted with."""
    found = []
    if evidence.exposure:
        found.append(OffsetColumn(evidence.exposure, "exposure"))
    if evidence.offset:
        found.append(OffsetColumn(evidence.offset, "offset"))
    return tuple(found)


def read_offset(
    family: Family, name: str, table: Table, exposure: Any, offset: Any, missing: bool = False
) -> Floats:
    """The known term of each row's total: offset + ln(exposure); `name` is the family's.

    `missing` says whether rows may lack either, and are then estimated for an exposure of 1 and an
    offset of 0, with a warning: rows to learn from and to compare with their estimates may not.
    """
    found = np.zeros(table.n_rows)
    if offset is not None:
        found = found + _read(table, offset, "offset", missing)
    if exposure is None:
        return found
    if family.link != "log":
        raise _no_exposure(f"family={name!r}")
    own = _read(table, exposure, "exposure", missing)
    if not (own > 0).all():
        why = f" must be positive, but holds {tell_rows(own, own <= 0)}; drop such rows"
        if isinstance(exposure, str):  # perhaps the column used in fit, not named by this call
            raise ValueError(f"column {exposure!r}, the exposure,{why}")
        raise ParameterError(Parameter("exposure"), why)
    return found + np.log(own)


def _read(table: Table, given: Any, role: Literal["exposure", "offset"], missing: bool) -> Floats:
    """The exposure or offset of each row; a missing one is neutral, with a warning."""
    numbers, neutral = read_numbers(table, given, role, missing), OffsetColumn("", role).neutral
    absent = np.isnan(numbers)
    if absent.any():
        named = f"column {given!r}, the {role}," if isinstance(given, str) else f"the {role}"
        warn_caller(f"{named} has missing values; it counts as {neutral:g} in these rows")
    return np.where(absent, neutral, numbers)


def refuse_missing(table: Table, given: dict[str, Any]) -> None:
    """Raise an error for rows without the exposure or offset that their targets belong to."""
    for role, value in given.items():
        if not is_number(value):
            read_numbers(table, value, role)


def _no_exposure(model: str) -> ParameterError:
    return ParameterError(
        Parameter("exposure"),
        f" multiplies the mean, which {model} does not do; give ",
        Parameter("offset"),
        ", or a family with a log link ('poisson', 'gamma', 'tweedie')",
    )


def check_numbers(evidence: Evidence, given: dict[str, Any]) -> None:
    """Raise an error for an exposure or offset, one number for all rows, that cannot be added."""
    if "exposure" in given and evidence.link != "log":
        raise _no_exposure("this model")
    for role, value in given.items():
        if is_number(value) and not OffsetColumn("", role).allows(value):  # type: ignore[arg-type]
            least = " above 0" if role == "exposure" else ""
            raise ParameterError(Parameter(role), f" must be a finite number{least}, got {value!r}")


def spread_out(exposure: Any, n_rows: int) -> Any:
    """An exposure for `read_offset`: a single number is repeated for every row."""
    return np.full(n_rows, float(exposure)) if is_number(exposure) else exposure


def name_given(given: Any) -> str | None:
    """Name of the column given to fit; "" for an array, None if not given.

    The name of a Series does not count: np.log(df["years"]) and df["days"] / 365 keep the name of a
    column whose values they do not have.
    """
    return given if given is None or isinstance(given, str) else ""


def given_to(model: Any, names: Sequence[str], exposure: Any = None) -> dict[str, Any]:
    """Exposure and offset arguments for `predict` of a fitted model or a pipeline.

    A table without names is an empty list, and is taken to have the columns that the model needs.
    """
    learnt = _sum_of(model)
    if learnt is not None:
        return find_given(learnt, names or [own.name for own in list_offsets(learnt)], exposure)
    return {} if exposure is None else {"exposure": exposure}


def unit_of(model: Any, table: Table, given: dict[str, Any]) -> Floats:
    """What multiplies the estimate of each row beside its weights: exposure times exp(offset).

    `given` are the arguments that `given_to` found. It is 1 for every row of a model without log
    link.
    """
    learnt = _sum_of(model)
    apart = np.zeros(table.n_rows)
    if learnt is None or learnt.link != "log":
        return np.ones(table.n_rows)
    if "offset" in given:
        apart = apart + read_numbers(table, given["offset"], "offset")
    if "exposure" in given:
        exposure = spread_out(given["exposure"], table.n_rows)
        apart = apart + np.log(read_numbers(table, exposure, "exposure"))
    return np.asarray(np.exp(apart))


def _sum_of(model: Any) -> Evidence | None:
    """What a regressor of this package, or the last step of a pipeline, learnt; None for others."""
    last = model.steps[-1][1] if hasattr(model, "steps") else model
    learnt = getattr(last, "_learnt", None)
    return learnt if isinstance(learnt, Evidence) and learnt.estimates else None


def tell_exposure(given: Any) -> str:
    """Sentence about the exposure of the estimates; empty without an exposure.

    >>> tell_exposure("years")
    'Each estimate is multiplied by the years of its row.'
    """
    if given is None:
        return ""
    if is_number(given):
        return (
            "Estimates are per unit of exposure."
            if given == 1
            else (f"Estimates are for an exposure of {given:g}.")
        )
    return f"Each estimate is multiplied by the {name_given(given) or 'exposure'} of its row."


def find_given(
    evidence: Evidence, names: Sequence[str], exposure: Any, offset: Any = None
) -> dict[str, Any]:
    """Exposure and offset for new rows: as given, or the columns used in fit.

    A model fitted with an exposure estimates per unit of it. For rows without that column,
    estimates per unit must be requested by `exposure=1`.
    """
    found: dict[str, Any] = {}
    if exposure is not None:
        found["exposure"] = exposure
    elif evidence.exposure is not None:
        found["exposure"] = evidence.exposure
        if evidence.exposure not in names:
            named = evidence.exposure != ""
            raise ParameterError(
                f"the model was fitted with {_called('exposure', evidence.exposure)}; "
                f"{'name the column' if named else 'give that of these rows'} with ",
                Parameter("exposure"),
                ", or give ",
                Parameter("exposure", 1),
                " for estimates per unit of exposure",
                "" if named else ". Cross-validation needs a column of X, named in fit",
            )
    if offset is not None:
        found["offset"] = offset
    elif evidence.offset is not None:
        found["offset"] = evidence.offset
        if evidence.offset not in names:
            raise ValueError(
                f"the model was fitted with {_called('offset', evidence.offset)}; add the column, "
                "or use predict(X, offset=...)"
            )
    return found


def _called(role: str, name: str) -> str:
    if name:
        return f"{role} {name!r}, and the table has no such column"
    return f"an {role} that was no column"
