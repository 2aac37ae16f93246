"""The editor of a model: makes changes with their reasons, undoes, repeats and replays them."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Required, Self, TypedDict, Unpack

import numpy as np

from weigh.bins import Binning, Feature, label
from weigh.budget.levels import list_bins
from weigh.editing.actions import ACTIONS, HOLD, REBIN
from weigh.editing.pairs import fit_pair
from weigh.editing.refit import Start, degrees_of_freedom, refit_others
from weigh.editing.rows import ClassRows, NumberRows, read_rows
from weigh.errors import Parameter, ParameterError, warn_caller
from weigh.evidence import Change, Evidence, inherit, login_name, now
from weigh.parameters import is_number

LARGE = 5.0
"""In nats: a larger weight that is also above three times the model's largest raises a warning."""


class Signature(TypedDict, total=False):
    """Arguments of every change: the reason, a name instead of the editor's, whether to refit."""

    why: Required[str]
    who: str | None
    refit: bool


@dataclass(frozen=True, eq=False)
class _State:
    """The tables after some changes, and the start of a refit."""

    evidence: Evidence
    start: Start


def edit(
    model: Any,
    X: Any,
    y: Any,
    *,
    train: Any = None,
    who: str | None = None,
    sample_weight: Any = None,
    exposure: Any = None,
) -> Editor:
    """Change a fitted model by hand, and record who, why and the change of the loss.

    Parameters
    ----------
    model : classifier, EducatedRegressor or Scorecard
        A fitted model of this package with tables of weights, or a card of points.
    X, y : table, and array or str
        Rows that measure the loss, with column names, and their classes or numbers, or the name of
        their column. Use hold-out rows.
    train : tuple of table, classes and perhaps weights, optional
        Rows for `refit=True`, and for new counts when a cut point moves. Default: X and y, and then
        the loss after a refit is too favourable.
    who : str, optional
        The name to record; by default the login name.
    sample_weight : array or str, optional
        Weights of the rows X, or the name of their column.
    exposure : str or number, optional
        For a regressor with a log link: the column of X, and of the training rows, that multiplies
        the mean. Default: the column of the fit.

    Returns
    -------
    Editor
        Its methods change the model, and `model` is the result.

    Examples
    --------
    >>> import weigh
    >>> people = weigh.datasets.titanic()
    >>> model = weigh.EducatedNB(pairs=0).fit(people, "Survived")
    >>> editor = weigh.edit(model, people, "Survived", who="ada")
    >>> _ = editor.merge("Class", ["2nd", "Crew"], why="too few rows in second class")
    >>> editor.model.evidence_["Class"].labels
    ('1st', '2nd or Crew', '3rd')
    >>> editor.edits[0].who
    'ada'
    """
    own, kind = _find_editor(model)
    rows = read_rows(own, X, y, sample_weight, exposure)
    if train is None:
        return kind(model, rows, rows, who)
    X, y, weight = (*train, None)[:3]
    return kind(model, rows, read_rows(own, X, y, weight, exposure), who)


def _find_editor(model: Any) -> tuple[Any, Callable[..., Editor]]:
    """The model that reads the rows (a card is converted to one), and the class of its editor."""
    from weigh.editing.cards import CardEditor  # which builds on this module
    from weigh.scorecard import Scorecard  # slow to import

    if isinstance(model, Scorecard):
        return model.as_model(), CardEditor
    return model, Editor


class Editor:
    """A model, and the changes that were made to it.

    Every method that changes the model takes `why`, the reason (required), `who`, a name instead of
    the editor's, and `refit=True`, which fits all tables again except frozen ones and those with
    weights set by hand. Each method returns the editor.

    A refit starts from the given model and minimises the penalised loss of `EducatedNB`, with the
    scales of its fit. So a refit of an unchanged model changes nothing. Tables of `monotonic_cst`
    stay monotone. A refit that does not converge raises a `ConvergenceWarning`.

    Attributes
    ----------
    model : classifier
        The model as it is now.
    edits : tuple of Change
        The changes: what, who and why, and the loss before and after.
    loss : float
        The loss on the rows X: bits a row, or the mean deviance of a regressor.
    rows, fitted_rows : ClassRows or NumberRows
        The rows that measure the loss, and those for refits, with their classes or numbers.
    """

    def __init__(
        self,
        model: Any,
        rows: ClassRows | NumberRows,
        train: ClassRows | NumberRows,
        who: str | None = None,
    ) -> None:
        self._given, self.rows, self.fitted_rows = model, rows, train
        self._who = login_name() if who is None else who
        self._states = [_State(model.evidence_, Start.of(model, train))]
        self._at = 0

    def __repr__(self) -> str:
        made = self.edits
        last = f", last: {made[-1].action} ({made[-1].why})" if made else ""
        edits = "1 edit" if len(made) == 1 else f"{len(made)} edits"
        loss = f"loss {self.loss:.4f} bits a row"
        if isinstance(self.rows, NumberRows):
            loss = f"mean deviance {self.loss:.4g}"
        return f"<Editor: {loss}, {edits}{last}>"

    # ------------------------------------------------------------ current state

    @property
    def evidence(self) -> Evidence:
        """The tables as they are now."""
        return self._states[self._at].evidence

    @property
    def edits(self) -> tuple[Change, ...]:
        """The record of changes."""
        return self.evidence.edits

    @property
    def loss(self) -> float:
        """The loss on the rows X: bits a row, or the mean deviance of a regressor."""
        return self.rows.loss(self.evidence)

    @property
    def model(self) -> Any:
        """The current model. Of the other results of its fit, only the scales are kept.

        A regressor also keeps the quantiles of its errors. Its dispersion is that of the fit,
        multiplied by the growth of Pearson's statistic on the training rows. The statistic is
        divided by the number of rows minus the effective degrees of freedom.
        """
        if self._at == 0:
            return self._given
        model = copy.copy(self._given)._keep(self.evidence)
        for name, value in model._unknown_extras().items():
            if name != "error_quantiles_":
                setattr(model, name, value)
        if isinstance(self.fitted_rows, NumberRows):
            model.dispersion_ = self._disperse(self.fitted_rows)
        for name, value in self._states[self._at].start.attributes().items():
            setattr(model, name, value)
        inherit(model._name(self.evidence.column_names, True), self._given)
        made = self.edits[len(self._states[0].evidence.edits) :]
        if hasattr(model, "bins"):
            model.bins = _name_bins(model, self.evidence, made)
        if hasattr(model, "provenance_") and any(change.refit for change in made):
            model.provenance_ = model.provenance_.join(self.fitted_rows.sample.table)
        return model

    def _disperse(self, rows: NumberRows) -> float:
        """The dispersion of the current model."""
        both = self._states[0], self._states[self._at]
        before, after = (degrees_of_freedom(own.evidence, rows, own.start) for own in both)
        return rows.disperse(self._given.evidence_, self.evidence, (before, after))

    @property
    def given(self) -> Any:
        """The model before the changes."""
        return self._given

    @property
    def can_undo(self) -> bool:
        """Whether there is a change to undo."""
        return self._at > 0

    @property
    def can_redo(self) -> bool:
        """Whether a change was undone and can be made again."""
        return self._at + 1 < len(self._states)

    # ------------------------------------------------------------ changes

    def preview(self, action: str, arguments: Mapping[str, Any]) -> Evidence:
        """The tables after a change, without making the change."""
        return self._settle(self._make(action, dict(arguments))[0])

    def change(
        self, action: str, arguments: Mapping[str, Any], **signed: Unpack[Signature]
    ) -> Self:
        """Make a change by its name: `change("drop", {"feature": "age"}, why="a proxy")`."""
        return self._do(action, dict(arguments), **signed)

    def drop(self, feature: str, **signed: Unpack[Signature]) -> Self:
        """Remove a table."""
        return self._do("drop", {"feature": feature}, **signed)

    def freeze(self, feature: str, *, why: str = "", who: str | None = None) -> Self:
        """Keep the weights of a table in later refits."""
        return self._do("freeze", {"feature": feature}, why=why, who=who)

    def merge(self, feature: str, levels: Sequence[Any], **signed: Unpack[Signature]) -> Self:
        """Join neighbouring bins, or categories, into one level."""
        return self._do("merge", {"feature": feature, "levels": [*levels]}, **signed)

    def set(
        self,
        feature: str,
        level: Any,
        weight: Any = None,
        *,
        factor: float | None = None,
        **signed: Unpack[Signature],
    ) -> Self:
        """Set the weight of a level, in nats; with more than two classes, one per class.

        A regressor has weights in the unit of the target. With a log link, give `factor`, such as
        1.2, or its logarithm as `weight`.
        """
        weight = _read_weight(self.evidence, weight, factor)
        level = level.item() if isinstance(level, np.generic) else level
        given = {"feature": feature, "level": level, "weight": np.asarray(weight).tolist()}
        return self._do("set", given, **signed)

    def tie(self, feature: str, levels: Sequence[Any], **signed: Unpack[Signature]) -> Self:
        """Give several levels their mean weight; they stay separate levels."""
        return self._do("tie", {"feature": feature, "levels": [*levels]}, **signed)

    def move_cut(self, feature: str, cut: float, to: float, **signed: Unpack[Signature]) -> Self:
        """Move a cut point between its neighbours."""
        given = {"feature": feature, "cut": float(cut), "to": float(to)}
        return self._do("move_cut", given, **signed)

    def monotone(self, feature: str, direction: int, **signed: Unpack[Signature]) -> Self:
        """Make the weights of a table increase (1) or decrease (-1), by isotonic regression."""
        return self._do("monotone", {"feature": feature, "direction": direction}, **signed)

    def scale(self, feature: str, factor: float, **signed: Unpack[Signature]) -> Self:
        """Multiply the weights of a table by a factor."""
        return self._do("scale", {"feature": feature, "factor": factor}, **signed)

    def add_pair(self, first: str, second: str, **signed: Unpack[Signature]) -> Self:
        """Add a table of two features together, fitted with all other weights fixed.

        Its weights are shrunk as `EducatedNB` shrinks those of a pair. The training rows decide how
        strongly: a pair of noise is shrunk to nearly nothing.
        """
        return self._do("add_pair", {"first": first, "second": second}, **signed)

    def remove_pair(self, first: str, second: str, **signed: Unpack[Signature]) -> Self:
        """Remove the table of a pair."""
        return self._do("remove_pair", {"first": first, "second": second}, **signed)

    def rename(
        self,
        feature: str,
        name: str = "",
        levels: Mapping[Any, str] | None = None,
        **signed: Unpack[Signature],
    ) -> Self:
        """Give a feature, or some of its levels, display names.

        Columns, edits, files, exports and the arguments of later changes still use the original
        names of the feature and its levels.
        """
        texts = {label(level): text for level, text in (levels or {}).items()}
        return self._do("rename", {"feature": feature, "name": name, "levels": texts}, **signed)

    # ------------------------------------------------------------ history

    def undo(self) -> Self:
        """Undo the last change."""
        if self._at == 0:
            raise ValueError("there is no change to undo")
        self._at -= 1
        return self

    def redo(self) -> Self:
        """Repeat the change that was undone last."""
        if self._at + 1 == len(self._states):
            raise ValueError("there is no change to redo")
        self._at += 1
        return self

    def replay(self, edits: Iterable[Change]) -> Self:
        """Repeat recorded changes with their reasons, names and times; losses are new."""
        for change in edits:
            self._apply(change)
        return self

    def _do(
        self,
        action: str,
        arguments: dict[str, Any],
        *,
        why: str = "",
        who: str | None = None,
        refit: bool = False,
    ) -> Self:
        if not (isinstance(why, str) and why.strip()):
            raise ValueError(f"{action} needs a reason: give why= as text, got {why!r}")
        if "weight" in arguments and not self.evidence.estimates:
            self._doubt(**arguments)
        self._apply(Change(action, arguments, why, who or self._who, now(), 0.0, 0.0, refit))
        return self

    def _doubt(self, feature: str, level: Any, weight: Any) -> None:
        """Warn of a weight that was probably read from a table, which shows weights times 100."""
        try:
            given = np.abs(np.asarray(weight, dtype=np.float64)).max()
        except (ValueError, TypeError):
            return  # the change itself raises the error
        largest = max((np.abs(t.by_class).max(initial=0.0) for t in self.evidence), default=0.0)
        if LARGE < given < np.inf and given > 3 * largest:
            warn_caller(
                f"weight={weight!r} of {feature} = {level} is in nats, and tables show it as "
                f"{100 * given:,.0f}; if it was read from a table, give {given / 100:g}",
                UserWarning,
            )

    def _apply(self, change: Change) -> None:
        """Make a change, whose losses are those on the rows of this editor."""
        before, action, given = self.evidence, change.action, dict(change.arguments)
        after, start = self._make(action, given)
        if change.refit:
            after = refit_others(after, self.fitted_rows, self._held(action, given), start)
        after = self._settle(after)
        done = replace(
            change,
            arguments=self._record(given),
            loss_before=self.rows.loss(before),
            loss_after=self.rows.loss(after),
            estimates=isinstance(self.rows, NumberRows),
        )
        state = _State(replace(after, edits=(*before.edits, done)), start)
        self._states = [*self._states[: self._at + 1], state]
        self._at += 1

    def _make(self, action: str, given: dict[str, Any]) -> tuple[Evidence, Start]:
        """The tables after a change, and the start of a refit."""
        if "points" in given:
            raise ValueError(f"points are those of a scorecard: give a weight, got {given}")
        after = _find(action)(self.evidence, self.fitted_rows.sample, **given)
        start = self._states[self._at].start.changed(action, self.fitted_rows.sample, given)
        if action == "add_pair":
            return fit_pair(after, self.fitted_rows, {*self.evidence.names}, start)
        return after, start

    def _record(self, given: dict[str, Any]) -> dict[str, Any]:
        """The arguments of a change, as they are recorded."""
        return given

    def _settle(self, after: Evidence) -> Evidence:
        """The tables as the model stores them; the editor of a card rounds their points."""
        return after

    def _held(self, action: str, given: dict[str, Any]) -> set[str]:  # type: ignore[valid-type]
        """The names of the tables that were frozen or set by hand, by this change or earlier."""
        every = [(one.action, one.arguments) for one in self.edits] + [(action, given)]
        return {own["feature"] for name, own in every if name in HOLD}


def _name_bins(model: Any, evidence: Evidence, edits: Iterable[Change]) -> Any:
    """The parameter `bins` with the cut points and groups of categories after the edits.

    So a clone of the edited model that is fitted again has the bins of the edited model.
    """
    names = {change.arguments["feature"] for change in edits if change.action in REBIN}
    every = [feature for feature in evidence.features if isinstance(feature, Feature)]
    own = {f.name: list_bins(f, np.arange(len(f.levels))) for f in every if f.name in names}
    if not own or isinstance(model.bins, Mapping):
        return {**model.bins, **own} if own else model.bins
    joins = isinstance(model.bins, Binning)  # also groups categories
    return {f.name: model.bins for f in every if f.is_numeric or joins} | own


def _read_weight(evidence: Evidence, weight: Any, factor: float | None) -> Any:
    """The weight of a level, given directly or as a factor of the estimate."""
    if (weight is None) == (factor is None):
        raise ValueError("set takes a weight, or the factor of a model with a log link: give one")
    if factor is None:
        return weight
    if evidence.link != "log" or not (is_number(factor) and 0 < factor < np.inf):
        raise ParameterError(
            Parameter("factor"),
            f" must be a positive number, for a regressor with a log link only; got {factor!r}",
        )
    return float(np.log(factor))


def _find(action: str) -> Callable[..., Evidence]:
    if action not in ACTIONS:
        raise ValueError(f"action must be one of {[*ACTIONS]}, got {action!r}")
    return ACTIONS[action]
