"""Evidence: a prior and one table of weights per feature, the form of every fitted learner.

total(x) = prior + sum over features j of table_j[level of x_j]

tables          `Evidence`, and the same model with its two classes exchanged
feature_table   `FeatureTable`: the weights of one feature, and how much they matter
curve           recalibration (piecewise cubic, so that every export can compute it), attenuation
estimate        weights and standard errors from counts; weights that contradict the counts
densities       weights of numeric columns from class densities
model           interface of fitted models, and how to find a model's table
exposure        exposure and offset of a regressor
units           display of weights: times 100, as points, in the target's unit, as factors
provenance      training data, versions, and changes by hand
branches        questions asked only if another feature has certain levels
labels          names in the user's words
ranking         the tables and levels that are shown where there is no room for all
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
    Smoothing,
    SplitScorer,
    find_reversed,
    log_shares,
    plain_shares,
    plain_woe,
    rows_added,
    share_counts,
    weigh_counts,
    weigh_tally,
)
from weigh.evidence.feature_table import (
    FeatureTable,
    Margins,
    scale_margins,
    scale_table,
    scale_variances,
    share_importance,
)
from weigh.evidence.labels import name_as_recorded, rename_feature, with_labels
from weigh.evidence.model import (
    DerivedModel,
    Model,
    check_model,
    evidence_of,
    is_sum,
    model_of,
    name_inner,
)
from weigh.evidence.provenance import (
    Change,
    Provenance,
    hash_files,
    inherit,
    login_name,
    now,
    record,
)
from weigh.evidence.show import join_intervals, rule, spell_factor
from weigh.evidence.tables import Evidence, contrast, flip, keep_to_complete_rows, squeeze
from weigh.evidence.units import HUNDREDTHS, Units, hundredths, signed
