"""Reads a message's attachments: fetches them, detects their types, and prepares them."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

from adapters.abilities import CanFetch
from adapters.contract import ChatAdapter
from adapters.errors import AdapterError, FileTooLarge, NotPermitted, RateLimited, Rejected
from adapters.messages import Attachment, InboundMessage
from agent_core.errors import StoreError
from agent_core.state.conversations import files
from agent_core.state.conversations.images import (
    MOST_PAGES,
    MOST_PIXELS,
    PDF,
    find_pdf_fault,
    measure,
)
from agent_core.state.engine.database import Database
from gateway.media import documents, file_types
from gateway.media.documents import DocumentFault, Extract
from gateway.media.readings import PdfFile, Picture, Reading, Unreadable, Words
from gateway.media.transcription import NotHeard, Transcriber
from gateway.texts import attachments as attachment_texts
from gateway.texts.attachments import Fault

_log = logging.getLogger(__name__)

MOST_ATTACHMENTS = 10
"""Attachments read per message; no platform allows many more."""
_AT_ONCE = 8
"""Attachments held in memory at once, for all people together."""
_PARSED_AT_ONCE = 2
"""Documents parsed at once: each takes a whole core and its own memory."""
_MOST_PAGES_WITH_TEXT = 5
"""Pages of a PDF file that are shown beside its text: about as many tokens as the longest text."""
_FETCH_SECONDS = 60.0
_FETCH_PAUSES = (1.0, 3.0)
"""Seconds before each retry of a failed fetch."""
_LONGEST_PAUSE = 10.0
_GRACE_SECONDS = 5.0
"""Seconds that a transcriber may exceed its own time limit before it is stopped."""
_FAULTS: Mapping[file_types.FileKind, Fault] = {
    "foreign_image": "foreign_picture",
    "video": "video",
    "old_office": "old_office",
    "archive": "archive",
    "binary": "binary",
    "empty": "empty",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Limits on attachments: bytes, characters, and seconds for transcription.

    `shows_pdf` means that the model sees the pages of PDF files.
    """

    shows_pdf: bool
    image_bytes: int
    file_bytes: int
    characters: int
    seconds: float


@dataclass(slots=True, kw_only=True)
class Reader:
    """Reads the attachments of messages from all platforms."""

    database: Database
    adapters: Mapping[str, ChatAdapter]
    transcriber: Transcriber | None
    """None if none is configured."""
    limits: Limits
    now: Callable[[], int]
    report: Callable[[str, str], Awaitable[None]]
    """Tells the owners which permission a platform lacks. Raises `StoreError`."""
    wait: Callable[[float], Awaitable[None]] = asyncio.sleep
    """Sleeps for so many seconds."""
    _places: asyncio.Semaphore = field(
        default_factory=lambda: asyncio.Semaphore(_AT_ONCE), init=False
    )
    _desks: asyncio.Semaphore = field(
        default_factory=lambda: asyncio.Semaphore(_PARSED_AT_ONCE), init=False
    )

    async def read(self, platform: str, message: InboundMessage) -> tuple[Reading, ...]:
        """Return the reading of each attachment, in order; pictures are stored.

        Every wait has a timeout. Raises only `StoreError`: an unreadable attachment becomes a
        sentence.
        """
        attachments = message.attachments
        fault: StoreError | None = None
        try:
            async with asyncio.TaskGroup() as group:
                tasks = [
                    group.create_task(self._read_in_turn(platform, attachment))
                    for attachment in attachments[:MOST_ATTACHMENTS]
                ]
        except* StoreError as faults:
            fault = _first(faults)
        if fault:
            raise fault  # inside the task group, the raised error would be wrapped again
        readings = tuple(task.result() for task in tasks)
        if len(attachments) <= MOST_ATTACHMENTS:
            return readings
        left = f"{len(attachments) - MOST_ATTACHMENTS} more, not read"
        reported = attachment_texts.TOO_MANY(most=MOST_ATTACHMENTS)
        return (*readings, Unreadable(note=left, sentence=reported))

    async def _read_in_turn(self, platform: str, attachment: Attachment) -> Reading:
        # An attachment without a file is only described; an unusable one is not fetched.
        if attachment.kind == "described":
            return _word(attachment, documents.bound(attachment.name or "", self.limits.characters))
        if not attachment.file_id or attachment.kind == "other":
            return _refuse(attachment, "other")
        if attachment.kind == "video":
            return _refuse(attachment, "video")
        if attachment.kind == "voice" and self.transcriber is None:
            return _refuse(attachment, "no_transcription")
        async with self._places:
            data = await self._fetch(platform, attachment)
            return await self._read(attachment, data) if isinstance(data, bytes) else data

    async def _fetch(self, platform: str, attachment: Attachment) -> bytes | Unreadable:
        """Return the bytes of an attachment, never more than the limit."""
        is_picture = attachment.kind == "image"
        most = self.limits.image_bytes if is_picture else self.limits.file_bytes
        large: Fault = "large_picture" if is_picture else "too_large"
        if attachment.size is not None and attachment.size > most:
            return _refuse(attachment, large, most)
        adapter = self.adapters.get(platform)
        if attachment.is_stored:
            stored = await self.database.read(files.find, key=attachment.file_id)
            if stored is None:
                return _refuse(attachment, "unfetched")
            data = stored.data
            return data if len(data) <= most else _refuse(attachment, large, most)
        if adapter is None or not isinstance(adapter, CanFetch):
            return _refuse(attachment, "unfetched")
        try:
            async with asyncio.timeout(_FETCH_SECONDS):
                data = await self._try_to_fetch(adapter, attachment, most)
        except FileTooLarge as error:
            return _refuse(attachment, large, error.most_bytes)
        except NotPermitted as error:
            _log.warning("an attachment can't be fetched from %s: %s", platform, error)
            await self.report(platform, str(error))
            return _refuse(attachment, "not_permitted")
        except Rejected as error:
            _log.info("an attachment can't be fetched from %s: %s", platform, error)
            return _refuse(attachment, "gone")
        except (AdapterError, TimeoutError) as error:
            _log.warning("an attachment can't be fetched from %s: %s", platform, error)
            return _refuse(attachment, "unfetched")
        return data if len(data) <= most else _refuse(attachment, large, most)

    async def _try_to_fetch(self, adapter: CanFetch, attachment: Attachment, most: int) -> bytes:
        """Fetch an attachment, and retry if that may help. Raises `AdapterError`."""
        for pause in _FETCH_PAUSES:
            try:
                return await adapter.fetch(attachment, most_bytes=most)
            except Rejected:
                raise
            except RateLimited as error:
                if error.retry_after > _LONGEST_PAUSE:
                    raise
                await self.wait(error.retry_after)
            except AdapterError:
                await self.wait(pause)
        return await adapter.fetch(attachment, most_bytes=most)

    async def _read(self, attachment: Attachment, data: bytes) -> Reading:
        kind, media_type = file_types.look(data, is_heard=attachment.kind in ("voice", "audio"))
        if kind == "image":
            return await self._see(attachment, data, media_type)
        if kind == "audio":
            return await self._listen(attachment, data, media_type)
        if kind == "text":
            return _word(attachment, documents.read_text(data, self.limits.characters))
        if attachment.kind == "sticker":  # an animated sticker is a compressed file
            return _refuse(attachment, "sticker")
        if kind in ("pdf", "package"):
            read = documents.read_pdf if kind == "pdf" else documents.read_package
            try:
                async with self._desks:
                    extract = await read(data, self.limits.characters)
            except DocumentFault as fault:
                return _refuse(attachment, fault.fault)
            if kind == "pdf":
                return await self._open_pdf(attachment, data, extract)
            return _word(attachment, extract)
        return _refuse(attachment, _FAULTS[kind])

    async def _open_pdf(self, attachment: Attachment, data: bytes, extract: Extract) -> Reading:
        """Return a PDF file as text, with its pages if they are few or have no text."""
        most = _MOST_PAGES_WITH_TEXT if extract.text else MOST_PAGES
        is_shown = self.limits.shows_pdf and 0 < extract.pages <= most
        if not is_shown or find_pdf_fault(data, extract.pages):
            return _word(attachment, extract) if extract.text else _refuse(attachment, "no_text")
        pdf = PdfFile(file_key=await self._store(data, PDF), size=len(data), pages=extract.pages)
        name = attachment_texts.name_attachment(attachment)
        return Words(name=name, text=extract.text, extent=extract.extent, pdf=pdf)

    async def _see(self, attachment: Attachment, data: bytes, media_type: str) -> Reading:
        if len(data) > self.limits.image_bytes:
            return _refuse(attachment, "large_picture", self.limits.image_bytes)
        size = measure(data, media_type)
        if size is None:
            return _refuse(attachment, "broken_picture")
        if max(size) > MOST_PIXELS:
            return _refuse(attachment, "wide_picture")
        return Picture(
            name=attachment_texts.name_attachment(attachment),
            file_key=await self._store(data, media_type),
            media_type=media_type,
            size=len(data),
        )

    async def _store(self, data: bytes, media_type: str) -> str:
        now = self.now()

        return await self.database.write(
            "files.store", files.store, data=data, media_type=media_type, now=now
        )

    async def _listen(self, attachment: Attachment, data: bytes, media_type: str) -> Reading:
        if self.transcriber is None:
            return _refuse(attachment, "no_transcription")
        try:
            async with asyncio.timeout(self.limits.seconds + _GRACE_SECONDS):
                text = await self.transcriber.transcribe(data, media_type)
        except NotHeard as error:
            sentence = str(error)
        except TimeoutError:
            sentence = attachment_texts.UNHEARD_SLOW()
        else:
            extract = documents.bound(text, self.limits.characters)
            if not extract.text:
                return _refuse(attachment, "unheard")
            return _word(attachment, extract, is_voice=attachment.kind == "voice")
        note = f"{attachment_texts.describe_attachment(attachment)}: could not be listened to"
        return Unreadable(note=note, sentence=sentence)


def _refuse(attachment: Attachment, fault: Fault, most_bytes: int = 0) -> Unreadable:
    return Unreadable(
        note=attachment_texts.describe_fault(attachment, fault),
        sentence=attachment_texts.explain(attachment, fault, most_bytes=most_bytes),
    )


def _word(
    attachment: Attachment, extract: Extract, *, is_voice: bool = False
) -> Words | Unreadable:
    if not extract.text:
        return _refuse(attachment, "empty")
    return Words(
        name=attachment_texts.name_attachment(attachment),
        text=extract.text,
        is_voice=is_voice,
        extent=extract.extent,
    )


def _first(faults: BaseExceptionGroup[StoreError]) -> StoreError:
    """Return the first error in a nested group."""
    found: BaseException = faults
    while isinstance(found, BaseExceptionGroup):
        found = found.exceptions[0]
    assert isinstance(found, StoreError)  # noqa: S101 - the group holds nothing else
    return found
