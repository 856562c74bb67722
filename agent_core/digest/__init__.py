"""Digests: gather calendars, feeds, pages and reminders, and draw charts.

The exports load lazily: each reader program imports this package in a process of its own, and must
neither pay for the tools nor exceed its memory limit because of them.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent_core.digest.chart_tool import CHARTS_MISSING as CHARTS_MISSING
    from agent_core.digest.chart_tool import ChartTool as ChartTool
    from agent_core.digest.formatting import SOURCES as SOURCES
    from agent_core.digest.formatting import list_files as list_files
    from agent_core.digest.formatting import own_folder as own_folder
    from agent_core.digest.gather_tool import GatherTool as GatherTool
    from agent_core.digest.tools import DigestOptions as DigestOptions
    from agent_core.digest.tools import digest_tools as digest_tools

_MODULES = {
    "CHARTS_MISSING": "chart_tool",
    "ChartTool": "chart_tool",
    "SOURCES": "formatting",
    "list_files": "formatting",
    "own_folder": "formatting",
    "GatherTool": "gather_tool",
    "DigestOptions": "tools",
    "digest_tools": "tools",
}


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
