"""Finds messages of unknown delivery in a channel's history, and downloads attachments."""

from collections.abc import Iterable, Sequence

from adapters.discord.api import Api
from adapters.discord.errors import ChannelUnknown
from adapters.discord.payloads import answered_by
from adapters.discord.places import channel_of
from adapters.discord.receive import NO_MESSAGE, snapshots
from adapters.discord.render import render
from adapters.discord.session import Expired
from adapters.discord.snowflakes import is_snowflake
from adapters.errors import ChatGone, FileTooLarge, MessageGone, Rejected, Unsure
from adapters.messages import Attachment, OutboundMessage
from adapters.toolkit.caches import BoundedDict
from adapters.toolkit.text import Json, inside, parts, words_in

_GONE = "The file is no longer on Discord."


async def fetch(api: Api, attachment: Attachment, *, most_bytes: int) -> bytes:
    """Download a file. Raises `Rejected` if it is too large or gone, and `AdapterError`."""
    channel_id, message_id, file_id, url = (*attachment.file_id.split("/", 3), "", "", "")[:4]
    if not url:
        raise Rejected("The attachment has no address.")
    if attachment.size is not None and attachment.size > most_bytes:
        raise _too_large(most_bytes)
    try:
        found = await api.download(url, most_bytes=most_bytes)
    except Expired:
        fresh = await _refresh_url(api, channel_id, message_id, file_id)
        try:
            found = await api.download(fresh, most_bytes=most_bytes)
        except Expired:
            raise Rejected(_GONE) from None
    if found is None:
        raise _too_large(most_bytes)
    return found


async def _refresh_url(api: Api, channel_id: str, message_id: str, file_id: str) -> str:
    try:
        message = await api.fetch_message(channel_id, message_id)
    except (MessageGone, ChatGone):
        raise Rejected(_GONE) from None
    for content in (message, *snapshots(message)):
        for file in parts(content, "attachments"):
            if file.get("id") == file_id:
                return words_in(file, "url")
    raise Rejected(_GONE)


def _too_large(most_bytes: int) -> FileTooLarge:
    text = f"The file is larger than {most_bytes / 1_048_576:.3g} MB."
    return FileTooLarge(text, most_bytes=most_bytes)


_MOST_PAGES = 10
_REMEMBERED = 4096


class RecentIds:
    """The newest message ids seen, by channel."""

    def __init__(self) -> None:
        self._newest: BoundedDict[str, int] = BoundedDict(_REMEMBERED)

    def note(self, channel: str, message_id: str) -> None:
        """Record a message id; ignores invalid ones."""
        if not is_snowflake(message_id):
            return
        self._newest.put(channel, max(int(message_id), self._newest.get(channel) or 0))

    def newest(self, channel: str) -> str | None:
        """Return the newest id of a channel, None if none was seen."""
        found = self._newest.get(channel)
        return str(found) if found else None


async def find(api: Api, message: OutboundMessage, known: Sequence[str]) -> str | None:
    """Return the message's id, or None if it certainly does not exist. Raises `AdapterError`.

    Discord does not return nonces later, so author, text, file and reply identify a message. After
    an id from before the send, only this message can match. Without such an id, an equal older
    message may match, so `find` raises `Unsure`. Within some minutes, the nonce makes a repeat
    harmless.
    """
    channel = channel_of(message.address)
    ids = [one.removeprefix(NO_MESSAGE) for one in known]
    ids = [one for one in ids if one.isascii() and one.isdecimal()]
    try:
        if not ids:
            if _pick(await api.read_newest(channel), message, api.bot) is None:
                return None
            raise Unsure("A message like this one is there, but it may be an older one.")
        pages = 0
        async for page in api.read_history(channel, max(ids, key=int)):
            found = _pick(page, message, api.bot)
            if found is not None:
                return found
            pages += 1
            if pages == _MOST_PAGES:
                raise Unsure("Too many messages were written meanwhile to look through all.")
    except ChannelUnknown:
        if message.address.thread_id is None:
            raise
    return None


def _pick(page: Iterable[Json], message: OutboundMessage, bot: str) -> str | None:
    content = render(message.text)
    files = [message.file.name] if message.file else []
    answered = answered_by(message)
    for one in page:
        reference = inside(one, "message_reference").get("message_id")
        if (
            inside(one, "author").get("id") == bot
            and str(one.get("content", "")).strip() == content
            and [file.get("filename") for file in parts(one, "attachments")] == files
            and reference in (answered, None)  # the answered message may no longer exist
        ):
            return str(one["id"])
    return None
