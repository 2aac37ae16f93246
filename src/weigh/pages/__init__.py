"""Pages for people: a model as one HTML file that needs no network and no other file.

subject     the model that a page is about
document    the file: policy, style, script, data
levels      intervals in words
tables      the evidence table without scripts
questions   what a calculator asks, and when
form        `calculator`
charts      reliability, ROC and lift as SVG
steps       the weights of a number as steps over it
weights     the evidence table with bars
examples    which cases a report shows
quality     measures, charts, thresholds and groups
exact       the formula
account     `report`
"""

from weigh.pages.account import report
from weigh.pages.form import calculator

__all__ = ["calculator", "report"]
