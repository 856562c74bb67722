"""History: what is remembered is what was read, and it does not grow without end."""

from agent_core.history import History
from agent_core.ids import MessageId, SessionId, TurnId
from agent_core.state.messages import START, StoredMessage
from agent_core.transcript import user_message

ONE, TWO = SessionId(1), SessionId(2)


def stored(*numbers: int) -> list[StoredMessage]:
    return [
        StoredMessage(id=MessageId(n), turn_id=TurnId(1), message=user_message(f"message {n}"))
        for n in numbers
    ]


def test_only_what_is_new_has_to_be_read() -> None:
    history = History()
    assert history.newest(ONE) == START
    assert history.extend(ONE, stored(1, 2)) == tuple(stored(1, 2))
    assert history.newest(ONE) == 2
    assert history.extend(ONE, stored(3)) == tuple(stored(1, 2, 3))


def test_sessions_are_kept_apart() -> None:
    history = History()
    history.extend(ONE, stored(1))
    assert history.extend(TWO, stored(2)) == tuple(stored(2))


def test_the_session_unused_for_longest_is_let_go_of() -> None:
    history = History(most_messages=4)
    history.extend(ONE, stored(1, 2))
    history.extend(TWO, stored(3, 4))
    history.extend(ONE, ())
    history.extend(SessionId(3), stored(5))
    assert history.newest(TWO) == START
    assert history.newest(ONE) == 2


def test_even_a_session_that_is_too_long_to_keep_is_given_whole() -> None:
    history = History(most_messages=2)
    assert history.extend(ONE, stored(1, 2, 3)) == tuple(stored(1, 2, 3))
    assert history.newest(ONE) == START
