"""How good what recall finds is, by the evidence of a file in the form of LoCoMo:
`python -m bench.retrieval.locomo locomo10.json [--without-captions] [--embeddings minilm]`.

Each sample is a room in which two people talk; its turns are messages, its sessions are sessions,
the captions of its pictures are text of their turns, and the bare question is the query. What is
measured is `recall.search.search_messages` over a database of each sample's own. Evidence that
names no turn of the sample is left out, and so is a question that keeps none. Recall at k is
the share of evidence among the first k hits; the figures of a category are means over questions.
The weights of the ranking were set on every other sample, beginning with the first. An embedding
model is waited for as long as it takes here, so that a busy machine changes no figure but its time.
"""

import argparse
import asyncio
import json
import math
import re
import sqlite3
import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from agent_core.ids import MessageId, PersonId, PromptHash, TurnId
from agent_core.recall.query import read_query
from agent_core.recall.ranking import Ranked
from agent_core.recall.rerank import Reranker
from agent_core.recall.search import search_messages
from agent_core.state.conversations import messages, sessions, turns
from agent_core.state.conversations.messages import TranscriptPlace
from agent_core.state.conversations.sessions import Conversation
from agent_core.state.conversations.turns import TurnRequest
from agent_core.state.people import people, rooms
from agent_core.state.search.search import SearchFilter
from agent_core.transcript import Message, TextPart
from gateway.bootstrap.plugins import load_embedder
from tests.agent_core.state.schema import migrate

DEPTHS = (5, 10, 25)
PATIENCE = 60.0
"""Seconds that an embedding model is given for a question."""
CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open domain", 4: "single-hop", 5: "adversarial"}
PROMPT = PromptHash("0" * 64)
_TURN = re.compile(r"D:?(\d+):(\d+)")
_DATE = re.compile(r"(\d+):(\d+) (am|pm) on (\d+) (\w+),? (\d{4})")


@dataclass(frozen=True, slots=True, kw_only=True)
class Marks:
    """How one question was answered."""

    recall: tuple[float, ...]
    reciprocal: float
    ndcg: float


Marked = Mapping[str, Sequence[Marks]]
"""The marks of questions, by the name of their category."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One conversation in a database of its own."""

    connection: sqlite3.Connection
    field: SearchFilter
    turns: Mapping[str, MessageId]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.retrieval.locomo", description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--without-captions", action="store_true", help="read pictures as nothing")
    parser.add_argument("--embeddings", default="", help="a model that puts hits in order, too")
    given = parser.parse_args()
    meaning = Meaning(given.embeddings) if given.embeddings else None
    measured = measure(given.file, with_captions=not given.without_captions, meaning=meaning)
    print(render(measured))
    if meaning:
        print(meaning.describe())


class Meaning:
    """An embedding model that puts hits in order, and how long it took for each question."""

    def __init__(self, name: str) -> None:
        self._reranker = Reranker(load_embedder(name), patience=PATIENCE)
        self._taken: list[float] = []

    def rerank(self, question: str, hits: Sequence[Ranked]) -> Sequence[Ranked]:
        began = time.perf_counter()
        fused = asyncio.run(self._reranker.rerank(question, hits))
        self._taken.append((time.perf_counter() - began) * 1000)
        return fused

    def describe(self) -> str:
        cuts = statistics.quantiles(self._taken, n=100)
        figures = ", ".join(f"p{place} {cuts[place - 1]:.0f}" for place in (50, 90, 99))
        return f"the model, ms a question: {figures}, at most {max(self._taken):.0f}"


def measure(
    file: Path, *, with_captions: bool = True, meaning: Meaning | None = None
) -> list[Marked]:
    """The marks of all questions of a file, sample by sample."""
    measured: list[Marked] = []
    for sample in json.loads(file.read_text(encoding="utf-8")):
        marks: dict[str, list[Marks]] = defaultdict(list)
        with tempfile.TemporaryDirectory(prefix="talaria-locomo-") as folder:
            reported = report(sample["conversation"], Path(folder), with_captions=with_captions)
            for question in sample["qa"]:
                evidence = list_evidence(question.get("evidence") or (), reported.turns)
                if evidence:
                    found = ask(reported, question["question"], meaning)
                    name = CATEGORIES.get(question.get("category"), "other")
                    marks[name].append(judge(found, evidence))
            reported.connection.close()
        measured.append(marks)
    return measured


def report(conversation: Mapping[str, Any], folder: Path, *, with_captions: bool) -> Sample:
    """Write a conversation down as if two people had had it in a room."""
    connection = sqlite3.connect(folder / "state.db", isolation_level=None)
    connection.execute("PRAGMA synchronous = OFF")
    migrate(connection)
    connection.execute("BEGIN")
    sessions.insert_prompt(connection, prompt_hash=PROMPT, system="", tools="[]", now=0)
    speakers = {
        name: people.insert(
            connection, slug=f"speaker-{number}", name=name, role="member", now=0
        ).id
        for number, name in enumerate(
            dict.fromkeys((conversation["speaker_a"], conversation["speaker_b"]))
        )
    }
    room = rooms.insert(
        connection, platform="telegram", chat_id="room", title="room", slug="room", now=0
    )
    dialogue = sessions.ensure_conversation(
        connection,
        key="room:telegram:room::all",
        person_id=room.person_id,
        is_direct=False,
        now=0,
        room_id=room.id,
    )
    said: dict[str, MessageId] = {}
    numbers = sorted(
        int(key.removeprefix("session_"))
        for key in conversation
        if re.fullmatch(r"session_\d+", key)
    )
    for number in numbers:
        now = read_date(conversation.get(f"session_{number}_date_time", ""))
        session_id = sessions.insert(connection, conversation_id=dialogue.id, now=now)
        for turn in conversation[f"session_{number}"]:
            text = turn["text"]
            if with_captions and turn.get("blip_caption"):
                text += f" [picture: {turn['blip_caption']}]"
            now += 60_000
            shelf = _open_turn(connection, dialogue, session_id, speakers[turn["speaker"]], now)
            message = Message(role="user", parts=(TextPart(text=text),))
            (said[turn["dia_id"]],) = messages.append(connection, shelf, [message], now=now)
    connection.execute("COMMIT")
    field = SearchFilter(person_id=dialogue.person_id, scope=dialogue.scope, except_turn=TurnId(0))
    return Sample(connection=connection, field=field, turns=said)


def _open_turn(
    connection: sqlite3.Connection,
    dialogue: Conversation,
    session_id: Any,
    person_id: PersonId,
    now: int,
) -> TranscriptPlace:
    turn_id = turns.insert(
        connection,
        conversation=dialogue,
        session_id=session_id,
        request=TurnRequest(person_id=person_id, account_id=None, place=("telegram", "{}", None)),
        prompt_hash=PROMPT,
        now=now,
    )
    return TranscriptPlace(
        session_id=session_id,
        turn_id=turn_id,
        person_id=dialogue.person_id,
        conversation_id=dialogue.id,
        platform="telegram",
    )


def ask(sample: Sample, question: str, meaning: Meaning | None = None) -> list[MessageId]:
    """What recall finds for a question, best first."""
    query = read_query(question)
    found = search_messages(
        sample.connection,
        sample.field,
        query,
        limit=max(DEPTHS),
        clock=lambda moment: datetime.fromtimestamp(moment / 1000, UTC),
    )
    hits = meaning.rerank(question, found.hits) if meaning else found.hits
    return [hit.message.id for hit in hits]


def list_evidence(named: Iterable[str], turns: Mapping[str, MessageId]) -> set[MessageId]:
    """The turns that some evidence names, several in one string or with a sign too many."""
    keys = (f"D{int(one)}:{int(two)}" for text in named for one, two in _TURN.findall(text))
    return {turns[key] for key in keys if key in turns}


def judge(found: Sequence[MessageId], evidence: set[MessageId]) -> Marks:
    """The marks of one question."""
    ranks = [rank for rank, one in enumerate(found, start=1) if one in evidence]
    gain = sum(1 / math.log2(rank + 1) for rank in ranks if rank <= 10)
    best = sum(1 / math.log2(rank + 1) for rank in range(1, min(len(evidence), 10) + 1))
    return Marks(
        recall=tuple(sum(rank <= depth for rank in ranks) / len(evidence) for depth in DEPTHS),
        reciprocal=1 / ranks[0] if ranks else 0.0,
        ndcg=gain / best,
    )


def read_date(text: str) -> int:
    """Milliseconds since the epoch for `1:56 pm on 8 May, 2023`; 0 if it is nothing of the kind."""
    match = _DATE.search(text)
    if not match:
        return 0
    hour, minute, half, day, month, year = match.groups()
    clock = f"{int(hour) % 12 + 12 * (half == 'pm')}:{minute} {day} {month} {year}"
    moment = datetime.strptime(clock, "%H:%M %d %B %Y").replace(tzinfo=UTC)
    return int(moment.timestamp() * 1000)


def render(measured: Sequence[Marked]) -> str:
    """One line a category, one for all questions, and one for each half of the samples."""
    names = sorted({name for sample in measured for name in sample})
    lines = {name: [one for sample in measured for one in sample.get(name, ())] for name in names}
    lines |= {
        title: [one for sample in some for marks in sample.values() for one in marks]
        for title, some in (
            ("all", measured),
            ("set on", measured[::2] if len(measured) > 1 else ()),
            ("not set on", measured[1::2]),
        )
    }
    head = "".join(f"{f'recall@{depth}':>11}" for depth in DEPTHS)
    reported = [f"{'':14}{'questions':>10}{head}{'MRR':>8}{'nDCG@10':>9}"]
    return "\n".join([*reported, *(_report(name, some) for name, some in lines.items() if some)])


def _report(name: str, some: Sequence[Marks]) -> str:
    means = [sum(one.recall[place] for one in some) / len(some) for place in range(len(DEPTHS))]
    reciprocal = sum(one.reciprocal for one in some) / len(some)
    ndcg = sum(one.ndcg for one in some) / len(some)
    recalls = "".join(f"{mean:11.3f}" for mean in means)
    return f"{name:14}{len(some):10}{recalls}{reciprocal:8.3f}{ndcg:9.3f}"


if __name__ == "__main__":
    main()
