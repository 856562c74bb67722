"""Kills of a whole gateway at a press below a reminder: each counts once, on each platform."""

import asyncio
import json
import re
import sqlite3
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from tests.emulators.streaming import Answer, Reply, text_answer
from tests.emulators.telegram_cast import ANNA
from tests.faults.deployment import Deployment
from tests.faults.driver_discord import DiscordDriver
from tests.faults.driver_slack import SlackDriver
from tests.journeys.accounts import Account, DiscordAccount, SlackAccount, TelegramAccount
from tests.patience import PATIENCE

pytestmark = [pytest.mark.process, pytest.mark.slow]

SPEED = 120
"""A minute takes half a second, and no reminder of tomorrow comes while the test runs."""
_POLL = 0.02
_CALM = 0.5
"""Seconds in which a second message or a second effect would show."""
_FAR = 4 * 24 * 3600
"""Seconds until the day of the reminders that repeat."""
_WORK = re.compile(r"(once|weekly) (\d+)")
COMMITS = ("inbox.store:1", "commands.apply:1", "outbox.sent:1")
"""Commits of a press: it arrives, it counts, and its message has changed."""
KILLS = tuple(f"{phase}:{commit}" for commit in COMMITS for phase in ("begin", "committed"))
FEW = ("begin:commands.apply:1", "committed:commands.apply:1")


@dataclass(frozen=True, slots=True, kw_only=True)
class Press:
    """A button, and what one press of it leaves behind: the reason of the run, a line below."""

    label: str
    kind: str
    reason: str
    line: str
    after: str = ""
    """The button to press first."""


PRESSES = (
    Press(label="Done", kind="once", reason="acknowledged", line="✓ Done"),
    Press(label="+10 min", kind="once", reason="put off", line="⏰ again"),
    Press(label="Tomorrow", kind="once", reason="put off", line="⏰ again tomorrow"),
    Press(label="Skip next", kind="weekly", reason="skipped the next", line="⏭ Skipped"),
    Press(label="Undo", kind="weekly", reason="", line="", after="Skip next"),
    Press(label="Undo", kind="once", reason="", line="", after="Tomorrow"),
)


def answer(body: dict[str, Any]) -> Reply:
    """Set the reminder that the newest message asks for, and then say so."""
    if "tools" not in body or body["messages"][-1]["role"] != "user":
        return text_answer("A talk")
    last = json.dumps(body["messages"][-1], ensure_ascii=False)
    found = [*_WORK.finditer(last)]
    if not found or "tool_result" in last:
        return text_answer("Set.")
    kind, number = found[-1].groups()
    # Behind the receipt, and not on a day that comes while the test runs.
    day = time.strftime("%A", time.localtime(time.time() + _FAR)).lower()
    when = "in 9 minutes" if kind == "once" else f"every {day} at 8:00"
    given = {"text": f"Water {number}.", "when": when}
    return Answer(blocks=[{"type": "tool_use", "name": "remind", "input": given}], stop="tool_use")


@pytest.fixture(params=["telegram", "discord", "slack"])
async def scene(
    request: pytest.FixtureRequest, tmp_path: Path, spawner: Path
) -> AsyncIterator[tuple[Deployment, Account]]:
    """A deployment, and Anna's account on one of its platforms."""
    discord, slack = DiscordDriver(), SlackDriver(is_agent=False, is_forgetful=False)
    others = {"discord": (discord,), "slack": (slack,)}.get(request.param, ())
    async with Deployment(tmp_path / "home", spawner, drivers=others) as deployment:
        deployment.anthropic.answer = answer
        deployment.telegram.user(ANNA, "Anna")
        deployment.speed, deployment.epoch = SPEED, time.time_ns() // 1_000_000
        accounts: dict[str, Account] = {
            "telegram": TelegramAccount(deployment.telegram, ANNA),
            "discord": DiscordAccount(discord.api, 11),
            "slack": SlackAccount(slack.api, 11),
        }
        yield deployment, accounts[request.param]


async def until(is_so: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not is_so():
            await asyncio.sleep(_POLL)


def read(deployment: Deployment, sql: str, **values: object) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(deployment.home / "state.db")) as connection:
        return connection.execute(sql, values).fetchall()


def find_texts(anna: Account, number: int) -> list[str]:
    return [one.text for one in anna.seen() if one.text.startswith(f"⏰ Water {number}.")]


async def restart(deployment: Deployment, *kills: str) -> None:
    """End the gateway in order, and start one that dies at the given points."""
    assert deployment.process is not None
    deployment.process.terminate()
    await deployment.process.died()
    await (await deployment.open_process(*kills)).ready()


async def have_reminder(
    deployment: Deployment, anna: Account, press: Press, numbers: Iterator[int]
) -> int:
    """Let a reminder come whose buttons Anna can press; return its number.

    On a busy machine, it may come before its receipt, whose Undo would then be the newest.
    """
    while True:
        number = next(numbers)
        await bring(deployment, anna, press, number)
        if not press.after:
            return number
        await until(partial(has_receipt, anna, number))
        if anna.seen()[-1].text == f"⏰ Water {number}.":
            await anna.holds(press.after)()
            await until(lambda: anna.seen()[-1].labels[-1:] == ("Undo",))
            return number


def has_receipt(anna: Account, number: int) -> bool:
    return any(f": Water {number}." in one.text for one in anna.seen())


async def bring(deployment: Deployment, anna: Account, press: Press, number: int) -> None:
    """Ask for a reminder, and wait until it has come."""
    await anna.says(f"{press.kind} {number}")
    find = "SELECT id FROM jobs WHERE body = :body"
    body = f"Water {number}."
    await until(lambda: bool(read(deployment, find, body=body)))
    if press.kind == "weekly":
        ((job,),) = read(deployment, find, body=body)
        await until(lambda: any("Next:" in one.text for one in anna.seen()[-1:]))
        await anna.says(f"/jobs run {job}")
    await until(lambda: find_texts(anna, number) == [f"⏰ {body}"])


def look(deployment: Deployment, number: int) -> tuple[list[Any], list[Any], int]:
    """Return the reasons of a reminder's runs, its state, and how many answers are recorded."""
    runs = read(
        deployment,
        "SELECT job_runs.reason FROM job_runs JOIN jobs ON jobs.id = job_id"
        " WHERE body = :body ORDER BY job_runs.id",
        body=f"Water {number}.",
    )
    state = read(
        deployment, "SELECT state, next_slot FROM jobs WHERE body = :body", body=f"Water {number}."
    )
    told = read(
        deployment,
        "SELECT COUNT(*) FROM messages JOIN turns ON turns.id = messages.turn_id"
        " JOIN job_runs ON job_runs.id = turns.run_id JOIN jobs ON jobs.id = job_runs.job_id"
        " WHERE jobs.body = :body AND messages.role = 'user'",
        body=f"Water {number}.",
    )
    return [one for (one,) in runs], state, told[0][0]


async def press_at(
    deployment: Deployment, anna: Account, press: Press, kill: str, numbers: Iterator[int]
) -> None:
    """Kill the gateway at a point of a press, start it again, and judge what is left."""
    number = await have_reminder(deployment, anna, press, numbers)
    await restart(deployment, kill)
    button = anna.holds(press.label)
    told = look(deployment, number)[2]
    await button()
    assert deployment.process is not None
    await deployment.process.died()
    await (await deployment.open_process()).ready()
    if kill.startswith("begin:inbox.store"):
        await button()  # a press that never arrived: people press again
    await until(lambda: look(deployment, number)[0][0] == press.reason)
    await button()  # a press more changes nothing
    shown = f"⏰ Water {number}.\n{press.line}" if press.line else f"⏰ Water {number}."
    await until(lambda: find_texts(anna, number)[0].startswith(shown))
    await asyncio.sleep(_CALM)
    reasons, state, now_told = look(deployment, number)
    assert now_told == told + 1, "an answer is recorded twice, or not at all"
    match press.label, press.kind:
        case "Done", _:
            assert (reasons, state) == ([press.reason], [("over", None)])
        case "+10 min", _:
            await until(lambda: len(find_texts(anna, number)) == 2)
            await asyncio.sleep(_CALM)
            assert look(deployment, number)[0] == [press.reason, ""]
            assert find_texts(anna, number)[1].startswith(f"⏰ Water {number}.")
        case "Tomorrow", _:
            assert reasons == [press.reason]
            assert state[0][0] == "active"
            assert state[0][1].startswith("again ")
        case "Skip next", _:
            assert reasons == [press.reason, "skipped on request"]
        case "Undo", "weekly":
            assert reasons == [""]
            assert state[0][0] == "active"
        case _:
            assert (reasons, state) == ([""], [("over", None)])
    if press.label != "+10 min":
        assert len(find_texts(anna, number)) == 1


async def press_each(scene: tuple[Deployment, Account], kills: Sequence[str]) -> None:
    deployment, anna = scene
    await (await deployment.open_process()).ready()
    numbers, cases = count(1), [(press, kill) for press in PRESSES for kill in kills]
    for press, kill in cases:
        print(press.label, press.kind, kill)
        await press_at(deployment, anna, press, kill, numbers)
    print(f"\n{anna.platform}: {len(cases)} presses, each with a SIGKILL, each counted once")


async def test_a_press_below_a_reminder_counts_once_whatever_dies(
    scene: tuple[Deployment, Account],
) -> None:
    await press_each(scene, FEW)


@pytest.mark.long
async def test_a_press_counts_once_at_each_commit(scene: tuple[Deployment, Account]) -> None:
    await press_each(scene, KILLS)


@pytest.mark.parametrize("kill", ["begin:questions.answer:1", "committed:questions.answer:1"])
async def test_a_new_time_counts_once_whatever_dies(
    scene: tuple[Deployment, Account], kill: str
) -> None:
    deployment, anna = scene
    await (await deployment.open_process()).ready()
    change = Press(label="Change", kind="weekly", reason="", line="")
    await have_reminder(deployment, anna, change, count(1))
    ((before,),) = read(deployment, "SELECT timing FROM jobs WHERE body = 'Water 1.'")
    await restart(deployment, "committed:commands.apply:1")
    button = anna.holds("Change")
    await button()
    assert deployment.process is not None
    await deployment.process.died()
    await (await deployment.open_process(kill)).ready()
    await until(lambda: any("Move it to when?" in one.text for one in anna.seen()))
    await button()
    await anna.says("at 10:30")
    await deployment.process.died()
    await (await deployment.open_process()).ready()
    await until(lambda: any("Changed: Water 1" in one.text for one in anna.seen()))
    assert sum("Move it to when?" in one.text for one in anna.seen()) == 1
    find = "SELECT COUNT(*), MAX(timing) FROM job_versions"
    assert read(deployment, find)[0][0] == 1
    await restart(deployment, "committed:commands.apply:1")
    await anna.holds("Undo")()
    await deployment.process.died()
    await (await deployment.open_process()).ready()
    await asyncio.sleep(_CALM)
    assert read(deployment, find)[0][0] == 2
    assert read(deployment, "SELECT timing FROM jobs WHERE body = 'Water 1.'") == [(before,)]
