"""Exports of a model to other systems; every export renders its `Formula`.

python    one function without dependencies
sql       one query, in the dialect of a database
onnx      a graph, text and doubles in
pmml      a scorecard with reason codes, or a regression
xlsx      a workbook to fill in
checks    test rows for every level and boundary, and Python's results for them
run       each of these files, run on rows
selftest  a file beside its model: `weigh check`
targets   all of them by name: `export`
"""

from weigh.exports.targets import TARGETS, export
from weigh.formula import Formula

__all__ = ["TARGETS", "Formula", "export"]
