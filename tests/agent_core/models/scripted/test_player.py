"""Scripts: every kind of step, from Python and from a file."""

import json
from pathlib import Path

import pytest

from agent_core.errors import (
    ModelBusy,
    ModelDenied,
    ModelError,
    ModelInterrupted,
    ModelOverflow,
    ModelRejected,
    ModelUnknown,
)
from agent_core.models.contract import TextDelta, Usage
from agent_core.models.scripted import create
from agent_core.models.scripted.player import Call, ScriptedModel, Step, read_script
from tests.agent_core.models.calls import ask, complete


async def test_steps_are_played_in_order() -> None:
    model = ScriptedModel([Step(text="one two", pieces=2), Step(text="three", usage=Usage())])
    text, answer = await complete(model, ask("a"))
    assert (text, answer.stop, answer.message.text) == ("one two", "end", "one two")
    text, answer = await complete(model, ask("b"))
    assert (text, answer.usage) == ("three", Usage())
    assert [request.messages[-1].text for request in model.requests] == ["a", "b"]
    with pytest.raises(ModelRejected, match="no step left"):
        await complete(model, ask("c"))


async def test_calls_get_names_of_their_own() -> None:
    calls = (Call(name="memory"), Call(name="recall", arguments='{"query":"x"}', call_id="mine"))
    model = ScriptedModel([Step(calls=calls), Step(calls=calls[:1])])
    _, first = await complete(model, ask("a"))
    _, second = await complete(model, ask("a"))
    assert first.stop == "tools"
    ids = [call.call_id for call in (*first.message.calls, *second.message.calls)]
    assert ids == ["call_1_1", "mine", "call_2_1"]


async def test_calls_stand_only_in_an_answer_that_stopped_for_them() -> None:
    model = ScriptedModel([Step(text="half", calls=(Call(name="memory"),), stop="length")])
    _, answer = await complete(model, ask("a"))
    assert (answer.stop, answer.message.calls) == ("length", ())


async def test_a_refusal_names_its_category() -> None:
    model = ScriptedModel([Step(stop="refusal", refusal="bio")])
    text, answer = await complete(model, ask("a"))
    assert (text, answer.stop, answer.refusal) == ("", "refusal", "bio")


@pytest.mark.parametrize(
    ("fail", "expected"),
    [
        ("busy", ModelBusy),
        ("cut", ModelInterrupted),
        ("rejected", ModelRejected),
        ("overflow", ModelOverflow),
        ("unknown", ModelUnknown),
        ("denied", ModelDenied),
    ],
)
async def test_a_step_can_fail_after_some_text(fail: str, expected: type[ModelError]) -> None:
    model = ScriptedModel([Step(text="half", fail=fail, retry_after=3.0)])
    seen = []

    async def listen() -> None:
        async for piece in model.stream(ask("a")):
            assert isinstance(piece, TextDelta)
            seen.append(piece.text)

    with pytest.raises(expected) as caught:
        await listen()
    assert seen == ["half"]
    if isinstance(caught.value, ModelBusy):
        assert caught.value.retry_after == 3.0


async def test_a_file_is_played(tmp_path: Path) -> None:
    script = tmp_path / "script.json"
    steps = [
        {"calls": [{"name": "memory", "arguments": {"text": "ü"}}], "usage": {"input_tokens": 7}},
        {"fail": "busy", "retry_after": 2},
        {"text": "done", "delay": 0.01, "pieces": 2},
    ]
    script.write_text(json.dumps(steps), encoding="utf-8")
    model = create({"script": str(script)})
    _, answer = await complete(model, ask("a"))
    assert json.loads(answer.message.calls[0].arguments) == {"text": "ü"}
    assert answer.usage.input_tokens == 7
    with pytest.raises(ModelBusy):
        await complete(model, ask("a"))
    assert (await complete(model, ask("a")))[0] == "done"
    await model.close()


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("{", "no JSON"),
        ("{}", "not a list"),
        ("[1]", "Step 1"),
        ('[{"text":"a"},{"colour":"red"}]', "Step 2.*colour"),
        ('[{"fail":"rain"}]', "Step 1.*rain"),
        ('[{"stop":"rain"}]', "Step 1.*rain"),
        ('[{"calls":[{}]}]', "Step 1.*name"),
    ],
)
def test_a_bad_script_is_told_in_a_sentence(text: str, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        read_script(text)
