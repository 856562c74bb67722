"""Digests: gather calendars, feeds, pages and reminders, and draw charts."""

from typing import TYPE_CHECKING

from agent_core.lazy_exports import export_lazily

if TYPE_CHECKING:
    from agent_core.digest.chart_tool import CHARTS_MISSING as CHARTS_MISSING
    from agent_core.digest.chart_tool import ChartTool as ChartTool
    from agent_core.digest.formatting import SOURCES as SOURCES
    from agent_core.digest.formatting import list_files as list_files
    from agent_core.digest.formatting import own_folder as own_folder
    from agent_core.digest.gather_tool import GatherTool as GatherTool
    from agent_core.digest.source_gates import GateOutcome as GateOutcome
    from agent_core.digest.source_gates import check_source as check_source
    from agent_core.digest.tools import DigestOptions as DigestOptions
    from agent_core.digest.tools import digest_tools as digest_tools
    from agent_core.digest.tools import open_web as open_web
    from agent_core.digest.web_sources import FeedItem as FeedItem
    from agent_core.digest.web_sources import list_days_off as list_days_off
    from agent_core.digest.web_sources import list_items as list_items
else:
    __getattr__ = export_lazily(__name__, __file__)
