"""What a media type makes of an attachment, and how attachments are told in words; pure."""

from collections.abc import Iterable

from adapters.messages import Attachment, AttachmentKind

_BY_MEDIA_TYPE: tuple[tuple[str, AttachmentKind], ...] = (
    ("image/", "image"),
    ("audio/", "audio"),
    ("video/", "video"),
)


def kind_of(media_type: str | None) -> AttachmentKind:
    """The kind of a file; a document where its media type says nothing better."""
    said = media_type or ""
    return next((kind for start, kind in _BY_MEDIA_TYPE if said.startswith(start)), "document")


def gist_of(attachments: Iterable[Attachment]) -> str:
    """The names of attachments in brackets, for where a message has no words."""
    return " ".join(f"[{attachment.name or attachment.kind}]" for attachment in attachments)
