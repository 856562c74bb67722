"""What is kept of how talks begin: found where they still begin so, and let go of in time."""

from agent_core.models.prefix_cache import PrefixCache
from agent_core.transcript import user_message

ONE, TWO, OTHER = (user_message(text) for text in ("one", "two", "other"))


def test_a_conversation_is_known_as_far_as_it_begins_as_it_did() -> None:
    known: PrefixCache[str] = PrefixCache()
    assert known.take("t", (ONE,)) is None
    known.keep("t", (ONE,), "found", 1)
    assert known.take("t", (user_message("one"), TWO)) == (1, "found")
    assert known.take("t", (ONE, TWO)) is None, "it was taken"
    for dialogue in ((OTHER, TWO), (), (ONE,)):
        known.keep("t", (ONE, TWO), "found", 1)
        assert known.take("t", dialogue) is None, dialogue
        assert known.weight == 0


def test_conversations_that_weigh_too_much_together_are_let_go_of_oldest_first() -> None:
    known: PrefixCache[int] = PrefixCache(most_weight=10)
    for number in range(5):
        known.keep(number, (ONE,), number, 4)
    assert known.weight == 8
    assert [known.take(number, (ONE,)) for number in range(5)] == [None, None, None, (1, 3), (1, 4)]
    known.keep(1, (ONE,), 1, 11)
    assert known.take(1, (ONE,)) is None
