"""Tavily's search API: https://docs.tavily.com/documentation/api-reference/endpoint/search."""

import json
from collections.abc import Sequence
from urllib.parse import urlsplit

from agent_core.tools.web.fetching import Fetcher, FetchRequest
from agent_core.tools.web.search.answers import ask, read_results
from agent_core.tools.web.search.contract import SearchResult

TAVILY_URL = "https://api.tavily.com"
_REFUSED = "Tavily rejects the key; the owner has to set a new TAVILY_API_KEY"
_USED_UP = "the searches of Tavily's plan are used up; the owner can raise its limit"


class TavilySearch:
    """Searches with Tavily's API."""

    def __init__(self, fetcher: Fetcher, key: str, *, url: str = TAVILY_URL) -> None:
        self._fetcher = fetcher
        self._key = key
        self._url = url
        self.place = urlsplit(url).hostname or ""

    async def search(self, query: str, count: int) -> Sequence[SearchResult]:
        """Search the web. Raises `SearchFailed`."""
        request = FetchRequest(
            url=f"{self._url}/search",
            headers={"Authorization": f"Bearer {self._key}", "Content-Type": "application/json"},
            body=json.dumps({"query": query, "max_results": count}).encode(),
            is_trusted=True,
        )
        faults = {401: _REFUSED, 403: _REFUSED, 432: _USED_UP, 433: _USED_UP}
        found = await ask(self._fetcher, request, faults)
        return read_results(
            found.get("results") if isinstance(found, dict) else None, "content", count
        )
