"""A model as a workbook that computes: answers in, a balance sheet and a probability out.

write     the sheets: Case, Evidence and Lookup
card      what a scorecard has beside its points: rows, bad rates, WoE and IV
case      the questions, the sheet, and what it adds up to
run       a workbook recalculated by LibreOffice
"""

from weigh.exports.xlsx.write import write

__all__ = ["write"]
