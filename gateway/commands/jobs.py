"""Commands about what is done at its time: jobs, sethome."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from agent_core.ids import JobId
from agent_core.schedule import job_editor
from agent_core.schedule.job_editor import UnderWay, Unfit
from agent_core.state.conversations.questions import Choice
from agent_core.state.engine.database import Connection
from agent_core.state.jobs import job_runs, jobs
from agent_core.state.jobs.jobs import Job, JobState, Target
from agent_core.state.people import delivery_targets
from agent_core.state.queues.outbox import OutboxRow
from gateway import conversion
from gateway.commands.registry import Call, House, Reply, SlashCommand
from gateway.jobs.resources import name_places
from gateway.outbound.composer import stand_for
from gateway.texts import jobs as wording

_BUTTONED = 5
"""Jobs of a list that have buttons; three each, and no platform shows more than 25."""
_RUNS = 5
_LONGEST_NUMBER = 15
_VERBS = ("pause", "resume", "run", "drop")
_MEANT = {"delete": "drop", "remove": "drop", "rm": "drop", "continue": "resume", "stop": "pause"}
"""What people say for one of them."""
_AS_ASKED = "as asked"
_YES, _OFF = "yes", "off"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Order:
    """What is to be done to which job."""

    verb: str
    job_id: JobId
    is_sure: bool


async def _jobs(call: Call, house: House) -> Reply:
    words = call.argument.casefold().split()
    number = _read_number(words[-1]) if words else None
    if not words or (words[0] == "from" and len(words) == 2 and number):
        return await _list(call, house, number or 0)
    if len(words) == 1 and number:
        return await _show(call, house, number)
    order = _read_order(words)
    if order is None:
        return Reply(text=wording.HOW)
    return await _change(call, house, order)


def _read_order(words: Sequence[str]) -> _Order | None:
    """`pause 3`, and `drop 3 yes`, which a button says."""
    is_sure = words[-1] == _YES
    if is_sure:
        words = words[:-1]
    verb = _MEANT.get(words[0], words[0]) if len(words) == 2 else ""
    if verb not in _VERBS:
        return None
    number = _read_number(words[1])
    return _Order(verb=verb, job_id=number, is_sure=is_sure) if number else None


def _read_number(word: str) -> JobId | None:
    word = word.removeprefix("#")
    return JobId(int(word)) if word.isdecimal() and len(word) <= _LONGEST_NUMBER else None


async def _list(call: Call, house: House, first: int) -> Reply:
    found = await house.database.read(lambda c: _find_all(c, call, first))
    return Reply(text=_tell(found, call), buttons=_buttons_of(found))


async def _show(call: Call, house: House, job_id: JobId) -> Reply:
    def look(connection: Connection) -> Reply:
        job = _find(connection, call, job_id)
        if job is None:
            return Reply(text=wording.UNKNOWN.format(number=job_id))
        runs = job_runs.list_of_job(connection, job_id=job.id, limit=_RUNS)
        owner = job.person_id or call.person.id
        places = name_places(connection, owner, job.targets, _here(call))
        text = wording.show_job(job, runs, call.zone, places)
        return Reply(text=text, buttons=_buttons_of([job]) if _may_change(call, job) else ())

    return await house.database.read(look)


async def _change(call: Call, house: House, order: _Order) -> Reply:
    """Do it, once for one event. A press shows the list again, which it takes the place of."""
    found = await house.database.read(lambda c: _find_all(c, call))
    job = next((one for one in found if one.id == order.job_id), None)
    refusal = _refuse(call, job, order.job_id)
    if refusal or job is None:
        buttons = _buttons_of(found) if call.is_press else ()
        return Reply(text=_answer(refusal, found, call), buttons=buttons)
    if order.verb == "drop" and call.is_press and not order.is_sure:
        sure = stand_for(f"jobs drop {job.id} {_YES}", wording.DROP, "danger")
        return Reply(text=wording.ask_to_drop(job), buttons=(sure, stand_for("jobs", wording.KEEP)))

    def effect(connection: Connection) -> tuple[str, Sequence[OutboxRow]]:
        now_found = _find(connection, call, order.job_id)
        done = _refuse(call, now_found, order.job_id)
        if now_found and not done:
            done = _act(connection, now_found, order.verb, call)
        return _answer(done, _find_all(connection, call), call), ()

    expected = _expect(found, order)
    shown = expected if call.is_press else [one for one in expected if one.id == order.job_id]
    return Reply(effect=effect, buttons=_buttons_of(shown))


def _act(connection: Connection, job: Job, verb: str, call: Call) -> str:
    try:
        match verb:
            case "pause":
                return wording.describe_paused(job_editor.pause(connection, job, _AS_ASKED))
            case "resume":
                resumed = job_editor.resume(connection, job, call.now)
                return wording.describe_resumed(resumed, call.zone)
            case "run":
                return _run(connection, job, call)
            case _:
                return wording.describe_dropped(job_editor.drop(connection, job))
    except UnderWay:
        return wording.describe_busy(job)
    except Unfit as reason:
        return wording.describe_unfit(str(reason))


def _run(connection: Connection, job: Job, call: Call) -> str:
    job_editor.run_now(connection, job, f"inbox:{call.inbox_id}", call.now)
    return wording.describe_begun(job)


def _refuse(call: Call, job: Job | None, number: JobId) -> str:
    """Why somebody may not change a job, or nothing."""
    if job is None:
        return wording.UNKNOWN.format(number=number)
    return "" if _may_change(call, job) else wording.NOT_YOURS.format(number=number)


def _may_change(call: Call, job: Job) -> bool:
    return job.person_id == call.person.id or call.person.is_owner


def _may_see(call: Call, job: Job) -> bool:
    """In a room its own jobs, else the person's."""
    if call.room:
        return job.room_id == call.room.id
    return job.person_id == call.person.id


def _find(connection: Connection, call: Call, job_id: JobId) -> Job | None:
    return job_editor.find_own(connection, job_id=job_id, may_see=lambda job: _may_see(call, job))


def _find_all(connection: Connection, call: Call, first: int = 0) -> list[Job]:
    if call.room:
        found = jobs.list_of_room(connection, room_id=call.room.id)
    else:
        found = jobs.list_of_person(connection, person_id=call.person.id)
    return [job for job in found if job.id >= first]


def _expect(found: Sequence[Job], order: _Order) -> list[Job]:
    """Jobs as they are to be once an order is followed, for the buttons below."""
    state: JobState = "paused" if order.verb == "pause" else "active"
    is_state = order.verb in ("pause", "resume")
    return [
        replace(job, state=state) if is_state and job.id == order.job_id else job
        for job in found
        if order.verb != "drop" or job.id != order.job_id
    ]


def _answer(done: str, found: Sequence[Job], call: Call) -> str:
    return f"{done}\n\n{_tell(found, call)}" if call.is_press else done


def _tell(found: Sequence[Job], call: Call) -> str:
    return wording.list_jobs(found, call.zone, is_room=call.room is not None)


def _buttons_of(found: Sequence[Job]) -> tuple[Choice, ...]:
    """Buttons of the first few jobs, each of which says a command."""
    choices: list[Choice] = []
    for job in found[:_BUTTONED]:
        if job.state == "paused":
            choices.append(stand_for(f"jobs resume {job.id}", f"Resume {job.id}", "good"))
        else:
            choices.append(stand_for(f"jobs pause {job.id}", f"Pause {job.id}"))
        choices.append(stand_for(f"jobs run {job.id}", f"Run {job.id} now"))
        choices.append(stand_for(f"jobs drop {job.id}", f"Drop {job.id}", "danger"))
    return tuple(choices)


def _here(call: Call) -> Target:
    return Target(
        kind="place", platform=call.platform, chat=conversion.name_chat(call.message.address)
    )


async def _sethome(call: Call, _: House) -> Reply:
    word = call.argument.casefold()
    address = replace(call.message.address, ticket=None)  # a ticket is good for one answer only
    place = None if word == _OFF else (call.platform, conversion.name_chat(address))
    if word not in ("", "here", _OFF):
        return Reply(text=wording.HOME_HOW)
    if place and not address.is_direct and not call.person.is_owner:
        return Reply(text=wording.HOME_ONLY_OWNER)

    def effect(connection: Connection) -> tuple[str, Sequence[OutboxRow]]:
        delivery_targets.set_place(connection, person_id=call.person.id, place=place)
        if place is None:
            return wording.HOME_OFF, ()
        return (wording.HOME_HERE if address.is_direct else wording.HOME_IN_ROOM), ()

    return Reply(effect=effect)


COMMANDS = (
    SlashCommand(name="jobs", summary="What I do at its time, and how to change it", run=_jobs),
    SlashCommand(name="sethome", summary="Let what I send by myself come here", run=_sethome),
)
