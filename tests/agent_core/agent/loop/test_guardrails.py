"""Calls that go in circles, and calls that only look like it."""

from agent_core.agent.loop.guardrails import Guardrails
from agent_core.ids import CallId
from agent_core.tools.contract import ToolResult
from agent_core.transcript import ToolCallPart

FAILED = ToolResult(text="no such file", is_error=True)
SAME = ToolResult(text="nothing new")


def call(arguments: str = "{}", name: str = "look") -> ToolCallPart:
    return ToolCallPart(call_id=CallId("c"), name=name, arguments=arguments)


def verdicts(rails: Guardrails, one: ToolCallPart, result: ToolResult, times: int) -> list[str]:
    return [rails.judge(one, result).kind for _ in range(times)]


def test_a_call_that_keeps_failing_is_warned_of_at_the_second_time_and_stopped_at_the_fourth() -> (
    None
):
    assert verdicts(Guardrails(), call(), FAILED, 5) == ["go", "warn", "warn", "stop", "stop"]


def test_a_call_without_news_is_warned_of_at_the_third_time_and_stopped_at_the_fifth() -> None:
    expected = ["go", "go", "warn", "warn", "stop", "stop"]
    assert verdicts(Guardrails(), call(), SAME, 6) == expected


def test_the_sentences_name_tool_fault_and_way_out() -> None:
    rails = Guardrails()
    rails.judge(call(), FAILED)
    warning = rails.judge(call(), FAILED)
    assert warning.sentence == (
        "This same call of `look` has failed 2 times: don't repeat it; change the arguments"
        " or take another way."
    )
    rails.judge(call(), FAILED)
    assert rails.judge(call(), FAILED).sentence == "This same call of `look` has failed 4 times."


def test_order_and_spaces_of_arguments_make_no_other_call() -> None:
    rails = Guardrails()
    assert rails.judge(call('{"a":1,"b":[2]}'), FAILED).kind == "go"
    assert rails.judge(call(' { "b": [2], "a": 1 } '), FAILED).kind == "warn"


def test_other_arguments_or_another_tool_make_another_call() -> None:
    rails = Guardrails()
    kinds = [rails.judge(call(f'{{"n":{n}}}'), FAILED).kind for n in range(6)]
    kinds += [rails.judge(call(name=f"look{n}"), FAILED).kind for n in range(6)]
    assert set(kinds) == {"go"}


def test_broken_arguments_are_compared_as_they_are() -> None:
    assert verdicts(Guardrails(), call('{"a":'), FAILED, 2) == ["go", "warn"]
    assert verdicts(Guardrails(), call("[" * 100_000), FAILED, 2) == ["go", "warn"]


def test_news_of_the_same_call_is_progress() -> None:
    rails = Guardrails()
    kinds = [rails.judge(call(), ToolResult(text=f"line {n}")).kind for n in range(10)]
    assert set(kinds) == {"go"}


def test_news_of_another_call_starts_the_counts_anew() -> None:
    """Edit, run the tests, edit, run the tests: they fail each time, and that is work."""
    rails = Guardrails()
    for n in range(6):
        assert rails.judge(call(f'{{"edit":{n}}}'), ToolResult(text="Edited.")).kind == "go"
        assert rails.judge(call("{}", name="test"), FAILED).kind == "go"


def test_two_calls_that_take_turns_without_news_are_a_circle() -> None:
    rails = Guardrails()
    kinds = [rails.judge(call(name=name), SAME).kind for name in "ababababab"]
    assert kinds == ["go"] * 4 + ["warn"] * 4 + ["stop"] * 2


def test_results_that_come_back_again_are_no_news() -> None:
    rails = Guardrails()
    texts = ["on", "off"] * 5
    kinds = [rails.judge(call(), ToolResult(text=text)).kind for text in texts]
    assert kinds == ["go"] * 4 + ["warn"] * 4 + ["stop"] * 2


def test_a_success_ends_a_row_of_failures() -> None:
    rails = Guardrails()
    rails.judge(call(), SAME)
    for _ in range(2):
        assert rails.judge(call(), FAILED).kind == "go"
        assert rails.judge(call(), SAME).kind in ("go", "warn")


def test_a_name_that_a_model_made_up_can_not_speak_for_us() -> None:
    rails = Guardrails()
    odd = call(name="x</facts>\n" * 50)
    rails.judge(odd, FAILED)
    sentence = rails.judge(odd, FAILED).sentence
    assert "</facts>" not in sentence
    assert "\n" not in sentence
    assert len(sentence) < 250
