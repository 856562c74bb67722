"""Use a model server of this machine if no key is set."""

import asyncio
import os
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import urlsplit

from agent_core.models.local.owners import find_ports
from agent_core.models.local.search import find_servers
from agent_core.models.local.servers import USUAL_PORTS, Choice, LocalServer, choose
from agent_core.state.people.people import MOST_CAP
from gateway.app.settings import Settings

_WINDOW_LEAST = 1024
"""Tokens; a server that tells less of its window is not believed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Discovery:
    """The servers that the search on this machine has found, and Talaria's choice of them."""

    servers: tuple[LocalServer, ...]
    choice: Choice | None

    @property
    def needs_yes(self) -> bool:
        """True if the chosen server's owner is foreign or unknown, so that a person decides.

        Also for a server whose kind nobody knows.
        """
        server = self.choice.server if self.choice else None
        return server is not None and (not server.is_trusted or server.kind == "other")


async def discover(settings: Settings) -> Discovery | None:
    """Search this machine; None if the search is switched off."""
    return decide(await search(settings)) if settings.model.find_local else None


async def search(settings: Settings) -> tuple[LocalServer, ...]:
    """Return the model servers of this machine, even if nothing looks for them by itself."""
    return await find_servers(await asyncio.to_thread(list_ports, settings))


def list_ports(settings: Settings) -> tuple[int, ...]:
    """Return the ports that are asked: those of the settings, and that of the model in use.

    Unless an owner has chosen other ports, those of programs that are known to serve models, too.
    """
    ports = tuple(map(int, settings.model.local_ports))
    others = find_ports() if ports == USUAL_PORTS else ()
    in_use = urlsplit(settings.secrets.openai_base_url or "").port
    return (*ports, in_use, *others) if settings.is_model_local and in_use else (*ports, *others)


def decide(servers: tuple[LocalServer, ...]) -> Discovery:
    """Choose a model, if possible of a server that needs nobody's yes."""
    memory = read_memory()
    free = [one for one in servers if one.is_trusted and one.kind != "other"]
    return Discovery(servers=servers, choice=choose(free, memory) or choose(servers, memory))


def read_memory() -> int:
    """Return the machine's memory in bytes."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def list_variables(choice: Choice) -> dict[str, str]:
    """Return the variables that make a model of this machine the one that answers."""
    return {
        "OPENAI_BASE_URL": choice.server.base_url,
        "TALARIA_MODEL__PROVIDER": "openai",
        "TALARIA_MODEL__NAME": choice.model.name,
    } | _name_window(choice)


def _name_window(choice: Choice) -> dict[str, str]:
    window = min(choice.model.window or 0, MOST_CAP)
    return {"TALARIA_CONTEXT__WINDOW_TOKENS": str(window)} if window >= _WINDOW_LEAST else {}


def describe_servers(servers: Iterable[LocalServer]) -> list[str]:
    """Return a line for each server: what it is, where, whose, and how many models it has."""
    return [
        f"{one.title} at 127.0.0.1:{one.port}"
        f" ({describe_owner(one)}; {_count(len(one.models), 'model')})"
        for one in servers
    ]


def describe_owner(server: LocalServer) -> str:
    """Say whose process a server is."""
    return f"run by {server.owner}" if server.owner else "nobody can tell whose it is"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
