"""Walks through inbox and outbox: any steps in any order, with crashes in between.

The test plays the hall as far as it matters here: one worker a chat, which writes down what it
is about to do, does it, and writes down how it went.
"""

import sqlite3
import tempfile
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from agent_core.chats import Chat
from agent_core.ids import InboxId, OutboxId, TurnId
from agent_core.state.queues import dead_letters, inbox, outbox
from agent_core.state.queues.outbox import NewOutboxMessage, OutboxRow
from tests.agent_core.state.rows import add_dialogue, add_person, add_turn
from tests.agent_core.state.schema import create_schema

pytestmark = pytest.mark.slow
STEPS = settings(stateful_step_count=50)
CHATS = ("one", "two")
chats = st.sampled_from(CHATS)


class Home(RuleBasedStateMachine):
    """A database in a folder, and processes that die."""

    def __init__(self) -> None:
        super().__init__()
        self._folder = tempfile.TemporaryDirectory()
        self.connection = self._connect()
        create_schema(self.connection)
        self.person = add_person(self.connection)
        self.dialogue = add_dialogue(self.connection, self.person)

    def _connect(self) -> sqlite3.Connection:
        folder = Path(self._folder.name)
        connection = sqlite3.connect(folder / "state.db", isolation_level=None)
        connection.execute("PRAGMA synchronous = OFF")
        connection.execute("PRAGMA foreign_keys = ON")
        return connection

    def restart(self) -> None:
        self.connection.close()
        self.connection = self._connect()

    def teardown(self) -> None:
        self.connection.close()
        self._folder.cleanup()


class InboxWalk(Home):
    """Events come, come again, are claimed, finished and set aside."""

    def __init__(self) -> None:
        super().__init__()
        self.states: dict[str, str] = {}
        self.owners: dict[str, TurnId] = {}
        self.ids: dict[str, InboxId] = {}
        self.turns: list[TurnId] = []

    def names(self, state: str) -> list[str]:
        found = [name for name, known in self.states.items() if known == state]
        return sorted(found, key=lambda name: self.ids[name])

    @rule(names=st.lists(st.sampled_from("abcdefghijkl"), max_size=4))
    def come(self, names: list[str]) -> None:
        rows = inbox.store(
            self.connection, platform="p", events=[(name, f"<{name}>") for name in names], now=0
        )
        new = [name for name in dict.fromkeys(names) if name not in self.states]
        assert [row.event_id for row in rows] == new
        for row in rows:
            self.states[row.event_id] = "received"
            self.ids[row.event_id] = row.id

    @rule(count=st.integers(1, 3), greedy=st.lists(st.sampled_from("abcdefghijkl"), max_size=3))
    def begin_turn(self, count: int, greedy: list[str]) -> None:
        """A turn claims what waits, and tries for events that may be somebody else's."""
        turn_id = add_turn(self.connection, self.dialogue)
        names = [*self.names("received")[:count], *(n for n in greedy if n in self.ids)]
        inbox.claim(self.connection, inbox_ids=[self.ids[n] for n in names], turn_id=turn_id)
        self.turns.append(turn_id)
        for name in names:
            if self.states[name] == "received":
                self.states[name] = "claimed"
                self.owners[name] = turn_id

    @precondition(lambda self: self.turns)
    @rule(data=st.data())
    def end_turn(self, data: st.DataObject) -> None:
        turn_id = data.draw(st.sampled_from(self.turns))
        inbox.finish_turn(self.connection, turn_id=turn_id)
        for name, owner in self.owners.items():
            if owner == turn_id and self.states[name] == "claimed":
                self.states[name] = "done"

    @precondition(lambda self: self.names("received") + self.names("claimed"))
    @rule(data=st.data(), is_poison=st.booleans())
    def put_aside(self, data: st.DataObject, is_poison: bool) -> None:
        name = data.draw(st.sampled_from(self.names("received") + self.names("claimed")))
        put = inbox.park if is_poison else inbox.finish
        put(self.connection, inbox_id=self.ids[name], reason="r")
        self.states[name] = "dead" if is_poison else "done"

    @rule()
    def crash(self) -> None:
        self.restart()

    @invariant()
    def every_event_has_one_row_and_at_most_one_turn(self) -> None:
        rows = self.connection.execute("SELECT event_id, state, turn_id FROM inbox").fetchall()
        assert len(rows) == len(self.states)
        assert {name: state for name, state, _ in rows} == self.states
        assert {name: owner for name, _, owner in rows if owner} == self.owners

    @invariant()
    def what_waits_is_listed_in_order(self) -> None:
        listed = inbox.list_received(self.connection)
        assert [row.event_id for row in listed] == self.names("received")
        assert all(row.payload == f"<{row.event_id}>" for row in listed)
        is_open = bool(self.names("received") or self.names("claimed"))
        assert inbox.has_open(self.connection, platform="p") == is_open
        assert inbox.count_dead(self.connection) == len(self.names("dead"))


@dataclass
class Shown:
    """A message as the platform has it."""

    message_id: str
    row_id: OutboxId
    text: str


@dataclass
class Attempt:
    """A message on its way; nobody knows yet how it went."""

    row: OutboxRow
    has_arrived: bool = False


@dataclass
class _Chat:
    """A chat as the platform and its worker see it."""

    shown: list[Shown] = field(default_factory=list)
    attempt: Attempt | None = None
    live: OutboxId | None = None


LEGAL = {
    ("", "owed"),
    ("", "sending"),
    ("owed", "sending"),
    ("owed", "sent"),  # a change of what is known to be there
    ("owed", "dead"),
    ("sending", "sent"),
    ("sending", "owed"),
    ("sending", "unsure"),
    ("unsure", "unsure"),
    ("unsure", "owed"),
    ("unsure", "sent"),  # a live message that was found; its body is not owed yet
    ("sent", "owed"),  # a live message that is given its last words
    ("dead", "owed"),
}
_WATCH = """
CREATE TEMP TABLE walk (row_id INTEGER, before TEXT, after TEXT, message_id TEXT, is_live INTEGER);
CREATE TEMP TRIGGER walk_begun AFTER INSERT ON outbox BEGIN
    INSERT INTO walk VALUES (NEW.id, '', NEW.state, NEW.message_id, NEW.is_live); END;
CREATE TEMP TRIGGER walk_on AFTER UPDATE OF state ON outbox BEGIN
    INSERT INTO walk VALUES (NEW.id, OLD.state, NEW.state, OLD.message_id, OLD.is_live); END;
"""


class OutboxWalk(Home):
    """Messages are owed, tried, lost, looked for, changed while live, buried and revived."""

    def __init__(self) -> None:
        super().__init__()
        self.chats = {name: _Chat() for name in CHATS}
        self.count = 0
        self.revived: set[int] = set()
        self.has_passed_sending: set[int] = set()
        self.connection.executescript(_WATCH)

    def _outgoing(self, chat: str) -> NewOutboxMessage:
        self.count += 1
        return NewOutboxMessage(
            chat=Chat(platform="p", address=chat),
            body=f"body {self.count}",
            person_id=self.person.id,
        )

    def _next(self, name: str) -> OutboxRow | None:
        """What the worker of a chat has to do next: the oldest that is open."""
        rows = [row for row in outbox.list_open(self.connection) if row.chat.address == name]
        return rows[0] if rows else None

    def _row(self, row_id: OutboxId) -> OutboxRow:
        row = outbox.find(self.connection, outbox_id=row_id)
        assert row is not None
        return row

    def _find(self, row: OutboxRow) -> Shown | None:
        shown = self.chats[row.chat.address].shown
        return next((one for one in shown if one.row_id == row.id), None)

    def free_in(self, *states: str) -> list[str]:
        """The chats with nothing on its way, whose next message is in one of these states."""
        following: dict[str, str] = {}
        for row in outbox.list_open(self.connection):
            following.setdefault(row.chat.address, row.state)
        return [
            name
            for name, chat in self.chats.items()
            if chat.attempt is None and following.get(name, "nothing") in states
        ]

    def on_the_way(self, *, has_arrived: bool | None = None) -> list[str]:
        """The chats with a message on its way, arrived or not."""
        return [
            name
            for name, chat in self.chats.items()
            if chat.attempt and has_arrived in (None, chat.attempt.has_arrived)
        ]

    def closed_to_live(self) -> list[str]:
        """The chats where a live message can't be opened now."""
        return [name for name, chat in self.chats.items() if chat.live is not None]

    def with_live(self) -> list[str]:
        """The chats with a live message whose turn can end now."""
        return [name for name in self.closed_to_live() if not self.chats[name].attempt]

    @rule(name=chats, count=st.integers(1, 3))
    def enqueue(self, name: str, count: int) -> None:
        for _ in range(count):
            outbox.enqueue(self.connection, self._outgoing(name), now=0)

    @precondition(lambda self: self.free_in("owed"))
    @rule(data=st.data())
    def try_next(self, data: st.DataObject) -> None:
        self._try(data.draw(st.sampled_from(self.free_in("owed"))))

    def _try(self, name: str) -> None:
        row = self._next(name)
        assert row is not None
        assert not row.is_live, "nobody owes what is not final"
        if row.message_id is not None:
            shown = self._find(row)
            assert shown is not None
            assert shown.message_id == row.message_id
            shown.text = row.body
            outbox.mark_sent(
                self.connection,
                outbox_id=row.id,
                message_id=shown.message_id,
                body=row.body,
                now=0,
            )
            return
        outbox.mark_sending(self.connection, outbox_id=row.id)
        self.chats[name].attempt = Attempt(row=self._row(row.id))

    @precondition(lambda self: self.on_the_way(has_arrived=False))
    @rule(data=st.data())
    def arrive(self, data: st.DataObject) -> None:
        self._arrive(data.draw(st.sampled_from(self.on_the_way(has_arrived=False))))

    def _arrive(self, name: str) -> None:
        attempt = self.chats[name].attempt
        assert attempt is not None
        assert attempt.row.shown is not None
        attempt.has_arrived = True
        self.count += 1
        self.chats[name].shown.append(Shown(f"m{self.count}", attempt.row.id, attempt.row.shown))

    @precondition(lambda self: self.on_the_way(has_arrived=True))
    @rule(data=st.data())
    def confirm(self, data: st.DataObject) -> None:
        self._confirm(data.draw(st.sampled_from(self.on_the_way(has_arrived=True))))

    def _confirm(self, name: str) -> None:
        chat = self.chats[name]
        assert chat.attempt is not None
        row, chat.attempt = chat.attempt.row, None
        message_id = chat.shown[-1].message_id
        if row.is_live:
            outbox.mark_found(self.connection, outbox_id=row.id, message_id=message_id)
        else:
            outbox.mark_sent(
                self.connection,
                outbox_id=row.id,
                message_id=message_id,
                body=row.body,
                now=0,
            )

    @precondition(lambda self: self.on_the_way(has_arrived=False))
    @rule(data=st.data())
    def refuse(self, data: st.DataObject) -> None:
        chat = self.chats[data.draw(st.sampled_from(self.on_the_way(has_arrived=False)))]
        assert chat.attempt is not None
        row, chat.attempt = chat.attempt.row, None
        if row.is_live:
            outbox.drop_live(self.connection, outbox_id=row.id)
            chat.live = None
        else:
            outbox.mark_waiting(self.connection, outbox_id=row.id, reason="busy")
            assert self._row(row.id).state == "owed"

    @precondition(lambda self: self.on_the_way())
    @rule(data=st.data())
    def lose(self, data: st.DataObject) -> None:
        chat = self.chats[data.draw(st.sampled_from(self.on_the_way()))]
        assert chat.attempt is not None
        row, chat.attempt = chat.attempt.row, None
        outbox.mark_unsure(self.connection, outbox_id=row.id, reason="cut")

    @precondition(lambda self: self.free_in("unsure"))
    @rule(data=st.data())
    def look_for(self, data: st.DataObject) -> None:
        self._look_for(data.draw(st.sampled_from(self.free_in("unsure"))))

    def _look_for(self, name: str) -> None:
        row = self._next(name)
        assert row is not None
        shown = self._find(row)
        if shown:
            assert shown.text == row.shown
            outbox.mark_found(self.connection, outbox_id=row.id, message_id=shown.message_id)
            return
        outbox.mark_missing(self.connection, outbox_id=row.id)
        outbox.drop_live(self.connection, outbox_id=row.id)
        if row.is_live:
            self.chats[name].live = None
        else:
            assert self._row(row.id).state == "owed"

    @precondition(lambda self: set(self.free_in("nothing")) - set(self.closed_to_live()))
    @rule(data=st.data())
    def open_live(self, data: st.DataObject) -> None:
        places = sorted(set(self.free_in("nothing")) - set(self.closed_to_live()))
        name = data.draw(st.sampled_from(places))
        turn_id = add_turn(self.connection, self.dialogue)
        row = outbox.open_live(
            self.connection, replace(self._outgoing(name), turn_id=turn_id), now=0
        )
        assert outbox.find_live(self.connection, turn_id=turn_id) == row
        self.chats[name].live = row.id
        self.chats[name].attempt = Attempt(row=row)

    @precondition(lambda self: self.with_live())
    @rule(data=st.data())
    def end_live_turn(self, data: st.DataObject) -> None:
        self._settle(data.draw(st.sampled_from(self.with_live())))

    def _settle(self, name: str) -> None:
        live = self.chats[name].live
        assert live is not None
        body = f"{self._row(live).body}, whole"
        assert outbox.finalize_live(self.connection, outbox_id=live, body=body).is_whole
        self.chats[name].live = None

    @precondition(lambda self: self.free_in("owed"))
    @rule(data=st.data())
    def bury(self, data: st.DataObject) -> None:
        row = self._next(data.draw(st.sampled_from(self.free_in("owed"))))
        assert row is not None
        if row.message_id is None:
            outbox.mark_dead(self.connection, outbox_id=row.id, reason="too odd")

    @precondition(lambda self: outbox.count(self.connection, state="dead"))
    @rule(name=chats)
    def revive(self, name: str) -> None:
        rows = dead_letters.revive_dead(
            self.connection, person_id=self.person.id, platform="p", chat=name
        )
        assert [row.id for row in rows] == sorted(row.id for row in rows)
        self.revived.update(row.id for row in rows)

    @precondition(lambda self: self.on_the_way())
    @rule()
    def crash(self) -> None:
        self._die()

    def _die(self) -> None:
        self._check_the_walk()
        self.restart()
        self.connection.executescript(_WATCH)
        for chat in self.chats.values():
            chat.attempt = None
        outbox.mark_interrupted(self.connection)

    @invariant()
    def every_step_is_a_legal_one(self) -> None:
        self._check_the_walk()

    def _check_the_walk(self) -> None:
        steps = self.connection.execute("SELECT * FROM walk ORDER BY rowid").fetchall()
        self.connection.execute("DELETE FROM walk")
        for row_id, before, after, message_id, is_live in steps:
            assert (before, after) in LEGAL
            if after == "sending":
                self.has_passed_sending.add(row_id)
            if after == "sent":
                assert row_id in self.has_passed_sending
            if (before, after) == ("owed", "sent"):
                assert message_id is not None
            if (before, after) == ("unsure", "sent"):
                assert is_live

    @invariant()
    def nothing_is_shown_twice(self) -> None:
        for chat in self.chats.values():
            ids = [shown.row_id for shown in chat.shown]
            assert len(ids) == len(set(ids))

    @invariant()
    def each_chat_is_in_order(self) -> None:
        rows = outbox.list_open(self.connection)
        waiting = [(row.state != "unsure", row.id) for row in rows]
        assert waiting == sorted(waiting)
        for chat in self.chats.values():
            ids = [shown.row_id for shown in chat.shown if shown.row_id not in self.revived]
            assert ids == sorted(ids)

    def teardown(self) -> None:
        """The next process pays all that is owed."""
        self._die()
        for name in CHATS:
            for _ in range(1_000):
                if not self._pay_next(name):
                    break
            else:
                raise AssertionError(f"chat {name} is never done")
        self._check_the_walk()
        shown = {shown.row_id: shown.text for chat in self.chats.values() for shown in chat.shown}
        paid = self.connection.execute(
            "SELECT id, body FROM outbox WHERE state = 'sent' AND is_live = 0"
        ).fetchall()
        left = self.connection.execute("SELECT COUNT(*) FROM outbox WHERE state = 'dead'")
        total = self.connection.execute("SELECT COUNT(*) FROM outbox").fetchone()[0]
        assert dict(paid) == shown
        assert len(paid) + left.fetchone()[0] == total
        assert not outbox.has_open(self.connection, platform="p")
        super().teardown()

    def _pay_next(self, name: str) -> bool:
        """Take the next step, which succeeds; False if there is nothing left to do."""
        row = self._next(name)
        if row is None:
            if self.chats[name].live is None:
                return False
            self._settle(name)
        elif row.state == "unsure":
            self._look_for(name)
        else:
            self._try(name)
            if self.chats[name].attempt:
                self._arrive(name)
                self._confirm(name)
        return True


TestInboxWalk = InboxWalk.TestCase
TestInboxWalk.settings = STEPS
TestOutboxWalk = OutboxWalk.TestCase
TestOutboxWalk.settings = STEPS
