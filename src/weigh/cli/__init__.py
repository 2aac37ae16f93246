"""The command line: data to stdout, messages to stderr, heavy imports inside the commands.

commands   fit, show, demo
scoring    score, explain
editing    edit
evaluating  evaluate, challenge
monitoring  drift
comparing  compare, split
pages      report, calculator, serve
exporting  export, check
scorecards  scorecard
letters    levers, letter, and texts of reason codes
screening  screen
changing   simplify, price, recalibrate, set-prior, update, merge
help       the group of commands: help by task, errors as one line
options    options and arguments that several commands share
classing   options for the levels of columns: groups, bins, special codes
training   the decisions of fit: classes or a number, hold-out rows, checkpoints
data       reading of tables and models from files
advice     notes on columns that may not be what they were fitted as
messages   messages, hints and errors on standard error
"""

from weigh.cli import (
    changing,
    comparing,
    editing,
    evaluating,
    exporting,
    monitoring,
    pages,
    scorecards,
    scoring,
    screening,
)
from weigh.cli.commands import main

__all__ = [
    "changing",
    "comparing",
    "editing",
    "evaluating",
    "exporting",
    "main",
    "monitoring",
    "pages",
    "scorecards",
    "scoring",
    "screening",
]
