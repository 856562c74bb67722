"""Search with `ddgs`, which queries public search engines and needs no key."""

import json
from collections.abc import Sequence
from importlib.util import find_spec

from agent_core.errors import name_installation
from agent_core.tools.readers.faults import ReaderFailed
from agent_core.tools.readers.pool import ReaderCommand, ReaderPool
from agent_core.tools.web.search.answers import read_results
from agent_core.tools.web.search.contract import SearchFailed, SearchResult

_PROGRAM = "agent_core.tools.web.search.ddgs_program"
_SECONDS = 25.0
_MOST_REPORTED = 500_000
_FAULTS = {
    "slow": "the search engines take too long; try once more",
    "limited": "the search engines refuse more searches for now; wait, or continue without",
    "failed": "the search engines can't be reached; try once more later",
}


class DdgsSearch:
    """Searches with `ddgs` in a separate process, which is killed if it takes too long."""

    place = "ddgs"

    def __init__(self, readers: ReaderPool, *, proxy: str = "") -> None:
        """`proxy` is the address of an HTTP proxy, or ""."""
        self._readers = readers
        self._proxy = proxy

    async def search(self, query: str, count: int) -> Sequence[SearchResult]:
        """Search the web. Raises `SearchFailed`."""
        if not find_spec("ddgs"):
            raise SearchFailed(
                "searching is not installed here; the owner installs it with"
                f" `{name_installation('web')}`"
            )
        command = ReaderCommand(
            program=_PROGRAM,
            arguments=(),
            # Everyone on the machine can see a program's arguments, but not its input.
            data=json.dumps({"query": query, "count": count, "proxy": self._proxy}).encode(),
            seconds=_SECONDS,
            most_bytes=_MOST_REPORTED,
        )
        try:
            found = json.loads(await self._readers.run(command))
        except ReaderFailed as error:
            raise SearchFailed(_FAULTS["failed"]) from error
        except ValueError as error:
            raise SearchFailed("the search engines' answer is too large") from error
        if fault := found.get("fault"):
            raise SearchFailed(_FAULTS[fault])
        return read_results(found.get("results"), "body", count)
