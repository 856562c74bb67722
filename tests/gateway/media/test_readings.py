"""Readings as people are told of them."""

import pytest

from adapters.messages import Attachment
from gateway.media.readings import Picture, Unreadable, Words, has_content, sentences_of
from gateway.texts import attachments

pytestmark = pytest.mark.process

PICTURE = Picture(name="that picture", file_key="k", media_type="image/png", size=9)
FILE = Words(name="“a.txt”", text="hello\nthere")
LOST = Unreadable(note="document a.zip", sentence="I can't open archives.")


def test_unread_and_truncated_files_are_reported() -> None:
    cut = Words(name="“b”", text="x", extent="the first 1,000 of 2,000 characters")
    reported = sentences_of([PICTURE, FILE, LOST, cut, LOST])
    assert reported == (
        "I can't open archives.",
        "“b”: this is longer than I can read at once. I read the first 1,000 of 2,000 characters.",
    )


def test_a_message_of_unreadable_things_alone_has_no_content() -> None:
    assert has_content([LOST, PICTURE])
    assert not has_content([LOST])
    assert not has_content([])


def test_every_fault_has_a_sentence_and_names_no_hole() -> None:
    for fault in attachments.FAULTS:
        for name in (None, "a {what} file.txt"):
            attachment = Attachment(kind="document", file_id="1", name=name)
            sentence = attachments.explain(attachment, fault, most_bytes=3_900_000)
            assert sentence.lstrip("“")[0].isupper() or name
            assert sentence.endswith(".")
            assert "{" not in sentence.replace("{what} file", "")
            assert attachments.describe_fault(attachment, fault).startswith("document")


def test_sizes_are_human_readable() -> None:
    sizes = [50_000, 3_900_000, 10_000_000, 25_000_000]
    assert [attachments.format_size(size) for size in sizes] == [
        "0.05 MB",
        "3.9 MB",
        "10 MB",
        "25 MB",
    ]
