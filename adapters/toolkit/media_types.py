"""Attachment kinds by media type, and their short description; pure."""

from collections.abc import Iterable

from adapters.messages import Attachment, AttachmentKind
from adapters.toolkit.text import plain_name

_BY_MEDIA_TYPE: tuple[tuple[str, AttachmentKind], ...] = (
    ("image/", "image"),
    ("audio/", "audio"),
    ("video/", "video"),
)


def kind_of(media_type: str | None) -> AttachmentKind:
    """Return the kind of a file; a document if the media type is unknown."""
    said = media_type or ""
    return next((kind for start, kind in _BY_MEDIA_TYPE if said.startswith(start)), "document")


def summary_of(attachments: Iterable[Attachment]) -> str:
    """List attachments' names in brackets, for messages without text."""
    return " ".join(f"[{plain_name(one.name or '') or one.kind}]" for one in attachments)
