"""Models as versioned JSON: readable, nothing executed on load, written whole or not at all.

values     numbers and parameters, and what must hold of them
features   classes and features
evidence   a prior and tables
recalibration  what totals are worth
tree       the nodes of a tree
vote       the rounds of a vote
mean       what an arithmetic mean is of
model      a learner, its parameters, and one of these
file       saving and loading
"""

from weigh.store.file import SCORECARD, load, read_json, save, to_json, write_bytes, write_text
from weigh.store.model import from_dict, learners, to_dict

__all__ = [
    "SCORECARD",
    "from_dict",
    "learners",
    "load",
    "read_json",
    "save",
    "to_dict",
    "to_json",
    "write_bytes",
    "write_text",
]
