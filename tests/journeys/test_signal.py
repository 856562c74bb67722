"""Signal through the whole gateway: strangers, groups, one person, and a daemon that misbehaves."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agent_core.state.people import people
from gateway.texts import people as people_texts
from tests.emulators.signal_world import Group
from tests.emulators.telegram_cast import ANNA, BEN
from tests.integration.accounts import code_in
from tests.journeys.accounts import SignalAccount, texts
from tests.journeys.identities import claim
from tests.journeys.stage import Harness, Stage, call, calls, facts
from tests.patience import PATIENCE


@pytest.fixture
async def both(tmp_path: Path) -> AsyncIterator[Stage]:
    """A stage with Signal and Telegram."""
    async with Stage(tmp_path / "home", ("telegram", "signal")) as made:
        yield made


def account(stage: Stage, number: int) -> SignalAccount:
    return SignalAccount(stage.signal, number)


async def recorded(harness: Harness, number: int) -> None:
    """Return once so many messages are known as sent."""
    async with asyncio.timeout(PATIENCE):
        while await harness.count("outbox", "state = 'sent'") < number:
            await asyncio.sleep(0.005)


def make_group(stage: Stage, *numbers: int) -> Group:
    return stage.signal.world.group("Kitchen", [account(stage, one).person for one in numbers])


async def test_a_message_to_a_group_is_not_taken_for_a_direct_answer_after_a_kill(
    both: Stage,
) -> None:
    """The direct answer never leaves; the group's is confirmed by the same phone alone."""
    anna, group = account(both, ANNA), make_group(both, ANNA)
    async with both.open(TALARIA_TURNS__DRAIN_SECONDS="0") as harness:
        assert await harness.hears(anna, "hello") == "echo: hello"
        assert await harness.hears(anna, "hello", room=group.id) == "echo: hello"
        both.signal.fail("send", "hang")
        before = len(both.signal.calls)
        await anna.says("are you there?")
        await harness.until(lambda: "send" in [name for name, _ in both.signal.calls[before:]])
        await anna.says("good morning", room=group.id)
        await harness.until(lambda: "echo: good morning" in texts(anna, group.id))
        await recorded(harness, 3)
    async with both.open() as harness:
        await harness.until(lambda: len(texts(anna)) == 2)
        await harness.at_rest()
    assert texts(anna) == ["echo: hello", "echo: are you there?"]
    assert texts(anna, group.id) == ["echo: hello", "echo: good morning"]


async def test_a_stranger_is_paired_with_a_code(both: Stage) -> None:
    ben, anna = account(both, BEN), both.account("telegram", ANNA)
    async with both.open(allow="") as harness:
        await claim(harness)
        told = await harness.hears(ben, "let me in, and tell me what Anna said")
        assert both.turns == [], "nothing that a stranger writes reaches the model"
        code = code_in(told)
        assert "Anna" not in told
        await harness.hears(anna, f"/approve {code}")
        assert await harness.hears(ben, "hello") == "echo: hello"


async def test_a_group_shows_nothing_that_was_said_alone(both: Stage) -> None:
    anna, ben, group = account(both, ANNA), account(both, BEN), make_group(both, ANNA, BEN)
    async with both.open() as harness:
        nuts = call("memory", action="add", target="user", text="Is allergic to nuts")
        both.plan(calls(nuts), "Got it.")
        await harness.hears(anna, "Remember that I am allergic to nuts")
        assert await harness.hears(anna, "lunch at one", room=group.id, mentions=False) == ""
        assert await harness.hears(anna, "what to cook?", room=group.id) == "echo: what to cook?"
        asked = both.turns[-1]
        assert "nuts" not in json.dumps(asked)
        assert "others can read along" in facts(asked)
        assert await harness.hears(ben, "and I?", room=group.id) == "echo: and I?"
        await harness.hears(anna, "what to cook?")
        assert "allergic to nuts" in json.dumps(both.turns[-1])


async def test_one_person_has_one_conversation_on_signal_and_telegram(both: Stage) -> None:
    anna, elsewhere = account(both, ANNA), both.account("telegram", ANNA)
    async with both.open() as harness:
        await harness.hears(elsewhere, "the boiler man comes on Friday")
        code = code_in(await harness.hears(elsewhere, "/link"))
        await harness.hears(anna, f"/link {code}")
        await harness.press(elsewhere, people_texts.YES())
        both.plan("On Friday.")
        assert await harness.hears(anna, "when does he come?") == "On Friday."
        assert "the boiler man comes on Friday" in json.dumps(both.turns[-1])
        assert await count_people(harness) == 1


async def count_people(harness: Harness) -> int:
    """Count who the accounts of Anna are."""
    signal = account(harness.stage, ANNA)
    known = {"telegram": str(ANNA), "signal": signal.user_id}
    found = [
        await harness.gateway.database.read(people.find_by_account, platform=name, user_id=user_id)
        for name, user_id in known.items()
    ]
    return len({one.id for one in found if one is not None})


UNREADABLE = (
    b'{"jsonrpc":"2.0","method":"receive","par\n',
    b"\xff\xfe\n",
    b'{"jsonrpc":"9.9","method":"recieve","params":{}}\n',
    b'{"jsonrpc":"2.0","method":"receive","params":[[[[[[]]]]]]}\n',
    b'{"jsonrpc":"2.0","method":"receive","params":{"result":{"envelope":7}}}\n',
    b"[" * 100_000 + b"\n",
)
UNKNOWN = (
    {"storyMessage": {"allowsReplies": True}},
    {"pollCreateMessage": {"question": "?"}},
    {"dataMessage": {"timestamp": 5, "message": None, "newThing": {"a": 1}}},
    {"dataMessage": "a text"},
    {},
)


@pytest.mark.parametrize("place", ["http", "tcp"])
async def test_a_daemon_that_says_odd_things_loses_no_message(
    both: Stage, caplog: pytest.LogCaptureFixture, place: str
) -> None:
    anna, daemon = account(both, ANNA), both.signal
    url = daemon.url if place == "http" else f"tcp://127.0.0.1:{daemon.tcp_port}"
    async with both.open(SIGNAL_RPC_URL=url) as harness:
        assert await harness.hears(anna, "one") == "echo: one"
        for line in UNREADABLE:
            daemon.write_raw(line)
        for fields in UNKNOWN:
            daemon.arrive(daemon.world.envelope(anna.person, daemon.world.now(), **fields))
        assert await harness.hears(anna, "two") == "echo: two"
        daemon.write_raw(b'{"jsonrpc":"2.0","method":"receive","params":{"envel')
        await daemon.stop()
        await harness.until(lambda: harness.state_of("signal") == "disconnected")
        detail = harness.gateway.platforms.health()["signal"].detail
        assert detail.count(".") == 1, "one sentence for the owner"
        await anna.says("three")
        daemon.world.version = "0.15.0-SNAPSHOT"
        await daemon.start()
        await harness.until(lambda: "echo: three" in texts(anna))
        await harness.at_rest()
    assert texts(anna) == ["echo: one", "echo: two", "echo: three"]
    assert "Traceback" not in caplog.text


async def test_a_huge_line_is_set_aside_and_the_next_message_answered(both: Stage) -> None:
    anna, daemon = account(both, ANNA), both.signal
    async with both.open(SIGNAL_RPC_URL=f"tcp://127.0.0.1:{daemon.tcp_port}") as harness:
        assert await harness.hears(anna, "one") == "echo: one"
        daemon.write_raw(b"x" * 20_000_000 + b"\n")
        assert await harness.hears(anna, "two") == "echo: two"
        assert harness.state_of("signal") == "connected"
        assert await harness.count("inbox", "LENGTH(payload) > 100000") == 0
