"""The feed of a person's events: nothing is left out, told twice, or told to others."""

import sqlite3
from collections import Counter
from contextlib import closing
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_core.chats import Chat, Place
from agent_core.ids import TurnId
from agent_core.state.conversations import questions, sessions, turns
from agent_core.state.conversations.questions import Choice, NewQuestion
from agent_core.state.conversations.turns import TurnRequest
from agent_core.state.memory import ledger
from agent_core.state.memory.ledger import Change, Origin
from gateway.outbound.event_feed import Cursor, Event, EventFeed, find_now, read_cursor
from tests.agent_core.state.rows import PROMPT, Dialogue, add_dialogue, add_person
from tests.agent_core.state.schema import create_schema

Told = Counter[tuple[str, int]]
"""How often each event was told, by its kind and number."""


@dataclass
class World:
    """A database with two people, a feed for each, and what each has to be told."""

    connection: sqlite3.Connection
    seconds: float = 0.0
    numbers: int = 0
    dialogues: list[Dialogue] = field(default_factory=list)
    feeds: list[EventFeed] = field(default_factory=list)
    told: list[Told] = field(default_factory=lambda: [Counter(), Counter()])
    due: list[Told] = field(default_factory=lambda: [Counter(), Counter()])
    unwritten: list[tuple[int, TurnId]] = field(default_factory=list)
    """Turns that have a number and no row yet, as a short one until its end."""
    running: list[tuple[int, TurnId]] = field(default_factory=list)

    def open(self) -> "World":
        create_schema(self.connection)
        sessions.insert_prompt(self.connection, prompt_hash=PROMPT, system="", tools="[]", now=0)
        for who, slug in enumerate(("ann", "ben")):
            self.dialogues.append(add_dialogue(self.connection, add_person(self.connection, slug)))
            self.follow(who, find_now(self.connection, person_id=self.person(who)))
        return self

    def person(self, who: int):  # type: ignore[no-untyped-def]
        return self.dialogues[who].person.id

    def follow(self, who: int, place: Cursor | None) -> None:
        feed = EventFeed(self.person(who), place, clock=lambda: self.seconds)
        self.feeds[who : who + 1] = [feed]

    def number(self, who: int) -> None:
        self.numbers += 1
        self.unwritten.append((who, TurnId(self.numbers)))

    def write(self, at: int) -> TurnId:
        who, turn_id = self.unwritten.pop(at % len(self.unwritten))
        dialogue = self.dialogues[who]
        request = TurnRequest(
            person_id=dialogue.person.id,
            account_id=None,
            place=Place(chat=Chat(platform="telegram", address="chat")),
            turn_id=turn_id,
        )
        turns.insert(
            self.connection,
            conversation=dialogue.conversation,
            session_id=dialogue.session_id,
            request=request,
            prompt_hash=PROMPT,
            now=self.numbers,
        )
        self.running.append((who, turn_id))
        self.due[who]["turn.started", turn_id] += 1
        return turn_id

    def end(self, at: int) -> None:
        who, turn_id = self.running.pop(at % len(self.running))
        turns.end(self.connection, turn_id=turn_id, state="answered", reason="", now=9)
        self.due[who]["turn.ended", turn_id] += 1

    def change(self, who: int) -> None:
        entry = ledger.record(
            self.connection,
            person_id=self.person(who),
            target="memory",
            change=Change(operation="add", position=0, before=None, after="tea"),
            origin=Origin(actor="hand", now=5),
        )
        self.due[who]["memory.changed", entry.id] += 1

    def ask(self, who: int, answers: bool) -> None:
        asked = questions.ask(
            self.connection,
            NewQuestion(
                person_id=self.person(who),
                kind="choice",
                text="Tea?",
                choices=(Choice(key="yes", label="Yes"),),
                secret="0",
                chat=Chat(platform="fake", address="1"),
                expires_at=10,
            ),
            now=5,
        )
        if answers:
            questions.answer(
                self.connection, question_id=asked.id, key="yes", by=self.person(who), now=6
            )
        self.due[who]["question.asked", asked.id] += 1

    def look(self, who: int) -> list[Event]:
        found = self.feeds[who].read(self.connection)
        self.told[who].update((one.kind, one.number) for one in found)
        return found

    def reconnect(self, who: int) -> None:
        place = self.feeds[who].cursor
        assert place
        assert read_cursor(place.write()) == place
        self.follow(who, read_cursor(place.write()))


WHO = st.integers(0, 1)
STEPS = st.one_of(
    st.tuples(st.sampled_from(("number", "change", "look", "reconnect")), WHO),
    st.tuples(st.sampled_from(("write", "end")), st.integers(0, 5)),
    st.tuples(st.just("ask"), WHO, st.booleans()),
    st.tuples(st.just("wait"), st.floats(0, 40)),
)


@given(st.lists(STEPS, max_size=60))
def test_each_person_is_told_everything_once_and_nothing_of_others(
    steps: list[tuple[object, ...]],
) -> None:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        world = World(connection).open()
        for name, *arguments in steps:
            if name == "wait":
                # Nothing stays unwritten for long.
                if not world.unwritten:
                    world.seconds += arguments[0]  # type: ignore[operator]
            elif (name == "write" and not world.unwritten) or (name == "end" and not world.running):
                continue
            else:
                getattr(world, str(name))(*arguments)
        while world.unwritten:
            world.write(0)
        for who in (0, 1):
            world.look(who)
            world.reconnect(who)
            assert world.look(who) == []
        assert world.told == world.due


@pytest.fixture
def world() -> World:
    return World(sqlite3.connect(":memory:", isolation_level=None)).open()


def test_a_turn_that_is_written_behind_a_higher_number_is_told(world: World) -> None:
    with closing(world.connection):
        world.number(0), world.number(0)
        world.end(world.write(1) and 0)
        assert [one.number for one in world.look(0)] == [2, 2]
        world.end(world.write(0) and 0)
        assert [(one.kind, one.number) for one in world.look(0)] == [
            ("turn.started", 1),
            ("turn.ended", 1),
        ]


def test_more_than_one_look_finds_is_told_by_the_next_ones(world: World) -> None:
    with closing(world.connection):
        world.number(0)
        world.write(0)  # it stays open, and hides nothing behind it
        for _ in range(2500):
            world.number(0)
            world.write(0)
            world.end(-1)
            world.change(0)
        while world.look(0):
            pass
        world.end(0)
        world.look(0)
        assert world.told == world.due


@pytest.mark.parametrize(
    "text", ["", "1-2-3", "1-2-3-4-x", "1---2", "٣---1-1", "-1---1-1", "1----1-1", "1.2---1-1"]
)
def test_a_foreign_place_is_none(text: str) -> None:
    assert read_cursor(text) is None


def test_a_place_is_read_as_it_was_written() -> None:
    place = Cursor(
        floor=12, recent=frozenset({14, 13}), open=frozenset({9, 14}), change=5, question=0
    )
    assert place.write() == "12-13.14-9.14-5-0"
    assert read_cursor(place.write()) == place
    assert read_cursor("9" * 90 + "---1-1") is not None
