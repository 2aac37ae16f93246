"""Blank answers: the weights of not known against a literal version, the gauge, how to say so."""

import copy
import pickle
from dataclasses import replace
from functools import cache
from itertools import product
from math import comb

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import expit, logsumexp
from sklearn.datasets import load_iris

import weigh
from weigh import NOT_KNOWN, EducatedNB
from weigh.educated import kernels
from weigh.educated.attenuation import ENDS, WIDE
from weigh.educated.blanks import LOOSE, Masks, base_totals, zero_not_known
from weigh.engine import Block, CodedRows
from weigh.evidence import flip, weigh_tally
from weigh.frames import label_sample, read

LIGHT = settings(max_examples=5, deadline=None)
seeds = st.integers(0, 2**32 - 1)
FORMS = [(2, "softmax"), (3, "softmax"), (3, "ovr")]
HARD = {"pairs": {"pairs": 2}, "monotone": {"monotonic_cst": {"x": 1}}, "rare": {"max_levels": 2}}
HARD |= {"skip": {"missing": "skip"}, "codes": {"special_values": {"x": [-999, -998]}}, "plain": {}}
HARD |= {"crosses": {"crosses": [("c", "d")]}, "prior": {"class_prior": [0.9, 0.1]}}


def draw_frame(seed, n_rows=200, n_classes=2):
    """Numbers, categories, gaps; the classes are rare, so that the mean total is no base rate."""
    rng = np.random.default_rng(seed)
    x, z = rng.normal(size=n_rows), rng.exponential(size=n_rows)
    c, d = rng.choice([*"abc"], n_rows), rng.choice([*"uv"], n_rows)
    scores = np.column_stack([2 * k * (x + (c == "a") - 1) for k in range(n_classes)])
    y = (scores + rng.gumbel(size=scores.shape)).argmax(axis=1)
    y[:n_classes] = np.arange(n_classes)
    z[rng.random(n_rows) < 0.2] = np.nan
    return pd.DataFrame({"x": x, "z": z, "c": c, "d": d}), y


def unsettled(monkeypatch, *arguments, **parameters):
    """Evidence of a fit with tables of mean zero and without a factor."""
    with monkeypatch.context() as patch:
        patch.setattr("weigh.educated.attenuation.LEAST_GAIN", np.inf)
        patch.setattr("weigh.educated.learner.zero_not_known", lambda evidence, *_: (evidence, [0]))
        return EducatedNB(**parameters).fit(*arguments)


# ---------------------------------------------------------------- the gauge


@pytest.mark.parametrize("name", HARD)
def test_no_total_of_a_complete_row_changes_and_not_known_gives_the_base_rate(name, monkeypatch):
    X, y = draw_frame(0)
    before = unsettled(monkeypatch, X, y, random_state=0, **HARD[name])
    after = EducatedNB(random_state=0, **HARD[name]).fit(X, y)
    whole = X[X["z"].notna()] if name == "skip" else X
    np.testing.assert_allclose(
        after.decision_function(whole), before.decision_function(whole), atol=1e-10
    )
    rate = np.array([0.9, 0.1]) if name == "prior" else np.bincount(y) / len(y)
    np.testing.assert_allclose(after.predict_proba([{}])[0], rate, rtol=1e-9)
    assert not np.isclose(after.evidence_.prior, before.evidence_.prior)


@pytest.mark.parametrize(("n_classes", "multiclass"), FORMS)
def test_nothing_known_is_the_base_rate_of_any_number_of_classes(n_classes, multiclass):
    X, y = draw_frame(1, n_classes=n_classes)
    model = EducatedNB(pairs=0, multiclass=multiclass, bins=8).fit(X, y)
    rate = np.bincount(y) / len(y)
    np.testing.assert_allclose(model.predict_proba([{}])[0], rate, rtol=1e-9)
    other = np.full(n_classes, 1 / n_classes)
    np.testing.assert_allclose(model.with_prior(other).predict_proba([{}])[0], other, rtol=1e-9)


def test_a_code_that_never_occurs_is_not_known_and_one_level_alone_weighs_nothing():
    X, y = draw_frame(2)
    X["one"] = "same"
    model = EducatedNB(pairs=0, special_values={"x": [-999]}).fit(X, y)
    assert model.evidence_["x"].weights[-1] == 0
    assert (model.evidence_["one"].weights == 0).all()


def test_a_table_is_compared_by_its_centred_weights():
    X, y = draw_frame(3)
    for table in EducatedNB(pairs=0).fit(X, y).evidence_:
        assert table.share @ table.centred == pytest.approx(0, abs=1e-12)
        np.testing.assert_allclose(np.diff(table.centred[:, 0]), np.diff(table.weights))


# ---------------------------------------------------------------- the weights of not known


def literal_loss(u, model, X, y, rows):
    """The loss of all rows blanked in all ways, each table of its mean zero, by hand."""
    evidence, n = model.evidence_, X.shape[1]
    C = evidence.contributions(read(X))
    u = u.reshape(len(evidence), -1)
    total = 0.0
    for mask in product((False, True), repeat=n):
        share = 1 / ((n + 1) * comb(n, sum(mask)))
        gone = np.array(
            [any(mask[X.columns.get_loc(p.name)] for p in t.feature.parts) for t in evidence]
        )
        totals = evidence.prior_row + np.where(gone[:, None], u, C).sum(axis=1)
        if totals.shape[1] == 1:
            losses = np.logaddexp(0, np.where(y == 1, -totals[:, 0], totals[:, 0]))
        else:
            losses = logsumexp(totals, axis=1) - totals[np.arange(len(y)), y]
        total += share * (rows @ losses)
    s = np.array([t.share @ (t.centred**2).mean(axis=1) for t in evidence])
    goal = base_totals(evidence) - evidence.prior_row
    away = u - np.outer(s / s.sum(), goal)
    return total + 0.5 * (away**2 / (LOOSE**2 * s[:, None])).sum()


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("pairs", [0, 2])
def test_not_known_weighs_what_loses_least_over_all_ways_to_blank_a_row(
    n_classes, pairs, monkeypatch
):
    X, y = draw_frame(4, 150, n_classes)
    X = X.fillna(0.0)
    rows = np.random.default_rng(4).integers(1, 4, len(y)).astype(float)
    asked = {"bins": 4, "random_state": 0, "pairs": pairs}
    before = unsettled(monkeypatch, X, y, rows, **asked)
    monkeypatch.setattr("weigh.educated.attenuation.LEAST_GAIN", np.inf)  # it would move u again
    after = EducatedNB(**asked).fit(X, y, rows)
    found = np.array(
        [
            (b.by_class - a.by_class)[0]
            for a, b in zip(after.evidence_, before.evidence_, strict=True)
        ]
    )
    sums = base_totals(before.evidence_) - before.evidence_.prior_row
    np.testing.assert_allclose(found.sum(axis=0), sums, atol=1e-9)

    def loss(u):
        return literal_loss(u, before, X, y, rows)

    best = minimize(
        loss,
        found.ravel(),
        constraints={"type": "eq", "fun": lambda u: u.reshape(found.shape).sum(axis=0) - sums},
        options={"maxiter": 30, "ftol": 1e-12},
        method="SLSQP",
    )
    assert loss(found.ravel()) <= best.fun + 1e-6
    assert loss(found.ravel()) < loss(np.zeros(found.size)) - 0.1


# ---------------------------------------------------------------- the factor of incomplete rows


def literal_factored_loss(changes, evidence, X, y, told=()):
    """The loss of all rows blanked in all ways, at changed u, c and ln(1 + k), by hand.

    `told` has, for each c, a known column, its partner that is blank, and an amount for each row.
    """
    u, side_shares, log, n = *np.split(changes[:-1], [len(evidence)]), changes[-1], X.shape[1]
    C = evidence.contributions(read(X))[:, :, 0] - u
    v = np.array([t.share @ t.centred[:, 0] ** 2 for t in evidence])
    shares = dict.fromkeys(X.columns, 0.0)
    for table, own in zip(evidence, v, strict=True):
        for part in table.feature.parts:
            shares[part.name] += own / len(table.feature.parts) / v.sum()
    total = 0.0
    for mask in product((False, True), repeat=n):
        blank = {name for name, gone in zip(X.columns, mask, strict=True) if gone}
        known = [not blank & {p.name for p in t.feature.parts} for t in evidence]
        e = (1 + np.expm1(log) * sum(shares[name] for name in blank)) ** -0.5
        half_known = [(own not in blank and other in blank) * amount for own, other, amount in told]
        half_known = np.reshape(half_known, (len(told), len(y)))
        totals = evidence.prior + e * (C[:, known].sum(axis=1) + side_shares @ half_known)
        losses = np.logaddexp(0, np.where(y == 1, -totals, totals))
        total += losses.sum() / ((n + 1) * comb(n, sum(mask)))
    pull = (np.square(u) / (LOOSE**2 * v)).sum() + (
        np.append(side_shares, log) ** 2
    ).sum() / WIDE**2
    return total + 0.5 * pull


def loss_in_all_ways(evidence, X, y):
    """The loss of all rows blanked in all ways, by the totals of the evidence."""
    total, n = 0.0, X.shape[1]
    for mask in product((False, True), repeat=n):
        blanked = weigh.blank(X, np.tile(mask, (len(X), 1)))
        totals = evidence.total(blanked)[:, 0]
        losses = np.logaddexp(0, np.where(y == 1, -totals, totals))
        total += losses.sum() / ((n + 1) * comb(n, sum(mask)))
    return total


@pytest.mark.parametrize("pairs", [0, 2])
def test_the_factor_of_incomplete_rows_loses_least_over_all_ways_to_blank_a_row(pairs, monkeypatch):
    X, y = draw_frame(4, 150)
    X = X.fillna(0.0).assign(again=X["x"])  # known answers also say what others would
    asked = {"bins": 4, "pairs": pairs}
    monkeypatch.setattr("weigh.educated.attenuation.LEAST_GAIN", np.inf)
    before = EducatedNB(**asked).fit(X, y).evidence_
    monkeypatch.setattr("weigh.educated.attenuation.LEAST_GAIN", -np.inf)
    monkeypatch.setattr("weigh.educated.attenuation.MARGIN_GAIN", np.inf)
    after = EducatedNB(**asked).fit(X, y).evidence_
    rule = after.attenuation
    moved = [(b.by_class - a.by_class)[0, 0] for a, b in zip(after, before, strict=True)]
    assert sum(moved) == pytest.approx(0, abs=1e-9)
    assert sum(rule.shares.values()) == pytest.approx(1)
    best = minimize(
        lambda changes: literal_factored_loss(changes, before, X, y),
        np.zeros(len(moved) + 1),
        constraints={"type": "eq", "fun": lambda changes: changes[:-1].sum()},
        options={"maxiter": 200, "ftol": 1e-12},
        method="SLSQP",
    )
    found = literal_factored_loss([*moved, np.log1p(rule.k)], before, X, y)
    assert found == pytest.approx(best.fun, abs=1e-4)
    assert rule.k == pytest.approx(np.expm1(best.x[-1]), rel=0.01)


def test_a_factor_at_its_limit_leaves_the_weights_of_not_known_optimal(monkeypatch):
    """A copied column and steep classes: k is at its limit, where only u can still move."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=4000)
    X = pd.DataFrame({"x": x, "copied": x, "c": rng.choice([*"ab"], len(x))})
    y = (rng.random(len(x)) < expit(3 * x - 4)).astype(int)
    monkeypatch.setattr("weigh.educated.attenuation.LEAST_GAIN", np.inf)
    before = EducatedNB(bins=8, pairs=0).fit(X, y)
    monkeypatch.setattr("weigh.educated.attenuation.LEAST_GAIN", -np.inf)
    after = EducatedNB(bins=8, pairs=0).fit(X, y)
    log = np.log1p(after.evidence_.attenuation.k)
    assert log == pytest.approx(ENDS[0])
    assert after.n_passes_ < 40
    tables = zip(after.evidence_, before.evidence_, strict=True)
    moved = [(b.by_class - a.by_class)[0, 0] for a, b in tables]
    best = minimize(
        lambda u: literal_factored_loss([*u, log], before.evidence_, X, y),
        np.array(moved),
        constraints={"type": "eq", "fun": lambda u: u.sum()},
        options={"maxiter": 30, "ftol": 1e-12},
        method="SLSQP",
    )
    found = literal_factored_loss([*moved, log], before.evidence_, X, y)
    assert found == pytest.approx(best.fun, abs=1e-4)


# ---------------------------------------------------------------- what partners say


def find_told(evidence, X):
    """What each known answer of a pair says of its partner: the mean weight over rows like it."""
    C, found = pd.DataFrame(evidence.contributions(read(X))[:, :, 0], columns=evidence.names), []
    for table in evidence:
        parts = table.feature.parts
        for own, other in [parts, parts[::-1]][: 2 * (len(parts) - 1)]:
            placed = own.read(read(X))
            levels = pd.Series(placed.levels[placed.codes])
            worth = C[other.name].groupby(levels).transform("mean") - C[other.name].mean()
            found.append((own.name, other.name, worth.to_numpy()))
    return found


def test_what_the_known_answer_of_a_pair_says_loses_least_and_complete_rows_stay(monkeypatch):
    X, y = draw_frame(4, 150)
    X = X.fillna(0.0).assign(again=X["x"] + X["z"].fillna(0.0))
    asked = {"bins": 4, "pairs": [("x", "again"), ("c", "d")]}
    monkeypatch.setattr("weigh.educated.attenuation.LEAST_GAIN", np.inf)
    before = EducatedNB(**asked).fit(X, y).evidence_
    monkeypatch.setattr("weigh.educated.attenuation.LEAST_GAIN", -np.inf)
    monkeypatch.setattr("weigh.educated.attenuation.MARGIN_GAIN", np.inf)
    alone = EducatedNB(**asked).fit(X, y).evidence_
    monkeypatch.setattr("weigh.educated.attenuation.MARGIN_GAIN", -np.inf)
    after = EducatedNB(**asked).fit(X, y).evidence_
    np.testing.assert_allclose(after.total(X), before.total(X), atol=1e-9)
    told, n = find_told(before, X), len(before)
    assert len(told) == 4
    best = minimize(
        lambda changes: literal_factored_loss(changes, before, X, y, told),
        np.zeros(n + 5),
        bounds=[(None, None)] * (n + 4) + [(-5, 5)],  # of ln(1 + k), whose factor may not overflow
        constraints={"type": "eq", "fun": lambda changes: changes[:n].sum()},
        options={"maxiter": 500, "ftol": 1e-13},
        method="SLSQP",
    )
    variances = [t.share @ t.centred[:, 0] ** 2 for t in before]
    pull = (best.x[:n] ** 2 / variances).sum() + (best.x[n:] ** 2).sum() / WIDE**2
    assert loss_in_all_ways(after, X, y) == pytest.approx(best.fun - 0.5 * pull, abs=1e-2)
    assert loss_in_all_ways(after, X, y) < loss_in_all_ways(alone, X, y) - 0.1
    assert after.attenuation.k == pytest.approx(np.expm1(best.x[-1]), rel=0.02)


def draw_partners(n_rows, seed):
    """Two answers that are nearly the same, and three others."""
    rng = np.random.default_rng(seed)
    a = rng.integers(0, 4, n_rows)
    b = np.where(rng.random(n_rows) < 0.8, a, rng.integers(0, 4, n_rows))
    others = rng.integers(0, 2, (n_rows, 3))
    total = 1.2 * (a - 1.5) + 1.2 * (b - 1.5) - 2.0 * (a == b) + (2 * others - 1).sum(axis=1)
    X = pd.DataFrame(np.column_stack([a, b, others]), columns=[*"abcde"]).astype(str)
    return X, (rng.random(n_rows) < expit(total)).astype(int)


@cache
def fitted_partners():
    return EducatedNB(pairs=[("a", "b")]).fit(*draw_partners(3000, 0))


def without_margins(evidence):
    return replace(evidence, tables=tuple(replace(t, margins=None) for t in evidence))


def test_a_known_answer_of_a_pair_evidence_for_its_partner(monkeypatch):
    (X, y), (new, truth), model = draw_partners(3000, 0), draw_partners(4000, 1), fitted_partners()
    monkeypatch.setattr("weigh.educated.attenuation.MARGIN_GAIN", np.inf)
    silent = EducatedNB(pairs=[("a", "b")]).fit(X, y)
    np.testing.assert_allclose(model.decision_function(new), silent.decision_function(new))
    where, sign = np.tile(new.columns == "b", (len(new), 1)), 2 * truth - 1
    after, before = (
        np.logaddexp(0, -sign * m.decision_function(weigh.blank(new, where))).mean()
        for m in (model, silent)
    )
    assert after < 0.98 * before
    for one, other in zip(model.evidence_, silent.evidence_, strict=True):
        np.testing.assert_allclose(one.centred, other.centred, atol=1e-8)


def test_partners_that_say_nothing_of_each_other_have_no_margins():
    X, y = draw_partners(3000, 0)
    X["b"] = np.random.default_rng(1).permutation(X["b"])
    evidence = EducatedNB(pairs=[("a", "b")]).fit(X, y).evidence_
    assert "a & b" in evidence
    assert evidence["a & b"].margins is None


def test_a_pair_that_is_not_known_in_every_training_row_has_no_margins(monkeypatch):
    """They would change the totals of training rows, for which all weights were fitted."""
    for limit in ("LEAST_GAIN", "MARGIN_GAIN"):
        monkeypatch.setattr(f"weigh.educated.attenuation.{limit}", -np.inf)
    X, y = draw_partners(500, 0)
    X.loc[::9, "b"] = None
    pairs = [("a", "b"), ("a", "c")]
    evidence = EducatedNB(pairs=pairs, missing="skip").fit(X, y).evidence_
    assert evidence["a & b"].margins is None
    assert evidence["a & c"].margins is not None


def test_margins_count_where_one_answer_of_the_pair_is_not_known_and_nowhere_else():
    model, (X, _) = fitted_partners(), draw_partners(200, 2)
    evidence, rule = model.evidence_, model.evidence_.attenuation
    (of_a, of_b), parts = evidence["a & b"].margins, evidence["a & b"].feature.parts
    where = np.random.default_rng(3).random(X.shape) < 0.4
    blanked = weigh.blank(X, where)
    for row, gone, total in zip(
        X.to_dict("records"), where, model.decision_function(blanked), strict=True
    ):
        known = {
            name: row[name] for name, hidden in zip(X.columns, gone, strict=True) if not hidden
        }
        weights = [
            evidence[name].weights[evidence[name].levels.index(known[name])] for name in known
        ]
        if {"a", "b"} <= {*known}:
            pair = known["a"], known["b"]
            weights.append(evidence["a & b"].weights[evidence["a & b"].levels.index(pair)])
        elif "a" in known:
            weights.append(of_a[parts[0].levels.index(known["a"]), 0])
        elif "b" in known:
            weights.append(of_b[parts[1].levels.index(known["b"]), 0])
        s = sum(rule.shares[name] for name in X.columns if name not in known)
        literal = evidence.prior + sum(weights) / np.sqrt(1 + rule.k * s)
        assert total == pytest.approx(literal, abs=1e-9)


def test_margins_change_no_bit_of_a_complete_row_nor_what_tables_say_of_themselves():
    evidence, (X, _) = fitted_partners().evidence_, draw_partners(500, 2)
    plain = without_margins(evidence)
    assert evidence.total(X).tobytes() == plain.total(X).tobytes()
    assert evidence.contributions(X).tobytes() == plain.contributions(X).tobytes()
    assert evidence.features == plain.features
    for one, other in zip(evidence, plain, strict=True):
        assert (one.importance, one.added_loss) == (other.importance, other.added_loss)
        assert one.share.tolist() == other.share.tolist()
        assert not one.scored.without_rows.any()
    assert evidence.to_frame().equals(plain.to_frame())


def test_dropping_a_pair_drops_its_margins():
    model, (X, y) = fitted_partners(), draw_partners(500, 2)
    edited = weigh.edit(model, X, y)
    edited.drop("a & b", why="test")
    where = np.random.default_rng(3).random(X.shape) < 0.4
    rows, pair = weigh.blank(X, where), model.evidence_.names.index("a & b")
    e = model.evidence_.attenuation.exponent(model.evidence_.observed(rows))
    lost = e * model.evidence_.contributions(rows)[:, pair, 0]
    np.testing.assert_allclose(
        edited.model.decision_function(rows), model.decision_function(rows) - lost, atol=1e-9
    )
    assert np.abs(lost[where[:, 1] & ~where[:, 0]]).max() > 0.5


def test_scaling_a_pair_scales_its_margins():
    model, (X, y) = fitted_partners(), draw_partners(500, 2)
    edited = weigh.edit(model, X, y)
    edited.scale("a & b", factor=0.5, why="test")
    for half, whole in zip(
        edited.model.evidence_["a & b"].margins, model.evidence_["a & b"].margins, strict=True
    ):
        assert half.tolist() == (0.5 * whole).tolist()


def test_an_update_keeps_margins_and_a_new_level_has_none():
    X, y = draw_partners(3000, 0)
    model = weigh.summarise(fitted_partners(), X, y)
    more, labels = draw_partners(300, 2)
    more.loc[:20, "a"] = "9"
    new = weigh.update(model, more, labels).evidence_
    old = model.evidence_["a & b"]
    at = new["a & b"].feature.parts[0].positions(old.feature.parts[0])
    margins = new["a & b"].margins[0]
    assert margins[at].tolist() == old.margins[0].tolist()
    assert np.delete(margins, at).tolist() == [0.0]
    assert new.attenuation.k == model.evidence_.attenuation.k


def test_a_merge_has_the_mean_factor_and_margins_of_its_models_by_rows():
    cuts = {"pairs": [("a", "b")]}
    rows = [draw_partners(3000, 0), draw_partners(1000, 5)]
    models = [weigh.summarise(EducatedNB(**cuts).fit(*own), *own) for own in rows]
    twin = models[0].merge(models[0]).evidence_
    for side in (0, 1):
        np.testing.assert_allclose(
            twin["a & b"].margins[side], models[0].evidence_["a & b"].margins[side], rtol=1e-12
        )
    assert twin.attenuation.k == models[0].evidence_.attenuation.k
    both, (big, small) = models[0].merge(models[1]).evidence_, (m.evidence_ for m in models)
    logs = [np.log1p(one.attenuation.k) for one in (big, small)]
    assert np.log1p(both.attenuation.k) == pytest.approx(0.75 * logs[0] + 0.25 * logs[1])
    for side in (0, 1):
        own = [
            0.0 if t.margins is None else t.margins[side] for t in (big["a & b"], small["a & b"])
        ]
        np.testing.assert_allclose(both["a & b"].margins[side], 0.75 * own[0] + 0.25 * own[1])
    whole = both.attenuation.shares
    assert sum(whole.values()) == pytest.approx(1)
    assert whole["c"] == pytest.approx(
        0.75 * big.attenuation.shares["c"] + 0.25 * small.attenuation.shares["c"]
    )


def test_a_model_turned_round_has_the_opposite_margins():
    evidence, (X, _) = fitted_partners().evidence_, draw_partners(100, 2)
    rows = weigh.blank(X, np.random.default_rng(3).random(X.shape) < 0.4)
    np.testing.assert_allclose(flip(evidence).total(rows), -evidence.total(rows), atol=1e-12)


def test_a_sheet_of_one_answer_has_the_line_of_its_pair_and_adds_up():
    model = fitted_partners()
    sheet = model.balance_sheet({"a": "3", "c": "1"})
    (item,) = [item for item in sheet.items if item.feature == "a & b"]
    assert item.level == "3 & not known"
    assert item.words == "a = 3 with b = not known"
    assert item.weight == model.evidence_["a & b"].margins[0][3, 0]
    assert not item.note
    e = sheet.attenuation.exponent
    assert sheet.total == pytest.approx(sheet.prior + e * sum(i.weight for i in sheet.items))
    assert sheet.interval is not None
    assert "a = 3 with b = not known" in str(sheet)
    table = weigh.reasons(model, [{"a": "3", "c": "1"}], n=3)
    assert "a = 3 with b = not known" in [table[f"reason_{k}"][0] for k in (1, 2, 3)]


def test_margins_are_written_down_where_tables_are():
    evidence = fitted_partners().evidence_
    assert "3 & not known: " in str(evidence["a & b"])
    assert "3 & not known" not in str(evidence)
    assert "its margins" in " ".join(str(evidence).split())


def test_with_many_tables_the_factor_is_fitted_after_the_weights_of_not_known(monkeypatch):
    X, y = draw_separable()
    together = EducatedNB(pairs=0).fit(X, y).evidence_
    monkeypatch.setattr("weigh.educated.attenuation.LOOPS", 6)
    alone = EducatedNB(pairs=0).fit(X, y).evidence_
    assert alone.attenuation.k == pytest.approx(together.attenuation.k, rel=0.3)
    monkeypatch.setattr("weigh.educated.attenuation.LEAST_GAIN", np.inf)
    for mine, other in zip(alone, EducatedNB(pairs=0).fit(X, y).evidence_, strict=True):
        np.testing.assert_array_equal(mine.weights, other.weights)


def draw_separable(n_rows=600, seed=0):
    """The class follows from the sum of seven signs, so weights are large."""
    X = np.random.default_rng(seed).choice([-1, 1], (n_rows, 7))
    return pd.DataFrame(X, columns=[*"abcdefg"]).astype(str), (X.sum(axis=1) > 0).astype(int)


def test_incomplete_rows_of_separable_classes_are_calibrated_and_complete_ones_stay(monkeypatch):
    X, y = draw_separable()
    new, truth = draw_separable(4000, seed=1)
    model = EducatedNB(pairs=0).fit(X, y)
    monkeypatch.setattr("weigh.educated.attenuation.LEAST_GAIN", np.inf)
    plain = EducatedNB(pairs=0).fit(X, y)
    np.testing.assert_allclose(
        model.decision_function(new), plain.decision_function(new), rtol=1e-9
    )
    where = np.random.default_rng(2).random(new.shape) < 0.5
    log_odds, was = (m.decision_function(weigh.blank(new, where)) for m in (model, plain))
    sign = 2 * truth - 1
    loss, before = (np.logaddexp(0, -sign * t).mean() for t in (log_odds, was))
    assert loss < 0.5 * before
    assert loss < np.log(2)
    slope = minimize(lambda b: np.logaddexp(0, -sign * b[0] * log_odds).sum(), [1.0]).x[0]
    assert 0.75 < slope < 1.25


def test_the_weights_of_an_incomplete_row_add_up_after_the_factor():
    X, y = draw_separable()
    model = EducatedNB(pairs=0).fit(X, y)
    sheet = model.balance_sheet({"a": "1", "b": "1", "c": "-1"})
    factor = sheet.attenuation.exponent
    assert factor < 0.5
    items = sum(item.weight for item in sheet.items)
    assert sheet.total == pytest.approx(sheet.prior + factor * items)
    assert "Share of the evidence not known" in str(sheet)
    assert "Factor of the weights" in str(sheet)
    whole = model.balance_sheet(dict.fromkeys(X, "1"))
    assert whole.attenuation.exponent == 1
    assert "Factor of the weights" not in str(whole)


@LIGHT
@given(seed=seeds, n=st.integers(6, 12))
def test_rows_are_blanked_at_rates_from_0_to_1_and_half_of_the_time(seed, n):
    rng = np.random.default_rng(seed)
    coded = [weigh.bins.Feature(f"f{j}", tuple(range(9))) for j in range(n)]
    block = Block([rng.integers(0, 9, 4000).astype(np.uint8) for _ in coded], np.zeros(4000))
    masks = Masks.of(coded, [f.name for f in coded], 4000.0)
    shares, drawn = zip(*masks.draw(block), strict=True)
    assert sum(shares) == pytest.approx(1)
    blank = np.stack(drawn)
    assert (blank.mean(axis=0) == 0.5).all()  # each way, and then the other answers
    known = np.bincount(blank.sum(axis=1).ravel(), minlength=n + 1) / blank[:, 0].size
    assert np.abs(known - 1 / (n + 1)).max() < 0.03
    assert (
        np.abs(np.corrcoef(blank.transpose(1, 0, 2).reshape(n, -1)) - np.eye(n))[0, 1:].max() < 0.5
    )


@LIGHT
@given(seed=seeds)
def test_blanks_follow_from_levels_alone_whatever_the_order_of_rows_and_columns(seed):
    rng = np.random.default_rng(seed)
    coded = [weigh.bins.Feature(f"f{j}", tuple(range(3))) for j in range(7)]
    codes = [rng.integers(0, 3, 50).astype(np.uint8) for _ in coded]
    order, columns = rng.permutation(50), rng.permutation(7)
    names = [f.name for f in coded]
    whole = [m for _, m in Masks.of(coded, names, 50.0).draw(Block(codes, np.zeros(50)))]
    moved = Block([codes[j][order].astype(np.uint16) for j in columns], np.ones(50))
    turned = Masks.of([coded[j] for j in columns], [names[j] for j in columns], 50.0)
    for one, two in zip(whole, (m for _, m in turned.draw(moved)), strict=True):
        assert (one[columns][:, order] == two).all()


@pytest.mark.parametrize(("n_classes", "multiclass"), FORMS)
@LIGHT
@given(seed=seeds)
def test_a_row_of_weight_two_is_that_row_twice_also_where_answers_are_blank(
    n_classes, multiclass, seed
):
    X, y = draw_frame(seed, 120, n_classes)
    X = X.assign(e=X["x"] > 0, f=X["c"] + X["d"])  # more columns than are blanked in every way
    times = np.random.default_rng(seed).integers(1, 3, len(y))
    fit = EducatedNB(pairs=0, multiclass=multiclass, bins=4).fit
    where = np.random.default_rng(seed).random(X.shape) < 0.5
    heavy = fit(X, y, times).decision_function(weigh.blank(X, where))
    many = fit(X.loc[X.index.repeat(times)], np.repeat(y, times))
    np.testing.assert_allclose(heavy, many.decision_function(weigh.blank(X, where)), atol=1e-5)


def test_blocks_of_rows_add_up_to_the_same_weights_of_not_known(monkeypatch):
    X, y = draw_frame(5, 400)
    X = X.assign(e=X["x"] > 0, f=X["c"] + X["d"])
    sample = label_sample(read(X), y)
    tally = EducatedNB(pairs=0)._tally(sample)
    naive = weigh_tally(tally, 1.0)
    features = [c.feature for c in tally.tables]
    rows = weigh.engine.code_rows(sample, features)

    class Halves(CodedRows):
        def sum(self, statistic):
            parts = [
                super(Halves, self.take(slice(*at))).sum(statistic) for at in ((0, 150), (150, 400))
            ]
            return parts[0] + parts[1]

        def take(self, part):
            return Halves([c[part] for c in self.codes], self.labels[part])

    halves = Halves(rows.codes, rows.labels)
    (one, _), (two, _) = (zero_not_known(naive, part, features) for part in (rows, halves))
    for a, b in zip(one, two, strict=True):
        np.testing.assert_allclose(a.by_class, b.by_class, atol=1e-9)


def test_predictions_from_some_answers_are_right_on_average_and_lose_less(monkeypatch):
    X, y = draw_frame(6, 6000)
    X = X.fillna(0.0)
    train, test = slice(0, 4000), slice(4000, None)
    before = unsettled(monkeypatch, X[train], y[train])
    after = EducatedNB(pairs=0).fit(X[train], y[train])
    where = np.random.default_rng(6).random(X[test].shape) < 0.5
    totals = [m.decision_function(weigh.blank(X[test], where)) for m in (before, after)]
    old, new = (np.logaddexp(0, np.where(y[test] == 1, -t, t)).mean() for t in totals)
    assert new < old
    assert expit(totals[1]).mean() == pytest.approx(y[test].mean(), rel=0.12)
    assert abs(expit(totals[1]).mean() - y[test].mean()) < abs(
        expit(totals[0]).mean() - y[test].mean()
    )


# ---------------------------------------------------------------- how to say not known


def test_every_way_to_say_not_known_is_the_same_and_null_is_the_level_missing():
    X, y = draw_frame(7)
    model = EducatedNB(pairs=2, random_state=0).fit(X, y)
    row = {"x": 0.5, "z": 1.0, "c": "a", "d": "u"}
    without = {name: value for name, value in row.items() if name != "z"}
    frame = pd.DataFrame([row])
    where = [[False, True, False, False]]
    ways = [
        [without],
        [row | {"z": NOT_KNOWN}],
        pd.DataFrame([row | {"z": NOT_KNOWN}]),
        *(weigh.blank(f, where) for f in (frame, pl.from_pandas(frame), pa.table(frame))),
        weigh.blank(pd.concat([frame] * 100), where * 100),
    ]
    totals = [model.decision_function(way)[0] for way in ways]
    assert {*totals} == {totals[0]}
    null = model.decision_function([row | {"z": None}])[0]
    assert null != totals[0]
    assert model.decision_function([row | {"z": float("nan")}])[0] == null
    sheet = model.balance_sheet(without)
    assert sheet.total == pytest.approx(totals[0], abs=1e-12)
    assert "z = not known (no evidence)" in [str(item) for item in sheet.not_known]
    assert sheet.interval[0] < sheet.probability < sheet.interval[1]


def test_a_pair_of_which_one_half_is_not_known_weighs_nothing():
    rng = np.random.default_rng(8)
    X = pd.DataFrame({"a": rng.choice([*"uv"], 800), "b": rng.choice([*"st"], 800)})
    y = ((X["a"] == "u") ^ (X["b"] == "s") ^ (rng.random(800) < 0.1)).astype(int)
    model = EducatedNB(pairs=1, random_state=0).fit(X, y)
    items = {item.feature: item for item in model.balance_sheet({"a": "u"}).items}
    assert items["a & b"].weight == 0
    assert items["a & b"].level == "u & not known"
    assert model.predict_proba([{"a": "u"}])[0, 1] == pytest.approx(0.5, abs=0.05)


@pytest.mark.parametrize("learner", [weigh.EvidenceNB, weigh.PerplexedNB, weigh.AdjustedNB])
def test_other_learners_take_not_known_for_no_evidence(learner):
    X, y = draw_frame(9)
    model = learner().fit(X, y)
    assert model.decision_function([{"x": NOT_KNOWN, "c": "a"}]) == model.decision_function(
        [{"c": "a"}]
    )
    known = model.evidence_.total(model._read([{}]))
    if learner is not weigh.PerplexedNB:
        assert known[0] == model.evidence_.prior_row


def test_values_that_share_the_level_other_are_known_and_not_known_is_not_among_them():
    X = pd.DataFrame({"a": [*"aaaabbbbcdef"] * 10, "b": [*"uv"] * 60})
    y = np.arange(120) % 3 == 0
    model = EducatedNB(pairs=0, max_levels=2).fit(X, y)
    item = model.balance_sheet({"b": "u"}).items[0]
    assert (item.level, item.weight) == ("not known", 0)
    assert model.balance_sheet({"a": "new", "b": "u"}).items[0].level == "other"


def test_in_training_not_known_is_missing():
    X, y = draw_frame(10)
    gaps = X.astype(object).where(X.notna(), NOT_KNOWN)
    listed = [{k: v for k, v in row.items() if v == v} for row in X.to_dict("records")]
    nulls = [{k: v if v == v else None for k, v in row.items()} for row in X.to_dict("records")]
    totals = [
        EducatedNB(pairs=0).fit(table, y).decision_function(X) for table in (gaps, listed, nulls)
    ]
    for other in totals[1:]:
        np.testing.assert_array_equal(totals[0], other)


def test_a_row_that_names_no_column_of_the_model_is_refused():
    X, y = draw_frame(11)
    model = EducatedNB(pairs=0).fit(X, y)
    with pytest.raises(ValueError, match="'x'"):
        model.predict([{"X": 1.0}])
    with pytest.raises(ValueError, match="'z'"):
        model.predict(X[["x", "c", "d"]])  # of a dataframe a column that lacks is a mistake


def test_there_is_one_not_known():
    assert copy.deepcopy(NOT_KNOWN) is NOT_KNOWN
    assert pickle.loads(pickle.dumps(NOT_KNOWN)) is NOT_KNOWN
    assert repr(NOT_KNOWN) == "NOT_KNOWN"


@pytest.mark.parametrize("where", [[[1, 0, 0, 0]], [[True]], [[True, False, False]] * 2])
def test_blank_refuses_what_is_no_mask_of_the_table(where):
    X, _ = draw_frame(12)
    with pytest.raises(ValueError, match="where"):
        weigh.blank(X.iloc[:1], where)


def test_a_hessian_for_each_class_leads_to_the_weights_of_the_joint_one(monkeypatch):
    X, y = load_iris(return_X_y=True, as_frame=True)
    joint = EducatedNB(pairs=0, bins=4).fit(X, y)
    monkeypatch.setattr("weigh.educated.blanks.JOINT", 0)
    monkeypatch.setattr("weigh.educated.blanks.STEPS", 300)  # which are shorter then
    apart = EducatedNB(pairs=0, bins=4).fit(X, y)
    rows = [{name: X[name][i]} for name in X for i in (0, 60, 120)]
    found, expected = (model.predict_proba(rows) for model in (apart, joint))
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_many_tables_have_the_weights_of_not_known_that_loops_give(monkeypatch):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 7)), rng.integers(0, 2, 300)
    loops = EducatedNB(pairs=0, bins=4).fit(X, y).evidence_
    monkeypatch.setattr("weigh.educated.blanks.LOOPS", 0)
    products = EducatedNB(pairs=0, bins=4).fit(X, y).evidence_
    for one, other in zip(loops, products, strict=True):
        np.testing.assert_allclose(one.by_class, other.by_class, atol=1e-9)


@pytest.mark.parametrize("n_totals", [1, 3])
@pytest.mark.parametrize("n_tables", [1, 9, 20])
def test_rows_with_blanks_are_added_up_as_a_literal_loop_does_to_the_bit(n_tables, n_totals):
    rng = np.random.default_rng(n_tables)
    n_rows, none = 150, 5 * np.arange(n_tables)
    places = (none[:, None] + rng.integers(0, 5, (n_tables, n_rows))).astype(np.uint16)
    weights, u = rng.normal(size=(5 * n_tables, n_totals)), rng.normal(size=(n_tables, n_totals))
    blank = rng.random((n_tables, n_rows)) < rng.random(n_rows)
    known, totals = blank.copy(), rng.normal(size=(n_rows, n_totals))
    wanted = totals.copy()
    kernels.add_known(places, weights, none, u, known, totals)
    np.testing.assert_array_equal(known, blank | (places == none[:, None]))
    slope, curvature = rng.normal(size=(2, n_rows, n_totals))
    slopes, bends = np.zeros_like(u), np.zeros((n_totals, n_tables, n_tables))
    sums, halves = np.zeros_like(slopes), np.zeros_like(bends)
    kernels.sum_blanks(known, slope, curvature, slopes, bends)
    for i in range(n_rows):
        for j in range(n_tables):
            wanted[i] += u[j] if known[j, i] else weights[places[j, i]]
        at = np.flatnonzero(known[:, i])
        sums[at] += slope[i]
        for k in range(n_totals):
            halves[k][np.ix_(at, at)] += curvature[i, k]
    np.testing.assert_array_equal(totals, wanted)
    np.testing.assert_array_equal(slopes, sums)
    np.testing.assert_array_equal(bends, halves)
