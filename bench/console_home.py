"""A home of many messages, and what else the pages of the console show."""

import asyncio
import random
import sqlite3
import sys
import time
from contextlib import closing
from pathlib import Path

import aiohttp

from agent_core.ids import PersonId, TurnId
from agent_core.skills.evaluation.record import CaseRun, EvalRecord, dump_record
from agent_core.state.engine.connection import checksum
from agent_core.state.engine.database import Connection, Database
from agent_core.state.engine.database import now as wall_clock
from agent_core.state.memory import archive, blocks, ledger, skill_changes, skill_uses, skills
from agent_core.state.memory.ledger import Change, Origin
from agent_core.state.people import api_tokens, reading_consents, rooms
from agent_core.state.queues import skill_tests, tasks
from agent_core.state.tokenizer import PLACES, index_text
from agent_core.transcript import TextPart, dump_stored
from bench.retrieval.town import Talkers
from gateway.app.gateway import Gateway
from gateway.home import DATABASE
from gateway.people.console_links import hash_secret
from tests.agent_core.skills.skill_folders import write_text

VOCABULARY = tuple(Talkers(random.Random(4)).vocabulary)
"""The words of the messages beside English function words, most frequent first."""
SKILL = "tidy"
"""The skill with versions, uses, tests and a history."""
_STEP = 60_000
"""Milliseconds between two messages of a person."""
_JOBS, _RUNS, _WEBHOOKS = 30, 2_000, 5
"""Jobs and webhooks of the owner, and runs of each job. Five jobs run each quarter of an hour, the
others each day."""
_NOTES, _CHANGES, _VERSIONS, _USES = 3_000, 20_000, 30, 3_000
"""Notes of the archive and changes of memory of the owner; versions and uses of the skill."""
_SECRET = "talaria_bench"


async def fill_home(folder: str, messages: int, people: int) -> Path:
    """Make a home in a folder, and fill it."""
    home = Path(folder) / "home"
    home.mkdir(mode=0o700)
    await (await Database.open(home / DATABASE)).close()
    began = time.monotonic()
    await asyncio.to_thread(_fill, home / DATABASE, messages, people)
    print(f"filled in {time.monotonic() - began:.0f} s", file=sys.stderr)
    return home


async def add_work(gateway: Gateway, session: aiohttp.ClientSession) -> None:
    """Give the owner jobs with runs, and webhooks with deliveries."""
    database, now = gateway.database, wall_clock()

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


async def add_agents(session: aiohttp.ClientSession) -> None:
    """Give the home two agents and a team of them."""
    for name in ("coder", "editor"):
        form = {"name": name, "description": f"The {name}", "soul": "You write.", "blocks": "all"}
        async with session.post("/agents/new", data={**form, "tools": "all"}) as answer:
            answer.raise_for_status()
    form = {"name": "press", "manager": "round_robin", "rounds": "1", "steps": "5", "dollars": "0"}
    members = [("member", "coder"), ("member", "editor")]
    async with session.post("/teams/new", data=[*form.items(), *members]) as answer:
        answer.raise_for_status()


async def add_room(gateway: Gateway) -> None:
    """Give the home a group on Telegram."""

    def fill(connection: Connection) -> None:
        where = {"platform": "telegram", "chat_id": "-1", "title": "Birds", "slug": "birds"}
        rooms.insert(connection, **where, now=wall_clock())

    await gateway.database.write("bench", fill)


async def add_memory(gateway: Gateway) -> None:
    """Give the owner an archive and many changes of it, and let person 2 be read by them."""
    person_id, now = PersonId(1), wall_clock()
    chance = random.Random(6)
    texts = [" ".join(chance.choices(VOCABULARY[:3000], k=12)) for _ in range(_NOTES)]

    def fill(connection: Connection) -> None:
        for text in texts:
            archive.insert(connection, person_id=person_id, text=text, tags=("birds",), now=now)
        for number in range(_CHANGES):
            old, new = (f"{texts[(number + step) % _NOTES]} {number}" for step in (0, 1))
            ledger.record(
                connection,
                person_id=person_id,
                target="archive",
                change=Change(operation="replace", position=number, before=old, after=new),
                origin=Origin(actor=f"turn:{number + 1}", now=now - number * 1000, evidence=old),
            )
        day = 86_400_000
        reading_consents.insert(
            connection, person_id=PersonId(2), reader_id=person_id, now=now, expires_at=now + day
        )

    await gateway.database.write("bench", fill)


async def add_skill(gateway: Gateway, session: aiohttp.ClientSession) -> None:
    """Give the home a skill with versions, uses, a test and a history."""
    now = wall_clock()
    place = gateway.settings.home / "skills" / SKILL
    place.mkdir(parents=True)
    lines = [f"Sort the letters of {word} by their dates." for word in VOCABULARY[:60]]
    for number in range(_VERSIONS):
        lines[number] = f"Leave the letters of {VOCABULARY[number]} unsorted."
        write_text(place, SKILL, "\n".join(lines))
        async with session.get(f"/skills/{SKILL}") as answer:
            answer.raise_for_status()
    cases = tuple(f"turn-{number}" for number in range(20))
    runs = tuple(
        CaseRun(case=case, arm=arm, passed=arm == "with", steps=3, tokens=900)
        for case in cases
        for arm in ("without", "with")
    )

    def fill(connection: Connection) -> None:
        row, team = skills.find(connection, name=SKILL), blocks.find_team(connection)
        if row is None or team is None:
            raise RuntimeError("the skill was not recorded")
        for number in range(_USES):
            turn_id, at = TurnId(2 * number + 2), now - number * 2_000_000
            skill_uses.note(connection, name=SKILL, turn_id=turn_id, now=at)
            skill_uses.end(connection, turn_id=turn_id, outcome="done", now=at)
        for number in range(200):
            skill_changes.set_state(
                connection,
                name=SKILL,
                state=("trial", "active")[number % 2],
                why="its test passed",
                origin=Origin(actor="bench", now=now),
            )
        text_row = skill_changes.find_text_row(connection, person_id=team, skill_id=row.id) or 0
        skill_tests.enqueue(
            connection,
            skill=(row.id, SKILL, text_row),
            person_id=PersonId(1),
            cause="asked",
            now=now,
        )
        record = EvalRecord(name=SKILL, text_row=text_row, cases=cases, runs=runs, result="better")
        task = connection.execute("SELECT MAX(id) FROM tasks WHERE kind = 'skill_test'").fetchone()
        tasks.save(connection, task_id=task[0], payload=dump_record(record))

    await gateway.database.write("bench", fill)


_STATEMENTS = """
WITH RECURSIVE n (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < :people)
INSERT INTO people (id, slug, name, role, created_at)
SELECT i, 'person-' || i, 'Person ' || i, iif(i = 1, 'owner', 'member'), 0 FROM n;
INSERT INTO accounts
    (id, person_id, platform, user_id, display_name, admitted_by, created_at)
SELECT id, id, iif(id = 1, 'console', 'telegram'), iif(id = 1, 'local', id), name,
    iif(id = 1, 'local', 'code'), 0 FROM people
UNION ALL SELECT :people + 1, 1, 'telegram', '1', 'Person 1', 'code', 0;
INSERT INTO conversations (id, key, kind, person_id, scope, created_at)
SELECT id, 'person:' || id, 'direct', id, 'p' || id, 0 FROM people;
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
WITH RECURSIVE n (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 2 * :turns),
said (i, role, text) AS MATERIALIZED
    (SELECT i, iif(i % 2 = 1, 'user', 'assistant'), say() FROM n)
INSERT INTO messages (id, session_id, turn_id, person_id, scope, role, parts, text, platform,
    created_at, checksum)
SELECT i, session_id, turns.id, person_id, 'p' || person_id || ' c' || person_id, role,
    dump_text(text), text, platform, started_at, checksum(role, dump_text(text), text)
FROM said JOIN turns ON turns.id = (i + 1) / 2;
INSERT INTO message_search (rowid, words)
SELECT id * :places, index_text(scope, role, platform, created_at, text)
FROM messages;
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
    """Fill a database in bulk, with the index of its messages."""
    values = {"people": people, "now": wall_clock(), "step": _STEP, "turns": messages // 2}
    talkers = Talkers(random.Random(4))
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.create_function("checksum", 3, checksum, deterministic=True)
        connection.create_function("dump_text", 1, _dump_text, deterministic=True)
        connection.create_function("say", 0, talkers.say)
        connection.create_function("index_text", 5, index_text, deterministic=True)
        for statement in _STATEMENTS.strip().split(";")[:-1]:
            connection.execute(statement, values | {"places": PLACES})


def _dump_text(text: str) -> str:
    return dump_stored((TextPart(text=text),))
