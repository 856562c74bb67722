"""Classifies what comes with a Telegram message and is not text; pure."""

from adapters.attachments import kind_of
from adapters.letters import plain_name
from adapters.messages import Attachment, AttachmentKind
from adapters.telegram.words import name_of
from adapters.untrusted import Json, number_in, part, parts, text_in, words_in

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
    """The attachments of a message, at most one each kind of field. Raises `ValueError`."""
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
    """What has no file, in words: the person sent it and should get an answer."""
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
