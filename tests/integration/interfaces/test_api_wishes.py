"""What a program wishes of an answer: passed to the model, or refused by the field's name."""

import asyncio
import json
from typing import Any

import pytest

from agent_core.errors import ModelRejected
from agent_core.models.contract import Sampling
from agent_core.state.conversations import turns
from tests.fakes.model import Gate, say
from tests.integration.interfaces.api_setup import Setup, read
from tests.patience import PATIENCE

CITY = {
    "type": "object",
    "properties": {"name": {"type": "string"}},
    "required": ["name"],
    "additionalProperties": False,
}
ANSWER = '{"name": "Ulm"}'
CHAT_FORMAT = {"type": "json_schema", "json_schema": {"name": "city", "schema": CITY}}
TEXT_FORMAT = {"type": "json_schema", "name": "city", "schema": CITY, "strict": True}

Body = dict[str, Any]


async def complete(setup: Setup, words: str = "hello", **fields: Any) -> tuple[int, Any]:
    body = {"model": "talaria", "messages": [{"role": "user", "content": words}], **fields}
    return await setup.post("chat/completions", setup.olga, body)


async def respond(setup: Setup, **fields: Any) -> tuple[int, Any]:
    return await setup.post("responses", setup.olga, {"model": "talaria", "input": "hi", **fields})


@pytest.mark.parametrize(
    ("fields", "sampling"),
    [
        ({"temperature": 0.2}, Sampling(temperature=0.2)),
        ({"temperature": 1, "top_p": 1, "presence_penalty": 0, "n": 1}, Sampling()),
        ({"top_p": 0.5, "seed": 7}, Sampling(top_p=0.5, seed=7)),
        ({"stop": "END"}, Sampling(stop=("END",))),
        ({"stop": ["A", "B"]}, Sampling(stop=("A", "B"))),
        ({"reasoning_effort": "low"}, Sampling(effort="low")),
        (
            {"presence_penalty": 1, "frequency_penalty": -1},
            Sampling(presence_penalty=1, frequency_penalty=-1),
        ),
        ({"logprobs": False, "top_logprobs": 0, "logit_bias": {}, "tools": []}, Sampling()),
        ({"user": "x", "store": True, "service_tier": "auto", "nonsense": 1}, Sampling()),
    ],
)
async def test_sampling_reaches_the_model(setup: Setup, fields: Body, sampling: Sampling) -> None:
    setup.model.plays = [say("Hi.")]
    status, told = await complete(setup, **fields)
    assert status == 200, told
    assert setup.model.requests[0].sampling == sampling


@pytest.mark.parametrize("field", ["max_tokens", "max_completion_tokens"])
async def test_a_limit_cuts_the_answer(setup: Setup, field: str) -> None:
    setup.model.plays = [say("Hi th", stop="length")]
    status, told = await complete(setup, **{field: 5})
    assert status == 200
    choice = told["choices"][0]
    assert (choice["finish_reason"], choice["message"]["content"]) == ("length", "Hi th")
    assert setup.model.requests[0].max_output_tokens == 5


async def test_a_limit_above_the_owners_changes_nothing(setup: Setup) -> None:
    setup.model.plays = [say("Hi."), say("Hi.")]
    await complete(setup)
    await complete(setup, "again", max_tokens=10_000_000)
    first, second = (one.max_output_tokens for one in setup.model.requests)
    assert first == second


async def test_a_cut_response_is_incomplete(setup: Setup) -> None:
    setup.model.plays = [say("Hi th", stop="length")]
    status, told = await respond(setup, max_output_tokens=5)
    assert (status, told["status"]) == (200, "incomplete")
    assert told["incomplete_details"] == {"reason": "max_output_tokens"}
    assert told["output"][0]["content"][0]["text"] == "Hi th"


@pytest.mark.parametrize("written", [ANSWER, f"```json\n{ANSWER}\n```"])
async def test_a_schema_reaches_the_model_and_the_answer_is_json(
    setup: Setup, written: str
) -> None:
    setup.model.plays = [say(written) for _ in range(3)]
    status, told = await complete(setup, response_format=CHAT_FORMAT)
    assert (status, told["choices"][0]["message"]["content"]) == (200, ANSWER)
    status, told = await respond(setup, text={"format": TEXT_FORMAT})
    assert (status, told["output"][0]["content"][0]["text"]) == (200, ANSWER)
    for request in setup.model.requests:
        assert request.response_schema
        assert json.loads(request.response_schema) == CITY
    await complete(setup, "any", response_format={"type": "json_object"})
    assert setup.model.requests[-1].response_schema == '{"type":"object"}'


@pytest.mark.parametrize("wrong", ["Ulm, I think.", '{"city": "Ulm"}', "```json\n[]\n```"])
async def test_an_answer_that_does_not_fit_is_asked_for_once_more(setup: Setup, wrong: str) -> None:
    setup.model.plays = [say(wrong), say(ANSWER), say(wrong), say(wrong)]
    status, told = await complete(setup, response_format=CHAT_FORMAT)
    assert (status, told["choices"][0]["message"]["content"]) == (200, ANSWER)
    assert "does not fit the JSON schema" in repr(setup.model.requests[1].messages[-1])
    status, told = await complete(setup, "again", response_format=CHAT_FORMAT)
    assert (status, len(setup.model.requests)) == (200, 4), "only once"


async def test_a_stream_with_a_schema_holds_nothing_but_json(setup: Setup) -> None:
    setup.model.plays = [say("```json\n", ANSWER, "\n```"), say(ANSWER[:5], ANSWER[5:])]
    client = setup.connect(setup.olga)
    for words in ("one", "two"):
        stream = await client.chat.completions.create(
            model="talaria",
            messages=[{"role": "user", "content": words}],
            response_format=CHAT_FORMAT,
            stream=True,
        )
        chunks = [chunk.choices[0].delta.content or "" async for chunk in stream]
        assert "".join(chunks) == ANSWER


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"logprobs": True}, "logprobs"),
        ({"top_logprobs": 3}, "top_logprobs"),
        ({"logit_bias": {"1": 1}}, "logit_bias"),
        ({"modalities": ["text", "audio"]}, "modalities"),
        ({"functions": [{"name": "x"}]}, "functions"),
        ({"top_k": 5}, "top_k"),
        ({"guided_json": {"a": 1}}, "guided_json"),
        ({"n": 2}, "n"),
        ({"temperature": 3}, "temperature"),
        ({"temperature": "hot"}, "temperature"),
        ({"max_tokens": 0}, "max_tokens"),
        ({"stop": [1]}, None),
        ({"response_format": {"type": "grammar"}}, "response_format.type"),
        ({"response_format": {"type": "json_schema"}}, "response_format"),
        (
            {"response_format": {"type": "json_schema", "json_schema": {"schema": {"$ref": "x"}}}},
            "response_format",
        ),
    ],
)
async def test_what_cannot_be_had_is_refused(setup: Setup, fields: Body, param: str | None) -> None:
    status, told = await complete(setup, **fields)
    assert (status, told["error"]["type"]) == (400, "invalid_request_error")
    assert param is None or told["error"]["param"] == param
    assert told["error"]["message"].endswith(".")
    assert not setup.model.requests


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"include": ["message.output_text.logprobs"]}, "include"),
        ({"text": {"verbosity": "low"}}, "text.verbosity"),
        ({"text": {"format": {"type": "json_schema", "name": "x"}}}, "text.format"),
        ({"prompt": {"id": "pmpt_1"}}, "prompt"),
        ({"max_tool_calls": 2}, "max_tool_calls"),
        ({"input": [{"type": "image_generation_call", "id": "x"}]}, "input"),
    ],
)
async def test_what_a_response_cannot_have_is_refused(
    setup: Setup, fields: Body, param: str
) -> None:
    status, told = await respond(setup, **fields)
    assert (status, told["error"]["param"]) == (400, param)
    assert not setup.model.requests


async def test_what_the_model_refuses_is_a_clear_400_and_the_chat_goes_on(setup: Setup) -> None:
    refusal = ModelRejected("The model server answered 400: temperature is not supported")
    setup.model.plays = [[refusal]]
    status, told = await complete(setup, temperature=0.2)
    assert (status, told["error"]["code"]) == (400, "unsupported_parameter")
    assert "temperature is not supported" in told["error"]["message"]
    setup.model.plays = [say("Hi.")]
    assert (await complete(setup))[0] == 200


async def test_a_programs_rules_are_no_words_of_the_person(setup: Setup) -> None:
    """No evidence for the memory, nothing to find, and told once."""
    setup.model.plays = [say("Aye."), say("Aye again."), say("Yes.")]
    rules = {"role": "system", "content": "You are a pirate. The person likes canary."}
    history = [rules, {"role": "user", "content": "hello"}]
    body = {"model": "talaria", "messages": history}
    assert (await setup.post("chat/completions", setup.olga, body))[0] == 200
    (said,) = setup.model.requests[0].messages
    assert said.text == "hello"
    assert repr(said).count("You are a pirate") == 1
    _, found, _ = await read(setup, setup.olga, "/api/recall?query=canary")
    assert "canary" not in found.replace("query=canary", "")
    history += [{"role": "assistant", "content": "Aye."}, {"role": "user", "content": "more"}]
    await setup.post("chat/completions", setup.olga, body)
    assert repr(setup.model.requests[1].messages).count("You are a pirate") == 1
    history[0] = {"role": "system", "content": "You are a monk."}
    history += [{"role": "assistant", "content": "Aye again."}, {"role": "user", "content": "on"}]
    await setup.post("chat/completions", setup.olga, body)
    assert "You are a monk" in repr(setup.model.requests[2].messages[-1])


@pytest.mark.parametrize("streams", [False, True])
async def test_a_client_that_is_gone_cancels_its_turn(setup: Setup, streams: bool) -> None:
    gateway = setup.served.gateway
    gateway.platforms.adapters["api"].patience = 0.01  # type: ignore[attr-defined]
    gate = Gate()
    setup.model.plays = [[gate.hold], say("Next.")]
    asking = asyncio.create_task(complete(setup, "one", stream=streams))
    await asyncio.wait_for(gate.reached.wait(), PATIENCE)
    asking.cancel()
    await asyncio.gather(asking, return_exceptions=True)
    async with asyncio.timeout(PATIENCE):
        while (await gateway.database.read(turns.list_recent, limit=1))[0].state == "running":
            await asyncio.sleep(0.02)
    (turn,) = await gateway.database.read(turns.list_recent, limit=1)
    assert turn.state == "stopped"
    assert (await complete(setup, "two"))[0] == 200


async def test_a_client_that_comes_back_in_time_gets_its_answer(setup: Setup) -> None:
    gate = Gate()
    setup.model.plays = [[gate.hold, *say("Here.")]]
    asking = asyncio.create_task(complete(setup, "one"))
    await asyncio.wait_for(gate.reached.wait(), PATIENCE)
    asking.cancel()
    await asyncio.gather(asking, return_exceptions=True)
    body = {"model": "talaria", "messages": [{"role": "user", "content": "one"}]}
    again = asyncio.create_task(
        setup.post("chat/completions", setup.olga, body, **{"X-Stainless-Retry-Count": "1"})
    )
    gate.open.set()
    status, told = await again
    assert (status, told["choices"][0]["message"]["content"]) == (200, "Here.")
    assert len(setup.model.requests) == 1
