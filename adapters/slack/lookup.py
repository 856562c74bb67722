"""Finds messages of unknown delivery, counts members, and answers where the bot is no member."""

import re
from collections.abc import Sequence

from adapters.errors import ChatGone, Rejected, Unsure
from adapters.ids import PlatformMessageId
from adapters.messages import OutboundMessage
from adapters.slack.api import Api, SlackPlace
from adapters.slack.events import BotIdentity
from adapters.slack.places import is_ts, read_ticket
from adapters.slack.render import key_in, whisper_of
from adapters.toolkit.caches import BoundedDict, MemberCounts
from adapters.toolkit.text import Json, parts, words_in

_MOST_PAGES = 50
_LETTERS = re.compile(r"[\W_]+")


async def find(
    api: Api, me: BotIdentity, message: OutboundMessage, place: SlackPlace, known: Sequence[str]
) -> str | None:
    """Return the message's ts, or None if the message certainly does not exist.

    Every post carries its key, which histories return. A stream has no key until it stops, so its
    text identifies it. A file's name and size identify a file. Raises `Unsure` if there is too much
    to search, and any other `AdapterError`.
    """
    after = max((ts for ts in known if is_ts(ts)), default="0")
    pages = 0
    try:
        async for page in api.pages(place, after=after, with_metadata=True):
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


def _is_ours(shown: Json, me: BotIdentity) -> bool:
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
    """Return the text without markup, because Slack returns markup in another form."""
    return _LETTERS.sub("", text)


_KEEPS = 30.0


class ChannelMembers:
    """Member counts of the last half minute, for channels with several people."""

    def __init__(self, api: Api) -> None:
        self._api = api
        self._counts = MemberCounts(_KEEPS)

    async def count(self, channel: str) -> int | None:
        """Count the people besides the bot; None if Slack does not tell. Raises `AdapterError`."""
        return await self._counts.count(channel, lambda: self._ask(channel))

    async def _ask(self, channel: str) -> int | None:
        try:
            room = await self._api.fetch_room(channel)
            members = room.get("num_members")
            if room.get("is_mpim") or not isinstance(members, int):
                members = await self._api.count_members(channel)
        except (ChatGone, Rejected):
            return None
        # The bot is counted only if it is a member; a command may come from another channel.
        people = max(members - (room.get("is_member") is not False), 0)
        # Everybody in the workspace can read a public channel, member or not.
        is_closed = any(room.get(kind) for kind in ("is_private", "is_mpim", "is_im"))
        return people if is_closed or people > 1 else None


_MARK = "ticket:"
_GONE = (
    "The answer could not be shown: a command's answer has to come within 30 minutes where the "
    "bot is not a member. Invite it to the channel, or write to it directly."
)


def is_whisper(message_id: str) -> bool:
    """Return True for an ephemeral message, which can no longer be changed."""
    return message_id.startswith(_MARK)


class EphemeralAnswers:
    """Ephemeral answers to a command.

    Slack accepts five per command and no edits, so a growing answer appears only once it is
    complete.
    """

    def __init__(self, api: Api) -> None:
        self._api = api
        self._said: BoundedDict[str, None] = BoundedDict()

    async def send(self, message: OutboundMessage, ticket: str) -> PlatformMessageId:
        """Send an ephemeral message; an incomplete answer waits. Raises `AdapterError`."""
        message_id = PlatformMessageId(_MARK + message.key)
        if not message.is_live and message.key not in self._said:
            try:
                await self._api.answer(read_ticket(ticket)[0], whisper_of(message))
            except ChatGone as error:
                raise ChatGone(_GONE) from error
            self._said.put(message.key, None)
        return message_id
