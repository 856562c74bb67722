"""The SDK is imported with the first call, once, beside the event loop."""

import asyncio
import json
import subprocess
import sys

import pytest

from agent_core.errors import ModelDenied, ModelUnknown
from agent_core.models.anthropic import create
from agent_core.models.settings import AnthropicSettings
from tests.agent_core.models.calls import ask, complete
from tests.agent_core.models.rig import Rig
from tests.emulators.anthropic import AnthropicEmulator
from tests.patience import PATIENCE

_SCRIPT = """
import asyncio, json, sys
from agent_core.models.anthropic import create
from agent_core.models.contract import ModelAnswer, ModelRequest
from agent_core.models.settings import AnthropicSettings
from agent_core.transcript import user_message
from tests.patience import PATIENCE

REQUEST = ModelRequest(
    model="claude-sonnet-5-5", system="Be kind.", tools=(), messages=(user_message("hi"),),
    max_output_tokens=100,
)
seen = {}

def is_loaded():
    return "anthropic" in sys.modules

async def answer(model):
    async for piece in model.stream(REQUEST):
        if isinstance(piece, ModelAnswer):
            return piece.stop

async def main():
    model = create(AnthropicSettings(api_key="good-key", base_url=sys.argv[1], timeout=5))
    await model.check("claude-sonnet-5-5")
    seen["after check"] = is_loaded()
    given_up = asyncio.create_task(answer(model))
    calls = [asyncio.create_task(answer(model)) for _ in range(3)]
    ticks = 0
    while not is_loaded():
        await asyncio.sleep(0)
    given_up.cancel()
    while not calls[0].done():
        ticks += 1
        await asyncio.sleep(0.001)
    seen["answers"] = [await call for call in calls]
    seen["loop ran meanwhile"] = ticks > 10
    await model.close()
    print(json.dumps(seen))

asyncio.run(main())
"""


@pytest.mark.thorough
@pytest.mark.process
async def test_the_first_calls_load_the_sdk_and_a_check_needs_none() -> None:
    async with AnthropicEmulator(key="good-key") as api:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-c", _SCRIPT, api.url, stdout=subprocess.PIPE
        )
        async with asyncio.timeout(PATIENCE):
            said, _ = await process.communicate()
    assert process.returncode == 0
    assert json.loads(said) == {
        "after check": False,
        "answers": ["end"] * 3,
        "loop ran meanwhile": True,
    }


_PREPARATION = """
import asyncio, sys
from agent_core.models.anthropic import create
from agent_core.models.settings import AnthropicSettings

async def main():
    model = create(AnthropicSettings(api_key="good-key"))
    model.prepare()
    while "agent_core.models.anthropic.client" not in sys.modules:
        await asyncio.sleep(0.001)
    model.prepare()
    await model.close()

asyncio.run(main())
"""


@pytest.mark.thorough
@pytest.mark.process
async def test_the_sdk_can_be_loaded_before_the_first_call() -> None:
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", _PREPARATION)
    async with asyncio.timeout(PATIENCE):
        assert await process.wait() == 0


async def test_a_check_that_is_answered_otherwise_gives_the_sdks_reason(rig: Rig) -> None:
    async def check(key: str, name: str) -> None:
        made = create(AnthropicSettings(api_key=key, base_url=rig.api.url, timeout=5))
        try:
            await made.check(name)
        finally:
            await made.close()

    await check("good-key", "claude-sonnet-5-5")
    with pytest.raises(ModelDenied):
        await check("bad-key", "claude-sonnet-5-5")
    with pytest.raises(ModelUnknown):
        await check("good-key", "no such/model?")


async def test_a_call_right_after_the_import_opens_no_second_client() -> None:
    made = create(AnthropicSettings(api_key="good-key"))
    made.prepare()
    loading = made._loading
    assert loading
    while not loading.done():
        await asyncio.sleep(0)
    assert made._model is None, "this is the moment before the end is noted"
    assert await made._load() is loading.result()
    await made.close()


async def test_an_sdk_that_fails_to_import_is_tried_again(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        # As an installation that an upgrade has left halfway.
        patch.setitem(sys.modules, "agent_core.models.anthropic.client", None)
        with pytest.raises(ModelDenied, match="can't be imported"):
            await complete(rig.model, ask("hi"))
    text, _ = await complete(rig.model, ask("hi"))
    assert text == "echo: hi"


def test_a_missing_sdk_is_noticed_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "anthropic", None)
    with pytest.raises(ModuleNotFoundError, match="anthropic"):
        create(AnthropicSettings(api_key="key"))
