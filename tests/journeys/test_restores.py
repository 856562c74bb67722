"""A restored or new home answers in chats with answers from another database."""

import shutil
from pathlib import Path

import pytest

from tests.emulators.telegram_cast import ANNA
from tests.journeys.stage import Stage

_DATABASE = "state.db"


@pytest.mark.parametrize("platform", ["telegram", "discord", "slack"])
@pytest.mark.parametrize("is_new_home", [False, True], ids=["restored", "new home"])
async def test_answers_after_a_restore_arrive(
    deployment: Stage, tmp_path: Path, platform: str, is_new_home: bool
) -> None:
    anna = deployment.account(platform, ANNA)
    async with deployment.open() as harness:
        assert await harness.hears(anna, "before") == "echo: before"
        await harness.gateway.database.back_up(tmp_path / "copy.db")
        for word in ("one", "two", "three", "four"):
            assert await harness.hears(anna, word) == f"echo: {word}"

    if is_new_home:
        deployment.home = tmp_path / "new home"
    else:
        shutil.copy(tmp_path / "copy.db", deployment.home / _DATABASE)

    async with deployment.open() as harness:
        for word in ("five", "six", "seven", "eight"):
            # Some platforms redeliver messages from after the backup.
            assert (await harness.hears(anna, word)).endswith(word)


async def test_a_terminal_shows_answers_after_a_restore_below_earlier_ones(
    stage: Stage, tmp_path: Path
) -> None:
    async with stage.open() as harness:
        await harness.gateway.database.back_up(tmp_path / "copy.db")
        async with harness.terminal() as terminal:
            assert await terminal.ask("one") == "echo: one"
        earlier = dict(terminal.shown)
    shutil.copy(tmp_path / "copy.db", stage.home / _DATABASE)
    async with stage.open() as harness, harness.terminal() as terminal:
        assert await terminal.ask("two") == "echo: two"
    assert not earlier.keys() & terminal.shown.keys()


async def test_a_queued_answer_of_the_backup_is_not_sent_twice(
    deployment: Stage, tmp_path: Path
) -> None:
    anna = deployment.account("discord", ANNA)
    async with deployment.open() as harness:
        await harness.hears(anna, "hello")
        await harness.gateway.database.write(
            "test",
            lambda c: c.execute("UPDATE outbox SET state = 'owed', message_id = NULL"),
        )
        await harness.gateway.database.back_up(tmp_path / "copy.db")
    shutil.copy(tmp_path / "copy.db", deployment.home / _DATABASE)
    async with deployment.open() as harness:
        await harness.at_rest()
    assert [one.text for one in anna.seen()] == ["echo: hello"]
