"""Names and attachments of a Telegram message; pure."""

from collections.abc import Sequence

from adapters.messages import Attachment, AttachmentKind
from adapters.toolkit import (
    Json,
    join_around_name,
    kind_of,
    number_in,
    part,
    parts,
    plain_name,
    plain_text,
    text_in,
    words_in,
)


def name_of(author: Json) -> str:
    """Return the display name of a user or chat, or its number if no name is readable."""
    own = words_in(author, "first_name") + " " + words_in(author, "last_name")
    return (
        plain_name(own)
        or plain_name(words_in(author, "title"))
        or f"user {author.get('id', 'unknown')}"
    )


def slice_of(text: str, start: int, length: int) -> str:
    """Return a slice of a text by UTF-16 units, as Telegram's entities measure it."""
    if start < 0 or length < 0:
        raise ValueError("an entity with a negative place")
    units = text.encode("utf-16-le", "surrogatepass")
    return units[2 * start : 2 * (start + length)].decode("utf-16-le", "replace")


def cut(text: str, stretches: Sequence[tuple[int, int]]) -> str:
    """Remove slices given in UTF-16 units, together with the gaps they leave."""
    if not stretches:
        return plain_text(text)
    units = text.encode("utf-16-le", "surrogatepass")
    kept: list[str] = []
    at = 0
    for start, length in sorted(stretches):
        kept.append(units[2 * at : 2 * start].decode("utf-16-le", "surrogatepass"))
        at = max(at, start + length)
    kept.append(units[2 * at :].decode("utf-16-le", "surrogatepass"))
    return plain_text(join_around_name(kept)).strip()


_FILES: tuple[tuple[str, AttachmentKind, str | None], ...] = (
    ("voice", "voice", "audio/ogg"),
    ("audio", "audio", None),
    ("video", "video", "video/mp4"),
    ("video_note", "video", "video/mp4"),
    ("animation", "video", "video/mp4"),
    ("live_photo", "video", "video/mp4"),
    ("document", "document", None),
)
_NAMED_BY = (("venue", "title"), ("poll", "question"), ("game", "title"), ("checklist", "title"))


def read_attachments(message: Json) -> tuple[Attachment, ...]:
    """Return a message's attachments, at most one per kind. Raises `ValueError`."""
    found: list[Attachment] = []
    photo = parts(message, "photo")
    if photo:
        largest = max(photo, key=lambda size: number_in(size, "width"))
        found.append(_file(largest, "image", "image/jpeg"))
    for key, kind, media_type in _FILES:
        file = part(message, key)
        # An animation comes as a document as well, for programs that know no animations.
        if file is not None and not (key == "document" and "animation" in message):
            found.append(_file(file, kind, media_type))
    sticker = part(message, "sticker")
    if sticker is not None:
        found.append(_sticker(sticker))
    description = _describe(message)
    if description is not None:
        found.append(Attachment(kind="other", file_id="", name=plain_name(description)))
    return tuple(found)


def _file(file: Json, kind: AttachmentKind, media_type: str | None) -> Attachment:
    media_type = words_in(file, "mime_type") or media_type
    if kind == "document":
        kind = kind_of(media_type)
    name = words_in(file, "file_name") or words_in(file, "title")
    return Attachment(
        kind=kind,
        file_id=text_in(file, "file_id"),
        name=plain_name(name) or None,
        media_type=media_type,
        size=number_in(file, "file_size") if "file_size" in file else None,
    )


def _sticker(sticker: Json) -> Attachment:
    media_type = "image/webp"
    if sticker.get("is_animated"):
        media_type = "application/x-tgsticker"
    elif sticker.get("is_video"):
        media_type = "video/webm"
    return Attachment(
        kind="sticker",
        file_id=text_in(sticker, "file_id"),
        name=plain_name(words_in(sticker, "emoji")) or None,
        media_type=media_type,
        size=number_in(sticker, "file_size") if "file_size" in sticker else None,
    )


def _describe(message: Json) -> str | None:
    """Describe content without a file in words, so that the person gets an answer."""
    # A venue has a location as well, therefore it is asked for first.
    for key, field in _NAMED_BY:
        thing = part(message, key)
        if thing is not None:
            return f"{key}: {words_in(thing, field)}"
    location = part(message, "location")
    if location is not None:
        return f"location: {location.get('latitude')}, {location.get('longitude')}"
    contact = part(message, "contact")
    if contact is not None:
        return f"contact: {name_of(contact)}, {words_in(contact, 'phone_number')}"
    dice = part(message, "dice")
    if dice is not None:
        return f"dice: {words_in(dice, 'emoji')} {dice.get('value')}"
    return next((key for key in ("story", "paid_media", "giveaway") if key in message), None)
