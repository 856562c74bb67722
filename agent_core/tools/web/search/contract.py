"""The contract of search engines."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from agent_core.tools.readers.faults import SourceFailed


class SearchFailed(SourceFailed):
    """A search failed; the text ends a sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchResult:
    """A result: untrusted text, and the address of its page, which may be invalid."""

    title: str
    url: str
    snippet: str


class SearchEngine(Protocol):
    """A search engine that the owner chose."""

    @property
    def place(self) -> str:
        """The host that receives the queries, or the program that sends them to several hosts."""

    async def search(self, query: str, count: int) -> Sequence[SearchResult]:
        """Return up to `count` results, the best first; empty if nothing matches.

        Raises `SearchFailed`. Ends within 30 seconds, and leaves no process behind when cancelled.
        """
