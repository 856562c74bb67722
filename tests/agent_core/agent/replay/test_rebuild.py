"""What stood in a request is found among all that it can have been, or said not to be known."""

from dataclasses import replace

from agent_core.agent.prompt.prompt_cache import freeze
from agent_core.agent.replay.diff import Comparison, compare, differ_in_words
from agent_core.agent.replay.rebuild import rebuild_calls
from agent_core.agent.replay.records import TurnRecord
from agent_core.agent.replay.replayer import replay
from agent_core.chats import Chat, Place
from agent_core.ids import ConversationId, MessageId, PersonId, SessionId, TurnId
from agent_core.models.contract import ModelRequest
from agent_core.models.fingerprints import Fingerprints
from agent_core.state.conversations.messages import StoredMessage
from agent_core.state.conversations.sessions import Conversation
from agent_core.state.conversations.turns import StoredTurn
from agent_core.state.conversations.usage import ModelCall
from agent_core.transcript import ImagePart, Message, TextPart, user_message

PROMPT = freeze("Be brief.", ())
TALK = Conversation(id=ConversationId(1), key="k", kind="direct", person_id=PersonId(1), scope="p1")
PICTURE = ImagePart(file_key="k1", media_type="image/png", size=3)
TURN = StoredTurn(
    id=TurnId(2),
    conversation_id=TALK.id,
    session_id=SessionId(1),
    person_id=TALK.person_id,
    prompt_hash=PROMPT.hash,
    place=Place(chat=Chat(platform="fake", address="c")),
    state="answered",
    reason="",
    detail="",
    attempts=0,
    started_at=1,
    ended_at=2,
    account_id=None,
    waiting_since=None,
)


def says(text: str) -> Message:
    return Message(role="assistant", parts=(TextPart(text=text),))


SAID = (user_message("one"), says("1"), user_message("see", parts=(PICTURE,)), says("2"))


def spend(
    messages: tuple[Message, ...], *shown: str, model: str = "m", limit: int = 9
) -> ModelCall:
    """The row of a call with these messages."""
    request = ModelRequest(
        model=model,
        system="",
        tools=(),
        messages=messages,
        max_output_tokens=limit,
        images=dict.fromkeys(shown, b""),
    )
    taken = Fingerprints().take(TALK.id, PROMPT.hash, request)
    return ModelCall(
        purpose="turn",
        model="m-20261101",
        input_tokens=1,
        cache_read_tokens=0,
        cache_write_tokens=0,
        output_tokens=1,
        micro_dollars=None,
        request_hash=taken.hash,
        asked_model=model,
        output_limit=limit,
    )


def record(*calls: ModelCall, pictures: tuple[str, ...] = ("k1",), **fields: object) -> TurnRecord:
    """A session of two turns, the second of which is looked at."""
    stored = tuple(
        StoredMessage(id=MessageId(10 + n), turn_id=TurnId(1 + n // 2), message=message)
        for n, message in enumerate(SAID)
    )
    made = TurnRecord(
        turn=TURN,
        conversation=TALK,
        prompt=PROMPT,
        transcript=stored,
        own=2,
        compactions=(),
        calls=calls,
        results={},
        images=frozenset(pictures),
        forgotten=0,
        is_by_job=False,
    )
    return replace(made, **fields)  # type: ignore[arg-type]


async def test_a_picture_counts_as_it_was_then_whether_or_not_it_is_still_there() -> None:
    for shown in ((), ("k1",)):
        spent = spend(SAID[:3], *shown)
        (call,) = rebuild_calls(record(spent, pictures=shown))
        assert call.doubt == ""
        assert call.sent
        assert call.sent.shown == shown
        made = await replay(record(spent, pictures=shown), (call,), PROMPT)
        assert compare((call,), made) == Comparison(verdict="identical", compared=1)
    (gone,) = rebuild_calls(record(spend(SAID[:3], "k1"), pictures=()))
    assert gone.doubt == "", "its bytes are gone, and what was sent is known all the same"


def test_what_can_not_be_proved_says_why() -> None:
    other = spend((*SAID[:2], user_message("other")))
    assert [one.doubt for one in rebuild_calls(record(other))] == ["differs"]
    assert [one.doubt for one in rebuild_calls(record(other, forgotten=1))] == ["forgotten"]
    assert [one.doubt for one in rebuild_calls(record(other, prompt=None))] == ["prompt_gone"]
    old = replace(other, request_hash=None)
    (call,) = rebuild_calls(record(old))
    assert call.doubt == "not_noted"
    assert call.sent
    assert call.sent.messages == SAID[:3], "what it likely was is told"


def test_another_model_or_limit_is_no_proof() -> None:
    spent = spend(SAID[:3], "k1")
    for changed in (replace(spent, asked_model="n"), replace(spent, output_limit=8)):
        assert [one.doubt for one in rebuild_calls(record(changed))] == ["differs"]


def test_a_call_of_which_nothing_stands_there_is_not_made_up() -> None:
    first, second = spend(SAID[:3], "k1"), spend((user_message("elsewhere"),))
    calls = rebuild_calls(record(second, first))
    assert [(one.spent, one.doubt, one.sent is None) for one in calls] == [
        (first, "", False),
        (second, "differs", True),
    ]


async def test_the_first_request_that_differs_is_shown_where_it_differs() -> None:
    spent = spend(SAID[:3], "k1")
    calls = rebuild_calls(record(spent))
    other = user_message("X", parts=(PICTURE,))
    changed = (*record().transcript[:2], replace(record().transcript[2], message=other))
    made = await replay(record(spent, transcript=(*changed, record().transcript[3])), calls, PROMPT)
    comparison = compare(calls, made)
    assert (comparison.verdict, comparison.compared) == ("differs", 0)
    assert len(comparison.lines) == 2
    before, after = comparison.lines
    assert before.startswith("-user ")
    assert '"see"' in before
    assert after.startswith("+user ")
    assert '"X"' in after
    assert compare(calls, []).verdict == "fewer"


def test_words_are_compared_by_lines() -> None:
    assert differ_in_words("a\nb\nc", "a\nB\nc")[2:] == ("@@ -1,3 +1,3 @@", " a", "-b", "+B", " c")
    assert differ_in_words("a", "a") == ()
