"""Which tests go to which of several processes (`pytest -n`)."""

from xdist.scheduler import LoadScopeScheduling


def first_of_all(nodeid: str) -> bool:
    """Tests that share one Spark cluster, which is slow to start."""
    return nodeid.partition("::")[0].rpartition("/")[2].startswith("test_spark")


class ByFunction(LoadScopeScheduling):
    """A test function's cases go to one process together, and all tests of Spark to one.

    The cases of a function often share a fitted model. `--dist loadgroup` would do for Spark, but
    pytest-xdist 3.8 hands groups over in a name that pytest 9.2 no longer lets it change: both
    processes started a cluster.
    """

    def __init__(self, config, log=None):
        config.option.loadscopereorder = False  # by number of tests, which is not by time
        super().__init__(config, log)

    def _split_scope(self, nodeid: str) -> str:
        return "spark" if first_of_all(nodeid) else nodeid.partition("[")[0]
