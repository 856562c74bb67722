"""Hits are put in order by their meaning, too, in bounds of time and memory."""

import asyncio

import pytest

from agent_core.ids import CallId, MessageId, SessionId, TurnId
from agent_core.recall import rerank
from agent_core.recall.ranking import Ranked
from agent_core.recall.rerank import DEPTH, MOST_WAITING, Reranker, order, write
from agent_core.recall.tool import RecallTool
from agent_core.state.search.passages import FoundMessage, Passage
from agent_core.state.search.search import Speaker
from agent_core.state.tokenizer import cut
from agent_core.tools.contract import ToolContext
from agent_core.transcript import user_message
from tests.agent_core.recall.conftest import Archive, Dialogue
from tests.agent_core.recall.embedders import HashedWords

SAME = dict(zip(cut("dog"), cut("beagle"), strict=True))


def hit(
    number: int,
    text: str,
    *,
    score: float = 1,
    role: Speaker = "user",
    before: Ranked | None = None,
) -> Ranked:
    message = FoundMessage(
        id=MessageId(number),
        session_id=SessionId(1),
        role=role,
        platform="telegram",
        said_at=0,
        text=text,
        asker="ann",
        is_within=True,
    )
    passage = (
        Passage(message=before.message, place=0, text=before.text, is_last=True) if before else None
    )
    return Ranked(message=message, place=0, text=text, score=score, holds=True, before=passage)


def numbers(hits: tuple[Ranked, ...] | list[Ranked]) -> list[int]:
    return [one.message.id for one in hits]


async def recall(
    archive: Archive, dialogue: Dialogue, query: str, reranker: Reranker | None = None
) -> str:
    context = ToolContext(
        person_id=dialogue.person.id,
        owner_id=dialogue.person.id,
        memory_owner=None,
        conversation_id=dialogue.conversation.id,
        scope=dialogue.scope,
        turn_id=TurnId(999_999),
        call_id=CallId("call"),
        now=1_770_000_000_000,
        evidence="",
    )
    tool = RecallTool(archive.database, reranker=reranker)
    return (await tool.run({"query": query, "limit": 2}, context)).text


async def test_what_means_the_same_comes_first_of_what_shares_as_many_words(
    archive: Archive, ann: Dialogue
) -> None:
    await archive.say(ann, "my beagle sleeps in the kitchen", "my carpet is in the kitchen")
    await archive.say(ann, "my window is in the kitchen", "my lamp is in the kitchen")
    question = "dog kitchen"
    plain = await recall(archive, ann, question)
    fused = await recall(archive, ann, question, Reranker(HashedWords(SAME)))
    assert "beagle" not in plain.splitlines()[1]
    assert "beagle" in fused.splitlines()[1]
    assert plain.splitlines()[0] == fused.splitlines()[0]
    assert [line[:2] for line in fused.splitlines()].count("- ") == 2


async def test_only_what_a_search_may_show_is_ever_read(
    archive: Archive, ann: Dialogue, bob: Dialogue
) -> None:
    await archive.say(ann, "tea in the morning", "more tea at noon")
    await archive.say(bob, "tea is my secret", "and coffee, too")
    room = await archive.open(ann.person, room="room:telegram:7")
    await archive.say(room, "tea for the room", "or none")
    embedder = HashedWords()
    await recall(archive, room, "tea room", Reranker(embedder))
    assert embedder.read == []  # one hit alone has no order
    await archive.say(room, "tea again for the room")
    await recall(archive, room, "tea room", Reranker(embedder))
    assert len(embedder.read) == 3
    assert not [text for text in embedder.read if "noon" in text or "secret" in text]
    embedder.read.clear()
    await recall(archive, ann, "tea", Reranker(embedder))
    assert any("noon" in text for text in embedder.read)
    assert not [text for text in embedder.read if "secret" in text or "coffee" in text]


async def test_browsing_and_scrolling_ask_no_model(archive: Archive, ann: Dialogue) -> None:
    await archive.say(ann, "tea", "tea")
    embedder = HashedWords()
    tool = RecallTool(archive.database, reranker=Reranker(embedder))
    context = ToolContext(
        person_id=ann.person.id,
        owner_id=ann.person.id,
        memory_owner=None,
        conversation_id=ann.conversation.id,
        scope=ann.scope,
        turn_id=TurnId(999_999),
        call_id=CallId("call"),
        now=1_770_000_000_000,
        evidence="",
    )
    assert "tea" in (await tool.run({}, context)).text
    assert "tea" in (await tool.run({"around": "2026-02-02", "query": " "}, context)).text
    assert embedder.read == []


async def test_words_and_meaning_are_added_by_weight() -> None:
    hits = [hit(1, "", score=8), hit(2, "", score=7), hit(3, "", score=4)]
    assert numbers(order(hits, [0, 0, 0])) == [1, 2, 3]
    assert numbers(order(hits, [0, 0.26, 0])) == [2, 1, 3]
    assert numbers(order(hits, [0, 0.24, 0])) == [1, 2, 3]
    assert numbers(order(hits, [0, 0, 1])) == [1, 3, 2]
    assert numbers(order([], [])) == []


async def test_only_the_best_hits_are_read_and_the_others_follow_them() -> None:
    embedder = HashedWords()
    hits = [hit(number, f"w{number}", score=100 - number) for number in range(DEPTH + 10)]
    fused = await Reranker(embedder).rerank(f"w{DEPTH - 1} w{DEPTH + 5}", hits)
    assert len(embedder.read) == DEPTH + 1
    assert sorted(numbers(fused[:DEPTH])) == list(range(DEPTH))
    assert fused[DEPTH:] == tuple(hits[DEPTH:])


def test_a_message_is_read_with_who_says_it_and_with_the_end_of_what_was_said_before() -> None:
    asked = hit(1, "x" * 5000 + " where to?")
    assert write(hit(2, "Lisbon", role="assistant", before=asked)) == (
        f"ann: {asked.message.text[-rerank.BEFORE :]}\nAssistant: Lisbon"
    )
    assert write(hit(1, "y" * 5000)) == f"ann: {'y' * rerank.LONGEST}"


async def test_the_search_itself_gives_what_was_said_before(
    archive: Archive, ann: Dialogue
) -> None:
    await archive.keep(ann, *[user_message(text) for text in ("which city?", "Lisbon, Lisbon")])
    await archive.say(ann, "Lisbon is far")
    embedder = HashedWords()
    await recall(archive, ann, "lisbon", Reranker(embedder))
    assert "ann: which city?\nann: Lisbon, Lisbon" in embedder.read
    assert "ann: Lisbon is far" in embedder.read


async def test_a_text_is_embedded_once_as_long_as_it_is_kept() -> None:
    embedder = HashedWords()
    reranker = Reranker(embedder)
    hits = [hit(1, "tea"), hit(2, "milk"), hit(3, "tea")]
    first = await reranker.rerank("tea", hits)
    assert sorted(embedder.read) == ["ann: milk", "ann: tea", "tea"]
    assert await reranker.rerank("tea", hits) == first
    assert len(embedder.read) == 3
    many = range(rerank.MOST_KEPT)
    for start in range(0, len(many), DEPTH):
        await reranker.rerank("tea", [hit(one, f"w{one}") for one in many[start : start + DEPTH]])
    before = len(embedder.read)
    await reranker.rerank("tea", hits)
    assert embedder.read[before:] == ["ann: tea", "ann: milk"]


async def test_what_takes_too_long_stays_in_the_order_of_the_words() -> None:
    embedder = HashedWords()
    reranker = Reranker(embedder, patience=0.2)
    hits = [hit(1, "milk", score=1.1), hit(2, "tea"), hit(3, "slow tea")]
    assert await reranker.rerank("tea", hits) == tuple(hits)
    embedder.go.set()
    async with asyncio.timeout(45):
        while numbers(await reranker.rerank("tea", hits))[-1] != 1:
            pass


async def test_the_model_stops_once_nobody_waits_any_more() -> None:
    embedder = HashedWords()
    reranker = Reranker(embedder, patience=0.3)
    hits = [hit(1, "slow"), *(hit(number, f"w{number}") for number in range(2, 20))]
    async with asyncio.timeout(45):
        while "ann: slow" not in embedder.read:
            assert await reranker.rerank("tea", hits) == tuple(hits)
        embedder.go.set()
        while "milk" not in embedder.read:  # on the same thread, so after the other
            await reranker.rerank("milk", hits[:1] * 2)
    assert set(embedder.read) == {"tea", "ann: slow", "milk"}


async def test_a_crowd_does_not_queue_for_the_model() -> None:
    embedder = HashedWords()
    reranker = Reranker(embedder, patience=5)
    hits = [hit(1, "milk", score=1.1), hit(2, "tea")]
    async with asyncio.TaskGroup() as group:
        waiting = [
            group.create_task(reranker.rerank("slow tea", hits)) for _ in range(MOST_WAITING)
        ]
        while not embedder.read:
            await asyncio.sleep(0)
        assert await reranker.rerank("tea", hits) == tuple(hits)
        embedder.go.set()
    assert {tuple(numbers(task.result())) for task in waiting} == {(2, 1)}
    assert numbers(await reranker.rerank("tea", hits)) == [2, 1]


async def test_a_model_that_fails_costs_the_order_only(caplog: pytest.LogCaptureFixture) -> None:
    reranker = Reranker(HashedWords())
    hits = [hit(1, "milk", score=1.1), hit(2, "tea poison"), hit(3, "tea")]
    assert await reranker.rerank("tea", hits) == tuple(hits)
    assert "it has no number for that" in caplog.text
    assert numbers(await reranker.rerank("tea", [hits[0], hits[2]])) == [3, 1]
