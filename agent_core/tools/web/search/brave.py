"""Brave's search API: https://api-dashboard.search.brave.com/app/documentation."""

from collections.abc import Sequence
from urllib.parse import urlencode, urlsplit

from agent_core.tools.web.fetching import Fetcher, FetchRequest
from agent_core.tools.web.search.answers import ask, read_results
from agent_core.tools.web.search.contract import SearchResult

BRAVE_URL = "https://api.search.brave.com"
_REFUSED = "Brave rejects the key; the owner has to set a new BRAVE_API_KEY"


class BraveSearch:
    """Searches with Brave's API."""

    def __init__(self, fetcher: Fetcher, key: str, *, url: str = BRAVE_URL) -> None:
        self._fetcher = fetcher
        self._key = key
        self._url = url
        self.place = urlsplit(url).hostname or ""

    async def search(self, query: str, count: int) -> Sequence[SearchResult]:
        """Search the web. Raises `SearchFailed`."""
        # Without text decorations, the snippets contain no markup.
        wanted = urlencode({"q": query, "count": count, "text_decorations": "false"})
        request = FetchRequest(
            url=f"{self._url}/res/v1/web/search?{wanted}",
            headers={"Accept": "application/json", "X-Subscription-Token": self._key},
            is_trusted=True,
        )
        found = await ask(self._fetcher, request, {401: _REFUSED, 403: _REFUSED, 422: _REFUSED})
        pages = found.get("web") if isinstance(found, dict) else None
        if pages is None and isinstance(found, dict):
            return []  # without results, Brave omits `web`
        listed = pages.get("results") if isinstance(pages, dict) else None
        return read_results(listed, "description", count)
