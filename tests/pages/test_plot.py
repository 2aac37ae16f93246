"""Figures: bars that add up, paths as they went, on the axes that they are given."""

import itertools

import matplotlib

matplotlib.use("Agg")

import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.cbook import is_math_text
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from weigh import (
    AttenuationPathDisplay,
    BalanceSheetDisplay,
    BoostedNB,
    EducatedNB,
    EvidenceNB,
    PerplexedNB,
    RoundsDisplay,
    SearchPathDisplay,
    WeightedNB,
)
from weigh.datasets import titanic

CASE = {"Class": "3rd", "Sex": "Female", "Age": "Child"}


@pytest.fixture
def ax():
    """Axes of a figure that pyplot does not know of."""
    return Figure().subplots()


def bars(ax):
    """The start and the length of each bar, from top to bottom."""
    found = [(bar.get_y(), bar.get_x(), bar.get_width()) for bar in ax.patches]
    return [(start, length) for _, start, length in sorted(found)]


def labels(ax):
    return [text.get_text() for text in ax.get_yticklabels()]


def many(n_classes):
    rows = [{"a": "xyz"[i % 3], "b": "pq"[i % 2], "c": i // 3} for i in range(12)]
    return EvidenceNB(bins={"c": [1.0]}).fit(rows, [i % n_classes for i in range(12)]), rows[4]


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("choice", [{}, {"pos_label": 0}, {"pos_label": 1, "against": 0}])
def test_the_bars_follow_each_other_from_nothing_to_the_total(ax, n_classes, choice):
    fitted, row = many(n_classes)
    sheet = fitted.balance_sheet(row, **choice)
    BalanceSheetDisplay(sheet).plot(ax=ax)
    *parts, total = bars(ax)
    end = 0.0
    for start, length in parts:
        assert start == pytest.approx(end, abs=1e-9)
        end = start + length
    assert end == pytest.approx(100 * sheet.total, abs=1e-9)
    assert total == pytest.approx((0.0, 100 * sheet.total), abs=1e-9)


def test_each_bar_is_the_prior_or_an_item_and_stands_beside_its_name(ax, model):
    sheet = model.balance_sheet(CASE)
    BalanceSheetDisplay(sheet).plot(ax=ax)
    expected = {"Prior": 100 * sheet.prior, "Total": 100 * sheet.total}
    expected |= {str(item): 100 * item.weight for item in sheet.items}
    found = dict(zip(labels(ax), [length for _, length in bars(ax)], strict=True))
    assert found == pytest.approx(expected)


def test_heavier_items_come_first_and_silent_ones_are_left_out(ax, model):
    sheet = model.balance_sheet(CASE | {"Class": "never seen"})
    BalanceSheetDisplay(sheet).plot(ax=ax)
    *parts, _ = bars(ax)
    lengths = [abs(length) for _, length in parts[1:]]
    assert len(lengths) == 2
    assert lengths == sorted(lengths, reverse=True)


def test_what_evidence_for_and_what_evidence_against_differ_in_colour(ax, model):
    BalanceSheetDisplay(model.balance_sheet(CASE)).plot(ax=ax)
    colours = {}
    for bar in ax.patches[:-1]:
        colours.setdefault(bar.get_width() > 0, set()).add(to_hex(bar.get_facecolor()))
    assert len(colours[True]) == 1
    assert len(colours[False]) == 1
    assert colours[True] != colours[False]


def test_the_words_say_the_class_and_the_probability(ax):
    fitted, row = many(3)
    sheet = fitted.balance_sheet(row, pos_label=2)
    BalanceSheetDisplay(sheet).plot(ax=ax)
    assert "2" in ax.get_xlabel()
    assert f"{sheet.probability:.2f}" in ax.get_title()
    numbers = [text.get_text() for text in ax.texts]
    assert f"{100 * sheet.total:+.0f}" in numbers


def test_it_draws_on_the_axes_that_it_is_given_and_makes_no_figure(ax, model):
    display = BalanceSheetDisplay.from_estimator(model, CASE, ax=ax)
    assert display.ax_ is ax
    assert display.figure_ is ax.figure
    assert pyplot.get_fignums() == []


def test_without_axes_it_makes_one_figure_and_returns_itself(model):
    display = BalanceSheetDisplay(model.balance_sheet(CASE))
    assert display.plot() is display
    assert pyplot.get_fignums() == [display.figure_.number]
    assert display.figure_.axes == [display.ax_]


def test_it_never_shows(model, monkeypatch, ax):
    def show(*args, **kwargs):
        raise AssertionError("a display must leave showing to the user")

    monkeypatch.setattr(pyplot, "show", show)
    monkeypatch.setattr(Figure, "show", show)
    BalanceSheetDisplay.from_estimator(model, CASE)
    BalanceSheetDisplay.from_estimator(model, CASE, ax=ax)


def test_from_estimator_is_the_model_s_own_sheet(ax):
    fitted, row = many(3)
    display = BalanceSheetDisplay.from_estimator(fitted, row, ax=ax, pos_label=0, against=2)
    assert display.sheet == fitted.balance_sheet(row, pos_label=0, against=2)


@pytest.mark.parametrize(
    "name", ["$", "$x_$ and $\\frac$", "a_b^c", "%", "\\", "<b>", "two\nlines"]
)
def test_names_are_text_and_never_formulas(name):
    rows = [{name: f"{name}{i}"} for i in range(2)]
    sheet = EvidenceNB().fit(rows, [f"{name}0", f"{name}1"]).balance_sheet(rows[0])
    display = BalanceSheetDisplay(sheet).plot()
    display.figure_.canvas.draw()
    for text in (*display.ax_.get_yticklabels(), display.ax_.title, display.ax_.xaxis.label):
        assert not (text.get_parse_math() and is_math_text(text.get_text()))


def test_a_long_name_leaves_room_for_the_bars(model):
    name = "a very long question that somebody asked in a survey of many pages " * 3
    rows = [{name: "x"}, {name: "y"}]
    display = BalanceSheetDisplay.from_estimator(EvidenceNB().fit(rows, [0, 1]), rows[0])
    display.figure_.canvas.draw()
    assert display.ax_.get_position().width > 0.3


def test_a_hundred_items_are_drawn_apart():
    rows = [{f"feature {j}": "ab"[(i + j) % 2] for j in range(100)} for i in range(3)]
    display = BalanceSheetDisplay.from_estimator(EvidenceNB().fit(rows, [0, 1, 1]), rows[0])
    display.figure_.canvas.draw()
    places = [text.get_window_extent() for text in display.ax_.get_yticklabels()]
    middles = sorted((box.y0 + box.y1) / 2 for box in places)
    assert len(middles) == 102
    assert np.diff(middles).min() > 0.8 * max(box.height for box in places)


def many_items(n=40):
    rows = [{f"a long question, number {j}": "ab"[(i + j) % 2] for j in range(n)} for i in range(5)]
    return EvidenceNB().fit(rows, [0, 1, 1, 0, 1]), rows[0]


def test_items_beyond_those_asked_for_share_a_bar(ax):
    fitted, row = many_items()
    sheet = fitted.balance_sheet(row)
    BalanceSheetDisplay.from_estimator(fitted, row, max_items=5, ax=ax)
    names, found = labels(ax), bars(ax)
    assert names[-2:] == ["35 more", "Total"]
    assert len(names) == 8
    heaviest = sorted((abs(item.weight) for item in sheet.items), reverse=True)[:5]
    assert [abs(length) for _, length in found[1:6]] == pytest.approx([100 * w for w in heaviest])
    start, length = found[-2]
    assert start + length == pytest.approx(100 * sheet.total)


def test_items_that_are_rounded_to_0_share_a_bar(ax):
    columns = [f"x{j}" for j in range(6)]
    rows = [{name: "ab"[(i >> j) & 1] for j, name in enumerate(columns)} for i in range(640)]
    y = [int(row["x0"] + row["x1"] > "ab") for row in rows]  # the other columns say nothing
    sheet = EvidenceNB(smoothing=0).fit(rows[:-1], y[:-1]).balance_sheet(rows[0])
    small = [item for item in sheet.items if item.weight and abs(item.weight) < 0.005]
    BalanceSheetDisplay(sheet).plot(ax=ax)
    assert len(small) > 1
    assert labels(ax)[-2] == f"{len(small)} more"
    assert not {str(item) for item in small} & {*labels(ax)}
    BalanceSheetDisplay(sheet, max_items=6).plot(ax=ax)
    assert {str(item) for item in small} <= {*labels(ax)}


@pytest.mark.parametrize("asked", [{}, {"c": "a"}, {"x": 1.0, "c": "a"}])
def test_the_factor_of_an_incomplete_row_has_a_bar_and_a_complete_row_has_none(ax, asked):
    rng = np.random.default_rng(0)
    x = rng.normal(size=1000)
    rows = [{"x": a, "again": a, "c": "ab"[i % 2]} for i, a in enumerate(x.tolist())]
    fitted = EducatedNB(pairs=0).fit(rows, rng.random(1000) < 1 / (1 + np.exp(-4 * x)))
    assert fitted.evidence_.attenuation is not None
    for row in (asked, rows[0]):
        ax.clear()
        sheet = fitted.balance_sheet(row)
        BalanceSheetDisplay(sheet).plot(ax=ax)
        factors = [name for name in labels(ax) if "actor" in name or "xponent" in name]
        known = row == rows[0]
        assert len(factors) == (not known)
        assert known or factors[0].endswith(f"{sheet.attenuation.n:.0%} not known")


@pytest.mark.parametrize("size", [(3, 2.5), (5, 4), (14, 3)])
def test_on_small_axes_as_many_items_are_drawn_as_can_be_read(size):
    fitted, row = many_items()
    figure = Figure(figsize=size, layout="constrained")
    axes = figure.subplots()
    BalanceSheetDisplay.from_estimator(fitted, row, ax=axes)
    figure.draw_without_rendering()
    boxes = [text.get_window_extent() for text in axes.get_yticklabels()]
    middles = sorted((box.y0 + box.y1) / 2 for box in boxes)
    assert np.diff(middles).min() > 0.8 * max(box.height for box in boxes)
    assert labels(axes)[-2].endswith(" more")
    for text in (axes.title, axes.xaxis.label):
        box = text.get_window_extent()
        assert box.x0 >= 0
        assert box.x1 <= figure.bbox.x1 + 1


@pytest.mark.parametrize("layout", ["constrained", None])
@pytest.mark.parametrize("size", [(4, 3), (8, 3), (8, 12)])
def test_long_names_stay_in_the_figure_apart_and_told_from_each_other(layout, size):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    rows = [
        {
            f"a long question about the income of the household, number {j}": (
                f"an answer that is long itself, number {rng.integers(0, 3) + c * (j % 2)}"
            )
            for j in range(12)
        }
        for c in y
    ]
    figure = Figure(figsize=size, layout=layout)
    axes = figure.subplots()
    BalanceSheetDisplay.from_estimator(EvidenceNB().fit(rows, y), rows[0], max_items=12, ax=axes)
    figure.draw_without_rendering()
    boxes = [text.get_window_extent() for text in axes.get_yticklabels()]
    assert min(box.x0 for box in boxes) >= 0
    assert not any(a.overlaps(b) for a, b in itertools.pairwise(boxes))
    shown = labels(axes)
    assert len({*shown}) == len(shown)


def test_a_long_name_is_cut_in_its_middle_so_that_the_level_stays(ax):
    name = "a very long question that somebody asked in a survey " * 3
    rows = [{name: "level x"}, {name: "level y"}]
    BalanceSheetDisplay.from_estimator(EvidenceNB().fit(rows, [0, 1]), rows[0], ax=ax)
    assert labels(ax)[1].startswith("a very long")
    assert labels(ax)[1].endswith("= level x")


def test_a_number_of_items_that_cannot_be_is_refused(model):
    with pytest.raises(ValueError, match=r"max_items .*got -1"):
        BalanceSheetDisplay.from_estimator(model, CASE, max_items=-1)


def test_without_matplotlib_the_error_names_the_extra(model, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"weigh\[plot\]"):
        BalanceSheetDisplay.from_estimator(model, CASE)


# ---------------------------------------------------------------- the path of a search


def searched(method="hill_climbing", names=("a", "b", "c", "d")):
    """The first two features say the same thing, so that the search must raise the others."""
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, 300)
    hint = np.where(rng.random(300) < 0.3, rng.integers(0, 2, 300), y)
    others = y[:, None] + rng.integers(0, 4, (300, 2))
    codes = np.column_stack([hint, hint, others])
    rows = [dict(zip(names, row, strict=True)) for row in codes.tolist()]
    learner = WeightedNB(method=method, categorical_features="all", random_state=0)
    return learner.fit(rows, y)


def test_the_line_is_the_auc_of_every_step(ax):
    model = searched()
    assert len(model.history_.auc) > 2
    display = SearchPathDisplay.from_estimator(model, ax=ax)
    (line,) = ax.lines
    np.testing.assert_array_equal(line.get_ydata(), model.history_.auc)
    np.testing.assert_array_equal(line.get_xdata(), np.arange(len(model.history_.auc)))
    assert display.ax_ is ax
    assert pyplot.get_fignums() == []
    assert f"{model.auc_:.4f}" in ax.get_title()


def test_each_feature_that_moved_is_named_once_below_its_steps(ax):
    model = searched()
    SearchPathDisplay(model.history_).plot(ax=ax)
    moved = model.history_.moved
    names = [text.get_text() for text in ax.texts]
    assert len(names) > 1
    assert names == [model.history_.features[j] for j in dict.fromkeys(moved.tolist()) if j >= 0]
    for text in ax.texts:
        places = np.flatnonzero(moved == model.history_.features.index(text.get_text()))
        assert text.get_position()[0] == places.mean()


@pytest.mark.parametrize("method", ["gain_ratio", "mcmc", "monte_carlo"])
def test_where_no_single_feature_moves_none_is_named(method):
    display = SearchPathDisplay.from_estimator(searched(method))
    assert not display.ax_.texts
    assert pyplot.get_fignums() == [display.figure_.number]


def test_names_in_a_path_are_text_and_never_formulas():
    names = ("a", "b", "$x_$ and $\\frac$", "two\nlines " + "long " * 30)
    display = SearchPathDisplay.from_estimator(searched(names=names))
    display.figure_.canvas.draw()
    assert display.ax_.texts
    for text in display.ax_.texts:
        assert not (text.get_parse_math() and is_math_text(text.get_text()))


def test_a_model_without_a_search_is_told_so(model):
    with pytest.raises(ValueError, match="no history of a search: fit a WeightedNB"):
        SearchPathDisplay.from_estimator(model)


# ---------------------------------------------------------------- the rounds of boosting


def boosted(n_classes=2, **parameters):
    rows = [{"a": "xyz"[i % 3], "b": "pq"[i % 2], "c": "uvw"[i * i % 3]} for i in range(60)]
    y = [(i % 7) % n_classes for i in range(60)]
    return BoostedNB(random_state=0, **parameters).fit(rows, y)


def drawn(ax):
    """The lines by their names, with those of the axis on the right."""
    lines = [line for axes in ax.figure.axes for line in axes.lines]
    return {line.get_label(): line for line in lines}


def test_errors_and_losses_are_drawn_round_by_round_and_the_choice_is_marked(ax):
    model = boosted()
    display = RoundsDisplay.from_estimator(model, ax=ax)
    lines, rounds = drawn(ax), model.rounds_
    for name, values in (
        ("error eps", rounds.errors),
        ("loss, training rows", rounds.losses),
        ("loss, held-out rows", rounds.held_out),
    ):
        np.testing.assert_array_equal(lines[name].get_ydata(), values)
        np.testing.assert_array_equal(lines[name].get_xdata(), np.arange(1, len(rounds) + 1))
    assert list(lines["chosen"].get_xdata()) == [rounds.chosen] * 2
    assert {text.get_text() for text in ax.get_legend().get_texts()} == {*lines}
    assert display.ax_ is ax
    assert pyplot.get_fignums() == []


def test_rounds_without_rows_held_out_have_no_line_of_them(ax):
    model = boosted(n_rounds=1, early_stopping=False, calibrate_scale=False)
    RoundsDisplay(model.rounds_).plot(ax=ax)
    assert {*drawn(ax)} == {"error eps", "loss, training rows", "chosen"}


def test_of_many_classes_one_is_drawn():
    model = boosted(n_classes=3)
    display = RoundsDisplay.from_estimator(model, pos_label=2)
    assert display.rounds is model.rounds_[2]
    assert pyplot.get_fignums() == [display.figure_.number]


def test_a_model_without_rounds_is_told_so(model):
    with pytest.raises(ValueError, match="no record of rounds: fit a BoostedNB"):
        RoundsDisplay.from_estimator(model)


# ---------------------------------------------------------------- the exponent of a row, and its k


@pytest.mark.parametrize("form", ["root", "geometric"])
def test_an_attenuated_sheet_has_a_bar_from_the_sum_of_the_weights_to_the_total(ax, form):
    model = PerplexedNB(form=form, attenuation=1.5, missing="skip").fit(titanic(), "Survived")
    model = model.with_prior(0.6)
    sheet = model.balance_sheet(CASE | {"Age": None})
    BalanceSheetDisplay(sheet).plot(ax=ax)
    names, found = labels(ax), bars(ax)
    exponent = "Exponent 0.5, 2 features" if form == "root" else "Exponent 0.75, 2 features"
    assert names[-3:] == [exponent, "Change of the base rate", "Total"]
    end = 0.0
    for start, length in found[:-1]:
        assert min(abs(start - end), abs(start + length - end)) < 1e-9
        end = start + length if abs(start - end) < 1e-9 else start
    assert end == pytest.approx(100 * sheet.total)
    assert found[-1] == pytest.approx((0, 100 * sheet.total))


@pytest.mark.parametrize("by", ["flat", "calibrated", "likelihood"])
def test_the_criterion_is_drawn_at_every_k_and_the_choice_is_marked(ax, by):
    model = PerplexedNB(attenuation=by, random_state=0).fit(titanic(), "Survived")
    display = AttenuationPathDisplay.from_estimator(model, ax=ax)
    curve, chosen = ax.lines
    np.testing.assert_array_equal(curve.get_xdata(), model.attenuation_path_.k)
    np.testing.assert_array_equal(curve.get_ydata(), model.attenuation_path_.criterion)
    assert list(chosen.get_xdata()) == [model.attenuation_] * 2
    assert display.ax_ is ax
    assert pyplot.get_fignums() == []


def test_a_class_is_refused_where_all_classes_share_one_search():
    with pytest.raises(ValueError, match="leave pos_label out"):
        SearchPathDisplay.from_estimator(searched(), pos_label="a")


def test_a_model_without_a_path_of_k_is_told_so(model):
    given = PerplexedNB(attenuation=2).fit(titanic(), "Survived")
    for fitted in (model, given):
        with pytest.raises(ValueError, match="no path of k: fit a PerplexedNB with attenuation="):
            AttenuationPathDisplay.from_estimator(fitted)
