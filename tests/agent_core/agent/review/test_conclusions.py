"""Which conclusions of a model are stored: only guesses that rest on entries, and harm nobody."""

import json

from agent_core.agent.review.conclusions import (
    choose_premises,
    make_conclusion_request,
    read_guesses,
)
from agent_core.ids import CallId
from agent_core.memory.archive.conclusions import Premise
from agent_core.transcript import ToolCallPart
from tests.fakes.model import call
from tests.tables import check_each

ENTRIES = [
    Premise(row_id=3, text="Gets up at five", is_untrusted=False),
    Premise(row_id=5, text="Swims before work", is_untrusted=False),
    Premise(row_id=8, text="Trusts Eve", is_untrusted=True),
]
GOOD: dict[str, object] = {
    "text": "Perhaps prefers appointments in the morning",
    "confidence": 70,
    "premises": [3, 5],
}


def read(*given: object, known: tuple[str, ...] = ()) -> list[tuple[str, int, int]]:
    calls = [
        ToolCallPart(
            call_id=CallId("c"),
            name="conclude",
            arguments=one if isinstance(one, str) else json.dumps(one),
        )
        for one in given
    ]
    guesses = read_guesses(calls, choose_premises(ENTRIES), known)
    return [(one.text, one.confidence, len(one.premises)) for one in guesses]


def test_a_guess_on_two_entries_is_stored() -> None:
    assert read(GOOD) == [(GOOD["text"], 70, 2)]


def test_a_guess_is_never_certain() -> None:
    assert read(GOOD | {"confidence": 100})[0][1] == 90


REFUSED = (
    {"premises": [3]},
    {"premises": [3, 3]},
    {"premises": []},
    {"premises": [3, 99]},
    {"premises": [3, 8]},
    {"premises": ["3", "5"]},
    {"premises": "3, 5"},
    {"confidence": 0},
    {"confidence": "high"},
    {"confidence": True},
    {"text": ""},
    {"text": 7},
    {"text": "Perhaps " + "x" * 300},
    {"text": "I prefer mornings"},
    {"text": "Perhaps pre\u200bfers mornings"},
    {"text": "Perhaps uses sk-ant-api03-" + "a" * 95},
    {"text": "The search tool cannot find mornings"},
)


def test_anything_else_is_refused() -> None:
    def check(change: dict[str, object]) -> None:
        assert read(GOOD | change) == []

    check_each(REFUSED, check)


def test_nonsense_is_refused() -> None:
    assert read("not json", "[]", "null", "{}") == []


def test_what_is_known_is_not_guessed_again() -> None:
    assert read(GOOD, GOOD) == [(GOOD["text"], 70, 2)]
    assert read(GOOD, known=(str(GOOD["text"]),)) == []


def test_a_guess_keeps_its_number_when_one_before_it_is_stored() -> None:
    texts = ("Perhaps bakes bread", "Perhaps walks the dog")
    calls = [call("conclude", json.dumps(GOOD | {"text": text})) for text in texts]
    (left,) = read_guesses(calls, choose_premises(ENTRIES), texts[:1])
    assert (left.number, left.text) == (1, texts[1])


def test_at_most_three_are_read() -> None:
    given = [
        GOOD | {"text": f"Perhaps {word} in the morning"}
        for word in ("reads poems", "bakes bread", "walks the dog", "writes letters")
    ]
    assert len(read(*given)) == 3


def test_the_request_holds_no_entry_behind_words_of_others() -> None:
    request = make_conclusion_request("m", choose_premises(ENTRIES), ["Perhaps is a swimmer"])
    shown = request.messages[0].text
    assert '[3] "Gets up at five"' in shown
    assert "Eve" not in shown
    assert "Perhaps is a swimmer" in shown
