"""The figures of recall, and the quality of recall on invented conversations."""

import gzip
import json
import math
import statistics
from pathlib import Path

import pytest

from agent_core.ids import MessageId
from bench.retrieval.invented import invent
from bench.retrieval.quality import Marks, judge, measure, render
from bench.retrieval.samples import read_date, read_samples
from bench.retrieval.town import build

LOCOMO = {
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
BEAM = {
    "id": "tiny",
    "messages": [
        {
            "id": str(number),
            "session": "B0",
            "seq": number,
            "speaker": role,
            "role": role,
            "time": 1710460860.0 + number,
            "text": text,
        }
        for number, (role, text) in enumerate(
            (("user", "Where is my kiln?"), ("assistant", "In the shed.\n\n" + "Point. " * 300))
        )
    ],
    "questions": [{"id": "q", "text": "the shed", "evidence": ["1"], "category": "place"}],
}
REALTALK = {
    "name": {"speaker_1": "Ann", "speaker_2": "Ben"},
    "session_1": [
        {
            "clean_text": "I sold my kiln",
            "speaker": "Ann",
            "date_time": "29.12.2023, 22:42:04",
            "dia_id": "D1:1",
        },
        {
            "clean_text": "Look",
            "speaker": "Ben",
            "date_time": "30.12.2023, 00:32:20",
            "dia_id": "D1:3",
            "blip_caption": "a violin on a chair",
        },
    ],
    "events_session_1": {"agent_a": [], "agent_b": []},
    "session_1_date_time": "29.12.2023, 22:42:04",
    "qa": [
        {"question": "kiln", "answer": "sold", "evidence": ["D1:1. D1:2"], "category": 1},
        {"question": "violin", "answer": "Ben", "evidence": ["D1:3"], "category": 2},
    ],
}
MISSED = Marks(recall=(0, 0, 0), ndcg=0)
FOUND = Marks(recall=(1, 1, 1), ndcg=1)


@pytest.fixture
def locomo(tmp_path: Path) -> Path:
    file = tmp_path / "locomo.json"
    file.write_text(json.dumps([LOCOMO]))
    return file


def test_the_evidence_of_a_file_of_locomo_s_form_is_found(locomo: Path) -> None:
    answered = measure(read_samples(locomo, with_captions=False))
    marks = {one.category: one.marks["words"] for one in answered}
    assert list(marks) == ["single-hop", "multi-hop", "adversarial"]
    assert marks["single-hop"] == FOUND
    assert marks["multi-hop"].recall == (1, 1, 1)
    assert marks["adversarial"] == MISSED


def test_captions_are_text(locomo: Path) -> None:
    answered = measure(read_samples(locomo))
    assert answered[-1].category == "adversarial"
    assert set(answered[-1].marks.values()) == {FOUND}


def test_both_halves_of_the_samples_are_reported_apart(locomo: Path) -> None:
    locomo.write_text(json.dumps([LOCOMO] * 3))
    lines = render("tiny", measure(read_samples(locomo))).splitlines()
    assert [line[:30].strip() for line in lines[1:7]] == [
        f"{half}, {way}" for half in ("tuned on", "held out") for way in ("FTS5", "words", "seen")
    ]
    assert [int(line[30:39]) for line in lines[1:7]] == [6, 6, 6, 3, 3, 3]


def test_a_packed_file_of_beam_s_form_is_read(tmp_path: Path) -> None:
    file = tmp_path / "beam.jsonl.gz"
    file.write_bytes(gzip.compress(json.dumps(BEAM).encode()))
    (sample,) = read_samples(file)
    assert not sample.is_room
    assert sample.messages[0].at == 1_710_460_860_000
    (answered,) = measure([sample])
    assert answered.category == "place"
    assert set(answered.marks.values()) == {FOUND}


def test_a_chat_of_realtalk_s_form_is_held_out_as_a_whole(tmp_path: Path) -> None:
    file = tmp_path / "chat.json"
    file.write_text(json.dumps(REALTALK))
    (sample,) = read_samples(file)
    assert (sample.name, sample.is_room) == ("chat", True)
    assert [(one.speaker, one.at) for one in sample.messages] == [
        ("Ann", 1_703_889_724_000),
        ("Ben", 1_703_896_340_000),
    ]
    answered = measure([sample], is_untouched=True)
    assert [one.is_held_out for one in answered] == [True, True]
    assert [set(one.marks.values()) for one in answered] == [{FOUND}, {FOUND}]


def test_marks_are_those_of_the_books() -> None:
    found = [MessageId(number) for number in range(1, 26)]
    marks = judge(found, {MessageId(2), MessageId(7), MessageId(99)})
    assert marks.recall == pytest.approx((1 / 3, 2 / 3, 2 / 3))
    ideal = 1 + 1 / math.log2(3) + 1 / 2
    assert marks.ndcg == pytest.approx((1 / math.log2(3) + 1 / 3) / ideal)
    assert judge(found, {MessageId(30)}) == MISSED


def test_dates_are_read_as_they_are_written() -> None:
    assert read_date("1:56 pm on 8 May, 2023") == 1_683_554_160_000
    assert read_date("12:05 am on 1 January, 2023") == 1_672_531_500_000
    assert read_date("29.12.2023, 22:42:04") == 1_703_889_724_000
    assert read_date("") == 0
    with pytest.raises(ValueError, match="some day"):
        read_date("some day")


def test_the_manual_questions_are_complete_and_mostly_answered() -> None:
    file = Path(__file__).parents[2] / "bench/retrieval/small.json"
    (fields,) = json.loads(file.read_text())
    (small,) = read_samples(file)
    assert len(small.questions) == len(fields["qa"])
    answered = measure([small])
    assert statistics.fmean(one.marks["words"].recall[1] for one in answered) > 0.8


def test_the_same_seed_invents_the_same_conversations() -> None:
    for one, other in zip(invent().values(), invent().values(), strict=True):
        assert one() == other()


@pytest.mark.thorough
@pytest.mark.parametrize("shape", list(invent()))
def test_a_search_beats_plain_full_text_search_on_conversations_of_every_shape(shape: str) -> None:
    """The weights are set on odd samples; this is an even one."""
    answered = measure([invent()[shape]()[1]])
    recall = {
        way: statistics.fmean(one.marks[way].recall[1] for one in answered)
        for way in ("FTS5", "words", "seen")
    }
    assert recall["words"] > recall["FTS5"] + 0.1
    assert recall["seen"] > recall["words"] - 0.01


def test_a_population_has_the_requested_number_of_messages(tmp_path: Path) -> None:
    reported: list[str] = []
    built = build(tmp_path / "state.db", count=2000, population=10, report=reported.append)
    assert built.text_bytes > 2000 * 50
    assert reported == ["0 messages are written"]
