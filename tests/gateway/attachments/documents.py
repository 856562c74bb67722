"""Small documents of all kinds, good and bad."""

import io
import zlib
from collections.abc import Sequence

import pypdf


def make_pdf(*pages: str, streams: Sequence[bytes] = ()) -> bytes:
    """A PDF with a line of text on each page; or with these compressed streams as pages."""
    bodies = [zlib.compress(f"BT /F1 12 Tf 72 720 Td ({text}) Tj ET".encode()) for text in pages]
    bodies += streams
    count = len(bodies)
    kids = " ".join(f"{3 + number} 0 R" for number in range(count))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {count} >>".encode(),
    ]
    font = 3 + 2 * count
    objects += [
        (
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {3 + count + number}"
            f" 0 R /Resources << /Font << /F1 {font} 0 R >> >> >>"
        ).encode()
        for number in range(count)
    ]
    objects += [
        b"<< /Length %d /Filter /FlateDecode >>\nstream\n%s\nendstream" % (len(body), body)
        for body in bodies
    ]
    objects.append(b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>")
    out = bytearray(b"%PDF-1.4\n")
    places = []
    for number, body in enumerate(objects, start=1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % place for place in places)
    out += b"trailer\n<< /Size %d /Root 1 0 R >>\n" % (len(objects) + 1)
    return bytes(out + b"startxref\n%d\n%%%%EOF\n" % start)


def lock(pdf: bytes, password: str) -> bytes:
    """The same PDF, to be opened with a password only; with "" it is locked against changes."""
    writer = pypdf.PdfWriter(clone_from=io.BytesIO(pdf))
    writer.encrypt(password, owner_password="owner", algorithm="RC4-128")
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()


def make_bomb(size: int) -> bytes:
    """A PDF of few bytes whose one page becomes `size` bytes when it is unpacked."""
    packer = zlib.compressobj(9)
    block = b"BT (a) Tj ET\n" * 80_000
    packed = b"".join(packer.compress(block) for _ in range(size // len(block)))
    return make_pdf(streams=[packed + packer.flush()])
