"""Deeds of the table in docs/surfaces.md, done on each surface that it claims: the state is equal.

A row stands by its name in the table, and does its deed on all surfaces that the table claims.
"""

import re
from collections.abc import Collection
from pathlib import Path

import pytest

from tests.agent_core.tools.mcp import oauth_server
from tests.agent_core.tools.mcp.oauth_server import OAuthServer
from tests.emulators.openai import OpenAIEmulator
from tests.emulators.receiver import Receiver
from tests.fakes.chat import FakeChat
from tests.integration.interfaces.api_setup import OLGA, Setup, make_token
from tests.integration.interfaces.console_setup import browse_as
from tests.integration.interfaces.same_deeds import (
    ability_rows,
    job_rows,
    memory_rows,
    own_rows,
    owner_rows,
    talk_rows,
)
from tests.integration.interfaces.same_deeds.surfaces import Doer, Row, Surfaces
from tests.integration.memory.learning import SOON
from tests.integration.served import served
from tests.tables import await_each
from tools.generate_surfaces import GROUPS, Deed, list_changing

ROWS = {
    "Talk": talk_rows.ROWS,
    "Reminders and jobs": job_rows.ROWS,
    "Memory": memory_rows.ROWS,
    "Skills, tools and models": ability_rows.ROWS,
    "You": own_rows.ROWS,
    "Owners": owner_rows.ROWS,
}
DEEDS = {deed.name: deed for group in GROUPS.values() for deed in group}
CONFIG = """
[model]
choices = ["small"]
[jobs]
per_person = 1000
[webhooks]
allow_hosts = ["127.0.0.1"]
[tools]
backend = "local"
[learning]
turns = 80
steps = 0
conclusions = false
"""


def test_whatever_several_surfaces_claim_has_a_row() -> None:
    assert ROWS.keys() == GROUPS.keys()
    assert find_missing(GROUPS["Memory"], ()) != [], "a deed without a row is seen"
    for group, deeds in GROUPS.items():
        assert find_missing(deeds, ROWS[group]) == [], group


def find_missing(deeds: Collection[Deed], rows: Collection[Row]) -> list[str]:
    """Say for which deeds there is no row, and which rows do not do all that is claimed."""
    known = {row.deed for row in rows}
    shared = [deed.name for deed in deeds if len(list_changing(deed)) > 1]
    missing = [name for name in shared if name not in known]
    wrong = [
        f"{row.deed}: {sorted(row.by)}"
        for row in rows
        if row.deed not in shared or row.by.keys() != list_changing(DEEDS[row.deed]).keys()
    ]
    return missing + wrong


@pytest.mark.thorough
@pytest.mark.parametrize("group", ROWS)
async def test_a_deed_is_the_same_on_each_surface(home: Path, group: str) -> None:
    with (home / "config.toml").open("a") as file:
        file.write(CONFIG)
    chat, model = FakeChat(limit=100_000), Doer()
    async with (
        Receiver() as receiver,
        oauth_server.serve() as server,
        OpenAIEmulator(key=owner_rows.MODEL_KEY, models=(owner_rows.MODEL,)) as api,
        served(home, adapters={"fake": chat}, model=model, timings=SOON) as running,
    ):
        setup = Setup(running, chat, model, home, "", "")
        await check_rows(setup, ROWS[group], receiver.url, server, api.base_url)


async def check_rows(
    setup: Setup, rows: tuple[Row, ...], receiver: str, server: OAuthServer, models: str
) -> None:
    """Do the deed of each row on each surface, and find every place of the table used."""
    used: dict[str, set[tuple[str, str]]] = {}
    async with browse_as(setup.served, setup.chat, OLGA) as page:

        async def check(row: Row) -> None:
            # A token may ask only so often in a minute.
            name = f"deed {rows.index(row)}"
            tokens = [
                await make_token(setup.home, "olga", scope, name) for scope in ("manage", "mcp")
            ]
            here = Surfaces(
                setup=setup,
                page=page,
                token=tokens[0],
                mcp_token=tokens[1],
                receiver=receiver,
                server=server,
                models=models,
            )
            for surface, do in row.by.items():
                what = await row.ready(here, f"{surface}{rows.index(row)}")
                before = await row.look(here, what)
                assert before != row.left, f"{surface}: {row.deed}: it is so already: {before}"
                here.used.clear()
                await do(here, what)
                await here.until_equal(row, what, surface)
                used.setdefault(row.deed, set()).update(here.used)

        await await_each(rows, check)
    unused = {deed: find_unused(DEEDS[deed], places) for deed, places in used.items()}
    assert {deed: places for deed, places in unused.items() if places} == {}


def find_unused(deed: Deed, used: Collection[tuple[str, str]]) -> list[tuple[str, str]]:
    """List what the table names for a deed, and no row has used."""
    return [
        (surface, place)
        for surface, places in list_changing(deed).items()
        for place in places
        if not any(where == surface and is_at(place, words) for where, words in used)
    ]


def is_at(place: str, words: str) -> bool:
    """Return whether what was used is this place: a command, a form, a verb, a route, a tool."""
    pattern = re.sub(r"\\{\w+(:\w+)?\\}", "[^/]+", re.escape(place))
    return re.fullmatch(rf"{pattern}([ ?].*)?", words, re.DOTALL) is not None
