"""Evidence: a prior and one table of weights per feature. What every learner ends as.

total(x) = prior + sum over features j of table_j[level of x_j]

tables          `Evidence`, also seen from its other class
feature_table   `FeatureTable`: the weights of one feature, and how much they matter
curve           recalibration and attenuation, in pieces of cubics that every target computes
estimate        counts to weights, with their uncertainty; weights that run against the counts
densities       densities of numeric columns, as weights by cell
model           what a fitted model can do, and where its table is
exposure        exposure and offset of a regressor: what its estimates are for
units           how people read weights: times 100, as points, in the target's unit, as factors
provenance      where a model comes from, and what was changed by hand
branches        questions that are asked only where another has some level
labels          names in the user's words
show            the table as text and dataframe
view            the table, and a model's summary, in a notebook
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
from weigh.evidence.densities import log_density, weigh_density
from weigh.evidence.estimate import (
    PRINTED,
    Added,
    Scorer,
    Smoothing,
    find_reversed,
    log_shares,
    rows_added,
    share_counts,
    share_halves,
    weigh_counts,
    weigh_halves,
    weigh_tally,
)
from weigh.evidence.feature_table import (
    FeatureTable,
    scale_table,
    scale_variances,
    share_importance,
)
from weigh.evidence.labels import name_as_recorded, rename_feature, with_labels
from weigh.evidence.model import Model, OnEvidence, evidence_of, is_sum, model_of
from weigh.evidence.provenance import (
    Change,
    Provenance,
    hash_files,
    inherit,
    login_name,
    now,
    record,
)
from weigh.evidence.show import join_intervals, rule
from weigh.evidence.tables import Evidence, contrast, flip, squeeze
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
    "OnEvidence",
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
    "find_reversed",
    "flip",
    "hash_files",
    "hundredths",
    "inherit",
    "is_sum",
    "join_intervals",
    "log_density",
    "log_shares",
    "login_name",
    "model_of",
    "name_as_recorded",
    "now",
    "record",
    "rename_feature",
    "rows_added",
    "rule",
    "scale_table",
    "scale_variances",
    "share_counts",
    "share_halves",
    "share_importance",
    "signed",
    "squeeze",
    "weigh_counts",
    "weigh_density",
    "weigh_halves",
    "weigh_tally",
    "with_labels",
]
