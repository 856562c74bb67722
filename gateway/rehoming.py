"""Takes a direct chat that is somebody else's by now out of where a person's things are sent."""

from collections.abc import Callable
from dataclasses import replace

from agent_core.ids import PersonId
from agent_core.state import held, homes, jobs
from agent_core.state.database import Connection
from agent_core.state.jobs import Target
from gateway import translate
from gateway.job_talks import Spot

_HOME = Target(kind="home")


def rehome(connection: Connection, person_id: PersonId) -> None:
    """An account has come or gone: what jobs make goes to no direct chat but this person's own.

    A home that is not theirs any more is none, a job that sends there sends home, and what is
    held for there goes where they were last, if anywhere.
    """
    asked = homes.list_asked(connection, person_id=person_id)

    def is_own(spot: Spot) -> bool:
        is_strange = translate.is_chat(spot[1]) and translate.read_chat(spot[1]).is_direct
        return spot in asked or not is_strange

    home = homes.find(connection, person_id=person_id).place
    if home and not is_own(home):
        homes.set_place(connection, person_id=person_id, place=None)
    for job in jobs.list_of_person(connection, person_id=person_id):
        targets = tuple(dict.fromkeys(_lead(target, is_own) for target in job.targets))
        if job.is_whole and targets != job.targets:
            jobs.change(connection, replace(job, targets=targets))
    _redirect(connection, person_id, is_own)


def _lead(target: Target, is_own: Callable[[Spot], bool]) -> Target:
    is_strange = target.kind == "place" and not is_own((target.platform, target.chat))
    return _HOME if is_strange else target


def _redirect(connection: Connection, person_id: PersonId, is_own: Callable[[Spot], bool]) -> None:
    astray = [
        one
        for one in held.list_of_person(connection, person_id=person_id)
        if not is_own((one.platform, one.chat))
    ]
    seen = homes.list_seen(connection, person_id=person_id) if astray else []
    last = next((spot for spot in seen if translate.read_chat(spot[1]).is_direct), None)
    if last is None:
        held.drop(connection, ids=[one.id for one in astray])
        return
    for one in astray:
        held.redirect(connection, held_id=one.id, place=last)
