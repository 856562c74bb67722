"""A platform: messages are files in a folder.

Somebody writes `ada.1.in`, a text file, and finds the answer in `ada.1.out`. The first word of
the name is the person; the whole name is the message.
"""

import asyncio
import json
import time
from collections.abc import Mapping
from pathlib import Path

from adapters.contract import ChatAdapter, Health, Inlet, Pace
from adapters.errors import AdapterStopped, Unreachable
from adapters.ids import Address, EventId, PlatformMessageId, PlatformUserId
from adapters.messages import Inbound, InboundMessage, OutboundMessage, RawEvent, Sender

TALARIA_API = 1

_PAUSE = 0.2
"""Seconds between two looks into the folder."""
_LONGEST = 100_000


class LetterboxAdapter:
    """Reads letters from a folder, and writes the answers beside them."""

    name = "letterbox"
    pace = Pace(chat_interval=0, edit_interval=1, per_second=0)

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._is_open = False
        self._written = 0

    async def run(self, inlet: Inlet) -> None:
        """Look into the folder until cancelled. A letter is deleted once it is stored."""
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise AdapterStopped(f"{self._folder} can't be created: {error.strerror}.") from error
        self._is_open = True
        try:
            while True:
                for letter in sorted(self._folder.glob("*.in")):
                    await self._take(letter, inlet)
                await asyncio.sleep(_PAUSE)
        finally:
            self._is_open = False

    async def _take(self, letter: Path, inlet: Inlet) -> None:
        text = await asyncio.to_thread(letter.read_text)
        fields = {
            "who": letter.name.partition(".")[0],
            "id": letter.stem,
            "text": text,
            "at": int(time.time() * 1000),
        }
        event = RawEvent(event_id=EventId(letter.stem), payload=json.dumps(fields))
        try:
            await inlet.take([event])
        except Unreachable:
            return  # it stays in the folder, and is read again
        await asyncio.to_thread(letter.unlink)

    def receive(self, event: RawEvent) -> Inbound | None:
        """Parse a letter. Raises `ValueError` if it was damaged."""
        letter = json.loads(event.payload)
        return InboundMessage(
            address=Address(chat_id=str(letter["who"]), is_direct=True),
            message_id=PlatformMessageId(str(letter["id"])),
            sender=Sender(
                user_id=PlatformUserId(str(letter["who"])), display_name=str(letter["who"])
            ),
            text=str(letter["text"]),
            is_addressed=True,
            sent_at=int(letter["at"]),
        )

    def split(self, text: str) -> tuple[str, ...]:
        """Split a text that is too long for one file."""
        return tuple(text[at : at + _LONGEST] for at in range(0, len(text), _LONGEST)) or ("",)

    async def send(self, message: OutboundMessage) -> PlatformMessageId:
        """Write an answer. The name holds the key of the message, so a repeat replaces it."""
        answer = self._folder / f"{message.address.chat_id}.{message.key}.out"
        try:
            answer.write_text(message.text)
        except OSError as error:
            raise Unreachable(f"{answer} can't be written: {error.strerror}") from error
        return PlatformMessageId(answer.name)

    def health(self) -> Health:
        """Report connected while the folder is read."""
        return Health(state="connected" if self._is_open else "starting")


def create(options: Mapping[str, str]) -> ChatAdapter:
    """Create the platform. Raises `ValueError` without the option `folder`."""
    folder = options.get("folder", "")
    if not folder:
        raise ValueError("the option folder is missing; it names the folder of the letters")
    return LetterboxAdapter(Path(folder))
