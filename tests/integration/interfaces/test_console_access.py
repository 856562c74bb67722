"""Access to the console's pages: one-time links, what a member sees, and what nobody sees."""

import asyncio
import itertools
import json
import re
import shutil
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import aiohttp
import pytest
from starlette.routing import Route

from agent_core.state.engine.database import Connection
from agent_core.state.lifecycle import merge_people, split_person
from agent_core.state.people import audit, people
from agent_core.state.people.people import Person
from gateway.interfaces.pages.routes import make_pages
from gateway.people.console_links import LINK_MINUTES, check_pages
from tests.fakes.chat import FakeChat
from tests.fakes.model import FakeModel
from tests.integration.accounts import ChatAccount
from tests.integration.canaries import Planter, fill, plant
from tests.integration.harness import running as in_this_process
from tests.integration.interfaces.api_setup import OLGA, ZEBRANA, Setup, ask_about_tea, find_named
from tests.integration.interfaces.console_setup import (
    ask_link,
    browse,
    browse_as,
    open_browser,
    press_button,
)
from tests.integration.processes import talaria, talaria_beside
from tests.integration.served import Served, served
from tests.patience import PATIENCE

VERA = "4711003"
MEMBER_PAGES = (
    *("/today", "/conversations", "/turns", "/memory", "/skills", "/jobs", "/usage"),
    "/jobs/calendar",
    "/settings",
)


async def test_a_link_from_the_chat_opens_the_pages_of_its_person_once(setup: Setup) -> None:
    link = await ask_link(setup.chat, ZEBRANA)
    async with open_browser(setup.served) as session:
        for _ in range(2):  # a chat's preview of the address uses nothing up
            async with session.get(link) as answer:
                assert answer.status == 200
                assert "Open your pages" in await answer.text()
        status, text = await press_button(session, link)
        assert (status, "<h1>Today</h1>" in text) == (200, True)
        async with session.get("/memory") as answer:
            assert "bluefishmemory" in await answer.text()
        for method, path in (("GET", link), ("POST", "/login")):
            form = {"link": link.partition("=")[2]} if method == "POST" else None
            async with session.request(method, path, data=form) as answer:
                assert answer.status == 401
                assert "send /console to Talaria in your chat" in await answer.text()
    secret = link.partition("=")[2]
    kept = await setup.served.gateway.database.read(
        lambda c: [
            *c.execute("SELECT secret_hash FROM login_links").fetchall(),
            *c.execute("SELECT secret_hash FROM browser_logins").fetchall(),
        ]
    )
    assert len(kept) == 1
    assert secret not in str(kept)
    zebrana = await find_named(setup, "zebrana")
    deeds = await setup.served.gateway.database.read(
        lambda c: audit.list_of(c, person_id=zebrana.id, limit=1)
    )
    assert [(one.action, one.actor) for one in deeds] == [
        ("console.link", f"account:fake:{ZEBRANA}")
    ]


async def test_a_newer_link_replaces_the_older_one(setup: Setup) -> None:
    old = await ask_link(setup.chat, ZEBRANA)
    new = await ask_link(setup.chat, ZEBRANA)
    async with open_browser(setup.served) as session:
        assert (await press_button(session, old))[0] == 401
        assert (await press_button(session, new))[0] == 200


async def test_a_link_and_a_login_end_by_themselves(home: Path) -> None:
    moments = [1_800_000_000_000]
    chat = FakeChat(limit=100_000)
    async with served(
        home, adapters={"fake": chat}, model=FakeModel(), now=lambda: moments[-1]
    ) as running:
        link = await ask_link(chat, ZEBRANA)
        moments.append(moments[-1] + LINK_MINUTES * 60_000)
        async with open_browser(running, {"Accept-Language": "de"}) as session:
            status, text = await press_button(session, link)
            assert (status, "benutzt oder ist zu alt" in text) == (401, True)
        async with browse_as(running, chat, ZEBRANA) as session:
            moments.append(moments[-1] + 12 * 3_600_000)
            async with session.get("/today") as answer:
                assert answer.status == 401
                assert "send /console to Talaria in your chat" in await answer.text()


async def test_a_group_gets_no_link_and_neither_does_a_home_without_pages(setup: Setup) -> None:
    await setup.chat.says("/console", user=ZEBRANA, chat="-7", direct=False, name="Z", id="group-1")
    told = await setup.chat.sees_text("direct")
    assert told.chat_id == "-7"
    assert "login" not in told.text


def test_an_address_with_a_path_is_refused_at_the_start(home: Path) -> None:
    done = talaria(home, "run", TALARIA_HTTP__PUBLIC_URL="https://nest.example/birds")
    assert done.code == 2
    assert "must be an address without a path" in done.err
    assert done.err.count("\n") == 1


def test_without_a_port_members_learn_whom_to_ask_and_owners_what_to_set() -> None:
    assert "Ask the owner" in check_pages("", is_owner=False)
    assert "Set a port in config.toml" in check_pages("", is_owner=True)
    assert check_pages("http://127.0.0.1:1", is_owner=False) == ""


async def test_the_command_line_gives_a_link_for_anybody(setup: Setup) -> None:
    for arguments, title in (((), "The pages of olga:"), (("--person", "zebrana"), "of zebrana:")):
        port = {"TALARIA_HTTP__PORT": str(setup.served.address.port)}
        made = await talaria_beside(setup.home, "console", *arguments, **port)
        assert made.code == 0, made.err
        assert title in made.out
        found = re.search(r"http://127\.0\.0\.1:\d+(/login\?link=\S+)", made.out)
        assert found is not None
        async with open_browser(setup.served) as session:
            assert (await press_button(session, found[1]))[0] == 200
    listed = await talaria_beside(setup.home, "logins", "list")
    assert [line.partition(":")[0] for line in listed.out.splitlines()] == ["olga", "zebrana"]


@pytest.mark.parametrize(
    ("arguments", "environ", "words"),
    [
        (("--person", "nobody"), {"TALARIA_HTTP__PORT": "1"}, "There is no person nobody"),
        ((), {"TALARIA_HTTP__PORT": "0", "TELEGRAM_BOT_TOKEN": "1:a"}, "The console page is off."),
        (
            (),
            {"TALARIA_HTTP__PORT": "1", "TALARIA_HTTP__PUBLIC_URL": "https://a.example/b"},
            "without a path",
        ),
    ],
    ids=["unknown", "off", "path"],
)
def test_the_command_line_refuses_with_one_sentence(
    home: Path, arguments: tuple[str, ...], environ: dict[str, str], words: str
) -> None:
    done = talaria(home, "console", *arguments, **environ)
    assert done.code == 2
    assert words in done.err
    assert "http" not in done.out


async def test_a_member_sees_their_own_pages_and_no_others(setup: Setup) -> None:
    async with browse_as(setup.served, setup.chat, ZEBRANA) as session:
        for path in MEMBER_PAGES:
            async with session.get(path) as answer:
                text = await answer.text()
                assert answer.status == 200, (path, text)
                assert 'href="/people"' not in text
                assert 'href="/condition"' not in text
        for path in (
            *(
                "/people",
                "/people/usage",
                "/condition",
                "/configuration",
                "/metrics",
                "/api/openapi.json",
            ),
        ):
            async with session.get(path) as answer:
                assert answer.status == 403, path
                assert "Only owners see this page." in await answer.text()
        async with session.get("/nothing") as answer:
            assert answer.status == 404
            assert "There is nothing at this address" in await answer.text()


async def test_an_owner_with_a_link_sees_the_gateways_pages(setup: Setup) -> None:
    async with browse_as(setup.served, setup.chat, OLGA) as session:
        for path in (*MEMBER_PAGES, "/people", "/condition", "/configuration"):
            async with session.get(path) as answer:
                assert answer.status == 200, path
        async with session.get("/metrics") as answer:
            assert answer.status == 403


async def test_logging_out_and_losing_access_end_a_login(setup: Setup) -> None:
    database = setup.served.gateway.database
    async with browse_as(setup.served, setup.chat, ZEBRANA) as session:
        head = {"Accept": "text/html"}
        async with session.post("/logout", headers=head) as answer:
            assert "You are logged out." in await answer.text()
        for asked in ("/", "/today", "/usage?by=model"):
            async with session.get(asked, headers=head) as answer:
                assert answer.status == 401
                assert f'href="{asked}">I have logged in again' in await answer.text()
        async with session.get("/?token=wrong", headers=head) as answer:
            assert "wrong" not in await answer.text()
    zebrana = await find_named(setup, "zebrana")
    async with (
        browse_as(setup.served, setup.chat, ZEBRANA) as session,
        session.get("/pages/events") as stream,
    ):
        assert (await stream.content.readline()).startswith(b":")
        ended = await talaria_beside(setup.home, "logins", "end")
        assert ended.out.startswith("1 logged out.")
        async with asyncio.timeout(PATIENCE):
            await stream.content.read()
    async with browse_as(setup.served, setup.chat, ZEBRANA) as session:

        def shut_out(connection: Connection) -> None:
            connection.execute(
                "UPDATE accounts SET user_id = 'other' WHERE person_id = :id", {"id": zebrana.id}
            )

        await database.write("test", shut_out)
        async with session.get("/memory") as answer:
            assert answer.status == 401
            assert "bluefish" not in await answer.text()


async def test_a_public_address_is_known_by_its_own_name_only(home: Path) -> None:
    with (home / "config.toml").open("a") as file:
        file.write('[http]\npublic_url = "https://nest.example"\n')
    chat = FakeChat(limit=100_000)
    async with served(home, adapters={"fake": chat}, model=FakeModel()) as running:
        await chat.says("/console", user=ZEBRANA, chat=ZEBRANA, name="Z", id="public-1")
        told = await chat.sees_text("https://nest.example/login?link=")
        secret = told.text.partition("link=")[2].split()[0]
        named = {"Host": "nest.example", "Origin": "https://nest.example"}
        async with aiohttp.ClientSession(running.address.origin()) as session:
            for host, origin in (
                ("evil.example", "https://nest.example"),
                ("nest.example", "https://evil.example"),
                ("nest.example", "http://nest.example"),
            ):
                head = {"Host": host, "Origin": origin}
                async with session.post("/login", data={"link": secret}, headers=head) as answer:
                    assert answer.status == 403
            async with session.post(
                "/login", data={"link": secret}, headers=named, allow_redirects=False
            ) as answer:
                assert answer.status == 303
                assert "Secure" in answer.headers["Set-Cookie"]


@pytest.fixture(scope="session")
def crowded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home of an owner and two members, with words of each in every place."""
    home = tmp_path_factory.mktemp("crowded") / "home"

    async def plant_all() -> None:
        await fill(home)
        listed = ", ".join(f'"fake:{user}"' for user in (OLGA, ZEBRANA, VERA))
        (home / "config.toml").write_text(f"[access]\nallow = [{listed}]\n")
        chat = FakeChat(limit=100_000, _ids=1000)  # behind the numbers of the first gateway
        async with in_this_process(home, Planter(), chat=chat) as harness:
            await plant(harness, ChatAccount(harness, VERA, "Vera"), "redkite")
            await plant(harness, ChatAccount(harness, OLGA, "Olga"), "greyowl")

    asyncio.run(plant_all())
    return home


@dataclass
class Crowd:
    """A gateway of three people, with a browser of each and the canary of each."""

    served: Served
    browsers: dict[str, aiohttp.ClientSession]


FAMILIES = {"zebrana": "bluefish", "vera": "redkite", "olga": "greyowl", "printed": "greyowl"}
TABLES = {
    "account": "accounts",
    "approval": "approvals",
    "change": "ledger",
    "chore": "jobs",
    "code": "link_codes",
    "conversation": "conversations",
    "deed": "audit",
    "delivery": "webhook_deliveries",
    "job": "jobs",
    "message": "messages",
    "person": "people",
    "question": "questions",
    "review": "tasks",
    "room": "rooms",
    "session": "sessions",
    "token": "api_tokens",
    "turn": "turns",
    "webhook": "webhooks",
}
"""The table whose rows a number in an address counts."""
CLAIMS = range(3)
"""Numbers of claims within a review."""


@pytest.fixture
async def crowd(crowded: Path, tmp_path: Path) -> AsyncIterator[Crowd]:
    home = Path(shutil.copytree(crowded, tmp_path / "home"))
    chat = FakeChat(limit=100_000)
    async with (
        served(home, adapters={"fake": chat}, model=FakeModel()) as running,
        AsyncExitStack() as stack,
    ):
        database, now = running.gateway.database, running.gateway.now()
        for person in await database.read(people.list_all):
            await database.write("test", partial(ask_about_tea, person=person, now=now))
        browsers = {
            slug: await stack.enter_async_context(browse_as(running, chat, user))
            for slug, user in (("zebrana", ZEBRANA), ("vera", VERA), ("olga", OLGA))
        }
        browsers["printed"] = await stack.enter_async_context(browse(running))
        yield Crowd(running, browsers)


def list_addresses(running: Served) -> list[tuple[str, str]]:
    """Every method and path of the pages, from their routes."""

    async def find_nobody(_: object) -> None:
        return None

    routes = make_pages(running.gateway, find_nobody).list_routes()
    found = [route for route in routes if isinstance(route, Route)]
    listed = [(method, one.path) for one in found for method in sorted(one.methods or ())]
    return [(method, path) for method, path in listed if method != "HEAD"]


def fill_in(path: str, numbers: dict[str, range], names: list[str]) -> list[str]:
    """A path with each row's number where one belongs, and every name where a name belongs."""
    places = re.findall(r"\{(\w+)(:int)?\}", path)
    choices = [numbers[place] if is_number else names for place, is_number in places]
    blank = re.sub(r"\{[\w:]+\}", "{}", path)
    return [blank.format(*chosen) for chosen in itertools.product(*choices)]


def dump_all(connection: Connection, others: list[Person]) -> list[str]:
    """What belongs to some people, as text."""
    tables = ("ledger", "jobs", "questions", "turns", "archive", "shares", "browser_logins")
    return [
        str(row)
        for table in tables
        for person in others
        for row in connection.execute(
            f"SELECT * FROM {table} WHERE person_id = :person_id ORDER BY id",
            {"person_id": person.id},
        ).fetchall()
    ]


@pytest.mark.thorough
async def test_no_address_shows_or_changes_what_belongs_to_somebody_else(crowd: Crowd) -> None:
    database = crowd.served.gateway.database

    def find_numbers(connection: Connection) -> dict[str, range]:
        newest = {
            name: connection.execute(f"SELECT MAX(id) FROM {table}").fetchone()[0] or 0
            for name, table in TABLES.items()
        }
        return {name: range(number + 2) for name, number in newest.items()} | {"claim": CLAIMS}

    numbers = await database.read(find_numbers)
    everybody = {one.slug: one for one in await database.read(people.list_all)}
    names = ["zebrana", "run", "delete", "restore"]
    shown = dict.fromkeys(FAMILIES, 0)
    for method, path in list_addresses(crowd.served):
        if path in ("/pages/events", "/people/{person:int}/ask"):
            continue  # these have tests of their own: one never ends, and one asks others
        for filled in fill_in(path, numbers, names):
            for viewer, session in crowd.browsers.items():
                own = "olga" if viewer == "printed" else viewer
                others = [one for slug, one in everybody.items() if slug != own]
                if method == "POST":
                    before = await database.read(partial(dump_all, others=others))
                async with session.request(method, filled, data={"choice": "yes"}) as answer:
                    text = (await answer.read()).decode(errors="replace").lower()
                assert answer.status < 500, (viewer, filled)
                for family in {*FAMILIES.values()} - {FAMILIES[viewer]}:
                    assert family not in text, (viewer, method, filled)
                shown[viewer] += FAMILIES[viewer] in text
                if method == "POST":
                    after = await database.read(partial(dump_all, others=others))
                    assert before == after, (viewer, method, filled)
    assert all(count > 3 for count in shown.values()), shown


async def test_the_stream_of_events_tells_nothing_of_somebody_else(crowd: Crowd) -> None:
    database, now = crowd.served.gateway.database, crowd.served.gateway.now()
    everybody = {one.slug: one for one in await database.read(people.list_all)}
    zebranas = await database.write(
        "test", partial(ask_about_tea, person=everybody["zebrana"], now=now)
    )
    own = await database.write("test", partial(ask_about_tea, person=everybody["vera"], now=now))
    from_the_start = {"Last-Event-ID": "0---0-0"}
    async with crowd.browsers["vera"].get("/pages/events", headers=from_the_start) as stream:
        told: list[dict[str, int]] = []
        while {"question": own} not in told:
            line = (await stream.content.readline()).decode()
            if line.startswith("data: "):
                told.append(json.loads(line.removeprefix("data: ")))
    assert {"question": zebranas} not in told
    turns_of = await database.read(
        lambda c: {
            row[0]: row[1] for row in c.execute("SELECT id, person_id FROM turns").fetchall()
        }
    )
    shown = [one["turn"] for one in told if "turn" in one]
    assert shown
    assert {turns_of[turn] for turn in shown} == {everybody["vera"].id}


async def test_linking_and_unlinking_an_account_end_the_logins_of_both_people(
    setup: Setup,
) -> None:
    database, now = setup.served.gateway.database, setup.served.gateway.now()
    olga, zebrana = await find_named(setup, "olga"), await find_named(setup, "zebrana")

    def merge(connection: Connection) -> None:
        merge_people.merge(
            connection,
            kept=olga.id,
            absorbed=zebrana.id,
            rename=lambda one: f"again {one.key}",
            now=now,
        )

    def split(connection: Connection) -> None:
        account = people.find_account(connection, platform="fake", user_id=ZEBRANA)
        assert account is not None
        split_person.split(
            connection, account, into=zebrana.id, rename=lambda one: f"again {one.key}", now=now
        )

    async with browse_as(setup.served, setup.chat, ZEBRANA) as session:
        await database.write("test", merge)
        async with session.get("/today") as answer:
            assert answer.status == 401
    setup.served.gateway.forget_known()
    async with browse_as(setup.served, setup.chat, ZEBRANA) as session:
        async with session.get("/memory") as answer:
            assert answer.status == 200
        await database.write("test", split)
        async with session.get("/today") as answer:
            assert answer.status == 401
