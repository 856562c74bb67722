"""Undo of deeds that a command takes back: of reminders, settings, tools and much else."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from agent_core.ids import JobId
from agent_core.state.engine.database import Connection, Database
from agent_core.state.jobs import jobs
from agent_core.state.jobs.jobs import JobState
from agent_core.state.people import deeds
from agent_core.state.people.deeds import Deed, NewDeed
from agent_core.state.queues.outbox import OutboxRow
from agent_core.transcript import flatten
from gateway.commands.numbers import read_number
from gateway.commands.page_deeds import TOKENS
from gateway.commands.registry import Call, Effect, Handler, Outcome, Reply
from gateway.errors import Declined
from gateway.outbound.command_buttons import stand_for
from gateway.texts import memory as memory_texts
from gateway.texts import undo as texts

_JOBS, _RESTORE = "jobs", "restore"
_OF_JOBS = ("delete", "drop", "undo", "resume", "pause", _RESTORE)
"""The verbs that take back a deed on a reminder."""
UNDO, DEED, BACK, _BROUGHT = "undo", "deed", "back", "brought"
"""The command, and the words before the number of a deed."""
_LONGEST_TITLE = 80
_FOR_GOOD = (TOKENS,)
"""The commands whose effect nothing brings back."""
_SIGN = "↩"
"""Begins a report that says by itself that something was taken back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Past:
    """A reminder that a deed was about: it has come, was deleted since, or is back already.

    `state` is that of its job.
    """

    title: str
    state: JobState


class DeedUndo:
    """Takes deeds back by their commands, and brings them back. Methods raise `StoreError`."""

    def __init__(self, database: Database, groups: Sequence[Mapping[str, Handler]]) -> None:
        """`groups` hold the handlers of the commands that take deeds back."""
        self._database = database
        self._handlers = {name: run for group in groups for name, run in group.items()}

    async def undo_named(self, call: Call) -> Reply | None:
        """Answer `/undo deed 812`, `/undo back 812` and `/undo brought 812`, which takes back what
        the second one did; None for any other argument.
        """
        word, _, named = call.argument.partition(" ")
        number = read_number(named)
        if word not in (DEED, BACK, _BROUGHT) or number is None:
            return None
        if word == BACK:
            return await self._bring_back(call, number)
        if word == _BROUGHT:
            deed = await self._database.read(deeds.find_brought, call.doer, number)
        else:
            standing = await self._database.read(deeds.list_standing, call.doer)
            deed = next((one for one in standing if one.id == number), None)
        if deed is None or not deed.undo:
            return Reply(text=texts.TAKEN_ALREADY())
        return await self.undo(call, deed)

    async def undo(self, call: Call, deed: Deed) -> Reply:
        """Take a deed back and say which; if that is impossible, the next undo leaves it out.

        Its parts are taken back from the last to the first, except reminders that have come, or
        that were deleted since.
        """
        if past := await self._database.read(find_past, deed):
            reason = texts.describe_past(past.title, past.state)
            return Reply(effect=lambda connection: (_leave_out(connection, call, deed, reason), ()))
        made = await self._run(call, [undo for undo, _ in reversed(deed.parts)])
        back = f"undo {BACK} {deed.id}"
        is_for_good = _split(deed.undo)[0] in _FOR_GOOD or not made.effects
        return Reply(
            effect=_finish(call, deed, made),
            draw=None if is_for_good else lambda: (stand_for(back, texts.BRING_BACK()),),
        )

    async def _bring_back(self, call: Call, number: int) -> Reply:
        """Do again what an undo took back, once; that is a deed like any other."""
        redo = await self._database.read(deeds.find_redo, call.doer, number)
        if not redo:
            return Reply(text=texts.NO_WAY_BACK())
        made = await self._run(call, redo.split("\n"))
        if not made.effects:
            return Reply(text=made.text)

        def effect(connection: Connection) -> Outcome:
            text, rows = made.apply(connection)
            deed = deeds.join_parts(made.noted) if made.noted else NewDeed(did=text)
            deeds.record(connection, call.doer, deed, now=call.now)
            deeds.bring_back(connection, call.doer, number, now=call.now)
            return text, rows

        # Not the newest deed, whatever it is by the time of the press.
        undo = f"undo {_BROUGHT} {number}"
        return Reply(effect=effect, draw=lambda: (stand_for(undo, memory_texts.UNDO()),))

    async def _run(self, call: Call, commands: Sequence[str]) -> "_Run":
        """Run commands one after the other, up to their effects."""
        run = _Run()
        for command in commands:
            name, argument = _split(command)
            again = replace(call, argument=argument, is_press=False, noted=run.noted)
            try:
                made = await self._handlers[name](again)
            except Declined as error:
                made = Reply(text=str(error))
            if made.effect:
                run.effects.append(made.effect)
            else:
                run.text = made.text
        return run


@dataclass(slots=True, kw_only=True)
class _Run:
    """The commands that take a deed back, or do it again, before their effects."""

    text: str = ""
    """The answer of the last command without an effect."""
    effects: list[Effect] = field(default_factory=list)
    noted: list[NewDeed] = field(default_factory=list)
    """What the effects did, in their order."""

    def apply(self, connection: Connection) -> Outcome:
        """Apply the effects; the answer leaves out what changed nothing, if another one did."""
        self.noted.clear()
        told, idle, rows = list[str](), [self.text] if self.text else [], list[OutboxRow]()
        for effect in self.effects:
            count = len(self.noted)
            try:
                text, more = effect(connection)
            except Declined as error:
                text, more = str(error), ()
            (told if len(self.noted) > count else idle).append(text)
            rows += more
        return "\n".join(dict.fromkeys(told or idle)), rows


def _leave_out(connection: Connection, call: Call, deed: Deed, reason: str) -> str:
    """Leave a deed out of the next undo, and return the sentence about it."""
    deeds.leave_out(connection, call.doer, deed, now=call.now)
    return texts.describe_kept(reason, deed.did, is_last=not call.argument)


def _finish(call: Call, deed: Deed, made: _Run) -> Effect:
    """Return an effect that applies the commands', and says first that it took something back.

    If they change nothing, such as of a token that is gone, it names the deed.
    """

    def effect(connection: Connection) -> Outcome:
        text, rows = made.apply(connection)
        redo = "\n".join(one.undo for one in reversed(made.noted) if one.undo)
        redo = redo or deed.redo
        if not made.noted:  # the commands have changed nothing
            return _leave_out(connection, call, deed, text), rows
        deeds.take_back(connection, call.doer, deed, redo=redo, now=call.now)
        return (text if text.startswith(_SIGN) else texts.TAKEN_BACK(done=text)), rows

    return effect


def _split(command: str) -> tuple[str, str]:
    name, _, argument = command.partition(" ")
    return name, argument


def find_past(connection: Connection, deed: Deed) -> Past | None:
    """Return the first reminder that a deed was about, if nothing can be taken back of any."""
    found = [_find_past(connection, command) for command, _ in deed.parts]
    return found[0] if all(found) else None


def is_past(connection: Connection, command: str) -> bool:
    """Return whether a command that takes a deed back would come too late; see `Past`."""
    return _find_past(connection, command) is not None


def _find_past(connection: Connection, command: str) -> Past | None:
    """Return the reminder that a command is about, if the command would come too late.

    The answer to a reminder that has come can still be taken back.
    """
    name, argument = _split(command)
    verb, _, rest = argument.partition(" ")
    number = rest.partition(" ")[0]
    if name != _JOBS or verb not in _OF_JOBS or not number.isdecimal():
        return None
    job = jobs.find(connection, job_id=JobId(int(number)))
    if job is None:
        return None
    is_deleted = job.state == "dropped"
    is_left = is_deleted if verb == _RESTORE else not is_deleted and job.state != "over"
    return None if is_left else Past(title=flatten(job.title, _LONGEST_TITLE), state=job.state)
