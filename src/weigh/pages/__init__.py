"""HTML pages: a model as one file that needs no network and no other file.

model       the model that a page is about, and its levels in words
by_hand     how to compute the model by hand
calculator_page  `calculator`
weights     the tables of weights as cards with bars, or as steps over a number
summary     the first two pages of a report
quality     measures, charts (SVG), cut-offs, groups, and the cases that a report shows
numbers     these parts for models of a number, or of the time to an event
report_page  `report`

Nothing is imported here, so that the service starts without the modules of a report.
"""
