"""The command of owners about MCP servers: show them, accept their tools, connect again."""

from collections.abc import Mapping

from agent_core.ids import PersonId
from agent_core.state.conversations.questions import Choice
from agent_core.state.engine.database import Connection
from agent_core.tools.mcp.hub import McpServers, ServerReport
from gateway.commands.connections import ConnectionCommands, name_author
from gateway.commands.registry import Call, CommandSpec, Handler, Outcome, Reply, SlashCommand
from gateway.operations import connections as operations
from gateway.outbound.command_buttons import stand_for
from gateway.texts import general
from gateway.texts import mcp as texts


class McpCommands:
    """Shows MCP servers to owners."""

    def __init__(self, servers: McpServers, connections: ConnectionCommands) -> None:
        self._servers = servers
        self._connections = connections

    def handlers(self) -> Mapping[str, Handler]:
        """Return the handlers by command name."""
        return {"mcp": self._mcp}

    async def find_prompt(self, name: str, person_id: PersonId | None) -> SlashCommand | None:
        """Return the command of a prompt, such as /web__review; see `McpServers.find_prompt`."""
        found = await self._servers.find_prompt(name, person_id)
        if found is None:
            return None
        server, prompt = found

        async def follow(call: Call) -> Reply:
            if not call.conversation.is_private:
                return Reply(text=texts.ONLY_DIRECT())
            words = texts.FOLLOW_PROMPT(prompt=prompt, name=server, words=call.argument or "-")
            return Reply(pending=call.as_message(words))

        return SlashCommand(spec=CommandSpec(name=name, summary=prompt), run=follow)

    async def _mcp(self, call: Call) -> Reply:
        if not call.person.is_owner:
            return Reply(text=general.OWNER_ONLY())
        if call.is_undo:
            return self._accept_again(call)
        match call.argument.split():
            case []:
                return await self._list()
            case [name]:
                return await self._show(name)
            case ["retry", name]:
                operations.retry(self._servers, name)
                return Reply(text=texts.RETRYING(name=name))
            case ["login", name]:
                return await self._connections.connect(call, name)
            case ["login", _, address]:
                return await self._connections.finish(call, address)
            case ["accept", name, token]:
                return self._accept(call, name, token)
            case _:
                return Reply(text=texts.USAGE())

    async def _list(self) -> Reply:
        reports = await self._servers.report()
        waiting = [one.server.name for one in reports if not one.judged.is_complete]
        buttons = tuple(stand_for(f"mcp {name}", texts.SHOW(name=name)) for name in waiting)
        return Reply(text=texts.describe_servers(reports, self._servers.fault), buttons=buttons)

    async def _show(self, name: str) -> Reply:
        reports = await self._servers.report()
        found = next((one for one in reports if one.server.name == name), None)
        if found is None:
            return Reply(text=texts.UNKNOWN_SERVER(name=name))
        return Reply(text=texts.describe_tools(found), buttons=_make_buttons(found))

    def _accept(self, call: Call, name: str, token: str) -> Reply:
        def effect(connection: Connection) -> Outcome:
            author = name_author(call)
            deed = operations.accept(connection, self._servers, name, token, author)
            call.note_deed(connection, deed.redo, deed.undo, deed.did)
            return deed.did, ()

        return Reply(effect=effect)

    def _accept_again(self, call: Call) -> Reply:
        """Let the tools be accepted that a deed names."""

        def effect(connection: Connection) -> Outcome:
            deed = operations.accept_again(connection, call.argument, name_author(call))
            call.note_deed(connection, deed.redo, deed.undo, deed.did)
            return deed.did, ()

        return Reply(effect=effect)


def _make_buttons(report: ServerReport) -> tuple[Choice, ...]:
    name = report.server.name
    buttons = []
    if not report.judged.is_complete:
        buttons.append(stand_for(f"mcp accept {name} {report.token}", texts.ACCEPT(), "good"))
    if report.server.has_own_accounts or report.needs_sign_in:
        buttons.append(stand_for(f"connections connect {name}", texts.SIGN_IN(), "good"))
    if report.state == "waiting":
        buttons.append(stand_for(f"mcp retry {name}", texts.RETRY()))
    return tuple(buttons)
