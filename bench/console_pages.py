"""The console's pages in a home of many messages: `python -m bench.console_pages`."""

import asyncio
import re
import sqlite3
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

import aiohttp

from agent_core.ids import PersonId
from agent_core.state.engine.connection import checksum
from agent_core.state.engine.database import Connection, Database
from agent_core.state.engine.database import now as wall_clock
from agent_core.state.people import api_tokens
from bench.figures import Figure, percentile, render
from gateway.config import DATABASE
from gateway.people import hash_secret
from tests.fakes.model import FakeModel, say
from tests.integration.served import Served, served

_MESSAGES, _PEOPLE = 1_000_000, 1_000
_ROUNDS = 40
_STEP = 60_000
"""Milliseconds between two messages of a person."""
_MOST_MS = 100
_MOST_BYTES = 150_000
PAGES = (
    *("/today", "/conversations", "/conversations/1", "/turns", "/memory", "/skills", "/jobs"),
    *("/usage", "/people", "/people/usage", "/people/usage?by=person", "/condition"),
    *("/settings", "/accounts", "/configuration"),
)
"""The pages that are measured first; `console_paint` measures them, too."""
_BUSY = ("/jobs", "/jobs/calendar", "/jobs/calendar?week=", "/webhooks")
"""Pages that are measured with jobs and webhooks."""
_JOBS, _RUNS, _WEBHOOKS = 30, 2_000, 5
"""Jobs and webhooks of the owner, and runs of each job. Five jobs run each quarter of an hour, the
others each day."""
_SECRET = "talaria_bench"


async def measure(*, messages: int = _MESSAGES, people: int = _PEOPLE) -> list[Figure]:
    """Time every page for the owner, who wrote as much as everybody else."""
    with TemporaryDirectory(prefix="talaria-pages-") as folder:
        home = await fill_home(folder, messages, people)
        async with served(home, model=FakeModel(say("A grey heron."))) as running:
            jar = aiohttp.CookieJar(unsafe=True)
            origin = running.address.origin()
            async with aiohttp.ClientSession(origin, cookie_jar=jar) as session:
                async with session.get(running.page.relative()):
                    pass
                async with session.get("/turns") as answer:
                    found = re.search(r'href="(/turns/\d+)"', await answer.text())
                newest = (found[1],) if found else ()
                figures = [
                    figure for path in (*PAGES, *newest) for figure in await _time(session, path)
                ]
                await _add_work(running, session)
                job = await _find(session, "/jobs", r'href="(/jobs/\d+)"')
                for path in (*_BUSY, job):
                    figures += await _time(session, path, note=" (busy)")
                return figures + await _time_fork(session)


async def fill_home(folder: str, messages: int, people: int) -> Path:
    """Make a home in a folder, and fill it."""
    home = Path(folder) / "home"
    home.mkdir(mode=0o700)
    await (await Database.open(home / DATABASE)).close()
    began = time.monotonic()
    await asyncio.to_thread(_fill, home / DATABASE, messages, people)
    print(f"filled in {time.monotonic() - began:.0f} s", file=sys.stderr)
    return home


async def _add_work(running: Served, session: aiohttp.ClientSession) -> None:
    """Give the owner jobs with runs, and webhooks with deliveries."""
    database, now = running.gateway.database, wall_clock()

    def give_token(connection: Connection) -> None:
        api_tokens.insert(
            connection,
            person_id=PersonId(1),
            name="bench",
            scope="manage",
            secret_hash=hash_secret(_SECRET),
            now=now,
        )

    await database.write("bench", give_token)
    head = {"Authorization": f"Bearer {_SECRET}"}
    for number in range(_JOBS):
        cron = "*/15 * * * *" if number < 5 else f"{number} 9 * * *"
        job = {"kind": "prompt", "text": f"Look at pond {number}", "cron": cron}
        async with session.post("/api/jobs", json=job, headers=head) as answer:
            answer.raise_for_status()
    for number in range(1, _WEBHOOKS + 1):
        form = {"name": f"hook {number}", "url": "https://localhost/", "kinds": "turn.ended"}
        for path, fields in (("add", form), (f"{number}/pause", {})):
            async with session.post(f"/webhooks/{path}", data=fields) as answer:
                answer.raise_for_status()

    def fill(connection: Connection) -> None:
        for statement in _WORK.strip().split(";")[:-1]:
            connection.execute(statement, {"now": now, "runs": _RUNS})

    await database.write("bench", fill)


async def _time_fork(session: aiohttp.ClientSession) -> list[Figure]:
    """Time the replay of a turn, a fork with the page it leads to, and its removal and return."""
    form = {"text": "Which bird is grey?", "key": "bench"}
    stream = {"Accept": "text/event-stream"}
    async with session.post("/conversations/messages", data=form, headers=stream) as answer:
        await answer.text()
    turn = await _find(session, "/turns", r'href="/turns/(\d+)"')
    figures = await _time(session, f"/turns/{turn}/replay")
    place = await _find(session, "/conversations", r'href="(/conversations/\d+)"')
    message = await _find(session, place, r'action="/messages/(\d+)/fork"')
    forks: list[str] = []

    async def fork() -> int:
        form = {"key": str(len(forks))}
        async with session.post(f"/messages/{message}/fork", data=form) as answer:
            forks.append(answer.url.path)
            return await _read(answer)

    figures += await _time_work("fork, and its page", fork)
    for verb in ("remove", "restore"):
        rest = iter(forks)

        async def post(verb: str = verb, rest: Iterator[str] = rest) -> int:
            async with session.post(f"{next(rest)}/{verb}") as answer:
                return await _read(answer)

        figures += await _time_work(f"{verb} a fork, and its page", post)
    return figures + await _time(session, "/conversations", note=" (with forks)")


async def _find(session: aiohttp.ClientSession, path: str, pattern: str) -> str:
    async with session.get(path) as answer:
        found = re.search(pattern, await answer.text())
    if found is None:
        raise RuntimeError(f"{path} has no {pattern}")
    return found[1]


async def _time(session: aiohttp.ClientSession, path: str, *, note: str = "") -> list[Figure]:
    async def get() -> int:
        async with session.get(path) as answer:
            return await _read(answer)

    return await _time_work(re.sub(r"\d{2,}", "N", path) + note, get)


async def _read(answer: aiohttp.ClientResponse) -> int:
    """Return the size of a page."""
    body = await answer.read()
    if answer.status != 200:
        raise RuntimeError(f"{answer.url} answered {answer.status}")
    return len(body)


async def _time_work(name: str, work: Callable[[], Awaitable[int]]) -> list[Figure]:
    took: list[float] = []
    size = 0
    for _ in range(_ROUNDS):
        began = time.perf_counter()
        size = await work()
        took.append(time.perf_counter() - began)
    return [
        Figure(name=f"{name}: p50", unit="ms", value=percentile(took, 0.5) * 1000),
        Figure(
            name=f"{name}: p95", unit="ms", value=percentile(took, 0.95) * 1000, at_most=_MOST_MS
        ),
        Figure(name=f"{name}: size", unit="bytes", value=size, at_most=_MOST_BYTES),
    ]


_STATEMENTS = """
WITH RECURSIVE n (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < :people)
INSERT INTO people (id, slug, name, role, created_at)
SELECT i, 'person-' || i, 'Person ' || i, iif(i = 1, 'owner', 'member'), 0 FROM n;
INSERT INTO accounts
    (id, person_id, platform, user_id, display_name, admitted_by, created_at)
SELECT id, id, iif(id = 1, 'console', 'telegram'), iif(id = 1, 'local', id), name,
    iif(id = 1, 'local', 'list'), 0 FROM people;
INSERT INTO conversations (id, key, person_id, scope, created_at)
SELECT id, 'person:' || id, id, 'p' || id, 0 FROM people;
INSERT INTO sessions (id, conversation_id, title, started_at, last_at, ended_at)
SELECT id, id, 'Birds', 0, :now, :now FROM conversations;
WITH RECURSIVE n (i) AS (VALUES (0) UNION ALL SELECT i + 1 FROM n WHERE i < :turns / 100)
INSERT INTO sessions (id, conversation_id, title, started_at, last_at, ended_at)
SELECT 1000000 + i, 1, 'Birds ' || i, 0, :now, :now FROM n;
WITH RECURSIVE n (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < :turns)
INSERT INTO turns (id, conversation_id, session_id, person_id, platform, chat, state,
    started_at, ended_at)
SELECT i, who, iif(who = 1, 1000000 + i / 100, who), who, 'telegram', '["1",null,true]',
    'answered', :now - (:turns - i) * :step, :now - (:turns - i) * :step + 2000
FROM (SELECT i, iif(i % 2 = 0, 1, 1 + i % :people) AS who FROM n);
WITH RECURSIVE n (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 2 * :turns)
INSERT INTO messages (id, session_id, turn_id, person_id, scope, role, parts, text, platform,
    created_at, checksum)
SELECT i, session_id, turns.id, person_id, 'p' || person_id, role, '[]', text, platform,
    started_at, checksum(role, '[]', text)
FROM (SELECT i, iif(i % 2 = 1, 'user', 'assistant') AS role, 'The grey heron stands at pond '
    || i || ' and waits for a fish, as herons do on cold and quiet mornings.' AS text FROM n)
JOIN turns ON turns.id = (i + 1) / 2;
INSERT INTO usage (person_id, turn_id, purpose, model, input_tokens, cache_read_tokens,
    cache_write_tokens, output_tokens, micro_dollars, created_at)
SELECT person_id, id, 'turn', 'claude', 3000, 2500, 100, 200, 4000, ended_at FROM turns;
INSERT INTO usage_sums
SELECT whose, created_at / 900000, purpose, model, COUNT(*), SUM(input_tokens),
    SUM(cache_read_tokens), SUM(cache_write_tokens), SUM(output_tokens), SUM(micro_dollars), 0
FROM (SELECT usage.*, person_id AS whose FROM usage UNION ALL SELECT usage.*, 0 FROM usage)
WHERE created_at >= :now - 40 * 86400000 GROUP BY 1, 2, 3, 4;
ANALYZE;
"""
"""Half of the turns are the owner's, in sessions of 100 turns."""
_WORK = """
WITH RECURSIVE n (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < :runs)
INSERT INTO job_runs (job_id, slot, slot_at, due_at, state, started_at, ended_at)
SELECT id, 'bench ' || i, at, at, 'done', at, at + 2000 FROM (SELECT jobs.id, i,
    :now - i * iif(body GLOB '*pond [0-4]', 900000, 86400000) AS at
    FROM n JOIN jobs ON jobs.person_id = 1);
WITH RECURSIVE n (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < :runs)
INSERT INTO webhook_deliveries (webhook_id, event_id, kind, payload, state, attempts, due_at,
    status, created_at, ended_at)
SELECT webhooks.id, 'bench ' || i, 'turn.ended', '{}', 'sent', 1, 0, 200, :now - i * 1000,
    :now - i * 1000 + 200 FROM n JOIN webhooks;
"""


def _fill(path: Path, messages: int, people: int) -> None:
    """Fill a database in bulk."""
    values = {"people": people, "now": wall_clock(), "step": _STEP, "turns": messages // 2}
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.create_function("checksum", 3, checksum, deterministic=True)
        for statement in _STATEMENTS.strip().split(";")[:-1]:
            connection.execute(statement, values)


if __name__ == "__main__":
    numbers = [int(word) for word in sys.argv[1:]]
    asked = dict(zip(("messages", "people"), numbers, strict=False))
    print(render(asyncio.run(measure(**asked))))
