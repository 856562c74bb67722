"""SOUL.md is written once, belongs to the person from then on, and is never written over."""

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

from agent_core.agent.prompt.persona import DEFAULT_SOUL
from agent_core.agent.prompt.soul_file import SOUL_LIMIT, ensure_soul


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "SOUL.md"


@pytest.fixture
def blank(path: Path) -> Path:
    path.write_text(" \n\n")
    return path


@pytest.fixture
def own(path: Path) -> Path:
    path.write_text("\ufeff\nYou are Ada.\n")
    return path


@pytest.fixture
def long(path: Path) -> Path:
    path.write_text("x" * (SOUL_LIMIT + 100))
    return path


@pytest.fixture
def unreadable(path: Path) -> Path:
    path.mkdir()
    return path


@pytest.fixture
def broken(path: Path) -> Path:
    path.write_bytes(b"You are \xff Ada.")
    return path


def text(path: Path) -> str:
    return path.read_text()


async def test_the_default_is_written_at_first_start(tmp_path: Path, path: Path) -> None:
    assert await ensure_soul(tmp_path) == DEFAULT_SOUL.strip()
    assert text(path) == DEFAULT_SOUL
    assert await ensure_soul(tmp_path) == DEFAULT_SOUL.strip()


async def test_a_person_s_own_is_used_and_never_written_over(tmp_path: Path, own: Path) -> None:
    assert await ensure_soul(tmp_path) == "You are Ada."
    assert text(own) == "\ufeff\nYou are Ada.\n"


async def test_an_empty_one_gives_the_default_and_stays_empty(tmp_path: Path, blank: Path) -> None:
    assert await ensure_soul(tmp_path) == DEFAULT_SOUL.strip()
    assert text(blank) == " \n\n"


async def test_a_long_one_is_cut_with_a_warning(
    tmp_path: Path, long: Path, caplog: pytest.LogCaptureFixture
) -> None:
    assert await ensure_soul(tmp_path) == "x" * SOUL_LIMIT
    assert str(long) in caplog.text
    assert len(text(long)) == SOUL_LIMIT + 100


async def test_an_unreadable_one_gives_the_default_with_a_warning(
    tmp_path: Path, unreadable: Path, caplog: pytest.LogCaptureFixture
) -> None:
    assert await ensure_soul(tmp_path) == DEFAULT_SOUL.strip()
    assert str(unreadable) in caplog.text


async def test_bytes_that_are_no_text_do_not_stop_a_turn(tmp_path: Path, broken: Path) -> None:
    assert await ensure_soul(tmp_path) == "You are \xff Ada."


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig"])
async def test_one_of_another_encoding_is_read_as_its_ledger_reads_it(
    tmp_path: Path, encoding: str
) -> None:
    tmp_path.joinpath("SOUL.md").write_bytes("You are Zoë.\r\nBe kind.".encode(encoding))
    assert await ensure_soul(tmp_path) == "You are Zoë.\nBe kind."


async def test_one_that_is_too_large_to_be_compared_is_not_used(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    tmp_path.joinpath("SOUL.md").write_text("You are evil. " * 20_000)
    assert await ensure_soul(tmp_path) == DEFAULT_SOUL.strip()
    assert "larger than" in caplog.text


async def test_a_home_that_can_not_be_written_is_told(tmp_path: Path) -> None:
    with pytest.raises(OSError):
        await ensure_soul(tmp_path / "nowhere")


def test_the_default_is_short() -> None:
    assert 800 < len(DEFAULT_SOUL) < 1600


@pytest.mark.process
async def test_a_first_soul_that_does_not_fit_on_the_disk_leaves_nothing_behind(
    tmp_path: Path,
) -> None:
    code = (
        "import asyncio, resource, signal, sys, pathlib\n"
        "from agent_core.agent.prompt.soul_file import ensure_soul\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))\n"
        "try:\n"
        "    asyncio.run(ensure_soul(pathlib.Path(sys.argv[1])))\n"
        "except OSError:\n"
        "    sys.exit(7)\n"
    )
    done = await asyncio.to_thread(
        subprocess.run, [sys.executable, "-c", code, str(tmp_path)], check=False
    )
    assert done.returncode == 7
    assert await asyncio.to_thread(lambda: list(tmp_path.iterdir())) == []
    assert await ensure_soul(tmp_path) == DEFAULT_SOUL.strip()
