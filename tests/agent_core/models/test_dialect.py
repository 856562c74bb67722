"""One more try in the dialect of a server, learned once: both providers."""

import json
from collections.abc import Mapping
from typing import Any

import pytest

from agent_core.errors import ModelRejected
from agent_core.models.contract import HasProfiles
from agent_core.models.dialect import ServerDialect, apply_dialect, avoid
from agent_core.models.profiles import Profiles
from agent_core.transcript import ImagePart, user_message
from tests.agent_core.models.calls import ask, calls, complete, results, says
from tests.agent_core.models.providers import Provider
from tests.agent_core.models.rig import Rig
from tests.emulators.dialects import DialectServer, Wire
from tests.emulators.pictures import make_png
from tests.emulators.streaming import Fault
from tests.tables import check_each

NO_TOOLS = (
    (400, "registry.ollama.ai/library/gemma3:4b does not support tools"),
    (404, "No endpoints found that support tool use. To learn more, visit our documentation."),
    (400, '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'),
    (500, "tools param requires --jinja flag"),
    (400, "`tool calling` is not supported with this model"),
    (400, "deepseek-reasoner does not support Function Calling"),
    (400, "This model doesn't support tool use."),
    (400, "Unsupported parameter: 'tools' is not supported with this model."),
    (400, "Function calling is not enabled for models/gemma-3-27b-it"),
    (422, "tools: Extra inputs are not permitted"),
    (400, "Tools are not supported for this model."),
)
NO_SYSTEM = (
    (400, "Developer instruction is not enabled for models/gemma-3-27b-it"),
    (400, "System role not supported"),
    (500, "Jinja Exception: System role not supported"),
    (400, "Conversation roles must alternate user/assistant/user/assistant/..."),
    (400, "Unsupported value: 'messages[0].role' does not support 'system' with this model."),
    (400, "This model doesn't support system messages. Try again without a system message."),
    (400, "Only user and assistant roles are supported!"),
    (400, "the role of message with odd index in the messages must be user or function"),
    (422, "messages.0.role must be one of user, assistant"),
    (400, "invalid role: system"),
)
LIMITS = (
    (
        400,
        "max_tokens is too large: 9000. This model supports at most 4096 completion tokens",
        4096,
    ),
    (400, "Invalid max_tokens value, the valid range of max_tokens is [1, 8192]", 8192),
    (400, "Range of max_tokens should be [1, 2000]", 2000),
    (400, "max_tokens: 9000 > 8192, which is the maximum allowed number of output tokens", 8192),
    (400, "`max_tokens` must be less than or equal to `8,192`", 8192),
    (400, "The maximum tokens you requested exceeds the model limit of 4096.", 4096),
    (422, "Input validation error: `max_new_tokens` must be <= 1024. Given: 9000", 1024),
    (400, "integer above maximum value, expected a value <= 4096 for max_completion_tokens", 4096),
)
HARMLESS = (
    (400, "the tools of the trade are many"),
    (400, "messages.3: tool_use ids were found without tool_result blocks"),
    (400, "Invalid schema for function 'memory': schema must have type object"),
    (400, "messages: roles are fine, but the system prompt names 8192 reasons"),
    (400, "max_tokens is not allowed to be a word"),
    (400, "This model's maximum context length is 4096 tokens; max_tokens is 9000"),
    (401, "does not support tools"),
    (429, "the limit is 4096 output tokens per minute"),
    (400, "Error code: 400 - {'error': {'message': 'max_tokens is wrong', 'code': 1210}}"),
)


def change(status: int, said: str) -> dict[str, Any]:
    """What a refusal changes in the plain dialect."""
    request = ask("hi", model="gemma", max_output_tokens=9000)
    changed = avoid(ServerDialect(), status, said, request)
    names = ("takes_tools", "takes_system", "most_tokens")
    return {
        name: getattr(changed, name)
        for name in names
        if getattr(changed, name) != getattr(ServerDialect(), name)
    }


def known(rig: Rig) -> Mapping[str, Any]:
    """What was learned of the rig's model."""
    assert isinstance(rig.model, HasProfiles)
    return rig.model.profile(rig.provider.model).values


def test_refusals_are_known_by_their_words() -> None:
    rows: list[tuple[tuple[int, str], dict[str, Any]]] = [
        *((row, {"takes_tools": False}) for row in NO_TOOLS),
        *((row, {"takes_system": False}) for row in NO_SYSTEM),
        *(((status, said), {"most_tokens": most}) for status, said, most in LIMITS),
        *((row, {}) for row in HARMLESS),
    ]

    def check(row: tuple[tuple[int, str], dict[str, Any]]) -> None:
        assert change(*row[0]) == row[1]

    check_each(rows, check)


@pytest.mark.parametrize(("status", "said"), [NO_TOOLS[0], NO_TOOLS[3]])
async def test_a_model_without_tools_is_asked_without_them(
    rig: Rig, status: int, said: str
) -> None:
    rig.api.plan(Fault(status=status, message=said))
    before = (
        "I like tea",
        calls(("toolu_1", "memory", {"text": "tea"}), text="I keep that."),
        results(("toolu_1", "done")),
        says("Kept."),
    )
    for _ in range(2):
        text, _ = await rig.ask(*before, "and now?")
        assert text.endswith("and now?")
    assert len(rig.api.requests) == 3, "it was learned once"
    last = rig.api.requests[-1]
    assert "tools" not in last
    assert not any(word in str(last) for word in ("tool_use", "tool_calls", "tool_result"))
    assert "[Called memory with" in str(last)
    assert "[Result of memory:]" in str(last)
    assert known(rig) == {"takes_tools": False}


async def test_a_model_without_a_system_role_reads_the_prompt_in_the_first_message(
    rig: Rig,
) -> None:
    rig.api.plan(Fault(status=400, message=NO_SYSTEM[0][1]))
    for _ in range(2):
        await rig.ask("hello")
    assert len(rig.api.requests) == 3
    last = rig.api.requests[-1]
    assert "system" not in last
    assert [one["role"] for one in last["messages"]] == ["user"]
    assert "You are Talaria." in str(last["messages"][0])


async def test_two_refusals_are_learned_together(rig: Rig) -> None:
    rig.api.plan(Fault(status=400, message=NO_TOOLS[0][1]), Fault(status=400, message=LIMITS[2][1]))
    for _ in range(2):
        await rig.ask("hello", max_output_tokens=8000)
    assert len(rig.api.requests) == 4
    assert rig.api.requests[-1]["max_tokens"] == 2000
    assert known(rig) == {"takes_tools": False, "most_tokens": 2000}


async def test_a_server_that_refuses_again_and_again_is_not_asked_for_ever(rig: Rig) -> None:
    for _ in range(9):
        rig.api.plan(Fault(status=400, message=NO_TOOLS[0][1]))
    assert type(await rig.refused("hello")) is ModelRejected
    assert len(rig.api.requests) == 2
    assert not known(rig), "nothing that helped was learned"


@pytest.mark.parametrize("status", [200, 400])
async def test_a_refusal_within_the_stream_is_one_as_well(provider: Provider, status: int) -> None:
    error = {"type": "invalid_request_error", "message": "this model does not support tools"}
    event = json.dumps({"type": "error", "error": error})
    async with DialectServer() as server:
        address = server.url if provider.name == "anthropic" else f"{server.url}/v1"
        settings = provider.settings(api_key="good-key", base_url=address, timeout=5.0)
        model = provider.factory(settings)
        if status == 200:
            body = f"event: error\ndata: {event}\n\n"
            server.script.append(Wire(body=body))
        else:
            server.script.append(Wire(body=event, status=400, media_type="application/json"))
        await complete(model, ask("hello", model=provider.model))
        await model.close()
        assert isinstance(model, HasProfiles)
        assert model.profile(provider.model).values == {"takes_tools": False}


async def test_what_one_model_lacks_another_may_have(rig: Rig) -> None:
    rig.api.plan(Fault(status=400, message=NO_TOOLS[0][1]))
    await rig.ask("hello")
    other = "llama3:latest" if rig.provider.name == "openai" else "claude-opus-5-5"
    await rig.ask("hello", model=other)
    assert rig.api.requests[-1]["tools"]


async def test_a_model_that_sees_no_images_is_shown_none_after_a_restart(
    rig: Rig, api: Any
) -> None:
    rig.api.plan(Fault(status=400, message="this model does not support image input"))
    png = make_png()
    part = ImagePart(file_key="k1", media_type="image/png", size=len(png))
    profiles = Profiles()
    for requests in (2, 3):
        model = rig.provider.create(api, profiles)
        request = rig.request(user_message("what?", parts=(part,)), images={"k1": png})
        await complete(model, request)
        await model.close()
        assert len(rig.api.requests) == requests


def test_a_plain_dialect_changes_nothing() -> None:
    request = ask("hi", calls(("c", "memory", {})), results(("c", "x")))
    assert apply_dialect(request, ServerDialect()) is request
