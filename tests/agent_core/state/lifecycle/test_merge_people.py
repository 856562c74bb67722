"""Two people become one: whole, findable, or, where anything fails, not at all."""

import asyncio
import signal
import sqlite3
from pathlib import Path
from typing import cast

import pytest

from agent_core.chats import Chat
from agent_core.ids import MessageId, PersonId, TurnId
from agent_core.state.conversations import (
    compactions,
    messages,
    questions,
    sessions,
    turns,
    usage,
    usage_sums,
)
from agent_core.state.conversations.compactions import Compaction, NewCompaction
from agent_core.state.conversations.questions import NewQuestion
from agent_core.state.engine.database import Connection, Database
from agent_core.state.lifecycle import merge_people, removed_conversations, split_person
from agent_core.state.people import learning, people
from agent_core.state.people.people import Account, Learning, Person
from agent_core.state.queues import dead_letters, outbox, reviews, tasks
from agent_core.state.queues.outbox import NewOutboxMessage
from agent_core.state.search import message_index
from agent_core.state.search.message_index import Term
from agent_core.state.search.search_scope import SearchFilter
from agent_core.state.tokenizer import stem
from tests.agent_core.state.conftest import RunScript
from tests.agent_core.state.lifecycle.joined_people import direct, give_account, join, renaming, say
from tests.agent_core.state.message_index import check_index
from tests.agent_core.state.rows import Dialogue, add_dialogue, add_person, add_turn
from tests.agent_core.state.schema import create_schema

OWNED = ("turns", "usage", "messages", "conversations", "tasks")


def room(connection: Connection, person: Person, place: str = "room:p:1:") -> Dialogue:
    return add_dialogue(connection, person, key=f"{place}:{person.id}", room=True)


def split(connection: Connection, account: Account, into: Person, now: int = 10) -> None:
    found = people.find_account(connection, platform=account.platform, user_id=account.user_id)
    assert found
    rename = renaming(found.person_id, into.id)
    split_person.split(connection, found, into=into.id, rename=rename, now=now)


def finds(connection: Connection, person: Person, word: str, scope: str = "") -> int:
    field = SearchFilter(person_id=person.id, scope=scope or f"p{person.id}", except_turn=TurnId(0))
    return message_index.count_holders(
        connection, field=field, term=Term(word=stem(word)), most=1000
    )


def count_calls(connection: Connection, person: Person) -> int:
    """The calls of a person, which their sums count, too."""
    calls = usage.total_since(connection, person_id=person.id, since=0).calls
    sums = usage_sums.list_sums(connection, person_id=person.id, spans=[(0, 86_400_000)])[0]
    assert sum(one.amounts.calls for one in sums) == calls
    return calls


def count_of(connection: Connection, table: str, person: Person) -> int:
    row = connection.execute(
        f"SELECT COUNT(*) FROM {table} WHERE person_id = :id", {"id": person.id}
    ).fetchone()
    return int(row[0])


def dump(connection: Connection) -> list[str]:
    """Every row of every table; an index, which can't be read, by what it is kept in."""
    tables = connection.execute(
        "SELECT name FROM sqlite_master WHERE type = 'table'"
        " AND name NOT IN ('message_search', 'archive_search')"
    )
    return [
        f"{name} {row}"
        for (name,) in tables.fetchall()
        for row in connection.execute(f"SELECT * FROM {name}")
    ]


@pytest.fixture
def ann(connection: Connection) -> Person:
    person = add_person(connection, "ann")
    give_account(connection, person)
    return person


@pytest.fixture
def ben(connection: Connection) -> Person:
    person = add_person(connection, "ben")
    give_account(connection, person, "discord")
    return person


def test_everything_of_one_becomes_the_others(
    connection: Connection, ann: Person, ben: Person
) -> None:
    for person in (ann, ben):
        say(connection, direct(connection, person), f"tea of {person.slug}", "")
        say(connection, room(connection, person), f"coffee of {person.slug}")
        tasks.enqueue(
            connection, kind="title", key=person.slug, person_id=person.id, payload="", now=0
        )
    assert join(connection, ann, ben) == 3
    assert [count_of(connection, table, ben) for table in OWNED if table != "conversations"] == [
        0
    ] * 4
    assert count_of(connection, "turns", ann) == 4
    assert count_calls(connection, ann) == 4
    assert count_of(connection, "outbox", ann) == 4
    assert count_of(connection, "tasks", ann) == 2
    assert len(people.list_accounts(connection, person_id=ann.id)) == 2
    assert people.find_by_account(
        connection, platform="discord", user_id="ben-discord"
    ) == people.find(connection, person_id=ann.id)
    assert people.list_all(connection) == [people.find(connection, person_id=ann.id)]


def test_words_are_found_by_whom_they_belong_to_now_and_by_nobody_else(
    connection: Connection, ann: Person, ben: Person
) -> None:
    other = add_person(connection, "other")
    say(connection, direct(connection, other), "tea")
    for person in (ann, ben):
        say(connection, direct(connection, person), "tea", "tea  and   milk")
        say(connection, room(connection, person), "tea")
    join(connection, ann, ben)
    check_index(connection)
    assert finds(connection, ann, "tea") == 6
    assert finds(connection, ben, "tea") == 0
    assert finds(connection, ann, "tea", f"p{ben.id}") == 0
    assert finds(connection, other, "tea") == 1


def test_a_direct_conversation_goes_on_in_the_direct_conversation(
    connection: Connection, ann: Person, ben: Person
) -> None:
    dialogue, theirs = direct(connection, ann), direct(connection, ben)
    turn_id = say(connection, theirs, "tea")
    join(connection, ann, ben)
    turn = turns.find(connection, turn_id=turn_id)
    assert turn
    assert turn.conversation_id == dialogue.conversation.id
    assert turn.person_id == ann.id
    heard = messages.list_session(connection, session_id=theirs.session_id, person_id=ann.id)
    assert [stored.message.text for stored in heard] == ["tea"]
    assert finds(connection, ann, "tea", f"c{dialogue.conversation.id}") == 1


def test_a_conversation_that_the_owner_has_not_is_taken_over_as_it_is(
    connection: Connection, ann: Person, ben: Person
) -> None:
    theirs = [direct(connection, ben), room(connection, ben)]
    for dialogue in theirs:
        say(connection, dialogue, "tea")
    join(connection, ann, ben)
    kept = merge_people.list_conversations(connection, person_id=ann.id)
    assert [(dialogue.id, dialogue.key) for dialogue in kept] == [
        (theirs[0].conversation.id, f"direct:{ann.id}"),
        (theirs[1].conversation.id, f"room:p:1::{ann.id}"),
    ]
    assert [dialogue.is_private for dialogue in kept] == [True, False]
    assert finds(connection, ann, "tea", f"c{theirs[1].conversation.id}") == 1


@pytest.mark.parametrize(("mine", "theirs"), [(5, 6), (6, 5), (5, 5)])
def test_of_two_open_sessions_the_one_used_last_stays_open_and_its_prompt_is_made_anew(
    connection: Connection, ann: Person, ben: Person, mine: int, theirs: int
) -> None:
    dialogues = [direct(connection, ann), direct(connection, ben)]
    for dialogue, at in zip(dialogues, (mine, theirs), strict=True):
        add_turn(connection, dialogue)
        connection.execute(
            "UPDATE sessions SET last_at = :at, prompt_hash = (SELECT hash FROM prompts)"
            " WHERE id = :id",
            {"at": at, "id": dialogue.session_id},
        )
    join(connection, ann, ben)
    opened = sessions.find_open(connection, conversation_id=dialogues[0].conversation.id)
    assert opened
    assert opened.id == dialogues[mine <= theirs].session_id
    assert opened.prompt_hash is None
    ended = connection.execute("SELECT COUNT(*) FROM sessions WHERE ended_at = 9").fetchone()
    assert ended[0] == 1


def test_open_questions_go_along_and_answered_ones_are_history(
    connection: Connection, ann: Person, ben: Person
) -> None:
    new = NewQuestion(
        person_id=ben.id,
        kind="choice",
        text="t",
        choices=(),
        secret="s",
        chat=Chat(platform="p", address="c"),
        expires_at=99,
    )
    answered = questions.ask(connection, new, now=0)
    questions.answer(connection, question_id=answered.id, key="k", by=ben.id, now=1)
    opened = questions.ask(connection, new, now=0)
    join(connection, ann, ben)
    assert [one.id for one in questions.find_open(connection, person_id=ann.id)] == [opened.id]
    kept = questions.find(connection, question_id=answered.id)
    assert kept
    assert kept.person_id == ben.id


def test_what_could_not_be_delivered_is_the_keepers_to_retry(
    connection: Connection, ann: Person, ben: Person
) -> None:
    row = outbox.enqueue(
        connection,
        NewOutboxMessage(chat=Chat(platform="p", address="c"), body="b", person_id=ben.id),
        now=0,
    )
    connection.execute("UPDATE outbox SET state = 'dead' WHERE id = :id", {"id": row.id})
    join(connection, ann, ben)
    assert dead_letters.count_dead_of(connection, person_id=ann.id) == 1


def test_rights_are_not_inherited(connection: Connection, ann: Person, ben: Person) -> None:
    people.make_owner(connection, person_id=ann.id)
    join(connection, ann, ben)
    found = (people.find(connection, person_id=person.id) for person in (ann, ben))
    assert [person.role for person in found if person] == ["owner", "member"]


def test_wishes_that_the_owner_never_told_are_taken_over(
    connection: Connection, ann: Person, ben: Person
) -> None:
    connection.execute("UPDATE people SET language = 'de' WHERE id = :id", {"id": ann.id})
    connection.execute(
        "UPDATE people SET language = 'es', time_zone = 'Europe/Madrid' WHERE id = :id",
        {"id": ben.id},
    )
    join(connection, ann, ben)
    joined = people.find(connection, person_id=ann.id)
    assert joined
    assert (joined.language, joined.time_zone) == ("de", "Europe/Madrid")


@pytest.mark.parametrize(
    ("kept", "absorbed", "joined"),
    [
        ("tell", "off", "off"),
        ("quiet", "ask", "ask"),
        ("ask", "off", "off"),
        ("off", "ask", "off"),
        ("ask", "tell", "ask"),
        ("quiet", "tell", "quiet"),
    ],
)
def test_the_stricter_way_of_learning_counts(
    connection: Connection, ann: Person, ben: Person, kept: str, absorbed: str, joined: str
) -> None:
    for person, mode in ((ann, kept), (ben, absorbed)):
        learning.set_learning(connection, person_id=person.id, learning=cast(Learning, mode))
    join(connection, ann, ben)
    found = people.find(connection, person_id=ann.id)
    assert found
    assert found.learning == joined


def test_reviews_and_what_they_hold_back_go_along(
    connection: Connection, ann: Person, ben: Person
) -> None:
    own, theirs = (say(connection, direct(connection, one), "hello") for one in (ann, ben))
    for person, until in ((ann, own), (ben, theirs)):
        reviews.enqueue(connection, person_id=person.id, until=until, payload=person.slug, now=1)
    connection.execute("UPDATE tasks SET state = 'done' WHERE kind = 'review'")
    join(connection, ann, ben)
    finished = tasks.list_finished(connection, kind=reviews.KIND, person_id=ann.id, limit=9)
    assert [payload for _, payload in finished] == ["ben", "ann"]
    assert reviews.exists(connection, person_id=ann.id, until=theirs)
    assert tasks.list_finished(connection, kind=reviews.KIND, person_id=ben.id, limit=9) == []


def test_sessions_from_before_accounts_were_noted_get_the_account_of_their_platform(
    connection: Connection, ann: Person, ben: Person
) -> None:
    telegram = give_account(connection, ben)
    dialogue, untouched = direct(connection, ben), direct(connection, ben)
    say(connection, dialogue, "tea")
    join(connection, ann, ben)
    stored = dict(connection.execute("SELECT id, account_id FROM sessions").fetchall())
    discord = people.find_account(connection, platform="discord", user_id="ben-discord")
    assert discord
    assert stored == {dialogue.session_id: telegram.id, untouched.session_id: discord.id}
    assert connection.execute("SELECT account_id FROM turns").fetchall() == [(telegram.id,)]


def test_an_account_remembers_who_it_was_at_first(
    connection: Connection, ann: Person, ben: Person
) -> None:
    cleo = add_person(connection, "cleo")
    give_account(connection, cleo, "slack")
    join(connection, ben, cleo)
    join(connection, ann, ben)
    came = {a.platform: a.came_from for a in people.list_accounts(connection, person_id=ann.id)}
    assert came == {"telegram": None, "discord": ben.id, "slack": cleo.id}
    assert merge_people.list_absorbed(connection, person_id=ann.id) == [ben.id, cleo.id]


def test_a_running_turn_is_seen_until_it_is_settled(connection: Connection, ann: Person) -> None:
    turn_id = add_turn(connection, direct(connection, ann))
    assert merge_people.has_running(connection, person_id=ann.id)
    turns.end(connection, turn_id=turn_id, state="answered", reason="", now=1)
    assert not merge_people.has_running(connection, person_id=ann.id)


def test_a_split_gives_back_just_what_the_account_began(
    connection: Connection, ann: Person, ben: Person
) -> None:
    mine = people.list_accounts(connection, person_id=ann.id)[0]
    theirs = people.list_accounts(connection, person_id=ben.id)[0]
    dialogues = {person.slug: direct(connection, person) for person in (ann, ben)}
    say(connection, dialogues["ann"], "tea", account=mine)
    say(connection, dialogues["ben"], "tea", account=theirs)
    say(connection, room(connection, ben), "tea", account=theirs)
    room(connection, ann)
    before = dump(connection)
    join(connection, ann, ben)
    split(connection, theirs, ben)
    split_person.restore_person(connection, back=ben.id)
    check_index(connection)
    after = dump(connection)
    assert finds(connection, ben, "tea") == 2
    assert finds(connection, ann, "tea") == 1
    # Only that a session's prompt has to be made anew, and the index's own bytes, differ.
    changed = [line for line in after if line not in before and "message_search" not in line]
    assert [line for line in changed if not line.startswith("sessions ")] == []


def test_compactions_go_with_their_sessions_there_and_back(
    connection: Connection, ann: Person, ben: Person
) -> None:
    theirs = people.list_accounts(connection, person_id=ben.id)[0]
    dialogue = direct(connection, ben)
    say(connection, dialogue, "tea", account=theirs)
    made = NewCompaction(
        turn_id=None,
        made_after=MessageId(1),
        shortened_to=MessageId(1),
        summarized_to=MessageId(0),
        kept=(),
        summary="",
        reason="asked",
        tokens_before=2,
        tokens_after=1,
        created_at=1,
    )
    made_now = compactions.insert(
        connection, made, session_id=dialogue.session_id, person_id=ben.id
    )

    def of(person: Person) -> list[Compaction]:
        return compactions.list_of_session(
            connection, session_id=dialogue.session_id, person_id=person.id
        )

    join(connection, ann, ben)
    assert (of(ann), of(ben)) == ([made_now], [])
    split(connection, theirs, ben)
    assert (of(ann), of(ben)) == ([], [made_now])


def test_what_an_account_did_while_it_was_joined_goes_along_and_others_conversations_stay(
    connection: Connection, ann: Person, ben: Person
) -> None:
    mine = people.list_accounts(connection, person_id=ann.id)[0]
    theirs = people.list_accounts(connection, person_id=ben.id)[0]
    dialogue = direct(connection, ann)
    say(connection, dialogue, "tea", account=mine)
    join(connection, ann, ben)
    say(connection, dialogue, "milk", account=theirs)
    session_id = sessions.insert(connection, conversation_id=dialogue.conversation.id, now=5)
    later = Dialogue(person=ann, conversation=dialogue.conversation, session_id=session_id)
    say(connection, later, "coffee", account=theirs)
    found = people.find_account(connection, platform="discord", user_id="ben-discord")
    assert found
    parted = split_person.split(
        connection, found, into=ben.id, rename=renaming(ann.id, ben.id), now=10
    )
    assert (parted.sessions, parted.messages, parted.kept) == (1, 1, 1)
    assert [finds(connection, ben, word) for word in ("tea", "milk", "coffee")] == [0, 0, 1]
    assert [finds(connection, ann, word) for word in ("tea", "milk", "coffee")] == [1, 1, 0]
    assert count_calls(connection, ben) == 1
    assert count_calls(connection, ann) == 2


def test_what_an_account_asked_in_a_conversation_of_a_whole_room_is_paid_by_who_it_is(
    connection: Connection, ann: Person
) -> None:
    account = give_account(connection, ann, "slack")
    somebody = people.insert(connection, slug="room-x", name="X", role="member", now=0, kind="room")
    shared = add_dialogue(connection, somebody, key="room:p:1:", room=True)
    turn_id = say(connection, shared, "tea", account=account)
    for table, key in (("turns", "id"), ("usage", "turn_id")):
        connection.execute(
            f"UPDATE {table} SET person_id = :ann WHERE {key} = :turn",
            {"ann": ann.id, "turn": turn_id},
        )
    ben = add_person(connection, "ben")
    split(connection, account, ben)
    turn = turns.find(connection, turn_id=turn_id)
    assert turn
    assert (turn.person_id, turn.conversation_id) == (ben.id, shared.conversation.id)
    assert count_calls(connection, ben) == 1
    assert finds(connection, somebody, "tea") == 1


def test_a_damaged_message_keeps_its_place_in_the_index_and_is_still_found_damaged(
    connection: Connection, ann: Person, ben: Person
) -> None:
    dialogue = direct(connection, ben)
    say(connection, dialogue, "tea", "milk")
    connection.execute("UPDATE messages SET text = 'changed' WHERE text = 'milk'")
    join(connection, ann, ben)
    assert finds(connection, ann, "tea") == 1
    with pytest.raises(Exception, match="damaged"):
        messages.list_session(connection, session_id=dialogue.session_id, person_id=ann.id)
    connection.execute("UPDATE messages SET text = 'milk' WHERE text = 'changed'")
    check_index(connection)


class Failing(sqlite3.Connection):
    """A connection that fails at its n-th statement, once `left` was set."""

    left: int | None = None

    def _count(self) -> None:
        if self.left is not None:
            self.left -= 1
            if self.left < 0:
                raise sqlite3.OperationalError("no more")

    def execute(self, sql: str, parameters: object = ()) -> sqlite3.Cursor:
        self._count()
        return super().execute(sql, parameters)  # type: ignore[arg-type]

    def executemany(self, sql: str, parameters: object) -> sqlite3.Cursor:
        self._count()
        return super().executemany(sql, parameters)  # type: ignore[arg-type]


def test_a_join_that_fails_at_any_statement_changes_nothing(tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / "x.db", isolation_level=None, factory=Failing)
    create_schema(connection)
    ann, ben = add_person(connection, "ann"), add_person(connection, "ben")
    for person in (ann, ben):
        give_account(connection, person)
        say(connection, direct(connection, person), "tea")
        say(connection, room(connection, person), "tea")
    before, statements = dump(connection), 0
    while True:
        connection.execute("BEGIN IMMEDIATE")
        connection.left = statements
        try:
            join(connection, ann, ben)
        except sqlite3.OperationalError:
            connection.left = None
            connection.execute("ROLLBACK")
            assert dump(connection) == before
            statements += 1
        else:
            connection.left = None
            connection.execute("COMMIT")
            break
    assert statements > 25
    assert dump(connection) != before
    check_index(connection)
    connection.close()


DIE = """
import asyncio, os, signal, sys
from pathlib import Path
from agent_core.state.engine.database import Database
from tests.agent_core.state.lifecycle.joined_people import furnish, join

def observe(now, names):
    if now == sys.argv[2] and "join" in names:
        os.kill(os.getpid(), signal.SIGKILL)

async def main():
    database = await Database.open(Path(sys.argv[1]), observe=observe)
    ann, ben = await database.write("furnish", furnish)
    await database.write("join", lambda c: join(c, ann, ben))

asyncio.run(main())
"""


@pytest.mark.parametrize(("moment", "found"), [("begin", (50, 50)), ("committed", (100, 0))])
async def test_a_join_over_which_the_process_is_killed_is_whole_or_never_was(
    path: Path, run_script: RunScript, moment: str, found: tuple[int, int]
) -> None:
    ended = await asyncio.to_thread(run_script, DIE, path, moment)
    assert ended.returncode == -signal.SIGKILL, ended.stderr
    database = await Database.open(path)

    def look(connection: Connection) -> tuple[int, ...]:
        rows = connection.execute("SELECT id FROM people ORDER BY id").fetchall()
        everyone = [people.find(connection, person_id=PersonId(row[0])) for row in rows]
        return tuple(finds(connection, person, "tea") for person in everyone if person)

    assert await database.read(look) == found
    await database.write("check", check_index)
    await database.close()


def test_a_tool_that_either_has_switched_off_stays_off(
    connection: Connection, ann: Person, ben: Person
) -> None:
    people.switch_tools_off(connection, person_id=ann.id, names=["recall"])
    people.switch_tools_off(connection, person_id=ben.id, names=["todo", "terminal"])
    join(connection, ann, ben)
    found = people.find(connection, person_id=ann.id)
    assert found
    assert set(found.tools_off) == {"recall", "terminal", "todo"}


def test_a_removed_conversation_is_found_by_no_search_until_it_comes_back(
    connection: Connection, ann: Person, ben: Person
) -> None:
    fork = add_dialogue(connection, ben, key=f"fork:{ben.id}", kind="fork")
    account = people.list_accounts(connection, person_id=ben.id)[0]
    say(connection, fork, "wyandotte hens", account=account)
    say(connection, direct(connection, ben), "wyandotte eggs")

    def set_removed(person: Person, removed_at: int | None) -> None:
        found = sessions.get_conversation(
            connection, conversation_id=fork.conversation.id, person_id=person.id
        )
        removed_conversations.set_removed(connection, found, removed_at=removed_at)
        check_index(connection)

    assert finds(connection, ben, "wyandotte") == 2
    set_removed(ben, 5)
    assert finds(connection, ben, "wyandotte") == 1
    set_removed(ben, None)
    assert finds(connection, ben, "wyandotte") == 2
    set_removed(ben, 5)
    join(connection, ann, ben)
    check_index(connection)
    assert finds(connection, ann, "wyandotte") == 1
    set_removed(ann, None)
    assert finds(connection, ann, "wyandotte") == 2
    set_removed(ann, 5)
    split_person.restore_person(connection, back=ben.id)
    split(connection, account, ben)
    check_index(connection)
    [parted] = [
        one
        for one in merge_people.list_conversations(connection, person_id=ben.id)
        if one.key.startswith("fork:")
    ]
    assert parted.removed_at == 5
    assert finds(connection, ben, "wyandotte", f"c{parted.id}") == 0
    removed_conversations.set_removed(connection, parted, removed_at=None)
    check_index(connection)
    assert finds(connection, ben, "wyandotte", f"c{parted.id}") == 1
