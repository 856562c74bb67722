"""Gives model requests their fingerprints, so that what was sent can be proved later."""

import hashlib
import json
from collections import OrderedDict
from collections.abc import Iterable, Sequence

from agent_core.ids import ConversationId
from agent_core.models.contract import Fingerprint, ModelRequest
from agent_core.transcript import Message, dump_parts

_MOST_WEIGHT = 16_000_000
"""Bytes, about, of the transcripts that are kept to recognise them by, over all talks."""
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
        rest = json.dumps([prompt_hash, model, limit, sorted(shown)], separators=(",", ":"))
        state = self._state.copy()
        state.update(rest.encode())
        return Fingerprint(hash=state.hexdigest(), model=model, output_limit=limit)


class _Known:
    """What a talk's last request held, and the digest up to there."""

    def __init__(self) -> None:
        self.messages: Sequence[Message] = ()
        self.digest = Digest()
        self.weight = 0


class Fingerprints:
    """Takes the fingerprints of all calls, and recognises what was digested before.

    A request mostly is the talk's last one and what came since: only that is digested.
    """

    def __init__(self, most_weight: int = _MOST_WEIGHT) -> None:
        self._most = most_weight
        self._weight = 0
        self._talks: OrderedDict[ConversationId, _Known] = OrderedDict()

    def take(self, talk: ConversationId, prompt_hash: str, request: ModelRequest) -> Fingerprint:
        """The fingerprint of a request that is about to be made in a talk."""
        known = self._talks.pop(talk, None) or _Known()
        self._weight -= known.weight
        messages = request.messages
        # Messages that were there before are the same objects: this compares pointers.
        if messages[: len(known.messages)] != known.messages:
            known = _Known()
        for message in messages[len(known.messages) :]:
            known.weight += _OBJECTS + known.digest.add(message)
        known.messages = messages
        self._talks[talk] = known
        self._weight += known.weight
        while self._weight > self._most:
            _, dropped = self._talks.popitem(last=False)
            self._weight -= dropped.weight
        asked = (request.model, request.max_output_tokens)
        return known.digest.seal(prompt_hash, asked, request.images)
