"""Answers of search engines: JSON with a list of results."""

import json
from collections.abc import Mapping, Sequence

from agent_core.tools.readers.faults import FetchFailed
from agent_core.tools.web.fetching import Fetcher, FetchRequest
from agent_core.tools.web.search.contract import SearchFailed, SearchResult

_LIMITED = "it refuses more searches for now; wait, or continue without"


async def ask(fetcher: Fetcher, request: FetchRequest, faults: Mapping[int, str]) -> object:
    """Send a search and parse the answer. `faults` explain statuses. Raises `SearchFailed`."""
    try:
        page = await fetcher.fetch(request)
    except FetchFailed as error:
        reason = {429: _LIMITED, **faults}.get(error.status, str(error))
        raise SearchFailed(reason) from error
    try:
        return json.loads(page.body)
    except (ValueError, RecursionError) as error:
        raise SearchFailed("its answer is not JSON") from error


def read_results(found: object, snippet: str, count: int) -> Sequence[SearchResult]:
    """Parse a list of results; `snippet` is the key of their text. Raises `SearchFailed`."""
    if not isinstance(found, list):
        raise SearchFailed("its answer has no list of results")
    return [_read(one, snippet) for one in found if isinstance(one, dict)][:count]


def _read(found: Mapping[str, object], snippet: str) -> SearchResult:
    title, url, text = (found.get(name) for name in ("title", "url", snippet))
    return SearchResult(
        title=title if isinstance(title, str) else "",
        url=url if isinstance(url, str) else "",
        snippet=text if isinstance(text, str) else "",
    )
