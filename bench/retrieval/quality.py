"""The quality of recall, beside plain FTS5, on files and on invented conversations:
`python -m bench.retrieval.quality [FILE ...] [--held-out FILE ...] [--without-captions]`.

Each sample is a database of its own, and the bare question is the query. Odd samples (the first,
the third, ...) set the weights of the ranking; even ones are held out, and theirs are the figures
to report. Those of `--held-out` are held out altogether. Recall at k is the share of the evidence
among the first k hits. `seen` counts only hits that the tool's text shows the model by default.
"""

import argparse
import math
import statistics
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from agent_core.ids import MessageId
from agent_core.memory.recall.formatting import View, format_hits
from agent_core.memory.recall.message_search import Found, search_messages
from agent_core.memory.recall.query import read_query
from agent_core.memory.recall.ranking import Ranked
from agent_core.memory.recall.recall_tool import DEFAULT_HITS
from bench.retrieval.corpus import Corpus, search_plainly, store
from bench.retrieval.invented import invent
from bench.retrieval.samples import Sample, read_samples

DEPTHS = (5, 10, 25)


@dataclass(frozen=True, slots=True, kw_only=True)
class Marks:
    """The quality of one list of hits."""

    recall: tuple[float, ...]
    """At each of `DEPTHS`."""
    ndcg: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """The marks of one question, by the way of searching."""

    is_held_out: bool
    category: str
    marks: Mapping[str, Marks]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.retrieval.quality", description=__doc__)
    parser.add_argument("files", type=Path, nargs="*")
    parser.add_argument(
        "--held-out", type=Path, nargs="+", default=(), help="files without a part in the tuning"
    )
    parser.add_argument("--without-captions", action="store_true", help="read pictures as nothing")
    given = parser.parse_args()
    sets: dict[str, Callable[[], Sequence[Sample]]] = {
        file.name.split(".")[0]: lambda file=file: read_samples(  # type: ignore[misc]
            file, with_captions=not given.without_captions
        )
        for file in (*given.files, *given.held_out)
    }
    untouched = {file.name.split(".")[0] for file in given.held_out}
    for name, read in (sets | invent()).items():
        print(render(name, measure(read(), is_untouched=name in untouched)), flush=True)


def measure(samples: Iterable[Sample], *, is_untouched: bool = False) -> list[Answered]:
    """Ask every question of every sample, in each way of searching.

    With `is_untouched`, every sample is held out, instead of every second one.
    """
    answered: list[Answered] = []
    for number, sample in enumerate(samples):
        with tempfile.TemporaryDirectory(prefix="talaria-recall-") as folder:
            corpus = store(sample, Path(folder))
            for question in sample.questions:
                evidence = {corpus.ids[one] for one in question.evidence}
                found = ask(corpus, question.text)
                answered.append(
                    Answered(
                        is_held_out=is_untouched or number % 2 == 1,
                        category=question.category,
                        marks={way: judge(hits, evidence) for way, hits in found.items()},
                    )
                )
            corpus.connection.close()
    return answered


def ask(corpus: Corpus, question: str) -> dict[str, Sequence[MessageId]]:
    """Return the hits for a question, best first, by the way of searching."""
    query = read_query(question)
    found = search_messages(
        corpus.connection,
        corpus.field,
        query,
        limit=max(DEPTHS),
        clock=lambda moment: datetime.fromtimestamp(moment / 1000, UTC),
    )
    default = Found(hits=found.hits[:DEFAULT_HITS], count=found.count)
    text = format_hits(query, default, (), View(zone="UTC", has_many=True))
    shown = sum(line.startswith(("- ", "+ ")) for line in text.splitlines())
    return {
        "FTS5": search_plainly(corpus, question, max(DEPTHS)),
        "words": _list_ids(found.hits),
        "seen": _list_ids(found.hits[:shown]),
    }


def _list_ids(hits: Iterable[Ranked]) -> list[MessageId]:
    return [hit.message.id for hit in hits]


def judge(found: Sequence[MessageId], evidence: set[MessageId]) -> Marks:
    """Compare a list of hits with the evidence."""
    ranks = [rank for rank, one in enumerate(found, start=1) if one in evidence]
    gain = sum(1 / math.log2(rank + 1) for rank in ranks if rank <= 10)
    best = sum(1 / math.log2(rank + 1) for rank in range(1, min(len(evidence), 10) + 1))
    return Marks(
        recall=tuple(sum(rank <= depth for rank in ranks) / len(evidence) for depth in DEPTHS),
        ndcg=gain / best,
    )


def render(name: str, answered: Sequence[Answered]) -> str:
    """Write one line a way for each half, then recall by words for each category."""
    lines = [f"{name:30}questions{''.join(f'  R@{depth:<4}' for depth in DEPTHS)} nDCG@10"]
    for half, is_held_out in (("tuned on", False), ("held out", True)):
        some = [one for one in answered if one.is_held_out is is_held_out]
        for way in some[0].marks if some else ():
            lines.append(_write_line(f"  {half}, {way}", [one.marks[way] for one in some]))
    by_category: dict[str, list[Marks]] = defaultdict(list)
    for one in answered:
        by_category[one.category].append(one.marks["words"])
    if len(by_category) > 1:
        lines += [_write_line(f"  {one}", by_category[one]) for one in sorted(by_category)]
    return "\n".join(lines)


def _write_line(title: str, marks: Sequence[Marks]) -> str:
    recalls = (statistics.fmean(one.recall[place] for one in marks) for place in range(len(DEPTHS)))
    ndcg = statistics.fmean(one.ndcg for one in marks)
    return f"{title:30}{len(marks):9}{''.join(f'  {one:.3f} ' for one in recalls)} {ndcg:.3f}"


if __name__ == "__main__":
    main()
