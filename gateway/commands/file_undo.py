"""Undo of file changes in a conversation: `/undo files 3`, and `/undo` for the newest one."""

import logging
from dataclasses import replace

from agent_core.execution.file_changes import FileChange
from agent_core.state.engine.database import Database
from agent_core.tools.contract import MemoryOwner
from agent_core.tools.workspace.versions import FileVersions
from gateway.commands.numbers import read_number
from gateway.commands.registry import Call, Reply
from gateway.outbound.command_buttons import stand_for
from gateway.texts import files, memory
from gateway.texts.undo import BRING_BACK, TAKEN_BACK

_WORD, _BACK = "files", "back"

_log = logging.getLogger(__name__)


class FileUndo:
    """Takes back what calls have changed in the caller's workspace, only in a direct chat."""

    def __init__(self, database: Database, versions: FileVersions | None) -> None:
        self._database = database
        self._versions = versions

    async def undo_named(self, call: Call) -> Reply | None:
        """Answer `/undo files 3`, and `/undo files 4 back`, which brings back what an undo took.

        None for any other argument. Raises `StoreError`.
        """
        word, _, rest = call.argument.partition(" ")
        number, _, back = rest.partition(" ")
        chosen = read_number(number) if back in ("", _BACK) else None
        if word.casefold() != _WORD or call.room or chosen is None:
            return None
        try:
            made = await self._undo(call, chosen)
        except OSError as error:
            return _refuse(error)
        if made is None:
            return Reply(text=files.GONE(number=chosen))
        return _answer(made, is_back=back == _BACK)

    async def find_newest(self, call: Call) -> FileChange | None:
        """Return the newest change of files that can be taken back; None in a room."""
        if self._versions is None or call.room:
            return None
        try:
            return await self._versions.find_newest(call.person.slug)
        except OSError as error:
            _log.warning("the versions of files can't be read: %s", error)
            return None

    async def find_made(self, call: Call) -> FileChange | None:
        """Return the change that this call has taken back before a crash."""
        if self._versions is None or call.room:
            return None
        try:
            made = await self._versions.find_call(call.person.slug, call.call_key)
            if made is None:
                return None
            return await self._versions.find(call.person.slug, made.undoes or 0) or made
        except OSError as error:
            _log.warning("the versions of files can't be read: %s", error)
            return None

    async def undo(self, call: Call, change: FileChange) -> Reply:
        """Take a change back; a repeated event takes it back once. Raises `StoreError`."""
        try:
            made = await self._undo(call, change.number)
        except OSError as error:
            return _refuse(error)
        return _answer(made) if made else Reply(text=files.GONE(number=change.number))

    def add_gap(self, call: Call, newest: int, reply: Reply) -> Reply:
        """Say below an answer that newer changes of files can't be taken back, if there are any."""
        if self._versions is None or call.room:
            return reply
        gap = self._versions.find_gap(call.person.slug, newest)
        return replace(reply, text=f"{reply.text}\n\n{files.describe_gap(gap)}") if gap else reply

    async def _undo(self, call: Call, number: int) -> FileChange | None:
        if self._versions is None:
            return None
        owner = MemoryOwner(person_id=call.person.id, slug=call.person.slug)
        return await self._versions.undo(owner, number, call.call_key)


def _answer(made: FileChange, *, is_back: bool = False) -> Reply:
    """Say what an undo did; with `is_back`, it brought back what another one had taken."""
    text = files.describe_taken_back(made)
    if not made.entries:
        return Reply(text=text)
    again = f"undo {_WORD} {made.number}"
    if is_back:
        return Reply(text=text, buttons=(stand_for(again, memory.UNDO()),))
    button = stand_for(f"{again} {_BACK}", BRING_BACK())
    return Reply(text=TAKEN_BACK(done=text), buttons=(button,))


def _refuse(error: OSError) -> Reply:
    _log.warning("the versions of files can't be read: %s", error)
    return Reply(text=files.UNREADABLE())
