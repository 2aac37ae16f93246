"""Numbers that look like codes: -9, 99, 998."""

import warnings

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import weigh
from weigh.base.columns import find_codes
from weigh.cli import main
from weigh.errors import ParameterWarning

RNG = np.random.default_rng(3)
AMOUNTS = RNG.lognormal(8, 0.5, 500).round()
AGES = np.clip(RNG.normal(40, 12, 500).round(), 18, 90)
FEW = RNG.integers(0, 18, 500)
Y = np.where(RNG.random(500) < 0.4, "bad", "good")


def with_codes(values, *codes, rows=12):
    numbers = np.array(values, dtype=float)
    for k, code in enumerate(codes):
        numbers[k * rows : (k + 1) * rows] = code
    return numbers


@pytest.mark.parametrize(
    ("values", "codes"),
    [
        (AMOUNTS, (-9, -8, -7)),
        (AMOUNTS, (-999,)),
        (AMOUNTS, (-1,)),
        (AMOUNTS, (999999,)),
        (FEW, (96, 98)),
        (FEW, (-9, 99)),
        (AGES, (99,)),
        (AGES, (999,)),
        (FEW % 2, (9,)),
        (RNG.normal(size=500), (-99, 99)),
        (RNG.random(500), (-1,)),
        (10 * FEW, (999,)),
    ],
)
def test_frequent_numbers_outside_the_range_of_the_rest_look_like_codes(values, codes):
    assert find_codes(with_codes(values, *codes)) == tuple(sorted(codes))
    assert find_codes(with_codes(values, *codes), known=codes) == ()


@pytest.mark.parametrize(
    "values",
    [
        AMOUNTS,
        AGES,
        FEW,
        RNG.normal(size=500),
        RNG.normal(size=500).round(),
        RNG.integers(-1, 2, 500),  # three answers
        RNG.integers(1, 10, 500),
        RNG.choice([3, 4, 5, 6, 8], 500),  # cylinders
        RNG.choice([9, 19, 29, 99], 500),  # prices
        RNG.choice([199, 299, 999], 500),
        RNG.choice([1, 2, 3, 4, 5, 7, 8, 9], 500),  # categories with numbers for names
        np.arange(500) % 100,  # up to 99
        RNG.integers(-12, 30, 500),  # degrees
        with_codes(AMOUNTS, 999999, rows=2),  # a rare amount
        RNG.choice([9, 19, 29, 49, 99], 500),  # prices
        RNG.choice(np.arange(99, 1000, 100), 500),
        RNG.choice([0, 99, 199, 499, 999], 500),
        np.full(50, 9.0),
        np.array([0.0, 9.0] * 50),
        np.full(9, np.nan),
        np.array([]),
    ],
)
def test_ordinary_numbers_do_not_look_like_codes(values):
    assert find_codes(np.array(values, dtype=float)) == ()


@pytest.fixture(scope="module")
def loans():
    return pd.DataFrame({"income": with_codes(AMOUNTS, -9, -8), "age": AGES, "class": Y})


@pytest.mark.parametrize(
    "call",
    [
        lambda rows, **more: weigh.EvidenceNB(**more).fit(rows, "class"),
        lambda rows, **more: weigh.EducatedNB(pairs=0, **more).fit(rows, "class"),
        lambda rows, **more: weigh.screen(rows, "class", **more),
        lambda rows, **more: weigh.Scorecard.from_table(rows, "class", adverse="bad", **more),
    ],
)
def test_fit_screen_and_scorecard_warn_once_for_each_column_with_codes(loans, call):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        call(loans)
    (warning,) = [found.message for found in told]
    assert isinstance(warning, ParameterWarning)
    assert warning.parameter == "special_values"
    assert "'income': [-9, -8]" in str(warning)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        call(loans, special_values={"income": [-9, -8]})


@pytest.mark.parametrize(
    "words", [("fit", "-o", "m.json"), ("screen",), ("scorecard", "--adverse", "bad", "-o", "c")]
)
def test_commands_name_the_option_and_take_what_they_name(loans, tmp_path, words):
    loans.to_csv(tmp_path / "loans.csv", index=False)
    command, *options = [tmp_path / w if w in ("m.json", "c") else w for w in words]
    asked = [command, tmp_path / "loans.csv", "--target", "class", *options]
    done = CliRunner().invoke(main, [*map(str, asked)])
    assert done.exit_code == 0, done.output
    assert done.stderr.count("--special-values income:-9,-8") == 1
    done = CliRunner().invoke(main, [*map(str, asked), "--special-values", "income:-9,-8"])
    assert done.exit_code == 0, done.output
    assert "--special-values" not in done.stderr


@pytest.mark.parametrize("odd", ["income:nine", "", "-9,", "income"])
def test_odd_codes_are_refused_by_the_name_of_the_option(loans, tmp_path, odd):
    loans.to_csv(tmp_path / "loans.csv", index=False)
    asked = ["screen", tmp_path / "loans.csv", "--target", "class", "--special-values", odd]
    done = CliRunner().invoke(main, [*map(str, asked)])
    assert done.exit_code == 2
    assert "--special-values" in done.output
