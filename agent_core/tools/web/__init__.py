"""The web: the guarded HTTP client for every fetch, and the tools for it."""

from typing import TYPE_CHECKING

from agent_core.lazy_exports import export_lazily

if TYPE_CHECKING:
    from agent_core.tools.web.catalog import WebOptions as WebOptions
    from agent_core.tools.web.catalog import make_web_tools as make_web_tools
    from agent_core.tools.web.fetching import MOST_BYTES as MOST_BYTES
    from agent_core.tools.web.fetching import Fetcher as Fetcher
    from agent_core.tools.web.fetching import FetchRequest as FetchRequest
    from agent_core.tools.web.fetching import Page as Page
    from agent_core.tools.web.fetching import Reply as Reply
else:
    __getattr__ = export_lazily(__name__, __file__)
