"""Nomograms: the points of a row add up to the model's own probability, and can be read."""

import itertools

import matplotlib

matplotlib.use("Agg")

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib import pyplot
from matplotlib.cbook import is_math_text
from matplotlib.collections import PathCollection
from matplotlib.figure import Figure
from matplotlib.text import Annotation
from scipy.special import expit

from weigh import (
    AdjustedNB,
    BoostedNBRegressor,
    EducatedNB,
    EducatedRegressor,
    EvidenceNB,
    NomogramDisplay,
    PerplexedNB,
    RecalibratedClassifier,
    Scorecard,
)


@pytest.fixture
def ax():
    """Axes of a figure that pyplot does not know of."""
    return Figure(figsize=(9, 6), layout="constrained").subplots()


def draw(seed, n_rows=120, n_features=4):
    """Categories, numbers with gaps, and a rare level far out."""
    rng = np.random.default_rng(seed)
    y = np.r_[0, 1, rng.integers(0, 2, n_rows - 2)]
    columns = {
        "number": np.where(rng.random(n_rows) < 0.1, np.nan, rng.normal(size=n_rows) + 2 * y)
    }
    for j in range(n_features - 1):
        codes = np.minimum(rng.geometric(0.4, n_rows) + y * rng.integers(0, 2, n_rows), 6)
        columns[f"f{j}"] = [f"level {c}" for c in codes]
    return pd.DataFrame(columns), y


def points_of(points, evidence, row):
    """A row's points, read off scale by scale."""
    total = 0.0
    for scale in points.scales:
        placed = evidence[scale.name].feature.read(row)
        level = int(placed.levels[placed.codes[0]])
        known = level in scale.levels
        total += scale.points[scale.levels.index(level) if known else scale.no_level]
    return total


def with_gaps(frame, seed):
    """The same rows with answers that lack, and some that no other row has."""
    rng = np.random.default_rng(seed)
    frame = frame.astype({name: object for name in frame if name != "number"})
    for name in frame:
        frame.loc[rng.random(len(frame)) < 0.3, name] = np.nan if name == "number" else None
        if name != "number":
            frame.loc[rng.random(len(frame)) < 0.2, name] = "never seen"
    return frame


def drawn(display):
    """The ticks of each row from top to bottom, and the labels with their places."""
    found = [c for c in display.ax_.collections if isinstance(c, PathCollection)]
    ticks = {}
    for c in found:
        for x, y in np.asarray(c.get_offsets()):
            ticks.setdefault(int(y), []).append(x)
    texts = {}
    for text in display.ax_.texts:
        if isinstance(text, Annotation):
            texts.setdefault(int(text.xy[1]), {})[text.get_text()] = text.xy[0]
    return ticks, texts


# ---------------------------------------------------------------- the points


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), smoothing=st.sampled_from([0, 1.0]))
def test_the_points_of_a_row_read_off_and_added_up_give_the_model_s_probability(seed, smoothing):
    frame, y = draw(seed)
    fitted = EvidenceNB(smoothing=smoothing).fit(frame, y)
    points = NomogramDisplay(fitted.evidence_).points
    for i in range(0, len(frame), 17):
        total = points_of(points, fitted.evidence_, fitted._read(frame.iloc[[i]]))
        expected = fitted.predict_proba(frame.iloc[[i]])[0, 1]
        assert float(points.probability(total)) == pytest.approx(expected, rel=1e-9, abs=1e-12)


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    missing=st.sampled_from(["level", "skip"]),
    crosses=st.sampled_from([None, [("f0", "f1")]]),
    gaps_in_training=st.booleans(),
)
def test_the_points_of_any_row_give_its_probability_missing_and_unseen_answers_included(
    seed, missing, crosses, gaps_in_training
):
    frame, y = draw(seed)
    holed = with_gaps(frame, seed)
    known = frame.dropna() if not gaps_in_training else holed.replace("never seen", "level 1")
    fitted = EvidenceNB(missing=missing, crosses=crosses).fit(known, y[known.index])
    points = NomogramDisplay(fitted.evidence_).points
    expected = fitted.predict_proba(holed)[:, 1]
    for i in range(0, len(holed), 7):
        total = points_of(points, fitted.evidence_, fitted._read(holed.iloc[[i]]))
        assert float(points.probability(total)) == pytest.approx(expected[i], rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("family", ["gaussian", "poisson", "gamma"])
def test_the_points_of_a_row_give_the_estimate_of_a_regressor(family):
    frame, y = draw(5)
    target = 200 + 10 * y + frame["number"].fillna(0) if family == "gaussian" else 1 + 2 * y
    fitted = EducatedRegressor(family=family, pairs=0).fit(frame, target)
    display = NomogramDisplay.from_estimator(fitted)
    expected = fitted.predict(frame)
    for i in range(0, len(frame), 17):
        total = points_of(display.points_, fitted.evidence_, fitted._read(frame.iloc[[i]]))
        assert float(display.points_.estimate(total)) == pytest.approx(expected[i])
        assert float(display.points_.total_of(expected[i])) == pytest.approx(total, abs=1e-9)
    _, texts = drawn(display)
    *_, last = (texts[place] for place in sorted(texts))  # the scale of estimates
    low, high = display.points_.estimate(np.array([0.0, display.points_.highest]))
    ticks = {float(text.replace(",", "")): 0.01 * x for text, x in last.items()}
    assert len(ticks) >= 2
    for number, part in ticks.items():
        link = np.log if family != "gaussian" else float
        assert part == pytest.approx(
            (link(number) - link(low)) / (link(high) - link(low)), abs=1e-6
        )
    words = " ".join(text.get_text() for text in display.ax_.texts)
    assert "Estimate of y" in words
    assert "robability" not in words
    assert "Multiply" not in words


@pytest.mark.parametrize(
    ("exposure", "named"), [("years", "years"), (np.arange(1.0, 91), "exposure")]
)
def test_a_nomogram_of_rates_says_what_to_multiply_them_by(exposure, named):
    frame = pd.DataFrame({"a": [*"pqr"] * 30, "years": np.arange(1.0, 91)})
    fitted = EducatedRegressor(family="poisson").fit(frame, np.arange(90) % 4, exposure=exposure)
    display = NomogramDisplay.from_estimator(fitted)
    foot = " ".join(" ".join(text.get_text() for text in display.ax_.texts).split())
    assert f"Multiply the estimate by the {named} of the row." in foot


@pytest.mark.parametrize("form", ["root", "geometric"])
def test_a_nomogram_for_so_many_answers_holds_for_every_row_that_has_so_many(form):
    frame, y = draw(3)
    holed = with_gaps(frame, 3)
    learner = PerplexedNB(attenuation=2.5, form=form, missing="skip")
    fitted = learner.fit(holed, y).with_prior(0.2)
    expected = fitted.predict_proba(holed)[:, 1]
    answers = holed.notna().sum(axis=1).to_numpy()
    assert len({*answers}) > 3
    for i in range(0, len(holed), 7):
        points = NomogramDisplay(fitted.evidence_, answers=int(answers[i])).points
        total = points_of(points, fitted.evidence_, fitted._read(holed.iloc[[i]]))
        assert float(points.probability(total)) == pytest.approx(expected[i])
    display = NomogramDisplay.from_estimator(fitted, answers=2)
    foot = " ".join(" ".join(text.get_text() for text in display.ax_.texts).split())
    assert "of a row with an answer to 2 features" in foot
    with pytest.raises(ValueError, match="from 0 to 4, the number of features; got 9"):
        NomogramDisplay(fitted.evidence_, answers=9)
    with pytest.raises(ValueError, match="leave it out here"):
        NomogramDisplay(EvidenceNB().fit(frame, y).evidence_, answers=2)


def test_what_is_no_level_is_named_by_what_it_stands_for():
    rows = [{"a": "xyz"[i % 3], "b": [1.5, None][i % 2], "c": "pq"[i % 2]} for i in range(30)]
    rows += [{"a": None, "b": 2.5, "c": "not known"}]
    fitted = EvidenceNB(bins={"b": [2.0]}).fit(rows, [i % 2 for i in range(31)])
    points = NomogramDisplay(fitted.evidence_, sort=None).points
    named = ["not known", "not known", "(not known)"]
    assert [scale.labels[-1] for scale in points.scales] == named
    assert [scale.labels[scale.no_level] for scale in points.scales] == named


def test_most_bins_of_a_numeric_feature_have_a_label_where_there_is_room():
    rng = np.random.default_rng(1)
    x = rng.uniform(0, 100, 4000)
    y = rng.random(4000) < x / 100
    fitted = EvidenceNB(bins={"x": [*range(10, 100, 10)], "z": [*range(5, 100, 5)]})
    fitted.fit(pd.DataFrame({"x": x, "z": x + 0.5}), y)
    display = NomogramDisplay.from_estimator(fitted)
    texts = {text.get_text() for text in display.figure_.axes[0].texts}
    for scale in display.points_.scales:
        assert len(texts & {*scale.labels}) >= 0.75 * len(scale.labels)


def test_every_scale_has_a_place_for_an_answer_that_is_not_known():
    """Also a number with missing values, and a category with missing and other values."""
    rng = np.random.default_rng(3)
    rows = [{"n": float(n), "c": "abcdef"[n % 6]} for n in rng.integers(0, 9, 200)]
    rows[:40] = [{"n": None, "c": None}] * 40
    y = rng.integers(0, 2, 200)
    fitted = EvidenceNB(max_levels={"c": 2}).fit(rows, y)
    points = NomogramDisplay(fitted.evidence_).points
    assert {"missing", "not known"} <= {*points.scales[0].labels} & {*points.scales[1].labels}
    for row in ({}, {"n": 3.0}, {"c": "zz"}, {"n": None}):
        total = points_of(points, fitted.evidence_, fitted._read([row]))
        assert float(points.probability(total)) == pytest.approx(fitted.predict_proba([row])[0, 1])


@pytest.mark.parametrize("form", ["root", "geometric"])
def test_an_exponent_that_depends_on_the_row_is_that_of_a_full_row(form):
    frame, y = draw(3)
    learner = PerplexedNB(attenuation=2.5, form=form, missing="skip")
    fitted = learner.fit(frame, y).with_prior(0.2)
    assert fitted.evidence_.attenuation is not None
    points = NomogramDisplay(fitted.evidence_).points
    full = frame[frame["number"].notna()]
    for i in range(0, len(full), 17):
        total = points_of(points, fitted.evidence_, fitted._read(full.iloc[[i]]))
        expected = fitted.predict_proba(full.iloc[[i]])[0, 1]
        assert float(points.probability(total)) == pytest.approx(expected)


@pytest.mark.parametrize("method", ["spline", "isotonic"])
@pytest.mark.parametrize("of", [0, 1])
def test_a_recalibrated_total_is_read_off_as_what_it_is_worth(method, of):
    frame, y = draw(6)
    learner = RecalibratedClassifier(EvidenceNB(), method=method, random_state=0)
    fitted = learner.fit(frame, y).with_prior(0.4)
    points = NomogramDisplay(fitted.evidence_, pos_label=of).points
    for i in range(0, len(frame), 17):
        total = points_of(points, fitted.evidence_, fitted._read(frame.iloc[[i]]))
        expected = fitted.predict_proba(frame.iloc[[i]])[0, of]
        assert float(points.probability(total)) == pytest.approx(expected)
    reached = points.probability(np.linspace(0, points.highest, 5))[1:-1]
    there_and_back = points.probability(points.total(reached))
    np.testing.assert_allclose(there_and_back, reached, atol=1e-6)
    display = NomogramDisplay.from_estimator(fitted)
    assert f"recalibrated ({method})" in " ".join(t.get_text() for t in display.ax_.texts)


def test_of_many_classes_a_pair_gives_the_odds_of_one_rather_than_the_other():
    frame, _ = draw(4)
    y = np.arange(len(frame)) % 3
    fitted = EvidenceNB().fit(frame, y)
    points = NomogramDisplay(fitted.evidence_, pos_label=2, against=0).points
    total = points_of(points, fitted.evidence_, fitted._read(frame.iloc[[5]]))
    totals = fitted.decision_function(frame.iloc[[5]])[0]
    assert float(points.probability(total)) == pytest.approx(expit(totals[2] - totals[0]))


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_the_lowest_level_near_the_others_has_no_points_and_the_widest_feature_a_hundred(seed):
    frame, y = draw(seed)
    points = NomogramDisplay(EvidenceNB(smoothing=0).fit(frame, y).evidence_).points
    for scale in points.scales:
        assert scale.points[scale.within].min() == 0
        assert scale.share.sum() == pytest.approx(1)
        assert scale.share[~scale.within].sum() <= 0.1 + 1e-9
    assert max(scale.length for scale in points.scales) == pytest.approx(100)
    chances = np.array([0.1, 0.5, 0.9])
    np.testing.assert_allclose(points.probability(points.total(chances)), chances)


def test_features_left_out_are_taken_at_their_mean_and_the_foot_says_what_they_could_add():
    frame, y = draw(5, n_features=6)
    fitted = EvidenceNB().fit(frame, y)
    display = NomogramDisplay.from_estimator(fitted, max_features=2)
    assert len(display.points_.scales) == 2
    evidence, left = fitted.evidence_, {scale.name for scale in display.points_.rest}
    assert len(left) == 4
    mean = 0.0
    for name in left:
        rows = evidence[name].counts.sum(axis=1)
        mean += rows @ evidence[name].weights / rows.sum()
    lowest = sum(min(evidence[scale.name].weights) for scale in display.points_.scales)
    assert display.points_.start == pytest.approx(evidence.prior + lowest + mean)
    unit = display.points_.per_point
    least = (sum(min(evidence[name].weights) for name in left) - mean) / unit
    most = (sum(max(evidence[name].weights) for name in left) - mean) / unit
    foot = " ".join(" ".join(text.get_text() for text in display.ax_.texts).split())
    assert (
        f"4 more features are taken at their mean; they could add {least:+.0f} to {most:+.0f}"
        in foot
    )


def test_features_can_be_named_and_the_others_stay_in_the_sum(model):
    points = NomogramDisplay(model.evidence_, features=["Age"]).points
    assert [scale.name for scale in points.scales] == ["Age"]
    assert {scale.name for scale in points.rest} == {"Class", "Sex"}


@pytest.mark.parametrize("pos_label", [None, "No", "Yes"])
def test_a_card_has_its_own_points_whose_sum_is_the_score(ax, model, pos_label):
    card, row = Scorecard(model, base_score=100, base_odds=1), {"Sex": "Male", "Class": "3rd"}
    display = NomogramDisplay.from_estimator(card, pos_label=pos_label, ax=ax)
    scales = {scale.name: scale for scale in display.points_.scales}
    for name, scale in scales.items():
        np.testing.assert_allclose(scale.points, [*card.points[name], 0], atol=1e-9)
    score = card.base_points + sum(
        scales[name].points[scales[name].labels.index(level)] for name, level in row.items()
    )
    assert score == pytest.approx(card.score([row])[0])
    good = card.probability(score)
    wanted = 1 - good if pos_label == "No" else good
    assert float(display.points_.probability(score)) == pytest.approx(float(wanted))
    written = [text.get_text() for text in ax.texts]
    assert "Score" in written
    assert "Total points" not in written
    assert f"The score is {card.base_points} base points" in " ".join(" ".join(written).split())
    ticks, _ = drawn(display)
    low, high = display.points_.ends
    for i, name in enumerate(scales, 1):
        places = 100 * (np.sort(scales[name].points) - low) / (high - low)
        np.testing.assert_allclose(np.sort(ticks[i]), places)


def test_features_of_a_card_that_are_left_out_add_their_mean_to_the_score(model):
    card = Scorecard(model, base_score=100, base_odds=1)
    points = NomogramDisplay(card.evidence_, features=["Sex"]).points
    others = [table for table in card.evidence if table.name != "Sex"]
    means = sum(table.share @ card.points[table.name] for table in others)
    assert points.added == pytest.approx(card.base_points + means)


# ---------------------------------------------------------------- the picture


def test_every_level_has_a_tick_and_a_label_at_its_points(ax, model):
    display = NomogramDisplay.from_estimator(model, ax=ax)
    ticks, texts = drawn(display)
    for i, scale in enumerate(display.points_.scales, 1):
        np.testing.assert_allclose(np.sort(ticks[i]), np.sort(scale.points))
        assert {*texts[i]} == {*scale.labels}
        inner = dict(zip(scale.labels, scale.points, strict=True))
        for label, x in texts[i].items():
            if 5 < inner[label] < 95:
                assert x == pytest.approx(inner[label])
    names = [t.get_text() for t in ax.texts if not isinstance(t, Annotation)]
    assert names[:-1] == ["Points", "Sex", "Class", "Age", "Total points", "Probability of Yes"]
    assert display.ax_ is ax
    assert pyplot.get_fignums() == []


def test_probabilities_stand_below_the_totals_that_they_take(ax, model):
    display = NomogramDisplay.from_estimator(model, ax=ax)
    _, texts = drawn(display)
    totals, chances = ({float(text): x for text, x in texts[row].items()} for row in (4, 5))
    assert len(totals) > 3
    assert len(chances) > 3
    (a, x), (b, z) = min(totals.items()), max(totals.items())
    for chance, place in chances.items():
        total = a + (b - a) * (place - x) / (z - x)
        assert float(display.points_.probability(total)) == pytest.approx(chance, abs=0.01)


def test_a_level_far_out_is_an_arrow_with_its_points_and_still_adds_up(ax):
    rows = [{"a": "xyz"[i % 3], "b": "pq"[i % 2]} for i in range(300)] + [{"a": "odd", "b": "p"}]
    y = [int(i % 5 in (0, i % 3)) for i in range(300)] + [1]
    fitted = EvidenceNB(smoothing=0).fit(rows, y)
    display = NomogramDisplay.from_estimator(fitted, ax=ax)
    scale = next(scale for scale in display.points_.scales if scale.name == "a")
    odd = scale.labels.index("odd")
    assert not scale.within[odd]
    assert scale.points[odd] > 150
    told = [text.get_text() for text in ax.texts]
    assert f"▶ odd ({scale.points[odd]:.0f})" in told
    total = points_of(display.points_, fitted.evidence_, fitted._read(pd.DataFrame(rows[-1:])))
    expected = fitted.predict_proba(rows[-1:])[0, 1]
    assert float(display.points_.probability(total)) == pytest.approx(expected)


def boxes(display, row):
    display.figure_.draw_without_rendering()
    found = [t for t in display.ax_.texts if isinstance(t, Annotation) and int(t.xy[1]) == row]
    return [text.get_window_extent() for text in found]


@pytest.mark.parametrize("size", [(3, 2.5), (6, 4), (9, 8), (14, 4)])
def test_labels_never_overlap_each_other_or_the_names(size):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 3000)
    frame = pd.DataFrame(
        {
            "a rather long name of a question, with a $ and an _": rng.choice(
                [*"abcdefghijklmnop"], 3000
            ),
            "number": rng.normal(size=3000) + y,
            "said": np.where(y + rng.normal(size=3000) > 0.5, "strongly agrees", "disagrees"),
        }
    )
    axes = Figure(figsize=size, layout="constrained").subplots()
    display = NomogramDisplay.from_estimator(EvidenceNB(bins=12).fit(frame, y), ax=axes)
    names = [t for t in axes.texts if not isinstance(t, Annotation)][:-1]
    for row in range(len(names)):
        found = boxes(display, row)
        name = names[row].get_window_extent()
        for i, one in enumerate(found):
            assert not any(one.overlaps(other) for other in found[:i]), (row, size)
            assert one.x0 >= name.x1
            assert one.x1 <= axes.figure.bbox.x1 + 1


def test_levels_that_read_alike_when_cut_stay_apart_and_crowded_labels_get_a_second_tier():
    rng = np.random.default_rng(2)
    y = rng.integers(0, 2, 2000)
    codes = np.minimum(rng.integers(0, 4, 2000) + 3 * y * rng.integers(0, 2, 2000), 4)
    rows = [{"q": f"a long answer that begins like the others, number {c}"} for c in codes]
    display = NomogramDisplay.from_estimator(EvidenceNB().fit(rows, y))
    _, texts = drawn(display)
    ends = {text[-1] for text in texts[1]} - {"n"}
    assert ends == {*"01234"}
    assert max(map(len, texts[1])) < 30
    found = boxes(display, 1)
    assert not any(a.overlaps(b) for i, a in enumerate(found) for b in found[:i])
    assert len({round(box.y0) for box in found}) > 2


def test_features_that_are_named_give_way_on_axes_too_small_for_them():
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 300)
    frame = pd.DataFrame({f"f{j}": rng.integers(0, 3, 300).astype(str) for j in range(40)})
    axes = Figure(figsize=(9, 4)).subplots()
    display = NomogramDisplay.from_estimator(EvidenceNB().fit(frame, y), features=[*frame], ax=axes)
    n = len(display.points_.scales)
    assert 1 < n < 40
    assert f"{40 - n} more features are taken" in " ".join(
        " ".join(text.get_text() for text in axes.texts).split()
    )
    rows = [boxes(display, row) for row in range(n + 3)]
    for above, below in itertools.pairwise(rows):
        assert not any(a.overlaps(b) for a in above for b in below)


def test_forty_features_are_capped_on_small_axes_and_drawn_when_asked_for():
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 500)
    X = rng.integers(0, 3, (500, 40)) + y[:, None] * rng.integers(0, 2, (500, 40))
    fitted = EvidenceNB(categorical_features="all").fit(X, y)
    small = Figure(figsize=(3, 2.5), layout="constrained").subplots()
    display = NomogramDisplay.from_estimator(fitted, ax=small)
    n = len(display.points_.scales)
    assert 1 <= n < 15
    assert len(display.points_.rest) == 40 - n
    whole = NomogramDisplay.from_estimator(fitted, max_features=40)
    assert len(whole.points_.scales) == 40
    whole.figure_.draw_without_rendering()
    names = [t.get_window_extent() for t in whole.ax_.texts if not isinstance(t, Annotation)]
    middles = sorted((box.y0 + box.y1) / 2 for box in names[:-1])
    assert np.diff(middles).min() > 1.5 * max(box.height for box in names[:-1])


@pytest.mark.parametrize("name", ["$", "$x_$ and $\\frac$", "<b>", "two\nlines"])
def test_names_are_text_and_never_formulas(name):
    rows = [{name: f"{name}{i % 3}"} for i in range(12)]
    y = [f"{name}{i % 2}" for i in range(12)]
    display = NomogramDisplay.from_estimator(EvidenceNB().fit(rows, y))
    display.figure_.draw_without_rendering()
    for text in display.figure_.findobj(matplotlib.text.Text):
        assert not (text.get_parse_math() and is_math_text(text.get_text())), text


def test_a_model_that_tells_nothing_is_drawn_all_the_same(ax):
    fitted = EvidenceNB().fit([{"a": "x"}] * 6, [0, 1] * 3)
    display = NomogramDisplay.from_estimator(fitted, ax=ax)
    assert float(display.points_.probability(0.0)) == pytest.approx(0.5)
    display.figure_.draw_without_rendering()


# ---------------------------------------------------------------- what cannot be drawn


def test_what_has_no_single_sum_is_told_what_to_do():
    frame, _ = draw(0)
    y = np.arange(len(frame)) % 3
    many = EvidenceNB().fit(frame, y)
    with pytest.raises(ValueError, match=r"has 3; .*pos_label= .*against="):
        NomogramDisplay.from_estimator(many, pos_label=1)
    coded = [{"a": "xyz"[i % 3], "b": "pq"[i % 2]} for i in range(60)]
    each = AdjustedNB(norm=None, multiclass="ovr").fit(coded, [i // 2 % 3 for i in range(60)])
    with pytest.raises(ValueError, match=r"fit AdjustedNB\(multiclass='softmax'\)"):
        NomogramDisplay.from_estimator(each, pos_label=1, against=0)
    documents = EvidenceNB(event_model="counts").fit(np.eye(4), [0, 1, 0, 1])
    with pytest.raises(ValueError, match="documents repeat tokens"):
        NomogramDisplay.from_estimator(documents)
    numbers = BoostedNBRegressor(random_state=0).fit(frame, np.arange(len(frame)) % 7)
    with pytest.raises(ValueError, match="BoostedNBRegressor predicts none; draw an EvidenceDispl"):
        NomogramDisplay.from_estimator(numbers)
    with pytest.raises(ValueError, match="before it is fitted"):
        NomogramDisplay.from_estimator(EvidenceNB())


def test_the_footnote_says_that_the_factor_of_incomplete_rows_is_left_out(monkeypatch):
    X = np.random.default_rng(0).choice([*"ab"], (600, 5))
    y = (X == "a").sum(axis=1) > 2  # separable, so weights are too large for incomplete rows
    texts = []
    for least in (None, np.inf):
        if least is not None:
            monkeypatch.setattr("weigh.educated.attenuation.LEAST_GAIN", least)
        display = NomogramDisplay.from_estimator(EducatedNB(pairs=0).fit(X, y))
        texts.append(" ".join(" ".join(text.get_text() for text in display.ax_.texts).split()))
    assert "With ○ it is approximate: the factor of incomplete rows is left out." in texts[0]
    assert "approximate" not in texts[1]
