"""Merged lines: what code refuses, what two looks must agree to, and that nothing is lost."""

import json
import re
from collections.abc import Callable, Sequence

import pytest

from agent_core.agent.quotas.background import BackgroundModel
from agent_core.agent.review.claim_check import Section
from agent_core.agent.review.merging import (
    ShownLine,
    list_left_out,
    read_merges,
    show_lines,
)
from agent_core.agent.review.profile import name_section
from agent_core.agent.review.record import ReviewRecord, dump_record, load_record
from agent_core.agent.review.reviewer import Reviewer
from agent_core.ids import MessageId
from agent_core.memory.edits_within_limits import Edit, Refusal
from agent_core.memory.explanations import ExplanationReader, explain_entry
from agent_core.memory.numbering import load_change_index
from agent_core.memory.store import MemoryLimits, MemoryStore
from agent_core.models.contract import ModelRequest
from agent_core.state.engine.database import Connection
from agent_core.state.memory import ledger, shares
from agent_core.state.memory.ledger import Origin
from agent_core.state.memory.shares import EVERYONE, Share
from agent_core.state.people import people
from agent_core.state.people.people import NewAccount
from agent_core.state.queues import tasks
from agent_core.state.queues.tasks import Task
from agent_core.transcript import ToolCallPart, user_message
from tests.agent_core.agent.review.poison import answer
from tests.agent_core.agent.review.rig import NOW, QUEUE, Rig
from tests.fakes.model import FakeModel, Play, agree, ask, call, deny, doubt, say
from tests.fakes.quotas import quotas

LINES = (
    "Is allergic to nuts",
    "Is allergic to soy",
    "Plays the cello on Sundays",
    "Doesn't eat fish",
    "Away (until 2026-12-24)",
)
SHOWN: list[ShownLine] = [("user", one) for one in LINES]
MERGED = "Is allergic to nuts and soy"


def merge(text: str, *numbers: object) -> ToolCallPart:
    return call("merge", json.dumps({"lines": numbers, "text": text}))


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        (MERGED, (1, 2)),
        ("Allergic to nuts, soy", (1, 2, 2)),
        ("Doesn't eat fish, plays the cello", (3, 4)),
    ],
)
def test_a_shorter_line_of_the_same_words_may_be_judged(
    text: str, numbers: Sequence[object]
) -> None:
    (found,) = read_merges([merge(text, *numbers)], SHOWN)
    assert found.text == text
    assert set(found.lines) == {LINES[int(str(one)) - 1] for one in numbers}


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        (MERGED, (1,)),
        (MERGED, (1, 1)),
        (MERGED, (1, 6)),
        (MERGED, (0, 2)),
        (MERGED, (1, "2")),
        (MERGED, (1, True)),
        ("", (1, 2)),
        ("Is allergic to nuts, soy and Eve", (1, 2)),
        ("Is allergic to nuts, is allergic to soy, is allergic", (1, 2)),
        ("Eats fish, plays the cello", (3, 4)),
        ("Away, plays the cello", (3, 5)),
        ("Plays the cello", (3, 4)),
        ("Is allergic to nuts", (1, 2)),
        ("Is allergic to nuts\u200b and soy", (1, 2)),
        ("I play the cello, eat fish", (3, 4)),
    ],
)
def test_other_words_lost_denials_and_ends_are_refused(
    text: str, numbers: Sequence[object]
) -> None:
    assert read_merges([merge(text, *numbers)], SHOWN) == []


@pytest.mark.parametrize("arguments", ["[", "{}", '{"lines": 3, "text": "x"}', '{"lines": [1, 2]}'])
def test_nonsense_merges_nothing(arguments: str) -> None:
    assert read_merges([call("merge", arguments)], SHOWN) == []


def test_lines_of_two_lists_and_lines_of_another_merge_stay() -> None:
    mixed: list[ShownLine] = [*SHOWN, ("memory", "Is allergic to dust")]
    assert read_merges([merge("Allergic to nuts, dust", 1, 6)], mixed) == []
    quoted: list[ShownLine] = [("user", "2026-11-29: “I like tea”"), ("user", "Likes coffee")]
    assert read_merges([merge("I like tea, coffee", 1, 2)], quoted) == []
    twice = [merge(MERGED, 1, 2), merge("Allergic to soy, plays cello", 2, 3)]
    assert [one.text for one in read_merges(twice, SHOWN)] == [MERGED]


def test_a_line_whose_words_are_missing_is_left_out() -> None:
    assert list_left_out(LINES[:2], "Allergic to nuts, soy") == ()
    assert list_left_out((LINES[2], "Plays the drums"), "Plays the cello, drums") == (LINES[2],)
    assert list_left_out(("2026-11-29: “no fish”", "Likes tea"), "No fish, likes tea") == ()


def test_a_review_sees_sizes() -> None:
    shown = show_lines(
        [("user", "Vegan"), ("memory", "Has a dog")], MemoryLimits(user=50, memory=60)
    )
    assert shown.splitlines() == [
        "memory: 12 of 60 characters",
        '2. memory, 9: "Has a dog"',
        "user: 8 of 50 characters",
        '1. user, 5: "Vegan"',
    ]


class Home:
    """A person whose list is nearly full of what they said."""

    def __init__(self, rig: Rig, limit: int = 125) -> None:
        self.rig = rig
        self.memory = MemoryStore(
            rig.database, rig.home / "memories", MemoryLimits(user=limit, memory=2_200)
        )
        self.said: dict[str, MessageId] = {}
        self.until = 0

    async def keep(
        self,
        text: str,
        said: str,
        *,
        actor: str = "review:1:0",
        section: Section | None = None,
    ) -> None:
        """Let the person say something, and keep a line that rests on it."""
        self.until = await self.rig.add(user_message(said), answer("Fine."))
        message = await self.rig.database.read(_find_newest)
        self.said[text] = message
        ids = (message,) if actor.startswith("review") else ()
        origin = Origin(
            actor=actor,
            now=NOW,
            evidence=said,
            message_ids=ids,
            call_key=name_section(f"{actor}:{message}", section),
        )
        edit = Edit(action="add", target="user", text=text)
        person = self.rig.dialogue.person
        outcome = await self.memory.change(person.id, person.slug, edit, origin)
        assert not isinstance(outcome, Refusal)

    async def fill(self) -> None:
        for line in (*LINES[:4], "Has a garden with roses"):
            await self.keep(line, f"You know, {line}.")

    async def review(
        self,
        *calls: ToolCallPart,
        judge: Callable[[ModelRequest], Play] = agree,
        asks_first: bool = False,
    ) -> tuple[ReviewRecord, FakeModel]:
        model = FakeModel(ask(*calls) if calls else say("nothing"))
        model.judge = judge
        reviewer = Reviewer(
            database=self.rig.database,
            memory=self.memory,
            background=BackgroundModel(
                model=model, name="cheap-1", quotas=quotas(self.rig.database)
            ),
            now=lambda: NOW,
        )
        task = await self.rig.take(await self.rig.add(user_message("Hello there")))
        found = await reviewer.review(task, asks_first=asks_first)
        assert found is not None
        return found[1], model

    async def lines(self) -> tuple[str, ...]:
        person = self.rig.dialogue.person
        return (await self.memory.snapshot(person.id, person.slug, NOW)).user

    async def archived(self) -> list[str]:
        return await self.rig.database.read(
            lambda c: [row[0] for row in c.execute("SELECT text FROM archive ORDER BY id")]
        )

    async def undo(self, row_id: int) -> None:
        person = self.rig.dialogue.person
        origin = Origin(actor="person", now=NOW, call_key="undo")
        await self.memory.undo(person.id, person.slug, row_id, origin)


def _find_newest(connection: Connection) -> MessageId:
    row = connection.execute("SELECT MAX(id) FROM messages WHERE role = 'user'").fetchone()
    return MessageId(row[0])


async def test_lines_become_one_with_the_evidence_of_all_and_one_undo(rig: Rig) -> None:
    home = Home(rig)
    await home.fill()
    before = await home.lines()
    record, model = await home.review(merge(MERGED, 1, 2), merge("Plays the cello", 3, 5))
    assert "user: " in model.requests[0].messages[0].text
    assert "nearly full" in model.requests[0].system
    assert await home.lines() == (MERGED, *LINES[2:4], "Has a garden with roses")
    assert await home.archived() == []
    (row_id,) = record.merged
    owned = await rig.database.read(lambda c: ledger.find_row(c, entry_id=row_id))
    assert owned
    origin = owned[1].origin
    assert set(origin.message_ids) == {home.said[LINES[0]], home.said[LINES[1]]}
    assert all(one in origin.evidence for one in LINES[:2])
    index = await rig.database.read(load_change_index, person_id=rig.person_id)
    why = await rig.database.read(
        explain_entry,
        index,
        row_id,
        ExplanationReader(person_id=rig.person_id),
    )
    assert why
    assert len(why.basis.source_messages) == 2
    await home.undo(row_id)
    assert sorted(await home.lines()) == sorted(before)


async def test_what_a_merge_leaves_out_is_archived_with_its_evidence(rig: Rig) -> None:
    home = Home(rig)
    await home.fill()
    await home.review(merge("Plays the cello, has a garden", 3, 5))
    assert await home.archived() == [LINES[2], "Has a garden with roses"]
    rows = await rig.database.read(
        lambda c: ledger.find_entries(c, person_id=rig.person_id, target="archive")
    )
    assert [row.origin.message_ids for row in rows] == [
        (home.said[LINES[2]],),
        (home.said["Has a garden with roses"],),
    ]


def nod(request: ModelRequest) -> Play:
    """Return the answer of a judge that says yes to everything, the made-up merges too."""
    numbers = re.findall(r"^(\d+)\. ", request.messages[0].text, re.MULTILINE)
    notes = [{"note": int(one), "stated": "yes", "objection": "none"} for one in numbers]
    return ask(call("judge", json.dumps({"notes": notes})))


@pytest.mark.parametrize("judge", [deny, doubt, nod, lambda request: say("42")])
async def test_without_two_agreeing_looks_nothing_is_merged(
    rig: Rig, judge: Callable[[ModelRequest], Play]
) -> None:
    home = Home(rig)
    await home.fill()
    before = await home.lines()
    record, _ = await home.review(merge(MERGED, 1, 2), judge=judge)
    assert (await home.lines(), record.merged) == (before, ())


async def test_the_second_look_alone_refuses_too(rig: Rig) -> None:
    home = Home(rig)
    await home.fill()
    looks = [agree, deny]
    record, model = await home.review(
        merge(MERGED, 1, 2),
        judge=lambda request: looks.pop(0)(request),  # noqa: PLW0108 - each look has its own
    )
    assert (len(model.judged), record.merged) == (2, ())


async def test_hands_health_others_and_whoever_decides_keep_their_lines(rig: Rig) -> None:
    home = Home(rig, limit=170)
    await home.fill()
    await home.keep("Likes green tea", "", actor="hand")
    await home.keep("Likes black tea", "", actor="hand")
    before = await home.lines()
    for calls in (
        merge("Plays the cello, likes green", 3, 6),  # a person wrote the second line
        merge("Likes green and black tea", 6, 7),
        merge("Nuts, plays the cello", 1, 3),  # a part of the allergy would go
    ):
        record, _ = await home.review(calls)
        assert (await home.lines(), record.merged) == (before, ())
    record, model = await home.review(merge(MERGED, 1, 2), asks_first=True)
    assert "merge" not in {one.name for one in model.requests[0].tools}
    assert (await home.lines(), record.merged) == (before, ())


def _share(connection: Connection, rig: Rig) -> None:
    share = Share(target="user", entry=LINES[0], audience=EVERYONE)
    shares.insert(connection, share, person_id=rig.person_id, actor="person", now=NOW)


def _use_another_account(connection: Connection, rig: Rig) -> None:
    """Let the words behind the second line come from another account of the person."""
    account = NewAccount(platform="slack", user_id="U2", display_name="A", admitted_by="list")
    people.attach_account(connection, account, person_id=rig.person_id, now=NOW)
    connection.execute(
        "UPDATE turns SET account_id = (SELECT MAX(id) FROM accounts) WHERE id ="
        " (SELECT turn_id FROM messages WHERE text = ?)",
        (f"You know, {LINES[1]}.",),
    )


@pytest.mark.parametrize("part", [_share, _use_another_account])
async def test_lines_that_others_see_or_that_may_leave_stay_apart(
    rig: Rig, part: Callable[[Connection, Rig], None]
) -> None:
    home = Home(rig)
    await home.fill()
    await rig.database.write("part", part, rig)
    before = await home.lines()
    record, model = await home.review(merge(MERGED, 1, 2))
    assert len(model.judged) == 2, "only the lines' origin is against it"
    assert (await home.lines(), record.merged) == (before, ())


async def test_lines_of_two_sections_stay_apart(rig: Rig) -> None:
    home = Home(rig, limit=45)
    await home.keep("Likes short answers", "Keep it short.", actor="review:1:0", section="answers")
    await home.keep("Likes green tea", "Tea is great.")
    record, model = await home.review(merge("Likes short answers, green tea", 1, 2))
    assert (len(model.judged), record.merged) == (2, ())


async def test_an_undone_merge_does_not_return(rig: Rig) -> None:
    home = Home(rig)
    await home.fill()
    record, _ = await home.review(merge(MERGED, 1, 2))
    await home.undo(record.merged[0])
    again, _ = await home.review(merge(MERGED, 1, 2))
    assert again.merged == ()


async def test_a_list_with_room_is_not_merged_and_a_claim_keeps_its_line(rig: Rig) -> None:
    wide = Home(rig, limit=1_000)
    await wide.fill()
    record, model = await wide.review(merge(MERGED, 1, 2))
    assert "merge" not in {one.name for one in model.requests[0].tools}
    assert record.merged == ()
    changed = {"action": "replace", "old": LINES[0], "text": "Is allergic to peas"}
    said = {"target": "user", "message": wide.said[LINES[0]], "quote": f"You know, {LINES[0]}."}
    home = Home(rig)
    record, _ = await home.review(
        call("memory", json.dumps({**changed, **said})), merge(MERGED, 1, 2)
    )
    assert record.merged == ()


async def test_what_has_ended_goes_before_anything_is_merged(rig: Rig) -> None:
    home = Home(rig, limit=150)
    await home.fill()
    over = "Away (until 1969-12-31)"
    await home.keep(over, "I am away")
    record, _ = await home.review()
    assert over not in await home.lines()
    assert await home.archived() == [over]
    assert len(record.ended) == 1
    assert load_record(dump_record(record)).ended == record.ended


async def test_a_line_that_is_edited_by_hand_meanwhile_is_not_merged(rig: Rig) -> None:
    home = Home(rig)
    await home.fill()
    path = home.memory.locate("human", rig.dialogue.person.slug, "user")

    def edit(request: ModelRequest) -> Play:
        path.write_text(path.read_text().replace("to soy\n", "to soy and peas\n"))
        return agree(request)

    record, _ = await home.review(merge(MERGED, 1, 2), judge=edit)
    assert record.merged == ()
    assert {LINES[0], "Is allergic to soy and peas"} <= set(await home.lines())


async def test_a_repeat_after_a_crash_merges_once(rig: Rig) -> None:
    home = Home(rig)
    await home.fill()
    first, _ = await home.review(merge(MERGED, 1, 2))
    rows = len(await rig.entries())
    reviewer = Reviewer(
        database=rig.database,
        memory=home.memory,
        background=BackgroundModel(model=FakeModel(), name="cheap-1", quotas=quotas(rig.database)),
        now=lambda: NOW,
    )

    def again(connection: Connection) -> Task:
        tasks.reopen(connection, queue=QUEUE)
        task = tasks.take_due(connection, queue=QUEUE, now=NOW)
        assert task
        return task

    found = await reviewer.review(await rig.database.write("again", again), asks_first=False)
    assert found
    assert found[1].merged == first.merged
    assert len(await rig.entries()) == rows
