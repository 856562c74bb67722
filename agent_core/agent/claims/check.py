"""Judge an answer by what its turn was asked for and did: state first, words last."""

from collections.abc import Sequence
from dataclasses import dataclass

from agent_core.agent.claims.clearing import is_clear
from agent_core.agent.claims.course import Course
from agent_core.agent.claims.gate import LONGEST_CONFIRMATION, Gate
from agent_core.agent.claims.judge import list_statements
from agent_core.agent.claims.kinds import find_kind
from agent_core.agent.claims.notes import ask_again, correct
from agent_core.agent.claims.sentences import Sentence
from agent_core.transcript import Message


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """An answer that claims what did not happen: its part before, and how the model is asked."""

    kept: str
    """The part before the claim, which the person may read; "" if there is none."""
    question: Message
    """Asks the model to do it or to say so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Doubt:
    """The sentences of an answer that can't stand, and the words in which it is quoted."""

    wrong: Sequence[Sentence]
    claim: str
    """What did not happen, in the words of the answer or of the person."""


class ClaimCheck:
    """Judges the answers of turns."""

    def __init__(self, *, reads_wishes: bool) -> None:
        """`reads_wishes` is for turns in which a person writes, not a job or another turn."""
        self._reads_wishes = reads_wishes

    def judge(self, text: str, course: Course) -> Held | None:
        """Return what to ask the model; None if the answer claims nothing that did not happen."""
        doubt = self._doubt(text, course)
        if doubt is None:
            return None
        kept = text[: doubt.wrong[0].start].rstrip() if doubt.wrong else text.rstrip()
        return Held(kept=kept, question=ask_again(doubt.claim))

    def correct(self, text: str, course: Course) -> str:
        """Return the text with the truth in place of what it claims."""
        doubt = self._doubt(text, course)
        if doubt is None:
            return text
        left = text
        for one in reversed(doubt.wrong):
            before, after = left[: one.start].rstrip(" "), left[one.end :].lstrip(" ")
            left = f"{before} {after}" if before and not before.endswith("\n") else before + after
        truth = correct(find_kind(doubt.claim), doubt.claim)
        return "\n\n".join(filter(None, (left.strip(), truth)))

    def gate(self, course: Course) -> Gate:
        """Return the gate for the stream of the next answer."""
        return Gate(course, reads_wishes=self._reads_wishes)

    def _doubt(self, text: str, course: Course) -> _Doubt | None:
        if course.is_anything:
            return None
        wish = course.find_unmet_wish() if self._reads_wishes else ""
        is_cleared = bool(wish) and is_clear(text, wish)
        wrong = [
            one for one in list_statements(text) if course.is_unfounded(one, is_cleared=is_cleared)
        ]
        if wrong:
            return _Doubt(wrong=wrong, claim=_quote(text, wrong))
        if not wish or is_cleared or course.was_proposed or not text.strip():
            return None
        is_confirmation = len(text) <= LONGEST_CONFIRMATION
        return _Doubt(wrong=[_take_all(text)] if is_confirmation else (), claim=wish)


def _take_all(text: str) -> Sentence:
    return Sentence(start=0, end=len(text), words="", is_whole=True, is_asked=False)


def _quote(text: str, sentences: Sequence[Sentence]) -> str:
    return " ".join(text[one.start : one.end].strip() for one in sentences)
