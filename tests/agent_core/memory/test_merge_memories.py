"""Two memories become one and part again, and no entry is lost, doubled or told to others."""

from pathlib import Path

import pytest

from agent_core.ids import AccountId, MessageId, TurnId
from agent_core.memory import merge_memories as merging
from agent_core.memory.editing import AppliedEdit
from agent_core.memory.edits_within_limits import Edit
from agent_core.memory.provenance import UnlinkedAccount
from agent_core.memory.store import MemoryLimits, MemoryStore
from agent_core.state.conversations import messages
from agent_core.state.engine.database import Connection, Database
from agent_core.state.memory import ledger, shares
from agent_core.state.memory.ledger import LedgerEntry, MemoryTarget, Origin
from agent_core.state.memory.shares import Share
from agent_core.state.people import people
from agent_core.state.people.people import NewAccount, Person
from agent_core.transcript import Message, TextPart
from tests.agent_core.state.rows import add_dialogue, add_person, add_turn

BENS, ANNS = AccountId(2), AccountId(1)


class Desk:
    """Two people with a memory each, and what is done to them."""

    def __init__(self, database: Database, folder: Path, limits: MemoryLimits) -> None:
        self.database = database
        self.folder = folder
        self.store = MemoryStore(database, folder, limits)
        self.now = 0
        self.ann = self.ben = _NOBODY

    async def open(self) -> "Desk":
        self.ann, self.ben = await self.database.write("people", _add_people)
        return self

    async def report(self, person: Person, text: str, actor: str = "hand", **edit: object) -> None:
        change = Edit(**{"action": "add", "target": "memory", "text": text, **edit})  # type: ignore[arg-type]
        origin = Origin(actor=actor, evidence=f"because {text}", now=0)
        assert isinstance(
            await self.store.change(person.id, person.slug, change, origin), AppliedEdit
        )

    async def lists(self, person: Person) -> tuple[str, ...]:
        snapshot = await self.store.snapshot(person.id, person.slug, 0)
        return (*snapshot.memory, *snapshot.user)

    async def merge(self) -> int:
        return await self.database.write(
            "merge",
            lambda c: merging.merge_memories(
                c, self.store, kept=self.ann, absorbed=self.ben, actor="link:1", now=5
            ),
        )

    async def take_rest(self) -> int:
        return await self.database.write(
            "rest",
            lambda c: merging.merge_rest(
                c, self.store, kept=self.ann, absorbed=self.ben.id, actor="person", now=6
            ),
        )

    async def left(self) -> list[str]:
        return await self.database.read(
            lambda c: merging.list_unmerged(c, kept=self.ann.id, absorbed=[self.ben.id])
        )

    async def divide(
        self, back: Person | None = None, *, account: AccountId = BENS, is_last: bool = True
    ) -> int:
        leaving = UnlinkedAccount(account_id=account, was=self.ben.id if is_last else None)
        return await self.database.write(
            "divide",
            lambda c: merging.split_memory(
                c, self.store, kept=self.ann, back=back or self.ben, unlinked=leaving, now=7
            ),
        )

    async def rows(self, person: Person, target: MemoryTarget = "memory") -> list[LedgerEntry]:
        return await self.database.read(
            lambda c: ledger.find_entries(c, person_id=person.id, target=target)
        )

    def file(self, person: Person) -> Path:
        return self.folder / "people" / person.slug / "MEMORY.md"

    async def turn(self, account: AccountId) -> str:
        """An actor: a turn that somebody asked for by an account."""

        def work(connection: Connection) -> str:
            dialogue = add_dialogue(connection, self.ann, key="direct:1")
            turn_id = add_turn(connection, dialogue)
            connection.execute(
                "UPDATE turns SET account_id = :account WHERE id = :id",
                {"account": account, "id": turn_id},
            )
            return f"turn:{turn_id}"

        return await self.database.write("turn", work)

    async def learn(self, person: Person, text: str, *, account: AccountId) -> None:
        """Keep a line that a review found in words of an account; all messages are Ann's now."""
        turn = await self.turn(account)

        def work(connection: Connection) -> MessageId:
            dialogue = add_dialogue(connection, self.ann, key="direct:1")
            said = [Message(role="user", parts=(TextPart(text=text),))]
            turn_id = TurnId(int(turn.removeprefix("turn:")))
            messages.append(connection, dialogue.shelf(turn_id), said, now=1)
            row = connection.execute("SELECT MAX(id) FROM messages").fetchone()
            return MessageId(row[0])

        message_id = await self.database.write("message", work)
        origin = Origin(actor=f"review:{person.id}:1", now=0, message_ids=(message_id,))
        change = Edit(action="add", target="memory", text=text)
        changed = await self.store.change(person.id, person.slug, change, origin)
        assert isinstance(changed, AppliedEdit)


_NOBODY = Person(id=0, slug="nobody", name="", role="member", time_zone=None)  # type: ignore[arg-type]


def _add_people(connection: Connection) -> tuple[Person, Person]:
    ann, ben = add_person(connection, "ann"), add_person(connection, "ben")
    for person in (ann, ben):
        account = NewAccount(platform="p", user_id=person.slug, display_name="", admitted_by="code")
        people.attach_account(connection, account, person_id=person.id, now=0)
    return ann, ben


@pytest.fixture
async def desk(database: Database, tmp_path: Path) -> Desk:
    return await Desk(database, tmp_path / "memories", MemoryLimits()).open()


@pytest.fixture
async def small(database: Database, tmp_path: Path) -> Desk:
    limits = MemoryLimits(memory=40, user=40)
    return await Desk(database, tmp_path / "memories", limits).open()


async def test_a_merge_keeps_every_entry_with_its_origin(desk: Desk) -> None:
    await desk.report(desk.ann, "Likes tea")
    await desk.report(desk.ben, "Has a dog", actor="turn:9")
    await desk.report(desk.ben, "Is 40", target="user")
    assert await desk.merge() == 0
    assert await desk.lists(desk.ann) == ("Likes tea", "Has a dog", "Is 40")
    added = (await desk.rows(desk.ann))[-1]
    assert (added.origin.actor, added.origin.evidence) == ("link:1", "because Has a dog")
    assert added.origin.source_id == (await desk.rows(desk.ben))[-1].id
    assert await desk.left() == []


async def test_what_is_said_already_is_not_added_twice(desk: Desk) -> None:
    await desk.report(desk.ann, "Likes  Tea")
    await desk.report(desk.ben, "likes tea")
    assert await desk.merge() == 0
    assert await desk.lists(desk.ann) == ("Likes  Tea",)
    assert await desk.left() == []


async def test_the_file_of_the_owner_shows_it_at_the_next_look(desk: Desk) -> None:
    await desk.report(desk.ann, "Likes tea")
    await desk.report(desk.ben, "Has a dog")
    await desk.merge()
    await desk.lists(desk.ann)
    assert desk.file(desk.ann).read_text() == "- Likes tea\n- Has a dog\n"
    assert (await desk.rows(desk.ann))[-1].origin.actor == "link:1", "no hand has changed it"


async def test_what_was_edited_by_hand_and_not_read_yet_is_taken_in_first(desk: Desk) -> None:
    await desk.report(desk.ann, "Likes tea")
    await desk.report(desk.ben, "Has a dog")
    desk.file(desk.ann).write_text("- Likes coffee\n")
    desk.file(desk.ben).write_text("- Has a dog\n- Has a cat\n")
    await desk.merge()
    assert await desk.lists(desk.ann) == ("Likes coffee", "Has a dog", "Has a cat")


async def test_a_hand_that_writes_between_the_merge_and_the_new_file_loses_nothing(
    desk: Desk,
) -> None:
    await desk.report(desk.ann, "Likes tea")
    await desk.report(desk.ben, "Has a dog")
    await desk.merge()
    desk.file(desk.ann).write_text("- Likes tea\n- Plays chess\n- Sings\n")
    assert set(await desk.lists(desk.ann)) == {"Likes tea", "Has a dog", "Plays chess", "Sings"}


async def test_an_untouched_memory_is_merged_into_as_well(desk: Desk) -> None:
    await desk.report(desk.ben, "Has a dog")
    await desk.merge()
    assert await desk.lists(desk.ann) == ("Has a dog",)
    assert desk.file(desk.ann).read_text() == "- Has a dog\n"


async def test_a_file_that_cannot_be_read_stops_the_merge(desk: Desk) -> None:
    await desk.report(desk.ann, "Likes tea")
    desk.file(desk.ann).unlink()
    desk.file(desk.ann).mkdir()
    with pytest.raises(OSError, match="directory"):
        await desk.merge()


async def test_what_a_review_learned_from_an_account_leaves_with_it(desk: Desk) -> None:
    await desk.learn(desk.ben, "Has a dog", account=BENS)
    await desk.merge()
    await desk.learn(desk.ann, "Likes tea", account=ANNS)
    await desk.learn(desk.ann, "Plays chess", account=BENS)
    assert await desk.divide() == 2
    assert await desk.lists(desk.ann) == ("Likes tea",)
    assert set(await desk.lists(desk.ben)) == {"Has a dog", "Plays chess"}


async def test_what_does_not_fit_is_left_out_and_found_again(small: Desk) -> None:
    await small.report(small.ann, "Likes tea")
    for text in ("Has a dog", "Plays chess at the club"):
        await small.report(small.ben, text)
    assert await small.merge() == 1
    assert await small.lists(small.ann) == ("Likes tea", "Has a dog")
    assert await small.left() == ["Plays chess at the club"]
    assert "Plays chess at the club" in await small.lists(small.ben)


async def test_the_rest_is_taken_in_over_the_limit_and_the_list_may_then_only_shrink(
    small: Desk,
) -> None:
    await small.report(small.ann, "Likes tea")
    await small.report(small.ben, "Has a dog")
    await small.report(small.ben, "Plays chess at clubs")
    await small.merge()
    assert await small.take_rest() == 1
    assert await small.left() == []
    assert await small.take_rest() == 0
    assert len(await small.lists(small.ann)) == 3
    with pytest.raises(AssertionError):
        await small.report(small.ann, "x")
    await small.report(small.ann, "", action="remove", old="Likes tea")


async def test_who_may_see_an_entry_goes_along_and_a_twin_stays_as_private_as_it_was(
    desk: Desk,
) -> None:
    await desk.report(desk.ann, "Likes tea")
    await desk.report(desk.ben, "likes tea", is_for_anyone=True)
    await desk.report(desk.ben, "Write short", is_for_anyone=True)
    await desk.merge()
    shared = await desk.database.read(lambda c: shares.list_of(c, person_id=desk.ann.id))
    assert shared == [Share(target="memory", entry="Write short", audience="everyone")]


async def test_parting_gives_back_what_came_and_still_stands(desk: Desk) -> None:
    await desk.report(desk.ann, "Likes tea")
    for text in ("Has a dog", "Has a cat", "Sings"):
        await desk.report(desk.ben, text)
    await desk.merge()
    await desk.report(desk.ann, "", action="remove", old="Has a cat")
    await desk.report(desk.ann, "Sings well", action="replace", old="Sings")
    assert await desk.divide() == 1
    assert await desk.lists(desk.ann) == ("Likes tea", "Sings well")
    assert await desk.lists(desk.ben) == ("Has a dog",), "what was forgotten does not come back"
    assert (await desk.rows(desk.ann))[-1].origin.actor == "unlink"


async def test_parting_takes_along_what_was_learned_by_that_account(desk: Desk) -> None:
    await desk.merge()
    await desk.report(desk.ann, "Learned by Ben", actor=await desk.turn(BENS))
    await desk.report(desk.ann, "Learned by Ann", actor=await desk.turn(ANNS))
    assert await desk.divide() == 1
    assert await desk.lists(desk.ann) == ("Learned by Ann",)
    assert await desk.lists(desk.ben) == ("Learned by Ben",)
    moved = (await desk.rows(desk.ben))[-1]
    assert moved.origin.evidence == "because Learned by Ben"
    assert desk.file(desk.ben).read_text() == "- Learned by Ben\n"
    assert desk.file(desk.ann).read_text() == "- Learned by Ann\n"


async def test_what_was_left_out_comes_back_by_itself(small: Desk) -> None:
    await small.report(small.ann, "Likes tea")
    await small.report(small.ben, "Has a dog")
    await small.report(small.ben, "Plays chess at clubs")
    await small.merge()
    await small.divide()
    assert await small.lists(small.ann) == ("Likes tea",)
    assert await small.lists(small.ben) == ("Has a dog", "Plays chess at clubs")


async def test_a_twin_stays_on_both_sides(desk: Desk) -> None:
    await desk.report(desk.ann, "Likes tea")
    await desk.report(desk.ben, "likes tea")
    await desk.merge()
    await desk.divide()
    assert await desk.lists(desk.ann) == ("Likes tea",)
    assert await desk.lists(desk.ben) == ("likes tea",)


async def test_an_account_that_was_nobody_takes_its_own_notes_to_a_new_person(
    desk: Desk,
) -> None:
    await desk.report(desk.ann, "Learned by Ben", actor=await desk.turn(BENS))
    await desk.report(desk.ann, "Likes tea")
    new = await desk.database.write("new", lambda c: add_person(c, "new"))
    assert await desk.divide(new, is_last=False) == 1
    assert await desk.lists(desk.ann) == ("Likes tea",)
    assert await desk.lists(new) == ("Learned by Ben",)


async def test_what_no_account_said_goes_with_the_last_that_leaves(desk: Desk) -> None:
    await desk.report(desk.ben, "Written by hand")
    await desk.merge()
    new = await desk.database.write("new", lambda c: add_person(c, "new"))
    assert await desk.divide(is_last=False) == 0
    assert await desk.lists(desk.ann) == ("Written by hand",)
    assert await desk.lists(desk.ben) == ()
    assert await desk.divide(new, account=AccountId(3)) == 1
    assert await desk.lists(desk.ann) == ()
    assert await desk.lists(new) == ("Written by hand",)


async def test_what_was_made_private_meanwhile_stays_private_after_parting(desk: Desk) -> None:
    await desk.report(desk.ben, "Write short", is_for_anyone=True)
    await desk.merge()

    def hide(connection: Connection) -> None:
        shares.delete(connection, person_id=desk.ann.id, target="memory", entry="Write short")

    await desk.database.write("hide", hide)
    await desk.divide()
    assert await desk.lists(desk.ben) == ("Write short",)
    assert await desk.database.read(lambda c: shares.list_of(c, person_id=desk.ben.id)) == []


async def test_joined_and_parted_again_and_again_nothing_is_lost_or_doubled(desk: Desk) -> None:
    await desk.report(desk.ann, "Likes tea")
    await desk.report(desk.ben, "Has a dog")
    for _ in range(3):
        await desk.merge()
        assert await desk.lists(desk.ann) == ("Likes tea", "Has a dog")
        await desk.divide()
        assert await desk.lists(desk.ann) == ("Likes tea",)
        assert await desk.lists(desk.ben) == ("Has a dog",)
