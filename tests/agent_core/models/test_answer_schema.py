"""Answers of a wished form: a schema, a call, and how words are chosen, at both providers."""

import json
from typing import Any

import fastjsonschema
import pytest

from agent_core.errors import ModelRejected
from agent_core.models.answer_schema import is_closable, is_strict
from agent_core.models.contract import Sampling
from agent_core.models.scripted import create
from agent_core.models.scripted.form import fill_schema
from tests.agent_core.models.calls import ask, complete
from tests.agent_core.models.providers import ANTHROPIC, OPENAI
from tests.agent_core.models.rig import Rig
from tests.emulators.streaming import Fault, text_answer

CITY = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "size": {"type": "integer", "minimum": 1}},
    "required": ["city", "size"],
    "additionalProperties": False,
}
SCHEMA = json.dumps(CITY)
ANSWER = '{"city": "Ulm", "size": 3}'
OPEN = json.dumps({"type": "object", "additionalProperties": {"type": "string"}})
ANY = json.dumps({"type": "object"})


async def answer(rig: Rig, schema: str = SCHEMA, **wishes: Any) -> str:
    """Ask for a city; return the answer's text."""
    rig.api.plan(text_answer(ANSWER))
    request = rig.request("Where?", response_schema=schema, **wishes)
    text, _ = await complete(rig.model, request)
    return text


async def refused(rig: Rig, said: str, **wishes: Any) -> dict[str, Any]:
    """Refuse the first request; return the body of the next one, which is answered."""
    rig.api.plan(Fault(status=400, message=said))
    assert await answer(rig, **wishes) == ANSWER
    body: dict[str, Any] = rig.api.requests[-1]
    return body


def last_words(body: dict[str, Any]) -> str:
    """Everything that the last message says."""
    return json.dumps(body["messages"][-1])


@pytest.mark.parametrize("provider", [OPENAI], ids=["openai"])
class TestChatCompletions:
    """`response_format`, and what takes its place."""

    async def test_a_schema_is_asked_for(self, rig: Rig) -> None:
        assert await answer(rig) == ANSWER
        asked = rig.api.requests[-1]["response_format"]
        assert asked["type"] == "json_schema"
        assert (asked["json_schema"]["schema"], asked["json_schema"]["strict"]) == (CITY, True)

    async def test_an_open_schema_is_no_strict_one(self, rig: Rig) -> None:
        await answer(rig, OPEN)
        assert rig.api.requests[-1]["response_format"]["json_schema"]["strict"] is False

    async def test_any_object_is_asked_for_as_such(self, rig: Rig) -> None:
        await answer(rig, ANY)
        assert rig.api.requests[-1]["response_format"] == {"type": "json_object"}
        assert "JSON" in last_words(rig.api.requests[-1])

    @pytest.mark.parametrize(
        "said",
        [
            "This response_format type is unavailable now",
            "response_format.type: value is not one of the allowed values ['text','json_object']",
            "json_schema is not supported by this model",
        ],
    )
    async def test_a_refused_schema_becomes_any_object(self, rig: Rig, said: str) -> None:
        body = await refused(rig, said)
        assert body["response_format"] == {"type": "json_object"}
        assert "additionalProperties" in last_words(body)
        await answer(rig)
        assert len(rig.api.requests) == 3, "it was learned once"

    async def test_a_server_without_any_form_is_asked_in_words(self, rig: Rig) -> None:
        rig.api.plan(Fault(status=400, message="response_format is not supported"))
        body = await refused(rig, "response_format is not supported")
        assert "response_format" not in body
        assert "additionalProperties" in last_words(body)

    async def test_what_is_refused_beside_tools_is_kept_without(self, rig: Rig) -> None:
        said = "json mode cannot be combined with tool/function calling"
        rig.api.plan(Fault(status=400, message=said))
        body = await refused(rig, said)
        assert "response_format" not in body
        await answer(rig, tools=())
        assert rig.api.requests[-1]["response_format"]["type"] == "json_schema"

    async def test_one_bad_schema_spoils_no_other(self, rig: Rig) -> None:
        said = "Invalid schema for response_format 'answer': In context=(), 'x' is not permitted."
        body = await refused(rig, said)
        assert body["response_format"] == {"type": "json_object"}
        await answer(rig)
        assert rig.api.requests[-1]["response_format"]["type"] == "json_schema"

    async def test_an_answer_in_json_is_no_call(self, rig: Rig) -> None:
        call = '{"name": "memory", "arguments": {"text": "tea"}}'
        rig.api.plan(text_answer(call))
        _, got = await complete(rig.model, rig.request("Which call?", response_schema=ANY))
        assert (got.message.text, got.message.calls) == (call, ())

    async def test_a_call_can_be_wished_for(self, rig: Rig) -> None:
        await rig.ask("hi", tool_choice="required")
        assert rig.api.requests[-1]["tool_choice"] == "required"
        await rig.ask("hi", tool_choice="memory")
        named = {"type": "function", "function": {"name": "memory"}}
        assert rig.api.requests[-1]["tool_choice"] == named

    async def test_sampling_is_passed(self, rig: Rig) -> None:
        sampling = Sampling(temperature=0.2, top_p=0.5, seed=7, stop=("END",), presence_penalty=1)
        await rig.ask("hi", sampling=sampling)
        sent = rig.api.requests[-1]
        assert (sent["temperature"], sent["top_p"], sent["seed"]) == (0.2, 0.5, 7)
        assert (sent["stop"], sent["presence_penalty"]) == (["END"], 1)
        assert "frequency_penalty" not in sent


@pytest.mark.parametrize("provider", [ANTHROPIC], ids=["anthropic"])
class TestAnthropic:
    """`output_config`, and what takes its place."""

    async def test_a_schema_is_asked_for(self, rig: Rig) -> None:
        assert await answer(rig) == ANSWER
        asked = rig.api.requests[-1]["output_config"]["format"]
        assert asked["type"] == "json_schema"
        assert asked["schema"]["additionalProperties"] is False
        assert "minimum" not in asked["schema"]["properties"]["size"], "the API takes no bounds"

    @pytest.mark.parametrize("schema", [OPEN, ANY])
    async def test_an_open_schema_is_asked_for_in_words(self, rig: Rig, schema: str) -> None:
        await answer(rig, schema)
        assert "output_config" not in rig.api.requests[-1]
        assert "JSON schema" in last_words(rig.api.requests[-1])

    async def test_a_server_without_any_form_is_asked_in_words(self, rig: Rig) -> None:
        body = await refused(rig, "output_config.format: Extra inputs are not permitted")
        assert "output_config" not in body
        assert "additionalProperties" in last_words(body)
        await answer(rig)
        assert len(rig.api.requests) == 3, "it was learned once"

    async def test_a_refused_choice_is_told_in_words(self, rig: Rig) -> None:
        rig.api.plan(Fault(status=400, message="tool_choice: forced tool use is not supported"))
        await rig.ask("hi", tool_choice="memory")
        first, second = rig.api.requests
        assert first["tool_choice"] == {"type": "tool", "name": "memory"}
        assert "tool_choice" not in second
        assert "`memory`" in last_words(second)

    async def test_stops_are_passed_and_a_temperature_is_refused_by_the_api(self, rig: Rig) -> None:
        await rig.ask("hi", sampling=Sampling(stop=("END",)))
        assert rig.api.requests[-1]["stop_sequences"] == ["END"]
        error = await rig.refused("hi", sampling=Sampling(temperature=0.2))
        assert isinstance(error, ModelRejected)
        assert "temperature" in str(error)


@pytest.mark.parametrize(
    "schema",
    [
        CITY,
        {"type": "object"},
        {"type": "array", "items": {"enum": ["a", "b"]}, "minItems": 2},
        {"$ref": "#/$defs/x", "$defs": {"x": {"anyOf": [{"type": "null"}, {"type": "string"}]}}},
        {"type": "object", "properties": {"at": {"type": "string", "format": "date"}}},
        {"type": ["integer", "null"], "exclusiveMinimum": 3},
        {"allOf": [CITY, {"description": "a city"}]},
        {"type": "object", "properties": {"x": {"const": 4}, "y": {"type": "boolean"}}},
    ],
)
async def test_the_stand_in_fills_schemas(schema: dict[str, Any]) -> None:
    model = create(None)
    text, _ = await complete(model, ask("hello", response_schema=json.dumps(schema)))
    fastjsonschema.validate(schema, json.loads(text))
    assert json.loads(fill_schema(json.dumps(schema), "w")) is not Ellipsis


def test_schemas_are_told_apart() -> None:
    inner = {"type": "object", "properties": {"city": CITY}, "required": ["city"]}
    assert is_strict(CITY)
    assert not is_strict(inner)
    assert is_closable(inner)
    assert not is_closable(json.loads(OPEN))
    assert not is_closable(json.loads(ANY))
