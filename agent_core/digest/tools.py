"""The factory of the `gather` tool."""

from dataclasses import dataclass, field
from pathlib import Path

from agent_core.digest.formatting import SOURCES
from agent_core.digest.gather_tool import GatherSources, GatherTool
from agent_core.digest.github import GitHubAccess
from agent_core.digest.web_sources import WebAccess
from agent_core.state.engine.database import Database
from agent_core.tools.readers.pool import ReaderPool
from agent_core.tools.web.fetching import Fetcher


@dataclass(frozen=True, slots=True, kw_only=True)
class DigestOptions:
    """The digest settings. `github_token` is "" for none; `zone` applies to people who have set no
    time zone. `allow_hosts` are hosts of the local network that jobs may fetch from.
    """

    home: Path
    zone: str
    github_url: str
    github_token: str
    allow_hosts: tuple[str, ...]
    readers: ReaderPool = field(default_factory=ReaderPool)
    """The reader processes, shared by all tools."""


def make_gather_tool(database: Database, kit: DigestOptions, *, in_room: bool) -> GatherTool:
    """Create `gather`. In a room, it has no private sources."""
    desk = GatherSources(
        sources=kit.home / SOURCES,
        zone=kit.zone,
        reach=open_web(kit),
        hub=GitHubAccess(url=kit.github_url, token=kit.github_token),
    )
    return GatherTool(database, desk, in_room=in_room)


def open_web(kit: DigestOptions) -> WebAccess:
    """Create the web access of digests and gates."""
    return WebAccess(fetcher=Fetcher(allow_hosts=kit.allow_hosts), readers=kit.readers)
