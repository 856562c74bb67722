"""Office files, e-books and archives: their text, and sentences where there is none."""

import gzip
import lzma
import tarfile
import time
from collections.abc import Callable

import pytest

from gateway.media.documents import DocumentFault, Extract, read_package
from tests.gateway.media.documents import (
    make_docx,
    make_open_document,
    make_pptx,
    make_tar,
    make_xlsx,
    pack,
    pack_names,
)
from tests.patience import PATIENCE

MOST = 1000

pytestmark = pytest.mark.process


async def text_of(data: bytes) -> str:
    extract = await read_package(data, MOST)
    assert extract.extent == ""
    return extract.text


async def fault_of(data: bytes) -> str:
    with pytest.raises(DocumentFault) as caught:
        await read_package(data, MOST)
    return caught.value.fault


async def test_a_word_file_gives_its_headings_paragraphs_and_tables() -> None:
    cell = "<w:tc><w:p><w:r><w:t>{}</w:t></w:r></w:p></w:tc>"
    body = (
        '<w:p><w:pPr><w:pStyle w:val="Heading2"/></w:pPr><w:r><w:t>Plan</w:t></w:r></w:p>'
        "<w:p><w:r><w:t>Buy</w:t><w:tab/><w:t>milk</w:t></w:r>"
        "<w:del><w:r><w:t>tea</w:t></w:r></w:del></w:p>"
        f"<w:tbl><w:tr>{cell.format('a')}{cell.format('b')}</w:tr></w:tbl>"
    )
    assert await text_of(make_docx(body)) == "## Plan\nBuy\tmilk\n| a | b |"


async def test_a_workbook_gives_its_rows_with_dates_as_dates() -> None:
    rows = (
        '<row><c r="A1" t="s"><v>0</v></c><c r="C1" t="inlineStr"><is><t>when</t></is></c></row>'
        '<row><c r="A2"><v>1.5</v></c><c r="B2" t="b"><v>1</v></c><c r="C2" s="1"><v>46348</v></c>'
        '<c r="D2" s="2"><v>46348.5</v></c><c r="E2" s="3"><v>7</v></c></row>'
    )
    styles = (
        '<numFmts><numFmt numFmtId="164" formatCode="dd/mm/yyyy hh:mm"/>'
        '<numFmt numFmtId="165" formatCode="0.0 &quot;days&quot;"/></numFmts><cellXfs>'
        '<xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="164"/><xf numFmtId="165"/></cellXfs>'
    )
    found = await text_of(make_xlsx(rows, strings="<si><t>price</t></si>", styles=styles))
    assert found == (
        "## Costs\n| price |  | when |\n| 1.5 | TRUE | 2026-11-22 | 2026-11-22 12:00 | 7 |"
    )


async def test_slides_come_in_the_order_of_the_presentation() -> None:
    assert await text_of(make_pptx("First", "Second")) == "## 1\nFirst\n## 2\nSecond"


async def test_open_documents_give_their_text_and_their_tables() -> None:
    body = (
        '<office:text><text:h text:outline-level="2">Plan</text:h>'
        "<text:p>Buy<text:s/>oat<text:tab/>milk</text:p></office:text>"
    )
    assert await text_of(make_open_document(body)) == "## Plan\nBuy oat\tmilk"
    cell = "<table:table-cell{}><text:p>{}</text:p></table:table-cell>"
    twice = cell.format(' table:number-columns-repeated="2"', "x")
    table = f'<table:table table:name="S"><table:table-row>{twice}{cell.format("", "y")}'
    sheet = f"<office:spreadsheet>{table}</table:table-row></table:table></office:spreadsheet>"
    assert await text_of(make_open_document(sheet)) == "## S\n| x | x | y |"


async def test_an_e_book_is_read_in_the_order_of_its_spine() -> None:
    book = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": '<c><rootfile full-path="o/b.opf"/></c>',
        "o/b.opf": '<package><item id="a" href="a.html"/><item id="b" href="b.html"/>'
        '<itemref idref="b"/><itemref idref="a"/></package>',
        "o/a.html": "<html><head><title>no</title></head><body><p>then</p></body></html>",
        "o/b.html": "<!DOCTYPE html><html><body><h1>One</h1><p>first &amp; last</p></body></html>",
    }
    assert await text_of(pack_names(book)) == "One\nfirst & last\n\nthen"


async def test_rtf_is_read_without_its_tables_of_fonts() -> None:
    rtf = rb"{\rtf1\ansi{\fonttbl{\f0 Arial;}}{\*\generator X;}Gr\u252\'fc\'dfe \b bold\b0\par end}"
    assert await text_of(rtf) == "Grüße bold\nend"
    assert await text_of(rb"{\rtf1\ansi\uc0 Gr\u252 n}") == "Grün"


async def test_an_archive_is_a_list_of_its_files_and_the_text_of_those_that_have_any() -> None:
    inner = pack(b_txt="hidden")
    listed = (
        f"Files: 3\n- notes.txt (8 bytes)\n- d/inner.zip ({len(inner):,} bytes, not read)"
        "\n- d/empty (0 bytes)\n\n== notes.txt ==\nBuy milk"
    )
    members = {"notes.txt": "Buy milk", "d/inner.zip": inner, "d/empty": b""}
    assert await text_of(pack_names(members)) == listed
    tar = [
        (tarfile.TarInfo(name), bytes(data, "utf-8") if isinstance(data, str) else data)
        for name, data in members.items()
    ]
    for mode in ("w", "w:gz", "w:bz2", "w:xz"):
        assert await text_of(make_tar(*tar, mode=mode)) == listed
    assert await text_of(gzip.compress(b"only this")) == "only this"


async def test_a_link_in_an_archive_is_not_followed() -> None:
    link = tarfile.TarInfo("passwd")
    link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
    assert await text_of(make_tar((link, b""))) == "Files: 1\n- passwd (0 bytes, not read)"


async def test_of_a_long_document_the_beginning_is_read() -> None:
    paragraph = "<w:p><w:r><w:t>" + "y" * 99 + "</w:t></w:r></w:p>"
    extract = await read_package(make_docx(paragraph * 50_000), MOST)
    whole = "\n".join(["y" * 99] * 11)
    assert extract == Extract(text=whole[:MOST].strip(), extent=extract.extent)
    assert extract.extent == f"the first {len(extract.text):,} characters"


@pytest.mark.parametrize(
    "name", ["../up.txt", "a/../../up.txt", "/etc/passwd", r"..\up.txt", r"C:\a", "a\nb", "a\x1bb"]
)
async def test_names_that_lead_out_of_an_archive_refuse_it(name: str) -> None:
    assert await fault_of(pack_names({"a.txt": "x", name: "y"})) == "unsafe_archive"
    assert await fault_of(make_tar((tarfile.TarInfo(name), b"y"))) == "unsafe_archive"


ENTITIES = (
    '<!DOCTYPE a [<!ENTITY a "'
    + "x" * 1000
    + '">'
    + "".join(f'<!ENTITY {chr(98 + level)} "{f"&{chr(97 + level)};" * 20}">' for level in range(8))
)


@pytest.mark.parametrize(
    ("make", "fault"),
    [
        (lambda: pack(word__document_xml=b"<w"), "broken_document"),
        (lambda: pack(a_txt="x")[:40], "broken_document"),
        (lambda: pack(word__document_xml=f"{ENTITIES}]><a>&i;</a>"), "broken_document"),
        (lambda: pack(word__document_xml="<a>" * 200_000), "broken_document"),
        (lambda: make_open_document("<text:p/>", manifest="<encryption-data/>"), "encrypted"),
        (lambda: make_docx(""), "empty"),
        (lambda: pack_names({str(number): "" for number in range(5001)}), "large_archive"),
        (lambda: b"\x1f\x8b\x08" + bytes(100), "broken_document"),
        (
            lambda: pack(a_txt="x").replace(b"\x14\0\0\0\x08\0", b"\x14\0\0\0\x63\0"),
            "broken_document",
        ),
    ],
    ids=["no xml", "cut off", "entities", "deep", "locked", "empty", "many", "no gzip", "method"],
)
async def test_an_unreadable_file_has_a_reason(make: Callable[[], bytes], fault: str) -> None:
    assert await fault_of(make()) == fault


def _lie(data: bytes, real: int, claimed: int) -> bytes:
    return data.replace(real.to_bytes(4, "little"), claimed.to_bytes(4, "little"))


BOMB = bytes(100_000_000)


@pytest.mark.thorough
@pytest.mark.parametrize(
    "make",
    [
        lambda: pack(bomb_txt=BOMB),
        lambda: _lie(pack(bomb_txt=BOMB), len(BOMB), 1000),
        lambda: pack(word__document_xml=BOMB),
        lambda: gzip.compress(BOMB, 1),
        lambda: lzma.compress(BOMB, preset=0),
        lambda: make_tar((tarfile.TarInfo("bomb"), BOMB)),
    ],
    ids=["zip", "a zip that lies", "docx", "gzip", "xz", "tar.gz"],
)
async def test_a_bomb_costs_neither_memory_nor_time_of_the_gateway(
    make: Callable[[], bytes],
) -> None:
    data = make()
    started = time.monotonic()
    assert await fault_of(data) in ("large_archive", "broken_document")
    assert time.monotonic() - started < PATIENCE
    assert len(data) < 1_500_000
