"""An environment for each rival: `make bench-rivals`.

    python -m benchmarks.rivals.environments [RIVAL ...]

makes `.rivals/<name>` with what `requirements/<name>.txt` lists, because several libraries pin old
versions of what others need new. One that cannot be installed leaves the last words of pip in
`.rivals/<name>.failed`, and the tables say so.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
HOME = HERE.parents[1] / ".rivals"
OURS = "weigh"
NAMES = tuple(sorted(path.stem for path in (HERE / "requirements").glob("*.txt")))


def python_of(name: str) -> Path | None:
    """The interpreter in which a rival runs, weigh's being this one; None where there is none."""
    if name == OURS:
        return Path(sys.executable)
    return HOME / name / "bin" / "python" if _stamp(name).exists() else None


def reason(name: str) -> str:
    """Why a rival has no environment."""
    if _failure(name).exists():
        return f"not installed: {_failure(name).read_text().strip()}"
    return "not installed: run make bench-rivals"


def make(name: str) -> bool:
    """Install a rival, unless it is there; whether it is now."""
    if python_of(name):
        return True
    shutil.rmtree(HOME / name, ignore_errors=True)
    _failure(name).unlink(missing_ok=True)
    subprocess.run([sys.executable, "-m", "venv", str(HOME / name)], check=True)
    python, listed = HOME / name / "bin" / "python", HERE / "requirements" / f"{name}.txt"
    command = [str(python), "-m", "pip", "install", "--quiet", "-r", str(listed)]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    if answer.returncode:
        said = [line for line in answer.stderr.splitlines() if line.startswith("ERROR")]
        _failure(name).write_text((said or ["pip failed without a word"])[-1])
    else:
        _stamp(name).touch()
    return answer.returncode == 0


def _stamp(name: str) -> Path:
    """There once all is installed: a run that was stopped halfway leaves an interpreter alone."""
    return HOME / name / "installed"


def _failure(name: str) -> Path:
    return HOME / f"{name}.failed"


def main() -> None:
    HOME.mkdir(exist_ok=True)
    for name in sys.argv[1:] or NAMES:
        print(f"{name:<20}{'installed' if make(name) else reason(name)}", flush=True)


if __name__ == "__main__":
    main()
