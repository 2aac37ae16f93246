"""A card names the levels of few rows that have many points."""

import warnings

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import weigh
from weigh.cli import main


def draw_rows(n_blank):
    """Four hundred rows, of which the first `n_blank` lack a colour and are all good."""
    rng = np.random.default_rng(0)
    is_bad = rng.random(400) < 0.4
    colour = np.where(rng.random(400) < np.where(is_bad, 0.9, 0.1), "red", "blue").astype(object)
    colour[:n_blank], is_bad[:n_blank] = None, False
    return pd.DataFrame({"colour": colour, "status": np.where(is_bad, "bad", "good")})


def test_levels_of_few_rows_with_many_points_are_named_once():
    with pytest.warns(UserWarning, match=r"colour = missing \(5 rows, \+\d+\)") as told:
        weigh.Scorecard.from_table(draw_rows(5), "status", adverse="bad")
    assert len(told) == 1
    assert "1 level with fewer than 30 rows" in str(told[0].message)
    model = weigh.EvidenceNB().fit(draw_rows(5), "status")
    with pytest.warns(UserWarning, match=r"Scorecard\.edit"):
        weigh.Scorecard(model)


def test_levels_of_enough_rows_or_few_points_and_loaded_cards_are_not(tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        weigh.Scorecard.from_table(draw_rows(40), "status", adverse="bad")
    with pytest.warns(UserWarning, match="fewer than 30 rows"):
        card = weigh.Scorecard(weigh.EvidenceNB().fit(draw_rows(5), "status"))
    weigh.save(card, tmp_path / "card.json")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert weigh.load(tmp_path / "card.json").points == card.points


def test_the_command_names_them_and_the_command_that_edits(tmp_path):
    draw_rows(5).to_csv(tmp_path / "rows.csv", index=False)
    asked = [str(tmp_path / "rows.csv"), "--target", "status", "--adverse", "bad"]
    out = CliRunner().invoke(main, ["scorecard", *asked, "-o", str(tmp_path / "card.json")])
    assert out.exit_code == 0
    assert out.stderr.count("colour = missing (5 rows") == 1
    assert "weigh edit" in out.stderr
