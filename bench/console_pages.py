"""The console's pages in a home of many messages: `python -m bench.console_pages`."""

import asyncio
import re
import sqlite3
import sys
import time
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

import aiohttp

from agent_core.state.engine.connection import checksum
from agent_core.state.engine.database import Database
from agent_core.state.engine.database import now as wall_clock
from bench.figures import Figure, percentile, render
from gateway.config import DATABASE
from tests.fakes.model import FakeModel
from tests.integration.served import served

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
"""The pages that are measured; the page of the newest turn follows."""


async def measure(*, messages: int = _MESSAGES, people: int = _PEOPLE) -> list[Figure]:
    """Time every page for the owner, who wrote as much as everybody else."""
    with TemporaryDirectory(prefix="talaria-pages-") as folder:
        home = await fill_home(folder, messages, people)
        async with served(home, model=FakeModel()) as running:
            jar = aiohttp.CookieJar(unsafe=True)
            origin = running.address.origin()
            async with aiohttp.ClientSession(origin, cookie_jar=jar) as session:
                async with session.get(running.page.relative()):
                    pass
                async with session.get("/turns") as answer:
                    found = re.search(r'href="(/turns/\d+)"', await answer.text())
                newest = (found[1],) if found else ()
                return [
                    figure for path in (*PAGES, *newest) for figure in await _time(session, path)
                ]


async def fill_home(folder: str, messages: int, people: int) -> Path:
    """Make a home in a folder, and fill it."""
    home = Path(folder) / "home"
    home.mkdir(mode=0o700)
    await (await Database.open(home / DATABASE)).close()
    began = time.monotonic()
    await asyncio.to_thread(_fill, home / DATABASE, messages, people)
    print(f"filled in {time.monotonic() - began:.0f} s", file=sys.stderr)
    return home


async def _time(session: aiohttp.ClientSession, path: str) -> list[Figure]:
    took: list[float] = []
    size = 0
    for _ in range(_ROUNDS):
        began = time.perf_counter()
        async with session.get(path) as answer:
            size = len(await answer.read())
        took.append(time.perf_counter() - began)
        if answer.status != 200:
            raise RuntimeError(f"{path} answered {answer.status}")
    name = re.sub(r"\d{2,}", "N", path)
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
