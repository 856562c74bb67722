"""What recall finds in a room: that room's own talk, whatever is said anywhere else."""

import re

import pytest

from agent_core.ids import CallId, PersonId, TurnId
from agent_core.memory.recall.recall_tool import RecallTool
from agent_core.state.conversations import sessions
from agent_core.state.conversations.sessions import Conversation
from agent_core.state.engine.database import Connection
from agent_core.state.people import rooms
from agent_core.state.people.people import Person
from agent_core.tools.contract import ToolContext
from tests.agent_core.memory.recall.conftest import Archive, Dialogue

PEOPLE = 20
ROOMS = ("kitchen", "garden", "attic")
EVERYWHERE = ("canary", "tea", "the canary likes tea", "茶とカナリア")


async def recall(archive: Archive, dialogue: Dialogue, asker: Person, query: str) -> str:
    context = ToolContext(
        person_id=asker.id,
        owner_id=dialogue.conversation.person_id,
        memory_owner=None,
        conversation_id=dialogue.conversation.id,
        scope=dialogue.scope,
        turn_id=TurnId(999_999),
        call_id=CallId("call"),
        now=1_770_000_000_000,
        evidence="",
    )
    result = await RecallTool(archive.database).run({"query": query, "limit": 20}, context)
    assert not result.is_error
    return result.text


async def share(archive: Archive, name: str, asker: Person) -> Dialogue:
    """The one talk of everyone in a room, in which `asker` speaks."""

    def work(connection: Connection) -> Conversation:
        room = rooms.insert(
            connection, platform="telegram", chat_id=name, title=name, slug=name, now=0
        )
        return sessions.ensure_conversation(
            connection,
            sessions.NewConversation(
                key=f"room:telegram:{name}::all",
                kind="room",
                person_id=room.person_id,
                is_direct=False,
                room_id=room.id,
            ),
            now=0,
        )

    conversation = await archive.database.write("share", work)
    return Dialogue(person=asker, conversation=conversation, platform="telegram")


@pytest.mark.slow
async def test_no_room_ever_finds_a_word_of_a_direct_conversation(archive: Archive) -> None:
    """Twenty people say the same words in private and in three rooms, alone and shared."""
    people = [await archive.meet(f"person-{number}") for number in range(PEOPLE)]
    direct = [await archive.open(person) for person in people]
    for dialogue in direct:
        await archive.say(dialogue, *(f"{words} in private" for words in EVERYWHERE))
    dialogues = [
        (person, await archive.open(person, room=f"room:{name}:{person.id}"), f"{name} {person.id}")
        for person in people
        for name in ROOMS
    ]
    dialogues += [
        (person, await share(archive, name, person), name)
        for person in people[:3]
        for name in ROOMS
    ]
    for _, dialogue, sign in dialogues:
        await archive.say(dialogue, f"the canary has tea, {sign}", f"茶とカナリア, {sign}")
    for person, dialogue, sign in dialogues:
        for query in ("canary tea", "canary", "likes tea in private", "茶", "カナリア"):
            found = await recall(archive, dialogue, person, query)
            assert "private" not in found.partition("\n")[2], sign
            hits = found.splitlines()[1:]
            assert hits
            assert all(hit.rstrip('"').endswith(sign) for hit in hits), sign


async def test_everyone_in_a_shared_conversation_finds_what_the_others_said_and_who(
    archive: Archive, ann: Dialogue, bob: Dialogue
) -> None:
    await archive.say(await share(archive, "den", ann.person), "I feed Rex")
    there = await share(archive, "den", bob.person)
    await archive.say(there, "I walk Rex")
    lines = (await recall(archive, there, bob.person, "rex")).splitlines()[1:]
    assert lines == [
        '- 2026-02-02 02:42, "bob", telegram: "I walk Rex"',
        '- 2026-02-02 02:41, "ann", telegram: "I feed Rex"',
    ]


@pytest.mark.slow
@pytest.mark.parametrize(
    "elsewhere",
    [
        (),
        ("flight flight flight",) * 30,
        ("Lisbon",) * 30,
        ("a word", "Lisbon, a flight", "flight") * 9,
    ],
)
@pytest.mark.parametrize("where", ["room:den", ""])
async def test_what_others_say_elsewhere_moves_no_hit(
    archive: Archive, bob: Dialogue, elsewhere: tuple[str, ...], where: str
) -> None:
    """BM25 would put first whatever word is rarer in all that anybody ever said."""
    cleo = await archive.meet("cleo")
    dialogue = await archive.open(cleo, room=where)
    await archive.say(bob, *elsewhere)
    await archive.say(
        dialogue, "a flight, long and dear", "Lisbon is far", "Lisbon by flight", "flight"
    )
    found = await recall(archive, dialogue, cleo, "flight Lisbon")
    lines = [re.sub(r"2026-\S+ \S+, ", "", line) for line in found.splitlines()[1:]]
    assert lines == [
        '- person, telegram: "Lisbon by flight"',
        '- person, telegram: "Lisbon is far"',
        '- person, telegram: "flight"',
        '- person, telegram: "a flight, long and dear"',
    ]


async def test_a_room_s_rows_are_no_person_s(archive: Archive, ann: Dialogue) -> None:
    """The id of whose talk it is stands in the query, should a scope ever be mixed up."""
    there = await share(archive, "den", ann.person)
    await archive.say(ann, "Rex")
    await archive.say(there, "Rex")
    mixed = Dialogue(person=ann.person, conversation=there.conversation, platform="telegram")
    context = ToolContext(
        person_id=ann.person.id,
        owner_id=PersonId(ann.person.id),
        memory_owner=None,
        conversation_id=mixed.conversation.id,
        scope=mixed.scope,
        turn_id=TurnId(1),
        call_id=CallId("call"),
        now=0,
        evidence="",
    )
    found = await RecallTool(archive.database).run({"query": "rex"}, context)
    assert found.text.startswith("Nothing found")
