"""Reads how many pixels a picture has from its first bytes, without unpacking it; pure."""

from collections.abc import Callable

Size = tuple[int, int]

_FRAMES = frozenset({*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC})
"""Markers of JPEG that carry the size; the three others in the row are tables."""
_BARE = frozenset({0x01, *range(0xD0, 0xD9)})
"""Markers of JPEG without a length."""


def measure(data: bytes, media_type: str) -> Size | None:
    """Width and height in pixels; None for what is no such picture, or is cut off too early."""
    reader = _READERS.get(media_type)
    size = reader(data) if reader else None
    return size if size and all(size) else None


def _read_png(data: bytes) -> Size | None:
    if len(data) < 33 or data[12:16] != b"IHDR":
        return None
    return int.from_bytes(data[16:20]), int.from_bytes(data[20:24])


def _read_gif(data: bytes) -> Size | None:
    if len(data) < 13:
        return None
    return int.from_bytes(data[6:8], "little"), int.from_bytes(data[8:10], "little")


def _read_jpeg(data: bytes) -> Size | None:
    """Walk from marker to marker up to the one that begins the picture itself."""
    place = 2
    while place + 9 <= len(data):
        if data[place] != 0xFF:
            return None
        marker = data[place + 1]
        if marker == 0xFF:
            place += 1
        elif marker in _BARE:
            place += 2
        elif marker in _FRAMES:
            return int.from_bytes(data[place + 7 : place + 9]), int.from_bytes(
                data[place + 5 : place + 7]
            )
        else:
            place += 2 + max(2, int.from_bytes(data[place + 2 : place + 4]))
    return None


def _read_webp(data: bytes) -> Size | None:
    if len(data) < 30:
        return None
    match data[12:16]:
        case b"VP8 " if data[23:26] == b"\x9d\x01\x2a":
            sides = int.from_bytes(data[26:28], "little"), int.from_bytes(data[28:30], "little")
            return sides[0] & 0x3FFF, sides[1] & 0x3FFF
        case b"VP8L" if data[20] == 0x2F:
            bits = int.from_bytes(data[21:25], "little")
            return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
        case b"VP8X":
            return (
                int.from_bytes(data[24:27], "little") + 1,
                int.from_bytes(data[27:30], "little") + 1,
            )
    return None


_READERS: dict[str, Callable[[bytes], Size | None]] = {
    "image/png": _read_png,
    "image/gif": _read_gif,
    "image/jpeg": _read_jpeg,
    "image/webp": _read_webp,
}
