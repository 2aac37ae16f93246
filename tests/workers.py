"""Which tests go to which of several processes (`pytest -n`), and in what order."""

from pathlib import PurePosixPath

from xdist.scheduler import LoadScopeScheduling

TOGETHER = {
    "browser": ("test_pages_calculator", "test_pages_report", "test_workbench"),
    "Java": ("test_exports_pmml", "test_cli_share"),
}
"""Files that share a program which is slow to start."""
FIRST = (
    "test_spark",
    *TOGETHER["browser"],
    "test_readme",
    "test_exports_sql",
    "test_adjusted",
    "test_frames",
    "test_exports_xlsx",
    "test_calibrate",
    "test_drift",
    "test_educated",
    "test_serving_hostile",
    "test_scan",
)
"""The files that take longest, longest first, so that no process waits for one at the end."""
APART = ("test_readme",)
"""Files whose cases share nothing and take long: each goes to whoever is free."""


def find_scope(nodeid: str) -> str:
    """What goes to one process together: the files of a program, a file, or a case on its own."""
    path = nodeid.partition("::")[0]
    stem = PurePosixPath(path).stem
    if stem in APART:
        return nodeid
    return next((program for program, files in TOGETHER.items() if stem in files), path)


def find_turn(nodeid: str) -> int:
    """The turn of a test: those of the longest files come first."""
    stem = PurePosixPath(nodeid.partition("::")[0]).stem
    return FIRST.index(stem) if stem in FIRST else len(FIRST)


class ByFile(LoadScopeScheduling):
    """The tests of a file go to one process: they share fitted models, servers and a cluster.

    `--dist loadfile` cannot tell files whose cases share nothing.
    """

    def __init__(self, config, log=None):
        config.option.loadscopereorder = False  # by number of tests, which is not by time
        super().__init__(config, log)

    def _split_scope(self, nodeid: str) -> str:
        return find_scope(nodeid)
