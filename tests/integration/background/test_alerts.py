"""Alerts tell owners once of each thing that they have to repair, and of its end."""

import asyncio
import os
import signal
from dataclasses import replace
from pathlib import Path

import pytest

from adapters.contract import Health
from adapters.ids import PlatformMessageId
from adapters.messages import OutboundMessage
from agent_core.agent.quotas.balance import DailyLimit, QuotaDay
from agent_core.agent.quotas.reservations import QuotaStatus
from agent_core.chats import Chat
from agent_core.errors import ModelDenied
from agent_core.state.conversations.usage import QuotaUsage
from agent_core.state.engine.database import Connection
from agent_core.state.people import people
from agent_core.state.queues import incidents, outbox, tasks
from agent_core.state.queues.outbox import NewOutboxMessage
from gateway.background.alert_conditions import Condition, Measured, Space, find_conditions
from tests.fakes.chat import FakeChat
from tests.fakes.model import FakeModel, say
from tests.integration.accounts import make_owner
from tests.integration.clock import Clock
from tests.integration.harness import Harness, quick, running
from tests.integration.jobs_support import ana, greet, greeted, texts
from tests.integration.processes import be_killed
from tests.patience import PATIENCE

ON = {
    "TALARIA_ALERTS__ENABLED": "true",
    "TALARIA_ALERTS__PAUSE_MINUTES": "0",
    "TALARIA_PEOPLE__TIME_ZONE": "UTC",
}
START = (2026, 11, 20, 11, 0)
DOWN = Health(state="disconnected", detail="the server does not answer")
UP = Health(state="connected")
GRACE = {"minutes": 3}


async def looked(harness: Harness, count: int = 3) -> None:
    """Return once as many looks of the watch are over, each of which asks for the health."""
    until = harness.chat.health_reads + count + 1
    await harness.until(lambda: harness.chat.health_reads >= until)


async def own(harness: Harness) -> None:
    await greet(harness)
    await make_owner(harness)


async def test_what_fails_together_is_told_together_once_and_its_end_too(tmp_path: Path) -> None:
    clock, others = Clock(*START), {name: FakeChat(name=name) for name in ("one", "two")}
    async with running(tmp_path, greeted(), now=clock, others=others, **ON) as harness:
        await own(harness)
        for chat in others.values():
            chat.state = DOWN
        await looked(harness)
        clock.move(harness, **GRACE)
        shown = await harness.chat.sees_text("2 things need your attention:")
        assert shown.text.count("the server does not answer") == 2
        assert shown.is_silent
        others["one"].state = UP
        await harness.chat.sees_text("one is connected again.")
        others["two"].state = UP
        await harness.chat.sees_text("two is connected again. All is well again.")
        await looked(harness)
        assert sum("things need you" in text for text in texts(harness)) == 1
        assert sum("All is well again" in text for text in texts(harness)) == 1
        assert await harness.read(incidents.list_all) == []


async def test_what_a_connected_platform_needs_is_told_once_and_that_it_is_done(
    tmp_path: Path,
) -> None:
    other = FakeChat(name="other")
    async with running(tmp_path, greeted(), others={"other": other}, **ON) as harness:
        await own(harness)
        other.state = replace(UP, concerns=("Compare the safety number with Ben.",))
        await harness.chat.sees_text("other: Compare the safety number with Ben.")
        await looked(harness)
        other.state = UP
        await harness.chat.sees_text("The problem with other is solved. All is well again.")
        assert sum("Compare" in text for text in texts(harness)) == 1


async def test_a_platform_that_reconnects_soon_is_no_alert(tmp_path: Path) -> None:
    clock, other = Clock(*START), FakeChat(name="other")
    async with running(tmp_path, greeted(), now=clock, others={"other": other}, **ON) as harness:
        await own(harness)
        other.state = DOWN
        await looked(harness)
        clock.move(harness, minutes=1)
        await looked(harness)
        other.state = UP
        await looked(harness)
        clock.move(harness, minutes=10)
        await looked(harness)
        assert texts(harness) == ["Hello."]


async def test_alerts_of_one_pause_come_in_one_message(tmp_path: Path) -> None:
    clock, others = Clock(*START), {name: FakeChat(name=name) for name in ("one", "two")}
    environ = {**ON, "TALARIA_ALERTS__PAUSE_MINUTES": "60"}
    async with running(tmp_path, greeted(), now=clock, others=others, **environ) as harness:
        await own(harness)
        others["one"].state = DOWN
        await looked(harness)
        clock.move(harness, **GRACE)
        await harness.chat.sees_text("one is disconnected")
        others["two"].state = DOWN
        await looked(harness)
        clock.move(harness, **GRACE)
        others["one"].state = UP
        await looked(harness, 6)
        assert len(texts(harness)) == 2, "the pause is not over"
        clock.move(harness, hours=1)
        shown = await harness.chat.sees_text("two is disconnected")
        assert shown.text.endswith("\n\none is connected again.")


async def test_a_restart_tells_nothing_twice_and_tells_what_ended_meanwhile(tmp_path: Path) -> None:
    clock, chat, other = Clock(*START), FakeChat(), FakeChat(name="other")
    others = {"other": other}
    async with running(tmp_path, greeted(), chat=chat, now=clock, others=others, **ON) as harness:
        await own(harness)
        other.state = DOWN
        await looked(harness)
        clock.move(harness, **GRACE)
        await chat.sees_text("other is disconnected")
        await harness.at_rest()
    async with running(tmp_path, greeted(), chat=chat, now=clock, others=others, **ON) as harness:
        await looked(harness)
        clock.move(harness, **GRACE)
        await looked(harness)
        assert sum("other is disconnected" in text for text in texts(harness)) == 1
    other.state = UP
    async with running(tmp_path, greeted(), chat=chat, now=clock, others=others, **ON) as harness:
        await chat.sees_text("other is connected again. All is well again.")


class DyingChat(FakeChat):
    """Kills the process when it is to send an alert."""

    async def send(self, message: OutboundMessage) -> PlatformMessageId:
        if "other is disconnected" in message.text:
            os.kill(os.getpid(), signal.SIGKILL)
        return await super().send(message)


async def be_killed_at_an_alert(home: Path) -> None:
    clock, chat, other = Clock(*START), DyingChat(), FakeChat(name="other")
    others = {"other": other}
    async with running(home, greeted(), chat=chat, now=clock, others=others, **ON) as harness:
        await own(harness)
        other.state = DOWN
        await looked(harness)
        clock.move(harness, **GRACE)
        await asyncio.sleep(PATIENCE)  # the kill comes before


@pytest.mark.thorough
@pytest.mark.process
async def test_an_alert_survives_the_kill_of_its_sender_and_is_told_once(tmp_path: Path) -> None:
    await be_killed(be_killed_at_an_alert, tmp_path)
    clock, chat, other = Clock(*START), FakeChat(), FakeChat(name="other", state=DOWN)
    clock.pass_unseen(minutes=4)
    others = {"other": other}
    async with running(tmp_path, greeted(), chat=chat, now=clock, others=others, **ON) as harness:
        shown = await chat.sees_text("other is disconnected")
        assert shown.is_silent
        await looked(harness)
        clock.move(harness, **GRACE)
        await looked(harness)
        other.state = UP
        await chat.sees_text("other is connected again. All is well again.")
        assert len(texts(harness)) == 2


async def test_an_alert_takes_a_platform_that_works(tmp_path: Path) -> None:
    clock, other = Clock(*START), FakeChat(name="other")
    model = FakeModel(say("Hello."), say("Here, too."))
    async with running(tmp_path, model, now=clock, others={"other": other}, **ON) as harness:
        await own(harness)
        await other.says("hi")
        await other.sees_text("Here, too.")

        def join(connection: Connection) -> None:
            second = people.find_account(connection, platform="other", user_id="1")
            assert second
            people.make_owner(connection, person_id=second.person_id)

        await harness.gateway.database.write("test", join)
        harness.chat.state = DOWN
        await looked(harness)
        clock.move(harness, **GRACE)
        await other.sees_text("fake is disconnected")


async def test_a_refused_key_is_told_until_the_model_answers(tmp_path: Path) -> None:
    clock = Clock(*START)
    model = FakeModel(say("Hello."), [ModelDenied("the key is wrong")], say("Back."))
    fast = replace(quick(), outage_pace=0.2)
    async with running(tmp_path, model, now=clock, timings=fast, **ON) as harness:
        await own(harness)
        await harness.chat.says("and now?")
        shown = await harness.chat.sees_text("rejects the key")
        assert "the key is wrong" in shown.text
        await harness.chat.sees_text("Back.")
        await harness.chat.sees_text("answers again. All is well again.")


@pytest.mark.parametrize("is_on", [True, False])
async def test_a_setting_turns_the_watch_off(tmp_path: Path, is_on: bool) -> None:
    environ = {**ON, "TALARIA_ALERTS__ENABLED": str(is_on).lower()}
    async with running(tmp_path, greeted(), **environ) as harness:
        work = [getattr(run, "__qualname__", "") for run in harness.gateway.background]
        assert ("AlertWatch.run" in work) is is_on


async def test_an_owner_reads_alerts_in_their_language(tmp_path: Path) -> None:
    clock, other = Clock(*START), FakeChat(name="other")
    async with running(tmp_path, greeted(), now=clock, others={"other": other}, **ON) as harness:
        await own(harness)
        await harness.chat.says("/settings language de")
        await harness.at_rest()
        other.state = DOWN
        await looked(harness)
        clock.move(harness, **GRACE)
        await harness.chat.sees_text(
            "Ich habe keine Verbindung zu other. Einzelheiten auf Englisch: „the server"
        )
        other.state = UP
        await harness.chat.sees_text("Alles ist wieder in Ordnung.")


NOW = 1_800_000_000_000
MINUTE = 60_000
WELL = Measured(
    health={"fake": UP},
    down_since={},
    space=Space(free=10**9),
    backup=NOW - MINUTE,
    unread={},
    budget=QuotaStatus(
        day=QuotaDay(start=0, end=NOW + MINUTE),
        spent=QuotaUsage(micro_dollars=0, unpriced_tokens=0),
        limit=DailyLimit(money=1000, tokens=1000),
    ),
    budget_percent=80,
    awake_since=0,
)


async def conditions(harness: Harness, measured: Measured) -> list[Condition]:
    return await harness.read(lambda c: list(find_conditions(c, measured, ["fake-1"], NOW)))


@pytest.mark.parametrize(
    ("kind", "measured", "near"),
    [
        (
            "disk",
            replace(WELL, space=Space(free=499_999_999)),
            replace(WELL, space=Space(free=500_000_000)),
        ),
        (
            "budget",
            replace(
                WELL,
                budget=replace(WELL.budget, spent=QuotaUsage(micro_dollars=800, unpriced_tokens=0)),
            ),
            replace(
                WELL,
                budget=replace(
                    WELL.budget, spent=QuotaUsage(micro_dollars=799, unpriced_tokens=799)
                ),
            ),
        ),
        (
            "backup",
            replace(WELL, backup=NOW - 49 * 60 * MINUTE),
            replace(WELL, backup=NOW - 47 * 60 * MINUTE),
        ),
        (
            "platform",
            replace(
                WELL, health={"fake": Health(state="stopped", detail="x")}, down_since={"fake": NOW}
            ),
            replace(WELL, health={"fake": DOWN}, down_since={"fake": NOW - MINUTE}),
        ),
    ],
    ids=["disk", "budget", "backup", "platform"],
)
async def test_a_condition_begins_at_its_limit(
    tmp_path: Path, kind: str, measured: Measured, near: Measured
) -> None:
    async with running(tmp_path, greeted()) as harness:
        assert await conditions(harness, WELL) == []
        assert [one.kind for one in await conditions(harness, measured)] == [kind]
        assert await conditions(harness, near) == []


async def test_queues_are_stuck_after_their_longest_wait(tmp_path: Path) -> None:
    async with running(tmp_path, greeted()) as harness:
        await greet(harness)
        person_id = await harness.read(ana)
        new = NewOutboxMessage(
            chat=Chat(platform="ghost", address="d1"), body="wait", person_id=person_id
        )
        database = harness.gateway.database
        await database.write("test", lambda c: outbox.enqueue(c, new, now=NOW - 16 * MINUTE))
        gone = replace(WELL, health={"ghost": UP})
        assert [one.subject for one in await conditions(harness, gone)] == ["ghost"]
        assert await conditions(harness, WELL) == [], "its platform is no longer there"
        await database.write(
            "test",
            lambda c: tasks.enqueue(
                c, kind="nobody", key="1", person_id=person_id, payload="", now=NOW - 61 * MINUTE
            ),
        )
        assert [one.subject for one in await conditions(harness, WELL)] == [""]
        woken = replace(WELL, awake_since=NOW - 59 * MINUTE)
        assert await conditions(harness, woken) == [], "nothing waits while the machine sleeps"


async def test_a_memory_file_that_cannot_be_read_is_told_until_it_can(tmp_path: Path) -> None:
    clock = Clock(*START)
    async with running(tmp_path, greeted(), now=clock, **ON) as harness:
        await own(harness)
        memory = harness.gateway.memory.store
        path = memory.locate("human", "ana", "memory")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("- The boiler is from 2019\n" * 20_000)
        await harness.chat.says("/memory")
        await harness.chat.sees_text(
            "I can't read the file “memories/people/ana/MEMORY.md”, so I use what it said before."
            " Details: “larger than 256 KiB.”"
        )
        path.write_text("- The boiler is from 2019\n")
        await harness.chat.says("/memory")
        await harness.chat.sees_text("I can read the file “memories/people/ana/MEMORY.md” again.")
    assert harness.gateway.memory.store.unread == {}


async def test_noted_faults_survive_a_restart(tmp_path: Path) -> None:
    async with running(tmp_path, greeted()) as harness:
        await harness.gateway.database.write(
            "test",
            lambda c: incidents.begin(
                c, kind="model", subject="fake-1", details={"after": 0}, now=NOW
            ),
        )
    async with running(tmp_path, greeted()) as harness:
        assert [one.kind for one in await conditions(harness, WELL)] == ["model"]
        await greet(harness)
        assert await conditions(harness, WELL) == [], "the model has answered"
