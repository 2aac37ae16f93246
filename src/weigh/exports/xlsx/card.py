"""The sheet of a scorecard as the trade prints it: shares, bad rates, WoE and IV are formulas."""

from __future__ import annotations

from typing import Any

from weigh.exports.xlsx.cells import Block, address, import_openpyxl, put, put_formula
from weigh.formula import Costs

HEADS = ("Rows", "Share", "Bads", "Bad rate", "WoE", "IV")
FIRST = 4
"""The column of the rows; those of feature, level and points come before it."""

WIDTHS = {"C": 9, "D": 10, "E": 9, "F": 10, "G": 9, "H": 9, "I": 9}


def write_counts(sheet: Any, blocks: list[Block], costs: Costs) -> None:
    """Put the counts beside the points, and formulas beside the counts."""
    for column, head in enumerate(HEADS, FIRST):
        put(sheet, 1, column, head).font = import_openpyxl().styles.Font(bold=True)
    for block, counts in zip(blocks, costs.counts, strict=True):
        for place, (rows, bads) in enumerate(counts):
            _write_level(sheet, block, block.first + place, (rows, bads), costs.favours_bad)
    for letter, width in WIDTHS.items():
        sheet.column_dimensions[letter].width = width
    sheet.page_setup.orientation, sheet.page_setup.fitToHeight = "landscape", 0
    sheet.sheet_properties.pageSetUpPr.fitToPage = True
    sheet.print_title_rows = "1:1"


def _write_level(
    sheet: Any, block: Block, row: int, counts: tuple[float, float], turned: bool
) -> None:
    """One level; the last of a block is no level, and has no counts."""
    last = block.first + block.size - 2
    rows, bads = (f"{address(row, FIRST + k)}" for k in (0, 2))
    all_rows, all_bads = (
        f"SUM({address(block.first, FIRST + k)}:{address(last, FIRST + k)})" for k in (0, 2)
    )
    half = f"IF(OR({bads}=0,{bads}={rows}),0.5,0)"  # of a level with an empty cell
    good = f"({rows}-{bads}+{half})/MAX({all_rows}-{all_bads},0.5)"
    bad = f"({bads}+{half})/MAX({all_bads},0.5)"
    log = f"LN(({bad})/({good}))" if turned else f"LN(({good})/({bad}))"
    woe = address(row, FIRST + 4)
    gap = f"({bad}-{good})" if turned else f"({good}-{bad})"
    sheet.cell(row, FIRST, counts[0]).number_format = "#,##0"
    put_formula(sheet, row, FIRST + 1, f"{rows}/MAX({all_rows},0.5)", "0.0%")
    sheet.cell(row, FIRST + 2, counts[1]).number_format = "#,##0"
    put_formula(sheet, row, FIRST + 3, f'IF({rows}=0,"",{bads}/{rows})', "0.0%")
    put_formula(sheet, row, FIRST + 4, f"IF({rows}=0,0,{log})", "0.00")
    put_formula(sheet, row, FIRST + 5, f"{gap}*{woe}", "0.000")
