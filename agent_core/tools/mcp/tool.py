"""A tool of an MCP server, as the model and the policy see it."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from agent_core.state.conversations.images import PDF
from agent_core.tools.contract import RESULT_LIMIT, Declaration, Effect, ToolContext, ToolResult
from agent_core.tools.mcp.calls import CallHooks
from agent_core.tools.mcp.contract import CallOutcome, ForeignTool, McpServer, McpUnavailable
from agent_core.tools.mcp.forms import Form, FormAnswer, PageLink
from agent_core.tools.mcp.listing import name_tool
from agent_core.tools.mcp.supervisor import McpConnection
from agent_core.tools.policy import Action
from agent_core.tools.readers import Extract, ReaderPool, SourceFailed, read_pdf
from agent_core.tools.results import add_image, add_pdf, bound, describe_pdf, hide_secrets
from agent_core.tools.secret_scan import SecretMask
from agent_core.transcript import ToolSpec, make_source

PATIENCE = 7200.0
"""Seconds beyond the limit of a call, for its questions; the connection itself counts its time."""
_MOST_SHOWN = 2000


class FormAsker(Protocol):
    """Asks people what servers want to know."""

    async def ask(self, question: Form | PageLink, context: ToolContext, number: int) -> FormAnswer:
        """Ask the person of a call; `number` counts its questions. Raises `StoreError`."""


def make_hooks(server: McpServer, context: ToolContext, asker: FormAsker | None) -> CallHooks:
    """Return what a server may do during a call."""

    async def ask(question: Form | PageLink, number: int) -> FormAnswer:
        if asker is None:
            return FormAnswer(action="decline")
        with context.pause():
            return await asker.ask(question, context, number)

    return CallHooks(note=lambda note: context.show_progress(f"{server.name}: {note}"), ask=ask)


class McpTool:
    """A tool of a server. Not even its description is trusted."""

    def __init__(
        self,
        connection: McpConnection,
        tool: ForeignTool,
        readers: ReaderPool,
        asker: FormAsker | None = None,
    ) -> None:
        """`readers` read the PDF files in results; `asker` asks people what the server wants."""
        server = connection.server
        self._readers = readers
        self._connection = connection
        self._tool = tool
        self._asker = asker
        self._mask = SecretMask(server.secrets)
        self.declaration = Declaration(time_limit=server.seconds + PATIENCE, is_untrusted=True)
        self.spec = ToolSpec(
            name=name_tool(server.name, tool.name),
            description=tool.description or f"A tool of the server {server.name}.",
            schema=tool.schema,
        )

    @property
    def effect(self) -> Effect:
        """A server may claim that a repeat does no harm; nobody has to believe it."""
        return "unsafe"

    def list_actions(
        self, arguments: Mapping[str, object], context: ToolContext
    ) -> Sequence[Action]:
        """A run on the server; a deletion, too, if the server itself calls the tool destructive."""
        server = self._connection.server
        shown = json.dumps(dict(arguments), ensure_ascii=False)[:_MOST_SHOWN]
        target, place = f"{self._tool.name} {shown}", f"mcp:{server.name}"
        run = Action(kind="run", target=target, place=place, is_outward=not server.is_local)
        if not self._tool.is_destructive:
            return (run,)
        return (
            run,
            Action(kind="delete", target=target, place=place, is_outward=not server.is_local),
        )

    async def run(self, arguments: Mapping[str, object], context: ToolContext) -> ToolResult:
        """Call the tool on its server; the words of the result are the server's."""
        server = self._connection.server
        try:
            outcome = await self._connection.call(
                self._tool.name, arguments, make_hooks(server, context, self._asker)
            )
        except McpUnavailable as error:
            doubt = "It is not known whether the call took effect."
            outcome = CallOutcome(text=f"The server {server.name} {error}. {doubt}", is_error=True)
        return await make_result(outcome, server, self._mask, self._readers)


async def make_result(
    outcome: CallOutcome, server: McpServer, mask: SecretMask, readers: ReaderPool
) -> ToolResult:
    """Return what a server said as the words of others; even a failure may quote it."""
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
    result = hide_secrets(replace(result, text="\n\n".join(texts)), mask)
    return replace(result, text=bound(result.text))


async def _read_pdf(data: bytes, readers: ReaderPool) -> tuple[str, Extract | None]:
    """Return what to say of a PDF file, and what was read; None if it can't be read."""
    try:
        found = await read_pdf(data, readers, 0, RESULT_LIMIT)
    except SourceFailed as error:
        return f"[A PDF file that can't be shown: {error}.]", None
    text = found.text or "It holds no text, such as a scan."
    return f"[{describe_pdf(data, found.pages)}]\n{text}", found
