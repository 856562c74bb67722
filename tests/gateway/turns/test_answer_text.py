"""Texts of answers: where a broken one is cut, and what a later one leaves out."""

import pytest

from adapters.toolkit.split_long_messages import split_markdown
from agent_core.events import Ending, TurnEnded
from gateway.texts.usage import UsageReader
from gateway.turns.answer_text import SentTexts, describe_ending, leave_out


def test_a_text_that_grows_again_leaves_out_what_earlier_messages_show() -> None:
    sent = SentTexts(["Tea comes", "from a\nmountain."])
    whole = "Tea comes from a\nmountain.\n\nIt is green."
    shown = [sent.leave_out(whole[:end]) for end in range(len(whole) + 1)]
    assert set(shown[: whole.index("It")]) <= {"", "\n"}
    assert shown[-1] == "It is green."


def test_a_message_that_ends_within_a_word_of_the_text_is_not_left_out() -> None:
    assert SentTexts(["No"]).leave_out("Nothing leaves.") == "Nothing leaves."


def test_a_text_that_differs_from_earlier_messages_is_shown_whole() -> None:
    sent = SentTexts(["Tea comes"])
    assert sent.leave_out("Tea") == ""
    assert sent.leave_out("Tea is green") == "Tea is green"


def test_a_text_behind_earlier_messages_may_repeat_their_words() -> None:
    sent = SentTexts([])
    sent.add("Yes.", is_behind=True)
    assert sent.leave_out("Yes. And no.") == "Yes. And no."
    sent.begin_again()
    assert sent.leave_out("Yes.\n\nYes. And no.") == "Yes. And no."


def test_an_answer_above_words_that_are_not_repeated_is_left_out() -> None:
    """The first message showed an answer and what was said before a call."""
    sent = ["Tea it is.\n\nLet me see.", "Blue\nor red?"]
    assert leave_out("Tea it is.\n\nBlue it is.", sent) == "Blue it is."
    assert leave_out("Tea it was.\n\nBlue it is.", sent) == "Tea it was.\n\nBlue it is."


def test_a_code_block_in_several_messages_is_left_out() -> None:
    lines = "\n".join(f"    line {number}" for number in range(60))
    quoted = "\n".join(f"> line {number}" for number in range(60))
    for answer in (
        f"Here it is:\n\n```python\n{lines}\n```",
        f"~~~\n{lines}\n~~~\n\nThat is all of it.",
        f"- One:\n\n  ```sh title=x\n{lines}\n  ```\n- Two.",
        f"> ```\n{quoted}\n> ```",
    ):
        parts = split_markdown(answer, limit=200, measure=len)
        assert len(parts) > 2
        assert leave_out(f"{answer}\n\nOne more.", parts) == "One more.", parts
    broken = "```\none\ntwo\nthree\n```\n\nOne more."
    assert leave_out(broken, ["```\none\ntwo\n```"]) == broken


@pytest.mark.parametrize(
    ("ending", "reason", "note"),
    [
        ("stopped", "", "(Stopped.)"),
        ("exhausted", "steps", "steps"),
        ("failed", "model_busy", "overloaded"),
        ("answered", "length", "longer one"),
    ],
)
def test_a_note_on_the_ending_is_no_code(ending: Ending, reason: str, note: str) -> None:
    ended = TurnEnded(ending=ending, text="So:\n\n```py\nx =", reason=reason)
    told = describe_ending(ended, [], UsageReader(zone="UTC", now=0, is_owner=True))
    code, _, rest = told.partition("\n```\n\n")
    assert code == "So:\n\n```py\nx ="
    assert note in rest
