"""The history cache: what is remembered is what was read, and it does not grow without end."""

from agent_core.agent.caches import HistoryCache
from agent_core.agent.history import History
from agent_core.ids import CallId, ConversationId, MessageId, SessionId, TurnId
from agent_core.state.conversations import past_sessions, sessions
from agent_core.state.conversations.messages import StoredMessage
from agent_core.state.conversations.sessions import Session
from agent_core.state.engine.database import Connection
from agent_core.transcript import Message, RawPart, ToolCallPart, user_message
from tests.agent_core.agent.bench import Bench

ONE, TWO, THREE = SessionId(1), SessionId(2), SessionId(3)
HERE, THERE = ConversationId(1), ConversationId(2)


def stored(*numbers: int, size: int = 1) -> History:
    return History().extend(
        [
            StoredMessage(id=MessageId(n), turn_id=TurnId(1), message=user_message("x" * size))
            for n in numbers
        ]
    )


def test_what_was_kept_is_recalled_by_session() -> None:
    cache = HistoryCache()
    cache.keep(ONE, stored(1, 2))
    cache.keep(TWO, stored(3))
    cache.keep(ONE, stored(1, 2, 4))
    assert cache.recall(ONE) == stored(1, 2, 4)
    assert cache.recall(TWO) == stored(3)
    assert cache.recall(THREE) is None


def test_the_session_unused_for_longest_is_let_go_of() -> None:
    cache = HistoryCache(most_weight=5000)
    cache.keep(ONE, stored(1, 2, size=1000))
    cache.keep(TWO, stored(3, 4, size=1000))
    cache.keep(ONE, stored(1, 2, size=1000))
    cache.keep(THREE, stored(5, size=1000))
    assert cache.recall(TWO) is None
    assert cache.recall(ONE) == stored(1, 2, size=1000)


def test_what_is_let_go_of_frees_its_place() -> None:
    cache = HistoryCache(most_weight=4000)
    for number in range(1, 50):
        session_id = SessionId(number)
        cache.keep(session_id, stored(1, size=1000))
        cache.keep(session_id, stored(1, 2, size=1000))
        assert cache.recall(session_id) == stored(1, 2, size=1000)


def test_a_session_that_is_too_long_to_keep_is_not_kept() -> None:
    cache = HistoryCache(most_weight=1000)
    cache.keep(ONE, stored(1, 2, 3))
    assert cache.recall(ONE) is None


def test_calls_and_a_providers_own_blocks_weigh_too() -> None:
    cache = HistoryCache(most_weight=2000)
    parts = (
        ToolCallPart(call_id=CallId("c"), name="t", arguments="x" * 1000),
        RawPart(provider="p", model="m", payload="x" * 1000),
    )
    message = Message(role="assistant", parts=parts)
    one = StoredMessage(id=MessageId(1), turn_id=TurnId(1), message=message)
    cache.keep(ONE, History().extend([one]))
    assert cache.recall(ONE) is None


def test_what_is_let_go_of_while_a_turn_reads_is_missing_nowhere() -> None:
    cache = HistoryCache(most_weight=1400)
    cache.keep(ONE, stored(1, 2))
    known = cache.recall(ONE)
    cache.keep(TWO, stored(3))
    assert cache.recall(ONE) is None
    assert known
    cache.keep(ONE, known.extend(stored(4).messages))
    assert cache.recall(ONE) in (None, stored(1, 2, 4))


def session(session_id: SessionId) -> Session:
    return Session(id=session_id, prompt_hash=None, title="", started_at=1, last_at=2)


def test_a_conversation_is_entered_once_as_it_was_left() -> None:
    cache = HistoryCache()
    assert cache.take_open(HERE) is None
    cache.store_open(HERE, session(ONE), stored(1, 2))
    assert cache.take_open(THERE) is None
    assert cache.take_open(HERE) == (session(ONE), stored(1, 2))
    assert cache.take_open(HERE) is None
    assert cache.recall(ONE) == stored(1, 2)


def test_a_conversation_whose_words_were_let_go_of_is_read_again() -> None:
    cache = HistoryCache(most_weight=1400)
    cache.store_open(HERE, session(ONE), stored(1, 2))
    cache.store_open(THERE, session(TWO), stored(3))
    assert cache.take_open(HERE) is None
    assert cache.take_open(THERE) == (session(TWO), stored(3))


def test_conversations_that_may_have_changed_are_not_entered() -> None:
    cache = HistoryCache()
    cache.store_open(HERE, session(ONE), stored(1))
    cache.clear_open()
    assert cache.take_open(HERE) is None


async def test_a_branch_that_a_command_opened_takes_no_id_from_the_next_session(
    bench: Bench,
) -> None:
    await bench.ask("hello")

    def branch(connection: Connection) -> SessionId:
        here = sessions.find_open(connection, conversation_id=bench.dialogue.id)
        assert here
        made = past_sessions.branch(
            connection, session_id=here.id, into=bench.room.id, title="", now=bench.time
        )
        sessions.end(connection, conversation_id=bench.dialogue.id, now=bench.time)
        return made

    made = await bench.database.write("test.branch", branch)
    await bench.ask("hello again")
    fresh = await bench.database.read(
        lambda c: sessions.find_open(c, conversation_id=bench.dialogue.id)
    )
    assert fresh
    assert fresh.id > made
