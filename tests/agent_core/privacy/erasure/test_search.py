"""What was found is taken out in small strokes, so that nobody waits long behind one."""

import json
import sqlite3

from agent_core.ids import CallId, InboxId, MessageId, SessionId
from agent_core.privacy.erasure.matcher import parse_words
from agent_core.privacy.erasure.search import FoundRows, cut_sessions, find_messages
from agent_core.privacy.progress import Progress, report_to_nobody
from agent_core.state.conversations import messages
from agent_core.state.lifecycle.person_data import DataSubject
from agent_core.transcript import DocumentPart, Message, Part, TextPart, ToolCallPart
from tests.agent_core.state.rows import add_dialogue, add_person, add_turn
from tests.tables import check_each


def test_pieces_are_small_and_hold_everything_once() -> None:
    found = FoundRows(
        changes=tuple(range(7)),
        events=tuple(InboxId(number) for number in range(3)),
        messages=(MessageId(1),),
        keys=("a", "b"),
    )
    pieces = list(found.cut(3))
    assert [len(piece.changes) for piece in pieces] == [3, 3, 1]
    assert [row for piece in pieces for row in piece.changes] == list(range(7))
    assert [row for piece in pieces for row in piece.events] == [0, 1, 2]
    assert [row for piece in pieces for row in piece.messages] == [1]
    assert [key for piece in pieces for key in piece.keys] == ["a", "b"]


def test_nothing_found_is_one_piece() -> None:
    assert list(FoundRows().cut(3)) == [FoundRows()]


def test_sqlite_leaves_out_no_message_that_the_words_match(connection: sqlite3.Connection) -> None:
    dialogue = add_dialogue(connection, add_person(connection))
    turn_id = add_turn(connection, dialogue)
    escaped = json.dumps({"to": "Zürich"})
    texts = (
        *("Lisbon is sunny", "LISBONNE", "we met in lis\u00adbon", "\uff4c\uff49\uff53bon", "x"),
        *("Z\u00fcrich and Lisbon", "zurich", "ZU\u0308RICH", "Lisbon\nthe old  flat", "old", ""),
        *("\u212a\u00f6ln", "r2d2", "the\u200bold flat", "\u65e5\u672c\u8a9e", "nothing"),
    )
    parts: list[Part] = [
        *(TextPart(text=text) for text in texts),
        TextPart(text="a fact about Lisbon", is_fact=True),
        ToolCallPart(call_id=CallId("c"), name="t", arguments=escaped),
        ToolCallPart(call_id=CallId("c"), name="t", arguments=r'{"a": "\u006cisbon \"old\" flat"}'),
        ToolCallPart(call_id=CallId("c"), name="t", arguments='{"a": ["x\\nlisbon"], "b": true}'),
        DocumentPart(name="Lisbon.txt", text="streets"),
    ]
    said = [Message(role="assistant", parts=(part,)) for part in parts]
    ids = messages.append(connection, dialogue.shelf(turn_id), said, now=1)
    subject = DataSubject(person_ids=(dialogue.person.id,), accounts=(), chats=())

    def check(words: str) -> None:
        matcher = parse_words(words)
        assert matcher is not None
        wanted = [key for key, part in zip(ids, parts, strict=True) if matcher.is_in_part(part)]
        found, quoting = find_messages(connection, subject, matcher, report_to_nobody)
        assert found == wanted
        assert wanted
        fact = next(part for part in parts if isinstance(part, TextPart) and part.is_fact)
        assert quoting == ([ids[parts.index(fact)]] if matcher.is_in(fact.text) else [])

    check_each(
        (
            *("lisbon", "LISB", "*isbo", "zurich", '"old flat"', "lisbon old", "koln", "r2d2"),
            *("\u65e5\u672c", "true"),
        ),
        check,
    )


def test_sessions_are_searched_in_pieces_that_hold_each_once() -> None:
    counts = [(SessionId(number), number) for number in (1, 2, 7, 1)]
    pieces = list(cut_sessions(counts, 3))
    assert pieces == [([1, 2], 3), ([7], 7), ([1], 1)]
    assert list(cut_sessions([], 3)) == []


def test_a_search_tells_how_far_it_is(connection: sqlite3.Connection) -> None:
    person = add_person(connection)
    dialogue = add_dialogue(connection, person)
    said = [Message(role="user", parts=(TextPart(text="Lisbon"),))] * 6
    turn_id = add_turn(connection, dialogue)
    ids = messages.append(connection, dialogue.shelf(turn_id), said, now=1)
    subject = DataSubject(person_ids=(person.id,), accounts=(), chats=())
    matcher = parse_words("lisbon")
    assert matcher
    told: list[Progress] = []
    assert find_messages(connection, subject, matcher, told.append) == (list(ids), [])
    assert told == [Progress(stage="search", done=0, total=6)]
