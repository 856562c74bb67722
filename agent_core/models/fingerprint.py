"""Fingerprint model requests, to prove later what was sent."""

import hashlib
import json
from collections import OrderedDict
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

from agent_core.ids import ConversationId
from agent_core.models.contract import Fingerprint, ModelRequest
from agent_core.transcript import Message, dump_parts

T = TypeVar("T")

_MOST_WEIGHT = 16_000_000
"""Approximate bytes of the messages and values kept over all conversations."""


@dataclass(frozen=True, slots=True)
class _Kept(Generic[T]):
    messages: tuple[Message, ...]
    found: T
    weight: int


class PrefixCache(Generic[T]):
    """Values computed for the beginnings of transcripts, least recently used first out.

    A key mostly identifies a conversation; two that share a key only cost time.
    """

    def __init__(self, most_weight: int = _MOST_WEIGHT) -> None:
        self._most = most_weight
        self.weight = 0
        """Approximate bytes kept now."""
        self._known: OrderedDict[Hashable, _Kept[T]] = OrderedDict()

    def take(self, key: Hashable, messages: tuple[Message, ...]) -> tuple[int, T] | None:
        """Remove and return the value for the longest known beginning, with its number of messages.

        None for an unknown conversation, or one that no longer begins as it did.
        """
        kept = self._known.pop(key, None)
        if kept is None:
            return None
        self.weight -= kept.weight
        count = len(kept.messages)
        # Messages that were there before are the same objects: this compares pointers.
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
"""Bytes that a message takes besides its text."""


class Digest:
    """SHA-256 over a growing transcript; each message is hashed once."""

    def __init__(self) -> None:
        self._state = hashlib.sha256()

    def add(self, message: Message) -> int:
        """Add the next message; returns its length in bytes."""
        # JSON text holds no line break of its own, so no two transcripts make the same bytes.
        line = f"{message.role}\n{dump_parts(message.parts)}\n".encode(errors="surrogatepass")
        self._state.update(line)
        return len(line)

    def seal(self, prompt_hash: str, asked: tuple[str, int], shown: Iterable[str]) -> Fingerprint:
        """The fingerprint of a request with the transcript so far, which may continue to grow.

        `asked` is the model and its output limit, `shown` the keys of the images sent.
        """
        model, limit = asked
        rest = _ENCODE([prompt_hash, model, limit, sorted(shown)])
        state = self._state.copy()
        state.update(rest.encode())
        return Fingerprint(hash=state.hexdigest(), model=model, output_limit=limit)


class Fingerprints:
    """Computes the fingerprints of calls; only new messages of a conversation are hashed."""

    def __init__(self) -> None:
        self._digests: PrefixCache[tuple[Digest, int]] = PrefixCache()

    def take(
        self, conversation_id: ConversationId, prompt_hash: str, request: ModelRequest
    ) -> Fingerprint:
        """The fingerprint of the next request of a conversation."""
        messages = request.messages
        known = self._digests.take(conversation_id, messages)
        count, (digest, weight) = known or (0, (Digest(), 0))
        for message in messages[count:]:
            weight += _MESSAGE_BYTES + digest.add(message)
        self._digests.keep(conversation_id, messages, (digest, weight), weight)
        asked = (request.model, request.max_output_tokens)
        return digest.seal(prompt_hash, asked, request.images)
