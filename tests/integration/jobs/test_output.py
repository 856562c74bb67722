"""Long command output: its start and end in the message, the whole in a file."""

import re
from pathlib import Path

from agent_core.state.jobs.jobs import Target
from agent_core.state.people import delivery_targets
from gateway.jobs.history import shorten_output
from tests.fakes.chat import NoFilesChat
from tests.integration.clock import Clock
from tests.integration.harness import Harness, running
from tests.integration.jobs_support import ana, give_job, greet, greeted, looked, texts

SETTINGS = {"TALARIA_PEOPLE__TIME_ZONE": "Europe/Berlin"}
NOON = (2026, 11, 20, 11, 0)
"""Friday, 12:00 in Berlin."""
FLOOD = "i=0; while [ $i -lt 5000 ]; do echo line number $i of very many; i=$((i+1)); done"
WHOLE = "".join(f"line number {number} of very many\n" for number in range(5000))
"""About 150,000 characters."""


def sent_files(harness: Harness) -> list[tuple[str, str, str]]:
    """Return chat, name and text of each sent file."""
    return [
        (one.chat_id, one.file.name, one.file.data.decode())
        for one in harness.chat.shown
        if one.file
    ]


async def test_long_output_is_shortened_and_attached_as_a_file(tmp_path: Path) -> None:
    clock = Clock(*NOON)
    async with running(tmp_path, greeted(), now=clock, **SETTINGS) as harness:
        await greet(harness)
        await give_job(harness, FLOOD, "2026-11-20T13:00", kind="script")
        clock.move(harness, hours=1)
        await harness.until(lambda: sent_files(harness))
        await looked(harness)
        assert sent_files(harness) == [("1", "output.txt", WHOLE)]
        reported = "".join(texts(harness)[1:])
        assert len(reported) < 3500
        assert len(texts(harness)) <= 6, "the greeting, four messages of 1,000 letters, the file"
        assert "line number 0 of very many\n" in reported
        assert reported.rstrip().endswith("line number 4999 of very many")
        assert "characters are left out here; output.txt has all of them." in reported


async def test_a_deferred_message_has_its_file_in_each_chat(tmp_path: Path) -> None:
    clock = Clock(*NOON)
    async with running(tmp_path, greeted(), now=clock, **SETTINGS) as harness:
        await greet(harness)
        await harness.gateway.database.write(
            "test", lambda c: delivery_targets.set_days_off(c, person_id=ana(c), days=(6,))
        )
        there = Target(kind="place", platform="fake", chat='["9",null,true]')
        places = [Target(kind="home"), there]
        await give_job(harness, FLOOD, "2026-11-21T09:00", kind="script", targets=places)
        clock.move(harness, hours=22)
        await looked(harness)
        assert not sent_files(harness)
        clock.move(harness, hours=18)
        await harness.until(lambda: len(sent_files(harness)) == 2)
        await looked(harness)
        assert sorted(sent_files(harness)) == [(chat, "output.txt", WHOLE) for chat in ("1", "9")]


async def test_without_file_support_long_output_names_its_file(tmp_path: Path) -> None:
    clock = Clock(*NOON)
    async with running(tmp_path, greeted(), chat=NoFilesChat(), now=clock, **SETTINGS) as harness:
        await greet(harness)
        await give_job(harness, FLOOD, "2026-11-20T13:00", kind="script")
        clock.move(harness, hours=1)
        await harness.chat.sees_text("I made output.txt, but I can't send files here.")
        await looked(harness)
        assert len(texts(harness)) <= 5


async def test_short_output_has_no_file_and_invisible_output_is_not_sent(
    tmp_path: Path,
) -> None:
    clock = Clock(*NOON)
    async with running(tmp_path, greeted(), now=clock, **SETTINGS) as harness:
        await greet(harness)
        nothing = r"printf '\0\342\200\213\n'"
        await give_job(harness, nothing, "2026-11-20T12:30", kind="script")
        await give_job(
            harness, "echo; echo Two letters came.; echo", "2026-11-20T13:00", kind="script"
        )
        for _ in range(2):
            clock.move(harness, minutes=30)
            await looked(harness)
        await harness.chat.sees_text("Two letters came.")
        assert len(texts(harness)) == 2
        assert not sent_files(harness)


def test_only_long_output_is_cut_with_a_count_of_the_missing_part() -> None:
    assert shorten_output("x" * 3000) == "x" * 3000
    for text in ("x" * 3001, "ab cd\n" * 9000, "\n\n" + "é" * 1999 + "\n" + "y" * 5000 + "\n\n"):
        short = shorten_output(text)
        begin, line, end = re.split(r"\n\n(_\(.+\)_)\n\n", short)
        (count,) = re.findall(r"([\d,]+) characters", line)
        assert len(begin) + len(end) + int(count.replace(",", "")) == len(text.strip())
        assert text.strip().startswith(begin)
        assert text.strip().endswith(end)
        assert 2000 < len(begin) + len(end) <= 3000
