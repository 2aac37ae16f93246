"""The evidence for and against one case, as people write it down.

The layout is that of Spiegelhalter & Knill-Jones (1984), Ridgeway et al. (1998) and Table 3 of
Ridgeway (2025): two columns, weights times 100, the totals, and the probability that follows from
them.

    balance   the `BalanceSheet`, and how attenuation or recalibration changed its total
    explain   from evidence and a row to a sheet
    estimate  an `EstimateSheet`: a number in place of a probability
    rows      the levels of largest weight in each of many rows
    show      the sheet as text, and as data for HTML
"""

from weigh.sheet.balance import (
    COVERAGE,
    REACH,
    Attenuated,
    BalanceSheet,
    Item,
    Recalibrated,
    conversion_table,
)
from weigh.sheet.estimate import EstimateSheet, Push, explain_number
from weigh.sheet.explain import (
    NO_ERRORS,
    UNSEEN,
    choose_classes,
    difference,
    explain,
    find_class,
    find_positions,
    items_of,
    refuse_class_options,
    refuse_classes,
    total_variances,
)
from weigh.sheet.rows import (
    Reasons,
    choose_reasons,
    contribute,
    find_reasons,
    reason_columns,
    reasons,
)
from weigh.sheet.show import (
    drop_not_known,
    names_not_known,
    notes_of,
    probabilities,
    probability,
    sides_of,
    summary_lines,
    tell_not_known,
)

__all__ = [
    "COVERAGE",
    "NO_ERRORS",
    "REACH",
    "UNSEEN",
    "Attenuated",
    "BalanceSheet",
    "EstimateSheet",
    "Item",
    "Push",
    "Reasons",
    "Recalibrated",
    "choose_classes",
    "choose_reasons",
    "contribute",
    "conversion_table",
    "difference",
    "drop_not_known",
    "explain",
    "explain_number",
    "find_class",
    "find_positions",
    "find_reasons",
    "items_of",
    "names_not_known",
    "notes_of",
    "probabilities",
    "probability",
    "reason_columns",
    "reasons",
    "refuse_class_options",
    "refuse_classes",
    "sides_of",
    "summary_lines",
    "tell_not_known",
    "total_variances",
]
