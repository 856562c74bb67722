"""Ceilings in the loop: asked before every call, told how each ended, and what a refusal is."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from agent_core.errors import (
    ModelBusy,
    ModelError,
    ModelOverflow,
    ModelUnknown,
    QuotaExceeded,
    ReachedQuota,
)
from agent_core.events import Event, TextGrew, TurnEnded
from agent_core.models.contract import ModelRequest, TextDelta, Usage
from agent_core.models.router import ModelPolicy
from tests.agent_core.agent.loop.rig import Left, Rig
from tests.fakes.model import USAGE, Play, ask, call, say
from tests.fakes.tool import FakeTool

SHUT = ReachedQuota(subject="deployment", unit="tokens", limit=7, resets_at=9)
REACHED = QuotaExceeded("reached", SHUT)


class Purse:
    """Grants as many calls as it is told to, and keeps what came of each."""

    def __init__(self, grants: int, *, thrifty_from: int = 100) -> None:
        self.grants = grants
        self.thrifty_from = thrifty_from
        self.ends: list[tuple[str, Usage] | int] = []
        """Of each call: what it took, or how many characters came before it broke off."""

    async def reserve(self, request: ModelRequest, *, cheap: str) -> "Granted":
        if not self.grants:
            raise REACHED
        self.grants -= 1
        used_cheap_model = bool(cheap) and len(self.ends) >= self.thrifty_from
        return Granted(
            self, replace(request, model=cheap) if used_cheap_model else request, used_cheap_model
        )


class Granted:
    """One call's grant."""

    def __init__(self, purse: Purse, request: ModelRequest, used_cheap_model: bool) -> None:
        self.purse = purse
        self.request = request
        self.used_cheap_model = used_cheap_model
        self.is_settled = False

    def finalize(self, model: str, spent: Usage) -> int | None:
        self.is_settled = True
        self.purse.ends.append((model, spent))
        return None

    def close(self, *, streamed: int = 0) -> None:
        if not self.is_settled:
            self.purse.ends.append(streamed)


def rig(purse: Purse, plays: Sequence[Play]) -> Rig:
    policy = ModelPolicy(model="fake-1", cheap="cheap-1")
    made = Rig(*plays, tools=[FakeTool("look")], policy=policy)
    made.reserve = purse.reserve
    return made


async def test_a_turn_that_a_ceiling_has_no_room_for_makes_no_call() -> None:
    made = rig(Purse(0), [])
    ended = await made.end()
    assert ended == TurnEnded(
        ending="exhausted", text="", reason="ceiling", detail="reached", quota=SHUT
    )
    assert made.model.requests == []


async def test_a_ceiling_that_is_reached_on_the_way_keeps_what_was_done() -> None:
    made = rig(Purse(1), [ask(call("look"))])
    assert (await made.end()).quota == SHUT
    assert len(made.journal.results) == 1


async def test_the_summary_of_a_limit_is_asked_for_as_well() -> None:
    purse = Purse(1)
    policy = ModelPolicy(model="fake-1")
    made = Rig(ask(call("look")), tools=[FakeTool("look")], policy=policy, steps=1)
    made.reserve = purse.reserve
    assert (await made.end()).quota == SHUT


async def test_each_call_is_settled_once_with_what_it_took() -> None:
    purse = Purse(9)
    await rig(purse, [ask(call("look")), say("seen")]).end()
    assert purse.ends == [("fake-1", USAGE), ("fake-1", USAGE)]


async def test_a_call_that_fails_or_breaks_off_is_given_back_and_asked_for_anew() -> None:
    purse = Purse(9)
    broken = [TextDelta(text="four"), ModelBusy("busy")]
    await rig(purse, [broken, say("there")]).end()
    assert purse.ends == [4, ("fake-1", USAGE)]


async def test_the_cheap_model_is_asked_where_the_ceiling_says_so() -> None:
    made = rig(Purse(9, thrifty_from=1), [ask(call("look")), say("seen")])
    ended = await made.end()
    assert (ended.text, ended.used_cheap_model) == ("seen", True)
    assert [request.model for request in made.model.requests] == ["fake-1", "cheap-1"]


@pytest.mark.parametrize("error", [ModelUnknown("none"), ModelOverflow("long"), ModelBusy("busy")])
async def test_where_the_cheap_model_can_not_answer_the_other_one_does(error: ModelError) -> None:
    made = rig(Purse(9, thrifty_from=0), [[error], say("seen")])
    ended = await made.end()
    assert (ended.text, ended.used_cheap_model) == ("seen", False)
    assert [request.model for request in made.model.requests] == ["cheap-1", "fake-1"]


async def test_a_turn_whose_watcher_leaves_gives_back_what_it_holds() -> None:
    purse = Purse(9)
    made = rig(purse, [say("one", "two")])

    async def leave(event: Event) -> None:
        assert event == TextGrew(delta="one")
        raise Left

    with pytest.raises(Left):
        await made.loop(made.turn(), leave).run()
    assert purse.ends == [3]
