"""Small documents of all kinds, good and bad."""

import io
import tarfile
import zipfile
import zlib
from collections.abc import Mapping, Sequence

import pypdf

BINARY = bytes(range(256)) * 8


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
    packer = zlib.compressobj(9, wbits=-zlib.MAX_WBITS)
    block = b"BT (a) Tj ET\n" * 80_000
    packed = packer.compress(block) + packer.flush(zlib.Z_FULL_FLUSH)  # may stand many times
    count, checksum = size // len(block), 1
    for _ in range(count):
        checksum = zlib.adler32(block, checksum)
    stream = b"\x78\xda" + packed * count + packer.flush() + checksum.to_bytes(4, "big")
    return make_pdf(streams=[stream])


def pack(**members: str | bytes) -> bytes:
    """A zip file with these members; `__` in a name stands for a slash, and `_` for a dot."""
    named = {name.replace("__", "/").replace("_", "."): data for name, data in members.items()}
    return pack_names(named)


def pack_names(members: Mapping[str, str | bytes]) -> bytes:
    """A zip file with members of these names."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return out.getvalue()


_WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_SHEET = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_SLIDE = "http://schemas.openxmlformats.org/presentationml/2006/main"
_DRAWING = "http://schemas.openxmlformats.org/drawingml/2006/main"
_LINKS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"


def make_docx(body: str) -> bytes:
    """A Word file; `body` is what stands in it, in the namespace `w`."""
    return pack(
        word__document_xml=f'<w:document xmlns:w="{_WORD}"><w:body>{body}</w:body></w:document>'
    )


def make_xlsx(rows: str, *, strings: str = "", styles: str = "") -> bytes:
    """An Excel file with one sheet, "Costs"."""
    return pack_names(
        {
            "xl/workbook.xml": f'<workbook xmlns="{_SHEET}" xmlns:r="{_LINKS}"><sheets>'
            '<sheet name="Costs" sheetId="1" r:id="rId1"/></sheets></workbook>',
            "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{_PACKAGE}">'
            '<Relationship Id="rId1" Target="/xl/worksheets/sheet1.xml"/></Relationships>',
            "xl/sharedStrings.xml": f'<sst xmlns="{_SHEET}">{strings}</sst>',
            "xl/styles.xml": f'<styleSheet xmlns="{_SHEET}">{styles}</styleSheet>',
            "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{_SHEET}"><sheetData>{rows}</sheetData>'
            "</worksheet>",
        }
    )


def make_pptx(*slides: str) -> bytes:
    """A PowerPoint file with a line of text on each slide, the last slide's part first."""
    numbers = range(1, len(slides) + 1)
    links = "".join(
        f'<Relationship Id="rId{number}" Target="slides/slide{len(slides) - number}.xml"/>'
        for number in numbers
    )
    listed = "".join(f'<p:sldId id="{255 + number}" r:id="rId{number}"/>' for number in numbers)
    parts = {
        f"ppt/slides/slide{len(slides) - number}.xml": f'<p:sld xmlns:p="{_SLIDE}"'
        f' xmlns:a="{_DRAWING}"><a:p><a:r><a:t>{text}</a:t></a:r></a:p></p:sld>'
        for number, text in zip(numbers, slides, strict=True)
    }
    head = f'<p:presentation xmlns:p="{_SLIDE}" xmlns:r="{_LINKS}">{listed}</p:presentation>'
    relations = f'<Relationships xmlns="{_PACKAGE}">{links}</Relationships>'
    return pack_names(
        {"ppt/presentation.xml": head, "ppt/_rels/presentation.xml.rels": relations, **parts}
    )


def make_open_document(body: str, *, manifest: str = "") -> bytes:
    """An OpenDocument file; `body` is in the namespaces `text` and `table`."""
    names = "".join(
        f' xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
        for name in ("office", "text", "table", "draw")
    )
    return pack_names(
        {
            "mimetype": "application/vnd.oasis.opendocument.text",
            "META-INF/manifest.xml": f"<manifest>{manifest}</manifest>",
            "content.xml": f"<office:body{names}>{body}</office:body>",
        }
    )


def make_tar(*members: tuple[tarfile.TarInfo, bytes], mode: str = "w:gz") -> bytes:
    """A tar file, packed by default."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode) as archive:  # type: ignore[call-overload]
        for info, data in members:
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return out.getvalue()


def box(brand: bytes) -> bytes:
    """The first box of a file of this brand, such as `heic` or `isom`."""
    return b"\0\0\0\x20ftyp" + brand + b"\0" * 20
