"""The command of owners about MCP servers: show them, accept their tools, connect again."""

from collections.abc import Mapping

from agent_core.state.conversations.questions import Choice
from agent_core.state.engine.database import Connection
from agent_core.tools.mcp import McpServers, ServerReport, SignInUnavailable
from gateway.commands.registry import Call, CommandSpec, Handler, Outcome, Reply, SlashCommand
from gateway.outbound import stand_for
from gateway.texts import general
from gateway.texts.tools import mcp as texts


class McpCommands:
    """Shows MCP servers to owners."""

    def __init__(self, servers: McpServers) -> None:
        self._servers = servers

    def handlers(self) -> Mapping[str, Handler]:
        """Return the handlers by command name."""
        return {"mcp": self._mcp}

    def find_prompt(self, name: str) -> SlashCommand | None:
        """Return the command of a server's prompt, such as /web__review."""
        found = self._servers.find_prompt(name)
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
        match call.argument.split():
            case []:
                return await self._list()
            case [name]:
                return await self._show(name)
            case ["retry", name]:
                known = self._servers.retry(name)
                return Reply(text=(texts.RETRYING if known else texts.UNKNOWN_SERVER)(name=name))
            case ["login", name]:
                return await self._send_link(name)
            case ["login", name, address]:
                taken = self._servers.finish_sign_in(name, address)
                return Reply(text=(texts.SIGNING_IN if taken else texts.NO_LINK)(name=name))
            case ["accept", name, token]:
                return self._accept(call, name, token)
            case _:
                return Reply(text=texts.USAGE())

    async def _list(self) -> Reply:
        reports = await self._servers.report()
        waiting = [one.connection.server.name for one in reports if not one.judged.is_complete]
        buttons = tuple(stand_for(f"mcp {name}", texts.SHOW(name=name)) for name in waiting)
        return Reply(text=texts.describe_servers(reports, self._servers.fault), buttons=buttons)

    async def _show(self, name: str) -> Reply:
        reports = await self._servers.report()
        found = next((one for one in reports if one.connection.server.name == name), None)
        if found is None:
            return Reply(text=texts.UNKNOWN_SERVER(name=name))
        return Reply(text=texts.describe_tools(found), buttons=_make_buttons(found))

    async def _send_link(self, name: str) -> Reply:
        try:
            link = await self._servers.begin_sign_in(name)
        except SignInUnavailable as error:
            return Reply(text=texts.NO_SIGN_IN[error.fault](name=name))
        return Reply(text=texts.describe_sign_in(name, link))

    def _accept(self, call: Call, name: str, token: str) -> Reply:
        def effect(connection: Connection) -> Outcome:
            if not self._servers.accept(connection, name, token):
                return texts.OUTDATED(name=name), ()
            call.record(connection, "mcp.accept", name)
            return texts.ACCEPTED(name=name), ()

        return Reply(effect=effect)


def _make_buttons(report: ServerReport) -> tuple[Choice, ...]:
    name = report.connection.server.name
    buttons = []
    if not report.judged.is_complete:
        buttons.append(stand_for(f"mcp accept {name} {report.token}", texts.ACCEPT(), "good"))
    if report.connection.server.has_oauth and report.connection.state == "waiting":
        buttons.append(stand_for(f"mcp login {name}", texts.SIGN_IN(), "good"))
    if report.connection.state == "waiting":
        buttons.append(stand_for(f"mcp retry {name}", texts.RETRY()))
    return tuple(buttons)
