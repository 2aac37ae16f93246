"""scikit-learn's own tests of discrete naive Bayes, run on `EvidenceNB` through a thin adapter.

The file comes from the installed scikit-learn; nothing of it is copied. What fails is listed below
with the reason, so that a test that begins to pass, or to fail, is seen.
"""

import importlib.util
import inspect
from itertools import product
from pathlib import Path

import numpy as np
import pytest
import sklearn
import sklearn.naive_bayes
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin

from weigh import EvidenceNB

SOURCE = Path(sklearn.__file__).parent / "tests" / "test_naive_bayes.py"
if not SOURCE.exists():
    pytest.skip("this scikit-learn comes without its tests", allow_module_level=True)


class Adapter(ClassifierMixin, BaseEstimator):
    """The constructor and the methods of scikit-learn, on `EvidenceNB`; X as it wants it."""

    event_model = "levels"

    def __init__(
        self,
        *,
        alpha=1.0,
        force_alpha=True,
        fit_prior=True,
        class_prior=None,
        min_categories=None,
        binarize=0.0,
    ):
        self.alpha, self.force_alpha = alpha, force_alpha
        self.fit_prior, self.class_prior = fit_prior, class_prior
        self.min_categories, self.binarize = min_categories, binarize

    def __sklearn_tags__(self):
        return EvidenceNB().__sklearn_tags__()

    def _learner(self, X, classes):
        uniform = None if self.fit_prior else np.full(len(classes), 1 / len(classes))
        prior = uniform if self.class_prior is None else self.class_prior
        own = {} if self.event_model == "counts" else {"categorical_features": self._levels(X)}
        return EvidenceNB(
            smoothing=self.alpha, class_prior=prior, event_model=self.event_model, **own
        )

    def _levels(self, X):
        return "all"

    def read(self, X):
        return X

    def fit(self, X, y, sample_weight=None):
        X, classes = self.read(X), np.unique(y)
        self.model = self._learner(X, classes).fit(X, y, sample_weight)
        return self

    def partial_fit(self, X, y, classes=None, sample_weight=None):
        X = self.read(X)
        if not hasattr(self, "model"):
            self.model = self._learner(X, np.unique(y if classes is None else classes))
            if self.min_categories is None and self.event_model == "levels":
                self.model.set_params(categorical_features="all")  # later batches may have more
        self.model.partial_fit(X, y, classes, sample_weight)
        return self

    def __getattr__(self, name):
        if name == "model":
            raise AttributeError(name)
        return getattr(self.model, name)

    def predict(self, X):
        return self.model.predict(self.read(X))

    def predict_proba(self, X):
        return self.model.predict_proba(self.read(X))

    def predict_log_proba(self, X):
        return self.model.predict_log_proba(self.read(X))

    def predict_joint_log_proba(self, X):
        return self.model.predict_joint_log_proba(self.read(X))

    @property
    def class_log_prior_(self):
        return np.log(self.model.evidence_.assumed_rate)

    @property
    def class_count_(self):
        return self.model.evidence_.class_counts

    def shares(self, table):
        """ln P(v|c), by class and level."""
        counts = table.counts.T + self.alpha
        return np.log(counts / counts.sum(axis=1, keepdims=True))


class Categorical(Adapter):
    """Levels 0, 1, ... up to the largest, or as many as `min_categories` says."""

    def read(self, X):
        return np.asarray(X).astype(int)

    def _levels(self, X):
        least = 0 if self.min_categories is None else self.min_categories
        sizes = np.maximum(X.max(axis=0) + 1, np.broadcast_to(least, X.shape[1]))
        return {j: set(range(size)) for j, size in enumerate(sizes.tolist())}

    @property
    def category_count_(self):
        return [table.counts.T for table in self.model.evidence_]

    @property
    def n_categories_(self):
        return np.array([len(table.levels) for table in self.model.evidence_])

    @property
    def feature_log_prob_(self):
        return [self.shares(table) for table in self.model.evidence_]


class Bernoulli(Adapter):
    """Booleans, which are above `binarize`."""

    def read(self, X):
        dense = X.toarray() if sparse.issparse(X) else np.asarray(X)
        return dense > (0.5 if self.binarize is None else self.binarize)

    @property
    def feature_count_(self):
        return np.array([table.counts[-1] for table in self.model.evidence_]).T

    @property
    def feature_log_prob_(self):
        return np.array([self.shares(table)[:, -1] for table in self.model.evidence_]).T


class Multinomial(Adapter):
    """Counts of tokens."""

    event_model = "counts"

    @property
    def feature_count_(self):
        return self.model.evidence_.tables[0].counts.T

    @property
    def feature_log_prob_(self):
        return self.shares(self.model.evidence_.tables[0])


BY_DESIGN = {  # what fails, and why
    "test_NB_partial_fit_no_first_classes": "a first batch that has every class needs no classes=",
    "test_alpha[": "smoothing of 0 is kept within 1e-10 of 0 and 1 without a warning",
    "test_alpha_vector": "smoothing is one number for all tokens",
    "test_categorical_input_tag[BernoulliNB": "every column may hold categories",
    "test_categorical_input_tag[MultinomialNB": "the same class, whose columns may hold categories",
    "test_categoricalnb[": "a category that training did not see weighs nothing, and is no error",
    "test_categoricalnb_min_categories_errors": "levels are declared by column; another message",
    "test_check_alpha": "it calls a private method",
    "test_discretenb_degenerate_one_class_case[True": "one class is refused: nothing is to be told",
    "test_discretenb_provide_prior[": "the same error, in other words",
}
ADAPTERS = {"BernoulliNB": Bernoulli, "CategoricalNB": Categorical, "MultinomialNB": Multinomial}


def load():
    """Import scikit-learn's file, with our classes in place of its own."""
    spec = importlib.util.spec_from_file_location("their_tests", SOURCE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    vars(module).update(ADAPTERS)
    return module


def cases():
    """The tests that name one of the three, and their arguments."""
    module = load()
    for name, test in inspect.getmembers(module, inspect.isfunction):
        if not name.startswith("test_"):
            continue
        grids = [
            [(mark.args[0].replace(" ", "").split(","), values) for values in mark.args[1]]
            for mark in getattr(test, "pytestmark", [])
            if mark.name == "parametrize"
        ]
        source = inspect.getsource(test)
        for chosen in product(*grids):
            given = {}
            for names, values in chosen:
                given |= dict(zip(names, values if len(names) > 1 else [values], strict=True))
            classes = [v.__name__ for v in given.values() if inspect.isclass(v)]
            named = [c for c in classes if c.endswith("NB")]
            if not named and "ComplementNB" not in source:
                named = [c for c in ADAPTERS if c in source]
            if named and {*named} <= {*ADAPTERS}:
                ours = {k: ADAPTERS.get(getattr(v, "__name__", ""), v) for k, v in given.items()}
                seed = {"global_random_seed": 0} if "global_random_seed" in source else {}
                label = "-".join(str(getattr(v, "__name__", v)) for v in given.values())
                yield pytest.param(name, ours | seed, id=f"{name}[{label}]"[:120])


def why(label):
    """The reason why a test fails, if it does."""
    return next((text for name, text in BY_DESIGN.items() if label.startswith(name)), None)


@pytest.mark.parametrize(("name", "given"), [*cases()])
@pytest.mark.filterwarnings("ignore")
def test_scikit_learns_own_tests_pass_but_for_those_that_differ_by_design(name, given, request):
    test, reason = getattr(load(), name), why(request.node.callspec.id)
    if reason is None:
        test(**given)
    else:
        with pytest.raises((AssertionError, AttributeError, ValueError, pytest.fail.Exception)):
            test(**given)


@pytest.mark.parametrize("name", ADAPTERS)
@pytest.mark.parametrize("alpha", [0.1, 1.0, 3.0])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_probabilities_are_those_of_scikit_learn(name, alpha, n_classes):
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 4, (80, 6)), rng.integers(0, n_classes, 80)
    weight, prior = rng.integers(1, 4, 80), rng.dirichlet(np.ones(n_classes))
    for more in ({}, {"class_prior": prior}, {"fit_prior": False}):
        theirs = getattr(sklearn.naive_bayes, name)(alpha=alpha, **more).fit(X, y, weight)
        ours = ADAPTERS[name](alpha=alpha, **more).fit(X, y, weight)
        assert ours.predict_proba(X) == pytest.approx(theirs.predict_proba(X), abs=1e-12)
