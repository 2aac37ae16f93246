"""The command line: data to stdout, words to stderr, heavy imports only where they are used.

commands   fit, show, merge, demo
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
changing   simplify, price, recalibrate, set-prior, update
help       the group of commands: help by task, errors as one line
options    what the options mean
classing   options that say which levels columns have
training   what fit decides: classes or a number, hold-out rows, checkpoints
data       tables on their way between files and models
advice     what columns look like that were fitted as something else
messages   what is said to people
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
