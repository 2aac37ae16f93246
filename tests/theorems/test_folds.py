"""What is held out inside a fit: `cv` is a number of folds, a splitter, or splits."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import KFold

import weigh
from weigh.folds import deal

RNG = np.random.RandomState(0)
X = pd.DataFrame({f"x{j}": RNG.randint(0, 4, 240) for j in range(4)}).astype("category")
SIGNAL = X["x0"].cat.codes + 2.0 * (X["x1"].cat.codes == X["x2"].cat.codes)
TWO = (SIGNAL + RNG.normal(size=240) > 2).to_numpy().astype(int)
NUMBERS = (SIGNAL + RNG.normal(size=240)).to_numpy()

LEARNERS = {
    "adjusted": (weigh.AdjustedNB(), TWO),
    "perplexed": (weigh.PerplexedNB(), TWO),
    "recalibrated": (weigh.RecalibratedClassifier(weigh.EvidenceNB()), TWO),
    "regressor": (weigh.BoostedNBRegressor(n_rounds=3), NUMBERS),
}


def fit(name, cv):
    learner, y = LEARNERS[name]
    model = clone(learner).set_params(cv=cv, random_state=7).fit(X, y)
    return model.predict_quantile(X, 0.9) if name == "regressor" else model.predict_proba(X)


@pytest.mark.parametrize("name", LEARNERS)
def test_a_number_of_folds_is_the_splits_that_it_deals(name):
    y = LEARNERS[name][1]
    labels = y if name != "regressor" else np.zeros(len(y), dtype=int)
    dealt = deal(labels, 3, np.random.RandomState(7))
    splits = [(np.flatnonzero(train), np.flatnonzero(held_out)) for train, held_out in dealt]
    np.testing.assert_allclose(fit(name, splits), fit(name, 3), rtol=1e-9)


@pytest.mark.parametrize("name", LEARNERS)
def test_a_splitter_is_the_splits_that_it_gives(name):
    splitter = KFold(3, shuffle=True, random_state=1)
    np.testing.assert_array_equal(fit(name, splitter), fit(name, [*splitter.split(X)]))


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("cv", [1, 2.5, True])
def test_what_is_no_folds_is_refused(name, cv):
    with pytest.raises(ValueError, match="cv"):
        fit(name, cv)
