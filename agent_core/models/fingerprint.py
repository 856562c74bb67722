"""Gives model requests their fingerprints, so that what was sent can be proved later."""

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
"""Bytes, about, of the messages and whatever is kept with them, over all talks."""


@dataclass(frozen=True, slots=True)
class _Kept(Generic[T]):
    messages: tuple[Message, ...]
    found: T
    weight: int


class PrefixCache(Generic[T]):
    """What is known of talks by the messages they begin with; those used last are kept.

    A key is anything that mostly tells talks apart: two that share one cost each other time,
    and nothing else.
    """

    def __init__(self, most_weight: int = _MOST_WEIGHT) -> None:
        self._most = most_weight
        self.weight = 0
        """Bytes, about, that are kept now."""
        self._talks: OrderedDict[Hashable, _Kept[T]] = OrderedDict()

    def take(self, key: Hashable, messages: tuple[Message, ...]) -> tuple[int, T] | None:
        """How many of these messages something is known of, and what; it is kept no longer.

        None where the talk is new, or does not begin any more as it did.
        """
        kept = self._talks.pop(key, None)
        if kept is None:
            return None
        self.weight -= kept.weight
        count = len(kept.messages)
        # Messages that were there before are the same objects: this compares pointers.
        return (count, kept.found) if messages[:count] == kept.messages else None

    def keep(self, key: Hashable, messages: tuple[Message, ...], found: T, weight: int) -> None:
        """Keep what was found out about a talk that begins with these messages."""
        self._talks[key] = _Kept(messages, found, weight)
        self.weight += weight
        while self.weight > self._most:
            _, dropped = self._talks.popitem(last=False)
            self.weight -= dropped.weight


_ENCODE = json.JSONEncoder(separators=(",", ":")).encode
_OBJECTS = 500
"""Bytes that a message takes besides its words."""


class Digest:
    """SHA-256 over a growing transcript. A message costs its own length, once."""

    def __init__(self) -> None:
        self._state = hashlib.sha256()

    def add(self, message: Message) -> int:
        """Take in the next message; gives its length in bytes."""
        # JSON text holds no line break of its own, so no two transcripts make the same bytes.
        line = f"{message.role}\n{dump_parts(message.parts)}\n".encode(errors="surrogatepass")
        self._state.update(line)
        return len(line)

    def seal(self, prompt_hash: str, asked: tuple[str, int], shown: Iterable[str]) -> Fingerprint:
        """The fingerprint of a request with this transcript, which may go on growing.

        `prompt_hash` is that of its frozen prompt, `asked` the model and the most tokens of
        the answer, `shown` the keys of the pictures whose bytes are sent.
        """
        model, limit = asked
        rest = _ENCODE([prompt_hash, model, limit, sorted(shown)])
        state = self._state.copy()
        state.update(rest.encode())
        return Fingerprint(hash=state.hexdigest(), model=model, output_limit=limit)


class Fingerprints:
    """Takes the fingerprints of all calls.

    A request mostly is the talk's last one and what came since: only that is digested.
    """

    def __init__(self) -> None:
        self._digests: PrefixCache[tuple[Digest, int]] = PrefixCache()

    def take(self, talk: ConversationId, prompt_hash: str, request: ModelRequest) -> Fingerprint:
        """The fingerprint of a request that is about to be made in a talk."""
        messages = request.messages
        count, (digest, weight) = self._digests.take(talk, messages) or (0, (Digest(), 0))
        for message in messages[count:]:
            weight += _OBJECTS + digest.add(message)
        self._digests.keep(talk, messages, (digest, weight), weight)
        asked = (request.model, request.max_output_tokens)
        return digest.seal(prompt_hash, asked, request.images)
