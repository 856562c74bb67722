"""Data of the console page: its texts and commands, the conversation so far, and files."""

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from http import HTTPStatus

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from adapters.errors import AdapterError
from adapters.ids import EventId
from adapters.messages import InboundMessage, RawEvent
from agent_core.ids import TurnId
from agent_core.localization import Text, find_language, use_language
from agent_core.state.conversations import files
from agent_core.state.conversations.private_history import (
    HistoryEntry,
    NewestTurn,
    Present,
    find_newest_turn,
    find_present,
    list_history,
)
from agent_core.state.engine.database import Connection
from agent_core.state.people.deeds import Doer
from gateway.app.gateway import Gateway
from gateway.commands.catalog import COMMANDS
from gateway.errors import Declined, Mistaken
from gateway.interfaces.api.responses import read_body, refuse
from gateway.interfaces.contexts import open_context
from gateway.interfaces.http.readers import Reader, Readers
from gateway.interfaces.pages.views import parse_number
from gateway.media.file_types import find_media_type
from gateway.operations.turn_types import JudgeTurn, Verdict
from gateway.operations.turns import judge_turn, list_verdicts
from gateway.operations.wire import load
from gateway.people.admission import LOCAL_PLATFORM, UNATTENDED
from gateway.people.onboarding import list_unlinked
from gateway.texts import access
from gateway.texts.console_page import list_texts
from gateway.texts.people import offer_link
from gateway.texts.privacy import show_words
from gateway.texts.states import name_platform
from gateway.texts.turns import NOT_JUDGED
from gateway.turns.answer_text import restore_receipts

_MOST_ENTRIES = 60
_MOST_VERDICT_BYTES = 200
_MEGABYTE = 1_000_000
_SHOWN_TYPES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
"""Types that a browser may show. It saves all other files, so that none can run as a page."""
_FOREVER = 2**62


@dataclass(frozen=True, slots=True, kw_only=True)
class PageNews:
    """Tells an open chat what happens on other platforms; if it changes, there is news.

    `elsewhere` is the name of the platform on which the conversation is being answered.
    """

    newest: NewestTurn | None = None
    present: Present | None = None
    elsewhere: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Shown:
    """The newest messages of a conversation, and what its person thinks of the answers."""

    present: Present | None = None
    entries: Sequence[HistoryEntry] = ()
    verdicts: Mapping[TurnId, Verdict] = field(default_factory=dict)


class PageData:
    """Answers the requests of somebody's chat for data."""

    def __init__(self, gateway: Gateway, readers: Readers) -> None:
        self._gateway = gateway
        self._readers = readers
        self._database = gateway.database
        self._adapters = gateway.platforms.adapters
        self._mask = gateway.dispatcher.mask
        self._now = gateway.now
        self._zone_of = gateway.zone_of
        media = gateway.settings.media
        self._hears = bool(media.hearing)
        self._most_bytes = int(max(media.image_mb, media.file_mb) * _MEGABYTE)

    def list_routes(self) -> list[BaseRoute]:
        """List a route for each kind of data."""
        return [
            Route("/start", self._for_reader(self._start)),
            Route("/history", self._for_reader(self._show_history)),
            Route("/verdicts", self._for_reader(self._take_verdict), methods=["POST"]),
            Route("/files", self._for_reader(self._take_file), methods=["POST"]),
            Route("/files/{key}", self._for_reader(self._give_file)),
        ]

    def _for_reader(
        self, answer: Callable[[Request, Reader], Awaitable[Response]]
    ) -> Callable[[Request], Awaitable[Response]]:
        """Wrap an answer: it speaks the reader's language; without a login, it is a refusal."""

        async def give(request: Request) -> Response:
            reader = await self._readers.find(request)
            person = reader.person if reader else None
            languages = read_languages(request.headers)
            with use_language(person.language if person else None, *languages):
                if reader is None:
                    return refuse(HTTPStatus.UNAUTHORIZED, access.LOGIN_ENDED())
                return await answer(request, reader)

        return give

    async def find_news(self, reader: Reader) -> PageNews:
        """Return what changes with each turn and session of a reader. Raises `StoreError`."""
        person = reader.person

        def work(connection: Connection) -> PageNews:
            if person is None:
                return PageNews()
            present = find_present(connection, person_id=person.id, agent=person.agent)
            newest = find_newest_turn(connection, person_id=person.id)
            news = PageNews(newest=newest, present=present)
            if newest is None or present is None or newest.state != "running":
                return news
            is_shown = newest.conversation_id == present.conversation_id
            if not is_shown or newest.platform == LOCAL_PLATFORM:
                return news
            return replace(news, elsewhere=name_platform(newest.platform))

        return await self._database.read(work)

    async def _start(self, _: Request, reader: Reader) -> Response:
        chats = [platform for platform in self._adapters if platform not in UNATTENDED]

        def work(connection: Connection) -> list[str]:
            return list_unlinked(connection, reader.person, chats) if reader.person else chats

        unlinked = await self._database.read(work)
        return JSONResponse(
            {
                "user": reader.user,
                "language": find_language(),
                "texts": list_texts(),
                "commands": [
                    {"name": spec.name, "summary": Text(spec.summary)()} for spec in COMMANDS
                ],
                "links": [
                    {"command": f"/link {platform}", "label": offer_link(platform)}
                    for platform in unlinked
                ],
                "zone": self._zone_of(reader.person),
                "mostBytes": self._most_bytes,
                "hears": self._hears,
            }
        )

    async def _show_history(self, request: Request, reader: Reader) -> Response:
        """Answer with the newest messages of the open session before a given time, oldest first."""
        before = parse_number(request.query_params.get("before", ""), _FOREVER)
        person = reader.person

        def work(connection: Connection) -> _Shown:
            if person is None:
                return _Shown()
            present = find_present(connection, person_id=person.id, agent=person.agent)
            found = list_history(
                connection,
                person_id=person.id,
                present=present,
                chat=reader.chat,
                before=before,
                limit=_MOST_ENTRIES,
            )
            turns = {one.turn_id for one in found if one.turn_id and not one.is_own}
            return _Shown(
                present=present,
                entries=[_add_receipts(connection, one) for one in found],
                verdicts=list_verdicts(connection, person.id, turns),
            )

        shown = await self._database.read(work)
        present, found = shown.present, shown.entries
        converted = [self._convert(one, shown.verdicts) for one in found]
        entries = [entry for entry in converted if entry]
        return JSONResponse(
            {
                "entries": entries,
                "hasMore": len(found) == _MOST_ENTRIES,
                "since": present.since if present else 0,
                "title": present.title if present else "",
                "session": present.session_id if present else None,
            }
        )

    def _convert(
        self, entry: HistoryEntry, verdicts: Mapping[TurnId, Verdict]
    ) -> dict[str, object] | None:
        """Return an entry in the page's format; None if it is a button press."""
        text, listed = entry.text, entry.files
        if entry.source == "event":
            message = self._parse(entry)
            if message is None:
                return None
            text = message.text
            listed = tuple(
                (one.file_id, one.name or "", one.media_type or "") for one in message.attachments
            )
        name = f"transcript-{entry.key}" if entry.source == "transcript" else entry.key
        return {
            "id": name,
            "who": "mine" if entry.is_own else "theirs",
            "text": self._mask.hide(show_words(text)),
            "at": entry.created_at,
            "platform": "" if entry.platform == LOCAL_PLATFORM else name_platform(entry.platform),
            "turn": entry.turn_id,
            "verdict": verdicts.get(entry.turn_id) if entry.turn_id and not entry.is_own else None,
            "buttons": [
                {"key": one.key, "label": one.label, "style": one.style} for one in entry.buttons
            ],
            "files": [{"key": key, "name": name, "type": kind} for key, name, kind in listed],
        }

    def _parse(self, entry: HistoryEntry) -> InboundMessage | None:
        event = RawEvent(event_id=EventId(entry.key), payload=entry.text)
        try:
            found = self._adapters[LOCAL_PLATFORM].receive(event)
        except (AdapterError, ValueError):
            return None
        return found if isinstance(found, InboundMessage) else None

    async def _take_verdict(self, request: Request, reader: Reader) -> Response:
        """Count a thumb on an answer for the skills that the answer used."""
        body = await read_body(request, _MOST_VERDICT_BYTES)
        person = reader.person
        if person is None:
            return refuse(HTTPStatus.CONFLICT, NOT_JUDGED())
        own = Doer(person_id=person.id, owner_id=person.id, platform=LOCAL_PLATFORM)
        try:
            asked = load(JudgeTurn, {**json.loads(body), "person": person.slug})
            judged = await judge_turn(open_context(self._gateway, own), asked)
        except (Declined, Mistaken) as error:
            return refuse(HTTPStatus.CONFLICT, str(error))
        except (ValueError, TypeError):
            return refuse(HTTPStatus.BAD_REQUEST, "The body is no JSON object.")
        return JSONResponse({"verdict": judged.verdict})

    async def _take_file(self, request: Request, _: Reader) -> Response:
        """Store an uploaded file and answer with its key; a message that names it follows."""
        data = await read_body(request, self._most_bytes)
        if not data:
            return refuse(HTTPStatus.BAD_REQUEST, "The file is empty.")
        media_type, now = find_media_type(data), self._now()

        return JSONResponse(
            {
                "key": await self._database.write(
                    "files.store", files.store, data=data, media_type=media_type, now=now
                )
            }
        )

    async def _give_file(self, request: Request, _: Reader) -> Response:
        """Answer with a file's bytes. Its key is a hash, so only readers of a message know it."""
        key = request.path_params["key"]
        found = await self._database.read(files.find, key=key)
        if found is None:
            return refuse(HTTPStatus.NOT_FOUND, "The file is no longer stored.")
        is_shown = found.media_type in _SHOWN_TYPES
        return Response(
            found.data,
            media_type=found.media_type if is_shown else "application/octet-stream",
            headers={
                "Content-Disposition": "inline" if is_shown else "attachment",
                "Content-Security-Policy": "default-src 'none'; sandbox",
            },
        )


def _add_receipts(connection: Connection, entry: HistoryEntry) -> HistoryEntry:
    """Return an entry of the transcript with what was done below it, as the other chat has it."""
    if entry.source != "transcript" or entry.is_own or entry.turn_id is None:
        return entry
    return replace(entry, text=restore_receipts(connection, entry.turn_id, entry.text))


def read_languages(headers: Mapping[str, str]) -> list[str]:
    """Return the languages of a browser, in its order of preference; weights are ignored."""
    return [tag.partition(";")[0].strip() for tag in headers.get("Accept-Language", "").split(",")]
