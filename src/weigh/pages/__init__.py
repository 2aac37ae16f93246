"""Pages for people: a model as one HTML file that needs no network and no other file.

subject     the model that a page is about
document    the file: policy, style, script, data
levels      intervals in words
calculator_page  `calculator`
charts      reliability, ROC and lift as SVG
steps       the weights of a number as steps over it
weights     the tables of weights as cards with bars
summary     the first two pages of a report
examples    which cases a report shows
quality     measures, charts, thresholds and groups
by_hand     the formula
report_page  `report`
"""

from weigh.pages.calculator_page import calculator
from weigh.pages.report_page import report

__all__ = ["calculator", "report"]
