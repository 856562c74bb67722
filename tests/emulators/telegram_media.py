"""Content besides text, as the Bot API shows it, for `says(..., **voice())`.

With a caption: `says(1, None, caption="our cat", **photo())`.
"""

from typing import Any

Json = dict[str, Any]


def _file(file_id: str, size: int) -> Json:
    return {"file_id": file_id, "file_unique_id": f"unique-{file_id}", "file_size": size}


def sticker(emoji: str = "👍", *, file_id: str = "sticker-1", set_name: str = "Animals") -> Json:
    """A sticker that does not move."""
    shape = {"width": 512, "height": 512, "is_animated": False, "is_video": False}
    words = {"type": "regular", "emoji": emoji, "set_name": set_name}
    return {"sticker": _file(file_id, 20_000) | shape | words}


def voice(seconds: int = 3, *, file_id: str = "voice-1", size: int = 12_000) -> Json:
    """A voice note; size in bytes."""
    return {"voice": _file(file_id, size) | {"duration": seconds, "mime_type": "audio/ogg"}}


def photo(*, file_id: str = "photo-1") -> Json:
    """A photo in the sizes that Telegram makes of it, the largest last."""
    sizes = ((90, 67, 1_200), (320, 240, 15_000), (1280, 960, 140_000))
    return {
        "photo": [
            _file(f"{file_id}-{width}", size) | {"width": width, "height": height}
            for width, height, size in sizes
        ]
    }


def document(
    name: str = "notes.txt",
    media_type: str = "text/plain",
    *,
    file_id: str = "document-1",
    size: int = 2_000,
) -> Json:
    """A file; size in bytes."""
    return {"document": _file(file_id, size) | {"file_name": name, "mime_type": media_type}}
