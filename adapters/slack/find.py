"""Looks in histories for a message of ours that got no answer."""

import re
from collections.abc import Sequence

from adapters.errors import Rejected, Unsure
from adapters.messages import OutboundMessage
from adapters.slack.api import Api, Spot
from adapters.slack.events import Me
from adapters.slack.render import key_in
from adapters.slack.stamps import is_ts
from adapters.untrusted import Json, parts, words_in

_MOST_PAGES = 50
_LETTERS = re.compile(r"[\W_]+")


async def find(
    api: Api, me: Me, message: OutboundMessage, spot: Spot, known: Sequence[str]
) -> str | None:
    """The ts of the message, None if it surely is not there.

    Every post carries its key, and histories tell it. A stream carries none until it is
    stopped, therefore one is known by its words; and a file by its name and size. Raises
    `Unsure` when there is too much to look through, and any other `AdapterError`.
    """
    after = max((ts for ts in known if is_ts(ts)), default="0")
    pages = 0
    try:
        async for page in api.pages(spot, after=after, with_metadata=True):
            for shown in page:
                ts = words_in(shown, "ts")
                if ts > after and _is_ours(shown, me) and _is_it(shown, message):
                    return ts
            pages += 1
            if pages == _MOST_PAGES:
                raise Unsure("Too much was said meanwhile to look through all of it.")
    except (Rejected, ValueError) as error:
        raise Unsure(f"Slack does not let us look there: {error}") from error
    return None


def _is_ours(shown: Json, me: Me) -> bool:
    return shown.get("user") == me.user_id or (bool(me.bot_id) and shown.get("bot_id") == me.bot_id)


def _is_it(shown: Json, message: OutboundMessage) -> bool:
    key = key_in(shown)
    if key is not None:
        return key == message.key
    if message.file is not None:
        named = (message.file.name, len(message.file.data))
        return named in [(file.get("name"), file.get("size")) for file in parts(shown, "files")]
    words = _letters(words_in(shown, "text"))
    return not shown.get("files") and words == _letters(message.text)


def _letters(text: str) -> str:
    """The words without markup, which Slack gives back in another form."""
    return _LETTERS.sub("", text)
