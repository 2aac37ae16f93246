"""HTML pages: a model as one file that needs no network and no other file.

model       the model that a page is about, and its levels and weights in words
calculator_page  `calculator`
charts      reliability, ROC and lift as SVG
weights     the tables of weights as cards with bars, or as steps over a number
summary     the first two pages of a report
quality     measures, charts, thresholds, groups, and the cases that a report shows
numbers     these parts for models of a number, or of the time to an event
by_hand     how to compute the model by hand, in steps and to the last digit
report_page  `report`
"""

from weigh.pages.calculator_page import calculator
from weigh.pages.report_page import report

__all__ = ["calculator", "report"]
