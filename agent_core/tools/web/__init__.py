"""The web: the guarded client for whatever is fetched, and the tools for it."""

from typing import TYPE_CHECKING

from agent_core.lazy_exports import export_lazily

# mypy: implicit-reexport
if TYPE_CHECKING:
    from agent_core.tools.web.catalog import WebOptions, make_web_tools
    from agent_core.tools.web.fetching import MOST_BYTES, Fetcher, FetchRequest, Page, Reply
else:
    __getattr__ = export_lazily(__name__, __file__)
