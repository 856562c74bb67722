"""A tool of an MCP server, as the model and the policy see it."""

import json
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from agent_core.state.conversations.images import PDF
from agent_core.tools.contract import RESULT_LIMIT, Declaration, Effect, ToolContext, ToolResult
from agent_core.tools.mcp.calls import CallHooks
from agent_core.tools.mcp.contract import CallOutcome, ForeignTool, McpServer, McpUnavailable
from agent_core.tools.mcp.forms import Form, FormAnswer, PageLink
from agent_core.tools.mcp.listing import name_tool, place_of
from agent_core.tools.mcp.supervisor import McpConnection, McpNotAsked
from agent_core.tools.policy import Action, ActionKind
from agent_core.tools.readers import Extract, ReaderPool, SourceFailed, read_pdf
from agent_core.tools.results import add_image, add_pdf, bound, describe_pdf, hide_secrets
from agent_core.tools.secret_scan import SecretMask
from agent_core.tools.text_cleaner import TextCleaner
from agent_core.transcript import ToolSpec, make_source

PATIENCE = 7200.0
"""Seconds beyond a call's limit, for its questions; the connection measures the call's time."""


class FormAsker(Protocol):
    """Asks people on behalf of servers."""

    async def ask(self, question: Form | PageLink, context: ToolContext, number: int) -> FormAnswer:
        """Ask the person behind a call; `number` counts its questions. Raises `StoreError`."""


class ServerTool:
    """The common part of all servers' tools."""

    def __init__(
        self, connection: McpConnection, readers: ReaderPool, asker: FormAsker | None
    ) -> None:
        """`readers` read the PDF files in results; `asker` passes servers' questions to people."""
        self._connection = connection
        self._server = connection.server
        self._readers = readers
        self._asker = asker
        self._cleaner = TextCleaner(SecretMask(self._server.secrets))
        seconds = self._server.seconds + PATIENCE
        self.declaration = Declaration(time_limit=seconds, is_untrusted=True)

    def _make_action(self, kind: ActionKind, name: str, arguments: Mapping[str, object]) -> Action:
        shown = json.dumps(dict(arguments), ensure_ascii=False)
        place, is_outward = place_of(self._server.name), not self._server.is_local
        return Action(kind=kind, target=f"{name} {shown}", place=place, is_outward=is_outward)

    def _make_hooks(self, context: ToolContext) -> CallHooks:
        """Return the callbacks that the server may use during a call."""

        async def ask(question: Form | PageLink, number: int) -> FormAnswer:
            if self._asker is None:
                return FormAnswer(action="decline")
            with context.pause():
                return await self._asker.ask(question, context, number)

        def note(text: str) -> None:
            context.show_progress(f"{self._server.name}: {text}")

        return CallHooks(note=note, ask=ask)

    async def _finish(self, asked: Awaitable[CallOutcome], doubt: str = "") -> ToolResult:
        try:
            outcome = await asked
        except McpUnavailable as error:
            told = "" if isinstance(error, McpNotAsked) else doubt
            text = f"The server {self._server.name} {error}.{told}"
            outcome = CallOutcome(text=text, is_error=True)
        return await make_result(outcome, self._server, self._cleaner, self._readers)


class McpTool(ServerTool):
    """A tool of a server. Its description is not trusted either."""

    effect: Effect = "unsafe"
    """A server may claim that repeating a call is harmless; Talaria does not rely on it."""

    def __init__(
        self,
        connection: McpConnection,
        tool: ForeignTool,
        readers: ReaderPool,
        asker: FormAsker | None = None,
    ) -> None:
        super().__init__(connection, readers, asker)
        self._tool = tool
        self.spec = ToolSpec(
            name=name_tool(self._server.name, tool.name),
            description=tool.description or f"A tool of the server {self._server.name}.",
            schema=tool.schema,
        )

    def list_actions(
        self, arguments: Mapping[str, object], context: ToolContext
    ) -> Sequence[Action]:
        """Declare a run on the server; also a deletion if the server calls the tool destructive."""
        kinds: tuple[ActionKind, ...] = ("run", "delete") if self._tool.is_destructive else ("run",)
        return tuple(self._make_action(kind, self._tool.name, arguments) for kind in kinds)

    async def run(self, arguments: Mapping[str, object], context: ToolContext) -> ToolResult:
        """Call the tool on its server."""
        asked = self._connection.call(self._tool.name, arguments, self._make_hooks(context))
        return await self._finish(asked, " It is not known whether the call took effect.")


async def make_result(
    outcome: CallOutcome, server: McpServer, cleaner: TextCleaner, readers: ReaderPool
) -> ToolResult:
    """Return a server's result as untrusted; even a failure may quote untrusted text."""
    texts = [outcome.text]
    result = ToolResult(
        text="", is_error=outcome.is_error, sources=(make_source("mcp", server.name),)
    )
    for data, media_type in outcome.images:
        if media_type == PDF:
            text, found = await _read_pdf(data, readers)
            texts.append(text)
            result = add_pdf(result, data, found.pages, found.whole) if found else result
        else:
            result = add_image(result, data, media_type)
    result = await hide_secrets(replace(result, text="\n\n".join(texts)), cleaner)
    return replace(result, text=bound(result.text))


async def _read_pdf(data: bytes, readers: ReaderPool) -> tuple[str, Extract | None]:
    """Return the note about a PDF file, and its text; None if it can't be read."""
    try:
        found = await read_pdf(data, readers, 0, RESULT_LIMIT)
    except SourceFailed as error:
        return f"[A PDF file that can't be shown: {error}.]", None
    text = found.text or "It holds no text, such as a scan."
    return f"[{describe_pdf(data, found.pages)}]\n{text}", found
