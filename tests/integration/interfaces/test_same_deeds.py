"""Deeds of the table in docs/surfaces.md, done on each surface that it claims: the state is equal.

A row stands by its name in the table. What a chat's own words do is tested with the tools.
"""

import html
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

import aiohttp
import pytest

from agent_core.state.memory import blocks, shares
from agent_core.state.people import api_tokens, codes, people
from gateway.operations.tools import read_off
from tests.integration.interfaces.api_setup import OLGA, Setup, find_named, make_token
from tests.integration.interfaces.console_setup import browse_as
from tests.integration.processes import talaria_beside
from tests.tables import await_each
from tools.generate_surfaces import GROUPS, REASONS, SURFACES

Do = Callable[["Surfaces", str], Awaitable[Any]]


@dataclass(frozen=True, kw_only=True)
class Surfaces:
    """The surfaces of one gateway, for Olga, who is an owner."""

    setup: Setup
    page: aiohttp.ClientSession
    token: str

    async def chat(self, words: str) -> None:
        """Send a command in the direct chat, and wait for its answer."""
        chat = self.setup.chat
        seen = len(chat.shown)
        await chat.says(words, user=OLGA, chat=OLGA, name="X", id=f"deed-{seen}-{words}")
        await chat.until(lambda: len(chat.shown) > seen)

    async def post(self, path: str, **fields: str) -> str:
        """Send a form of the page; its text."""
        async with self.page.post(path, data=fields) as answer:
            text = html.unescape(await answer.text())
            assert answer.status == 200, text
            return text

    async def run(self, *words: str) -> None:
        """Run `talaria` beside the gateway."""
        done = await talaria_beside(self.setup.home, *words)
        assert done.code == 0, done.err

    async def ask(self, verb: str, path: str, body: Mapping[str, object]) -> Any:
        """Ask the API; its answer."""
        url = f"{self.setup.served.address.origin()}/api{path}"
        head = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        async with (
            aiohttp.ClientSession(headers=head) as session,
            session.request(verb, url, data=json.dumps(body)) as answer,
        ):
            text = await answer.text()
            assert answer.status < 300, text
            return json.loads(text)

    async def read(self, look: Callable[..., Any], **given: Any) -> Any:
        """Read the database."""
        return await self.setup.served.gateway.database.read(look, **given)


@dataclass(frozen=True, kw_only=True)
class Row:
    """A deed of the table on each surface; `look` returns what it changed, by the name given."""

    deed: str
    by: Mapping[str, Do]
    look: Do


async def look_at_block(here: Surfaces, name: str) -> Any:
    found = await here.read(blocks.find, label=name)
    return found and (found.description, found.limit)


async def look_at_zone(here: Surfaces, _: str) -> Any:
    olga = await find_named(here.setup, "olga")
    found = await here.read(people.find, person_id=olga.id)
    was, reset = found.time_zone, {"time_zone": ""}
    await here.ask("PATCH", "/settings", reset)
    return was


async def look_at_invitation(here: Surfaces, name: str) -> Any:
    now = here.setup.served.gateway.now()
    found = await here.read(codes.list_open, purpose="invite", now=now)
    return [one.purpose for one in found if one.display_name == name]


async def look_at_token(here: Surfaces, name: str) -> Any:
    olga = await find_named(here.setup, "olga")
    found = await here.read(api_tokens.list_of, person_id=olga.id)
    return [one.scope for one in found if one.name == name]


async def look_at_tools(here: Surfaces, _: str) -> Any:
    olga = await find_named(here.setup, "olga")
    off = await here.read(read_off, holder=olga.id)
    await here.post("/tools/switch", tool="recall", on="yes")
    return off


async def look_at_audience(here: Surfaces, name: str) -> Any:
    olga = await find_named(here.setup, "olga")
    found = await here.read(shares.list_of, person_id=olga.id)
    return [one.audience for one in found if one.entry == name]


async def remember(here: Surfaces, name: str) -> str:
    """Remember something, and return the number of the entry."""
    made = await here.ask("POST", "/memory/entries", {"text": name})
    return str(made["id"])


async def share_in_chat(here: Surfaces, name: str) -> None:
    await here.chat(f"/share {await remember(here, name)} everyone")


async def share_on_page(here: Surfaces, name: str) -> None:
    number = await remember(here, name)
    await here.post(f"/memory/entries/{number}/share", sees="everyone")


async def share_by_api(here: Surfaces, name: str) -> None:
    number = await remember(here, name)
    await here.ask("PUT", f"/memory/entries/{number}/audience", {"sees": "everyone"})


ROWS = (
    Row(
        deed="Share an entry with everyone, or make it private",
        by={"chat": share_in_chat, "page": share_on_page, "api": share_by_api},
        look=look_at_audience,
    ),
    Row(
        deed="Switch tools on and off",
        by={
            "chat": lambda here, _: here.chat("/tools off recall"),
            "page": lambda here, _: here.post("/tools/switch", tool="recall"),
            "terminal": lambda here, _: here.run("tools", "disable", "olga", "recall"),
        },
        look=look_at_tools,
    ),
    Row(
        deed="See memory blocks, make them, and share them with people and groups",
        by={
            "chat": lambda here, name: here.chat(f"/block new {name} 300 where we go"),
            "page": lambda here, name: here.post(
                "/blocks/new", name=name, limit="300", description="where we go"
            ),
            "api": lambda here, name: here.ask(
                "POST", "/blocks", {"name": name, "limit": 300, "description": "where we go"}
            ),
        },
        look=look_at_block,
    ),
    Row(
        deed="Change settings",
        by={
            "chat": lambda here, _: here.chat("/settings time_zone Vienna"),
            "page": lambda here, _: here.post(
                "/settings", time_zone="Europe/Vienna", shown="time_zone"
            ),
            "terminal": lambda here, _: here.run("people", "set", "olga", "time_zone", "Vienna"),
            "api": lambda here, _: here.ask("PATCH", "/settings", {"time_zone": "Vienna"}),
        },
        look=look_at_zone,
    ),
    Row(
        deed="Make and revoke tokens",
        by={
            "page": lambda here, name: here.post("/tokens/new", name=name, scope="mcp"),
            "terminal": lambda here, name: here.run(
                "tokens", "create", name, "--person", "olga", "--scope", "mcp"
            ),
        },
        look=look_at_token,
    ),
    Row(
        deed="Invite someone",
        by={
            "chat": lambda here, name: here.chat(f"/invite {name}"),
            "page": lambda here, name: here.post("/people/invite", guest=name),
            "terminal": lambda here, name: here.run("people", "invite", name),
        },
        look=look_at_invitation,
    ),
)


@pytest.mark.thorough
async def test_a_deed_is_the_same_on_each_surface(setup: Setup) -> None:
    deeds = {deed.name: deed for group in GROUPS.values() for deed in group}
    token = await make_token(setup.home, "olga", "manage")
    async with browse_as(setup.served, setup.chat, OLGA) as page:
        here = Surfaces(setup=setup, page=page, token=token)

        async def check(row: Row) -> None:
            claimed = {one for one in SURFACES if getattr(deeds[row.deed], one) not in REASONS}
            assert row.by.keys() == claimed, "the row does it on each surface that is claimed"
            states = {}
            for surface, do in row.by.items():
                name = f"{surface}deed"
                await do(here, name)
                states[surface] = await row.look(here, name)
            first = next(iter(states.values()))
            assert first, states
            assert states == dict.fromkeys(states, first)

        await await_each(ROWS, check)
