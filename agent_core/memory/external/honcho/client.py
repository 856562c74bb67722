"""The Honcho provider, built on its SDK: peers, sessions, conclusions and the dialectic."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime

import httpx
from honcho import Honcho
from honcho.api_types import MessageCreateParams, SessionPeerConfig
from honcho.http import exceptions as sdk
from honcho.peer import Peer
from honcho.session import Session

from agent_core.errors import (
    ExternalMemoryBroken,
    ExternalMemoryError,
    ExternalMemoryRefused,
    ExternalMemoryUnavailable,
    ExternalMemoryUnsupported,
)
from agent_core.memory.contract import (
    EntryDigest,
    Exchange,
    ExternalMemoryTool,
    ExternalMessage,
    ExternalPersonId,
    ExternalSessionId,
    MemoryProvider,
    MemorySnapshot,
)
from agent_core.tools.schemas import make_schema
from agent_core.transcript import ToolSpec

_NO_ROUTE = "Not Found"
"""The server's message for an unknown route. For a missing object, the message names the object."""
_OVERLOADED = (502, 503, 504)


_UNREADABLE = (
    *(ValueError, TypeError, AttributeError, LookupError, RuntimeError),
    httpx.HTTPError,
)
"""Errors that the SDK raises on a malformed answer."""


class Unknown(ExternalMemoryBroken):
    """The server does not know the peer, session or conclusion."""


@contextmanager
def mapped(function: str) -> Iterator[None]:
    """Map the SDK's errors to `ExternalMemoryError` or `Unknown`; `function` names the call."""
    try:
        yield
    except sdk.NotFoundError as error:
        if error.message == _NO_ROUTE:
            raise ExternalMemoryUnsupported(f"this Honcho server has no {function}") from error
        raise Unknown(f"Honcho does not know this object ({function})") from error
    except sdk.HonchoError as error:
        raise translate(error) from error
    except _UNREADABLE as error:
        kind = type(error).__name__
        raise ExternalMemoryBroken(f"Honcho gave an unreadable answer ({kind})") from error


def translate(error: sdk.HonchoError) -> ExternalMemoryError:
    """Map one of the SDK's errors, except 404."""
    match error:
        case sdk.RateLimitError():
            return ExternalMemoryUnavailable(
                "Honcho's rate limit is reached", retry_after=error.retry_after
            )
        case sdk.TimeoutError() | sdk.ConnectionError():
            return ExternalMemoryUnavailable(f"Honcho can't be reached: {error.message}")
        case sdk.AuthenticationError() | sdk.PermissionDeniedError():
            return ExternalMemoryUnavailable("Honcho rejects the key; check HONCHO_API_KEY")
        case sdk.ServerError() if error.status in _OVERLOADED:
            return ExternalMemoryUnavailable(
                f"Honcho is overloaded or being set up (HTTP {error.status})"
            )
        case sdk.ServerError():
            return ExternalMemoryBroken(f"Honcho failed (HTTP {error.status})")
        case sdk.ConflictError():
            return ExternalMemoryBroken("Honcho reports a conflict (HTTP 409)")
        case _:
            return ExternalMemoryRefused(f"Honcho rejects the request (HTTP {error.status})")


PRODUCTION = "https://api.honcho.dev"
ASSISTANT = "talaria"
"""The assistant's peer id, the same in all sessions."""
_TIMEOUT = 20.0
_ASKING = 40.0
"""Timeout in seconds; the dialectic runs a model before it answers."""
_BATCH = 100
"""The server's limit of messages per request, and the page size of lists."""
_LONGEST = 24_000
"""The most characters of one message; the server accepts 25,000."""
_MOST_CONCLUSIONS = 30
_KEY = "key"

_LEFTOVERS = (
    "Honcho deletes their sessions and its conclusions from them. The empty peer stays, a name"
    " without meaning, because its API can't delete peers"
)

_ASK = ToolSpec(
    name="ask_memory",
    description=(
        "Ask an external memory that followed every conversation with this person: habits, wishes,"
        " reasons. Slow, and it may be wrong. Use your other tools first."
    ),
    schema=make_schema(
        ("question",), question={"type": "string", "minLength": 1, "maxLength": 2000}
    ),
)


class HonchoMemory:
    """A workspace of a Honcho server."""

    name = "honcho"
    retained_data = _LEFTOVERS

    def __init__(self, client: Honcho) -> None:
        self._client = client
        self._known: set[ExternalSessionId] = set()
        """Sessions that this process has created or seen."""
        self._lacking: set[str] = set()
        self.tools = (ExternalMemoryTool(spec=_ASK, run=self._ask, seconds=_ASKING),)

    @property
    def missing_functions(self) -> frozenset[str]:
        """Functions that this server was found to lack."""
        return frozenset(self._lacking)

    async def start(self) -> None:
        """Create or find the workspace.

        Raises `ExternalMemoryUnavailable`, also if the server speaks another API version.
        """
        try:
            with mapped("API version 3"):
                await self._client.aio.get_metadata()
        except (ExternalMemoryUnsupported, Unknown) as error:
            raise ExternalMemoryUnavailable(str(error)) from error

    async def recall(self, who: ExternalPersonId) -> str:
        """Return the representation of a peer. Raises `ExternalMemoryError`."""
        function = "representation"
        if function in self._lacking:
            return ""
        try:
            with mapped(function):
                reported = await self._peer(who).aio.representation(
                    max_conclusions=_MOST_CONCLUSIONS, include_most_frequent=True
                )
        except Unknown:
            return ""
        except ExternalMemoryUnsupported:
            self._lacking.add(function)
            return ""
        return str(reported or "")

    async def add_exchange(self, exchange: Exchange) -> None:
        """Add messages to a session; a repeated call skips those that are already there."""
        session = await self._open(exchange)
        said = exchange.said
        if exchange.is_repeat:
            with mapped("list of messages"):
                newest = await session.aio.messages(size=_BATCH, reverse=True)
            there = {message.metadata.get(_KEY) for message in newest.items}
            said = tuple(one for one in said if one.key not in there)
        for start in range(0, len(said), _BATCH):
            batch = [_write(exchange.who, one) for one in said[start : start + _BATCH]]
            try:
                with mapped("messages"):
                    await session.aio.add_messages(batch)
            except Unknown:
                self._known.discard(
                    exchange.session_id
                )  # someone deleted the session; the retry creates it again
                raise

    async def sync_entries(self, notes: MemorySnapshot) -> Mapping[EntryDigest, str]:
        """Store memory entries as conclusions of a peer about itself."""
        function = "conclusions"
        if function in self._lacking:
            return notes.kept
        try:
            return await self._keep(notes)
        except ExternalMemoryUnsupported:
            self._lacking.add(function)
            return notes.kept

    async def delete_session(self, session_id: ExternalSessionId) -> None:
        """Delete a session and everything that was derived from it."""
        self._known.discard(session_id)
        try:
            with mapped("deletion of sessions"):
                await Session(session_id, self._client).aio.delete()
        except Unknown:
            return

    async def delete_person(self, who: ExternalPersonId) -> None:
        """Delete a peer's sessions and conclusions, and empty its card."""
        peer = self._peer(who)
        try:
            for session_id in await self._list_sessions(peer):
                await self.delete_session(session_id)
        except Unknown:
            return
        try:
            await self._drop_conclusions(who)
            with mapped("peer card"):
                await peer.aio.set_card([])
        except Unknown:
            return
        except ExternalMemoryUnsupported:
            return  # a server without conclusions stores nothing about this person

    async def close(self) -> None:
        """Close all connections."""
        await self._client._async_http_client.close()  # the SDK has no public method for it

    async def _ask(self, who: ExternalPersonId, arguments: Mapping[str, object]) -> str:
        try:
            with mapped("dialectic"):
                answer = await self._peer(who).aio.chat(str(arguments["question"]))
        except Unknown:
            return ""
        return str(answer or "")

    def _peer(self, who: ExternalPersonId) -> Peer:
        return Peer(who, self._client)

    async def _open(self, exchange: Exchange) -> Session:
        """Open a session; create it and both peers if this process has not seen it yet.

        The assistant neither observes nor is observed, so that conclusions about a person belong to
        the person's own peer.
        """
        if exchange.session_id in self._known:
            return Session(exchange.session_id, self._client)
        observed = SessionPeerConfig(observe_me=True, observe_others=False)
        silent = SessionPeerConfig(observe_me=False, observe_others=False)
        with mapped("sessions"):
            session = await self._client.aio.session(
                exchange.session_id, peers=[(exchange.who, observed), (ASSISTANT, silent)]
            )
        self._known.add(exchange.session_id)
        return session

    async def _keep(self, notes: MemorySnapshot) -> Mapping[EntryDigest, str]:
        view = self._peer(notes.who).conclusions.aio
        kept = {digest: name for digest, name in notes.kept.items() if digest in notes.entries}
        for digest, name in notes.kept.items():
            if digest not in notes.entries:
                await self._drop_conclusion(name)
        new = {digest: text for digest, text in notes.entries.items() if digest not in kept}
        if new and (
            notes.is_repeat or not notes.kept
        ):  # the provider may have entries from a call whose answer was lost
            with mapped("conclusions"):
                there = {one.content: one.id async for one in await view.list(size=_BATCH)}
            kept |= {digest: there[text] for digest, text in new.items() if text in there}
            new = {digest: text for digest, text in new.items() if digest not in kept}
        if new:
            with mapped("peers"):
                await self._client.aio.peer(notes.who)
            with mapped("conclusions"):
                made = await view.create([{"content": text} for text in new.values()])
                kept |= {digest: one.id for digest, one in zip(new, made, strict=True)}
        return kept

    async def _drop_conclusion(self, name: str) -> None:
        try:
            with mapped("conclusions"):
                await Peer(ASSISTANT, self._client).conclusions.aio.delete(name)
        except Unknown:
            return

    async def _list_sessions(self, peer: Peer) -> list[ExternalSessionId]:
        with mapped("list of sessions"):
            return [ExternalSessionId(one.id) async for one in await peer.aio.sessions(size=_BATCH)]

    async def _drop_conclusions(self, who: ExternalPersonId) -> None:
        """Delete all conclusions of a peer.

        It reads the first page each time, because the rest move up after a deletion.
        """
        seen: set[str] = set()
        while True:
            with mapped("conclusions"):
                page = await self._client.aio.conclusions.list(
                    size=_BATCH, filters={"observed_id": who}
                )
            new = [one.id for one in page.items if one.id not in seen]
            for name in new:
                await self._drop_conclusion(name)
            seen |= set(new)
            if not new:
                return


def create(options: Mapping[str, str]) -> MemoryProvider:
    """Create the provider from the options `api_key`, `base_url` and `workspace`.

    Raises `ValueError` if an option is unusable; its text explains the fault.
    """
    workspace = options.get("workspace", "")
    if not workspace:
        raise ValueError("memory.workspace can't be empty where memory.provider is honcho.")
    return HonchoMemory(
        Honcho(
            api_key=options.get("api_key"),
            base_url=options.get("base_url") or PRODUCTION,
            workspace_id=workspace,
            timeout=_TIMEOUT,
            max_retries=0,  # the queue retries, in its own order
        )
    )


def _write(who: ExternalPersonId, said: ExternalMessage) -> MessageCreateParams:
    text = said.text if len(said.text) <= _LONGEST else f"{said.text[: _LONGEST - 1]}…"
    return MessageCreateParams(
        peer_id=ASSISTANT if said.is_ours else who,
        content=text,
        metadata={_KEY: said.key},
        created_at=datetime.fromtimestamp(said.at / 1000, UTC),
    )
