"""Several providers behind one: names, requests and what the providers see of them."""

import importlib
import pkgutil

import pytest

import agent_core.models
from agent_core.models.contract import ModelAnswer, ModelRequest
from agent_core.models.router import PROVIDERS, ModelRouter, split_name
from agent_core.transcript import user_message
from tests.fakes.model import FakeModel, say


def ask(model: str) -> ModelRequest:
    return ModelRequest(
        model=model, system="", tools=(), messages=(user_message("hi"),), max_output_tokens=9
    )


def test_every_provider_package_may_precede_a_name() -> None:
    found = pkgutil.iter_modules(agent_core.models.__path__, "agent_core.models.")
    packages = [importlib.import_module(one.name) for one in found if one.ispkg]
    made = [one.__name__.rpartition(".")[2] for one in packages if hasattr(one, "create")]
    assert sorted(PROVIDERS) == sorted(made)


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("openai:gpt-5-mini", ("openai", "gpt-5-mini")),
        ("anthropic:claude-x", ("anthropic", "claude-x")),
        ("openai:llama3:latest", ("openai", "llama3:latest")),
        ("llama3:latest", ("", "llama3:latest")),
        ("anthropic/claude-x:beta", ("", "anthropic/claude-x:beta")),
        ("openai:", ("", "openai:")),
    ],
)
def test_only_a_provider_is_split_off(name: str, parts: tuple[str, str]) -> None:
    assert split_name(name) == parts


async def test_each_provider_sees_its_own_names() -> None:
    first, second = FakeModel(say("one"), say("two")), FakeModel(say("three"))
    router = ModelRouter({"anthropic": first, "openai": second}, default="anthropic")
    said = []
    for name in ("claude-x", "anthropic:claude-y", "openai:gpt-z"):
        pieces = [piece async for piece in router.stream(ask(name))]
        said += [piece.message.text for piece in pieces if isinstance(piece, ModelAnswer)]
    assert said == ["one", "two", "three"]
    assert [request.model for request in first.requests] == ["claude-x", "claude-y"]
    assert [request.model for request in second.requests] == ["gpt-z"]


async def test_a_provider_that_does_not_count_gives_none() -> None:
    router = ModelRouter({"openai": FakeModel()}, default="openai")
    assert await router.count(ask("gpt-z")) is None
