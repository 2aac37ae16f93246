"""Evidence: a prior and one table of weights per feature. What every learner ends as.

total(x) = prior + sum over features j of table_j[level of x_j]

tables       `Evidence` and its `FeatureTable`s
curve        the same in pieces of cubics, which every target computes
estimate     counts to weights, with their uncertainty
importance   how much a table matters
model        what a fitted model can do, and where its table is
units        how people read weights: times 100, or as points
edits        what was changed by hand, who and why
provenance   where a model comes from
branches     questions that are asked only where another has some level
labels       names in the user's words
flipped      two classes seen from the other side
amounts      numbers in the target's unit, and factors
show         the table as text and dataframe
view         the table, and a model's summary, in a notebook
"""

from weigh.evidence.branches import ask_only
from weigh.evidence.curve import (
    BOUND,
    Attenuation,
    Curve,
    Form,
    Method,
    Piece,
    Recalibration,
    apply_exponent,
    attenuate,
)
from weigh.evidence.edits import Change, login_name, now
from weigh.evidence.estimate import (
    PRINTED,
    Added,
    Scorer,
    Smoothing,
    rows_added,
    share_counts,
    weigh_counts,
    weigh_tally,
)
from weigh.evidence.flipped import flip
from weigh.evidence.importance import share_importance
from weigh.evidence.labels import with_labels
from weigh.evidence.model import Model, evidence_of, is_sum, model_of
from weigh.evidence.provenance import Provenance, hash_files, record
from weigh.evidence.show import join_intervals, rule
from weigh.evidence.tables import (
    Evidence,
    FeatureTable,
    contrast,
    scale_table,
    scale_variances,
    squeeze,
)
from weigh.evidence.units import HUNDREDTHS, Units, hundredths, signed

__all__ = [
    "BOUND",
    "HUNDREDTHS",
    "PRINTED",
    "Added",
    "Attenuation",
    "Change",
    "Curve",
    "Evidence",
    "FeatureTable",
    "Form",
    "Method",
    "Model",
    "Piece",
    "Provenance",
    "Recalibration",
    "Scorer",
    "Smoothing",
    "Units",
    "apply_exponent",
    "ask_only",
    "attenuate",
    "contrast",
    "evidence_of",
    "flip",
    "hash_files",
    "hundredths",
    "is_sum",
    "join_intervals",
    "login_name",
    "model_of",
    "now",
    "record",
    "rows_added",
    "rule",
    "scale_table",
    "scale_variances",
    "share_counts",
    "share_importance",
    "signed",
    "squeeze",
    "weigh_counts",
    "weigh_tally",
    "with_labels",
]
