"""Find in a person's words what they ask to be changed.

People ask in few ways and models claim in thousands. So an open wish is the first sign of a false
claim: it must be met, or the answer must say so or ask.
"""

import re
from collections.abc import Sequence
from functools import lru_cache

from agent_core.agent.claims.sentences import split
from agent_core.tools.own_words.wishes import asks_for_change, has_task, skip_task
from agent_core.transcript import Message

_LONGEST = 400
"""Characters of a message that may be a wish; a longer one quotes something."""
_LONGEST_REPLY = 80
_GIVES_UP = re.compile(
    r"^\W*(?:no|nope|never ?mind|forget it|cancel|stop|leave it|thanks|thank you|nein|nee|egal"
    r"|lass|doch nicht|abbrechen|vergiss|danke|no gracias|non|não|nee|nie|нет)\b",
    re.IGNORECASE,
)


@lru_cache(maxsize=256)
def read_wish(text: str) -> str:
    """Return the sentence in which a person asks for a change; "" if there is none.

    Cached, because each sentence of an answer asks for it.
    """
    if len(text) > _LONGEST:
        return ""
    is_task = has_task(text)
    for one in split(text):
        if asks_for_change(skip_task(one.words) if is_task else one.words):
            return text[one.start : one.end].strip()
    return ""


def find_open_wish(messages: Sequence[Message], at: int) -> str:
    """Return what the person asked for with the message there, or before a question about it.

    A wish that was met or answered otherwise since is not open.
    """
    said = messages[at].text
    if wish := read_wish(said):
        return wish
    is_reply = at > 0 and len(said) <= _LONGEST_REPLY and "?" not in said
    if not is_reply or _GIVES_UP.search(said):
        return ""
    asked = messages[at - 1]
    if asked.role != "assistant" or asked.calls or not asked.text.rstrip().endswith(("?", "？")):
        return ""
    before = messages[at - 2] if at > 1 else None
    return read_wish(before.text) if before and before.role == "user" else ""
