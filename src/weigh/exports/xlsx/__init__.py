"""A model as a workbook that computes: answers in, a balance sheet and a probability out.

write     the sheets: Case, Evidence and Lookup
case      the questions, the sheet, and what it adds up to
run       a workbook recalculated by LibreOffice
"""

from weigh.exports.xlsx.write import write

__all__ = ["write"]
