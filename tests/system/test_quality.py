"""The harness of docs/quality.md: its data, its measures, its memory and its page."""

import re
import warnings
from collections import Counter
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from benchmarks import blanks, quality, quality_page
from benchmarks.quality import (
    Keeping,
    Learner,
    calibration_slope,
    compare,
    find_log_odds,
    fit_slope,
    gather,
    loss,
    run_folds,
    run_set,
)
from benchmarks.quality_page import ADDITIVE, OURS, Outcome, Results, Shape, write_page
from benchmarks.rivals import scikit_learn
from benchmarks.runs import find_file, read_runs, write_runs
from benchmarks.sets import FOLDS, SOURCES, Problem, prepare
from scipy.special import expit
from sklearn.metrics import log_loss

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "quality.md"
SHAPES = {  # rows, numbers, categories, missing cells, positives; of census those of the sample
    "heart": (303, 6, 7, 6, 139),
    "crx": (690, 6, 9, 67, 307),
    "pima": (768, 8, 0, 652, 268),
    "tic_tac_toe": (958, 0, 9, 0, 626),
    "titanic": (1309, 4, 3, 266, 500),
    "kr_vs_kp": (3196, 0, 36, 0, 1669),
    "spambase": (4601, 57, 0, 0, 1813),
    "mushroom": (8124, 0, 22, 2480, 3916),
    "telco": (7043, 3, 16, 11, 1869),
    "compas": (7214, 6, 5, 336, 3251),
    "census": (20_000, 7, 33, 41757, 1206),
    "nij": (25_835, 8, 40, 36700, 14_904),
    "bank": (45_211, 6, 9, 36_954, 5289),
}


def make_problem(seed=0, n_rows=200):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n_rows)
    X = pd.DataFrame({"number": rng.normal(size=n_rows) + y})
    X["letter"] = pd.Categorical(np.where(rng.random(n_rows) < 0.3, "a", np.array([*"cd"])[y]))
    X.loc[::7, "number"] = np.nan
    X.loc[::9, "letter"] = None
    return Problem("made", X, y, np.arange(n_rows) % FOLDS)


# ---------------------------------------------------------------- data

prepare_once = cache(prepare)


@pytest.mark.parametrize("name", SOURCES)
def test_a_set_has_the_rows_the_columns_and_the_gaps_that_are_known_of_it(papers_data, name):
    problem = prepare_once(name)
    n_rows, n_columns = problem.X.shape
    named = len(problem.categorical)
    gaps = int(problem.X.isna().sum().sum())
    found = (n_rows, n_columns - named, named, gaps, int(problem.y.sum()))
    assert found == SHAPES[name]


@pytest.mark.parametrize("name", SOURCES)
def test_folds_hold_every_row_out_once_with_as_many_of_the_class_in_each(papers_data, name):
    problem = prepare_once(name)
    sizes = Counter(problem.folds.tolist())
    positives = Counter(problem.folds[problem.y == 1].tolist())
    assert {*sizes} == {*range(FOLDS)}
    assert max(sizes.values()) - min(sizes.values()) <= 2
    assert max(positives.values()) - min(positives.values()) <= 1


@pytest.mark.parametrize("name", SOURCES)
def test_what_is_left_out_was_there_and_no_column_is_the_class_again(papers_data, name):
    source, problem = SOURCES[name], prepare_once(name)
    assert not {source.target, *source.drop} & {*problem.X.columns}
    for column in problem.X:
        codes = pd.factorize(problem.X[column], use_na_sentinel=False)[0]
        if len(set(codes)) < 100:
            certain = pd.Series(problem.y).groupby(codes).agg(lambda part: part.nunique() == 1)
            assert not certain.all()


def test_a_target_without_its_label_is_named_with_the_labels_it_has(papers_data, monkeypatch):
    monkeypatch.setitem(SOURCES, "heart", replace(SOURCES["heart"], positive="sick"))
    with pytest.raises(ValueError, match=r"hold 'sick' and one more label, got \['absent', 'pres"):
        prepare("heart")


# ---------------------------------------------------------------- incomplete answers


@pytest.mark.parametrize("name", ["heart", "tic_tac_toe"])
def test_the_limits_of_incomplete_answers_hold_on_sets_that_are_quickly_measured(papers_data, name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what recalibration says of small sets
        assert blanks.misses([blanks.measure(prepare_once(name))]) == []


def test_the_excess_of_a_loss_is_a_mean_over_rows_that_may_be_blanked_several_times():
    rng = np.random.default_rng(0)
    y, rows = np.tile(rng.integers(0, 2, 50), 3), np.tile(np.arange(50), 3)
    one, other = (blanks.BlankedRows(rng.normal(size=150), y, rows) for _ in range(2))
    more, error = one.excess(other)
    assert more == pytest.approx(one.loss - other.loss)
    each = [
        blanks.BlankedRows(one.totals[k::50], y[k::50], rows[k::50] * 0).loss
        - blanks.BlankedRows(other.totals[k::50], y[k::50], rows[k::50] * 0).loss
        for k in range(50)
    ]
    assert error == pytest.approx(np.std(each) / np.sqrt(50))


# ---------------------------------------------------------------- measures


def test_the_loss_is_log_loss_in_bits_with_a_floor():
    rng = np.random.default_rng(0)
    p, y = rng.random(50), rng.integers(0, 2, 50)
    both = np.column_stack([1 - p, p])
    assert loss(both, y) == pytest.approx(log_loss(y, both) / np.log(2))
    assert loss(np.array([[1.0, 0.0]]), np.array([1])) == pytest.approx(10 * np.log2(10))


def test_log_odds_come_from_both_columns_and_are_bounded():
    p = np.array([[0.25, 0.75], [1e-7, 1.0], [0.0, 1.0]])
    np.testing.assert_allclose(find_log_odds(p), np.log([3, 1e7, 1e10]))


def test_probabilities_that_come_true_have_slope_one_and_twice_as_sure_ones_a_half():
    log_odds = np.log(np.repeat([1 / 3, 1, 3], 40))
    y = np.r_[np.arange(40) < 10, np.arange(40) < 20, np.arange(40) < 30].astype(int)
    assert calibration_slope(log_odds, y) == pytest.approx(1, abs=1e-6)
    assert calibration_slope(2 * log_odds + 5, y) == pytest.approx(0.5, abs=1e-6)


def test_the_error_of_a_slope_is_its_spread_over_samples():
    rng, found = np.random.default_rng(0), []
    for _ in range(200):
        log_odds = rng.normal(1, 2, 400)
        found.append(fit_slope(log_odds, rng.random(400) < expit(log_odds)))
    slopes, errors = np.transpose(found)
    assert np.mean(errors) == pytest.approx(np.std(slopes), rel=0.15)


def test_classes_that_the_log_odds_part_have_no_slope():
    assert np.isnan(calibration_slope(np.array([-1.0, -2, 3, 4]), np.array([0, 0, 1, 1])))


@pytest.mark.parametrize("name", ["EvidenceNB", "AdjustedNB", "C44Classifier"])
def test_what_is_gathered_is_what_the_model_says_of_the_rows_held_out(name):
    problem = make_problem()
    outcome = gather(problem, [*run_folds(problem, name, None)])
    p = np.empty((len(problem.y), 2))
    for fold in range(FOLDS):
        held = problem.folds == fold
        fit = quality.LEARNERS[name].fit
        model = fit(problem.X[~held], problem.y[~held])
        p[held] = model.predict_proba(problem.X[held])
    assert outcome.bits == pytest.approx(loss(p, problem.y))
    assert outcome.slope == pytest.approx(calibration_slope(find_log_odds(p), problem.y), rel=1e-6)
    assert outcome.folds == FOLDS
    assert 0 < outcome.size < 1e5


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_the_logistic_rival_takes_gaps_and_unseen_levels():
    problem = make_problem()
    model = scikit_learn.fit_logistic(problem.X[20:], problem.y[20:])
    strange = problem.X[:20].assign(letter="never seen")
    assert np.isfinite(model.predict_proba(strange)).all()
    assert model.size() > 0


# ---------------------------------------------------------------- what was run before


class Counting:
    """A learner that knows how often it was fitted."""

    def __init__(self):
        self.fits = 0

    def __call__(self, X, y):
        self.fits += 1
        return quality.LEARNERS["EvidenceNB"].fit(X, y)


@pytest.fixture
def counting(monkeypatch):
    fit = Counting()
    monkeypatch.setitem(quality.LEARNERS, "counting", Learner(fit, "weigh", scikit_learn))
    return fit


def test_what_the_cache_holds_is_not_run_again_and_is_the_same(counting, tmp_path):
    problem = make_problem()
    first = [*run_folds(problem, "counting", tmp_path)]
    assert counting.fits == FOLDS
    assert [*run_folds(problem, "counting", tmp_path)] == first
    assert counting.fits == FOLDS


def test_other_data_or_other_folds_are_run_again(counting, tmp_path):
    problem = make_problem()
    for other in (problem, make_problem(seed=1), replace(problem, folds=problem.folds[::-1])):
        before = counting.fits
        [*run_folds(other, "counting", tmp_path)]
        assert counting.fits == before + FOLDS


def test_other_code_is_run_again_but_not_for_a_comment(counting, tmp_path, monkeypatch):
    code, problem = tmp_path / "rival.py", make_problem()
    home = type("Home", (), {"__file__": str(code)})
    monkeypatch.setitem(quality.LEARNERS, "counting", Learner(counting, "weigh", home))
    for text, fits in (("a = 1", 5), ("a  =  1  # one", 5), ("a = 2", 10)):
        code.write_text(text)
        quality._code_key.cache_clear()
        [*run_folds(problem, "counting", tmp_path)]
        assert counting.fits == fits


def test_a_part_of_the_cache_is_gathered_as_it_is_and_compared_on_its_rows(tmp_path):
    problem, ours, rival = make_problem(), "EvidenceNB", "AdjustedNB"
    whole = {name: [*run_folds(problem, name, tmp_path)] for name in (ours, rival)}
    path = find_file(tmp_path, problem.name, rival)
    write_runs(path, read_runs(path)[:2])
    part = [*run_folds(problem, rival, tmp_path, as_is=True)]
    assert part == whole[rival][:2]
    outcome = gather(problem, whole[ours], part)
    shares = [np.mean(problem.folds == run.fold) for run in part]
    losses = [np.dot(shares, [run.bits for run in runs[:2]]) for runs in whole.values()]
    assert outcome.folds == FOLDS
    assert outcome.ratio == pytest.approx(losses[0] / losses[1], rel=1e-6)


def test_a_learner_without_a_fold_in_the_cache_is_left_out(tmp_path):
    problem = make_problem()
    [*run_folds(problem, "EvidenceNB", tmp_path)]
    keeping = Keeping(tmp_path, tmp_path, ours_as_is=True)
    assert [*run_set(problem, ["EvidenceNB", "AdjustedNB"], keeping)] == ["EvidenceNB"]


@pytest.mark.parametrize("name", ["EvidenceNB", "logistic regression"])
@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_fits_of_rivals_are_kept_apart_from_ours(tmp_path, name):
    keeping = Keeping(tmp_path / "ours", tmp_path / "rivals")
    run_set(make_problem(), [name], keeping)
    home = "ours" if name == "EvidenceNB" else "rivals"
    assert [path.parent.name for path in tmp_path.glob("*/*")] == [home]


def test_a_run_that_is_kept_has_all_digits_that_were_measured(tmp_path):
    run = next(run_folds(make_problem(), "EvidenceNB", None))
    write_runs(tmp_path / "a.npz", [run])
    assert read_runs(tmp_path / "a.npz") == [run]
    assert [*tmp_path.glob("*")] == [tmp_path / "a.npz"]


def test_the_error_of_a_ratio_is_that_of_the_bootstrap():
    rng = np.random.default_rng(0)
    theirs = rng.exponential(size=400)
    ours = 0.9 * theirs + 0.2 * rng.exponential(size=400)
    again = rng.integers(0, 400, (4000, 400))
    drawn = ours[again].mean(axis=1) / theirs[again].mean(axis=1)
    ratio, error = compare(ours, theirs, 1 / 400)
    assert ratio == pytest.approx(ours.mean() / theirs.mean())
    assert error == pytest.approx(drawn.std(), rel=0.05)


def test_losses_that_no_number_of_rows_could_tell_apart_are_equal():
    assert compare(np.full(100, 1e-4), np.full(100, 1e-8), 1 / 100)[0] == 1


def test_the_pace_is_the_time_of_ebm_today_over_that_of_its_kept_fit(
    tmp_path, monkeypatch, papers_data
):
    assert quality.find_pace(tmp_path) == 1.0
    kept = read_runs(find_file(quality.KEPT, quality_page.PACED, "EBM"))
    write_runs(find_file(tmp_path, quality_page.PACED, "EBM"), kept)
    times = iter([3.0, 1.0])
    monkeypatch.setattr(
        quality, "measure", lambda *asked: replace(kept[0], fit_seconds=next(times))
    )
    (first,) = [run.fit_seconds for run in kept if run.fold == 0]
    assert quality.find_pace(tmp_path) == pytest.approx(1.0 / first)


# ---------------------------------------------------------------- the page


def results(educated):
    """Two sets, on which EBM's loss is 0.5 bits."""
    rows = {
        name: {
            OURS: make_outcome(bits, 0.1),
            ADDITIVE: make_outcome(0.6, 1.0),
            "EBM": make_outcome(0.5, 5.0),
        }
        for name, bits in zip(("heart", "pima"), educated, strict=True)
    }
    shapes = {"heart": Shape(303, 6, 7, 6, 0.46), "pima": Shape(768, 8, 0, 652, 0.35)}
    versions = {"weigh": "0", "scikit-learn": "1", "interpret-core": "2", "lightgbm": "3"}
    return Results(rows, shapes, versions, "a machine", "0" * 16, "2026-01-02", pace=0.8)


def make_outcome(bits, seconds):
    return Outcome(bits, 0.9, 1.02, seconds, 0.01, 1000, 5, "2026-01-01", bits / 0.5, 0.002)


def page_of(results, tmp_path):
    write_page(results, tmp_path / "page.md")
    return " ".join((tmp_path / "page.md").read_text().split())


def test_the_page_gives_ratios_and_their_geometric_mean(tmp_path):
    page = page_of(results((0.45, 0.525)), tmp_path)
    assert "| heart | 0.900 ± 0.002 | 1.200 | 1.000 |" in page
    assert f"| geometric mean | {(0.9 * 1.05) ** 0.5:.3f} | 1.200 | 1.000 |" in page
    assert "lower on 1 (1 by more than two standard errors)" in page
    assert "has 0.972 of EBM's log loss on 2 sets** (geometric mean)." in page
    assert "fits about 40 times as fast" in page


def test_the_page_says_whether_the_folds_of_other_libraries_are_of_the_same_run(tmp_path):
    later = results((0.45, 0.525))
    page = page_of(later, tmp_path)
    assert "other libraries are of 2026-01-01 and later" in page
    assert "its fit of heart took 0.80 times as long" in page
    page = page_of(replace(later, date="2026-01-01", pace=1.0), tmp_path)
    assert "other libraries are of the same run" in page
    assert "fits about 50 times as fast as EBM (50 to 50)." in page
    assert "as long" not in page


def test_a_loss_five_percent_above_ebm_is_explained_or_there_is_no_page(tmp_path, monkeypatch):
    page = tmp_path / "page.md"
    with pytest.raises(ValueError, match="on pima and the page does not say why"):
        write_page(results((0.45, 0.6)), page)
    assert not page.exists()
    monkeypatch.setitem(quality_page.WHY, "pima", "because.")
    write_page(results((0.45, 0.6)), page)
    assert "- pima, 20%: because." in page.read_text()


def test_folds_that_were_not_run_are_listed_and_means_compare_the_same_sets(tmp_path):
    few = results((0.45, 0.4))
    del few.outcomes["pima"]["EBM"]
    few.outcomes["heart"]["EBM"] = replace(few.outcomes["heart"]["EBM"], folds=3)
    page = page_of(few, tmp_path)
    assert "- EBM: heart 2, pima 5" in page
    assert "| geometric mean | 0.900 | 1.200 | 1.000 |" in page


def test_results_are_read_as_they_were_written(tmp_path):
    told = results((0.45, 0.525))
    told.outcomes["heart"][OURS] = replace(told.outcomes["heart"][OURS], slope=float("nan"))
    told.write(tmp_path / "results.json")
    again = Results.read(tmp_path / "results.json")
    assert str(again) == str(told)


def test_every_published_figure_is_in_the_results(tmp_path):
    again = Results.read(quality.RESULTS)
    write_page(again, tmp_path / "quality.md")
    assert (tmp_path / "quality.md").read_text() == quality.PAGE.read_text()
    assert [*again.outcomes] == [*SOURCES]
    assert {name for row in again.outcomes.values() for name in row} == {*quality.LEARNERS}


def test_the_readme_states_what_the_page_found():
    texts = [file.read_text().replace("**", "") for file in (ROOT / "README.md", PAGE)]
    readme, page = (re.sub(r"\s+", " ", text) for text in texts)
    told = (
        (r"is ([\d.]+) times that of EBM", r"has ([\d.]+) of EBM's log loss"),
        (r"on all 13 it is (\d+\.\d+) times", r"and ([\d.]+) on all 13"),
    )
    for there, here in told:
        assert re.search(there, readme)[1] == re.search(here, page)[1]
