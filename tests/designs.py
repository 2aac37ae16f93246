"""Losses over plain matrices: a design matrix of their values, and the same loss over some rows."""

from dataclasses import replace

import numpy as np

from weigh.adjusted.design import Design, DesignMatrix
from weigh.engine import CodedRows


def code(matrices, labels, weight=None, offset=0.0):
    """Design matrix of one plain matrix, or of one per class: a distinct value is a level."""
    codes, tables = [], []
    for columns in zip(*(Q.T for Q in matrices), strict=True):
        table, levels = np.unique(np.column_stack(columns), axis=0, return_inverse=True)
        tables.append(table)
        codes.append(levels.ravel())
    rows = CodedRows(codes, np.asarray(labels).astype(np.uint8), weight)
    design = Design(tuple(tables), np.atleast_1d(offset))
    return DesignMatrix(rows, max(len(matrices), 2), design, tuple(range(len(codes))))


def take(problem, rows):
    """The loss over some rows, selected by number or mask."""
    matrix = problem.matrix
    taken = replace(matrix, rows=matrix.rows.take(rows), known_class_weights=None)
    return replace(problem, matrix=taken)
