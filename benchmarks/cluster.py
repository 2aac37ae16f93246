"""A Spark cluster on this machine, whose executors are processes of their own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

MASTER = "local-cluster[2,1,1024]"
"""Two executors of one core and 1 GiB each."""

BACKEND = "CoarseGrainedExecutorBackend"


def lacking() -> str | None:
    """What is not there to start a cluster with."""
    try:
        import pyspark  # noqa: F401
    except ImportError:
        return "pyspark is not installed; it is in the extra 'spark'"
    return None if shutil.which("java") else "Java is not installed"


def start_cluster(folder: Path, **settings: str) -> Any:
    """A session on a new cluster; what it writes goes to the folder.

    Spark keeps its executors' files in its own folder, so it is given one that links to it.
    """
    import pyspark
    from pyspark.sql import SparkSession

    import weigh

    home = folder / "home"
    home.mkdir(parents=True)
    for part in ("bin", "jars", "python"):
        (home / part).symlink_to(Path(pyspark.__file__).parent / part)
    os.environ |= {
        "SPARK_HOME": str(home),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_LOCAL_DIRS": str(folder / "local"),
        "PYSPARK_PYTHON": sys.executable,
    }
    builder = SparkSession.builder.master(MASTER).appName("weigh")
    shared = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "ERROR",
        "spark.sql.shuffle.partitions": "4",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.executorEnv.PYTHONPATH": str(Path(weigh.__file__).parents[1]),
    }
    for name, value in (shared | settings).items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def find_executors() -> list[int]:
    """The numbers of the executors' processes that this process led to."""
    lines = subprocess.run(
        ["ps", "-eww", "-o", "pid,ppid,args"], capture_output=True, text=True
    ).stdout
    children: dict[int, list[tuple[int, str]]] = {}
    for line in lines.splitlines()[1:]:
        pid, parent, *command = line.split(None, 2)
        children.setdefault(int(parent), []).append((int(pid), "".join(command)))
    found, waiting = [], [os.getpid()]
    while waiting:
        below = children.get(waiting.pop(), [])
        found += [pid for pid, command in below if BACKEND in command]
        waiting += [pid for pid, _ in below]
    return sorted(found)
