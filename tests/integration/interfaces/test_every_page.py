"""What holds for every page of the console: ways on, times and names instead of identifiers."""

import re
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from html.parser import HTMLParser
from pathlib import Path

import aiohttp

from agent_core.localization import Text
from agent_core.state.backups.places import find_newest
from agent_core.state.engine.database import Connection
from agent_core.state.people import people
from gateway.home import BACKUPS
from gateway.interfaces.pages import routes
from gateway.interfaces.pages.rendering import PLACES
from gateway.texts import (
    agent_pages,
    approvals,
    connections,
    forms,
    health,
    jobs,
    mcp,
    model_page,
    pages,
    setting_topics,
    shell,
    skills,
    tokens,
    turns,
    usage,
    webhooks,
)
from tests.agent_core.agent.named.agent_folders import write
from tests.agent_core.skills.skill_folders import write_skill
from tests.fakes.chat import FakeChat
from tests.fakes.model import FakeModel
from tests.integration.canaries import Planter
from tests.integration.harness import is_settled
from tests.integration.interfaces.api_setup import OLGA, ZEBRANA
from tests.integration.interfaces.console_setup import browse, browse_as, submit
from tests.integration.interfaces.page_texts import read
from tests.integration.served import Served, served
from tests.patience import until

_TEXTS = (
    agent_pages,
    approvals,
    connections,
    forms,
    health,
    jobs,
    mcp,
    model_page,
    pages,
    setting_topics,
    shell,
    skills,
    tokens,
    turns,
    usage,
    webhooks,
)
_EMPTY = re.compile(r"(?:NO|NOTHING|NOBODY|NONE|NEVER)(?:_[A-Z_]+)?")
"""How the sentences are named that say that something is not there."""
_VOID = frozenset(
    {"area", "br", "col", "hr", "img", "input", "link", "meta", "rect", "use", "path"}
)
_QUOTES = ("cut-line",)
"""The classes of what was said somewhere, and is repeated in these words."""
_ROOM = "-100200300400"


class _Page(HTMLParser):
    """Reads what a page shows: its words by section, its ways on, and its times."""

    def __init__(self) -> None:
        super().__init__()
        self.words: list[tuple[str, int]] = []
        """Each text with the number of the smallest section around it."""
        self.ways: set[int] = set()
        """The sections with a link or a button, those around them included."""
        self.times: list[dict[str, str | None]] = []
        self.untimed: list[str] = []
        """The texts outside of times and quotes."""
        self._open: list[tuple[str, int]] = [("", 0)]
        self._quotes = 0
        """How many of the open elements were open when a quote began; 0 outside of quotes."""
        self._count = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = dict(attrs)
        section = self._open[-1][1]
        if tag in ("main", "nav", "section", "article", "dd") or named.get("class") == "empty":
            self._count += 1
            section = self._count
        if (tag == "a" and named.get("href")) or tag == "button":
            self.ways |= {one for _, one in self._open} | {section}
        if tag == "time":
            self.times.append(named)
        if tag not in _VOID:
            self._open.append((tag, section))
        if named.get("class") in _QUOTES and not self._quotes:
            self._quotes = len(self._open)

    def handle_endtag(self, tag: str) -> None:
        if tag not in _VOID:
            while self._open.pop()[0] != tag:
                pass
            if len(self._open) < self._quotes:
                self._quotes = 0

    def handle_data(self, data: str) -> None:
        hidden = {"script", "style", "title"} & {tag for tag, _ in self._open}
        if data.strip() and not hidden:
            words = " ".join(data.split())
            self.words.append((words, self._open[-1][1]))
            if "time" not in {tag for tag, _ in self._open} and not self._quotes:
                self.untimed.append(words)

    @property
    def text(self) -> str:
        """What is shown, on one line."""
        return " ".join(words for words, _ in self.words)


async def _open(session: aiohttp.ClientSession, path: str) -> _Page:
    page = _Page()
    page.feed(await read(session, path))
    return page


def _list_empty() -> dict[str, str]:
    """The sentences about what is not there, as a page shows them, with their names."""
    found = {}
    for module in _TEXTS:
        for name, text in vars(module).items():
            if isinstance(text, Text) and _EMPTY.fullmatch(name):
                start = re.split(r"[{`]", text.english)[0].strip()
                if len(start.split()) > 1:
                    found[start] = text.english
    return found


def _list_plain() -> list[str]:
    """The addresses of the pages that are there in every home."""
    return [path for path in ("/", *routes._VIEWS) if "{" not in path]


async def _walk(
    session: aiohttp.ClientSession, paths: Iterable[str]
) -> AsyncIterator[tuple[str, _Page]]:
    for path in paths:
        yield path, await _open(session, path)


async def test_whatever_is_empty_has_a_way_on(tmp_path: Path) -> None:
    empty, seen, wrong = _list_empty(), set(), []
    async with served(tmp_path / "home", model=FakeModel()) as running, browse(running) as session:
        paths = [
            *_list_plain(),
            "/search?q=heron",
            "/jobs/calendar?week=",
            "/configuration?find=zzz",
        ]
        async for path, page in _walk(session, paths):
            for words, section in page.words:
                for start, source in empty.items():
                    if words.startswith(start):
                        seen.add(source)
                        if section not in page.ways:
                            wrong.append((path, source))
    assert wrong == []
    assert len(seen) > 20, "the walk meets the empty pages"


@asynccontextmanager
async def _filled(home: Path) -> AsyncIterator[tuple[Served, FakeChat, aiohttp.ClientSession]]:
    """A gateway in which things have happened of which the pages show something."""
    write_skill(home / "skills", "tidy", "Sort the letters.")
    write(home, "coder", 'description = "Writes code"')
    write(home, "checker", 'description = "Reads what coder wrote"')
    (home / "teams").mkdir()
    (home / "teams" / "press.toml").write_text(
        'manager = "round_robin"\nmembers = ["coder", "checker"]\n'
    )
    chat = FakeChat(limit=100_000)
    async with (
        served(home, adapters={"fake": chat}, model=Planter()) as running,
        browse_as(running, chat, OLGA) as session,
    ):
        await submit(session, "/jobs/new", {"text": "Water the plants", "when": "daily at 9"})
        await submit(session, "/memory/entries", {"text": "Keeps bees"})
        for user, name in ((OLGA, "Olga"), (ZEBRANA, "Zebrana")):
            await _say(running, chat, "Which heron is grey?", user=user, chat=user, name=name)
        group = {"chat": _ROOM, "direct": False, "addressed": True, "room_title": "Choir"}
        await _say(running, chat, "When do we sing?", user=OLGA, name="Olga", **group)
        yield running, chat, session


async def _say(running: Served, where: FakeChat, words: str, **fields: object) -> None:
    """Say something, and wait for the answer."""
    seen = len(where.shown)
    await where.says(words, id=f"{words} {fields['user']}", **fields)
    await where.until(lambda: len(where.shown) > seen)
    await until(lambda: is_settled(running.gateway))


async def _list_single(running: Served) -> list[str]:
    """The addresses of single things of the owner."""

    def work(connection: Connection) -> list[str]:
        olga = next(one.id for one in people.list_all(connection) if one.slug == "olga")
        tables = {
            "/turns/%s": "SELECT id FROM turns WHERE person_id = :olga",
            "/turns/%s/replay": "SELECT MAX(id) FROM turns WHERE person_id = :olga",
            "/jobs/%s": "SELECT id FROM jobs WHERE person_id = :olga",
            "/conversations/%s": "SELECT id FROM conversations WHERE person_id = :olga",
            "/chats/%s": "SELECT sessions.id FROM sessions JOIN conversations"
            " ON conversations.id = conversation_id WHERE person_id = :olga AND kind = 'direct'",
            "/people/rooms/%s": "SELECT id FROM rooms",
        }
        return [
            path % row[0]
            for path, query in tables.items()
            for row in connection.execute(query, {"olga": olga} if ":olga" in query else {})
        ]

    found = await running.gateway.database.read(work)
    return [*found, "/skills/tidy", "/agents/coder", "/teams/press", "/search?q=heron"]


_IDENTIFIERS = re.compile(
    r"(?P<uuid>\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-)|(?P<hash>\b(?=[a-f]*[0-9])[0-9a-f]{16,}\b)"
    r"|(?P<turn>\b(?:turn|person|account|job|session|conversation|message)[:#]\d+)"
    rf"|(?P<user>{OLGA}|{ZEBRANA}|{_ROOM})"
)


_DATES = re.compile(
    r"\b\d{4}-\d\d-\d\d\b|\b\d{1,2}\.? (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
    r"|\b(?:today|tomorrow|yesterday), \d{1,2}:\d\d"
)
"""Bare dates, which say nothing on hover."""


_THE_POINT = {"/configuration": "it shows the list of accounts as the file has it"}
"""Pages whose point is an identifier, each with the reason."""


async def test_no_page_shows_a_raw_identifier_and_every_time_has_its_exact_one(
    home: Path,
) -> None:
    shown, times, dates = {}, [], []
    async with _filled(home) as (running, _, session):
        paths = [*_list_plain(), *await _list_single(running)]
        async for path, page in _walk(session, paths):
            if found := {one[0] for one in _IDENTIFIERS.finditer(page.text)}:
                shown[path] = found
            times += [(path, one) for one in page.times]
            dates += [(path, one) for one in page.untimed if _DATES.search(one)]
    assert set(shown) == set(_THE_POINT)
    assert dates == []
    assert len(times) > 20
    assert [one for one in times if not (one[1].get("datetime") and one[1].get("title"))] == []


async def test_a_page_that_is_not_in_the_sidebar_leads_back_to_one_that_is(home: Path) -> None:
    async with _filled(home) as (running, _, session):
        paths = {*_list_plain(), *await _list_single(running)}
        for path in paths - {"/talks", "/search", "/search?q=heron"}:
            ways = re.findall(r'class="way-back"><a href="([^"]*)"', await read(session, path))
            assert len(ways) == (path not in PLACES), path
            assert set(ways) <= PLACES.keys()


async def test_german_pages_name_chores_and_events_in_german(home: Path) -> None:
    german = {"Accept-Language": "de"}
    async with (
        served(home, model=FakeModel()) as running,
        browse(running, **german) as session,
    ):
        assert "Sicherung der Datenbank" in await read(session, "/condition")
        await submit(session, "/jobs/new", {"text": "Tee", "when": "jeden Tag um 9"})
        calendar = await read(session, "/jobs/calendar")
    assert re.search(r"\d\. (?:Januar|Februar|März|April|Mai|Juni|Juli|August|\w+ber)\b", calendar)


async def test_the_sidebar_lists_conversations_by_their_last_message(home: Path) -> None:
    async with _filled(home) as (running, chat, session):
        first = _list_talks(await read(session, "/talks"))
        assert first[0][1:] == ("fake", "Choir"), "a group has its name"
        await _say(running, chat, "Which one is blue?", user=OLGA, chat=OLGA, name="Olga")
        then = _list_talks(await read(session, "/talks"))
        room = first[0][0]
        assert [one[0] for one in then].index(room) == 1, "the direct one is newer now"
        assert "<h1>Choir</h1>" in await read(session, room)


def _list_talks(text: str) -> list[tuple[str, str, str]]:
    """The address, the platform that the icon stands for, and the name of each conversation."""
    return re.findall(
        r'<li><a href="(/[^"]*)"[^>]*><svg class="icon".*?</svg>'
        r'<span class="quiet">(\w+): </span><span class="cut-line">([^<]*)</span>',
        text,
    )


async def test_the_sidebar_leaves_runs_of_reminders_out(home: Path) -> None:
    async with _filled(home) as (running, chat, session):
        form = {"text": "Look for news", "when": "every day at 9", "kind": "prompt"}
        await submit(session, "/jobs/new", form)
        jobs_page = await read(session, "/jobs")
        number = max(map(int, re.findall(r'action="/jobs/(\d+)/run"', jobs_page)))
        seen = len(chat.shown)
        await submit(session, f"/jobs/{number}/run", {})
        await chat.until(lambda: len(chat.shown) > seen)
        await until(lambda: is_settled(running.gateway))
        assert "Look for news" in await read(session, "/turns")
        assert "Look for news" not in await read(session, "/talks")


async def test_a_chore_runs_at_once_and_makes_the_first_backup(tmp_path: Path) -> None:
    async with served(tmp_path / "home", model=FakeModel()) as running, browse(running) as session:
        page = await read(session, "/condition")
        (address,) = re.findall(
            r'action="([^"]*)"><button aria-label="Back up now', page.replace("\n", "")
        )
        assert "runs now" in await submit(session, address, {})
        await until(lambda: find_newest(tmp_path / "home" / BACKUPS) is not None)
        assert "Back up now" not in await read(session, "/condition")
        await submit(session, address.replace("/run", "0/run"), {}, status=404)


async def test_the_search_tells_equal_reminders_apart_by_their_times(tmp_path: Path) -> None:
    async with served(tmp_path / "home", model=FakeModel()) as running, browse(running) as session:
        for when in ("tomorrow at 9", "tomorrow at 15"):
            await submit(session, "/jobs/new", {"text": "Call the plumber", "when": when})
        found = await read(session, "/search?q=plumber")
        assert ">tomorrow, 9:00<" in found
        assert ">tomorrow, 15:00<" in found


async def test_people_of_one_name_are_told_apart_by_their_accounts(home: Path) -> None:
    async with _filled(home) as (running, _, session):
        assert f"({OLGA})" not in await read(session, "/people")

        def rename(connection: Connection) -> None:
            connection.execute("UPDATE people SET name = 'Anna' WHERE kind = 'human'")

        await running.gateway.database.write("test", rename)
        running.gateway.forget_known()
        page = await read(session, "/people")
        assert f"({OLGA})" in page
        assert f'aria-label="Remove Anna ({ZEBRANA})' in page


async def test_the_search_finds_each_kind_of_thing(home: Path) -> None:
    async with _filled(home) as (_, __, session):
        for words, head, name in (
            ("today", "Pages", "Today"),
            ("heron", "Messages", "Which <mark>heron</mark>"),
            ("plants", "Reminders", "Water the plants"),
            ("bees", "Memory", "Keeps <mark>bees</mark>"),
            ("tidy", "Skills", "tidy"),
            ("quiet", "Settings", "Quiet hours"),
            ("webhooks", "Settings", "Webhooks"),
            ("most steps", "Settings", "max_steps"),
        ):
            found = (await read(session, f"/search?q={words.replace(' ', '+')}")).partition(
                'id="found"'
            )[2]
            heads = re.split(r"<h2[^>]*>", found)
            section = next((one for one in heads if one.startswith(f"{head}</h2>")), "")
            assert name in section, (words, found)
