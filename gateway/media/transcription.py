"""Transcription of speech by a server with OpenAI's protocol, or by a local program."""

import io
import json
import logging
from dataclasses import dataclass, field
from typing import Protocol

import aiohttp

from gateway.media.media_command import CommandFailed, MediaCommand
from gateway.texts import attachments

_log = logging.getLogger(__name__)

MOST_ANSWER = 2_000_000
"""Most bytes read from an answer; ten hours of speech take fewer."""
_MOST_LOGGED = 300
_SUFFIXES = {
    "audio/aac": "aac",
    "audio/aiff": "aiff",
    "audio/amr": "amr",
    "audio/flac": "flac",
    "audio/mp4": "m4a",
    "audio/mpeg": "mp3",
    "audio/ogg": "ogg",
    "audio/wav": "wav",
    "audio/webm": "webm",
    "audio/x-caf": "caf",
}
"""File name extensions; servers and programs detect the format by them."""


class NotHeard(Exception):
    """A recording can't be transcribed. The text is a sentence for the person."""


class Transcriber(Protocol):
    """The contract of a transcriber."""

    async def transcribe(self, audio: bytes, media_type: str) -> str:
        """Return the words of a recording; empty if it has none.

        Returns within its own time limit. Raises `NotHeard`. Cancelling stops the work.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerTranscriber:
    """A server with the route `/audio/transcriptions` below `address`."""

    address: str
    key: str | None = field(repr=False)
    model: str
    seconds: float

    async def transcribe(self, audio: bytes, media_type: str) -> str:
        """See `Transcriber`."""
        form = aiohttp.FormData()
        form.add_field("model", self.model)
        form.add_field("response_format", "json")
        form.add_field(
            "file", io.BytesIO(audio), filename=_name(media_type), content_type=media_type
        )
        headers = {"Authorization": f"Bearer {self.key}"} if self.key else {}
        timeout = aiohttp.ClientTimeout(total=self.seconds)
        address = f"{self.address.rstrip('/')}/audio/transcriptions"
        try:
            async with (
                aiohttp.ClientSession(timeout=timeout, headers=headers) as session,
                session.post(address, data=form, allow_redirects=False) as response,
            ):
                body = await _read(response.content)
                status = response.status
        except TimeoutError as error:
            raise NotHeard(attachments.UNHEARD_SLOW()) from error
        except (aiohttp.ClientError, OSError) as error:
            _log.warning("the transcription server can't be reached: %s", error)
            raise NotHeard(attachments.UNHEARD_BUSY()) from error
        if status == 200:
            return _read_answer(body)
        _log.warning(
            "the transcription server answered %d: %s",
            status,
            body[:_MOST_LOGGED].decode(errors="replace"),
        )
        raise NotHeard(_explain(status))


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandTranscriber:
    """A local program that prints the words."""

    command: MediaCommand

    async def transcribe(self, audio: bytes, media_type: str) -> str:
        """See `Transcriber`."""
        try:
            output = await self.command.run(audio, _name(media_type))
        except TimeoutError as error:
            raise NotHeard(attachments.UNHEARD_SLOW()) from error
        except CommandFailed as error:
            _log.error("the transcription command failed: %s", error)
            raise NotHeard(attachments.UNHEARD_REFUSED()) from error
        return output.decode(errors="replace").strip()


def _name(media_type: str) -> str:
    return f"voice.{_SUFFIXES.get(media_type, 'ogg')}"


async def _read(content: aiohttp.StreamReader) -> bytes:
    """Return the first bytes of an answer, whatever length it claims to have."""
    kept = bytearray()
    while len(kept) < MOST_ANSWER and (piece := await content.readany()):
        kept += piece
    return bytes(kept[:MOST_ANSWER])


def _read_answer(body: bytes) -> str:
    """Return the words of an answer. Raises `NotHeard` if it has no such field."""
    try:
        reported = json.loads(body)
    except (ValueError, RecursionError):
        reported = None
    text = reported.get("text") if isinstance(reported, dict) else None
    if not isinstance(text, str):
        _log.warning("the transcription server gave no text: %r", body[:_MOST_LOGGED])
        raise NotHeard(attachments.UNHEARD_REFUSED())
    return text.strip()


def _explain(status: int) -> str:
    """Return the sentence for a refused request; the log has the status."""
    if status in (408, 409, 425, 429) or status >= 500:
        return attachments.UNHEARD_BUSY()
    if status == 413:
        return attachments.UNHEARD_LONG()
    return attachments.UNHEARD_REFUSED()
