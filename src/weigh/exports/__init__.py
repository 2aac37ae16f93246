"""A model as something that runs elsewhere; every export renders its `Formula`.

python    one function without dependencies
sql       one query, in the dialect of a database
onnx      a graph, text and doubles in
checks    rows that visit everything, and what Python says of them
targets   all of them by name: `export`
"""

from weigh.exports.targets import TARGETS, export
from weigh.formula import Formula

__all__ = ["TARGETS", "Formula", "export"]
