"""The description that a PNG picture carries, for readers whom no picture reaches; pure."""

from collections.abc import Iterator

_PNG = b"\x89PNG\r\n\x1a\n"
_HEAD = b"Description\0\0\0"
"""Keyword of an international text chunk without compression (PNG specification, 11.3.3.4)."""
_MOST = 6000


def read_description(picture: bytes) -> str:
    """Return the words in a picture; "" if it has none or is no PNG."""
    for kind, data in _list_chunks(picture):
        if kind == b"iTXt" and data.startswith(_HEAD):
            _, _, words = data.removeprefix(_HEAD).split(b"\0", 2)
            return words.decode(errors="replace")[:_MOST]
    return ""


def _list_chunks(picture: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yield type and data of each whole chunk."""
    place = len(_PNG) if picture.startswith(_PNG) else len(picture)
    while place + 12 <= len(picture):
        size = int.from_bytes(picture[place : place + 4])
        data = picture[place + 8 : place + 8 + size]
        if len(data) < size:
            return
        yield picture[place + 4 : place + 8], data
        place += 12 + size
