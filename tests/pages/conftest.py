"""What tests of figures share: a model, and no figure left open."""

import sys

import pytest

from weigh import EvidenceNB
from weigh.datasets import titanic


@pytest.fixture(autouse=True)
def closed():
    """Close what pyplot holds, if a test has loaded it."""
    yield
    if pyplot := sys.modules.get("matplotlib.pyplot"):
        pyplot.close("all")


@pytest.fixture(scope="module")
def model():
    return EvidenceNB().fit(titanic(), "Survived")
