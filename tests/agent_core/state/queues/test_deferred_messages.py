"""What is held is let go some people at a time."""

import sqlite3

from agent_core.chats import Chat
from agent_core.state.people import people
from agent_core.state.queues import deferred_messages
from agent_core.state.queues.deferred_messages import NewDeferredMessage


def test_of_each_person_whose_turn_it_is_all_that_may_go_is_given(
    connection: sqlite3.Connection,
) -> None:
    someone = [
        people.insert(connection, slug=name, name=name, role="member", now=1).id
        for name in ("ann", "bob", "cem")
    ]
    for body, at in (("first", 10), ("second", 20), ("not yet", 99)):
        for person_id in someone:
            new = NewDeferredMessage(
                person_id=person_id,
                chat=Chat(platform="p", address="c"),
                title="",
                body=body,
                release_at=at,
            )
            deferred_messages.defer(connection, new, now=1)
    for person_id in someone:
        due = deferred_messages.list_due(connection, now=50, limit=1)
        assert [(one.person_id, one.body) for one in due] == [
            (person_id, "first"),
            (person_id, "second"),
        ]
        deferred_messages.drop(connection, ids=[one.id for one in due])
    assert deferred_messages.list_due(connection, now=50, limit=1) == []
