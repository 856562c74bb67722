"""Two people with much to say, who become one."""

from agent_core.chats import Chat
from agent_core.ids import PersonId, TurnId
from agent_core.state.conversations import messages, turns, usage
from agent_core.state.conversations.usage import ModelCall
from agent_core.state.engine.database import Connection
from agent_core.state.lifecycle import merge_people
from agent_core.state.lifecycle.merge_people import Rename
from agent_core.state.people import people
from agent_core.state.people.people import Account, NewAccount, Person
from agent_core.state.queues import outbox
from agent_core.state.queues.outbox import NewOutboxMessage
from agent_core.transcript import Message, TextPart
from tests.agent_core.state.rows import Dialogue, add_dialogue, add_person, add_turn

SPENT = ModelCall(
    purpose="turn",
    model="m",
    input_tokens=10,
    cache_read_tokens=0,
    cache_write_tokens=0,
    output_tokens=1,
    micro_dollars=7,
)


def give_account(connection: Connection, person: Person, platform: str = "telegram") -> Account:
    user_id = f"{person.slug}-{platform}"
    people.attach_account(
        connection,
        NewAccount(
            platform=platform, user_id=user_id, display_name=person.name, admitted_by="code"
        ),
        person_id=person.id,
        now=0,
    )
    found = people.find_account(connection, platform=platform, user_id=user_id)
    assert found
    return found


def say(
    connection: Connection, dialogue: Dialogue, *texts: str, account: Account | None = None
) -> TurnId:
    """A whole turn: words, cost, a reply that is owed, and a title to be made."""
    turn_id = add_turn(connection, dialogue, now=1)
    if account:
        where = {"account": account.id, "turn": turn_id, "session": dialogue.session_id}
        connection.execute("UPDATE turns SET account_id = :account WHERE id = :turn", where)
        connection.execute(
            "UPDATE sessions SET account_id = COALESCE(account_id, :account) WHERE id = :session",
            where,
        )
    said = [Message(role="user", parts=(TextPart(text=text),)) for text in texts]
    messages.append(connection, dialogue.shelf(turn_id), said, now=1)
    usage.insert(connection, SPENT, person_id=dialogue.person.id, turn_id=turn_id, now=1)
    outgoing = NewOutboxMessage(
        chat=Chat(platform="p", address="c"),
        body="b",
        person_id=dialogue.person.id,
        turn_id=turn_id,
    )
    outbox.enqueue(connection, outgoing, now=1)
    turns.end(connection, turn_id=turn_id, state="answered", reason="", now=2)
    return turn_id


def direct(connection: Connection, person: Person) -> Dialogue:
    return add_dialogue(connection, person, key=f"direct:{person.id}")


def renaming(old: PersonId, new: PersonId) -> Rename:
    return lambda one: f"{one.key.removesuffix(f':{old}')}:{new}"


def join(connection: Connection, owner: Person, gone: Person, now: int = 9) -> int:
    rename = renaming(gone.id, owner.id)
    return merge_people.merge(connection, kept=owner.id, absorbed=gone.id, rename=rename, now=now)


def furnish(connection: Connection) -> tuple[Person, Person]:
    """Two people with much to say."""
    ann, ben = add_person(connection, "ann"), add_person(connection, "ben")
    for person in (ann, ben):
        give_account(connection, person)
        dialogue = direct(connection, person)
        for number in range(50):
            say(connection, dialogue, f"tea number {number}")
    return ann, ben
