"""Daily quotas through the whole gateway, and what `/usage` shows."""

import asyncio
from datetime import UTC, datetime
from pathlib import Path

import pytest

from agent_core.errors import ModelRejected
from agent_core.models.contract import Usage
from agent_core.models.token_estimate import estimate_input
from agent_core.state.conversations import turns
from agent_core.transcript import TextPart
from tests.fakes.model import FakeModel, Play, finish, say
from tests.integration.accounts import ChatAccount
from tests.integration.harness import Harness, running


def _zone_where_it_is_noon() -> str:
    """Return a zone in which no day ends during a test."""
    ahead = 12 - datetime.now(UTC).hour
    return f"Etc/GMT{-ahead:+d}" if ahead else "Etc/GMT"


ZONE = _zone_where_it_is_noon()
OPEN = {
    "TALARIA_MODEL__NAME": "fake-1",
    "TALARIA_MODEL__CHEAP": "cheap-1",
    "TALARIA_MODEL__MAX_OUTPUT_TOKENS": "256",
    "TALARIA_PEOPLE__TIME_ZONE": ZONE,
}
"""Both models have no price, so that tokens are counted."""


def takes(tokens: int, words: str) -> Play:
    return say(words, usage=Usage(input_tokens=tokens - 1, output_tokens=1))


def accounts(harness: Harness) -> tuple[ChatAccount, ChatAccount]:
    return ChatAccount(harness, "1", "Ana"), ChatAccount(harness, "2", "Ben")


async def claim(account: ChatAccount) -> None:
    code = account.harness.gateway.claim_code
    assert code is not None
    await account.says(f"/claim {code}")


async def test_a_spent_quota_refuses_only_its_person(
    tmp_path: Path,
) -> None:
    deferred = asyncio.Event()
    model = FakeModel(takes(100_000, "Dear."), [deferred.wait, *say("Hi Ben.")], say("Again."))
    async with running(tmp_path, model, **OPEN, TALARIA_COST__PERSON_DAY_TOKENS="50000") as harness:
        ana, ben = accounts(harness)
        assert "Dear." in await ana.says("a long one")
        await harness.chat.says("hello", user="2", chat="2", name="Ben")
        await harness.until(lambda: model.streaming == 1)
        await harness.chat.says("and another", user="1", chat="1", name="Ana")
        shown = await harness.chat.sees_text("I stopped:")
        assert model.streaming == 1, "it did not wait for the other's turn"
        assert "your daily limit of 50,000 tokens is used up" in shown.text
        assert "I can continue from tomorrow, 0:00." in shown.text
        assert "An owner can raise the limit" in shown.text
        assert len(model.requests) == 2, "no call was made for it"
        deferred.set()
        await harness.chat.sees_text("Hi Ben.")
        assert "Again." in await ben.says("once more")
        (refused,) = [
            turn
            for turn in await harness.read(lambda c: turns.list_recent(c, limit=9))
            if turn.state == "exhausted"
        ]
        assert refused.reason == "ceiling"


async def test_the_gateways_quota_stops_everyone_and_tells_owners_the_setting(
    tmp_path: Path,
) -> None:
    model = FakeModel(takes(100_000, "Dear."))
    async with running(tmp_path, model, **OPEN, TALARIA_COST__HOUSE_DAY_TOKENS="50000") as harness:
        ana, ben = accounts(harness)
        await claim(ana)
        await ben.says("a long one")
        shown = await ana.says("hello")
        assert "the daily limit of 50,000 tokens that everyone shares" in shown
        assert "change cost.house_day_tokens" in shown
        assert len(model.requests) == 1


async def test_a_quota_resets_at_midnight_in_the_persons_zone(tmp_path: Path) -> None:
    model = FakeModel(takes(100_000, "Dear."))
    async with running(tmp_path, model, **OPEN, TALARIA_COST__PERSON_DAY_TOKENS="50000") as harness:
        ana, _ = accounts(harness)
        await ana.says("/settings time_zone Asia/Kolkata")
        await ana.says("a long one")
        assert "tomorrow, 0:00" in await ana.says("hello")


async def test_near_the_quota_the_cheap_model_answers_with_one_notice_a_day(
    tmp_path: Path,
) -> None:
    near = {**OPEN, "TALARIA_COST__PERSON_DAY_TOKENS": "50000"}
    model = FakeModel(takes(41_000, "Dear."), say("Small."), say("Small too."))
    async with running(tmp_path, model, **near) as harness:
        ana, _ = accounts(harness)
        assert "smaller model" not in await ana.says("a long one")
        assert (await ana.says("hello")).startswith("Small.\n\n(Most of today's budget")
        assert await ana.says("and now?") == "Small too."
        names = [request.model for request in model.requests]
        assert names == ["fake-1", "cheap-1", "cheap-1"]
        said = [message.text for message in model.requests[-1].messages]
        assert "Small." in said, "the note is for the person, not for the transcript"
    again = FakeModel(say("Still small."))
    async with running(tmp_path, again, **near) as harness:
        assert await accounts(harness)[0].says("after a start", id="100") == "Still small."
        assert again.requests[0].model == "cheap-1"


async def test_a_start_does_not_reset_a_quota(tmp_path: Path) -> None:
    full = {**OPEN, "TALARIA_COST__PERSON_DAY_TOKENS": "50000"}
    async with running(tmp_path, FakeModel(takes(100_000, "Dear.")), **full) as harness:
        await accounts(harness)[0].says("a long one")
    async with running(tmp_path, FakeModel(), **full) as harness:
        assert "I stopped:" in await accounts(harness)[0].says("hello", id="100")


async def test_money_is_counted_where_the_owner_set_a_price(tmp_path: Path) -> None:
    priced = {
        **OPEN,
        "TALARIA_MODEL__CHEAP": "",
        "TALARIA_COST__PRICES": "fake-1 in=1 out=1 date=2026-11-01",
        "TALARIA_COST__PERSON_DAY_USD": "0.05",
        "TALARIA_COST__PERSON_DAY_TOKENS": "1",
    }
    async with running(tmp_path, FakeModel(takes(60_000, "Dear.")), **priced) as harness:
        ana, _ = accounts(harness)
        await ana.says("a long one")
        assert "your daily limit of $0.05 is used up" in await ana.says("hello")
        reported = await ana.says("/usage")
        assert "**Today**: $0.06 of $0.05" in reported
        assert "- Answers, fake-1: 1 call, 59,999 tokens read, 1 written, $0.06" in reported
        assert "Date of each price: fake-1 2026-11-01" in reported


async def test_usage_shows_members_their_own_and_unknown_prices(
    tmp_path: Path,
) -> None:
    async with running(tmp_path, FakeModel(takes(1_234, "Hi.")), **OPEN) as harness:
        ana, ben = accounts(harness)
        await ben.says("hello")
        reported = await ben.says("/usage")
        assert "**Today**: 1,234 of 5,000,000 tokens" in reported
        line = "- Answers, fake-1: 1 call, 1,233 tokens read, 1 written"
        assert f"{line}\n\nLast 30 days" in reported, "the list ends before"
        assert "No price known for: fake-1. I count tokens instead." in reported
        assert "$0" not in reported
        assert "Counting starts again at zero: tomorrow, 0:00." in reported
        assert "Everyone" not in reported
        assert "1,234" not in await ana.says("/usage")


@pytest.mark.parametrize("is_direct", [True, False])
async def test_usage_shows_owners_everybody_in_direct_chats_only(
    tmp_path: Path, is_direct: bool
) -> None:
    async with running(tmp_path, FakeModel(takes(1_234, "Hi.")), **OPEN) as harness:
        ana, ben = accounts(harness)
        await claim(ana)
        await ben.says("hello")
        reported = await ana.says("/usage", direct=is_direct, chat="1" if is_direct else "room")
        assert ("**Everyone today**: 1,234 of" in reported) == is_direct
        assert ("“Ben”: 1,234 tokens" in reported) == is_direct


async def test_concurrent_turns_do_not_exceed_the_gateways_quota(
    tmp_path: Path,
) -> None:
    """Fifty people ask at the same moment; no call is refused room that others only reserved."""
    room, used = 40_000, 4_000
    gate = asyncio.Event()
    answer = finish(TextPart(text="Hi."), usage=Usage(input_tokens=used))
    model = FakeModel(*[[gate.wait, answer]] * 50)
    full = {**OPEN, "TALARIA_COST__HOUSE_DAY_TOKENS": str(room)}
    async with running(tmp_path, model, **full) as harness:
        for number in range(50):
            await harness.chat.says("hi", user=f"u{number}", chat=f"u{number}", name=f"P{number}")
        await harness.until(lambda: model.streaming >= 1)
        most = estimate_input(model.requests[0]) + 256
        await harness.until(lambda: model.streaming >= room // (most + 10))
        assert not any("I stopped:" in one.text for one in harness.chat.shown)
        assert model.streaming <= room // (most - 10), "more were let in than there is room for"
        gate.set()
        await harness.chat.sees(50)
        await harness.at_rest()
        stopped = [one for one in harness.chat.shown if "I stopped:" in one.text]
        assert len(model.requests) + len(stopped) == 50
        assert room - most - 10 <= used * len(model.requests) <= room + used


@pytest.mark.parametrize("is_direct", [True, False])
async def test_only_owners_see_the_providers_error(tmp_path: Path, is_direct: bool) -> None:
    model = FakeModel([ModelRejected("account 4711 has no access")])
    async with running(tmp_path, model, **OPEN) as harness:
        ana, _ = accounts(harness)
        await claim(ana)
        reported = await ana.says("hello", direct=is_direct, chat="1" if is_direct else "room")
    assert "The model rejected the request." in reported
    assert ("account 4711" in reported) == is_direct
