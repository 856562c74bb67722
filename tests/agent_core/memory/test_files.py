"""Files of memory are replaced whole or not at all."""

import os
import stat
from pathlib import Path

import pytest

from agent_core.memory import files
from agent_core.memory.files import ABSENT, fit, hash_text, parse, read_file, size, write_file


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "people" / "ann" / "MEMORY.md"


def test_no_file_is_no_text(path: Path) -> None:
    assert read_file(path) == ABSENT


def test_what_is_written_is_read_and_private(path: Path) -> None:
    assert write_file(path, "- über\n", seen="")
    assert read_file(path).text == "- über\n"
    assert read_file(path).hash == hash_text("- über\n")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert list(path.parent.iterdir()) == [path]


def test_content_is_on_the_disk_before_its_name_and_the_name_before_the_return(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[tuple[str, bool]] = []
    really_sync = os.fsync

    def sync(descriptor: int) -> None:
        kind = "folder" if stat.S_ISDIR(os.fstat(descriptor).st_mode) else "file"
        synced.append((kind, path.exists()))
        really_sync(descriptor)

    monkeypatch.setattr(os, "fsync", sync)
    assert write_file(path, "- one\n", seen="")
    assert synced == [("file", False), ("folder", True)]


def test_a_file_that_was_changed_since_is_left_alone(path: Path) -> None:
    assert write_file(path, "first", seen="")
    path.write_text("by hand")
    assert not write_file(path, "second", seen=hash_text("first"))
    assert path.read_text() == "by hand"
    assert list(path.parent.iterdir()) == [path]


def test_a_draft_that_a_crash_left_is_no_hindrance(path: Path) -> None:
    path.parent.mkdir(parents=True)
    path.with_name(".MEMORY.md.new").write_text("half of something much longer")
    assert write_file(path, "whole", seen="")
    assert path.read_text() == "whole"


def test_text_of_an_older_editor_is_read_as_latin_1(path: Path) -> None:
    path.parent.mkdir(parents=True)
    path.write_bytes("- Käse".encode("latin-1"))
    assert read_file(path).text == "- Käse"


def test_one_byte_that_is_not_utf_8_changes_no_other_word(path: Path) -> None:
    path.parent.mkdir(parents=True)
    path.write_bytes("- Zürich\n- ".encode() + "Käse\n".encode("latin-1"))
    assert read_file(path).text == "- Zürich\n- Käse\n"


def test_a_file_that_is_no_memory_is_refused(path: Path) -> None:
    path.parent.mkdir(parents=True)
    path.write_bytes(b"x" * (files.MAX_BYTES + 1))
    with pytest.raises(OSError, match="larger than"):
        read_file(path)


def test_a_folder_in_the_place_of_the_file_is_an_error(path: Path) -> None:
    path.mkdir(parents=True)
    with pytest.raises(OSError):
        read_file(path)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig"])
def test_a_file_with_a_mark_of_its_encoding_is_read_by_it(path: Path, encoding: str) -> None:
    path.parent.mkdir(parents=True)
    path.write_bytes("- Käse\r\n".encode(encoding))
    found = read_file(path)
    assert found.text == "- Käse\r\n"
    assert not found.is_torn


@pytest.mark.parametrize("content", [bytes(40), b"- tea\n" + bytes(600), b"- te" * 128 + bytes(9)])
def test_a_file_without_its_last_sectors_is_torn(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    assert (read_file(path).text, read_file(path).is_torn) == ("", True)


@pytest.mark.parametrize(
    "content", [b"- t\0ea\n- milk\n", b"- tea\n- milk\n\0", "- tea\n- milk\n".encode("utf-16-le")]
)
def test_a_hand_edit_with_zeros_in_it_keeps_its_words(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    found = read_file(path)
    assert not found.is_torn
    assert parse(found.text) == ("tea", "milk")


def test_a_long_list_is_cut_at_its_limit() -> None:
    entries = ("one", "two\nmore", "three")
    assert fit(entries, size(entries)) == entries
    for limit in range(size(entries)):
        assert size(fit(entries, limit)) <= limit
        assert "".join(entries).startswith("".join(fit(entries, limit)))
    assert fit(entries, 12) == ("one", "two")
    assert size(fit(("x" * 200_000,), 2200)) == 2200


def test_a_pipe_that_nobody_writes_into_is_not_waited_for(path: Path) -> None:
    path.parent.mkdir(parents=True)
    os.mkfifo(path)
    with pytest.raises(OSError, match="not a regular file"):
        read_file(path)
