"""Gives model requests their fingerprints, so that what was sent can be proved later."""

import hashlib
import json
from collections.abc import Iterable

from agent_core.ids import ConversationId
from agent_core.models.beginnings import Beginnings
from agent_core.models.contract import Fingerprint, ModelRequest
from agent_core.transcript import Message, dump_parts

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
        self._digests: Beginnings[tuple[Digest, int]] = Beginnings()

    def take(self, talk: ConversationId, prompt_hash: str, request: ModelRequest) -> Fingerprint:
        """The fingerprint of a request that is about to be made in a talk."""
        messages = request.messages
        count, (digest, weight) = self._digests.take(talk, messages) or (0, (Digest(), 0))
        for message in messages[count:]:
            weight += _OBJECTS + digest.add(message)
        self._digests.keep(talk, messages, (digest, weight), weight)
        asked = (request.model, request.max_output_tokens)
        return digest.seal(prompt_hash, asked, request.images)
