"""Fingerprints of requests."""

import hashlib
import json
from collections.abc import Iterable, Sequence

from agent_core.ids import ConversationId
from agent_core.models.contract import Fingerprint, ModelRequest
from agent_core.models.prefix_cache import PrefixCache
from agent_core.models.shapes import find_shape
from agent_core.transcript import Message, dump_parts

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

    def seal(
        self, prompt_hash: str, asked: tuple[str, int], shown: Iterable[str], shape: str = ""
    ) -> Fingerprint:
        """Return the fingerprint of a request with the transcript so far.

        The transcript may continue to grow. `asked` is the model and its output limit; `shown` are
        the keys of the images sent; `shape` is what else shapes its bytes.
        """
        model, limit = asked
        rest = [prompt_hash, model, limit, sorted(shown), *([shape] if shape else ())]
        state = self._state.copy()
        state.update(_ENCODE(rest).encode())
        return Fingerprint(hash=state.hexdigest(), model=model, output_limit=limit, shape=shape)


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
        return digest.seal(prompt_hash, asked, request.images, find_shape(request))
