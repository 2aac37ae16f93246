"""EducatedNB and EducatedRegressor: all weights of all tables fitted together.

task       what a fit is given: levels and their counts, rows, and what is asked for
design     the places of a row's weights, and the derivatives of its loss
passes     the sums that one pass over the rows gives, wherever they lie
prior      what is thought of weights before the data: independent levels, curves of intervals
factor     the penalised Hessian in pieces that can be solved with
modes      its pieces for many classes, in few numbers
dual       its inverse by way of the rows, where these are fewer than the weights
solve      damped Newton steps: the weights for given scales
scales     Fellner & Schall's updates: the scales of most marginal likelihood
loo        leave-one-out in closed form, to judge by
pairs      two features that say more together
segments   a column on few levels, for its pairs
marks      a number for each row that follows from its levels alone
halves     what each half of the rows would have fitted
selection  which pairs are kept
gains      what a fit would lose without each pair
monotone   tables that only rise, or only fall
fit        these steps, one after the other
blanks     what an answer that is not known weighs, and how that becomes zero
tables     a fit as evidence
learner    `EducatedNB`
quadratic  the loss of rows to second order, which adds
summary    what is kept of rows, so that others can be added without them
updating   rows added to a model, and models merged
numbers    a numeric target, in place of classes
intervals  of new rows, from rows left out
regressor  the learner for numbers
kernels    compiled loops
"""

from weigh.educated.learner import EducatedNB
from weigh.educated.regressor import EducatedRegressor

__all__ = ["EducatedNB", "EducatedRegressor"]
