"""Background work: owed once, taken once, done or given up."""

from agent_core.state.engine.database import Connection
from agent_core.state.queues import tasks
from tests.agent_core.state.rows import add_person

ORDINARY = tasks.Queue(kinds=("speech",), is_listed=False)
SLOW = tasks.Queue(kinds=("speech",))


def enqueue(connection: Connection, key: str, *, kind: str = "title", now: int = 0) -> None:
    tasks.enqueue(connection, kind=kind, key=key, person_id=1, payload=f'"{key}"', now=now)


def take(connection: Connection, now: int = 100) -> str | None:
    task = tasks.take_due(connection, queue=ORDINARY, now=now)
    return task.payload if task else None


def test_work_is_queued_once_for_each_kind_and_key(connection: Connection) -> None:
    add_person(connection)
    for key, kind in (("a", "title"), ("a", "title"), ("a", "review"), ("b", "title")):
        enqueue(connection, key, kind=kind)
    assert [take(connection) for _ in range(4)] == ['"a"', '"a"', '"b"', None]


def test_work_that_was_done_is_not_queued_again(connection: Connection) -> None:
    add_person(connection)
    enqueue(connection, "a")
    task = tasks.take_due(connection, queue=ORDINARY, now=0)
    assert task is not None
    assert (task.kind, task.person_id, task.attempts) == ("title", 1, 1)
    tasks.finish(connection, task_id=task.id)
    enqueue(connection, "a")
    tasks.reopen(connection, queue=ORDINARY)
    assert not tasks.has_due(connection, queue=ORDINARY, now=100)
    assert take(connection) is None


def test_what_has_been_due_longest_is_taken_first_and_nothing_before_it_is_due(
    connection: Connection,
) -> None:
    add_person(connection)
    enqueue(connection, "late", now=20)
    enqueue(connection, "early", now=10)
    assert not tasks.has_due(connection, queue=ORDINARY, now=9)
    assert take(connection, now=9) is None
    assert tasks.has_due(connection, queue=ORDINARY, now=10)
    assert [take(connection, now=15), take(connection, now=15)] == ['"early"', None]
    assert take(connection, now=20) == '"late"'


def test_work_that_is_being_done_is_not_taken_by_another(connection: Connection) -> None:
    add_person(connection)
    enqueue(connection, "a")
    assert take(connection) == '"a"'
    assert not tasks.has_due(connection, queue=ORDINARY, now=100)
    assert take(connection) is None


def test_what_a_dead_process_left_is_queued_again_and_counted(connection: Connection) -> None:
    add_person(connection)
    enqueue(connection, "a")
    take(connection)
    tasks.reopen(connection, queue=ORDINARY)
    task = tasks.take_due(connection, queue=ORDINARY, now=0)
    assert task is not None
    assert task.attempts == 2


def test_failed_work_waits_for_its_next_try_or_is_given_up(connection: Connection) -> None:
    add_person(connection)
    enqueue(connection, "a")
    task = tasks.take_due(connection, queue=ORDINARY, now=0)
    assert task is not None
    tasks.postpone(connection, task_id=task.id, due_at=50, reason="busy")
    assert take(connection, now=49) is None
    assert take(connection, now=50) == '"a"'
    tasks.abandon(connection, task_id=task.id, reason="never works")
    tasks.reopen(connection, queue=ORDINARY)
    assert take(connection) is None
    assert connection.execute("SELECT state, reason FROM tasks").fetchall() == [
        ("dead", "never works")
    ]


def test_the_slow_kind_has_a_queue_of_its_own(connection: Connection) -> None:
    add_person(connection)
    enqueue(connection, "spoken", kind="speech")
    assert not tasks.has_due(connection, queue=ORDINARY, now=0)
    enqueue(connection, "title")
    assert take(connection) == '"title"'
    tasks.reopen(connection, queue=SLOW)
    assert not tasks.has_due(connection, queue=ORDINARY, now=0)
    task = tasks.take_due(connection, queue=SLOW, now=0)
    assert task
    assert task.payload == '"spoken"'
    tasks.reopen(connection, queue=ORDINARY)
    assert tasks.has_due(connection, queue=ORDINARY, now=0)
    assert not tasks.has_due(connection, queue=SLOW, now=0)


def test_deferred_work_comes_later_and_counts_no_attempt(connection: Connection) -> None:
    add_person(connection)
    enqueue(connection, "one")
    first = tasks.take_due(connection, queue=ORDINARY, now=100)
    assert first is not None
    tasks.defer(connection, task_id=first.id, due_at=200)
    assert tasks.take_due(connection, queue=ORDINARY, now=199) is None
    again = tasks.take_due(connection, queue=ORDINARY, now=200)
    assert again is not None
    assert (again.id, again.attempts) == (first.id, 1)
