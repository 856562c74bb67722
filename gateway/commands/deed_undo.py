"""Undo of deeds that a command takes back: of reminders, settings and tools."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from agent_core.ids import JobId
from agent_core.state.engine.database import Connection, Database
from agent_core.state.jobs import jobs
from agent_core.state.people import deeds
from agent_core.state.people.deeds import Deed
from agent_core.tools.settings_tool import confirm_set_back
from agent_core.transcript import flatten
from gateway.commands.registry import Call, Effect, Handler, Outcome, Reply
from gateway.texts import memory

_JOBS, _SETTINGS = "jobs", "settings"
_LONGEST_TITLE = 80
_SIGN = "↩"
"""Begins a report that says by itself that something was taken back."""


class DeedUndo:
    """Takes deeds back by their commands."""

    def __init__(self, database: Database, groups: Sequence[Mapping[str, Handler]]) -> None:
        """`groups` hold the handlers of the commands that take deeds back."""
        self._database = database
        self._handlers = {name: run for group in groups for name, run in group.items()}

    async def undo(self, call: Call, deed: Deed) -> Reply:
        """Take a deed back and say which; if that is impossible, the next undo leaves it out.

        Raises `StoreError` and what the command raises.
        """
        name, _, argument = deed.undo.partition(" ")
        if name == _JOBS and (title := await self._database.read(_find_past, argument)):
            return Reply(effect=_finish(call, deed, Reply(text=memory.ALREADY_CAME(title=title))))
        made = await self._handlers[name](replace(call, argument=argument, is_undo=True))
        buttons = () if name == _SETTINGS else made.buttons
        return Reply(effect=_finish(call, deed, made), buttons=buttons)


def _finish(call: Call, deed: Deed, made: Reply) -> Effect:
    """Return an effect that applies the command's, and says first that it took something back."""

    def effect(connection: Connection) -> Outcome:
        text, rows = made.effect(connection) if made.effect else (made.text, ())
        if deeds.find_newest(connection, call.doer) == deed:  # the command has changed nothing
            deeds.take_back(connection, call.doer, deed, now=call.now)
            return text, rows
        name, _, argument = deed.undo.partition(" ")
        if name == _SETTINGS:
            setting, _, value = argument.partition(" ")
            return confirm_set_back(setting, value), rows
        says_so = text.startswith(_SIGN)
        return (text if says_so else memory.TAKEN_BACK(done=text)), rows

    return effect


def _find_past(connection: Connection, argument: str) -> str | None:
    """Return the title of the reminder that a command is about, if it has come for the last time.

    The answer to a reminder that has come can still be taken back.
    """
    verb, _, rest = argument.partition(" ")
    number = rest.partition(" ")[0]
    if verb not in ("drop", "undo", "resume", "pause") or not number.isdecimal():
        return None
    job = jobs.find(connection, job_id=JobId(int(number)))
    return flatten(job.title, _LONGEST_TITLE) if job and job.state == "over" else None
