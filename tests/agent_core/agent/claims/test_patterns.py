"""The claim check reads hostile texts in time; no part of a stream is read again and again."""

import time

import pytest

from agent_core.agent.claims.check import ClaimCheck
from agent_core.agent.claims.contract import Language
from agent_core.agent.claims.course import Course
from agent_core.agent.claims.english import ENGLISH
from agent_core.agent.claims.german import GERMAN
from agent_core.agent.claims.judge import LONGEST
from agent_core.agent.claims.others import OTHERS
from agent_core.transcript import user_message

HOSTILE = [
    *(
        piece * (LONGEST // len(piece))
        for piece in (", ", "ok ", "a, ", "Der ", "1", "all ", "A: ")
    ),
    *(
        piece * (LONGEST // len(piece))
        for piece in ("ist ist ", "is it done, ", "ist schon ", "say ")
    ),
    *(piece * (LONGEST // len(piece)) for piece in ("I've set ", "your it's ", "*", "_ ", "Anna ")),
    *(
        piece * (LONGEST // len(piece))
        for piece in ("„", "“", "`", '"a', "> ", "Dear a", "!?", " – ")
    ),
    "Ich habe " + "wort " * (LONGEST // 5),
    "great, perfect, sure, okay " * (LONGEST // 27) + "x",
]
NOTHING = Course(deeds=(), messages=(user_message("is " * 10_000),))


@pytest.mark.parametrize("language", [ENGLISH, GERMAN, OTHERS], ids=lambda one: one.name)
def test_no_pattern_of_a_language_runs_away(language: Language) -> None:
    for pattern in (*language.claims, *language.honest):
        for text in HOSTILE:
            began = time.process_time()
            pattern.regex.search(text[:LONGEST])
            assert time.process_time() - began < 0.1, (pattern.regex.pattern, text[:20])


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_a_long_hostile_answer_is_judged_in_time(text: str) -> None:
    began = time.process_time()
    whole = text * (20_000 // len(text)) + "\nI've set a reminder."
    ClaimCheck(reads_wishes=True).judge(whole, NOTHING)
    assert time.process_time() - began < 2


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_a_stream_without_an_end_of_a_sentence_is_not_read_again_and_again(text: str) -> None:
    began, gate = time.process_time(), ClaimCheck(reads_wishes=True).gate(NOTHING)
    whole = "I " + text * (20_000 // len(text))
    shown = "".join(gate.grow(whole[place : place + 4]) for place in range(0, len(whole), 4))
    assert shown + gate.release() == whole
    assert time.process_time() - began < 10
