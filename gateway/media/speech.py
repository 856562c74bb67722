"""Speech for answers: selects the words worth hearing, and has a program speak them."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from adapters.toolkit.markdown import Block as MarkdownBlock
from adapters.toolkit.markdown import (
    Heading,
    Listing,
    Paragraph,
    QuoteBlock,
    Run,
    TableBlock,
    parse,
)
from gateway.media.file_types import look
from gateway.media.media_command import CommandFailed, MediaCommand
from gateway.texts.attachments import LINK, SPOKEN_ANSWER

MOST_AUDIO = 20_000_000
"""Most bytes of audio kept from a command: seven minutes without compression."""
_MOST_WORDS = 1500
"""Characters of an answer that are spoken: about two minutes."""
_VOICE = "audio/ogg; codecs=opus"
"""The media type of voice messages (RFC 7845)."""
_OPUS_HEAD = (b"OpusHead", 64)
"""The signature of Opus, and the number of bytes at the start of a file that may contain it."""
_SUFFIXES = {"audio/mpeg": "mp3", "audio/mp4": "m4a", "audio/x-caf": "caf", _VOICE: "ogg"}
_ADDRESS = re.compile(r"(?:https?://|www\.)[^\s<>()]*[^\s<>().,;:!?]")
_END = re.compile(r"[.!?…。！？][\"'”»)]*(?=\s|$)")
_ENDS = (".", "!", "?", "…", ":", "。", "！", "？")
_UNHEARD = ("So", "Sk", "Cf", "Cs", "Co")
"""Categories of characters that no voice can read: pictures, modifiers, invisible ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """A spoken answer as a file."""

    name: str
    media_type: str
    data: bytes


async def speak(command: MediaCommand, words: str, language: str) -> Recording:
    """Have a command speak words. Raises `TimeoutError` and `CommandFailed`."""
    data = await command.run(words.encode(), "answer.txt", language)
    kind, media_type = look(data, is_heard=True)
    if kind != "audio":
        raise CommandFailed("it wrote no audio")
    mark, within = _OPUS_HEAD
    if media_type == "audio/ogg" and mark in data[:within]:
        media_type = _VOICE
    suffix = _SUFFIXES.get(media_type, media_type.partition("/")[2])
    return Recording(name=f"{SPOKEN_ANSWER()}.{suffix}", media_type=media_type, data=data)


def select_words(text: str) -> str:
    """Return the words of an answer that are worth hearing; pure.

    Code blocks are left out, an address becomes "link", and each row of a table becomes a sentence.
    A long answer is cut at the end of a sentence.
    """
    sentences = [_end(line) for line in _walk(parse(text))]
    return _cut("\n".join(sentence for sentence in sentences if sentence))


def _walk(blocks: Sequence[MarkdownBlock]) -> Iterator[str]:
    for block in blocks:
        if isinstance(block, Paragraph | Heading):
            yield _spell(block.runs)
        elif isinstance(block, QuoteBlock):
            yield from _walk(block.blocks)
        elif isinstance(block, Listing):
            for item in block.items:
                yield from _walk(item)
        elif isinstance(block, TableBlock):
            yield from _read_rows(block)


def _read_rows(table: TableBlock) -> Iterator[str]:
    """Yield a sentence for each row: its first cell, and the others with their headings."""
    header, *rows = [[_spell(cell) for cell in row] for row in table.rows]
    for row in rows:
        named = [
            f"{name}: {cell}" if name and number else cell
            for number, (name, cell) in enumerate(zip(header, row, strict=True))
            if cell
        ]
        yield ", ".join(named)


def _spell(runs: Sequence[Run]) -> str:
    words = "".join(_ADDRESS.sub(LINK(), run.text) for run in runs)
    heard = (letter for letter in words if unicodedata.category(letter) not in _UNHEARD)
    return " ".join("".join(heard).split())


def _end(line: str) -> str:
    """End a line like a sentence, so that the voice pauses."""
    return f"{line}." if line and not line.endswith(_ENDS) else line


def _cut(words: str) -> str:
    if len(words) <= _MOST_WORDS:
        return words
    ends = [found.end() for found in _END.finditer(words, 0, _MOST_WORDS)]
    return words[: ends[-1]] if ends else words[:_MOST_WORDS].rpartition(" ")[0]
