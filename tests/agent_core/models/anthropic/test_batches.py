"""Batches of one request, through the real SDK."""

from typing import Any

import pytest

from agent_core.errors import ModelBusy, ModelDenied, ModelRejected, ModelUnknown
from agent_core.models.anthropic import create
from agent_core.models.anthropic.answer import read_message
from agent_core.models.contract import Batches
from agent_core.models.router import ModelRouter
from agent_core.models.settings import AnthropicSettings
from agent_core.transcript import user_message
from tests.agent_core.models.calls import ask, complete
from tests.agent_core.models.rig import Rig
from tests.emulators.streaming import Answer, text_answer
from tests.fakes.model import FakeModel

TOOL = Answer(blocks=[{"type": "tool_use", "name": "memory", "input": {"a": "é"}}], stop="tool_use")


async def test_an_answer_of_a_batch_is_that_of_a_call(rig: Rig) -> None:
    assert isinstance(rig.model, Batches)
    request = ask(user_message("keep this"))
    rig.api.plan(TOOL)
    _, called = await complete(rig.model, request)
    rig.api.plan(TOOL)
    batch_id = await rig.model.submit(request, "mark-1")
    assert batch_id
    assert await rig.model.collect(request.model, batch_id, "mark-1") is None
    rig.api.batches.end()
    answer = await rig.model.collect(request.model, batch_id, "mark-1")
    assert answer
    assert answer.stop == called.stop == "tools"
    assert answer.model == called.model
    assert [(one.name, one.arguments) for one in answer.message.calls] == [
        (one.name, one.arguments) for one in called.message.calls
    ]
    assert answer.usage.total_tokens == called.usage.total_tokens


@pytest.mark.parametrize("kind", ["errored", "expired", "canceled"])
async def test_a_batch_without_an_answer_is_rejected(rig: Rig, kind: str) -> None:
    assert isinstance(rig.model, Batches)
    request = ask(user_message("keep this"))
    batch_id = await rig.model.submit(request, "m") or ""
    if kind == "canceled":
        await rig.model.cancel(request.model, batch_id)
    else:
        rig.api.batches.end(kind)
    with pytest.raises(ModelRejected, match=kind):
        await rig.model.collect(request.model, batch_id, "m")
    with pytest.raises(ModelUnknown):
        await rig.model.collect(request.model, "msgbatch_0", "m")


async def test_a_lost_batch_is_found_by_its_mark_once_it_can_be_read(rig: Rig) -> None:
    assert isinstance(rig.model, Batches)
    request = ask(user_message("keep this"))
    assert await rig.model.find_batch(request.model, "mine", 0) is None
    await rig.model.submit(request, "other")
    mine = await rig.model.submit(request, "mine")
    with pytest.raises(ModelBusy):
        await rig.model.find_batch(request.model, "mine", 0)
    rig.api.plan(text_answer("a"), text_answer("b"))
    rig.api.batches.end()
    assert await rig.model.find_batch(request.model, "mine", 0) == mine
    assert await rig.model.find_batch(request.model, "another", 0) is None
    assert await rig.model.find_batch(request.model, "mine", 2**52) is None, "it is older"


async def test_errors_of_batches_are_those_of_calls(rig: Rig) -> None:
    refused = create(AnthropicSettings(api_key="wrong", base_url=rig.api.url))
    gone = create(AnthropicSettings(api_key="k", base_url="http://127.0.0.1:9"))
    request = ask(user_message("keep this"))
    with pytest.raises(ModelDenied):
        await refused.submit(request, "m")
    with pytest.raises(ModelBusy):
        await gone.submit(request, "m")
    await refused.close()
    await gone.close()


async def test_a_router_takes_batches_of_the_providers_that_have_them(rig: Rig) -> None:
    router = ModelRouter({"anthropic": rig.model, "openai": FakeModel()}, default="openai")
    request = ask(user_message("keep this"))
    assert await router.submit(request, "m") is None
    name = f"anthropic:{request.model}"
    assert await rig.model.find_batch(request.model, "m", 0) is None  # type: ignore[attr-defined]
    batch_id = await router.submit(ask(user_message("keep this"), model=name), "m")
    assert batch_id in rig.api.batches.all
    rig.api.batches.end()
    assert await router.find_batch(name, "m", 0) == batch_id
    assert await router.collect(name, batch_id or "", "m")
    await router.cancel(name, batch_id or "")
    assert await router.find_batch("gpt-5", "m", 0) is None
    with pytest.raises(ModelRejected):
        await router.collect("gpt-5", "x", "m")


@pytest.mark.parametrize("missing", ["content", "usage"])
def test_a_message_without_a_required_field_is_malformed(missing: str) -> None:
    message: dict[str, Any] = {"model": "m", "stop_reason": "end_turn", "content": [], "usage": {}}
    del message[missing]
    with pytest.raises(ValueError, match=missing):
        read_message(message, "m")
