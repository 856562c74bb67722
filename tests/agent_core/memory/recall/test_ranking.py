"""What puts one message before another, each reason alone."""

from datetime import UTC, datetime

from agent_core.ids import MessageId, SessionId
from agent_core.memory.recall.query import read_query
from agent_core.memory.recall.ranking import Ranking
from agent_core.state.search.passages import FoundMessage, Passage
from agent_core.state.search.search_scope import Speaker
from agent_core.state.tokenizer import cut

Window = list[Passage]


def say(
    number: int,
    text: str,
    *,
    dialogue: int = 0,
    by: str = "ann",
    role: Speaker = "user",
    at: str = "2026-02-02",
    is_within: bool = True,
) -> Passage:
    message = FoundMessage(
        id=MessageId(number),
        session_id=SessionId(dialogue or number),
        role=role,
        platform="telegram",
        said_at=int(datetime.fromisoformat(at).replace(tzinfo=UTC).timestamp() * 1000),
        text=text,
        asker=by,
        is_within=is_within,
    )
    return Passage(message=message, place=0, text=text, is_last=True)


def order(question: str, *windows: Window, common: str = "") -> list[int]:
    """The numbers of the messages, best first. A word is worth 3, a `common` one 1."""
    query = read_query(question)
    weights = {term: 1.0 if term.word == common else 3.0 for term in query.terms}
    ranking = Ranking(query, weights, lambda moment: datetime.fromtimestamp(moment / 1000, UTC))
    return [one.message.id for one in ranking.rank(windows)]


def test_a_rare_word_tells_more_than_a_common_one() -> None:
    assert order("dog lisbon", [say(1, "in lisbon")], [say(2, "a dog")], common="dog") == [1, 2]
    assert order("dog lisbon", [say(1, "in lisbon")], [say(2, "a dog")], common="lisbon") == [2, 1]


def test_of_equals_the_newest_comes_first() -> None:
    assert order("dog", [say(1, "a dog")], [say(3, "a dog")], [say(2, "a dog")]) == [3, 2, 1]


def test_what_stands_around_a_message_counts_in_it_a_little() -> None:
    near = [say(1, "the flight", dialogue=1), say(2, "a dog", dialogue=1)]
    assert order("dog flight", near, [say(9, "a dog")])[:2] == [2, 1]
    assert order("dog flight", near, [say(9, "dog flight")])[0] == 9


def test_nearer_counts_more() -> None:
    window = [say(n, text, dialogue=1) for n, text in enumerate(("x", "y", "dog", "z"), start=1)]
    assert order("dog", window) == [3, 4, 2, 1]


def test_the_answer_comes_before_the_question_and_what_was_said_before_it() -> None:
    window = [
        say(1, "hello", dialogue=1),
        say(2, "which vet was it?", dialogue=1),
        say(3, "the vet was dr sandhu", dialogue=1),
    ]
    assert order("vet", window) == [3, 2, 1]


def test_an_answer_without_the_words_comes_before_other_neighbours() -> None:
    window = [
        say(1, "hm", dialogue=1),
        say(2, "which vet?", dialogue=1),
        say(3, "dr sandhu", dialogue=1),
    ]
    found = order("vet", window)
    assert found.index(3) < found.index(1)


def test_length_tells_against_a_message_but_brevity_is_no_merit() -> None:
    long = "dog " + "word " * 200
    assert order("dog", [say(2, long)], [say(1, "dog")]) == [1, 2]
    assert order("dog", [say(2, "dog one two three")], [say(1, "dog")]) == [2, 1]


def test_words_side_by_side_as_asked_come_first() -> None:
    apart = say(2, "the bank is closed, the river is not")
    together = say(1, "by the bank of the river it is closed")
    assert order("bank river", [apart], [together]) == [1, 2]


def test_a_conversation_that_is_about_it_is_a_weak_reason() -> None:
    about = [say(n, "dog", dialogue=1) for n in (1, 2, 3)]
    lone = [say(4, "dog", dialogue=2)]
    apart = [[one] for one in about]
    assert order("dog", *apart, lone) == [3, 2, 1, 4]


def test_what_the_named_person_said_comes_before_what_was_said_to_them() -> None:
    to_them = say(2, "Hey Caroline, pottery is fun", by="Melanie")
    by_them = say(1, "pottery is calm", by="Caroline")
    assert order("What does Caroline think of pottery?", [to_them], [by_them]) == [1, 2]
    assert order("What does Melanie think of pottery?", [to_them], [by_them]) == [2, 1]


def test_people_are_known_by_name_where_nobody_writes_their_names() -> None:
    query = read_query("What food does Caroline like?")
    weights = {term: 3.0 for term in query.terms if term.word not in cut("Caroline")}
    ranking = Ranking(query, weights, lambda moment: datetime.fromtimestamp(moment / 1000, UTC))
    windows = [[say(2, "I like rice", by="Melanie")], [say(1, "I like rice", by="Caroline")]]
    assert [one.message.id for one in ranking.rank(windows)] == [1, 2]


def test_what_authors_tell_of_themselves_comes_before_what_they_tell_of_the_reader() -> None:
    themselves, the_reader = [say(1, "I adopted a beagle")], [say(3, "you adopted a beagle")]
    nobody = [say(2, "they adopted a beagle")]
    assert order("beagle", the_reader, nobody, themselves) == [1, 2, 3]
    both = [say(4, "you know that I adopted a beagle")]
    assert order("beagle", nobody, both) == [4, 2]


def test_the_same_holds_in_german() -> None:
    themselves, the_reader = [say(1, "mein Dackel bellt")], [say(3, "dein Dackel bellt")]
    assert order("Dackel", the_reader, [say(2, "ein Dackel bellt")], themselves) == [1, 2, 3]


def test_who_only_asks_tells_nothing_of_themselves() -> None:
    asks, says = [say(2, "where is my beagle?")], [say(1, "a beagle is here")]
    assert order("beagle", asks, says) == [1, 2]


def test_a_reply_comes_after_what_it_replies_to() -> None:
    told, reply = [say(1, "a beagle barks at night")], [say(2, "wow, a beagle barks")]
    assert order("beagle", reply, told) == [1, 2]


def test_the_month_and_the_year_that_are_asked_for_count() -> None:
    may = [say(1, "a dog", at="2023-05-20")]
    june = [say(2, "a dog", at="2023-06-20")]
    assert order("dog in May", may, june) == [1, 2]
    assert order("dog 2022", [say(1, "a dog", at="2022-06-20")], june) == [1, 2]


def test_the_very_day_counts_more_than_its_month() -> None:
    before = [say(1, "a dog", at="2023-05-24")]
    then = [say(2, "a dog", at="2023-05-25")]
    after = [say(3, "a dog", at="2023-05-26")]
    for asked in ("dog on 25 May", "dog on May 25th, 2023", "dog 2023-05-25"):
        assert order(asked, before, then, after) == [2, 3, 1]


def test_asked_when_what_tells_a_time_comes_first() -> None:
    reported, untold = [say(1, "a dog, last friday")], [say(2, "a dog, really")]
    assert order("when dog", reported, untold) == [1, 2]
    assert order("dog", reported, untold) == [2, 1]


def test_what_may_not_be_shown_is_not_in_the_order_but_counts_beside() -> None:
    hidden = say(1, "the flight", dialogue=1, is_within=False)
    assert order("dog flight", [hidden, say(2, "a dog", dialogue=1)], [say(3, "a dog")]) == [2, 3]


def test_asked_what_was_said_oneself_the_own_words_come_first() -> None:
    own, reported = [say(1, "a dog called rex")], [say(2, "a dog called rex", role="assistant")]
    assert order("dog rex", own, reported) == [2, 1]
    assert order("what is my dog rex", own, reported) == [1, 2]
    assert order("can you tell me my dog rex", own, reported) == [1, 2]


def test_asked_for_an_answer_now_a_wish_for_answers_comes_first() -> None:
    plain = say(3, "a book about whales that I finished on the train")
    for wish in ("Always name the narrator of a book", "I prefer a book that is short"):
        assert order("can you bring a book", [plain], [say(1, wish)]) == [1, 3]
        assert order("which book did I finish", [plain], [say(1, wish)]) == [3, 1]
        theirs = say(1, wish, role="assistant")
        assert order("can you bring a book", [plain], [theirs]) == [3, 1]


def test_asked_what_the_assistant_said_its_words_come_first() -> None:
    own, reported = [say(2, "a dog called rex")], [say(1, "a dog called rex", role="assistant")]
    for asked in ("which dog rex did you recommend to me", "welchen dog rex hast du empfohlen"):
        assert order(asked, own, reported) == [1, 2]


def test_a_word_of_the_same_meaning_counts_but_less_than_the_word_itself() -> None:
    alike, other = [say(1, "her dog is old")], [say(2, "her car is old")]
    assert order("her old pet", alike, other) == [1, 2]
    assert order("her old pet", alike, [say(3, "her old pet")]) == [3, 1]
    assert order("her old pet Rex", alike, [say(4, "her old pet dog")], common="pet") == [4, 1]


def test_a_name_has_no_likeness() -> None:
    asked = "What does April think of pottery?"
    spring = say(1, "pottery in spring", by="April")
    car = say(2, "pottery in here", by="April")
    assert order(asked, [spring], [car]) == [2, 1]


def test_the_best_passage_stands_for_its_message() -> None:
    message = say(1, "").message
    texts = ("word " * 60, "the vet is dr sandhu", "word " * 60)
    window = [
        Passage(message=message, place=place, text=text, is_last=place == 2)
        for place, text in enumerate(texts)
    ]
    query = read_query("vet sandhu")
    ranking = Ranking(query, dict.fromkeys(query.terms, 3.0), lambda _: datetime.now(UTC))
    (found,) = ranking.rank([window])
    assert (found.place, found.text) == (1, "the vet is dr sandhu")


def test_a_word_of_a_long_neighbour_says_less() -> None:
    short = [say(1, "dog", dialogue=1), say(2, "hm", dialogue=1)]
    long = [say(3, "dog " + "word " * 80, dialogue=2), say(4, "hm", dialogue=2)]
    found = order("dog", short, long)
    assert found.index(2) < found.index(4)
