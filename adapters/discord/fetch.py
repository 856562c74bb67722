"""Gets what was attached to a message; addresses of files run out and are asked for anew."""

from adapters.discord.api import Api
from adapters.discord.media import snapshots
from adapters.discord.wire import Expired
from adapters.errors import ChatGone, MessageGone, Rejected
from adapters.messages import Attachment
from adapters.untrusted import parts, words_in

_GONE = "The file is no longer on Discord."


async def fetch(api: Api, attachment: Attachment, *, most_bytes: int) -> bytes:
    """The file. Raises `Rejected` with a sentence if it is too large or gone, `AdapterError`."""
    channel_id, message_id, file_id, url = (*attachment.file_id.split("/", 3), "", "", "")[:4]
    if not url:
        raise Rejected("There is no file to it.")
    if attachment.size is not None and attachment.size > most_bytes:
        raise Rejected(_too_large(most_bytes))
    try:
        found = await api.download(url, most_bytes=most_bytes)
    except Expired:
        fresh = await _ask_anew(api, channel_id, message_id, file_id)
        try:
            found = await api.download(fresh, most_bytes=most_bytes)
        except Expired:
            raise Rejected(_GONE) from None
    if found is None:
        raise Rejected(_too_large(most_bytes))
    return found


async def _ask_anew(api: Api, channel_id: str, message_id: str, file_id: str) -> str:
    try:
        message = await api.fetch_message(channel_id, message_id)
    except (MessageGone, ChatGone):
        raise Rejected(_GONE) from None
    for content in (message, *snapshots(message)):
        for file in parts(content, "attachments"):
            if file.get("id") == file_id:
                return words_in(file, "url")
    raise Rejected(_GONE)


def _too_large(most_bytes: int) -> str:
    return f"The file is larger than {most_bytes / 1_048_576:.3g} MB, which is the most I read."
