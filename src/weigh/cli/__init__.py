"""The command line: data to stdout, messages to stderr, heavy imports inside the commands.

fitting     fit, compare, split, demo
scoring     show, score, explain
evaluating  evaluate, challenge, drift
changing    simplify, price, recalibrate, set-prior, update, merge
editing     edit
scorecards  screen, scorecard
reasons     levers, letter, and texts of reason codes
sharing     calculator, report, serve, export, check
group       the group of commands: help by task, errors as one line; messages and hints
options     options and arguments that several commands share
columns     options for the levels of columns, and notes on what columns look like
training    the decisions of fit: classes or a number, hold-out rows, checkpoints
data        reading of tables and models from files
"""

from weigh.cli import changing, editing, evaluating, fitting, reasons, scorecards, scoring, sharing
from weigh.cli.group import main
