"""A model as a workbook that computes: answers in, a balance sheet and a probability out.

workbook  the sheets: Case, Evidence (with rows, bad rates, WoE and IV of a scorecard) and Lookup
case      the questions, the sheet, and what it adds up to
cells     cells, addresses, words, and the lists that formulas search
"""

from weigh.exports.xlsx.workbook import write

__all__ = ["write"]
