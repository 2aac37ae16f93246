"""Which tests go to which of several processes (`pytest -n`), and in what order."""

from pathlib import PurePosixPath

from xdist.scheduler import LoadScopeScheduling

TOGETHER = (  # files whose tests share what is slow to start: a cluster, servers, kernels
    "test_spark",
    "test_exports_xlsx",
    "test_notebook",
    "test_serving_hostile",
    "test_serving_gate",
    "test_serving_load",
    "test_shap",
    "test_skops",
)
APART = ("test_readme",)
"""Files whose cases share nothing and take long: each goes to whoever is free."""


def find_scope(nodeid: str) -> str:
    """What goes to one process together: a file, a test function with all its cases, or a case."""
    path = nodeid.partition("::")[0]
    stem = PurePosixPath(path).stem
    if stem in TOGETHER:
        return path
    return nodeid if stem in APART else nodeid.partition("[")[0]


def find_turn(nodeid: str) -> int:
    """The turn of a test: what takes long comes first, so that no process waits for it at the end.

    The tests of Spark take longest, and are the first of all.
    """
    stem = PurePosixPath(nodeid.partition("::")[0]).stem
    first = (*TOGETHER, *APART)
    return first.index(stem) if stem in first else len(first)


class ByFunction(LoadScopeScheduling):
    """A test function's cases go to one process together, and so do the tests of some files.

    The cases of a function often share a fitted model. `--dist loadgroup` would do for files, but
    pytest-xdist 3.8 hands groups over in a name that pytest 9.2 no longer lets it change: both
    processes started a cluster.
    """

    def __init__(self, config, log=None):
        config.option.loadscopereorder = False  # by number of tests, which is not by time
        super().__init__(config, log)

    def _split_scope(self, nodeid: str) -> str:
        return find_scope(nodeid)
