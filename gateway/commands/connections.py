"""The command connections: people's own accounts at MCP servers."""

from collections.abc import Mapping

from agent_core.state.conversations.questions import Choice
from agent_core.tools.mcp.accounts import SendLink
from agent_core.tools.mcp.sign_ins import SignInReport, SignIns
from gateway.commands.registry import Call, Handler, Reply
from gateway.operations import connections as operations
from gateway.operations.connections import Author
from gateway.outbound.command_buttons import stand_for
from gateway.texts import connections as texts

_BUTTONED = 20
"""Listed connections with a button; no platform shows more than 25."""


class ConnectionCommands:
    """Lists, begins and ends the sign-ins of the person who sends the command, and of nobody else.

    A link is only shown in a direct chat, and only its person can hand back the address.
    """

    def __init__(self, sign_ins: SignIns, send_link: SendLink) -> None:
        self._sign_ins = sign_ins
        self._send_link = send_link

    def handlers(self) -> Mapping[str, Handler]:
        """Return the handlers by command name."""
        return {"connections": self._connections}

    async def _connections(self, call: Call) -> Reply:
        match call.argument.split():
            case []:
                return await self._list(call)
            case ["connect", name]:
                return await self.connect(call, name)
            case ["end", name]:
                return await self._end(call, name)
            case [address] if "://" in address:
                return await self.finish(call, address)
            case _:
                return Reply(text=texts.USAGE())

    async def connect(self, call: Call, name: str) -> Reply:
        """Give the caller a link to sign in at a server. Raises `Declined`."""
        link = await operations.begin(self._sign_ins, call.person.id, name)
        if call.message.address.is_direct or not call.message.reply_address:
            return Reply(text=texts.describe_link(name, link.url))
        sent = await self._send_link(call.person.id, name, link.url)
        return Reply(text=texts.LINK_ELSEWHERE() if sent else texts.NO_CHAT())

    async def finish(self, call: Call, address: str) -> Reply:
        """Complete the caller's sign-in with the address that they reached."""
        outcome = await self._sign_ins.finish(call.person.id, address)
        return Reply(text=texts.describe_outcome(outcome))

    async def _list(self, call: Call) -> Reply:
        reports = await self._sign_ins.list_of(call.person.id)
        return Reply(
            text=texts.list_connections(reports, call.clock),
            buttons=tuple(map(_make_button, reports[:_BUTTONED])),
        )

    async def _end(self, call: Call, name: str) -> Reply:
        await operations.end(self._sign_ins, name, name_author(call))
        return Reply(text=texts.ENDED(name=name))


def name_author(call: Call) -> Author:
    """Return the caller as the author of a change."""
    return Author(person_id=call.person.id, actor=call.actor, now=call.now)


def _make_button(report: SignInReport) -> Choice:
    if report.signed_in_at is None:
        return stand_for(
            f"connections connect {report.server}", texts.CONNECT(name=report.server), "good"
        )
    return stand_for(f"connections end {report.server}", texts.END(name=report.server), "danger")
