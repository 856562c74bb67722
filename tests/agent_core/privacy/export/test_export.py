"""Archives of an export: whole, private, and begun anew before one grows too large."""

import json
import os
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from agent_core.execution.files import walk_files
from agent_core.privacy.export.export import ExportArchive
from agent_core.privacy.export.signer import MANIFEST, SIGNATURE


def no_seal(hashes: Mapping[str, str], is_whole: bool) -> tuple[bytes, bytes]:
    return json.dumps(list(hashes)).encode(), b"nobody"


def names(path: Path) -> list[str]:
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        *found, manifest, signature = archive.namelist()
        assert (manifest, signature) == (MANIFEST, SIGNATURE)
        assert json.loads(archive.read(manifest)) == found
        return found


def test_what_fits_is_one_archive_that_nobody_else_may_read(tmp_path: Path) -> None:
    bundle = ExportArchive(tmp_path, "all", 100_000, no_seal)
    bundle.add("a.txt", ["one ", "two"])
    bundle.add("b/c.bin", [b"\x00\x01"])
    (path,) = bundle.close()
    assert path.name == "all.zip"
    assert names(path) == ["a.txt", "b/c.bin"]
    assert path.stat().st_mode & 0o077 == 0
    with zipfile.ZipFile(path) as archive:
        assert archive.read("a.txt") == b"one two"


def test_what_is_large_comes_in_several_archives_within_the_limit(tmp_path: Path) -> None:
    bundle = ExportArchive(tmp_path, "all", 10_000, no_seal)
    for number in range(20):
        bundle.add(f"{number}.bin", [os.urandom(2000)])
    paths = bundle.close()
    assert len(paths) > 3
    assert [name for path in paths for name in names(path)] == [f"{n}.bin" for n in range(20)]
    assert all(path.stat().st_size <= 10_000 for path in paths)


def test_a_file_is_written_piece_by_piece(tmp_path: Path) -> None:
    deferred: list[int] = []

    def pieces() -> object:
        for number in range(3):
            deferred.append(number)
            yield "x" * 1000

    bundle = ExportArchive(tmp_path, "all", 0, no_seal)
    bundle.add("long.txt", pieces())  # type: ignore[arg-type]
    bundle.close()
    assert deferred == [0, 1, 2]


def test_a_name_that_is_no_text_keeps_its_file(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/work/caf\xe9.txt")).write_text("milk")
    bundle = ExportArchive(tmp_path, "all", 0, no_seal)
    for name, pieces in walk_files(tmp_path / "work"):
        bundle.add(name, pieces)
    (path,) = bundle.close()
    assert names(path) == ["caf&#56553;.txt"]


@pytest.mark.thorough
def test_a_file_may_have_more_than_two_gigabytes(tmp_path: Path) -> None:
    piece = bytes(64 << 20)
    bundle = ExportArchive(tmp_path, "all", 0, no_seal)
    bundle.add("sparse.img", (piece for _ in range(33)))
    (path,) = bundle.close()
    with zipfile.ZipFile(path) as archive:
        assert archive.getinfo("sparse.img").file_size == 33 * len(piece)


def test_files_are_compressed(tmp_path: Path) -> None:
    bundle = ExportArchive(tmp_path, "all", 0, no_seal)
    bundle.add("a.txt", ["hello " * 10_000])
    (path,) = bundle.close()
    assert path.stat().st_size < 1_000
