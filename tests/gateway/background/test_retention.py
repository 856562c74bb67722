"""What has grown old is let go of; what is owed, open or referred to never is."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from agent_core.chats import Chat
from agent_core.ids import InboxId
from agent_core.state.conversations import files, messages, questions, turns, usage
from agent_core.state.conversations.questions import NewQuestion
from agent_core.state.conversations.usage import ModelCall
from agent_core.state.engine.database import Connection, Database
from agent_core.state.lifecycle.retention import DAY
from agent_core.state.queues import inbox, outbox
from agent_core.state.queues.outbox import NewOutboxMessage
from agent_core.state.webhooks import webhooks
from agent_core.state.webhooks.webhooks import EVENT_KINDS, NewWebhook
from agent_core.transcript import ImagePart, Message, TextPart
from gateway.app.tables import RetentionSettings
from gateway.background.retention import Sweeper
from tests.agent_core.state.rows import Dialogue, add_dialogue, add_person, add_turn
from tests.databases import open_database

NOW = 1000 * DAY
OLD = NOW - 500 * DAY
SPENT = ModelCall(
    purpose="turn",
    model="m",
    input_tokens=10,
    cache_read_tokens=1,
    cache_write_tokens=2,
    output_tokens=3,
    micro_dollars=5,
)


@dataclass
class Old:
    """A gateway with one person, and a sweeper of it."""

    database: Database
    dialogue: Dialogue
    renewed: int = 0

    async def do(self, work: object) -> object:
        return await self.database.write("test", work)  # type: ignore[arg-type]

    async def value(self, sql: str) -> object:
        return await self.database.read(lambda c: c.execute(sql).fetchone()[0])

    async def sweep(self, **days: int) -> dict[str, int]:
        def renew() -> None:
            self.renewed += 1

        settings = RetentionSettings(**days)  # type: ignore[arg-type]
        sweeper = Sweeper(self.database, settings, now=lambda: NOW, renew=renew)
        return {kind: number for kind, number in (await sweeper.sweep()).items() if number}


@pytest.fixture
async def old(tmp_path: Path) -> AsyncIterator[Old]:
    database = await open_database(tmp_path / "state.db")
    dialogue = await database.write("talk", lambda c: add_dialogue(c, add_person(c)))
    yield Old(database, dialogue)
    await database.close()


async def test_an_event_that_is_done_loses_its_payload_and_is_still_known(old: Old) -> None:
    def work(connection: Connection) -> None:
        stored = inbox.store(
            connection, platform="p", events=[("1", "done"), ("2", "open"), ("3", "dead")], now=OLD
        )
        inbox.finish(connection, inbox_id=stored[0].id)
        inbox.park(connection, inbox_id=stored[2].id, reason="why")
        new = inbox.store(connection, platform="p", events=[("4", "new")], now=NOW)
        inbox.finish(connection, inbox_id=new[0].id)

    await old.do(work)
    assert await old.sweep() == {"inbox": 1}
    assert await old.value("SELECT group_concat(payload) FROM inbox") == ",open,dead,new"
    again = await old.do(lambda c: inbox.store(c, platform="p", events=[("1", "done")], now=NOW))
    assert again == []
    assert await old.sweep() == {}


async def test_a_message_that_was_sent_keeps_only_where_it_is(old: Old) -> None:
    def work(connection: Connection) -> None:
        person_id = old.dialogue.person.id
        question = questions.ask(
            connection,
            NewQuestion(
                person_id=person_id,
                kind="choice",
                text="open?",
                choices=(),
                secret="s",
                chat=Chat(platform="p", address="c"),
                expires_at=NOW,
            ),
            now=OLD,
        )
        outgoings = [
            NewOutboxMessage(chat=Chat(platform="p", address="c"), body="sent"),
            NewOutboxMessage(chat=Chat(platform="p", address="c"), body="owed"),
            NewOutboxMessage(
                chat=Chat(platform="p", address="c"), body="asks", question_id=question.id
            ),
            NewOutboxMessage(
                chat=Chat(platform="p", address="c"), body="dead", person_id=person_id
            ),
        ]
        rows = [outbox.enqueue(connection, outgoing, now=OLD) for outgoing in outgoings]
        for row in (rows[0], rows[2]):
            outbox.mark_sent(
                connection, outbox_id=row.id, message_id=f"m{row.id}", body=row.body, now=OLD
            )
        outbox.mark_dead(connection, outbox_id=rows[3].id, reason="gone")

    await old.do(work)
    assert await old.sweep() == {"outbox": 1}
    assert await old.value("SELECT group_concat(body) FROM outbox") == ",owed,asks,dead"
    found = await old.database.read(
        lambda c: outbox.find_message(c, platform="p", chat="c", message_id="m1")
    )
    assert found
    assert found.is_whole


async def test_an_answer_that_is_in_the_transcript_is_kept_twice_for_a_day(old: Old) -> None:
    def work(connection: Connection) -> None:
        turn_id = add_turn(connection, old.dialogue)
        for platform, body, turn, at in [
            ("p", "answer", turn_id, NOW - 2 * DAY),
            ("p", "fresh", turn_id, NOW),
            ("p", "reminder", None, NOW - 2 * DAY),
            ("console", "page", turn_id, NOW - 2 * DAY),
        ]:
            new = NewOutboxMessage(
                chat=Chat(platform=platform, address="c"), body=body, turn_id=turn
            )
            row = outbox.enqueue(connection, new, now=at)
            outbox.mark_sent(connection, outbox_id=row.id, message_id=body, body=body, now=at)

    await old.do(work)
    assert await old.sweep(outbox_days=0) == {}
    assert await old.sweep() == {"copies": 1}
    assert await old.value("SELECT group_concat(body) FROM outbox") == ",fresh,reminder,page"
    assert await old.sweep() == {}


async def test_the_space_of_cleared_answers_is_free_for_others(old: Old) -> None:
    long = "word " * 400

    def work(connection: Connection) -> None:
        for number in range(100):
            turn_id = add_turn(connection, old.dialogue)
            message = NewOutboxMessage(
                chat=Chat(platform="p", address="c"), body=long, turn_id=turn_id
            )
            row = outbox.enqueue(connection, message, now=OLD)
            outbox.mark_sent(
                connection, outbox_id=row.id, message_id=str(number), body=long, now=OLD
            )

    await old.do(work)
    before = await old.value("PRAGMA freelist_count")
    assert (await old.sweep())["copies"] == 100
    assert await old.value("SELECT COUNT(*) || MAX(message_id) FROM outbox") == "10099"
    freed = await old.value("PRAGMA freelist_count")
    assert isinstance(before, int)
    assert isinstance(freed, int)
    assert (freed - before) * 4096 > 0.8 * 100 * len(long)


async def test_unreferenced_files_are_deleted_until_sent_again(
    old: Old,
) -> None:
    def work(connection: Connection) -> None:
        for name in ("loose", "shown", "owed", "fresh"):
            now = NOW if name == "fresh" else OLD
            files.store(connection, data=name.encode(), media_type="image/png", now=now)
        keys = dict(connection.execute("SELECT CAST(data AS TEXT), key FROM files").fetchall())
        picture = ImagePart(file_key=keys["shown"], media_type="image/png", size=5)
        turn_id = add_turn(connection, old.dialogue)
        message = Message(role="user", parts=(picture,))
        messages.append(connection, old.dialogue.shelf(turn_id), [message], now=NOW)
        outgoing = NewOutboxMessage(
            chat=Chat(platform="p", address="c"), body="", file=(keys["owed"], "a.png")
        )
        outbox.enqueue(connection, outgoing, now=OLD)

    await old.do(work)
    assert await old.sweep() == {"files": 1}
    left = "SELECT group_concat(data) FROM files WHERE length(data) > 0"
    assert await old.value(left) == "shown,owed,fresh"
    await old.do(lambda c: files.store(c, data=b"loose", media_type="image/png", now=NOW))
    assert await old.sweep() == {}
    assert await old.value("SELECT COUNT(*) FROM files WHERE length(data) = 0") == 0


async def test_many_files_that_are_referred_to_keep_no_other_from_going(old: Old) -> None:
    def work(connection: Connection) -> None:
        for number in range(1200):
            data = str(number).encode()
            key = files.store(connection, data=data, media_type="image/png", now=OLD)
            outgoing = NewOutboxMessage(
                chat=Chat(platform="p", address="c"), body="", file=(key, "a.png")
            )
            outbox.enqueue(connection, outgoing, now=OLD)
        for number in range(50):
            data = f"loose {number}".encode()
            files.store(connection, data=data, media_type="image/png", now=OLD)

    await old.do(work)
    assert await old.sweep() == {"files": 50}
    assert await old.value("SELECT COUNT(*) FROM files WHERE length(data) > 0") == 1200


async def test_an_export_does_not_stay_in_the_database(old: Old) -> None:
    def work(connection: Connection) -> None:
        key = files.store(connection, data=b"zip", media_type="application/zip", now=OLD)
        row = outbox.enqueue(
            connection,
            NewOutboxMessage(chat=Chat(platform="p", address="c"), body="x", file=(key, "a.zip")),
            now=OLD,
        )
        outbox.mark_sent(connection, outbox_id=row.id, message_id="m", body="x", now=OLD)

    await old.do(work)
    assert await old.sweep(outbox_days=0, files_days=0) == {"exports": 1}
    assert await old.value("SELECT COUNT(*) FROM files WHERE length(data) > 0") == 0


async def test_the_calls_of_a_day_become_one_row_and_cost_the_same(old: Old) -> None:
    def work(connection: Connection) -> None:
        turn_id = add_turn(connection, old.dialogue)
        for now in (OLD, OLD + 1, OLD + DAY, NOW):
            usage.insert(
                connection, SPENT, person_id=old.dialogue.person.id, turn_id=turn_id, now=now
            )

    await old.do(work)
    sums = "SELECT SUM(micro_dollars) || ' ' || SUM(input_tokens) FROM usage"
    before = await old.value(sums)
    assert await old.sweep() == {"usage": 1}
    assert await old.value(sums) == before
    assert await old.value("SELECT COUNT(*) FROM usage WHERE turn_id IS NOT NULL") == 1
    assert await old.sweep() == {}


async def test_a_replaced_secret_of_a_webhook_goes_when_it_signs_no_more(old: Old) -> None:
    def work(connection: Connection) -> None:
        for number, until in enumerate((NOW - 1, NOW, NOW + 1)):
            new = NewWebhook(
                person_id=old.dialogue.person.id,
                name=f"hook {number}",
                url="https://example.org/",
                kinds=EVENT_KINDS,
                secret=f"old {number}",
                place="0---0-0",
            )
            made = webhooks.insert(connection, new, now=OLD)
            webhooks.replace_secret(
                connection, webhook=made, secret=f"new {number}", old_until=until
            )
            if number == 1:
                webhooks.remove(connection, webhook=made, now=OLD)

    await old.do(work)
    assert await old.sweep() == {"secrets": 2}
    kept = "SELECT group_concat(secret || '/' || old_secret) FROM webhooks"
    assert await old.value(kept) == "new 0/,new 1/,new 2/old 2"
    assert await old.sweep() == {}


async def test_messages_stay_for_ever_unless_days_are_set(old: Old) -> None:
    def work(connection: Connection) -> None:
        for now in (OLD, NOW):
            turn_id = add_turn(connection, old.dialogue, now=now)
            said = Message(role="user", parts=(TextPart(text=f"canary at {now}"),))
            messages.append(connection, old.dialogue.shelf(turn_id), [said], now=now)
            turns.end(connection, turn_id=turn_id, state="answered", reason="", now=now)

    await old.do(work)
    assert await old.sweep() == {}
    assert await old.sweep(messages_days=30) == {"messages": 1}
    assert old.renewed == 1
    assert await old.value("SELECT group_concat(text) FROM messages") == f"canary at {NOW}"
    found = "SELECT COUNT(*) FROM message_search WHERE message_search MATCH '\"p1_canari\"'"
    assert await old.value(found) == 1


async def test_no_stroke_looks_at_more_than_a_few_hundred_rows(tmp_path: Path) -> None:
    strokes: list[str] = []
    database = await Database.open(
        tmp_path / "state.db", observe=lambda event, names: strokes.extend(names)
    )

    def work(connection: Connection) -> None:
        events = [(str(number), "x" * 100) for number in range(1000)]
        for row in inbox.store(connection, platform="p", events=events, now=OLD):
            inbox.finish(connection, inbox_id=InboxId(row.id))

    await database.write("test", work)
    strokes.clear()
    sweeper = Sweeper(database, RetentionSettings(), now=lambda: NOW, renew=list)
    assert (await sweeper.sweep())["inbox"] == 1000
    await database.close()
    assert strokes.count("sweep.inbox") == 5 * 2  # each is told of at its beginning and its end
