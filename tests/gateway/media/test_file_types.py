"""A file is what its bytes say, whatever it is called."""

import pytest

from agent_core.state.conversations.images import measure
from gateway.media.file_types import look
from tests.emulators.pictures import make_gif, make_jpeg, make_png, make_webp
from tests.gateway.media.documents import BINARY, box, make_pdf, pack_names
from tests.tables import check_each

KINDS = (
    (b"", "empty"),
    (make_png(), "image"),
    (make_jpeg(), "image"),
    (make_gif(), "image"),
    (make_webp(), "image"),
    (box(b"heic"), "foreign_image"),
    (box(b"avif"), "foreign_image"),
    (b"BM" + BINARY, "foreign_image"),
    (b"II*\0" + BINARY, "foreign_image"),
    (make_pdf("hi"), "pdf"),
    (b"\n\n" + make_pdf("hi"), "pdf"),
    (b"OggS" + BINARY, "audio"),
    (b"ID3\x03" + BINARY, "audio"),
    (b"fLaC" + BINARY, "audio"),
    (b"RIFF\0\0\0\0WAVE" + BINARY, "audio"),
    (b"FORM\0\0\0\0AIFF" + BINARY, "audio"),
    (b"#!AMR\n" + BINARY, "audio"),
    (box(b"M4A "), "audio"),
    (box(b"isom"), "video"),
    (b"\x1a\x45\xdf\xa3" + BINARY, "video"),
    (b"RIFF\0\0\0\0AVI " + BINARY, "video"),
    (pack_names({"word/document.xml": "x"}), "package"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + BINARY, "old_office"),
    (rb"{\rtf1 hello}", "package"),
    (pack_names({"a.txt": "x"}), "package"),
    (b"\x1f\x8b\x08" + BINARY, "package"),
    (b"7z\xbc\xaf\x27\x1c" + BINARY, "archive"),
    (b"\x7fELF" + BINARY, "binary"),
    (b"MZ" + BINARY, "binary"),
    (b"hello", "text"),
    ("Grüße, 世界 🫖".encode(), "text"),
    ("Grüße".encode("cp1252"), "text"),
    ("Grüße".encode("utf-16"), "text"),
    (b"\xef\xbb\xbfhello", "text"),
    (b"BMW, ID3 and OggS are names; BZh too", "text"),
    (b"a\tb\r\n\x0c\x1b[1mbold", "text"),
    ("é".encode() * 8192, "text"),
    (("x" + "é" * 8192).encode(), "text"),
)


def test_the_kind_is_known_by_the_bytes() -> None:
    def check(row: tuple[bytes, str]) -> None:
        data, kind = row
        assert look(data, is_heard=False)[0] == kind

    check_each(KINDS, check)


@pytest.mark.parametrize(
    ("data", "media_type"),
    [
        (box(b"isom"), "audio/mp4"),
        (b"\x1a\x45\xdf\xa3" + BINARY, "audio/webm"),
        (b"\xff\xfb\x90" + BINARY, "audio/mpeg"),
        (b"\xff\xf1\x50" + BINARY, "audio/aac"),
    ],
)
def test_a_voice_note_counts_as_audio(data: bytes, media_type: str) -> None:
    assert look(data, is_heard=True) == ("audio", media_type)
    assert look(data, is_heard=False)[0] != "audio"


def test_a_program_that_is_called_a_voice_note_is_none() -> None:
    assert look(b"\x7fELF" + BINARY, is_heard=True)[0] == "binary"
    assert look(b"just words", is_heard=True)[0] == "text"


PICTURES = [
    ("image/png", make_png),
    ("image/gif", make_gif),
    ("image/jpeg", make_jpeg),
    ("image/webp", make_webp),
]


@pytest.mark.parametrize(("media_type", "make"), PICTURES)
def test_the_size_of_a_picture_is_read_without_unpacking_it(media_type: str, make: object) -> None:
    assert callable(make)
    assert measure(make(300, 200), media_type) == (300, 200)
    assert measure(make(9000, 1), media_type) == (9000, 1)


@pytest.mark.parametrize(("media_type", "make"), PICTURES)
def test_a_picture_that_is_cut_off_has_no_size_or_the_right_one(
    media_type: str, make: object
) -> None:
    assert callable(make)
    whole = make(300, 200)
    found = {measure(whole[:length], media_type) for length in range(len(whole))}
    assert found <= {None, (300, 200)}
    assert measure(whole[:9], media_type) is None


def test_the_other_forms_of_webp_are_measured_too() -> None:
    head = b"RIFF\0\0\0\0WEBP"
    lossy = head + b"VP8 \0\0\0\0\0\0\0\x9d\x01\x2a" + b"\x2c\x01\xc8\x00" + b"\0" * 4
    lossless = head + b"VP8L\0\0\0\0\x2f" + ((199 << 14) | 299).to_bytes(4, "little") + b"\0" * 8
    assert measure(lossy, "image/webp") == (300, 200)
    assert measure(lossless, "image/webp") == (300, 200)


def test_a_picture_without_sides_is_none() -> None:
    assert measure(make_png(0, 5), "image/png") is None
    assert measure(b"\xff\xd8\xff\xe1\0\0" + b"\xff" * 50, "image/jpeg") is None
