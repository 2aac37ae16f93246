"""Scorecard: a table of whole points, and the map from their sum to odds."""

from __future__ import annotations

import copy
import os
from collections.abc import Mapping
from typing import Any, Self

from weigh.arrays import Floats
from weigh.bins import Level
from weigh.evidence import Change, Evidence, Provenance, login_name, now
from weigh.formula import Costs, Formula
from weigh.frames import Table, build, label_sample, read
from weigh.layout import Shown, View
from weigh.parameters import is_count
from weigh.scorecard import reasons, show
from weigh.scorecard.bands import Bands, band_rows
from weigh.scorecard.impact import Impact, measure_impact
from weigh.scorecard.learn import fit_card
from weigh.scorecard.model import OPTIONAL, SETTINGS, CardModel, Edit, load, to_json
from weigh.scorecard.points import Rounding, Scale, measure_rows, read_model, round_model
from weigh.scorecard.rare import warn_of_rare
from weigh.scorecard.reasons import (
    Letter,
    find_level,
    read_level_texts,
    read_mapping,
    read_texts,
    texts_of,
    write_letter,
)
from weigh.sheet import find_class


class Scorecard(CardModel, Shown):
    """Whole points for every level; a higher score favours one class.

    The card is::

        score = base points + points of the levels
        log odds = ln base_odds + (score - base_score)/f,   f = points_to_double/ln 2

    Points are f times the weights, rounded so that the rounding error varies least over the
    training rows. If X is given, rounding to the nearest point is tried, too, and the better
    ranking is kept.

    Parameters
    ----------
    model : classifier or Evidence
        A model of two classes with tables, not a `PerplexedNB`. A recalibration must be a straight
        line. What `EducatedNB` has for incomplete rows, their factor and margins, is left out.
    points_to_double : float, default=20
        The points that double the odds.
    base_score : float, default=600
        The score at which the odds are `base_odds`.
    base_odds : float, default=50
        The odds of the class that high scores favour at `base_score`.
    pos_label : label, optional
        The good class, which high scores favour: by default the model's `classes_[1]`. Points, log
        odds, sheets, calculators, drift and exports of the card are about it. Evaluations,
        comparisons and the measures of reports are about the other, bad class.
    texts : dict, optional
        Texts of the reason codes, by feature. Default: its name.
    level_texts : dict, optional
        Texts for single levels, by feature and level, such as `{"age": {"not known": "You gave no
        age"}}`. Default: the feature's text, or that the answer is missing or not known.
    X, y : table and labels, optional
        Rows on which `rounding` is measured; without y no AUC.
    base : "separate", "spread" or "lowest", default="separate"
        How the card is printed: base points on their own line, spread over the features, or with
        points shifted so that the lowest level of each feature has 0. In the last two, an answer
        that is not known has points. Scores are the same.
    woe : "good" or "bad", default="good"
        The class for which the printed WoE is positive: ln(share of goods/share of bads), or its
        negative.

    Attributes
    ----------
    classes_ : ndarray
        The bad class, then the good one: the order of `predict_proba` and of exports.
    base_points : int
        Points of every case before its levels.
    points : dict
        Points of each level, by feature.
    rounding : Rounding or None
        AUC before and after rounding on the given rows, and the largest change of a probability,
        also for a case without answers.
    edits : tuple of Edit and Change
        What was changed by hand, in order: by `edit` an Edit, by `weigh.edit` a Change. Both have
        who, when and why.

    Examples
    --------
    >>> import weigh
    >>> people = weigh.datasets.titanic()
    >>> model = weigh.EvidenceNB().fit(people, "Survived")
    >>> card = weigh.Scorecard(model, base_score=100, base_odds=1)
    >>> card.base_points, card.points["Sex"]
    (79, (50, -17))
    >>> card.score([{"Class": "3rd", "Sex": "Female", "Age": "Child"}])
    array([143])
    """

    def __init__(
        self,
        model: Any,
        points_to_double: float = 20,
        base_score: float = 600,
        base_odds: float = 50,
        *,
        pos_label: Any = None,
        texts: Mapping[str, str] | None = None,
        level_texts: Mapping[str, Mapping[Any, str]] | None = None,
        X: Any = None,
        y: Any = None,
        base: str = "separate",
        woe: str = "good",
    ) -> None:
        self.scale = Scale(points_to_double, base_score, base_odds)
        self._source = read_model(model)
        self.points_to_double, self.base_score = float(points_to_double), float(base_score)
        self.base_odds = float(base_odds)
        classes = self._source.classes.tolist()
        self.pos_label = classes[find_class(classes, pos_label, 1)]
        self.texts = read_texts(texts, self._source)
        self.level_texts = read_level_texts(level_texts, self._source)
        self.base, self.woe = show.read_choices(base, woe)
        self.provenance_: Provenance | None = getattr(model, "provenance_", None)
        self._edits: tuple[Edit, ...] = ()  # since the evidence
        self.rounding: Rounding | None = None
        self._points: dict[str, Floats] = {}
        self.base_points = 0
        round_model(self, X, y)
        self._rounded = dict(self._points)  # before any edit
        if not isinstance(model, Evidence):  # which files and unfinished cards are made from
            warn_of_rare(self)

    from_table = classmethod(fit_card)

    # ------------------------------------------------------------ scoring

    def formula(self) -> Formula:
        """The card as data that exports render: its score, and what costs points."""
        told = self.costs
        return Formula.of_evidence(self.evidence, "Scorecard", score_name="score", costs=told)

    @property
    def costs(self) -> Costs:
        """What the points of each feature are compared with, and the texts of reason codes."""
        return Costs(
            self.baselines("best"),
            self.reason_texts(self._source),
            show.title(self),
            show.count_levels(self),
            self.woe == "bad",
        )

    def bands(
        self,
        X: Any,
        y: Any,
        n_bands: int = 10,
        *,
        sample_weight: Any = None,
        profit: Mapping[Any, float] | None = None,
    ) -> Bands:
        """The cut-off table: rows, bads, approval rate and KS by score band.

        Parameters
        ----------
        X : table
            Rows; use hold-out rows.
        y : array or str
            Class labels, or the name of their column in X.
        n_bands : int, default=10
            Number of bands of about equal size. Equal scores stay together, so there may be fewer.
        sample_weight : array or str, optional
            Row weights, or the name of their column.
        profit : dict, optional
            The amount that an approved case of each class brings, such as {"good": 100, "bad":
            -900}. It adds the profit at each cut-off, and `best`: the most profitable one.

        Returns
        -------
        Bands
            Prints as a table; `gains` is the gains table of the same bands.
        """
        sample = label_sample(read(X), y, sample_weight, self.classes_)
        return band_rows(self, sample, n_bands, profit)

    def impact(
        self,
        X: Any,
        by: Any,
        cut_off: float,
        *,
        reference: Any = None,
    ) -> Impact:
        """Approval rates by group at a cut-off, and their ratio to the highest (four-fifths rule).

        Parameters
        ----------
        X : table
            Rows.
        by : str, list of str, array or dataframe
            Groups as in `weigh.evaluate`: a column of X, several for their combinations, or a value
            for each row. Numbers of many values are cut.
        cut_off : float
            The lowest score that is approved.
        reference : label, optional
            The group that others are compared with. Default: that of the highest approval rate.
        """
        return measure_impact(self, read(X), by, cut_off, reference)

    def measure(self, X: Any, y: Any = None) -> Rounding:
        """The effect of rounding and edits on rows: AUC before and after, and probabilities.

        The largest change of a probability includes a case without answers, whose points are the
        base.
        """
        return measure_rows(self, X, y)

    def reasons(self, X: Any, n: int = 4, against: str = "best") -> Any:
        """The n features that cost every row most points.

        Parameters
        ----------
        X : table
            Rows.
        n : int, default=4
            How many.
        against : "best" or "average", default="best"
            What a case is compared with: the best level that has at least 5% of the training rows
            (not missing and not a special code), or the mean points of the training rows.

        Returns
        -------
        table
            reason_1, cost_1, ... in the dataframe library of the rows. Nulls where nothing more
            costs points.
        """
        table = self._read(X)
        found = reasons.find_costs(self, table, n, against)
        return build(found.columns(), table.backend or self._source.backend)

    def _cost_columns(self, table: Table, n: int) -> dict[str, Any]:
        """The reasons of rows as columns, where other models name their heaviest levels."""
        return reasons.find_costs(self, self._match(table), n, "best").columns()

    def letter(
        self,
        row: Any,
        cut_off: int,
        *,
        n: int = 4,
        may_change: Any = None,
        labels: Any = None,
        **texts: Any,
    ) -> Letter:
        """The letter to an applicant whose score is below a cut-off.

        Parameters
        ----------
        row : mapping or table of one row
            The case.
        cut_off : int
            The lowest score that is accepted.
        n : int, default=4
            Reasons at most, in the words of `texts` and `level_texts`.
        may_change : list or dict, optional
            Columns that the applicant can change, as in `levers`: the letter then lists the
            smallest changes that reach the cut-off.
        labels : dict, optional
            Your names of columns and levels for the list of changes, as in `report`.
        **texts
            `sender`, `recipient`, `date`, `title`, and `closing`, a tuple of paragraphs.

        Returns
        -------
        Letter
            With `to_text` and `to_html`.
        """
        return write_letter(self, row, cut_off, n, may_change, labels, **texts)

    def with_texts(
        self,
        texts: Mapping[str, str] | None = None,
        level_texts: Mapping[str, Mapping[Any, str]] | None = None,
    ) -> Self:
        """A card with other texts of its reason codes.

        Parameters
        ----------
        texts : dict, optional
            Texts by feature. Features that are not named keep theirs.
        level_texts : dict, optional
            Texts by feature and level. Levels that are not named keep theirs.
        """
        card, own = copy.copy(self), read_level_texts(level_texts, self._source)
        card.texts = read_texts({**self.texts, **read_mapping(texts, "texts")}, self._source)
        kept = self.level_texts
        card.level_texts = kept | {name: kept.get(name, {}) | own[name] for name in own}
        return card

    def reason_texts(self, evidence: Evidence) -> tuple[tuple[str, ...], ...]:
        """By feature: the reason-code text of each level, and last that of no level.

        `evidence` is that of the card, or has names of the user's for features without a text.
        """
        own = {name: text for name, text in self.texts.items() if text != name}
        levels = self.level_texts
        return tuple(
            texts_of(t, own.get(t.name, t.shown), levels.get(t.name, {})) for t in evidence
        )

    def baselines(self, against: str = "best") -> tuple[float, ...]:
        """The points that `reasons` compares each feature with."""
        return tuple(reasons.baselines(self, against).tolist())

    # ------------------------------------------------------------ editing

    @property
    def edits(self) -> tuple[Edit | Change, ...]:
        """What was changed by hand, in order."""
        return (*self._source.edits, *self._edits)

    def edit(
        self, feature: str, level: Level, points: int, why: str = "", *, who: str | None = None
    ) -> Self:
        """A card with other points for a level; who, when and why are recorded in `edits`.

        Parameters
        ----------
        feature : str
            Its name.
        level : level or str
            The level as the card shows it, or the level itself.
        points : int
            Its new points.
        why : str
            The reason, for readers of the card. It is required.
        who : str, optional
            The name to record; by default the login name.
        """
        if not (isinstance(why, str) and why.strip()):
            raise ValueError(f"edit needs a reason: give why= as text, got {why!r}")
        if not is_count(points):
            raise ValueError(f"points must be a whole number, got {points!r}")
        table = self._source[feature]
        place = find_level(table, level)
        before = int(self._points[feature][place])
        changed = self._points[feature].copy()
        changed[place] = points
        card = copy.copy(self)
        card._points = {**self._points, feature: changed}
        signed = why, login_name() if who is None else who, now()
        done = Edit(feature, table.labels[place], before, int(points), *signed)
        card._edits, card.rounding = (*self._edits, done), None
        return card

    # ------------------------------------------------------------ showing and keeping

    def to_frame(self, backend: str | None = None) -> Any:
        """One row per level: feature, level, points, and the rows that had it.

        The table is of the dataframe library of the training table, or of `backend`, such as
        "pandas". A file does not store the library: a loaded card gives PyArrow.
        """
        return show.to_frame(self, backend)

    def view(self) -> View:
        """The card as data for text and pages."""
        return show.view(self)

    @property
    def settings(self) -> dict[str, Any]:
        """The parameters of the card, as in its file."""
        return {name: getattr(self, name) for name in SETTINGS + OPTIONAL}

    def to_json(self) -> str:
        """The text of its file."""
        return to_json(self)

    @classmethod
    def _load(cls, path: str | os.PathLike[str]) -> Scorecard:
        return load(path)
