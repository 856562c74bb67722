"""Requests as providers send them: images, large bodies, estimated tokens, and fingerprints."""

import base64
import hashlib
import json
import re
from collections import OrderedDict
from collections.abc import AsyncIterator, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain
from typing import Generic, TypeVar

from agent_core.ids import ConversationId
from agent_core.machine import cache_bytes
from agent_core.models.catalog import reads_pdf
from agent_core.models.contract import Fingerprint, ModelRequest, Usage
from agent_core.state.conversations.images import MEDIA_TYPES, is_pdf
from agent_core.transcript import (
    ImagePart,
    Message,
    Part,
    PdfPart,
    RawPart,
    TextPart,
    ToolCallPart,
    ToolSpec,
    dump_parts,
    user_message,
)

T = TypeVar("T")


def make_question(
    model: str, system: str, text: str, *, tools: tuple[ToolSpec, ...] = (), most_tokens: int
) -> ModelRequest:
    """Return the request of a single question, which no conversation continues."""
    return ModelRequest(
        model=model,
        system=system,
        tools=tools,
        messages=(user_message(text),),
        max_output_tokens=most_tokens,
        caches_messages=False,
    )


MOST_IMAGES = 20
"""Images per request; with more, Anthropic accepts only 2,000 pixels per side (vision guide)."""
MOST_BYTES = 15_000_000
"""Bytes of all images in one request. As base64 they take 20 MB; Anthropic allows 32 MB per
request.
"""
MOST_PAGES = 80
"""Pages of all PDF files in one request; Anthropic accepts 100 pages for models with a window of
200,000 tokens (PDF support guide).
"""
IMAGE_TOKENS = 1600
"""Approximate tokens of the largest image; Anthropic scales larger ones down."""
PAGE_TOKENS = 3000
"""Approximate tokens of a page; models get it as text and as a picture (PDF support guide)."""

UNSEEN = "[A picture was sent here that you can't be shown. Say so where it matters.]"
UNSEEN_PDF = "[The PDF file itself can't be shown to you; of it, you see only the text above.]"
REPEATED = "[The same picture as above.]"
REPEATED_PDF = "[The same PDF file as above.]"


def choose(messages: Iterable[Message]) -> tuple[str, ...]:
    """Return the keys of the newest images and PDF files, which a request shows.

    If there are too many, the older half is dropped at once. Then a request with one more image
    nearly always begins with the same bytes, so the provider's cache still works.
    """
    kept: dict[str, tuple[int, int, int]] = {}
    most = (MOST_IMAGES, MOST_BYTES, MOST_PAGES)
    # This runs over the whole transcript before each call, and few messages contain images.
    parts = chain.from_iterable(message.parts for message in messages)
    for part in [part for part in parts if isinstance(part, ImagePart)]:
        pages = part.pages if isinstance(part, PdfPart) else 0
        kept.setdefault(part.file_key, (0 if pages else 1, part.size, pages))
        if not _is_above(kept.values(), most):
            continue
        while len(kept) > 1 and _is_above(kept.values(), [one // 2 for one in most]):
            del kept[next(iter(kept))]
    return tuple(kept)


def _is_above(kept: Iterable[tuple[int, int, int]], most: Iterable[int]) -> bool:
    sums = map(sum, zip(*kept, strict=True))
    return any(size > limit for size, limit in zip(sums, most, strict=True))


def list_shown(model: str, keys: Collection[str], messages: Iterable[Message]) -> Collection[str]:
    """Return the keys, without those of PDF files if the model reads none."""
    if not keys or reads_pdf(model):
        return keys
    parts = (part for message in messages for part in message.images)
    return set(keys) - {part.file_key for part in parts if isinstance(part, PdfPart)}


class ImageSelection:
    """Renders the images and PDF files of one request, each only once."""

    def __init__(self, images: Mapping[str, bytes]) -> None:
        self._images = images
        self._shown: set[str] = set()

    def show(self, part: ImagePart) -> tuple[str, str]:
        """Return (base64, "") for an image that can be shown, else ("", a note)."""
        is_file = isinstance(part, PdfPart)
        data = self._images.get(part.file_key)
        if not data or not (is_file or part.media_type in MEDIA_TYPES):
            return "", UNSEEN_PDF if is_file else UNSEEN
        if part.file_key in self._shown:
            return "", REPEATED_PDF if is_file else REPEATED
        self._shown.add(part.file_key)
        return base64.b64encode(data).decode("ascii"), ""


_MOST_KNOWN = 10_000
_STATUSES = (400, 404, 415, 422, 500, 501)
"""Statuses with which servers refuse images; llama.cpp sends 500, OpenRouter 404."""
_TOO_LARGE = 413
_ABOUT_IMAGES = re.compile(
    "image|vision|multimodal|multi-modal|content must be a string|pdf|'file'|invalid file"
)


def is_about_images(status: int, said: str) -> bool:
    """True if a failed request with images probably failed because of them."""
    return status == _TOO_LARGE or (
        status in _STATUSES and _ABOUT_IMAGES.search(said.lower()) is not None
    )


class ImageSupport:
    """Remembers which images each model accepted and refused, in memory.

    An image stays in the transcript, so a refused one would make every later request fail.
    """

    def __init__(self) -> None:
        self._taken: dict[tuple[str, str], None] = {}
        self._refused: dict[tuple[str, str], None] = {}

    def spare(self, request: ModelRequest) -> ModelRequest:
        """Return the request without images that its model refused, and without unreadable files.

        A PDF file is sent only to models that can read it according to the table.
        """
        reads = not request.images or reads_pdf(request.model)
        kept = {
            key: data
            for key, data in request.images.items()
            if (request.model, key) not in self._refused and (reads or not is_pdf(data))
        }
        return request if len(kept) == len(request.images) else replace(request, images=kept)

    def take(self, request: ModelRequest) -> None:
        """Record that the model accepted a request."""
        _note(self._taken, ((request.model, key) for key in request.images))

    def refuse(self, request: ModelRequest) -> None:
        """Record that the model refused a request because of an image.

        The error doesn't name the image. Images accepted before are suspected only if all of them
        were.
        """
        names = [(request.model, key) for key in request.images]
        _note(self._refused, [name for name in names if name not in self._taken] or names)


def _note(known: dict[tuple[str, str], None], names: Iterable[tuple[str, str]]) -> None:
    for name in names:
        known[name] = None
        if len(known) > _MOST_KNOWN:
            del known[next(iter(known))]


LARGE = 1_000_000
"""Bytes above which aiohttp warns about a body in one piece."""
_PIECE = 256 * 1024


class ChunkedBody:
    """A body as an async iterable. The caller must set its length in a header."""

    def __init__(self, payload: bytes) -> None:
        self._payload = payload

    async def __aiter__(self) -> AsyncIterator[bytes]:
        view = memoryview(self._payload)
        for start in range(0, len(view), _PIECE):
            yield bytes(view[start : start + _PIECE])


def chunk_large(payload: bytes) -> bytes | ChunkedBody:
    """Return a small body unchanged, a large one in pieces."""
    return payload if len(payload) <= LARGE else ChunkedBody(payload)


_EIGHTHS = 8
"""Tokens are summed in eighths: a character counts two eighths, so four characters are a token."""
_EXTRA = 3
"""Eighths for each further UTF-8 byte of a character. A three-byte Chinese character counts as a
token, a two-byte Cyrillic one as five eighths.
"""


def estimate_usage(request: ModelRequest, answer: Message) -> Usage:
    """Estimate the usage of a call without any caching."""
    return Usage(
        input_tokens=estimate_input(request),
        output_tokens=estimate_messages((answer,), ()),
    )


def estimate_input(request: ModelRequest) -> int:
    """Estimate the input tokens of a request."""
    sent = _measure_frozen(request.system, request.tools)
    shown = list_shown(request.model, request.images.keys(), request.messages)
    sent += _measure(request.messages, shown)
    return -(-sent // _EIGHTHS)


def estimate_messages(messages: Iterable[Message], shown: Collection[str]) -> int:
    """Estimate the tokens of messages; `shown` are the keys of the images that are sent."""
    return -(-_measure(messages, shown) // _EIGHTHS)


@lru_cache(maxsize=64)
def _measure_frozen(system: str, tools: tuple[ToolSpec, ...]) -> int:
    """Return the eighths of tokens in the parts that every call of a conversation repeats."""
    return _size(system) + sum(
        _size(tool.name) + _size(tool.description) + _size(tool.schema) for tool in tools
    )


def _measure(messages: Iterable[Message], shown: Collection[str]) -> int:
    """Return the eighths of tokens in messages.

    Text is checked first, because this runs over the whole transcript before every call.
    """
    size = 0
    for message in messages:
        for part in message.parts:
            if type(part) is TextPart:
                text = part.text
                size += 2 * len(text) if text.isascii() else _size(text)
            else:
                size += _length(part, shown)
    return size


def _length(part: Part, shown: Collection[str]) -> int:
    if isinstance(part, PdfPart):
        return part.pages * PAGE_TOKENS * _EIGHTHS if part.file_key in shown else _size(UNSEEN_PDF)
    if isinstance(part, ImagePart):
        return IMAGE_TOKENS * _EIGHTHS if part.file_key in shown else _size(UNSEEN)
    if isinstance(part, ToolCallPart):
        return _size(part.name) + _size(part.arguments)
    if isinstance(part, RawPart):
        return _size(part.payload)
    return _size(part.text) + (0 if isinstance(part, TextPart) else _size(part.name))


def _size(text: str) -> int:
    size = 2 * len(text)
    if text.isascii():
        return size
    return size + _EXTRA * (len(text.encode(errors="surrogatepass")) - len(text))


@dataclass(frozen=True, slots=True)
class _Kept(Generic[T]):
    messages: tuple[Message, ...]
    found: T
    weight: int


class PrefixCache(Generic[T]):
    """Values computed for beginnings of transcripts; drops the least recently used ones first.

    A key should identify a conversation. Two conversations with the same key only cost time.
    """

    def __init__(self, most_weight: int | None = None) -> None:
        """`most_weight` is in approximate bytes over all conversations; by default, it follows the
        machine's memory.
        """
        self._most = cache_bytes() if most_weight is None else most_weight
        self.weight = 0
        """Approximate bytes kept now."""
        self._known: OrderedDict[Hashable, _Kept[T]] = OrderedDict()

    def take(self, key: Hashable, messages: tuple[Message, ...]) -> tuple[int, T] | None:
        """Remove and return the value for a known beginning, with its number of messages.

        Returns None for an unknown conversation, or if its beginning has changed.
        """
        kept = self._known.pop(key, None)
        if kept is None:
            return None
        self.weight -= kept.weight
        count = len(kept.messages)
        # Known messages are the same objects, so this only compares pointers.
        return (count, kept.found) if messages[:count] == kept.messages else None

    def keep(self, key: Hashable, messages: tuple[Message, ...], found: T, weight: int) -> None:
        """Keep a value for a conversation that begins with these messages."""
        self._known[key] = _Kept(messages, found, weight)
        self.weight += weight
        while self.weight > self._most:
            _, dropped = self._known.popitem(last=False)
            self.weight -= dropped.weight


_ENCODE = json.JSONEncoder(separators=(",", ":")).encode
_MESSAGE_BYTES = 500
"""Bytes of a message besides its text."""


class Digest:
    """SHA-256 over a growing transcript; each message is hashed once."""

    def __init__(self) -> None:
        self._state = hashlib.sha256()

    def add(self, message: Message) -> int:
        """Add the next message; returns its length in bytes."""
        # JSON text contains no line breaks, so two different transcripts never give the same bytes.
        line = f"{message.role}\n{dump_parts(message.parts)}\n".encode(errors="surrogatepass")
        self._state.update(line)
        return len(line)

    def fork(self) -> "Digest":
        """Return a copy that grows independently."""
        copy = Digest()
        copy._state = self._state.copy()
        return copy

    def seal(self, prompt_hash: str, asked: tuple[str, int], shown: Iterable[str]) -> Fingerprint:
        """Return the fingerprint of a request with the transcript so far.

        The transcript may continue to grow. `asked` is the model and its output limit; `shown` are
        the keys of the images sent.
        """
        model, limit = asked
        rest = _ENCODE([prompt_hash, model, limit, sorted(shown)])
        state = self._state.copy()
        state.update(rest.encode())
        return Fingerprint(hash=state.hexdigest(), model=model, output_limit=limit)


class Fingerprints:
    """Computes the fingerprints of calls; hashes only the new messages of a conversation."""

    def __init__(self) -> None:
        self._digests: PrefixCache[tuple[Digest, int]] = PrefixCache()

    def take(
        self,
        conversation_id: ConversationId,
        prompt_hash: str,
        request: ModelRequest,
        last: Sequence[Message] = (),
    ) -> Fingerprint:
        """Return the fingerprint of a conversation's next request, which ends with `last`.

        Only the request's own messages are kept, so requests may differ in `last` at little cost.
        """
        messages = request.messages
        known = self._digests.take(conversation_id, messages)
        count, (digest, weight) = known or (0, (Digest(), 0))
        for message in messages[count:]:
            weight += _MESSAGE_BYTES + digest.add(message)
        self._digests.keep(conversation_id, messages, (digest, weight), weight)
        if last:
            digest = digest.fork()
            for message in last:
                digest.add(message)
        asked = (request.model, request.max_output_tokens)
        return digest.seal(prompt_hash, asked, request.images)
