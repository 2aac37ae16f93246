"""The command line: data to stdout, words to stderr, heavy imports only where they are used.

commands   fit, show, merge, demo
rows       score, explain
judge      evaluate, compare
people     report, calculator, serve
share      export, check
options    what the options mean
data       tables on their way between files and models
words      what is said to people
"""

from weigh.cli import judge, people, rows, share
from weigh.cli.commands import main

__all__ = ["judge", "main", "people", "rows", "share"]
