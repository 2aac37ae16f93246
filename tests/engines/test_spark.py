"""A Spark DataFrame gives the model that the same rows give in memory, and is scored in SQL."""

import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from benchmarks import cluster
from pyarrow import parquet
from sklearn.base import clone
from tests.exported import LEARNERS, MANY, Incomplete, fitted
from tests.exports.test_exports_sql import CASES, assert_cases, assert_sql, cased_model

import weigh
from weigh import engine
from weigh.adjusted.design import count_groups
from weigh.boosted.rounds import RowSelection, count_rows
from weigh.engine import surveys
from weigh.errors import ParameterError
from weigh.exports import Formula
from weigh.folds import TRAIN
from weigh.frames import label_sample, read

pytestmark = [
    pytest.mark.system,
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),  # sockets of py4j
]

C1 = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
QUICK = {  # for many small jobs: what compiles or plans long, or waits for an executor that died
    "spark.driver.extraJavaOptions": C1,
    "spark.executor.extraJavaOptions": C1,
    "spark.shuffle.io.retryWait": "100ms",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.shuffle.partitions": "2",
}
PYTHON = ("EvalPython", "MapInArrow", "MapInPandas", "PythonUDF")


@pytest.fixture(scope="module")
def spark(tmp_path_factory, require):
    """Two executors that are processes of their own."""
    require(cluster.lacking())
    with pytest.MonkeyPatch.context() as patch:
        for name in ("SPARK_HOME", "SPARK_LOCAL_IP", "SPARK_LOCAL_DIRS", "PYSPARK_PYTHON"):
            patch.delenv(name, raising=False)  # which is put back at the end
        session = cluster.start_cluster(tmp_path_factory.mktemp("spark"), **QUICK)
        yield session
        session.stop()


def make(n_rows=1500, n_classes=2, seed=0, n_many=400):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n_rows)
    text = np.array(["a", "b", "ü'\"\\", None], dtype=object)
    many = np.array([f"v{i}" for i in range(n_many)], dtype=object)
    half = n_many // 2
    table = pd.DataFrame(
        {
            "text": text[np.minimum(rng.integers(0, 4, n_rows) + (y == 1), 3)],
            "a.b": rng.integers(0, 50, n_rows) + 2.0 * y,
            "A": np.where(rng.random(n_rows) < 0.05, np.nan, rng.normal(size=n_rows) + y),
            "a": rng.integers(0, 5, n_rows),
            "flag": rng.random(n_rows) < 0.3 + 0.1 * y,
            "many": many[rng.integers(0, half, n_rows) + half * (rng.random(n_rows) < 0.2 * y)],
            "y": np.array(["no", "yes", "maybe"])[y],
        }
    )
    return table.assign(w=rng.integers(0, 4, n_rows))


def send(spark, table, n_parts=None):
    """The rows on the cluster, in as many partitions as there are executors, or in so many."""
    frame = spark.createDataFrame(pa.Table.from_pandas(table, preserve_index=False))
    return frame if n_parts is None else frame.repartition(n_parts)


def assert_same(one, two):
    """The same model, bit for bit."""
    assert one.classes.tolist() == two.classes.tolist()
    assert one.class_counts.tolist() == two.class_counts.tolist()
    assert one.features == two.features
    for a, b in zip(one, two, strict=True):
        assert np.array_equal(a.counts, b.counts)
        assert np.array_equal(a.by_class, b.by_class)


SETTINGS = [
    ({}, 2, None),
    ({"crosses": [("text", "flag")], "special_values": {"a": [3]}, "missing": "skip"}, 3, "w"),
    ({"bins": {"A": [0.0, 1.0], "a.b": 10}, "categorical_features": ["text", "flag", "a"]}, 2, "w"),
    ({"max_levels": {"text": 2, "many": 5}, "crosses": [("text", "flag")]}, 2, "w"),
]


@pytest.mark.parametrize(("parameters", "n_classes", "weight"), SETTINGS)
def test_a_spark_dataframe_gives_the_model_that_pandas_gives(spark, parameters, n_classes, weight):
    table = make(n_classes=n_classes)
    if "categorical_features" in parameters:
        table = table.drop(columns="many")
    table = table if weight else table.drop(columns="w")
    here = weigh.EvidenceNB(**parameters).fit(table, "y", weight)
    there = weigh.EvidenceNB(**parameters).fit(send(spark, table), "y", weight)
    assert_same(here.evidence_, there.evidence_)
    assert there.feature_names_in_.tolist() == here.feature_names_in_.tolist()


def test_more_numbers_than_are_kept_give_the_model_that_a_scan_gives(spark, tmp_path):
    rng = np.random.default_rng(0)
    x = rng.normal(size=70_000)
    table = pa.table({"x": x, "y": (x + rng.normal(size=len(x)) > 0).astype(int)})
    parquet.write_table(table, tmp_path / "rows.parquet")
    scanned = weigh.EvidenceNB().fit(weigh.scan(tmp_path / "rows.parquet"), "y")
    there = weigh.EvidenceNB().fit(spark.read.parquet(str(tmp_path / "rows.parquet")), "y")
    assert_same(scanned.evidence_, there.evidence_)


def test_neither_the_number_of_partitions_nor_empty_ones_change_the_model(spark):
    table = make(300).drop(columns="w")
    here = weigh.EvidenceNB().fit(table, "y").evidence_
    for n_parts in (1, 17):  # of 17, the sums are merged on the cluster
        assert_same(here, weigh.EvidenceNB().fit(send(spark, table, n_parts), "y").evidence_)
    few = send(spark, table.head(4), 8)
    few_here = weigh.EvidenceNB().fit(table.head(4), "y").evidence_
    assert_same(few_here, weigh.EvidenceNB().fit(few, "y").evidence_)


def test_what_comes_back_is_one_row_of_each_partition_and_pass(spark, monkeypatch):
    frame, collected = send(spark, make().drop(columns="w"), 5), []
    kind = type(frame)
    collect = kind.collect

    def counting(self):
        rows = collect(self)
        collected.append(len(rows))
        return rows

    monkeypatch.setattr(kind, "collect", counting)
    weigh.EvidenceNB().fit(frame, "y")
    assert max(collected) <= 5
    assert len(collected) <= 3


def test_a_pass_over_levels_sums_as_it_does_in_memory(spark):
    table = make(n_classes=3)
    frame, learner = send(spark, table), weigh.EvidenceNB()
    here, there = (label_sample(read(X), "y") for X in (table, frame))
    features = [t.feature for t in learner.fit(table, "y").evidence_]
    near, far = (engine.code_rows(sample, features) for sample in (here, there))
    count = partial(count_rows, selection=RowSelection(1, None, TRAIN))
    folds = partial(count_groups, n_groups=5, n_classes=3)
    assert near.n_rows == far.n_rows
    assert far.sum(count).arrays[0].tolist() == near.sum(count).arrays[0].tolist()
    dealt = far.deal(5, random_state=0)
    assert dealt.roles.tolist() == (np.eye(5) + 1).astype(int).tolist()
    first, again = (dealt.rows.sum(folds).arrays[0] for _ in range(2))
    assert first.tolist() == again.tolist()
    assert first.sum(axis=0).tolist() == here.class_counts.tolist()
    assert (first.max(axis=0) - first.min(axis=0)).max() <= 1  # as many rows of a class in each
    assert (far.n_passes, dealt.rows.far) == (3, True)
    with pytest.raises(ValueError, match="cv="):
        far.deal([([0], [1])], None)


@pytest.mark.parametrize(("n_classes", "rounded"), [(2, 1e-10), (3, 1e-8)])
def test_exponents_on_a_cluster_are_those_of_a_scan(spark, tmp_path, n_classes, rounded):
    """But for the order in which partial sums arrive.

    Another order of the rows moves the gradient by up to 1e-13, and exponents by at most that
    over the least eigenvalue of the Hessian: 0.44 with two classes, 1.5e-5 with three.
    """
    table = make(n_classes=n_classes).drop(columns=["w", "many"])
    path = tmp_path / "rows.parquet"
    parquet.write_table(pa.Table.from_pandas(table, preserve_index=False), path)
    tables = (send(spark, table), weigh.scan(path), table)
    there, scanned, here = (weigh.AdjustedNB(norm=None).fit(X, "y") for X in tables)
    assert there.evidence_.features == here.evidence_.features
    assert there.exponents_ == pytest.approx(scanned.exponents_, abs=rounded)
    # the loss is flat at its least: exponents agree to the root of what the loss does
    assert there.exponents_ == pytest.approx(here.exponents_, abs=1e-5)
    assert there.loss_ == pytest.approx(here.loss_, rel=1e-9)


def test_a_norm_is_chosen_on_a_cluster_in_at_most_40_passes(spark):
    table = make().drop(columns=["w", "many"])
    frame = send(spark, table)
    one = weigh.AdjustedNB(random_state=0).fit(frame, "y")
    assert one.n_passes_ <= 40
    free = weigh.AdjustedNB(norm=None).fit(table, "y")
    assert one.norm_ <= free.norm_ * (1 + 1e-6)
    assert one.loss_ == pytest.approx(free.loss_, rel=0.02)
    with pytest.raises(ValueError, match="cv="):
        weigh.AdjustedNB(cv=[([0, 1], [2, 3])]).fit(frame, "y")


def test_rounds_on_a_cluster_share_their_passes(spark):
    table = make().drop(columns=["w", "many"])
    chosen = weigh.BoostedNB(n_rounds=3, random_state=0).fit(send(spark, table), "y")
    assert chosen.scale_ > 0
    assert chosen.n_passes_ < 2 * 3 + 20  # of all rows and of five folds together


SAME_FOLDS = {
    "weighted": (weigh.WeightedNB(cv="fold", random_state=0, tol=1e-3), "weights_", 2),
    "weighted, three classes": (weigh.WeightedNB(cv="fold", random_state=0), "weights_", 3),
    "perplexed": (weigh.PerplexedNB(cv="fold", missing="skip"), "attenuation_", 3),
    "boosted": (weigh.BoostedNB(cv="fold", n_rounds=3), "scale_", 2),
    "boosted, crossed": (
        weigh.BoostedNB(cv="fold", n_rounds=2, crosses=[("text", "flag")], max_levels={"text": 2}),
        "scale_",
        3,
    ),
}


@pytest.mark.parametrize("case", SAME_FOLDS)
def test_the_same_folds_give_the_same_model_on_a_cluster(spark, case):
    learner, chosen, n_classes = SAME_FOLDS[case]
    table = make(1000, n_classes).drop(columns="many")
    table["fold"] = np.random.default_rng(1).choice(["a", "b", "c"], len(table), p=[0.2, 0.3, 0.5])
    here, there = (clone(learner).fit(X, "y", "w") for X in (table, send(spark, table)))
    assert getattr(there, chosen) == pytest.approx(getattr(here, chosen), rel=1e-9)
    assert there.evidence_.features == here.evidence_.features
    for a, b in zip(here.evidence_, there.evidence_, strict=True):
        assert np.array_equal(a.counts, b.counts)
        assert b.by_class == pytest.approx(a.by_class, abs=1e-9)


def draw_together(n_rows=1500):
    """Two columns that tell only together, and gaps."""
    table = make(n_rows).drop(columns=["w", "many", "text"])
    told = (table["a"] > 2) ^ table["flag"] ^ (np.arange(n_rows) % 7 == 0)
    return table.assign(y=np.where(told, "yes", "no"))


EDUCATED = {
    "weights": (
        {"pairs": 0, "bins": 6, "missing": "skip", "crosses": [("text", "flag")]},
        make(n_many=20),
    ),
    "three classes": ({"pairs": 0, "bins": 6}, make(n_classes=3, n_many=20).drop(columns="w")),
    "a pair": ({"bins": 6}, draw_together()),
}


@pytest.mark.parametrize("case", EDUCATED)
def test_weights_fitted_together_on_a_cluster_are_those_in_memory(spark, case):
    parameters, table = EDUCATED[case]
    weight = "w" if "w" in table else None
    model = weigh.EducatedNB(**parameters)
    here, there = (clone(model).fit(X, "y", weight) for X in (table, send(spark, table)))
    assert there.evidence_.features == here.evidence_.features
    assert ("a & flag" in [part.name for part in there.evidence_]) == (case == "a pair")
    for a, b in zip(here.evidence_, there.evidence_, strict=True):
        assert np.array_equal(a.counts, b.counts)
        assert b.by_class == pytest.approx(a.by_class, abs=1e-9)
    assert there.loo_loss_ == pytest.approx(here.loo_loss_, rel=1e-9)
    assert abs(there.n_passes_ - here.n_passes_) <= 1  # rounding may decide whether a step is last
    if here.evidence_.covariance is not None:
        found, expected = there.evidence_.covariance, here.evidence_.covariance
        assert found == pytest.approx(expected, rel=2e-5, abs=1e-9)  # of six digits


def test_a_wide_table_on_a_cluster_takes_a_pass_for_each_product(spark, monkeypatch):
    monkeypatch.setattr("weigh.educated.solve.FULL", 60)
    table, model = make(500).drop(columns=["w", "many"]), weigh.EducatedNB(pairs=0, bins=20)
    here, there = (clone(model).fit(X, "y") for X in (table, send(spark, table)))
    assert there.n_passes_ == here.n_passes_
    assert there.predict_proba(table) == pytest.approx(here.predict_proba(table), abs=1e-8)


def test_an_exponent_that_is_given_needs_no_rows(spark):
    table = make().drop(columns="w")
    model = weigh.PerplexedNB(attenuation=2.0)
    here, there = (clone(model).fit(X, "y").evidence_ for X in (table, send(spark, table)))
    assert_same(here, there)


def test_an_exponent_is_chosen_on_folds_that_a_cluster_deals(spark):
    table = make(n_classes=3).drop(columns=["w", "many"])
    frame, flat = send(spark, table), weigh.PerplexedNB(attenuation="flat", missing="skip")
    here, there = (clone(flat).fit(X, "y").attenuation_path_ for X in (table, frame))
    assert there.criterion == pytest.approx(here.criterion, rel=1e-9)  # which needs no folds
    chosen = weigh.PerplexedNB(random_state=0)
    here, there = (clone(chosen).fit(X, "y").attenuation_path_ for X in (table, frame))
    assert there.criterion.min() == pytest.approx(here.criterion.min(), abs=0.01)  # other folds
    with pytest.raises(ValueError, match="cv="):
        weigh.PerplexedNB(cv=[([0, 1], [2, 3])]).fit(frame, "y")


def test_folds_that_a_cluster_deals_have_equally_many_rows_of_each_class(spark):
    table = make(1000, 3).drop(columns="many")
    sample = label_sample(read(send(spark, table, 3)), "y", "w")
    dealt, again = (sample.table.deal(sample, 5, 0) for _ in range(2))
    assert dealt.group_counts.tolist() == again.group_counts.tolist()
    assert dealt.group_counts.sum(axis=0).tolist() == sample.class_counts.tolist()
    rows = dealt.table.code(weigh.EvidenceNB().fit(table, "y", "w").evidence_.features)
    here = rows.grouped().here()
    counts = np.array([np.bincount(here.labels[here.groups == k]) for k in range(5)])
    assert (counts.max(axis=0) - counts.min(axis=0)).max() <= 1


@pytest.mark.parametrize("n_classes", [2, 3])
def test_many_rows_on_a_cluster_are_ranked_by_the_histograms_of_memory(
    spark, monkeypatch, n_classes
):
    table = make(n_classes=n_classes).drop(columns=["w", "many"])
    for limit in ("MAX_EXACT_ROWS", "MAX_EXACT_ROWS_IN_FILES"):
        monkeypatch.setattr(f"weigh.weighted.histograms.{limit}", 0)
    own = weigh.WeightedNB(choose_on="training", tol=1e-3)
    here, there = (clone(own).fit(X, "y") for X in (table, send(spark, table)))
    assert there.weights_ == pytest.approx(here.weights_, rel=1e-9)
    assert there.auc_ == pytest.approx(here.auc_, abs=1e-12)
    assert there.n_passes_ == here.n_passes_ <= 20


# ------------------------------------------------------------ what cannot be


@pytest.mark.parametrize(
    "learner",
    [
        weigh.C44Classifier(),
        weigh.BoostedNBRegressor(),
        weigh.EvidenceNB(event_model="counts"),
        weigh.PerplexedNB(event_model="counts"),
    ],
)
def test_a_learner_that_needs_all_rows_says_what_to_do(spark, learner):
    with pytest.raises(ValueError, match=r"stay on the cluster; to fit, write .* weigh\.scan"):
        learner.fit(send(spark, make(50).drop(columns="w")), "y")


def test_what_is_wrong_with_the_rows_is_said_as_in_memory(spark):
    table = make(60).drop(columns="A")
    frame = send(spark, table)
    fit = weigh.EvidenceNB().fit
    with pytest.raises(ValueError, match="add it as a column"):
        fit(frame, table["y"])
    with pytest.raises(ValueError, match=r"'Y'.*'y'"):
        fit(frame, "Y")
    with pytest.raises(ValueError, match=r"w.*-1"):
        fit(frame.withColumn("w", frame.w - 1), "y", "w")
    with pytest.raises(ValueError, match="'w'"):
        fit(frame.withColumn("w", frame.w * 0), "y", "w")
    with pytest.raises(ValueError, match=r"^y "):
        fit(frame.selectExpr("a", "nullif(y, 'yes') as y"), "y")
    with pytest.raises(ValueError, match="Unknown label type"):
        fit(frame.selectExpr("a", "a / 3 as third"), "third")
    with pytest.raises(ValueError, match="'day' holds date"):
        fit(frame.selectExpr("current_date() as day", "y"), "y")
    with pytest.raises(ValueError, match="the table is empty"):
        fit(frame.limit(0), "y")
    with pytest.raises(ValueError, match=r"to predict, use weigh\.score_table"):
        fit(table, "y").predict(frame)


CHANGING = {  # "late" is how many milliseconds ago the test began, anew in every run of the query
    "rows": ("id % 2", "id < late", "rows at first"),
    "classes": ("id < late", "id < 1000000", "was .* at first"),
    "labels": ("if(id % 2 = 0, 'no', concat('at ', late))", "id < 9", "'at [0-9]+' now"),
}


@pytest.mark.parametrize("what", CHANGING)
def test_rows_that_differ_from_pass_to_pass_are_refused(spark, what):
    y, where, message = CHANGING[what]
    late = f"unix_millis(now()) - {time.time_ns() // 1_000_000} as late"
    frame = spark.range(1_000_000).selectExpr("id", late).where(where)
    with pytest.raises(ValueError, match=f"changed while it was read: .*{message}"):
        weigh.EvidenceNB().fit(frame.selectExpr(f"{y} as y", "id % 5 as x"), "y")


def test_blocks_whose_classes_are_not_those_found_first_are_refused(spark):
    frame = spark.range(1000).selectExpr("id % 2 as y", "id % 5 as x")
    other = spark.range(1000).selectExpr("id % 3 as c0", "id % 5 as c1")
    features = [table.feature for table in weigh.EvidenceNB().fit(frame, "y").evidence_]
    sample = label_sample(read(frame), "y")
    swapped = replace(sample, table=replace(sample.table, frame=other))
    with pytest.raises(ValueError, match="'y' has 2 now, but at first had only 0, 1"):
        engine.code_rows(swapped, features)
    for change, now in (
        (other.selectExpr("c0 div 2 as c0", "c1"), 667),
        (other.where("c0 > 5"), 0),
    ):
        rarer = replace(sample, table=replace(sample.table, frame=change))
        with pytest.raises(ValueError, match=f"class 0 was 500 at first and is {now} now"):
            engine.code_rows(rarer, features)


def test_weights_with_fractions_are_not_taken_for_a_change(spark):
    table = make().assign(w=np.random.default_rng(0).random(1500))
    assert weigh.EvidenceNB().fit(send(spark, table), "y", "w").evidence_.class_counts.sum() > 0


# ------------------------------------------------------------ scores


def visit(model, table):
    """Rows at every level and cut point, and at values that are none."""
    rows = table.head(200).copy()
    for part in (part for t in model.evidence_ for part in t.feature.parts):
        values = [*part.values, *(part.cuts or ())]
        if part.name in ("A", "a.b"):
            values += [np.nan, np.inf, -np.inf]
        rows.loc[: len(values[:150]) - 1, part.name] = values[:150]
    odd = rows.head(9).assign(text="not seen", many=None, a=99, A=np.nan)
    return pd.concat([rows, odd], ignore_index=True)


MODELS = [
    (weigh.EvidenceNB(), 2),
    (weigh.EvidenceNB(crosses=[("text", "flag")], special_values={"a": [3]}, missing="skip"), 3),
    (weigh.EvidenceNB(categorical_features=["a", "text", "flag", "many"]), 3),
    (
        weigh.EvidenceNB(
            categorical_features=["a", "text", "flag", "many"],
            max_levels={"a": 3, "text": 2, "flag": 1, "many": 150},
            crosses=[("text", "flag")],
        ),
        2,
    ),
    (weigh.AdjustedNB(norm=None, multiclass="ovr"), 3),
    (
        Incomplete(categorical_features=["a", "text", "flag", "many"], pairs=[("text", "flag")]),
        2,
    ),
    (weigh.PerplexedNB(attenuation=2.0, missing="skip"), 2),
    (weigh.PerplexedNB(attenuation=2.0, missing="skip", form="geometric"), 3),
    (weigh.RecalibratedClassifier(weigh.EvidenceNB(), method="spline"), 2),
    (weigh.RecalibratedClassifier(weigh.EvidenceNB(), method="isotonic"), 2),
]


@pytest.mark.parametrize(("model", "n_classes"), MODELS)
def test_scores_in_sql_are_those_in_python(spark, model, n_classes):
    table = make(n_classes=n_classes).drop(columns="w")
    model = model.fit(table, "y")
    rows = visit(model, table.drop(columns="y"))
    scored = weigh.score_table(model, send(spark, rows))
    plan = scored._jdf.queryExecution().toString()
    assert not any(word in plan for word in PYTHON)
    got = scored.toArrow().to_pandas()
    names = [f"probability_{name}" for name in model.classes_]
    assert abs(got[names].to_numpy() - model.predict_proba(rows)).max() < 1e-12
    assert got["prediction"].tolist() == model.predict(rows).tolist()
    heads = ["log_odds"] if n_classes == 2 else [f"total_{name}" for name in model.classes_]
    totals = model.decision_function(rows).reshape(len(rows), -1)
    assert abs(got[heads].to_numpy() - totals).max() < 1e-12


def test_margins_of_rows_on_a_cluster_are_those_of_rows_in_memory(spark):
    table = make(600)[["text", "flag", "a", "y"]]
    named = {"categorical_features": ["a", "text", "flag"], "pairs": [("text", "flag")]}
    here, there = (Incomplete(**named).fit(X, "y") for X in (table, send(spark, table)))
    for mine, other in zip(
        *(m.evidence_["text & flag"].margins for m in (here, there)), strict=True
    ):
        np.testing.assert_allclose(mine, other, atol=1e-9)
    assert there.evidence_.attenuation.k == pytest.approx(here.evidence_.attenuation.k)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_reasons_are_those_that_python_gives(spark, n_classes):
    table = make(n_classes=n_classes).drop(columns="w")
    model = weigh.EvidenceNB().fit(table, "y")
    rows = table.drop(columns="y").head(12)
    more = len(model.evidence_) + 2  # than there can be
    got = weigh.score_table(model, send(spark, rows), keep=["a"], reasons=more).toArrow()
    want = weigh.score_table(model, pa.Table.from_pandas(rows), keep=["a"], reasons=more)
    assert got.column_names == want.column_names
    assert want.column_names[-1] == f"weight_{len(model.evidence_)}"
    for k in range(1, len(model.evidence_) + 1):
        assert got[f"reason_{k}"].to_pylist() == want[f"reason_{k}"].to_pylist()
        assert got[f"weight_{k}"].to_pylist() == want[f"weight_{k}"].to_pylist()


def test_points_and_numbers_are_those_in_memory(spark):
    table = make(300).drop(columns="w")
    rows, y = table.drop(columns="y"), table["y"]
    card = weigh.Scorecard(weigh.EvidenceNB().fit(rows, y), texts={"a": "Amount"})
    amounts = np.random.default_rng(0).gamma(2.0 + rows["flag"])
    numbers = weigh.EducatedRegressor(family="gamma", pairs=0).fit(rows, amounts)
    for model in (card, numbers):
        want = weigh.score_table(model, pa.Table.from_pandas(rows), keep=["a"], reasons=3)
        got = weigh.score_table(model, send(spark, rows), keep=["a"], reasons=3).toArrow()
        assert got.column_names == [n for n in want.column_names if n not in ("low", "high")]
        for name in got.column_names:
            one, two = got[name].to_pylist(), want[name].to_pylist()
            assert one == (pytest.approx(two, rel=1e-12) if isinstance(two[0], float) else two)


def test_exposure_and_offset_are_those_in_memory(spark):
    table = make(300).drop(columns="w")
    random = np.random.default_rng(0)
    rows = table.drop(columns="y").assign(years=random.uniform(0.2, 2.0, 300))
    rows["shift"] = random.normal(0, 0.2, 300)
    counts = random.poisson(rows["years"] * (1.0 + rows["flag"]))
    model = weigh.EducatedRegressor(family="poisson", pairs=0)
    model.fit(rows.assign(n=counts), "n", exposure="years", offset="shift")
    frame = send(spark, rows)
    for given in ({}, {"exposure": 2.5}, {"exposure": 1}):
        want = weigh.score_table(model, pa.Table.from_pandas(rows), keep=[], **given)
        got = weigh.score_table(model, frame, keep=[], **given).toArrow()
        assert got["estimate"].to_pylist() == pytest.approx(want["estimate"].to_pylist(), rel=1e-12)
    one = model.predict(rows.head(3), exposure=1, offset="shift")
    odd = send(spark, rows.head(3).assign(years=[0.0, -1.0, None]))
    told = weigh.score_table(model, odd, keep=[]).toArrow()["estimate"].to_pylist()
    assert told == [None, None, pytest.approx(one[2])]
    with pytest.raises(ValueError, match="'years'"):
        weigh.score_table(model, frame.drop("years"))
    with pytest.raises(ParameterError, match="exposure"):
        weigh.score_table(model, frame, exposure=np.ones(300))
    for odd in (0, -1.0, float("inf"), float("nan")):
        with pytest.raises(ParameterError, match="finite number above 0"):
            weigh.score_table(model, frame, exposure=odd)
    with pytest.raises(ValueError, match=r"'years', the exposure, .*string"):
        weigh.score_table(model, send(spark, rows.assign(years="long")))
    amounts = weigh.EducatedRegressor(pairs=0).fit(rows[["flag"]], counts)
    with pytest.raises(ParameterError, match="multiplies the mean"):
        weigh.score_table(amounts, frame, exposure="years")


def test_scoring_says_what_it_cannot_do(spark):
    table = make(100).drop(columns="w")
    frame, model = send(spark, table), weigh.EvidenceNB().fit(table, "y")
    with pytest.raises(ValueError, match="'flag'"):
        weigh.score_table(model, frame.drop("flag"))
    with pytest.raises(ValueError, match=r"'flag' held .*False"):
        weigh.score_table(model, frame.withColumn("flag", frame.text))
    with pytest.raises(ValueError, match=r"'A' .*string"):
        weigh.score_table(model, send(spark, table.assign(A="high")))
    with pytest.raises(ValueError, match="rename yours"):
        weigh.score_table(model, frame.withColumnRenamed("y", "prediction"))
    with pytest.raises(ValueError, match="Spark writes its own files"):
        weigh.score_table(model, frame, "scores.parquet")
    vote = weigh.BoostedNB(combine="vote").fit(table, "y")
    with pytest.raises(ValueError, match="combine='evidence'"):
        weigh.score_table(vote, frame)


# ------------------------------------------------------------ an executor dies


def test_a_fit_survives_an_executor_that_is_killed(spark, monkeypatch):
    table, looking, fitted = make(400).drop(columns="w"), threading.Event(), []
    slow = send(spark, table, 6).where("java_method('java.lang.Thread', 'sleep', 3L) = 'null'")
    look = surveys._look
    signalled = lambda *given: (looking.set(), look(*given))  # noqa: E731
    monkeypatch.setattr(surveys, "_look", signalled)
    thread = threading.Thread(target=lambda: fitted.append(weigh.EvidenceNB().fit(slow, "y")))
    before = cluster.find_executors()
    assert len(before) == 2
    thread.start()
    assert looking.wait(120)
    wait_for(lambda: count_tasks(spark) >= 1)
    os.kill(before[0], signal.SIGKILL)
    wait_for(lambda: before[0] not in cluster.find_executors())
    assert thread.is_alive()
    thread.join()
    assert_same(weigh.EvidenceNB().fit(table, "y").evidence_, fitted[0].evidence_)


def count_tasks(spark):
    """How many tasks run now."""
    tracker = spark.sparkContext.statusTracker()
    stages = map(tracker.getStageInfo, tracker.getActiveStageIds())
    return sum(stage.numActiveTasks for stage in stages if stage is not None)


def wait_for(happened, seconds=60.0):
    end = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < end, "nothing happened"
        time.sleep(0.05)


# ------------------------------------------------------------ Spark Connect

CONNECTED = """
import numpy as np
import pyarrow as pa
from pyspark.sql import SparkSession

import weigh

late = np.random.default_rng(0).random(600) < 0.4
rows = pa.table({"town": np.where(late, "a", "b")[::-1], "x": np.arange(600) % 7 + late, "y": late})
spark = SparkSession.builder.remote("local[1]").config("spark.ui.enabled", "false").getOrCreate()
frame = spark.createDataFrame(rows)
here, there = (weigh.EvidenceNB().fit(table, "y") for table in (rows, frame))
for one, two in zip(here.evidence_, there.evidence_, strict=True):
    assert np.array_equal(one.counts, two.counts)
    assert np.array_equal(one.by_class, two.by_class)
scores = weigh.score_table(here, frame).toArrow()["log_odds"]
assert abs(scores.to_numpy() - here.decision_function(rows)).max() < 1e-12
spark.stop()
"""


def test_a_dataframe_of_spark_connect_is_fitted_and_scored(tmp_path, require):
    require(cluster.lacking())
    pytest.importorskip("grpc", reason="it needs pyspark[connect]")
    paths = [str(Path(weigh.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    names = {"PYTHONPATH": os.pathsep.join(paths), "PYSPARK_PYTHON": sys.executable}
    local = {"SPARK_LOCAL_IP": "127.0.0.1", "SPARK_LOCAL_DIRS": str(tmp_path)}
    given = {name: value for name, value in os.environ.items() if not name.startswith("SPARK_")}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", CONNECTED],
        env=given | names | local,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-2000:]


# ---------------------------------------------------------------- the exported query, at home

SPARK = {"numbers": "DOUBLE", "text": "STRING", "booleans": "BOOLEAN"}


def ask_spark(spark, kinds=SPARK):
    """Run a query on rows, in a view of their own."""

    def run(query, formula, rows):
        columns = ", ".join(f"`{c.name}` {kinds[c.kind]}" for c in formula.inputs)
        cells = [tuple(_cell(row[c.name], c.kind) for c in formula.inputs) for row in rows]
        spark.createDataFrame(cells, columns).coalesce(1).createOrReplaceTempView("rows")
        return [row.asDict() for row in spark.sql(query).collect()]

    return run


def _cell(value, kind):
    return value if value is None or kind in ("text", "booleans") else float(value)


@pytest.mark.parametrize("name", LEARNERS)
def test_the_exported_query_says_in_spark_what_the_model_says(spark, name):
    reasons = 0 if name in MANY else 2 if name == "evidence" else 1  # Spark writes each step out
    assert_sql(fitted(name), "spark", ask_spark(spark), reasons=reasons)


def test_text_is_compared_in_bytes_whatever_the_collation_of_a_spark_column(spark):
    run = ask_spark(spark, {"text": "STRING COLLATE UTF8_LCASE"})
    query = weigh.export(cased_model(), "sql", dialect="spark")
    rows = [{"c": c} for c in [*CASES, "B"]]
    found = run(query, Formula.of(cased_model()), rows)
    assert_cases([row["log_odds"] for row in found])


def test_no_variable_of_spark_takes_the_place_of_a_level(spark):
    words = ["${x}", "\\${x}", "\\u0024{x}", "${spark.app.name}", "a'b\\", "年😀"]
    model = weigh.EvidenceNB().fit([{"a": word} for word in words] * 2, [0, 1, 1, 0, 1, 0] * 2)
    spark.conf.set("x", "another level")
    try:
        assert_sql(model, "spark", ask_spark(spark), reasons=1)
    finally:
        spark.conf.unset("x")
