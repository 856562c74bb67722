"""Traces of lessons: a person reads what they and the assistant did, not the text for the model."""

import pytest

from agent_core.agent.review.work_lessons import _show
from agent_core.ids import TurnId
from agent_core.localization import use_language
from agent_core.state.queues.reviews import Called
from gateway.texts import learning, skills


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ('person: "How far is \\"Oslo\\"?"', 'You wrote: How far is "Oslo"?'),
        ('assistant: "260 miles."', "I answered: 260 miles."),
        ('correction: "No, I meant km"', "Then you wrote: No, I meant km"),
        ('script: "wash/scrub"', "The script that ran: wash/scrub"),
        ('error: "exit status 3"', "What went wrong: exit status 3"),
        ('memory: "{\\"action\\": \\"add\\"}"', 'I used memory: {"action": "add"}'),
        ('[turn 7] person: "Sum it"', "You wrote: Sum it"),
        ('run "a" went well', "I used run, which went well: a"),
        ('run "a" failed: no column', "I used run, which failed: a (no column)"),
        ("anything else", "anything else"),
        ('person: "broken \\x"', 'person: "broken \\x"'),
    ],
)
def test_each_line_of_a_trace_is_a_sentence(line: str, shown: str) -> None:
    assert learning.show_trace(line) == shown


def test_the_sentence_that_starts_a_skill_is_the_command_that_was_sent() -> None:
    for language in ("en", "de"):
        with use_language(language):
            alone = skills.FOLLOW_ALONE(name="wash")
            words = skills.FOLLOW(name="wash", words="the car")
        for sentence, shown in ((alone, "/wash"), (words, "/wash the car")):
            called = Called(
                turn_id=TurnId(7), name="run", arguments="{}", outcome="", is_error=False
            )
            turn = _show(TurnId(7), sentence, [called])
            assert learning.show_trace(turn).splitlines()[0] == f"You wrote: {shown}"
            assert learning.show_trace(f'person: "{sentence}"') == f"You wrote: {shown}"
