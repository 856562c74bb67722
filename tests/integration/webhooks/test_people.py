"""Webhooks of people who are merged, parted, exported and erased."""

import sqlite3

import pytest

from agent_core.state.lifecycle import erase_person, export, merge_people, retention, split_person
from agent_core.state.lifecycle.person_data import DataSubject
from agent_core.state.lifecycle.retention import Span
from agent_core.state.people import api_tokens, people
from agent_core.state.people.people import NewAccount, Person
from agent_core.state.webhooks import deliveries, webhooks
from agent_core.state.webhooks.webhooks import EVENT_KINDS, NewWebhook, Webhook
from gateway.outbound.event_feed import find_now
from gateway.outbound.webhooks.events import make_test, restart, store_news
from tests.agent_core.state.rows import add_dialogue, add_person, add_turn
from tests.agent_core.state.schema import create_schema


@pytest.fixture
def connection() -> sqlite3.Connection:
    made = sqlite3.connect(":memory:", isolation_level=None)
    create_schema(made)
    return made


def add(connection: sqlite3.Connection, person: Person) -> Webhook:
    """Add a webhook with a delivery that waits."""
    new = NewWebhook(
        person_id=person.id,
        name=person.slug,
        url="https://example.org/",
        kinds=EVENT_KINDS,
        secret=f"whsec_{person.slug}",
        place=find_now(connection, person_id=person.id).write(),
    )
    made = webhooks.insert(connection, new, now=1)
    deliveries.insert(connection, make_test(made, "one", 1), webhook=made, now=1)
    return made


def count(connection: sqlite3.Connection) -> tuple[int, int]:
    """Count the webhooks and the deliveries."""
    return tuple(  # type: ignore[return-value]
        connection.execute(f"SELECT COUNT(*) FROM {table}").fetchone()[0]
        for table in ("webhooks", "webhook_deliveries")
    )


def test_a_merge_stores_what_is_new_and_tells_nothing_old(connection: sqlite3.Connection) -> None:
    ann, ben = add_person(connection, "ann"), add_person(connection, "ben")
    for person in (ann, ben):
        add_dialogue(connection, person)
    add_turn(connection, add_dialogue(connection, ben))  # long before Ann's webhook
    hooks = [add(connection, ann), add(connection, ben)]
    add_turn(connection, add_dialogue(connection, ann))
    for person in (ann, ben):
        store_news(connection, person.id, 5)
    merge_people.merge(connection, kept=ben.id, absorbed=ann.id, rename=lambda one: one.key, now=6)
    restart(connection, ben.id)
    kept = webhooks.list_of(connection, person_id=ben.id)
    assert [one.id for one in kept] == [one.id for one in hooks]
    assert {one.place for one in kept} == {find_now(connection, person_id=ben.id).write()}
    kinds = [
        [one.kind for one in deliveries.list_of(connection, webhook=hook, before=99, limit=9)]
        for hook in hooks
    ]
    assert kinds == [["turn.started", "webhook.test"], ["webhook.test"]]


def test_an_erased_person_leaves_nothing_to_send(connection: sqlite3.Connection) -> None:
    ann, ben = add_person(connection, "ann"), add_person(connection, "ben")
    add(connection, ann), add(connection, ben)
    erase_person.erase_identity(connection, person_ids=[ann.id])
    assert count(connection) == (1, 1)
    assert webhooks.list_of(connection, person_id=ann.id) == []


def test_an_export_has_webhooks_without_secrets(connection: sqlite3.Connection) -> None:
    ann, ben = add_person(connection, "ann"), add_person(connection, "ben")
    add(connection, ann), add(connection, ben)
    subject = DataSubject(person_ids=(ann.id,), accounts=(), chats=())
    for table in ("webhooks", "webhook_deliveries"):
        rows = list(export.walk_table(connection, table=table, subject=subject))
        assert len(rows) == 1
        assert "whsec_" not in str(rows)
        assert "ben" not in str(rows)


def test_unlinking_an_account_pauses_them_and_keeps_tokens_of_the_command_line(
    connection: sqlite3.Connection,
) -> None:
    ann, other = add_person(connection, "ann"), add_person(connection, "other")
    add(connection, ann)
    api_tokens.insert(
        connection, person_id=ann.id, name="laptop", scope="api", secret_hash="0", now=1
    )
    new = NewAccount(platform="p", user_id="u", display_name="A", admitted_by="code")
    people.attach_account(connection, new, person_id=ann.id, now=1)
    (account,) = people.list_accounts(connection, person_id=ann.id)
    split_person.split(connection, account, into=other.id, rename=lambda one: one.key, now=2)
    (paused,) = webhooks.list_of(connection, person_id=ann.id)
    assert (paused.state, paused.reason[:23]) == ("paused", "an account was unlinked")
    assert webhooks.list_active(connection) == []
    assert [one.name for one in api_tokens.list_of(connection, person_id=ann.id)] == ["laptop"]
    assert api_tokens.list_of(connection, person_id=other.id) == []


def test_the_clean_up_deletes_what_has_ended_alone(connection: sqlite3.Connection) -> None:
    webhook = add(connection, add_person(connection))
    for name in ("sent", "failed", "new"):
        deliveries.insert(connection, make_test(webhook, name, 1), webhook=webhook, now=1)
    deliveries.mark_sent(connection, delivery_id=2, status=200, now=5)
    deliveries.give_up(connection, delivery_id=3, now=5)
    deliveries.mark_sent(connection, delivery_id=4, status=200, now=50)
    span = Span(after=0, until=retention.find_newest(connection, kind="webhooks"), before=10)
    assert retention.has_old(connection, kind="webhooks", span=span)
    assert retention.sweep_webhooks(connection, span=span) == 2
    left = deliveries.list_of(connection, webhook=webhook, before=99, limit=9)
    assert [one.id for one in left] == [4, 1]
    assert not retention.has_old(connection, kind="webhooks", span=span)


def test_a_restored_database_repeats_events_under_their_ids(connection: sqlite3.Connection) -> None:
    ann = add_person(connection)
    webhook = add(connection, ann)
    restored = sqlite3.connect(":memory:", isolation_level=None)
    connection.backup(restored)

    def find_ids(database: sqlite3.Connection, now: int) -> list[str]:
        add_turn(database, add_dialogue(database, ann), now=now)
        store_news(database, ann.id, now)
        found = deliveries.list_of(database, webhook=webhook, before=99, limit=9)
        return [one.event_id for one in found if one.kind == "turn.started"]

    before = find_ids(connection, 7)
    again = sqlite3.connect(":memory:", isolation_level=None)
    restored.backup(again)
    assert find_ids(again, 7) == before  # the same event
    assert find_ids(restored, 8) != before  # another turn, with the number of a lost one
