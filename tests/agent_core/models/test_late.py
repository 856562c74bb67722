"""A provider is built once, and the SDK of Anthropic is imported with the first call only."""

import asyncio
import subprocess
import sys
from types import ModuleType

import pytest

from agent_core.models import Model
from agent_core.models.contract import ModelAnswer
from agent_core.models.late import LateModel
from tests.agent_core.models.calls import ask, complete
from tests.fakes.model import FakeModel, say

_CREATE = """
import sys
from agent_core.models.anthropic import create
model = create({"api_key": "a-key"})
print("anthropic" in sys.modules)
"""


async def test_calls_at_once_build_one_provider() -> None:
    built: list[FakeModel] = []

    def make(module: ModuleType) -> Model:
        assert module.__name__ == "agent_core.models.contract"
        built.append(FakeModel(say("one"), say("two"), say("three")))
        return built[-1]

    late = LateModel("fake", "agent_core.models.contract", make)
    await late.close()
    assert (late.provider, built) == ("fake", [])
    request = ask("hi")
    first, second = await asyncio.gather(complete(late, request), complete(late, request))
    assert {first[0], second[0]} == {"one", "two"}
    await late.check("a-model")
    assert await late.count(request) is None
    text, answer = await complete(late, request)
    assert (text, type(answer), len(built)) == ("three", ModelAnswer, 1)


@pytest.mark.process
def test_creating_the_provider_imports_no_sdk() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _CREATE], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.strip() == "False"
