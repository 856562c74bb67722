"""Jobs that follow the clock of a time zone which their person has left."""

from collections.abc import Callable
from dataclasses import replace

from agent_core.ids import PersonId
from agent_core.localization import Plural, Text
from agent_core.schedule.occurrences import find_zone, first_slot
from agent_core.schedule.triggers import Every, load_timing
from agent_core.state.conversations.questions import Choice
from agent_core.state.engine.database import Connection, Database
from agent_core.state.jobs import jobs
from agent_core.state.jobs.jobs import Job
from agent_core.tools import ToolContext, UserPrompt, UserPrompter

_ASK = Plural(
    "{n} job of yours follows the clock of {zone}. Shall it move with you?",
    "{n} jobs of yours follow the clock of {zone}. Shall they move with you?",
)
MOVE, KEEP = Text("Yes, move"), Text("No, keep")
_YES, _NO = "yes", "no"


def list_left(connection: Connection, *, person_id: PersonId, zone: str) -> list[Job]:
    """List a person's jobs at times of a zone; an interval has none."""
    return [
        job
        for job in jobs.list_of_person(connection, person_id=person_id)
        if job.zone == zone and job.is_whole and not isinstance(load_timing(job.timing), Every)
    ]


def move_jobs(
    connection: Connection, *, person_id: PersonId, zone: str, to: str, now: int
) -> list[Job]:
    """Move a person's jobs from a zone to another one; return those that moved.

    A single moment stays if it is past in the other zone.
    """
    moved = []
    for job in list_left(connection, person_id=person_id, zone=zone):
        slot = first_slot(load_timing(job.timing), find_zone(to), now)
        if slot:
            moved.append(replace(job, zone=to, next_slot=(slot.name, slot.at)))
            jobs.change(connection, moved[-1])
    return moved


def ask_to_move(count: int, zone: str) -> str:
    """Ask whether jobs move along."""
    return _ASK(count, zone=zone)


class JobMover:
    """Asks in a turn whether jobs move along, before the time zone changes."""

    def __init__(
        self, database: Database, prompter: UserPrompter, zone: str, changed: Callable[[], None]
    ) -> None:
        """`zone` is for people who have set none. `changed` is called after a move."""
        self._database = database
        self._prompter = prompter
        self._zone = zone
        self._changed = changed

    async def ask(self, context: ToolContext, old: str | None, new: str | None) -> bool:
        """Ask, if there are such jobs. Raises `QuestionPending` and `StoreError`."""
        zone = old or self._zone
        if zone == (new or self._zone) or context.is_accepted:
            return False
        left = await self._database.read(
            lambda c: list_left(c, person_id=context.person_id, zone=zone)
        )
        if not left:
            return False
        answer = await self._prompter.ask(
            UserPrompt(
                person_id=context.person_id,
                turn_id=context.turn_id,
                call_id=context.call_id,
                kind="choice",
                text=ask_to_move(len(left), zone),
                choices=(
                    Choice(key=_YES, label=MOVE(), style="good"),
                    Choice(key=_NO, label=KEEP(), style="plain"),
                ),
            )
        )
        return isinstance(answer, Choice) and answer.key == _YES

    def move(
        self, connection: Connection, context: ToolContext, old: str | None, new: str | None
    ) -> None:
        """Move the jobs, in the transaction that changes the time zone."""
        zone, to = old or self._zone, new or self._zone
        move_jobs(connection, person_id=context.person_id, zone=zone, to=to, now=context.now)
        self._changed()
