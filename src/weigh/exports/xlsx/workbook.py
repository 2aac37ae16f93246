"""The workbook: a case to fill in, the evidence, and the lists that formulas search."""

from __future__ import annotations

import io
from typing import Any

from weigh.exports.targets import refuse_inexact, refuse_mixed, refuse_text
from weigh.exports.xlsx.case import SHEET as CASE
from weigh.exports.xlsx.case import CaseSheet
from weigh.exports.xlsx.cells import SHEET as LOOKUP
from weigh.exports.xlsx.cells import (
    CellRange,
    Lookup,
    SheetWords,
    address,
    is_no_cell,
    openpyxl,
    put,
    put_formula,
    words_of,
)
from weigh.formula import Costs, Formula, Term

HEADS = ("Rows", "Share", "Bads", "Bad rate", "WoE", "IV")
COUNTS = 4
"""The first column of counts, after those of feature, level and points."""

WIDTHS = {"C": 9, "D": 10, "E": 9, "F": 10, "G": 9, "H": 9, "I": 9}


def write_counts(sheet: Any, blocks: list[CellRange], costs: Costs) -> None:
    """Write the counts beside the points, and formulas for rates, WoE and IV beside the counts."""
    for column, head in enumerate(HEADS, COUNTS):
        put(sheet, 1, column, head).font = openpyxl.styles.Font(bold=True)
    for block, counts in zip(blocks, costs.counts, strict=True):
        for place, (rows, bads) in enumerate(counts):
            _write_level(sheet, block, block.first + place, (rows, bads), costs.favours_bad)
    for letter, width in WIDTHS.items():
        sheet.column_dimensions[letter].width = width
    sheet.page_setup.orientation = "landscape"
    sheet.print_title_rows = "1:1"


def _write_level(
    sheet: Any, block: CellRange, row: int, counts: tuple[float, float], turned: bool
) -> None:
    """Write the counts and formulas of one level.

    The last row of a block stands for no level and has no counts.
    """
    last = block.first + block.size - 2
    rows, bads = (f"{address(row, COUNTS + k)}" for k in (0, 2))
    all_rows, all_bads = (
        f"SUM({address(block.first, COUNTS + k)}:{address(last, COUNTS + k)})" for k in (0, 2)
    )
    half = f"IF(OR({bads}=0,{bads}={rows}),0.5,0)"  # if a level has no bads or no goods
    good = f"({rows}-{bads}+{half})/MAX({all_rows}-{all_bads},0.5)"
    bad = f"({bads}+{half})/MAX({all_bads},0.5)"
    log = f"LN(({bad})/({good}))" if turned else f"LN(({good})/({bad}))"
    woe = address(row, COUNTS + 4)
    gap = f"({bad}-{good})" if turned else f"({good}-{bad})"
    sheet.cell(row, COUNTS, counts[0]).number_format = "#,##0"
    put_formula(sheet, row, COUNTS + 1, f"{rows}/MAX({all_rows},0.5)", "0.0%")
    sheet.cell(row, COUNTS + 2, counts[1]).number_format = "#,##0"
    put_formula(sheet, row, COUNTS + 3, f'IF({rows}=0,"",{bads}/{rows})', "0.0%")
    put_formula(sheet, row, COUNTS + 4, f"IF({rows}=0,0,{log})", "0.00")
    put_formula(sheet, row, COUNTS + 5, f"{gap}*{woe}", "0.000")


NONE = "not known, or not seen in training"


def write(formula: Formula) -> bytes:
    """The workbook as the bytes of an xlsx file."""
    refuse_mixed(formula, "a workbook")
    refuse_inexact(formula, "a workbook")
    refuse_text(formula, "a workbook", is_no_cell)
    book = openpyxl.Workbook()
    book.active.title = CASE
    words = words_of(formula)
    evidence, lists = book.create_sheet(words.table), book.create_sheet(LOOKUP)
    blocks = _write_evidence(formula, evidence, words)
    CaseSheet(book, formula, Lookup(lists, formula.inputs), blocks).fill()
    for sheet in (book[CASE], evidence):
        for letter, width in (("A", 34), ("B", 34), ("C", 14), ("D", 16), ("E", 18)):
            sheet.column_dimensions[letter].width = width
        sheet.page_setup.fitToHeight = 0  # as many pages as needed, all columns on each
        sheet.sheet_properties.pageSetUpPr.fitToPage = True
    if formula.costs is not None:
        write_counts(evidence, blocks, formula.costs)
    evidence.freeze_panes = "A2"
    book[CASE].freeze_panes = "A5"
    stream = io.BytesIO()
    book.save(stream)
    return stream.getvalue()


def _write_evidence(formula: Formula, sheet: Any, words: SheetWords) -> list[CellRange]:
    """Write one row per level; the last row of each feature stands for no level."""
    bold = openpyxl.styles.Font(bold=True)
    many = len(formula.prior) > 1
    heads = [f"Weight for {name}" for name in formula.class_names] if many else [words.weight]
    for column, head in enumerate(("Feature", "Level", *heads), 1):
        put(sheet, 1, column, head).font = bold
    put(sheet, 2, 1, words.prior)
    for k, prior in enumerate(formula.prior):
        put(sheet, 2, 3 + k, prior)
    row, blocks = 3, []
    for term in formula.terms:
        blocks.append(CellRange(words.table, 2, row, len(term.places) + 1))
        row = _write_term(term, len(formula.prior), sheet, row)
    return blocks


def _write_term(term: Term, n_totals: int, sheet: Any, row: int) -> int:
    for level, weights in zip(
        (*term.feature.labels, NONE), (*term.weights, (0.0,) * n_totals), strict=True
    ):
        put(sheet, row, 1, term.name)
        put(sheet, row, 2, level)
        for k, weight in enumerate(weights):
            put(sheet, row, 3 + k, weight)
        row += 1
    return row
