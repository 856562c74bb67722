"""The command approvals: what a person has allowed in advance, and how to take it back."""

from collections.abc import Mapping

from agent_core.state.conversations import approvals
from agent_core.state.engine.database import Connection, Database
from gateway.commands.numbers import read_number
from gateway.commands.registry import Call, Handler, Outcome, Reply
from gateway.operations.approvals import take_back
from gateway.outbound.command_buttons import stand_for
from gateway.texts import approvals as texts

_BUTTONED = 10
"""Listed approvals with a button; no platform shows more than 25."""


class ApprovalCommands:
    """Lists and revokes approvals of shapes."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def handlers(self) -> Mapping[str, Handler]:
        """Return the handlers by command name."""
        return {"approvals": self._approvals}

    async def _approvals(self, call: Call) -> Reply:
        verb, _, number = call.argument.partition(" ")
        if verb.casefold() == "revoke":
            return _revoke(call, number.strip())
        listed = await self._database.read(approvals.list_of, person_id=call.person.id)
        if not listed:
            return Reply(text=texts.NOTHING_ALLOWED())
        return Reply(
            text=texts.list_allowed([(one.id, one.shape, one.scope) for one in listed]),
            buttons=tuple(
                stand_for(f"approvals revoke {one.id}", texts.REVOKE_NUMBER(number=one.id))
                for one in listed[:_BUTTONED]
            ),
        )


def _revoke(call: Call, number: str) -> Reply:
    wanted = read_number(number)
    if wanted is None:
        return Reply(text=texts.REVOKE_UNKNOWN())

    def effect(connection: Connection) -> Outcome:
        shape = take_back(connection, call.person.id, wanted, actor=call.actor, now=call.now)
        if not shape:
            return texts.REVOKE_UNKNOWN(), ()
        return texts.describe_revoked(shape), ()

    return Reply(effect=effect)
