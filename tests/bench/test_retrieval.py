"""The figures of recall are reckoned as they say they are."""

import json
import math
from pathlib import Path

import pytest

from agent_core.ids import MessageId
from bench.retrieval import locomo
from bench.retrieval.town import build

SAMPLE = {
    "sample_id": "tiny",
    "conversation": {
        "speaker_a": "Caroline",
        "speaker_b": "Melanie",
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_1": [
            {"speaker": "Caroline", "dia_id": "D1:1", "text": "I went to the pottery class"},
            {"speaker": "Melanie", "dia_id": "D1:2", "text": "I adopted a beagle"},
            {"speaker": "Caroline", "dia_id": "D1:3", "text": "Look", "blip_caption": "a violin"},
        ],
        "session_2_date_time": "9:00 am on 9 June, 2023",
        "session_2": [{"speaker": "Melanie", "dia_id": "D2:1", "text": "My kiln broke"}],
        "session_3_date_time": "10:00 am on 10 June, 2023",
    },
    "qa": [
        {"question": "Who adopted a beagle?", "evidence": ["D1:2"], "category": 4},
        {"question": "beagle kiln", "evidence": ["D1:2; D2:1"], "category": 1},
        {"question": "violin", "evidence": ["D1:3"], "category": 5, "adversarial_answer": "x"},
        {"question": "No evidence", "evidence": [], "category": 3},
        {"question": "Evidence that is not there", "evidence": ["D9:9"], "category": 3},
    ],
}


@pytest.fixture
def sample(tmp_path: Path) -> Path:
    file = tmp_path / "locomo.json"
    file.write_text(json.dumps([SAMPLE]))
    return file


def test_the_evidence_of_a_file_of_locomo_s_form_is_found(sample: Path) -> None:
    (marks,) = locomo.measure(sample, with_captions=False)
    assert {name: len(some) for name, some in marks.items()} == {
        "single-hop": 1,
        "multi-hop": 1,
        "adversarial": 1,
    }
    assert marks["single-hop"][0] == locomo.Marks(recall=(1, 1, 1), reciprocal=1, ndcg=1)
    assert marks["multi-hop"][0].recall == (1, 1, 1)
    assert marks["adversarial"][0] == locomo.Marks(recall=(0, 0, 0), reciprocal=0, ndcg=0)
    assert "all                    3" in locomo.render([marks])


def test_both_halves_of_the_samples_are_told_apart(sample: Path) -> None:
    sample.write_text(json.dumps([SAMPLE] * 3))
    reported = locomo.render(locomo.measure(sample)).splitlines()
    assert [line.split("  ")[0] for line in reported[-3:]] == ["all", "set on", "not set on"]
    assert [int(line[14:24]) for line in reported[-3:]] == [9, 6, 3]


def test_captions_are_text(sample: Path) -> None:
    (marks,) = locomo.measure(sample)
    assert marks["adversarial"][0].recall == (1, 1, 1)


def test_marks_are_those_of_the_books() -> None:
    found = [MessageId(number) for number in range(1, 26)]
    marks = locomo.judge(found, {MessageId(2), MessageId(7), MessageId(99)})
    assert marks.recall == pytest.approx((1 / 3, 2 / 3, 2 / 3))
    assert marks.reciprocal == 0.5
    ideal = 1 + 1 / math.log2(3) + 1 / 2
    assert marks.ndcg == pytest.approx((1 / math.log2(3) + 1 / 3) / ideal)
    assert locomo.judge(found, {MessageId(30)}) == locomo.Marks(
        recall=(0, 0, 0), reciprocal=0, ndcg=0
    )


def test_dates_are_read_as_they_are_written() -> None:
    assert locomo.read_date("1:56 pm on 8 May, 2023") == 1_683_554_160_000
    assert locomo.read_date("12:05 am on 1 January, 2023") == 1_672_531_500_000
    assert locomo.read_date("some day") == 0


def test_the_hand_made_questions_are_whole_and_mostly_answered() -> None:
    file = Path(locomo.__file__).with_name("small.json")
    (small,) = json.loads(file.read_text())
    texts = {
        turn["dia_id"]
        for key, turns in small["conversation"].items()
        if isinstance(turns, list)
        for turn in turns
    }
    assert {one for question in small["qa"] for one in question["evidence"]} <= texts
    (measured,) = locomo.measure(file)
    marks = [one for some in measured.values() for one in some]
    assert sum(one.recall[1] for one in marks) / len(marks) > 0.8


def test_a_deployment_has_as_much_conversation_as_was_asked_for(tmp_path: Path) -> None:
    reported: list[str] = []
    built = build(tmp_path / "state.db", count=2000, population=10, report=reported.append)
    assert built.text_bytes > 2000 * 50
    assert reported == ["0 messages are written"]
