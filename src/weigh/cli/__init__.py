"""The command line: data to stdout, words to stderr, heavy imports only where they are used.

commands   fit, show, merge, demo
scoring    score, explain
evaluating  evaluate, drift, compare, split
pages      report, calculator, serve
exporting  export, check
scorecards  scorecard, levers, letter
smaller    simplify, price
updating   recalibrate, set-prior, update
options    what the options mean
task       classes, or a number
holdout    rows that a fit holds out
data       tables on their way between files and models
messages   what is said to people
"""

from weigh.cli import evaluating, exporting, pages, scorecards, scoring, smaller, updating
from weigh.cli.commands import main

__all__ = [
    "evaluating",
    "exporting",
    "main",
    "pages",
    "scorecards",
    "scoring",
    "smaller",
    "updating",
]
