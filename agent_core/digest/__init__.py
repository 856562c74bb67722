"""Digests: gather calendars, feeds, pages and reminders, and draw charts."""

from agent_core.digest.chart_tool import CHARTS_MISSING, ChartTool
from agent_core.digest.formatting import SOURCES, list_files, own_folder
from agent_core.digest.gather_tool import GatherTool
from agent_core.digest.tools import DigestOptions, digest_tools

__all__ = [
    "CHARTS_MISSING",
    "SOURCES",
    "ChartTool",
    "DigestOptions",
    "GatherTool",
    "digest_tools",
    "list_files",
    "own_folder",
]
