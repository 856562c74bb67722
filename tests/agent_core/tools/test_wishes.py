"""One reader of wishes: which change a sentence orders, and whether it asks for any at all."""

import pytest

from agent_core.tools.own_words.contract import OwnWords, Said, WishKind
from agent_core.tools.own_words.orders import ORDERS
from agent_core.tools.own_words.wishes import asks_for_change, find_wishes


def orders(sentence: str) -> set[WishKind]:
    """The kinds of changes that a sentence orders."""
    words = OwnWords(sentences=(Said(plain=sentence, whole=sentence),))
    return {kind for kind in ORDERS if [*find_wishes(words, kind)]}


@pytest.mark.parametrize(
    ("sentence", "kind"),
    [
        ("remind me tomorrow at nine to call Ben", "remind"),
        ("will you remind me tomorrow at nine?", "remind"),
        ("kannst du mich morgen um neun erinnern?", "remind"),
        ("remember that I don't eat fish", "keep"),
        ("forget my old address", "forget"),
        ("delete the reminder about the gym", "cancel"),
        ("push the standup reminder to 10:30", "move"),
        ("set my time zone to Vienna", "set"),
    ],
)
def test_an_order_is_read_by_both(sentence: str, kind: WishKind) -> None:
    assert kind in orders(sentence)
    assert asks_for_change(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "can u order me a pizza",
        "tell Ben that I'm late",
        "book the 8am slot",
        "watch the price and tell me",
        "if it rains, remind me of the umbrella",
        "bitte Ben Bescheid geben, dass ich krank bin",
        "préviens Paul que je suis en retard",
    ],
)
def test_what_no_call_can_prove_is_asked_for_all_the_same(sentence: str) -> None:
    assert asks_for_change(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "Ben said remind me at nine to pay",
        "translate into German: remind me at nine to pay",
        "don't remind me at nine",
        "how do I delete a file?",
        "Whats the difference between save and save as",
        "I'll call him and tell Ben about it",
        "I'll make sure to send those messages to David",
        "do you remember my shoe size?",
        "notiere nichts davon",
    ],
)
def test_neither_reads_what_orders_nothing(sentence: str) -> None:
    assert not asks_for_change(sentence)
    assert orders(sentence) <= {"set", "run"}


@pytest.mark.parametrize("sentence", ["do the maths", "answer in French", "make it shorter"])
def test_a_verb_alone_proves_a_fitting_call_and_asks_for_nothing(sentence: str) -> None:
    assert orders(sentence)
    assert not asks_for_change(sentence)
