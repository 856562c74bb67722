"""Text out of documents, and sentences where there is none."""

import time

import pytest

from gateway.media.documents import DocumentFault, Extract, bound, read_pdf, read_text
from tests.gateway.media.documents import lock, make_bomb, make_pdf
from tests.patience import PATIENCE

MOST = 1000


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_text_is_read_in_the_encodings_that_people_have(encoding: str) -> None:
    assert read_text("Grüße\r\nund mehr".encode(encoding), MOST).text == "Grüße\nund mehr"


def test_bytes_that_are_no_text_spoil_only_themselves() -> None:
    assert read_text(b"caf\xe9 \x81 ok", MOST).text == "café \ufffd ok"
    assert read_text(b"\xff\xfeo\0k\0!", MOST).text == "ok\ufffd"


def test_a_long_text_is_cut_and_says_so() -> None:
    extract = read_text(b"x" * 1234, MOST)
    assert extract == Extract(text="x" * MOST, extent="the first 1,000 of 1,234 characters")
    assert read_text(b"x" * MOST, MOST).extent == ""


@pytest.mark.parametrize("unit", [b"\x08", b"\x81a", b"\xc2\xa0", b"\x1b[", b"\r\n"])
def test_a_large_text_does_not_hold_up_the_answers_of_others(unit: bytes) -> None:
    """The time of the process counts: the machine may be busy."""
    data = b"begin " + unit * (10_000_000 // len(unit))
    started = time.process_time()
    extract = read_text(data, MOST)
    assert time.process_time() - started < 0.8
    assert extract.text.startswith("begin")
    assert extract.extent.startswith("the first 1,000 of ")


def test_misleading_characters_are_removed() -> None:
    assert bound("a\u202eb\U000e0041c\x07d\ud800e\tf", MOST).text == "abcde\tf"
    assert bound("שלום\nمرحبا\n👩‍👩‍👧", MOST).text == "שלום\nمرحبا\n👩‍👩‍👧"


@pytest.mark.process
async def test_a_pdf_gives_the_text_of_its_pages() -> None:
    assert await read_pdf(make_pdf("Hello there", "second"), MOST) == Extract(
        text="Hello there\n\nsecond", pages=2
    )
    assert await read_pdf(make_pdf("", ""), MOST) == Extract(text="", pages=2), "a scan"


@pytest.mark.process
async def test_of_a_long_pdf_the_first_pages_are_read() -> None:
    extract = await read_pdf(make_pdf(*["y" * 400] * 9), MOST)
    assert len(extract.text) == MOST
    assert extract.extent == "the first 1,000 characters (the first 3 of 9 pages)"


@pytest.mark.process
async def test_a_pdf_that_is_locked_against_changes_only_can_be_read() -> None:
    assert (await read_pdf(lock(make_pdf("open"), ""), MOST)).text == "open"


@pytest.mark.process
@pytest.mark.parametrize(
    ("data", "fault"),
    [
        (lock(make_pdf("secret"), "abc"), "encrypted"),
        (make_pdf("hi")[:200], "broken_document"),
        (b"%PDF-1.7\nnothing of the kind", "broken_document"),
        (b"%PDF-1.7\n" + b"[" * 100_000, "broken_document"),
    ],
    ids=["locked", "cut off", "no pdf", "nested"],
)
async def test_an_unreadable_file_has_a_reason(data: bytes, fault: str) -> None:
    with pytest.raises(DocumentFault) as caught:
        await read_pdf(data, MOST)
    assert caught.value.fault == fault


@pytest.mark.process
async def test_a_bomb_costs_neither_memory_nor_time_of_the_gateway() -> None:
    bomb = make_bomb(400_000_000)
    assert len(bomb) < 2_000_000
    started = time.monotonic()
    with pytest.raises(DocumentFault):
        await read_pdf(bomb, MOST)
    assert time.monotonic() - started < PATIENCE
