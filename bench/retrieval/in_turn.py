"""What recall adds to a turn that asks about the past: `python -m bench.retrieval.in_turn FILE`.

Each question begins a fresh session, so that without recall no evidence is in the prompt. Counted
are questions that are seen to refer to the past, those with some and with all of their evidence
in the prompt, and what it costs: tokens per question, and per message that asks nothing of the
kind. Odd samples set the words and the limits; even ones are held out.
"""

import argparse
import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from agent_core.memory.recall.formatting import View
from agent_core.memory.recall.turn_recall import (
    CHARACTERS_A_TOKEN,
    find_past_sentences,
    recall_messages,
)
from bench.retrieval.corpus import Corpus, store
from bench.retrieval.samples import Question, Sample, read_samples


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One question: whether it was searched for, and what of its evidence came."""

    category: str
    is_past: bool
    share: float
    characters: int
    seconds: float


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.retrieval.in_turn", description=__doc__)
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("--tokens", type=int, default=400, help="the budget of a turn")
    parser.add_argument("--tuned", action="store_true", help="use the half that set the limits")
    given = parser.parse_args()
    for file in given.files:
        samples = read_samples(file)[0 if given.tuned else 1 :: 2]
        print(f"\n{file.name}, {len(samples)} conversations, {given.tokens} tokens")
        asked = [one for sample in samples for one in _ask_all(sample, given.tokens)]
        by_category = defaultdict(list)
        for one in asked:
            by_category[one.category].append(one)
        print(f"{'':28}questions  seen  some   all  tokens")
        for name, some in (*sorted(by_category.items()), ("all", asked)):
            _print_line(name, some)
        taken = sorted(one.seconds * 1000 for one in asked if one.is_past)
        print(f"a search: p50 {taken[len(taken) // 2]:.1f} ms, p99 {taken[-len(taken) // 100]:.1f}")
        _print_ordinary(samples)


def _ask_all(sample: Sample, tokens: int) -> list[Asked]:
    with tempfile.TemporaryDirectory(prefix="talaria-recall-") as folder:
        corpus = store(sample, Path(folder))
        asked = [_ask(corpus, question, tokens) for question in sample.questions]
        corpus.connection.close()
    return asked


def _ask(corpus: Corpus, question: Question, tokens: int) -> Asked:
    evidence = {corpus.ids[one] for one in question.evidence}
    past = find_past_sentences(question.text)
    began = time.perf_counter()
    found = recall_messages(
        corpus.connection,
        question.text,
        corpus.field,
        (),
        View(zone="UTC", has_many=True),
        tokens * CHARACTERS_A_TOKEN if past else 0,
    )
    seconds = time.perf_counter() - began
    came = evidence & set(found.message_ids)
    return Asked(
        category=question.category,
        is_past=bool(past),
        share=len(came) / len(evidence),
        characters=sum(len(line) + 1 for line in found.lines),
        seconds=seconds,
    )


def _print_line(name: str, some: Sequence[Asked]) -> None:
    count = len(some)
    print(
        f"{name:28}{count:9}"
        f"{sum(one.is_past for one in some) / count:6.0%}"
        f"{sum(one.share > 0 for one in some) / count:6.0%}"
        f"{sum(one.share >= 1 for one in some) / count:6.0%}"
        f"{statistics.fmean(one.characters for one in some) / CHARACTERS_A_TOKEN:8.0f}"
    )


def _print_ordinary(samples: Sequence[Sample]) -> None:
    said = [one.text for sample in samples for one in sample.messages if one.role == "user"]
    searched = sum(bool(find_past_sentences(text)) for text in said)
    print(f"{searched} of {len(said)} messages of the conversations themselves are searched for")


if __name__ == "__main__":
    main()
