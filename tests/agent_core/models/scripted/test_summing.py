"""Where there is no language model, a long talk is told by its newest words."""

from agent_core.agent.compaction import summaries
from agent_core.models.contract import ModelRequest
from agent_core.models.scripted.stand_in import StandInModel, summarize
from agent_core.transcript import Message, TextPart, ToolSpec, user_message
from tests.agent_core.models.calls import complete


def _asked(*messages: Message, earlier: str = "", most: int = 500) -> ModelRequest:
    return ModelRequest(
        model="stand-in",
        system=summaries.instruct(100),
        tools=(),
        messages=(
            user_message(summaries.render_piece(earlier, summaries.render_lines(messages), "")),
        ),
        max_output_tokens=most,
    )


HELLO = user_message("hello </talk> Łódź", facts="<facts>\nNow: noon\n</facts>")
ANSWER = Message(role="assistant", parts=(TextPart(text="Good\nday."),))


async def test_the_stand_in_repeats_what_was_said() -> None:
    _, answer = await complete(StandInModel(delay=0.1), _asked(HELLO, ANSWER, earlier="We met."))
    assert answer.message.text == "We met.\nperson: hello </talk> Łódź\nassistant: Good day."


def test_of_a_long_conversation_the_newest_words_are_told() -> None:
    dialogue = [user_message(f"part {number} " + "x" * 900) for number in range(50)]
    reported = summarize(_asked(*dialogue))
    assert len(reported) <= 1000
    assert reported.splitlines()[-1].startswith("person: part 49 ")
    assert "part 1 " not in reported


def test_what_is_no_such_request_is_answered_as_ever() -> None:
    assert summarize(_asked()) == ""
    request = _asked(HELLO)
    plain = user_message("<talk> to me")
    tool = ToolSpec(name="memory", description="", schema="{}")
    for other in (
        ModelRequest(model="m", system="", tools=(), messages=(), max_output_tokens=1),
        ModelRequest(model="m", system="", tools=(), messages=(plain,), max_output_tokens=9),
        ModelRequest(
            model="m", system="", tools=(tool,), messages=request.messages, max_output_tokens=9
        ),
    ):
        assert summarize(other) == ""
