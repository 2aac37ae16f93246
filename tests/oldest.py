"""The oldest versions that pyproject.toml declares, as constraints for pip.

`make test-oldest` installs them into an environment of its own and runs the tests there: a minimum
that nobody tests is a guess.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

MINIMUM = re.compile(r"([A-Za-z0-9_.-]+)>=([0-9.]+)")
PARTNERS = ["pyparsing<3.3"]
"""What the oldest need beside them: a newer pyparsing warns of how matplotlib calls it."""


def oldest(pyproject: Path) -> list[str]:
    """One `name==version` for every dependency, and for those of the extras.

    What runs the tests, in groups of dependencies, may be new.
    """
    project = tomllib.loads(pyproject.read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    wanted = [*project["dependencies"]]
    wanted += [line for extra, lines in extras.items() if extra != "all" for line in lines]
    return [f"{name}=={version}" for name, version in map(_minimum, wanted)] + PARTNERS


def _minimum(requirement: str) -> tuple[str, str]:
    found = MINIMUM.fullmatch(requirement)
    if found is None:
        raise ValueError(f"{requirement!r} declares no minimum; write it as name>=version")
    return found[1], found[2]


if __name__ == "__main__":
    sys.stdout.write("\n".join(oldest(Path(__file__).parents[1] / "pyproject.toml")) + "\n")
