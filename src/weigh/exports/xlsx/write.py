"""The workbook: a case to fill in, the evidence, and the lists that formulas search."""

from __future__ import annotations

import io
from typing import Any

from weigh.bins import AND
from weigh.exports.targets import refuse_inexact, refuse_mixed, refuse_text
from weigh.exports.xlsx.card import write_counts
from weigh.exports.xlsx.case import SHEET as CASE
from weigh.exports.xlsx.case import Case
from weigh.exports.xlsx.cells import SHEET as LOOKUP
from weigh.exports.xlsx.cells import (
    Block,
    Lookup,
    Words,
    import_openpyxl,
    is_no_cell,
    put,
    words_of,
)
from weigh.formula import Formula, Term

NONE = "no evidence, or not seen in training"


def write(formula: Formula) -> bytes:
    """The bytes of the file."""
    refuse_mixed(formula, "a workbook")
    refuse_inexact(formula, "a workbook")
    refuse_text(formula, "a workbook", is_no_cell)
    book = import_openpyxl().Workbook()
    book.active.title = CASE
    words = words_of(formula)
    evidence, lists = book.create_sheet(words.table), book.create_sheet(LOOKUP)
    blocks = _write_evidence(formula, evidence, words)
    Case(book, formula, Lookup(lists), blocks).fill()
    for sheet in (book[CASE], evidence):
        for letter, width in (("A", 34), ("B", 34), ("C", 14), ("D", 16), ("E", 18)):
            sheet.column_dimensions[letter].width = width
    if formula.costs is not None:
        write_counts(evidence, blocks, formula.costs)
    evidence.freeze_panes = "A2"
    book[CASE].freeze_panes = "A5"
    stream = io.BytesIO()
    book.save(stream)
    return stream.getvalue()


def _write_evidence(formula: Formula, sheet: Any, words: Words) -> list[Block]:
    """One line for every level; each feature ends with what is no level."""
    bold = import_openpyxl().styles.Font(bold=True)
    many = len(formula.prior) > 1
    heads = [f"Weight for {name}" for name in formula.class_names] if many else [words.weight]
    for column, head in enumerate(("Feature", "Level", *heads), 1):
        put(sheet, 1, column, head).font = bold
    put(sheet, 2, 1, words.prior)
    for k, prior in enumerate(formula.prior):
        put(sheet, 2, 3 + k, prior)
    row, blocks = 3, []
    for term in formula.terms:
        blocks.append(Block(words.table, 2, row, len(term.places) + 1))
        row = _write_term(term, len(formula.prior), sheet, row)
    return blocks


def _write_term(term: Term, n_totals: int, sheet: Any, row: int) -> int:
    for level, weights in zip(_labels(term), (*term.weights, (0.0,) * n_totals), strict=True):
        put(sheet, row, 1, term.name)
        put(sheet, row, 2, level)
        for k, weight in enumerate(weights):
            put(sheet, row, 3 + k, weight)
        row += 1
    return row


def _labels(term: Term) -> list[str]:
    named = [zip(term.columns, place, strict=True) for place in term.places]
    return [*(AND.join(column.labels[place] for column, place in pair) for pair in named), NONE]
