"""What a turn was asked for and did decides before the words of its answer do."""

import pytest

from agent_core.agent.claims.check import ClaimCheck
from agent_core.agent.claims.course import Course
from agent_core.agent.claims.deeds import Deed, Kind
from agent_core.ids import CallId
from agent_core.transcript import Message, TextPart, ToolCallPart, user_message

ASKED = user_message("remind me to call Ben")
REMINDED = Deed(kind="job", receipts=())


def said(text: str, *calls: str) -> Message:
    asked = [ToolCallPart(call_id=CallId(name), name=name, arguments="{}") for name in calls]
    return Message(role="assistant", parts=(TextPart(text=text), *asked))


def judge(text: str, *messages: Message, deeds: tuple[Deed, ...] = ()) -> str | None:
    """The part that may be shown; None if all of it may."""
    course = Course(deeds=deeds, messages=messages)
    held = ClaimCheck(reads_wishes=True).judge(text, course)
    return held.kept if held else None


@pytest.mark.parametrize(
    "answer", ["Consider it handled.", "👍", "Six it is. Anything else?", "Ben call, locked in!"]
)
def test_an_unmet_wish_needs_no_known_words(answer: str) -> None:
    assert judge(answer, ASKED) == ""
    assert judge(answer, user_message("good morning")) is None
    assert judge(answer, ASKED, deeds=(REMINDED,)) is None


@pytest.mark.parametrize(
    "answer", ["At what time?", "I can't do that here.", "The call failed.", "Tell me the day."]
)
def test_a_question_and_a_refusal_answer_a_wish(answer: str) -> None:
    assert judge(answer, ASKED) is None


def test_a_denial_that_repeats_the_wish_is_none() -> None:
    wish = user_message("remember that I do not eat fish")
    assert judge("You do not eat fish.", wish) == ""


def test_a_long_answer_is_kept_and_the_forgotten_wish_asked_about() -> None:
    wish = user_message("what is aglio e olio? and remind me to buy basil")
    recipe = "Garlic, oil, chili and parsley. " * 10
    assert judge(recipe, wish) == recipe.strip()


@pytest.mark.parametrize(
    ("reply", "is_open"),
    [("at nine", True), ("never mind", False), ("what's the time?", False), ("no, thanks", False)],
)
def test_a_reply_to_a_question_carries_the_wish(*, reply: str, is_open: bool) -> None:
    messages = (ASKED, said("At what time?"), user_message(reply))
    assert (judge("Great!", *messages) is not None) == is_open


def test_a_wish_that_was_met_is_not_carried() -> None:
    done = (said("", "schedule"), said("Done. Shall I do more?"))
    assert judge("Great!", ASKED, *done, user_message("that is all")) is None


@pytest.mark.parametrize(
    "text",
    [
        "how do I delete a file?",
        "do you remember my shoe size?",
        "remind me what we decided",
        "translate 'remind me at nine'",
        "I'll call him and tell Ben about it",
        "tell me a joke",
        "forget it",
        "vergiss es",
        "erinnerst du dich an Rom?",
        "remind me of the rent. " + "And here is the whole mail: bla bla. " * 20,
    ],
)
def test_what_only_looks_like_a_wish(text: str) -> None:
    assert judge("Fine.", user_message(text)) is None


@pytest.mark.parametrize(
    ("kind", "claim"),
    [
        ("job", "I'll remind you at nine."),
        ("memory", "I'll remember that."),
        ("setting", "I've changed your time zone."),
        ("message", "I've sent Ben the message."),
    ],
)
def test_a_deed_covers_claims_of_its_kind_only(kind: Kind, claim: str) -> None:
    hello = user_message("hello")
    other: Kind = "job" if kind != "job" else "memory"
    assert judge(claim, hello, deeds=(Deed(kind=kind, receipts=()),)) is None
    assert judge(claim, hello, deeds=(Deed(kind="any", receipts=()),)) is None
    assert judge(claim, hello, deeds=(Deed(kind=other, receipts=()),)) == ""


def test_what_is_covered_streams_on() -> None:
    course = Course(deeds=(REMINDED,), messages=(ASKED,))
    gate = ClaimCheck(reads_wishes=True).gate(course)
    assert gate.grow("I'll remind you at nine. Now to ") == "I'll remind you at nine. Now to "
    assert gate.grow("the rest. I've sent Ben a mail. So") == "the rest."
    assert gate.release() == " I've sent Ben a mail. So"


def test_the_beginning_waits_for_a_sentence_that_answers_the_wish() -> None:
    course = Course(deeds=(), messages=(ASKED,))
    gate = ClaimCheck(reads_wishes=True).gate(course)
    assert gate.grow("Sure! At what") == ""
    assert gate.grow(" time? ") == "Sure! At what time? "
    assert gate.grow("Nine is fine.") == "Nine is fine."


def test_a_job_is_no_wish() -> None:
    course = Course(deeds=(), messages=(ASKED,))
    check = ClaimCheck(reads_wishes=False)
    assert check.judge("Time to call Ben!", course) is None
    assert check.gate(course).grow("Time to call Ben!") == "Time to call Ben!"


@pytest.mark.parametrize(
    ("wish", "claim", "question"),
    [
        ("recuérdame llamar a mamá", "¡Así será!", "¿A qué hora?"),
        ("przypomnij mi o dziewiątej", "Ustawione.", "Rano czy wieczorem?"),
        ("напомни мне в девять", "Готово.", "Утра или вечера?"),
        ("9時にリマインドして", "設定しました。", "午前9時ですか?"),
        ("九点提醒我", "好的。", "早上还是晚上?"),
    ],
)
def test_wishes_in_further_languages(wish: str, claim: str, question: str) -> None:
    assert judge(claim, user_message(wish)) == ""
    assert judge(question, user_message(wish)) is None
