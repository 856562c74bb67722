"""Digests: gather calendars, feeds, pages and reminders, and draw charts."""

from typing import TYPE_CHECKING

from agent_core.lazy_exports import export_lazily

# mypy: implicit-reexport
if TYPE_CHECKING:
    from agent_core.digest.chart_tool import CHARTS_MISSING, ChartTool
    from agent_core.digest.formatting import SOURCES, list_files, own_folder
    from agent_core.digest.gather_tool import GatherTool
    from agent_core.digest.source_gates import GateOutcome, check_source
    from agent_core.digest.tools import DigestOptions, digest_tools, open_web
    from agent_core.digest.web_sources import FeedItem, list_days_off, list_items
else:
    __getattr__ = export_lazily(__name__, __file__)
