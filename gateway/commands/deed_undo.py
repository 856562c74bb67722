"""Undo of deeds that a command takes back: of reminders, settings, tools and much else."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from agent_core.ids import JobId
from agent_core.state.engine.database import Connection, Database
from agent_core.state.jobs import jobs
from agent_core.state.people import deeds
from agent_core.state.people.deeds import Deed
from agent_core.transcript import flatten
from gateway.commands.numbers import read_number
from gateway.commands.registry import Call, Effect, Handler, Outcome, Reply
from gateway.errors import Declined
from gateway.outbound.command_buttons import stand_for
from gateway.texts import undo as texts
from gateway.texts.jobs import BRING_BACK
from gateway.texts.memory import UNDO

_JOBS = "jobs"
_DEED, _BACK, _BROUGHT = "deed", "back", "brought"
_LONGEST_TITLE = 80
_SIGN = "↩"
"""Begins a report that says by itself that something was taken back."""


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
        if word not in (_DEED, _BACK, _BROUGHT) or number is None:
            return None
        if word == _BACK:
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
        """Take a deed back and say which; if that is impossible, the next undo leaves it out."""
        name, argument = _split(deed.undo)
        if title := await self.has_come(deed):
            return Reply(effect=_finish(call, deed, Reply(text=texts.ALREADY_CAME(title=title))))
        again = replace(call, argument=argument, is_press=False, is_undo=True, taken=deed)
        try:
            made = await self._handlers[name](again)
        except Declined as error:
            made = Reply(text=str(error))
        back = stand_for(f"undo {_BACK} {deed.id}", BRING_BACK())
        return Reply(effect=_finish(call, deed, made), buttons=(back,) if made.effect else ())

    async def has_come(self, deed: Deed | None) -> str | None:
        """Return the title of the reminder that a deed is about, if it has come already."""
        name, argument = _split(deed.undo) if deed else ("", "")
        return await self._database.read(_find_past, argument) if name == _JOBS else None

    async def _bring_back(self, call: Call, number: int) -> Reply:
        """Do again what an undo took back, once; that is a deed like any other."""
        redo = await self._database.read(deeds.find_redo, call.doer, number)
        if not redo:
            return Reply(text=texts.NO_WAY_BACK())
        name, argument = _split(redo)
        again = replace(call, argument=argument, is_press=False, is_undo=True)
        made = await self._handlers[name](again)
        if made.effect is None:
            return replace(made, buttons=())
        apply = made.effect

        def effect(connection: Connection) -> Outcome:
            outcome = apply(connection)
            deeds.bring_back(connection, call.doer, number, now=call.now)
            return outcome

        # Not the newest deed, whatever it is by the time of the press.
        undo = stand_for(f"undo {_BROUGHT} {number}", UNDO())
        return Reply(effect=effect, buttons=(undo,))


def name_command(deed: Deed) -> str:
    """Return the command that takes this deed back, without its slash."""
    return f"undo {_DEED} {deed.id}"


def _finish(call: Call, deed: Deed, made: Reply) -> Effect:
    """Return an effect that applies the command's, and says first that it took something back."""

    def effect(connection: Connection) -> Outcome:
        try:
            text, rows = made.effect(connection) if made.effect else (made.text, ())
        except Declined as error:
            text, rows = str(error), ()
        if deed in deeds.list_standing(connection, call.doer):  # the command has changed nothing
            deeds.take_back(connection, call.doer, deed, redo="", now=call.now)
            return text, rows
        return (text if text.startswith(_SIGN) else texts.TAKEN_BACK(done=text)), rows

    return effect


def _split(command: str) -> tuple[str, str]:
    name, _, argument = command.partition(" ")
    return name, argument


def _find_past(connection: Connection, argument: str) -> str | None:
    """Return the title of the reminder that a command is about, if it has come for the last time.

    The answer to a reminder that has come can still be taken back.
    """
    verb, _, rest = argument.partition(" ")
    number = rest.partition(" ")[0]
    if verb not in ("delete", "drop", "undo", "resume", "pause") or not number.isdecimal():
        return None
    job = jobs.find(connection, job_id=JobId(int(number)))
    return flatten(job.title, _LONGEST_TITLE) if job and job.state == "over" else None
