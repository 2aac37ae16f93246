"""A model as an Excel workbook that computes a balance sheet and a probability from answers.

workbook  the sheets: Case, Evidence (with rows, bad rates, WoE and IV of a scorecard) and Lookup
case      the sheet Case: the questions, the balance sheet, the total and the prediction
cells     cells, addresses, headings, and the lists that formulas search
"""

from weigh.exports.xlsx.workbook import write

__all__ = ["write"]
