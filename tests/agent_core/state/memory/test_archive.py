"""The archive and its index always say the same, also when people are joined and split."""

import random
from dataclasses import replace

import pytest

from agent_core.errors import StoreDamaged
from agent_core.ids import AccountId, ArchiveId, MessageId, PersonId, TurnId
from agent_core.memory.archive import writes
from agent_core.memory.archive.entries import ArchiveContent
from agent_core.state.conversations import messages
from agent_core.state.engine.database import Connection
from agent_core.state.lifecycle import merge_people, split_person
from agent_core.state.memory import archive, ledger
from agent_core.state.memory.archive import ArchiveFilter, index_entry
from agent_core.state.memory.ledger import Origin
from agent_core.state.people import people
from agent_core.state.people.people import Account, NewAccount, Person
from agent_core.state.search.message_index import Term
from agent_core.state.tokenizer import stem
from agent_core.transcript import Message, TextPart
from tests.agent_core.state.rows import Dialogue, add_dialogue, add_person, add_turn

WORDS = ("tea", "milk", "lemon", "roses", "boiler", "harbour", "茶と水")


def give_account(connection: Connection, person: Person, platform: str) -> Account:
    new = NewAccount(
        platform=platform, user_id=f"{person.slug}-{platform}", display_name="", admitted_by="code"
    )
    people.attach_account(connection, new, person_id=person.id, now=0)
    found = people.find_account(connection, platform=platform, user_id=new.user_id)
    assert found
    return found


def begin(connection: Connection, dialogue: Dialogue, account: AccountId | None) -> TurnId:
    """A turn that is over, asked for by an account."""
    turn_id = add_turn(connection, dialogue)
    connection.execute(
        "UPDATE turns SET account_id = :account, state = 'answered' WHERE id = :turn_id",
        {"account": account, "turn_id": turn_id},
    )
    return turn_id


def keep(
    connection: Connection,
    dialogue: Dialogue,
    text: str,
    *tags: str,
    account: AccountId | None = None,
) -> ArchiveId:
    turn_id = begin(connection, dialogue, account)
    origin = Origin(actor=f"turn:{turn_id}", now=100, call_key=f"{turn_id}:c")
    content = ArchiveContent(text=text, tags=tags)
    return writes.insert_entry(
        connection, person_id=dialogue.person.id, content=content, origin=origin
    ).id


def join(connection: Connection, owner: Person, gone: Person) -> None:
    merge_people.merge(
        connection, kept=owner.id, absorbed=gone.id, rename=lambda one: f"{one.key}-", now=9
    )


def split(connection: Connection, account: Account, into: Person) -> None:
    found = people.find_account(connection, platform=account.platform, user_id=account.user_id)
    assert found
    split_person.split(connection, found, into=into.id, rename=lambda one: f"{one.key}+", now=10)


def finds(connection: Connection, person: Person, word: str) -> list[ArchiveId]:
    within = ArchiveFilter(person_id=person.id)
    return archive.list_holders(connection, within=within, terms=[Term(word=stem(word))], limit=99)


def kept(connection: Connection, person: Person) -> set[ArchiveId]:
    return set(
        archive.list_holders(connection, within=ArchiveFilter(person_id=person.id), limit=99)
    )


def changes(connection: Connection, person: Person) -> set[int]:
    rows = ledger.find_entries(connection, person_id=person.id, target="archive")
    return {row.change.position for row in rows}


def check_index(connection: Connection) -> None:
    """Fails if the index does not say what the entries say."""
    connection.execute("INSERT INTO archive_search (archive_search) VALUES ('integrity-check')")
    connection.execute(
        "CREATE VIRTUAL TABLE temp.entries USING fts5vocab (main, archive_search, instance)"
    )
    reported = set(connection.execute("SELECT doc, term FROM temp.entries").fetchall())
    connection.execute("DROP TABLE temp.entries")
    rows = connection.execute("SELECT id, person_id FROM archive").fetchall()
    assert reported == {
        (key, word)
        for key, person_id in rows
        for entry in archive.list_entries(connection, person_id=person_id, archive_ids=[key])
        for word in index_entry(person_id, entry.text, entry.tags).split()
    }


def dump(connection: Connection) -> set[tuple[object, ...]]:
    return {
        *connection.execute("SELECT * FROM archive").fetchall(),
        *connection.execute("SELECT * FROM ledger").fetchall(),
    }


@pytest.fixture
def ann(connection: Connection) -> Dialogue:
    return add_dialogue(connection, add_person(connection, "ann"))


@pytest.fixture
def ben(connection: Connection, ann: Dialogue) -> Dialogue:
    return add_dialogue(connection, add_person(connection, "ben"))


def test_random_changes_leave_the_index_true(
    connection: Connection, ann: Dialogue, ben: Dialogue
) -> None:
    dice = random.Random(4)
    for number in range(300):
        dialogue = dice.choice((ann, ben))
        person_id = dialogue.person.id
        text, tags = " ".join(dice.choices(WORDS, k=4)), tuple(dice.sample(("a", "b-c"), k=1))
        origin = Origin(actor="person", now=number)
        mine = sorted(kept(connection, dialogue.person))
        if not mine or dice.random() < 0.5:
            writes.insert_entry(
                connection,
                person_id=person_id,
                content=ArchiveContent(text=text, tags=tags),
                origin=origin,
            )
        elif dice.random() < 0.5:
            writes.update_entry(
                connection,
                person_id=person_id,
                archive_id=dice.choice(mine),
                text=f"{text} {number}",
                tags=tags,
                origin=origin,
            )
        else:
            writes.delete_entry(
                connection, person_id=person_id, archive_id=dice.choice(mine), origin=origin
            )
    check_index(connection)
    assert kept(connection, ann.person)
    assert kept(connection, ben.person)


def test_no_word_or_tag_can_end_the_quotation_that_names_the_person(
    connection: Connection, ann: Dialogue, ben: Dialogue
) -> None:
    writes.insert_entry(
        connection,
        person_id=ben.person.id,
        content=ArchiveContent(text="secret", tags=("a",)),
        origin=Origin(actor="person", now=1),
    )
    foreign = f'x" OR "p{ben.person.id}_secret'
    mine = ArchiveFilter(person_id=ann.person.id)
    with pytest.raises(ValueError, match="no word of the index"):
        archive.list_holders(connection, within=mine, terms=[Term(word=foreign)], limit=9)
    with pytest.raises(ValueError, match="is no tag"):
        archive.list_holders(connection, within=replace(mine, tags=(foreign,)), limit=9)


def test_numbers_grow_with_time_and_are_never_given_twice(
    connection: Connection, ann: Dialogue, ben: Dialogue
) -> None:
    def insert(person_id: PersonId, now: int) -> ArchiveId:
        return archive.insert(connection, person_id=person_id, text="a", tags=(), now=now).id

    given = [
        insert(person_id, now)
        for person_id in (ann.person.id, ben.person.id)
        for now in (5000, 5000, 4000)
    ]
    assert given == [5000, 5001, 5002, 5003, 5004, 5005]
    assert insert(ann.person.id, 9000) == 9000


def test_nobody_changes_or_drops_what_is_anothers(
    connection: Connection, ann: Dialogue, ben: Dialogue
) -> None:
    mine = keep(connection, ann, "tea")
    before = dump(connection)
    assert archive.find(connection, person_id=ben.person.id, archive_id=mine) is None
    assert archive.list_entries(connection, person_id=ben.person.id, archive_ids=[mine]) == []
    archive.move(connection, out_of=ben.person.id, into=ben.person.id, archive_ids=[mine])
    entry = archive.find(connection, person_id=ann.person.id, archive_id=mine)
    assert entry
    archive.update(connection, person_id=ben.person.id, old=entry, new=replace(entry, text="x"))
    archive.delete(connection, person_id=ben.person.id, entry=entry)
    assert dump(connection) == before
    check_index(connection)


def test_what_one_kept_becomes_the_others_with_its_history(
    connection: Connection, ann: Dialogue, ben: Dialogue
) -> None:
    give_account(connection, ben.person, "discord")
    mine, theirs = keep(connection, ann, "tea"), keep(connection, ben, "tea and milk", "drinks")
    gone = keep(connection, ben, "harbour")
    writes.delete_entry(
        connection,
        person_id=ben.person.id,
        archive_id=gone,
        origin=Origin(actor="person", now=1),
    )
    join(connection, ann.person, ben.person)
    check_index(connection)
    assert finds(connection, ann.person, "tea") == [theirs, mine]
    assert finds(connection, ben.person, "tea") == []
    assert (kept(connection, ben.person), changes(connection, ben.person)) == (set(), set())
    assert changes(connection, ann.person) == {mine, theirs, gone}
    within = ArchiveFilter(person_id=ann.person.id, tags=("drinks",))
    assert archive.list_holders(connection, within=within, limit=9) == [theirs]


def test_a_split_gives_back_just_what_was_kept_by_the_account(
    connection: Connection, ann: Dialogue, ben: Dialogue
) -> None:
    mine = give_account(connection, ann.person, "telegram")
    theirs = give_account(connection, ben.person, "discord")
    keep(connection, ann, "tea", account=mine.id)
    old = keep(connection, ben, "milk", "drinks", account=theirs.id)
    gone = keep(connection, ben, "harbour", account=theirs.id)
    writes.delete_entry(
        connection,
        person_id=ben.person.id,
        archive_id=gone,
        origin=Origin(actor="person", now=1),
    )
    before = dump(connection)
    join(connection, ann.person, ben.person)
    split(connection, theirs, ben.person)
    assert dump(connection) == before
    check_index(connection)
    join(connection, ann.person, ben.person)
    new = keep(connection, ann, "roses", account=theirs.id)
    split(connection, theirs, ben.person)
    check_index(connection)
    assert kept(connection, ben.person) == {old, new}
    assert finds(connection, ann.person, "roses") == []


def test_a_split_gives_back_what_a_review_kept_of_the_accounts_words(
    connection: Connection, ann: Dialogue, ben: Dialogue
) -> None:
    mine = give_account(connection, ann.person, "telegram")
    theirs = give_account(connection, ben.person, "discord")

    def review(*accounts: AccountId) -> ArchiveId:
        turn_ids = [begin(connection, ann, account) for account in accounts]
        said = [Message(role="user", parts=(TextPart(text="I grow roses"),))]
        for turn_id in turn_ids:
            messages.append(connection, ann.shelf(turn_id), said, now=1)
        message_ids = [
            MessageId(row[0])
            for row in connection.execute(
                "SELECT id FROM messages WHERE turn_id >= :first", {"first": turn_ids[0]}
            ).fetchall()
        ]
        origin = Origin(actor=f"review:{turn_ids[-1]}", now=1, message_ids=tuple(message_ids))
        content = ArchiveContent(text="Grows roses", tags=())
        return writes.insert_entry(
            connection, person_id=ann.person.id, content=content, origin=origin
        ).id

    join(connection, ann.person, ben.person)
    of_ann, of_ben, of_both = review(mine.id), review(theirs.id), review(mine.id, theirs.id)
    split(connection, theirs, ben.person)
    assert kept(connection, ben.person) == {of_ben}
    assert kept(connection, ann.person) == {of_ann, of_both}


def test_what_was_kept_before_accounts_were_noted_goes_by_the_platform(
    connection: Connection, ann: Dialogue, ben: Dialogue
) -> None:
    give_account(connection, ann.person, "telegram")
    theirs = give_account(connection, ben.person, "discord")
    old = keep(connection, ben, "milk")
    join(connection, ann.person, ben.person)
    split(connection, theirs, ben.person)
    assert kept(connection, ben.person) == {old}


def test_what_a_room_keeps_stays_when_its_people_are_joined_or_split(
    connection: Connection, ann: Dialogue, ben: Dialogue
) -> None:
    room = people.insert(connection, slug="room-x", name="X", role="member", now=0, kind="room")
    shared = Dialogue(person=room, conversation=ann.conversation, session_id=ann.session_id)
    theirs = give_account(connection, ben.person, "discord")
    entry = keep(connection, shared, "tea", account=theirs.id)
    join(connection, ann.person, ben.person)
    split(connection, theirs, ben.person)
    assert kept(connection, room) == {entry}
    assert changes(connection, room) == {entry}


def test_a_damaged_entry_moves_and_stays_damaged_for_its_new_person_and_found_by_nobody(
    connection: Connection, ann: Dialogue, ben: Dialogue
) -> None:
    give_account(connection, ben.person, "discord")
    entry = keep(connection, ben, "tea")
    connection.execute("UPDATE archive SET text = 'milk'")
    join(connection, ann.person, ben.person)
    with pytest.raises(StoreDamaged):
        archive.find(connection, person_id=ann.person.id, archive_id=entry)
    assert finds(connection, ann.person, "tea") == []
    assert finds(connection, ben.person, "tea") == []


@pytest.mark.slow
def test_many_entries_move_in_pieces(connection: Connection, ann: Dialogue, ben: Dialogue) -> None:
    give_account(connection, ben.person, "discord")
    connection.execute("BEGIN")
    for number in range(4001):
        archive.insert(
            connection, person_id=ben.person.id, text=f"tea {number}", tags=(), now=number + 1
        )
    join(connection, ann.person, ben.person)
    connection.execute("COMMIT")
    count = archive.count_holders(
        connection, person_id=ann.person.id, term=Term(word="tea"), most=9999
    )
    assert count == archive.count(connection, person_id=ann.person.id, most=9999) == 4001
    assert archive.count(connection, person_id=ben.person.id, most=9999) == 0


@pytest.mark.parametrize("tag", ['a"', "a b", "", 'x" OR "p2__ta'])
def test_no_tag_can_end_its_string_in_a_query(connection: Connection, tag: str) -> None:
    with pytest.raises(ValueError, match="no tag"):
        archive.list_holders(
            connection, within=ArchiveFilter(person_id=PersonId(1), tags=(tag,)), limit=1
        )


@pytest.mark.parametrize("word", ['a"', "_tdrinks", "", "A"])
def test_no_word_can_end_its_string_or_pass_for_a_tag(connection: Connection, word: str) -> None:
    with pytest.raises(ValueError, match="no word"):
        archive.count_holders(connection, person_id=PersonId(1), term=Term(word=word), most=1)
