"""Install the packages of a lock file with pip: `python tools/install_lock.py LOCK`.

On a terminal, one line counts the packages. What pip says is shown only if it fails.
"""

import subprocess
import sys
from pathlib import Path

_PIP = ("-m", "pip", "install", "--disable-pip-version-check", "--no-deps", "--require-hashes")
_CLEAR = "\r\x1b[K"


def main(lock: Path) -> int:
    """Install, and return pip's exit code."""
    total = sum("==" in line for line in lock.read_text("utf-8").splitlines())
    said, count, is_live = [], 0, sys.stdout.isatty()
    with subprocess.Popen(
        (sys.executable, *_PIP, "-r", str(lock)),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as pip:
        for line in pip.stdout or ():
            said.append(line)
            count += line.startswith("Collecting ")
            step = f"{count} of {total}" if line.startswith("Collecting ") else ""
            step = "Unpacking" if line.startswith("Installing ") else step
            if is_live and step:
                print(f"{_CLEAR}  {step} packages ...", end="", flush=True)
    if is_live:
        print(_CLEAR, end="", flush=True)
    if pip.returncode:
        print("".join(said), end="", file=sys.stderr)
    return pip.returncode


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
