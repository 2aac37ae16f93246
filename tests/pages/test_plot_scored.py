"""Figures of predictions: the numbers drawn are those of the metrics, and weights are rows."""

import matplotlib

matplotlib.use("Agg")

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib import pyplot
from matplotlib.cbook import is_math_text
from matplotlib.collections import PolyCollection
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.patches import StepPatch
from scipy.special import expit
from sklearn.linear_model import LogisticRegression, RidgeClassifier

from weigh import (
    AdjustedNB,
    GainsDisplay,
    LiftDisplay,
    NetBenefitDisplay,
    PrecisionRecallDisplay,
    ReliabilityDisplay,
    ROCDisplay,
    SplineCalibrator,
    metrics,
)
from weigh.datasets import titanic

ALL = [
    ReliabilityDisplay,
    LiftDisplay,
    GainsDisplay,
    NetBenefitDisplay,
    ROCDisplay,
    PrecisionRecallDisplay,
]
every = pytest.mark.parametrize("display", ALL, ids=lambda cls: cls.__name__)


@pytest.fixture
def ax():
    """Axes of a figure that pyplot does not know of."""
    return Figure(figsize=(6, 6), layout="constrained").subplots()


def rows(seed=0, n=400, slope=1.0):
    """Labels and probabilities that are too sure where the slope is below 1."""
    rng = np.random.default_rng(seed)
    log_odds = rng.normal(0, 2, n)
    return (rng.random(n) < expit(slope * log_odds)).astype(int), expit(log_odds)


def models_lines(ax):
    """The lines of models, not those to compare with."""
    return [line for line in ax.lines if line.get_gid()]


def legend(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def drawn(ax):
    """Everything that depends on the rows."""
    lines = [np.asarray(line.get_xydata()) for line in ax.lines]
    bands = [c for c in ax.collections if isinstance(c, PolyCollection)]
    bars = [c for c in ax.collections if c not in bands]
    segments = [np.asarray(part) for c in bars for part in c.get_segments()]
    segments += [path.vertices for c in bands for path in c.get_paths()]
    steps = [np.asarray(p.get_data().values) for p in ax.patches if isinstance(p, StepPatch)]
    return [*lines, *segments, *steps]


# ---------------------------------------------------------------- reliability


def test_points_are_the_bins_and_bars_the_intervals_of_clopper_and_pearson(ax):
    y, p = rows()
    display = ReliabilityDisplay.from_predictions(y, p, ax=ax)
    table = metrics.reliability_table(y, p)
    (container,) = ax.containers
    points, _, (bars,) = container
    np.testing.assert_allclose(points.get_xdata(), table.mean_prediction)
    np.testing.assert_allclose(points.get_ydata(), table.rate)
    ends = np.array([segment[:, 1] for segment in bars.get_segments()])
    np.testing.assert_allclose(ends, np.column_stack([table.rate_low, table.rate_high]))
    assert display.table.coverage == 0.95


def test_the_curve_is_the_spline_from_the_least_to_the_most_prediction(ax):
    y, p = rows()
    ReliabilityDisplay.from_predictions(y, p, ax=ax)
    (line,) = models_lines(ax)
    x = line.get_xdata()
    assert x[0] == p.min()
    assert x[-1] == p.max()
    np.testing.assert_allclose(line.get_ydata(), SplineCalibrator().fit(p, y).predict(x))


def test_the_legend_gives_slope_and_intercept(ax):
    y, p = rows(slope=0.5, n=5000)
    ReliabilityDisplay.from_predictions(y, p, name="too sure", ax=ax)
    line = metrics.calibration_line(y, p)
    assert legend(ax) == [f"too sure: slope {line.slope:.2f}, intercept {line.intercept:.2f}"]
    assert line.slope == pytest.approx(0.5, abs=0.1)


def test_the_histogram_below_counts_the_predictions_and_stays_below_the_diagram(ax):
    y, p = rows()
    ReliabilityDisplay.from_predictions(y, p, ax=ax)
    (steps,) = [patch for patch in ax.patches if isinstance(patch, StepPatch)]
    values, edges, floor = steps.get_data()
    counts, _ = np.histogram(p, edges)
    np.testing.assert_allclose((values - floor) / (values - floor).sum(), counts / counts.sum())
    assert values.max() < 0
    assert ax.get_ylim()[0] < floor
    assert "rows" in [text.get_text() for text in ax.get_yticklabels()]


def test_bins_and_their_kind_can_be_chosen(ax):
    y, p = rows()
    display = ReliabilityDisplay.from_predictions(y, p, bins=4, strategy="count", ax=ax)
    np.testing.assert_allclose(display.table.weight, 100)


@pytest.mark.parametrize(
    ("y", "p"), [([1, 1, 1], [0.2, 0.5, 0.9]), ([0, 1, 1], [0.5, 0.5, 0.5]), ([0, 1], [0.0, 1.0])]
)
def test_rows_that_no_line_can_be_drawn_through_are_drawn_as_points(ax, y, p):
    display = ReliabilityDisplay.from_predictions(y, p, pos_label=1, ax=ax)
    assert "no slope" in legend(ax)[0]
    np.testing.assert_allclose(ax.containers[0][0].get_ydata(), display.table.rate)
    ax.figure.draw_without_rendering()


# ---------------------------------------------------------------- lift, gains, net benefit


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), n_distinct=st.integers(2, 30))
def test_lift_and_gains_are_those_of_taking_the_most_probable_rows_first(seed, n_distinct):
    rng = np.random.default_rng(seed)
    p = rng.integers(0, n_distinct, 60) / n_distinct
    y = np.r_[1, (rng.random(59) < p[1:]).astype(int)]
    lift, gains = (
        models_lines(cls.from_predictions(y, p, ax=Figure().subplots()).ax_)[0]
        for cls in (LiftDisplay, GainsDisplay)
    )
    for t in np.unique(p):
        taken = p >= t
        depth, gain = taken.mean(), y[taken].sum() / y.sum()
        assert np.interp(depth, gains.get_xdata(), gains.get_ydata()) == pytest.approx(gain)
        place = np.argmin(np.abs(lift.get_xdata() - depth))
        assert lift.get_xdata()[place] == pytest.approx(depth)
        assert lift.get_ydata()[place] == pytest.approx(gain / depth)


def test_between_ties_rows_are_taken_at_random_and_lift_bends(ax):
    y, p = [1, 0, 0, 0], [0.9, 0.1, 0.1, 0.1]
    LiftDisplay.from_predictions(y, p, ax=ax)
    (line,) = models_lines(ax)
    depth = np.asarray(line.get_xdata())
    np.testing.assert_allclose(line.get_ydata(), np.minimum(1 / depth, 4))


def test_gains_are_set_between_chance_and_all_positives_first(ax):
    y, p = rows()
    GainsDisplay.from_predictions(y, p, ax=ax)
    random, best = (line for line in ax.lines if not line.get_gid())
    np.testing.assert_allclose(random.get_xydata(), [[0, 0], [1, 1]])
    np.testing.assert_allclose(best.get_xydata(), [[0, 0], [y.mean(), 1], [1, 1]])
    (line,) = models_lines(ax)
    inside = np.interp(line.get_xdata(), best.get_xdata(), best.get_ydata())
    assert (np.asarray(line.get_ydata()) <= inside + 1e-12).all()


def test_net_benefit_stands_beside_treating_all_and_none(ax):
    y, p = rows()
    NetBenefitDisplay.from_predictions(y, p, thresholds=[0.1, 0.3, 0.6], name="ours", ax=ax)
    everybody, nobody, ours = ax.lines
    for line, decide in (
        (everybody, lambda t: np.ones(len(y), bool)),
        (nobody, lambda t: np.zeros(len(y), bool)),
        (ours, lambda t: p > t),
    ):
        for t, value in zip(line.get_xdata(), line.get_ydata(), strict=True):
            acted = decide(t)
            literal = ((acted & (y == 1)).sum() - (acted & (y == 0)).sum() * t / (1 - t)) / len(y)
            assert value == pytest.approx(literal)
    assert legend(ax) == ["treat all", "treat none", "ours"]


def test_a_million_rows_are_thinned_to_what_can_be_seen(ax):
    y, p = rows(n=200_000)
    display = GainsDisplay.from_predictions(y, p, ax=ax)
    (line,) = models_lines(ax)
    assert len(line.get_xdata()) <= 4000
    np.testing.assert_allclose(line.get_ydata(), display.curve.at(line.get_xdata()))
    assert line.get_xdata()[0] == 0
    assert line.get_xdata()[-1] == 1


# ---------------------------------------------------------------- all of them


@every
def test_a_weight_of_two_is_a_row_given_twice(display):
    y, p = rows(n=60)
    weight = np.random.default_rng(1).integers(0, 3, 60)
    one, two = (Figure().subplots() for _ in range(2))
    display.from_predictions(y, p, sample_weight=weight, ax=one)
    display.from_predictions(np.repeat(y, weight), np.repeat(p, weight), ax=two)
    for a, b in zip(drawn(one), drawn(two), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-6)
    assert legend(one) == legend(two)


@every
def test_from_estimator_draws_what_the_model_s_own_probabilities_do(display, model):
    people = titanic("pandas")
    one, two, three = (Figure(figsize=(6, 6)).subplots() for _ in range(3))
    display.from_estimator(model, people, "Survived", ax=one)
    p = model.predict_proba(people)[:, 1]
    y = people["Survived"].to_numpy()
    display.from_predictions(y, p, name="EvidenceNB", pos_label="Yes", ax=two)
    display.from_estimator(model, people, y, sample_weight=np.ones(len(y)), ax=three)
    for other in (two, three):
        assert len(drawn(one)) == len(drawn(other)) > 0
        for a, b in zip(drawn(one), drawn(other), strict=True):
            np.testing.assert_allclose(a, b)
        assert legend(one) == legend(other)
        assert one.get_xlabel() == other.get_xlabel()


@every
def test_weights_can_be_a_column_of_the_table(display, model):
    people = titanic("pandas").assign(times=np.arange(2201) % 3)
    one, two = (Figure().subplots() for _ in range(2))
    display.from_estimator(model, people, "Survived", sample_weight="times", ax=one)
    times = people["times"].to_numpy()
    display.from_estimator(model, people, "Survived", sample_weight=times, ax=two)
    for a, b in zip(drawn(one), drawn(two), strict=True):
        np.testing.assert_allclose(a, b)


@every
def test_any_classifier_can_be_drawn_and_one_of_many_classes_named(display, ax):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 300)
    X = rng.normal(size=(300, 2)) + y[:, None]
    fitted = LogisticRegression().fit(X, y)
    with pytest.raises(ValueError, match="has 3 classes; name one with pos_label"):
        display.from_estimator(fitted, X, y)
    display.from_estimator(fitted, X, y, pos_label=2, ax=ax)
    other = Figure(figsize=(6, 6), layout="constrained").subplots()
    display.from_predictions(y == 2, fitted.predict_proba(X)[:, 2], ax=other)
    for a, b in zip(drawn(ax), drawn(other), strict=True):
        np.testing.assert_allclose(a, b)


@every
def test_several_models_share_axes_in_colours_of_their_own(display, model, ax):
    people = titanic("pandas")
    others = AdjustedNB(random_state=0).fit(people, "Survived")
    first = display.from_estimator(model, people, "Survived", ax=ax)
    n_lines = len(ax.lines)
    second = display.from_estimator(others, people, "Survived", name="the other", ax=first.ax_)
    assert second.ax_ is ax
    one, two = models_lines(ax)
    assert to_hex(one.get_color()) != to_hex(two.get_color())
    points = len(ax.containers) // 2
    assert len(ax.lines) == n_lines + 1 + points  # what they are compared with is drawn once
    assert legend(ax)[-2].startswith("EvidenceNB")
    assert legend(ax)[-1].startswith("the other")


@every
def test_it_draws_on_the_axes_that_it_is_given_and_else_makes_one_figure(display, ax):
    y, p = rows(n=50)
    given_axes = display.from_predictions(y, p, ax=ax)
    assert given_axes.ax_ is ax
    assert given_axes.figure_ is ax.figure
    assert pyplot.get_fignums() == []
    made = display(metrics.Scored.read(y, p))
    assert made.plot() is made
    assert pyplot.get_fignums() == [made.figure_.number]


@every
@pytest.mark.parametrize("name", ["$", "$x_$ and $\\frac$", "<b>", "_private", "two\nlines"])
def test_names_are_text_and_never_formulas(display, name):
    y, p = rows(n=50)
    labels = np.where(y, name, "other")
    shown = display.from_predictions(labels, p, name=name, pos_label=name)
    shown.figure_.draw_without_rendering()
    for text in shown.figure_.findobj(matplotlib.text.Text):
        assert not (text.get_parse_math() and is_math_text(text.get_text())), text
    told = " ".join(legend(shown.ax_))
    assert name.replace("\n", "\\n") in told


@every
@pytest.mark.parametrize("size", [(3, 2.5), (6, 6), (12, 4)])
def test_legend_and_labels_stay_within_the_figure(display, size):
    y, p = rows()
    axes = Figure(figsize=size, layout="constrained").subplots()
    display.from_predictions(y, p, name="AdjustedNB", pos_label=1, ax=axes)
    axes.figure.draw_without_rendering()
    whole = axes.figure.bbox
    for part in (axes.get_legend(), axes.xaxis.label, axes.yaxis.label):
        box = part.get_window_extent()
        assert box.x0 >= whole.x0 - 1
        assert box.x1 <= whole.x1 + 1
        assert box.y0 >= whole.y0 - 1
        assert box.y1 <= whole.y1 + 1


@every
def test_what_cannot_be_drawn_is_told_what_to_change(display, model):
    people = titanic("pandas")
    with pytest.raises(ValueError, match="RidgeClassifier has no predict_proba"):
        display.from_estimator(RidgeClassifier(), people, "Survived")
    with pytest.raises(ValueError, match="fit it first"):
        display.from_estimator(LogisticRegression(), people, "Survived")
    with pytest.raises(ValueError, match=r"y .*'Alive'.* 'Class'"):
        display.from_estimator(model, people, "Alive")
    with pytest.raises(ValueError, match="pos_label='Maybe'"):
        display.from_estimator(model, people, "Survived", pos_label="Maybe")
    with pytest.raises(ValueError, match="from 0 to 1"):
        display.from_predictions([0, 1], [-1.0, 2.0])
    with pytest.raises(ValueError, match="NaN"):
        display.from_predictions([0, 1], [0.5, np.nan])


@pytest.mark.parametrize("display", [LiftDisplay, GainsDisplay])
def test_nothing_can_be_found_where_there_are_no_positives(display):
    with pytest.raises(ValueError, match="positive class"):
        display.from_predictions([0, 0], [0.1, 0.2])


@every
def test_three_rows_are_enough(display, ax):
    display.from_predictions([0, 1, 1], [0.2, 0.9, 0.4], ax=ax)
    ax.figure.draw_without_rendering()


def test_a_table_of_any_kind_holds_the_labels(model, ax):
    polars = pytest.importorskip("polars")
    frame = titanic("pandas")
    one, two = (Figure().subplots() for _ in range(2))
    GainsDisplay.from_estimator(model, polars.from_pandas(frame), "Survived", ax=one)
    GainsDisplay.from_estimator(model, pd.DataFrame(frame), "Survived", ax=two)
    for a, b in zip(drawn(one), drawn(two), strict=True):
        np.testing.assert_allclose(a, b)


def test_the_thresholds_of_what_is_rare_follow_its_base_rate(ax):
    rng = np.random.default_rng(0)
    p = expit(rng.normal(size=20000) - 5)
    y = (rng.random(20000) < p).astype(int)
    display = NetBenefitDisplay.from_predictions(y, p, ax=ax)
    assert display.curve.threshold[-1] == pytest.approx(10 * y.mean())
    assert ax.get_xlim()[1] < 0.2
    high = ax.get_ylim()[1]
    assert high < 1.2 * y.mean()
    assert display.curve.model.max() > 0.5 * high
    common = NetBenefitDisplay.from_predictions([0, 1, 1], [0.2, 0.4, 0.9]).curve.threshold
    np.testing.assert_allclose(common, np.arange(1, 100) / 100)


# ---------------------------------------------------------------- ROC, precision and recall


def test_the_roc_curve_and_its_band_are_those_of_a_literal_loop(ax):
    y, p = rows(n=60)
    display = ROCDisplay.from_predictions(y, p.round(1), ax=ax)
    points, n, z = {(0.0, 0.0): 0.0}, int((y == 1).sum()), 1.959963984540054
    for cut_off in np.unique(p.round(1)):
        flagged = p.round(1) >= cut_off
        points[flagged[y == 0].mean(), flagged[y == 1].mean()] = 0.0
    drawn = [*zip(display.fpr, display.tpr, strict=True)]
    assert {*drawn} <= {*points}
    area = np.trapezoid([tpr for _, tpr in sorted(points)], [fpr for fpr, _ in sorted(points)])
    assert display.auc.value == pytest.approx(area)
    for tpr, low, high in zip(display.tpr, *display.band, strict=True):
        for end in (low, high):  # where a test of the share would just not refuse it
            assert abs(tpr - end) == pytest.approx(z * np.sqrt(end * (1 - end) / n), abs=1e-9)


def test_precision_and_its_band_count_the_rows_that_are_flagged(ax):
    y, p = rows(n=60)
    display = PrecisionRecallDisplay.from_predictions(y, p.round(1), ax=ax)
    z, total = 1.959963984540054, (y == 1).sum()
    for cut_off, share, recall, low, high in zip(
        np.unique(p.round(1)), display.precision, display.recall, *display.band, strict=False
    ):
        flagged = p.round(1) >= cut_off
        assert share == pytest.approx(y[flagged].mean())
        assert recall == pytest.approx(y[flagged].sum() / total)
        for end in (low, high):
            bound = z * np.sqrt(end * (1 - end) / flagged.sum())
            assert abs(share - end) == pytest.approx(bound, abs=1e-9)


def test_a_roc_curve_needs_both_classes():
    with pytest.raises(ValueError, match="both classes"):
        ROCDisplay.from_predictions([1, 1], [0.2, 0.4], pos_label=1)
