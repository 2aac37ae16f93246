"""Checkpoints: a fit that was killed goes on at its last pass, and ends in the same model."""

import json
import os
import signal
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from weigh.cli import main
from weigh.engine import CodedRows, Spelling, Sums, checkpoint

STOPPED_AT = 9
DIES = f"""
import os, signal
from weigh import engine
from weigh.cli import main

passes, sum_all = [], engine.CodedRows._sum

def sum_until(self, statistic):
    passes.append(1)
    if len(passes) == {STOPPED_AT}:
        os.kill(os.getpid(), signal.SIGKILL)
    return sum_all(self, statistic)

engine.CodedRows._sum = sum_until
main()
"""
PLAIN = Spelling(list, tuple)


@pytest.fixture
def table(tmp_path):
    """Rows of text and numbers, some missing, in a file."""
    random = np.random.default_rng(0)
    y = random.integers(0, 3, 600)
    frame = pd.DataFrame(
        {
            "a": np.where(random.random(600) < 0.4, y, random.integers(0, 4, 600)).astype(str),
            "b": random.choice([*"uvw"], 600),
            "x": random.normal(size=600) + y,
            "y": np.array(["no", "yes", "maybe"])[y],
        }
    )
    frame.loc[::7, "b"] = None
    frame.to_csv(tmp_path / "rows.csv", index=False)
    return tmp_path / "rows.csv"


def words(table, learner, model, *more):
    return [
        *("fit", str(table), "--target", "y", "--learner", learner, "-o", str(model)),
        *map(str, more),
    ]


def run(*words):
    result = CliRunner().invoke(main, [*words])
    assert result.exit_code == 0, result.output
    return result.stderr


def interrupt(monkeypatch, command, at):
    """Run a command that is interrupted at a pass."""
    passes, sum_all = [], CodedRows._sum

    def sum_until(self, statistic):
        passes.append(1)
        if len(passes) == at:
            raise KeyboardInterrupt
        return sum_all(self, statistic)

    with monkeypatch.context() as patched:
        patched.setattr(CodedRows, "_sum", sum_until)
        assert CliRunner().invoke(main, command).exit_code != 0


def kill(command):
    """Run a command in a process that is killed at a pass."""
    dead = subprocess.run([sys.executable, "-c", DIES, *command], capture_output=True, check=False)
    assert dead.returncode == -signal.SIGKILL


@pytest.mark.parametrize(
    ("learner", "own", "killed"),
    [  # a process dies in the same way whatever it computes
        ("adjusted", (), True),
        ("adjusted", ("--set", "multiclass=softmax", "--cross", "a", "b"), False),
        ("boosted", (), False),
        ("educated", ("--set", "pairs=1", "--set", "random_state=0"), False),
    ],
)
def test_a_stopped_fit_goes_on_at_its_last_pass_and_ends_in_the_same_model(
    tmp_path, table, monkeypatch, learner, own, killed
):
    whole, model, folder = (tmp_path / name for name in ("whole.json", "model.json", "kept"))
    run(*words(table, learner, whole, *own))
    resumed = words(table, learner, model, *own, "--checkpoint", folder)
    if killed:
        kill(resumed)
    else:
        interrupt(monkeypatch, resumed, STOPPED_AT)
    assert not model.exists()
    assert len([*folder.iterdir()]) >= STOPPED_AT  # with the counts that came before
    said = run(*resumed)
    recalled = int(said.split(" of ")[0].split()[-1])
    assert recalled >= STOPPED_AT
    assert json.loads(model.read_text()) == json.loads(whole.read_text())
    assert [*folder.iterdir()] == []  # it has ended


def test_an_interrupted_fit_leaves_no_model_and_no_half_written_file(tmp_path, table, monkeypatch):
    folder, model = tmp_path / "kept", tmp_path / "model.json"
    interrupt(monkeypatch, words(table, "adjusted", model, "--checkpoint", folder), at=4)
    assert not model.exists()
    assert not [name for name in os.listdir(folder) if not name.endswith(".npz")]
    assert not [name for name in os.listdir(tmp_path) if name.startswith(".")]


def test_other_parameters_or_other_data_are_another_fit(tmp_path, table, monkeypatch):
    folder, model = tmp_path / "kept", tmp_path / "model.json"
    monkeypatch.setattr("weigh.engine.checkpoints.Checkpoint.clear", lambda self: None)
    command = words(table, "adjusted", model, "--checkpoint", folder)
    assert "already" not in run(*command)
    first = model.read_text()
    assert "already" in run(*command)
    assert model.read_text() == first
    assert "already" not in run(*command, "--smoothing", "2")
    assert "already" not in run(*command, "--set", "random_state=1")
    rows = table.read_text().splitlines()
    table.write_text("\n".join([*rows, rows[1]]) + "\n")
    assert "already" not in run(*command)
    run(*words(table, "adjusted", tmp_path / "fresh.json"))
    assert model.read_text() == (tmp_path / "fresh.json").read_text()


def test_a_damaged_file_is_a_pass_that_is_taken_again(tmp_path):
    rows = CodedRows([], np.arange(5))
    for _ in range(2):
        with checkpoint(tmp_path, "it", PLAIN) as kept:
            assert rows.sum(count).arrays[0] == 10
        (path,) = tmp_path.iterdir()
        path.write_bytes(path.read_bytes()[:50])
    assert (kept.asked, kept.recalled, rows.n_passes) == (1, 0, 2)


def test_the_same_question_at_another_place_is_asked_again(tmp_path):
    rows = CodedRows([], np.arange(5))
    with checkpoint(tmp_path, "it", PLAIN) as first:
        rows.sum(count)
        rows.sum(count)
    with checkpoint(tmp_path, "it", PLAIN) as again:
        rows.sum(count)
    with checkpoint(tmp_path, "another", PLAIN) as other:
        rows.sum(count)
    assert [kept.recalled for kept in (first, again, other)] == [0, 1, 0]
    assert rows.n_passes == 4  # those that were recalled too: a fit says the same of itself


def test_standard_input_has_no_name_to_go_on_by(tmp_path, table):
    command = ["fit", "-", "--target", "y", "-o", str(tmp_path / "m.json")]
    command += ["--checkpoint", str(tmp_path / "kept")]
    result = CliRunner().invoke(main, command, input=table.read_text())
    assert result.exit_code == 1
    assert "--checkpoint" in result.stderr


def count(block):
    return Sums((np.asarray(block.labels.sum()),))
