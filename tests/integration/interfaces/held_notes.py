"""A review that holds back notes."""

from agent_core.agent.review.claim_check import Claim
from agent_core.agent.review.record import HeldClaim, Lesson, ReviewRecord, dump_record
from agent_core.chats import Chat
from agent_core.ids import MessageId, TurnId
from agent_core.state.conversations import questions, turns
from agent_core.state.engine.database import Connection
from agent_core.state.people.people import Person
from agent_core.state.queues import reviews, tasks
from gateway.turns.proposals import take_held

LIE = "Prefers imperial units"
LESSON = "Ask before you book"
CHAT = '["1",null,true]'


def hold(connection: Connection, person: Person, text: str = LIE, most: int = 2) -> tuple[int, int]:
    """Finish a review that holds back a claim and a lesson; its number and that of its turn."""
    newest = turns.list_of_person(connection, person_id=person.id, before=2**62, limit=1)[0].id
    claim = Claim(
        target="user",
        text=text,
        quote="I prefer metric units",
        message_id=MessageId(1),
        replaces="",
    )
    lesson = Lesson(skill="", old="", text=LESSON, traces=("It booked.", "It booked again."))
    record = ReviewRecord(
        after=TurnId(0),
        until=newest,
        is_over=True,
        held=(
            HeldClaim(number=1, claim=claim, doubt="words", turn_id=newest),
            HeldClaim(
                number=2,
                claim=Claim(target="memory", text=LESSON, quote="", message_id=None, replaces=""),
                doubt="",
                turn_id=newest,
                lesson=lesson,
            ),
        )[:most],
    )
    # The review of a later turn, so that its key is new.
    (known,) = connection.execute("SELECT COUNT(*) FROM tasks WHERE kind = 'review'").fetchone()
    until = TurnId(newest + 1 + known)
    reviews.enqueue(connection, person_id=person.id, until=until, payload="{}", now=1)
    (task_id,) = connection.execute("SELECT MAX(id) FROM tasks WHERE kind = 'review'").fetchone()
    tasks.save(connection, task_id=task_id, payload=dump_record(record))
    tasks.finish(connection, task_id=task_id)
    return task_id, newest


def dismiss(connection: Connection, person: Person, now: int) -> None:
    """Let a person dismiss the notes of a review."""
    review, _ = hold(connection, person)
    for number in (1, 2):
        question = take_held(
            connection, person.id, (review, number), Chat(platform="fake", address=CHAT), now
        )
        assert question is not None
        asked = questions.ask(connection, question, now=now)
        questions.answer(connection, question_id=asked.id, key="dismiss", by=person.id, now=now)
