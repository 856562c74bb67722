"""Small pictures of every format, and an API's view of them and of PDF files."""

import base64
import binascii
import io
import struct
import zlib

import pypdf

MEDIA_TYPES = ("image/jpeg", "image/png", "image/gif", "image/webp")


def make_png(width: int = 4, height: int = 3, *, fill: int = 0) -> bytes:
    """A whole PNG of one colour."""
    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    rows = (b"\0" + bytes([fill]) * width) * height
    chunks = ((b"IHDR", head), (b"IDAT", zlib.compress(rows)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(name, body) for name, body in chunks)


def _chunk(name: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))


def make_gif(width: int = 4, height: int = 3) -> bytes:
    """The smallest GIF with a screen of this size."""
    head = b"GIF89a" + struct.pack("<HHBBB", width, height, 0x80, 0, 0)
    frame = b"\x2c" + struct.pack("<HHHHB", 0, 0, 1, 1, 0) + b"\x02\x02\x44\x01\x00"
    return head + b"\0\0\0\xff\xff\xff" + frame + b";"


def make_jpeg(width: int = 4, height: int = 3, *, slot: int = 40) -> bytes:
    """A JPEG up to its picture data, with `slot` bytes of camera data before its size."""
    notes = b"\xff\xe1" + struct.pack(">H", slot + 2) + b"n" * slot
    frame = b"\xff\xc0" + struct.pack(">HBHHB", 11, 8, height, width, 1) + b"\1\x11\0"
    return b"\xff\xd8" + notes + frame + b"\xff\xda\0\x08\1\1\0\0\x3f\0" + b"\0" * 9 + b"\xff\xd9"


def make_webp(width: int = 4, height: int = 3) -> bytes:
    """An extended WebP of this size, with nothing on it."""
    sides = (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little")
    body = b"WEBPVP8X" + struct.pack("<I", 10) + b"\0\0\0\0" + sides + b"\0" * 8
    return b"RIFF" + struct.pack("<I", len(body)) + body


def decode(text: str) -> bytes | None:
    """Base64 as strict APIs take it."""
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None


def look(data: bytes) -> tuple[str, int, int] | None:
    """Return media type, width and height; None if it is no such picture."""
    if data.startswith(b"\x89PNG\r\n\x1a\n") and len(data) > 32:
        return ("image/png", *struct.unpack(">II", data[16:24]))
    if data.startswith((b"GIF87a", b"GIF89a")) and len(data) > 12:
        return ("image/gif", *struct.unpack("<HH", data[6:10]))
    if data.startswith(b"\xff\xd8\xff") and (place := data.find(b"\xff\xc0")) > 0:
        height, width = struct.unpack(">HH", data[place + 5 : place + 9])
        return "image/jpeg", width, height
    if data[:4] == b"RIFF" and data[8:16] == b"WEBPVP8X" and len(data) > 29:
        width, height = (int.from_bytes(data[at : at + 3], "little") + 1 for at in (24, 27))
        return "image/webp", width, height
    return None


def count_pages(data: bytes) -> int:
    """Return the pages of a PDF file; 0 of one that an API can't read, such as a locked one."""
    try:
        read = pypdf.PdfReader(io.BytesIO(data))
        return 0 if read.is_encrypted else len(read.pages)
    except pypdf.errors.PyPdfError:
        return 0
