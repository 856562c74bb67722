"""Pictures and PDF files, judged by their bytes: types, sizes and limits of models. Pure."""

from collections.abc import Callable

MEDIA_TYPES = ("image/jpeg", "image/png", "image/gif", "image/webp")
"""Types that both Anthropic and OpenAI read."""
MOST_BYTES_EACH = 3_932_160
"""The limit of one image. Anthropic accepts 5 MiB of base64 (vision guide, and its error text
"image exceeds 5 MB maximum: … bytes > 5242880 bytes"); the raw bytes are three quarters of that.
Some providers accept larger images, so this limits only the default, not the setting.
"""
MOST_PIXELS = 8000
"""The limit of each side; Anthropic refuses more (vision guide)."""

PDF = "application/pdf"
MOST_PAGES = 20
"""The most pages of a PDF file that a model is shown: about 60,000 tokens. Of a longer file, models
get only the text.
"""
MOST_PDF_BYTES = 7_500_000
"""The limit of one PDF file: half of the size of a request; see `models.images.MOST_BYTES`."""

_SIGNS = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
)


def find_type(data: bytes) -> str:
    """Return the type of a picture that models can read; "" for anything else, also for text."""
    if b"\0" not in data:
        return ""
    for sign, media_type in _SIGNS:
        if data.startswith(sign):
            return media_type
    return "image/webp" if data[:4] == b"RIFF" and data[8:12] == b"WEBP" else ""


def find_fault(data: bytes, media_type: str) -> str:
    """Return a clause that says why a model can't be shown a picture, or ""."""
    if media_type not in MEDIA_TYPES:
        return "only JPEG, PNG, GIF and WebP can be shown"
    if len(data) > MOST_BYTES_EACH:
        return f"it has {len(data):,} bytes, and at most {MOST_BYTES_EACH:,} can be shown"
    size = measure(data, media_type)
    if size is None:
        return "it is broken"
    if max(size) > MOST_PIXELS:
        return (
            f"it has {size[0]:,} × {size[1]:,} pixels, and at most {MOST_PIXELS:,} per side can be"
            " shown"
        )
    return ""


def is_pdf(data: bytes) -> bool:
    """Return whether the bytes begin like a PDF file."""
    return data[:16].lstrip().startswith(b"%PDF-")


def find_pdf_fault(data: bytes, pages: int) -> str:
    """Return a clause that says why a model can't be shown a PDF file, or ""."""
    if len(data) > MOST_PDF_BYTES:
        return f"it has {len(data):,} bytes, and at most {MOST_PDF_BYTES:,} can be shown"
    if pages > MOST_PAGES:
        return f"it has {pages:,} pages, and at most {MOST_PAGES} can be shown"
    return ""


Size = tuple[int, int]

_FRAMES = frozenset({*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC})
"""JPEG markers that carry the size; the three gaps in the range are tables."""
_BARE = frozenset({0x01, *range(0xD0, 0xD9)})
"""JPEG markers without a length."""


def measure(data: bytes, media_type: str) -> Size | None:
    """Return width and height in pixels; None for another format or a truncated picture."""
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
    """Walk the markers up to the first one that carries the size."""
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
