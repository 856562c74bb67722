"""The command `profile`: shows what is known of a person, with evidence, and corrects it."""

from collections.abc import Awaitable, Callable, Mapping

from agent_core.agent.review.profile import list_profile
from agent_core.memory.archive.conclusions import list_conclusions
from agent_core.memory.numbering import find_current
from agent_core.state.memory.ledger import LedgerEntry
from gateway.commands.memory_scope import (
    MemoryAccess,
    MemoryScope,
    own_scope,
    refuse_unreadable,
)
from gateway.commands.numbers import read_number
from gateway.commands.registry import Call, Handler, Reply
from gateway.errors import Mistaken
from gateway.operations.memory_types import EditMemory
from gateway.outbound.command_buttons import make_undo_button, stand_for
from gateway.texts import profile as texts
from gateway.texts.memory import UNDO
from gateway.texts.rooms import NUMBER_UNKNOWN

_MOST_BUTTONS = 5
"""Most lines with buttons: each has two, and more would fill a phone's screen."""

Forget = Callable[[Call, MemoryScope, int], Awaitable[Reply]]
"""Deletes an entry of a memory by its number."""


class ProfileCommands:
    """Shows and corrects a person's profile, in their direct chat."""

    def __init__(self, access: MemoryAccess, forget: Forget) -> None:
        self._access = access
        self._forget = forget

    def handlers(self) -> Mapping[str, Handler]:
        """Return the handlers by command name."""
        return {"profile": self._profile}

    async def _profile(self, call: Call) -> Reply:
        word, _, rest = call.argument.partition(" ")
        rest = rest.strip()
        if not word:
            return await self._show(call)
        if (number := read_number(word)) is not None:
            return await self._correct(call, number, rest)
        number = read_number(rest)
        if word.casefold() == "change" and number is not None:
            return await self._correct(call, number, "")
        if word.casefold() == "forget" and number is not None:
            return await self._forget(call, own_scope(call.person), number)
        return Reply(text=texts.USAGE())

    async def _show(self, call: Call) -> Reply:
        await self._access.open(call, own_scope(call.person))
        lines = await self._access.database.read(list_profile, person_id=call.person.id)
        guesses = await self._access.database.read(list_conclusions, person_id=call.person.id)
        if not lines:
            return Reply(text=texts.EMPTY())
        dates = [call.clock.show_day(line.at) for line in lines]
        buttons = [
            button
            for line in lines[:_MOST_BUTTONS]
            for button in (
                stand_for(f"profile change {line.number}", texts.CHANGE(number=line.number)),
                stand_for(f"profile forget {line.number}", texts.FORGET(number=line.number)),
            )
        ]
        return Reply(text=texts.list_profile(lines, dates, guesses), buttons=tuple(buttons))

    async def _correct(self, call: Call, number: int, words: str) -> Reply:
        """Replace a line with the person's own words; without words, say how to send them."""
        scope = own_scope(call.person)
        if not words:
            tracked = find_current(await self._access.open(call, scope), number)
            if tracked is None or tracked.words is None:
                return Reply(text=NUMBER_UNKNOWN(number=number))
            return Reply(text=texts.HOW(number=number, entry=texts.quote(tracked.words)))
        asked = EditMemory(person=scope.slug, action="replace", row=number, text=words)
        try:
            return _describe_corrected(await self._access.edit(call, scope, asked))
        except Mistaken as error:
            return Reply(text=str(error))
        except OSError as error:
            return refuse_unreadable(error)


def _describe_corrected(row: LedgerEntry) -> Reply:
    return Reply(
        text=texts.CORRECTED(number=row.id, entry=texts.quote(row.change.after or "")),
        buttons=(make_undo_button(row, UNDO()),),
    )
