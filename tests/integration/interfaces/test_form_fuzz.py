"""Every form of the pages against input that no browser sends, and by whom it is not meant for.

The forms are those of the router, and the fields those of the templates, so that no new one can be
left out.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import cycle, product
from pathlib import Path

import aiohttp
import pytest
import yarl
from starlette.requests import Request
from starlette.routing import Route

import gateway.interfaces.pages
from agent_core.state.conversations import approvals
from agent_core.state.conversations.approvals import NewApproval
from agent_core.state.engine.database import Connection
from agent_core.state.people import people, rooms
from agent_core.state.people.people import Person
from gateway.app.gateway import Gateway
from gateway.interfaces.pages.routes import Login, make_pages
from tests.agent_core.agent.named.agent_folders import write
from tests.fakes.chat import FakeChat
from tests.integration.canaries import Planter
from tests.integration.interfaces.api_setup import OLGA, ZEBRANA, ask_about_tea, make_token
from tests.integration.interfaces.console_setup import browse_as, open_browser
from tests.integration.interfaces.held_notes import dismiss, hold
from tests.integration.served import Served, served

CANARIES = {"olga": "redkite", "zebrana": "bluefish"}
FORM = "application/x-www-form-urlencoded"
OUTSIDE = ("/login", "/logout")
"""Forms beside the pages. A login is not needed for the first, and ends with the second."""
WORDS: Mapping[str, Sequence[str]] = {
    "verb": (
        "test",
        "pause",
        "resume",
        "remove",
        "restore",
        "run",
        "delete",
        "archive",
        "undo",
        "use",
    ),
    "choice": ("accept", "dismiss"),
    "name": ("turns.max_steps", "log.level", "model.fallbacks", "access.allow"),
    "skill": ("tidy", "digest", "unknown"),
    "proposal": ("1-0", "7-999"),
    "agent": ("coder", "default"),
    "team": ("press", "unknown"),
    "server": ("files", "unknown"),
}
"""The words in addresses, by their names in the routes. A route with another needs its words."""
NUMBERS: Mapping[str, str] = {
    "account": "SELECT id FROM accounts WHERE person_id = :id",
    "approval": "SELECT id FROM approvals WHERE person_id = :id",
    "block": "SELECT label FROM blocks WHERE made_by = :id",
    "change": "SELECT id FROM ledger WHERE person_id = :id",
    "chore": "SELECT id FROM jobs WHERE kind = 'system'",
    "claim": "SELECT 1 UNION SELECT 2",
    "code": "SELECT id FROM link_codes",
    "conversation": "SELECT id FROM conversations WHERE person_id = :id",
    "deed": "SELECT id FROM audit WHERE person_id = :id AND action = 'deed'",
    "delivery": "SELECT webhook_deliveries.id FROM webhook_deliveries JOIN webhooks"
    " ON webhooks.id = webhook_id WHERE person_id = :id",
    "job": "SELECT id FROM jobs WHERE person_id = :id",
    "message": "SELECT id FROM messages WHERE person_id = :id",
    "person": "SELECT id FROM people WHERE id <> :id AND kind = 'human'",
    "question": "SELECT id FROM questions WHERE person_id = :id",
    "review": "SELECT id FROM tasks WHERE kind = 'review' AND person_id = :id",
    "room": "SELECT id FROM rooms",
    "session": "SELECT sessions.id FROM sessions JOIN conversations"
    " ON conversations.id = conversation_id WHERE person_id = :id",
    "token": "SELECT id FROM api_tokens WHERE person_id = :id",
    "webhook": "SELECT id FROM webhooks WHERE person_id = :id",
}
"""What finds a person's own numbers or names for addresses. A route with another needs a query."""
OWN = (
    *("SELECT * FROM people WHERE id = :id", "SELECT * FROM accounts WHERE person_id = :id"),
    *("SELECT * FROM jobs WHERE person_id = :id", "SELECT * FROM ledger WHERE person_id = :id"),
    "SELECT * FROM questions WHERE person_id = :id",
    "SELECT * FROM approvals WHERE person_id = :id",
    "SELECT * FROM conversations WHERE person_id = :id",
    "SELECT * FROM blocks WHERE made_by = :id",
    "SELECT * FROM tasks WHERE kind = 'review' AND person_id = :id",
    "SELECT name, url, kinds, secret, state, removed_at FROM webhooks WHERE person_id = :id",
)
"""What nobody else may change, without what is noted about sending."""
_ODD_NUMBERS = ("0", str(2**62), str(2**70), "9" * 400)
_ODD_WORDS = ("x", "%00", "%ED%A0%80", "%2e%2e%2f", "a" * 3000, "%F0%9F%A6%89", "%25s%7B0%7D")
_ODD_VALUES = ("", "%00", "%ED%A0%80", "%FF", "-1", "1e999", "9" * 400, "[]", "{0}%25s", "x" * 5000)


@dataclass
class Side:
    """A person with a browser, and the numbers of what is theirs."""

    person: Person
    browser: aiohttp.ClientSession
    numbers: Mapping[str, Sequence[str]]
    statuses: defaultdict[str, set[int]] = field(default_factory=lambda: defaultdict(set))
    """The answers to forms about what is theirs, by form."""


def list_forms(gateway: Gateway) -> list[Route]:
    """The routes that take forms, as the server has them; what takes deeds back is the last."""

    async def find_login(_: Request) -> Login | None:
        return None

    routes = make_pages(gateway, find_login).list_routes()
    forms = [one for one in routes if isinstance(one, Route) and "POST" in (one.methods or ())]
    return sorted(forms, key=lambda one: one.path.startswith("/deeds/"))


def list_fields() -> list[str]:
    """The names of all fields of the templates."""
    folder = Path(gateway.interfaces.pages.__file__).parent / "templates"
    texts = (file.read_text() for file in folder.glob("*.html"))
    return sorted({name for text in texts for name in re.findall(r' name="(\w+)"', text)})


def list_addresses(route: Route, numbers: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """The addresses of a form: those that may be, then those that can't."""
    known = {
        name: WORDS.get(name) or (numbers[name] or ["1"])[:6] for name, _ in _list_parts(route)
    }
    for values in product(*known.values()):
        yield _fill(route.path, dict(zip(known, values, strict=True)))
    for name, kind in _list_parts(route):
        for odd in _ODD_NUMBERS if kind == "int" else _ODD_WORDS:
            rest = {key: values[0] for key, values in known.items()}
            yield _fill(route.path, rest | {name: odd})


def _list_parts(route: Route) -> list[tuple[str, str]]:
    return [(name, kind or "str") for name, kind in re.findall(r"{(\w+)(?::(\w+))?}", route.path)]


def _fill(path: str, values: Mapping[str, str]) -> str:
    return re.sub(r"{(\w+)(?::\w+)?}", lambda found: values[found[1]], path)


def list_bodies(fields: Sequence[str]) -> list[tuple[str, bytes]]:
    """The bodies with their media types."""
    form = FORM
    bodies = [(form, "&".join(f"{one}={odd}" for one in fields).encode()) for odd in _ODD_VALUES]
    bodies += [
        (form, b""),
        (form, b"\xff\xfe\x00=%zz&&=&;"),
        (form, b"&".join(f"{one}=a&{one}=b".encode() for one in fields)),
        (form, b"&".join(f"f{number}=1".encode() for number in range(2000))),
        ("application/json", b'{"choice": ["yes"], "value": null}'),
        ("multipart/form-data; boundary=x", b'--x\r\ncontent-disposition: form-data; name="text"'),
        ("text/plain", "🦉".encode()),
    ]
    return bodies


async def send(
    browser: aiohttp.ClientSession, address: str, body: tuple[str, bytes], **headers: str
) -> tuple[int, str]:
    url = yarl.URL(address, encoded=True)
    head = {"Content-Type": body[0], "Accept": "text/html", **headers}
    async with browser.post(url, data=body[1], headers=head, allow_redirects=False) as answer:
        return answer.status, (await answer.read()).decode()


def read_own(connection: Connection, person: Person) -> dict[str, list[tuple[object, ...]]]:
    """The rows of a person that only they may change."""
    return {query: connection.execute(query, {"id": person.id}).fetchall() for query in OWN}


def read_numbers(connection: Connection, person: Person) -> dict[str, list[str]]:
    return {
        name: [str(row[0]) for row in connection.execute(query, {"id": person.id})]
        for name, query in NUMBERS.items()
    }


async def give_things(running: Served, home: Path, person: Person) -> None:
    """Give a person something for each form, with their canary in it."""
    database, canary = running.gateway.database, CANARIES[person.slug]
    head = {"Authorization": f"Bearer {await make_token(home, person.slug, 'manage')}"}
    job = {"kind": "message", "text": f"{canary} job", "cron": "0 9 1 1 *"}
    block = {"name": f"{person.slug}-garden", "description": f"{canary} block", "limit": 500}
    hook = {"name": canary, "url": "https://localhost/", "kinds": ["question.asked"]}
    async with aiohttp.ClientSession(running.address.origin(), headers=head) as api:
        for path, body in (("jobs", job), ("webhooks", hook), ("blocks", block)):
            async with api.post(f"/api/{path}", json=body) as made:
                assert made.status == 201
        async with api.post("/api/webhooks/1/test") as made:
            assert made.status in (202, 404)
    now = running.gateway.now()
    await database.write("test", partial(dismiss, person=person, now=now))
    await database.write("test", partial(ask_about_tea, person=person, now=now))
    await database.write("test", partial(hold, person=person))
    shape = f'["terminal", "run", "workspace", "{canary}"]'
    allowed = NewApproval(person_id=person.id, decided_by=person.id, scope="always", subject=shape)
    await database.write("test", approvals.insert, allowed, now=now)
    group = {"platform": "fake", "chat_id": "choir", "title": "choir", "slug": "choir"}
    await database.write("test", partial(rooms.insert, **group, now=now))


def write_team(home: Path) -> None:
    """Write the agents and the team of the addresses."""
    for name in ("coder", "checker"):
        write(home, name)
    (home / "teams").mkdir()
    rows = 'manager = "round_robin"\nmembers = ["coder", "checker"]\n'
    (home / "teams" / "press.toml").write_text(rows)


@pytest.mark.thorough
async def test_no_form_fails_or_tells_or_changes_anything_of_another_person(home: Path) -> None:
    chat = FakeChat(limit=100_000)
    write_team(home)
    async with served(home, adapters={"fake": chat}, model=Planter()) as running:
        database = running.gateway.database
        found = {one.slug: one for one in await database.read(people.list_all)}
        for person in (found["olga"], found["zebrana"]):
            await give_things(running, home, person)
        forms, bodies = list_forms(running.gateway), list_bodies(list_fields())
        assert forms
        async with (
            browse_as(running, chat, OLGA) as owner,
            browse_as(running, chat, ZEBRANA) as member,
            open_browser(running) as stranger,
        ):
            olga, zebrana = [
                Side(person, browser, await database.read(partial(read_numbers, person=person)))
                for person, browser in ((found["olga"], owner), (found["zebrana"], member))
            ]
            before = await database.read(partial(read_own, person=olga.person))
            for path in (*(_fill(one.path, defaultdict(lambda: "1")) for one in forms), *OUTSIDE):
                evil = {"Origin": "https://evil.example"}
                for sent in (evil, {"Origin": "null"}, {"Host": "evil.example"}):
                    status, _ = await send(owner, path, bodies[0], **sent)
                    assert status == 403, (path, sent)
                if path not in OUTSIDE:
                    status, text = await send(stranger, path, bodies[0])
                    assert status == 401, path
                    assert "<title>Talaria</title>" in text
            await attack(zebrana, olga, forms, bodies)
            assert await database.read(partial(read_own, person=olga.person)) == before
            await attack(olga, zebrana, forms, bodies)
            for path, body in product(OUTSIDE[:1], bodies):
                assert (await send(stranger, path, body))[0] < 500
    done = {200, 303, 409, 422}
    unused = [
        one.path
        for one in forms
        if not (olga.statuses[one.path] | zebrana.statuses[one.path]) & done
    ]
    assert unused == []


async def attack(
    side: Side, other: Side, forms: Sequence[Route], bodies: Sequence[tuple[str, bytes]]
) -> None:
    """Send each form about what is the other's, and what is the sender's own, in odd ways."""
    odd = cycle(bodies)
    canary, wrong = CANARIES[other.person.slug], list[tuple[int, object]]()
    for route in forms:
        for numbers in (other.numbers, side.numbers):
            addresses = [*list_addresses(route, numbers)]
            for address in [*addresses, *addresses[:1] * (len(bodies) - len(addresses))]:
                body = next(odd)
                status, text = await send(side.browser, address, body)
                asked = (side.person.slug, address[:200], body)
                if status >= 500 or canary in text.lower():
                    wrong.append((status, asked))
                if numbers is side.numbers:
                    side.statuses[route.path].add(status)
    assert wrong == []


BROWSER = {"Accept": "text/html,application/xhtml+xml", "Content-Type": FORM}
OTHERWISE = {
    "/accounts/{account:int}/unlink": "the logins end with the account, and no page would open",
    "/workspace/add": "a script sends each file, and reads an answer in JSON",
    "/jobs/new/times": "the page shows the next times below the field",
}
"""Forms that lead to no page, each with the reason."""


@pytest.mark.thorough
async def test_each_form_ends_on_a_page_that_back_and_reload_find(home: Path) -> None:
    chat = FakeChat(limit=100_000)
    write_team(home)
    async with served(home, adapters={"fake": chat}, model=Planter()) as running:
        database = running.gateway.database
        olga = next(one for one in await database.read(people.list_all) if one.slug == "olga")
        await give_things(running, home, olga)
        words = "&".join(f"{one}=tea" for one in list_fields()).encode()
        async with browse_as(running, chat, OLGA) as browser:
            numbers = await database.read(partial(read_numbers, person=olga))
            forms = list_forms(running.gateway)
            for route in forms:
                for address, body in product(
                    list(list_addresses(route, numbers))[:9], (b"", words)
                ):
                    if route.path not in OTHERWISE:
                        await follow(browser, address, body)
                await open_twice(browser, next(list_addresses(route, numbers)))
            for address in OUTSIDE:
                await open_twice(browser, address, 401)
    assert OTHERWISE.keys() <= {one.path for one in forms}


async def follow(browser: aiohttp.ClientSession, address: str, body: bytes) -> None:
    """Send a form as a browser does: no page is the answer to the form itself, but of a fault."""
    url = yarl.URL(address, encoded=True)
    async with browser.post(url, data=body, headers=BROWSER, allow_redirects=False) as answer:
        assert answer.status in {303, 404, 409}, (address, body, answer.status)
        if answer.status != 303:
            assert answer.content_type == "text/html", (address, body)
            assert "<main" in await answer.text()
            return
    location = answer.headers["Location"]
    assert location.startswith("/"), (address, location)
    await open_twice(browser, location)


async def open_twice(browser: aiohttp.ClientSession, address: str, *others: int) -> None:
    """Open a page, and load it again."""
    for _ in range(2):
        async with browser.get(address, headers={"Accept": BROWSER["Accept"]}) as page:
            assert page.status in {200, 404, 409, *others}, (address, page.status)
            assert page.content_type == "text/html", address
            assert "<main" in await page.text(), address
