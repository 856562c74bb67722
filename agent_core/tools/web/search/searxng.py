"""SearXNG's search API: https://docs.searxng.org/dev/search_api.html."""

from collections.abc import Sequence
from urllib.parse import urlencode, urlsplit

from agent_core.tools.web.fetching import Fetcher, FetchRequest
from agent_core.tools.web.search.answers import ask, read_results
from agent_core.tools.web.search.contract import SearchResult

_NO_JSON = (
    "the SearXNG server gives no JSON; its owner has to add `json` to `search.formats` in its"
    " settings.yml"
)


class SearxngSearch:
    """Searches with a SearXNG server."""

    def __init__(self, fetcher: Fetcher, url: str) -> None:
        self._fetcher = fetcher
        self._url = url.rstrip("/")
        self.place = urlsplit(url).hostname or ""

    async def search(self, query: str, count: int) -> Sequence[SearchResult]:
        """Search the web. Raises `SearchFailed`."""
        wanted = urlencode({"q": query, "format": "json"})
        request = FetchRequest(url=f"{self._url}/search?{wanted}", is_trusted=True)
        found = await ask(self._fetcher, request, {403: _NO_JSON})
        return read_results(
            found.get("results") if isinstance(found, dict) else None, "content", count
        )
