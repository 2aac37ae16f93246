"""EducatedNB and EducatedRegressor: all weights of all tables fitted together.

task         the input of a fit: rows, levels and their counts, constraints, requested pairs
design       the position of each level's weight, and the loss of a row
passes       sums over the rows from one pass, wherever the rows are
prior        the Gaussian prior: independent levels, smooth curves over bins
matrices     the covariance of all weights; dense blocks along a diagonal
factor       factors of the penalised Hessian, piece by piece
modes        a smaller Hessian for many classes, by eigenvectors of tables
dual         the inverse of the Hessian when there are fewer rows than weights
solve        the weights for given scales, by damped Newton steps
scales       the scales of largest marginal likelihood, by Fellner & Schall's updates
uncertainty  the uncertainty of the scales, in the covariance and in leave-one-out predictions
loo          leave-one-out predictions in closed form
pairs        a score test that ranks pairs of features
segments     columns cut into few levels, for pairs
halves       pseudo-random halves of the rows, and approximate fits of each
candidates   fits with the first pairs of a ranking, and the loss without each pair
refinement   pairs cut into more cells where the rows ask for it
acceptance   the tests that a fit with pairs must pass
selection    the choice of pairs to keep
monotone     tables that only rise or only fall
fit          these steps, one after the other
attenuation  the factor that multiplies the weights of incomplete rows
margins      what a known answer of a pair says about the one that is not known
blanks       the weight of not known, and tables in which it is zero
tables       fitted weights as tables of evidence
learner      `EducatedNB`
quadratic    second-order approximation of the loss of rows, which can be added up
summary      summary of the training rows, to add rows later without them
updating     models updated with new rows, and merged
numbers      numeric targets
intervals    prediction intervals from leave-one-out errors
regressor    `EducatedRegressor`
kernels      compiled loops
"""

from weigh.educated.learner import EducatedNB
from weigh.educated.regressor import EducatedRegressor

__all__ = ["EducatedNB", "EducatedRegressor"]
