"""The check of Python itself, which runs first, because it needs no settings."""

import platform
import sys

from agent_core.state.engine.version import SQLITE_VERSION
from gateway.interfaces.diagnostics.finding import Finding, make_finding

OLDEST_PYTHON = (3, 11)
_NEW_PYTHON = "Install a newer Python."


def examine_python() -> Finding:
    """Return the finding about the versions of Python and SQLite."""
    is_old = sys.version_info < OLDEST_PYTHON
    needed = ".".join(map(str, OLDEST_PYTHON))
    text = f"Python {platform.python_version()}, SQLite {SQLITE_VERSION}"
    return make_finding(
        "python", "fault" if is_old else "ok", f"{text} (needs Python {needed})", _NEW_PYTHON
    )
