"""Levers: the smallest changes that cross a cut-off, against trying every change."""

from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest

import weigh
from weigh import Scorecard
from weigh.recourse.changes import ColumnChange

RNG = np.random.default_rng(0)
N = 500
X = pd.DataFrame(
    {
        "income": RNG.lognormal(3, 0.5, N).round(1),
        "debts": RNG.integers(0, 9, N).astype(float),
        "purpose": RNG.choice(["car", "house", "other"], N),
        "phone": RNG.choice(["yes", "no"], N),
    }
)
LOG_ODDS = 0.06 * X["income"] - 0.4 * X["debts"] + (X["purpose"] == "house") * (X["phone"] == "yes")
Y = np.where(RNG.random(N) < 1 / (1 + np.exp(-LOG_ODDS)), "good", "bad")
MODELS = {
    "counted": weigh.EvidenceNB(bins=4).fit(X, Y),
    "crossed": weigh.EvidenceNB(bins=4, crosses=[("purpose", "phone")]).fit(X, Y),
    "paired": weigh.EducatedNB(bins=4, pairs=[("debts", "purpose")]).fit(X, Y),
    "recalibrated": weigh.RecalibratedClassifier(weigh.EvidenceNB(bins=4), cv=3).fit(X, Y),
}


def list_values(model, column, value):
    """A value of each level: all categories, or numbers on both sides of every cut point."""
    if X[column].dtype != float:
        return [v for v in sorted(X[column].unique()) if v != value]
    cuts = sorted({c for t in model.evidence_ for p in t.feature.parts
                   if p.name == column for c in p.cuts})  # fmt: skip
    ends = [*cuts, *(np.nextafter(c, np.inf) for c in cuts)]
    level = np.searchsorted(cuts, value)
    return [v for v in ends if np.searchsorted(cuts, v) != level]


def passed(model, column, old, new):
    """The share of training rows that lie between the two levels."""
    table = next((t for t in model.evidence_ if t.name == column), None)
    if table is None or X[column].dtype != float:
        return 0.0
    rows = table.counts.sum(axis=1)
    a, b = sorted(np.searchsorted(table.feature.cuts, [old, new]))
    return rows[a + 1 : b].sum() / rows.sum()


def try_everything(model, row, columns, need):
    """By set of columns, the least cost of a change of exactly these that reaches the total."""
    found = {}
    for size in range(1, len(columns) + 1):
        for chosen in combinations(columns, size):
            grid = [*product(*(list_values(model, c, row[c]) for c in chosen))]
            rows = pd.DataFrame([{**row, **dict(zip(chosen, g, strict=True))} for g in grid])
            totals = model.decision_function(rows)
            costs = [
                sum(1 + passed(model, c, row[c], v) for c, v in zip(chosen, g, strict=True))
                for g in grid
            ]
            good = [cost for cost, total in zip(costs, totals, strict=True) if total >= need]
            inner = [c for own, c in found.items() if own < {*chosen}]
            if good and min(good) < min(inner, default=np.inf):
                found[frozenset(chosen)] = min(good)
    return sorted(found.values())


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("cut_off", [0.5, 0.75])
def test_no_change_costs_less_than_the_levers(name, cut_off):
    model, columns = MODELS[name], ["income", "debts", "purpose"]
    p = model.predict_proba(X)[:, 1]
    for place in np.argsort(p)[:: N // 12]:
        row = X.iloc[place].to_dict()
        found = weigh.levers(model, row, columns, cut_off=cut_off, n=20)
        assert found.crossed == (p[place] >= cut_off)
        if found.crossed:
            assert not len(found)
            continue
        known = try_everything(model, row, columns, np.log(cut_off / (1 - cut_off)))
        assert [lever.cost for lever in found] == pytest.approx(known)
        for lever in found:
            after = model.predict_proba([lever.apply(row)])[0, 1]
            assert after == pytest.approx(lever.probability)
            assert after >= cut_off - 1e-12


def test_levers_of_a_card_reach_the_score():
    card = Scorecard(MODELS["counted"])
    scores = card.score(X)
    row = X.iloc[int(np.argmin(scores))].to_dict()
    target = int(np.median(scores))
    found = weigh.levers(card, row, [*X.columns], cut_off=target)
    assert len(found) == 3
    for lever in found:
        assert card.score([lever.apply(row)])[0] == lever.score >= target
    assert weigh.levers(
        card, X.iloc[int(np.argmax(scores))].to_dict(), ["debts"], cut_off=target
    ).crossed


def test_the_other_class_may_be_wanted():
    model = MODELS["counted"]
    row = X.iloc[int(np.argmax(model.predict_proba(X)[:, 1]))].to_dict()
    for lever in weigh.levers(model, row, [*X.columns], pos_label="bad", most=4):
        assert model.predict_proba([lever.apply(row)])[0, 0] >= 0.5


def test_columns_move_only_where_they_may():
    model = MODELS["counted"]
    row = X.iloc[int(np.argmin(model.predict_proba(X)[:, 1]))].to_dict()
    up = weigh.levers(model, row, {"income": "up", "debts": "down"}, cut_off=0.3)
    assert len(up)
    for lever in up:
        for change in lever.changes:
            sign = 1 if change.column == "income" else -1
            assert sign * (change.after - row[change.column]) > 0
    assert not len(weigh.levers(model, row, {"debts": "up"}, cut_off=0.3))
    listed = weigh.levers(model, row, {"income": [70.0]}, cut_off=0.01)
    assert all(lever.changes[0].after == 70.0 for lever in listed)


def test_what_costs_more_is_changed_last():
    model = MODELS["counted"]
    row = X.iloc[int(np.argsort(model.predict_proba(X)[:, 1])[N // 4])].to_dict()
    plain = weigh.levers(model, row, ["income", "debts"])
    dear = weigh.levers(model, row, ["income", "debts"], costs={plain[0].changes[0].column: 100})
    assert dear[0].changes[0].column != plain[0].changes[0].column


@pytest.mark.parametrize(
    ("given", "named"),
    [({"may_change": ["incom"]}, "incom"), ({"may_change": "income"}, "may_change"),
     ({"may_change": {"income": "sideways"}}, "income"),
     ({"may_change": {"purpose": "up"}}, "purpose"),
     ({"may_change": {"income": 5}}, "income"), ({"may_change": {"income": None}}, "income"),
     ({"may_change": {"income": {"up": 1}}}, "income"),
     ({"may_change": {"income": [5, np.nan]}}, "income"),
     ({"may_change": {"income": [np.inf]}}, "income"),
     ({"may_change": {"income": ["5"]}}, "income"), ({"may_change": {"income": [True]}}, "income"),
     ({"may_change": {"purpose": ["car", "zzz"]}}, "zzz"),
     ({"may_change": {"purpose": [None]}}, "purpose"),
     ({"may_change": {"purpose": [5]}}, "purpose"),
     ({"cut_off": 2}, "cut_off"), ({"costs": {"income": 0}}, "income"), ({"n": 0}, "n"),
     ({"pos_label": "none"}, "none")],
)  # fmt: skip
@pytest.mark.parametrize("name", ["counted", "crossed"])
@pytest.mark.parametrize("worst", [True, False])
def test_odd_questions_are_refused(given, named, name, worst):
    p = MODELS[name].predict_proba(X)[:, 1]
    row = X.iloc[int(p.argmin() if worst else p.argmax())].to_dict()
    with pytest.raises(ValueError, match=named):
        weigh.levers(MODELS[name], row, **({"may_change": ["income"]} | given))


@pytest.mark.parametrize("cut_off", [np.nan, np.inf])
def test_a_cut_off_of_a_card_that_is_no_number_is_refused(cut_off):
    card, row = weigh.Scorecard(MODELS["counted"]), X.iloc[0].to_dict()
    with pytest.raises(ValueError, match="cut_off"):
        weigh.levers(card, row, ["income"], cut_off=cut_off)


@pytest.mark.parametrize("name", [*MODELS])
def test_values_that_training_had_may_be_listed(name):
    row = X.iloc[int(MODELS[name].predict_proba(X)[:, 1].argmin())].to_dict()
    change = {"purpose": ["house", "car"], "phone": ["yes"], "debts": [0, np.float32(1)]}
    found = weigh.levers(MODELS[name], row, change, cut_off=0.2)
    assert len(found)
    for lever in found:
        for done in lever.changes:
            assert done.after in change[done.column]


def test_levers_print_as_text_html_frame_and_plain_data():
    row = X.iloc[int(np.argmin(MODELS["counted"].predict_proba(X)[:, 1]))].to_dict()
    found = weigh.levers(MODELS["counted"], row, [*X.columns], cut_off=0.3, most=4)
    column = found[0].changes[0].column
    for text in (found.to_text(), found._repr_html_(), str(found.to_dict())):
        assert column in text
    assert len(found.to_frame()) == sum(len(lever.changes) for lever in found)


def test_a_whole_number_that_a_table_holds_as_a_float_is_told_as_one():
    told = [str(ColumnChange("income", before, 5.0, "> 4")) for before in (0.0, 2.5)]
    assert told == ["income: 0 -> > 4", "income: 2.5 -> > 4"]


def test_the_table_says_what_a_cost_is_where_there_are_levers():
    row = X.iloc[int(np.argmin(MODELS["counted"].predict_proba(X)[:, 1]))].to_dict()
    found = weigh.levers(MODELS["counted"], row, [*X.columns], cut_off=0.3, most=4)
    assert "Cost has no unit." in found.to_text()
    none = weigh.levers(MODELS["counted"], row, [*X.columns], cut_off=1e-9)
    assert not len(none)
    assert "Cost" not in none.to_text()
