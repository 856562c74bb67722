"""The provider counts a request before it is made."""

import pytest

from agent_core.errors import ModelBusy, ModelDenied, ModelRejected
from agent_core.models.anthropic import create
from agent_core.models.contract import CountsTokens
from agent_core.models.settings import AnthropicSettings
from agent_core.transcript import user_message
from tests.agent_core.models.calls import ask, calls, complete, results, says
from tests.agent_core.models.providers import ANTHROPIC
from tests.agent_core.models.rig import Rig, connected


async def test_a_count_is_what_the_call_then_takes(rig: Rig) -> None:
    assert isinstance(rig.model, CountsTokens)
    request = ask(
        user_message("Łódź? 敏捷"),
        calls(("c1", "memory", {"a": 1})),
        results(("c1", "x" * 4000)),
        says("Yes."),
        user_message("and?"),
    )

    counted = await rig.model.count(request)
    _, answer = await complete(rig.model, request)

    usage = answer.usage
    assert counted == usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens
    assert counted > 1000


async def test_a_count_that_is_refused_is_an_error_of_the_core(rig: Rig) -> None:
    async with connected(ANTHROPIC, rig.api, api_key="wrong") as bad:
        assert isinstance(bad.model, CountsTokens)
        with pytest.raises(ModelDenied):
            await bad.model.count(ask("hello"))


async def test_a_request_that_is_wrong_is_rejected(rig: Rig) -> None:
    assert isinstance(rig.model, CountsTokens)
    with pytest.raises(ModelRejected):
        await rig.model.count(ask())


async def test_a_server_that_is_gone_is_busy() -> None:
    model = create(AnthropicSettings(api_key="k", base_url="http://127.0.0.1:9"))
    assert isinstance(model, CountsTokens)
    with pytest.raises(ModelBusy):
        await model.count(ask("hello"))
    await model.close()
