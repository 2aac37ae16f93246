"""The command line inside the process of the tests."""

from click.testing import CliRunner
from pyarrow import csv

import weigh
from weigh import datasets
from weigh.cli import main


def run(*words, **more):
    """What a command says and ends with."""
    return CliRunner().invoke(main, [*map(str, words)], **more)


def fit_titanic(data, out, learner, *options):
    """The model that the command line fits to the people of the Titanic, written to `data`."""
    csv.write_csv(datasets.titanic(), data)
    words = ("fit", data, "--target", "Survived", "--learner", learner, "-o", out)
    result = run(*words, *options)
    assert result.exit_code == 0, result.output
    return weigh.load(out)
