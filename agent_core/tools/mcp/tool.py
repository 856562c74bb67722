"""A tool of an MCP server, as the model and the policy see it."""

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from agent_core.ids import PersonId
from agent_core.state.conversations.images import PDF
from agent_core.tools.contract import RESULT_LIMIT, Declaration, Effect, ToolContext, ToolResult
from agent_core.tools.mcp.calls import CallHooks
from agent_core.tools.mcp.contract import CallOutcome, ForeignTool, McpServer, McpUnavailable
from agent_core.tools.mcp.forms import Form, FormAnswer, PageLink
from agent_core.tools.mcp.listing import name_tool, place_of
from agent_core.tools.mcp.supervisor import McpNotAsked
from agent_core.tools.policy.contract import Action, ActionKind
from agent_core.tools.readers.documents import Extract, read_pdf
from agent_core.tools.readers.faults import SourceFailed
from agent_core.tools.readers.pool import ReaderPool
from agent_core.tools.results import add_image, add_pdf, bound, describe_pdf, hide_secrets
from agent_core.tools.secret_scan import SecretMask
from agent_core.tools.text_cleaner import TextCleaner
from agent_core.transcript import ToolSpec, make_source

PATIENCE = 7200.0
"""Seconds beyond a call's limit, for its questions; the connection measures the call's time."""


ONE_ACCOUNT = "Uses one account shared by everyone here. "
"""Begins the description of a tool whose server has one account for all."""


class Line(Protocol):
    """The way from one person to a server: a connection for all, or one with their account."""

    async def call(
        self, tool: str, arguments: Mapping[str, object], hooks: CallHooks | None = None
    ) -> CallOutcome:
        """Call a tool. Raises `McpUnavailable`."""

    async def get(
        self, kind: str, name: str, values: Mapping[str, str], hooks: CallHooks | None = None
    ) -> CallOutcome:
        """Get a resource or a prompt; see `McpSession`. Raises `McpUnavailable`."""


Reach = Callable[[PersonId], Line]
"""Returns the way from the person of a call to the server."""
Invite = Callable[[McpServer, PersonId], Awaitable[str]]
"""Sends a person a link to sign in; returns the end of a sentence that begins with the server."""


class FormAsker(Protocol):
    """Asks people on behalf of servers."""

    async def ask(self, question: Form | PageLink, context: ToolContext, number: int) -> FormAnswer:
        """Ask the person behind a call; `number` counts its questions. Raises `StoreError`."""


class ServerTool:
    """The common part of all servers' tools."""

    def __init__(
        self, server: McpServer, reach: Reach, readers: ReaderPool, asker: FormAsker | None
    ) -> None:
        """`readers` read the PDF files in results; `asker` passes servers' questions to people."""
        self._reach = reach
        self._server = server
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
        server: McpServer,
        tool: ForeignTool,
        reach: Reach,
        readers: ReaderPool,
        asker: FormAsker | None = None,
    ) -> None:
        super().__init__(server, reach, readers, asker)
        self._tool = tool
        self.spec = ToolSpec(
            name=name_tool(server.name, tool.name),
            description=describe(
                server, tool.description or f"A tool of the server {server.name}."
            ),
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
        line = self._reach(context.person_id)
        asked = line.call(self._tool.name, arguments, self._make_hooks(context))
        return await self._finish(asked, " It is not known whether the call took effect.")


class LockedTool:
    """A tool of a server at which the person has not signed in.

    Its name is all that is shown: a description may be about the account of somebody else.
    """

    effect: Effect = "idempotent"
    declaration = Declaration()

    def __init__(self, server: McpServer, tool: str, invite: Invite) -> None:
        """A call sends the link of `invite`."""
        self._server = server
        self._invite = invite
        self.spec = ToolSpec(
            name=name_tool(server.name, tool),
            description=f"{tool} of the server {server.name}, with this person's own account. It is"
            " not connected yet: call this without arguments, and Talaria sends them a link in"
            " their direct chat.",
            schema=json.dumps({"type": "object"}),
        )

    async def run(self, arguments: Mapping[str, object], context: ToolContext) -> ToolResult:
        """Send the person a link. Raises `StoreError`."""
        said = await self._invite(self._server, context.person_id)
        return ToolResult(text=f"The server {self._server.name} {said}", is_error=True)


def describe(server: McpServer, description: str) -> str:
    """Return the description of a tool, with a note if all people use one account."""
    return f"{ONE_ACCOUNT}{description}" if server.has_one_account else description


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
