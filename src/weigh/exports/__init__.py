"""A model as something that runs elsewhere; every export renders one neutral description.

formula   the model as data: columns, tests, weights, and what a sum means
curve     a recalibration as pieces
python    one function without dependencies
sql       one query, in the dialect of a database
onnx      a graph, text and doubles in
checks    rows that visit everything, and what Python says of them
targets   all of them by name: `export`
"""

from weigh.exports.formula import Formula
from weigh.exports.targets import TARGETS, export

__all__ = ["TARGETS", "Formula", "export"]
