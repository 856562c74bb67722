"""File types, detected from the bytes whatever the name says; pure."""

from typing import Literal

FileKind = Literal[
    "image",
    "foreign_image",
    "pdf",
    "audio",
    "video",
    "old_office",
    "package",
    "archive",
    "text",
    "binary",
    "empty",
]

_HEAD = 8192
"""Bytes examined for signs of text."""
_IMAGES = ((b"\xff\xd8\xff", "image/jpeg"), (b"\x89PNG\r\n\x1a\n", "image/png"))
_FOREIGN = (b"II*\0", b"MM\0*", b"BM", b"8BPS", b"\0\0\1\0")
_SOUNDS = (
    (b"OggS", "audio/ogg"),
    (b"ID3", "audio/mpeg"),
    (b"fLaC", "audio/flac"),
    (b"#!AMR", "audio/amr"),
    (b"caff", "audio/x-caf"),
)
_FORMS = {b"WAVE": "audio/wav", b"WEBP": "image/webp", b"AVI ": "video/x-msvideo"}
_ARCHIVES = (b"7z\xbc\xaf\x27\x1c", b"Rar!\x1a\x07", b"\x28\xb5\x2f\xfd")
_PACKAGES = (b"PK\x03\x04", b"PK\x05\x06", b"\x1f\x8b", b"BZh", b"\xfd7zXZ\0")
"""Zip files, among them Office files and e-books, and files that Python itself can unpack."""
_OLD_OFFICE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_PICTURE_BRANDS = (b"heic", b"heix", b"hevc", b"mif1", b"msf1", b"avif", b"avis")
_PLAIN_CONTROLS = frozenset(b"\t\n\r\f\x1b\x08")
_MOST_CONTROLS = 0.01


def look(data: bytes, *, is_heard: bool) -> tuple[FileKind, str]:
    """Return the kind of a file, and its media type as far as it is known.

    `is_heard` marks a file that was sent as audio. A container that may hold sound or video then
    counts as sound.
    """
    if not data:
        return "empty", ""
    if data.startswith(b"{\\rtf"):
        return "package", "application/rtf"
    if data.lstrip()[:5] == b"%PDF-":
        return "pdf", "application/pdf"
    if _is_plain(data):  # before the signatures: a text may begin with one
        return "text", "text/plain"
    for sign, media_type in _IMAGES:
        if data.startswith(sign):
            return "image", media_type
    if data.startswith((b"GIF87a", b"GIF89a")):
        return "image", "image/gif"
    if b"%PDF-" in data[:1024]:
        return "pdf", "application/pdf"
    for sign, media_type in _SOUNDS:
        if data.startswith(sign):
            return "audio", media_type
    return _look_into_boxes(data, is_heard) or _look_on(data)


def find_media_type(data: bytes) -> str:
    """Return the media type of a file as far as its bytes tell."""
    return look(data, is_heard=False)[1] or "application/octet-stream"


def _look_into_boxes(data: bytes, is_heard: bool) -> tuple[FileKind, str] | None:
    """Detect container formats, whose first bytes only name the family."""
    boxed: FileKind = "audio" if is_heard else "video"
    if data[:4] == b"RIFF" and data[8:12] in _FORMS:
        media_type = _FORMS[data[8:12]]
        family = media_type.partition("/")[0]
        return (
            "image" if family == "image" else "audio" if family == "audio" else "video"
        ), media_type
    if data[:4] == b"FORM" and data[8:12] in (b"AIFF", b"AIFC"):
        return "audio", "audio/aiff"
    if data[4:8] == b"ftyp":
        brand = data[8:12]
        if brand in _PICTURE_BRANDS:
            return "foreign_image", "image/heic"
        if brand.startswith(b"M4A"):
            return "audio", "audio/mp4"
        return boxed, "audio/mp4" if is_heard else "video/mp4"
    if data[:4] == b"\x1a\x45\xdf\xa3":
        return boxed, "audio/webm" if is_heard else "video/webm"
    if is_heard and data[0] == 0xFF and len(data) > 1 and data[1] & 0xE0 == 0xE0:
        # MP3 and AAC streams have no signature, only frames.
        return "audio", "audio/aac" if data[1] & 0xF6 == 0xF0 else "audio/mpeg"
    return None


def _look_on(data: bytes) -> tuple[FileKind, str]:
    if data.startswith(_FOREIGN):
        return "foreign_image", "image/*"
    if data.startswith(_PACKAGES) or data[257:262] == b"ustar":
        return "package", "application/octet-stream"
    if data.startswith(_OLD_OFFICE):
        return "old_office", "application/msword"
    if data.startswith(_ARCHIVES):
        return "archive", "application/octet-stream"
    return ("text", "text/plain") if _is_readable(data) else ("binary", "")


def _is_plain(data: bytes) -> bool:
    """Return whether the bytes are UTF-8 with almost no control codes."""
    head = data[:_HEAD]
    try:
        head.decode()
    except UnicodeDecodeError as error:
        is_cut = len(data) > _HEAD and error.start > _HEAD - 4  # the cut may split a character
        if not is_cut:
            return False
    return _has_few_controls(head)


def _is_readable(data: bytes) -> bool:
    """Return whether the bytes are text in another encoding: UTF-16, or one with few controls."""
    return data.startswith((b"\xff\xfe", b"\xfe\xff")) or _has_few_controls(data[:_HEAD])


def _has_few_controls(head: bytes) -> bool:
    controls = sum(byte < 32 and byte not in _PLAIN_CONTROLS for byte in head)
    return 0 not in head and controls <= len(head) * _MOST_CONTROLS
