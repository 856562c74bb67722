"""Attachments of a Discord message; pure."""

from adapters.discord.snowflakes import id_in
from adapters.messages import Attachment
from adapters.toolkit import Json, inside, kind_of, number_in, part, parts, plain_name, words_in

IS_VOICE = 1 << 13
"""Flag of a voice message (Discord API, message flags)."""

_STICKERS = {1: ("png", "image/png"), 2: ("png", "image/png"), 4: ("gif", "image/gif")}
"""Sticker formats that are images; the others are animations (Lottie)."""


def read_attachments(message: Json, channel_id: str, message_id: str) -> tuple[Attachment, ...]:
    """Return the attachments of a message and of messages forwarded in it. Raises `ValueError`.

    `channel_id` and `message_id` allow fetching a fresh address when one has expired.
    """
    place = f"{channel_id}/{message_id}"
    found: list[Attachment] = []
    for content in (message, *snapshots(message)):
        is_voice = bool(number_in(content, "flags", default=0) & IS_VOICE)
        found += [_file(file, place, is_voice) for file in parts(content, "attachments")]
        found += [_sticker(sticker, place) for sticker in parts(content, "sticker_items")]
        poll = part(content, "poll")
        if poll is not None:
            question = words_in(inside(poll, "question"), "text")
            found.append(Attachment(kind="other", file_id="", name=plain_name(f"poll: {question}")))
    return tuple(found)


def snapshots(message: Json) -> list[Json]:
    """Return the forwarded messages in a message. Raises `ValueError`."""
    return [inside(item, "message") for item in parts(message, "message_snapshots")]


def _file(file: Json, place: str, is_voice: bool) -> Attachment:
    media_type = words_in(file, "content_type").partition(";")[0].strip().lower()
    return Attachment(
        kind="voice" if is_voice else kind_of(media_type),
        file_id=f"{place}/{id_in(file, 'id')}/{words_in(file, 'url')}",
        name=plain_name(words_in(file, "filename")) or None,
        media_type=media_type or None,
        size=number_in(file, "size", default=0) if "size" in file else None,
    )


def _sticker(sticker: Json, place: str) -> Attachment:
    sticker_id = id_in(sticker, "id")
    name = plain_name(words_in(sticker, "name")) or None
    known = _STICKERS.get(number_in(sticker, "format_type", default=0))
    if known is None:
        return Attachment(kind="sticker", file_id="", name=name)
    ending, media_type = known
    return Attachment(
        kind="sticker",
        file_id=f"{place}/{sticker_id}/https://media.discordapp.net/stickers/{sticker_id}.{ending}",
        name=name,
        media_type=media_type,
    )
