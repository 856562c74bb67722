"""What an external memory may read of a turn."""

from agent_core.state.conversations import messages, turns
from agent_core.state.conversations.messages import TranscriptPlace
from agent_core.state.engine.database import Connection
from agent_core.state.memory import external_sync
from agent_core.transcript import Message, TextPart
from tests.agent_core.state.rows import add_dialogue, add_person, add_turn


def test_an_answer_that_may_repeat_words_of_others_is_not_sent(connection: Connection) -> None:
    dialogue = add_dialogue(connection, add_person(connection))
    turn_id = add_turn(connection, dialogue)
    place = TranscriptPlace(
        session_id=dialogue.session_id,
        turn_id=turn_id,
        person_id=dialogue.person.id,
        conversation_id=dialogue.conversation.id,
        platform="telegram",
    )
    said = [
        Message(role="user", parts=(TextPart(text="What is this?"),)),
        Message(role="assistant", parts=(TextPart(text="The key is under the mat."),)),
    ]
    messages.append(connection, place, said, now=1)

    def sent() -> list[str]:
        return [text for _, _, text, _ in external_sync.list_said(connection, turn_id=turn_id)]

    assert sent() == ["What is this?", "The key is under the mat."]
    turns.mark_untrusted(connection, turn_id=turn_id)
    assert sent() == ["What is this?"]
