"""The cost of a job: of its runs, and of their helpers."""

import sqlite3

from agent_core.ids import CallId, JobId, PersonId, TurnId
from agent_core.schedule.triggers import dump_timing, read_every
from agent_core.state.conversations import usage
from agent_core.state.conversations.delegated_turns import name_helper
from agent_core.state.conversations.usage import ModelCall
from agent_core.state.jobs import job_runs, jobs
from agent_core.state.jobs.jobs import NewJob, Options
from tests.agent_core.state.rows import Dialogue, add_dialogue, add_person, add_turn

TODAY = 1000


def add_job(connection: sqlite3.Connection, person_id: PersonId) -> JobId:
    job = NewJob(
        person_id=person_id,
        room_id=None,
        kind="prompt",
        title="weather",
        body="weather",
        timing=dump_timing(read_every(3600, 0)),
        zone="UTC",
        late="catch_up",
        options=Options(),
        targets=(),
        is_urgent=False,
        next_slot=None,
        actor="test",
    )
    return jobs.insert(connection, job, now=0).id


def spend(
    connection: sqlite3.Connection, dialogue: Dialogue, dollars: int, *, now: int = TODAY
) -> TurnId:
    """Add a turn with one call."""
    turn_id = add_turn(connection, dialogue, now=now)
    call = ModelCall(
        purpose="turn",
        model="m",
        input_tokens=1,
        cache_read_tokens=0,
        cache_write_tokens=0,
        output_tokens=1,
        micro_dollars=dollars,
    )
    usage.insert(connection, call, person_id=dialogue.person.id, turn_id=turn_id, now=now)
    return turn_id


def test_a_run_costs_what_its_helpers_cost_too(connection: sqlite3.Connection) -> None:
    person = add_person(connection)
    talk = add_dialogue(connection, person)
    job_id = add_job(connection, person.id)

    def run(slot: str, dollars: int, now: int) -> TurnId:
        run_id = job_runs.claim(connection, job_id=job_id, slot=(slot, 0), due_at=0, now=0)
        turn_id = spend(connection, talk, dollars, now=now)
        connection.execute(
            "UPDATE turns SET run_id = ?, ended_at = ? WHERE id = ?", (run_id, now, turn_id)
        )
        return turn_id

    def help_turn(turn_id: TurnId, dollars: int) -> TurnId:
        key = name_helper(turn_id, CallId("c"), 1)
        return spend(connection, add_dialogue(connection, person, key=key, kind="helper"), dollars)

    run("yesterday", 1, TODAY - 1)
    first, second = run("one", 10, TODAY), run("two", 100, TODAY)
    help_turn(help_turn(first, 1_000), 10_000)
    help_turn(second, 100_000)
    spend(connection, talk, 1_000_000)  # what the person asks themselves
    run("ahead", 10_000_000, TODAY + 100)  # the clock was ahead
    spent = usage.sum_of_job(
        connection, job_id=job_id, person_id=person.id, since=TODAY, until=TODAY + 100
    )
    assert spent == 111_110
