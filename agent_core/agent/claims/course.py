"""Compare an answer with what its turn was asked for and has done."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from agent_core.agent.claims.clearing import repeats
from agent_core.agent.claims.deeds import Deed
from agent_core.agent.claims.judge import claims_effect
from agent_core.agent.claims.kinds import find_kind
from agent_core.agent.claims.notes import is_question
from agent_core.agent.claims.sentences import Sentence
from agent_core.agent.claims.wish import find_open_wish
from agent_core.tools.gate import PROPOSED
from agent_core.transcript import Message, ToolResultPart

_TOLD = re.compile(
    r"\b(?:did|have|has|is|are|was|were|hast|ist|sind|hat|habe|wurde|wurden)\b", re.IGNORECASE
)
"""Words of a question whether something is so, which an answer may confirm."""
_BARE = re.compile(
    r"\W*(?:(?:all|it is|it['’]s|that is|that['’]s|ist|alles|schon|okay|ok|i) *,? *)?"
    r"(?:done|noted|saved|sent|set|fixed|sorted|started it|erledigt|notiert"
    r"|gespeichert|fertig|hecho"
    r"|anotado|listo|c['’]est noté|fatto|genoteerd)(?:,? \w+)?\W*",
    re.IGNORECASE,
)
"""A sentence of one word, which claims only what was asked for."""
_WRITES = re.compile(
    r"^\W*(?:(?:please|bitte|can you|could you|would you|kannst du|könntest du) )*"
    r"(?:translate|übersetz\w*|draft|rephrase|reword|proofread|write (?:an?|the|me|us|some|my)\b"
    r"|formulier\w*|entwirf|schreibe? (?:mir|uns|eine?n?)\b)|\bmean\b",
    re.IGNORECASE,
)
"""A task whose result is words of somebody else, or for them."""
_LONGEST = 400
"""Characters of a message in which a task is looked for."""
_STATE = re.compile(r"\b(?:is|are|['’]s|ist|sind|steht|stehen|läuft)\b", re.IGNORECASE)
_ACTS = re.compile(r"\b(?:i|we|ich|wir)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """The deeds of a turn, and the transcript that the model sees.

    The last message with a person's words began the turn.
    """

    deeds: Sequence[Deed]
    messages: Sequence[Message]

    @property
    def is_anything(self) -> bool:
        """True if the turn has done something that may be anything, such as a command.

        A program that asks may have run tools at its side.
        """
        return any(deed.kind == "any" for deed in self.deeds) or any(
            isinstance(part, ToolResultPart) and not part.is_error
            for message in self.messages[self._find_beginning() :]
            if message.role == "user"
            for part in message.parts
        )

    @property
    def was_proposed(self) -> bool:
        """True if a change of the turn waits for a yes, which a card below the answer asks for."""
        return any(
            isinstance(part, ToolResultPart) and part.text == PROPOSED
            for message in self.messages[self._find_beginning() :]
            for part in message.parts
        )

    @property
    def was_asked(self) -> bool:
        """True if the model was asked about a claim since the person's last words."""
        return any(map(is_question, self.messages[self._find_beginning() :]))

    def find_unmet_wish(self) -> str:
        """Return the person's words that ask for a change, if the turn has changed nothing."""
        if self.deeds or not self.messages:
            return ""
        return find_open_wish(self.messages, self._find_beginning())

    def is_unfounded(self, sentence: Sentence, *, is_cleared: bool = False) -> bool:
        """Return whether a sentence claims an effect that the turn lacks.

        With `is_cleared`, the answer has said that the wish is not met, or asked about it.
        """
        words, wish = sentence.words, self.find_unmet_wish()
        if not wish and self.messages and _WRITES.search(self._said[:_LONGEST]):
            return False
        if not claims_effect(sentence):
            return bool(wish) and not is_cleared and repeats(sentence, wish)
        return not (self._covers(words) or (_BARE.fullmatch(words) and self._wants_nothing))

    @property
    def _wants_nothing(self) -> bool:
        """True if nobody asked for a change; a bare `Done.` then answers something else."""
        return bool(self.messages) and not self.find_unmet_wish()

    def _covers(self, words: str) -> bool:
        """Return whether a claim is about what the turn did or looked up, or confirms the past."""
        kind, done = find_kind(words), {deed.kind for deed in self.deeds}
        if (done and kind == "any") or kind in done:
            return True
        if not self.messages:
            return False
        begun = self._find_beginning()
        said = self._said
        has_looked = any(message.calls for message in self.messages[begun:])
        is_told = has_looked or ("?" in said and self._wants_nothing and not _ACTS.search(words))
        if is_told and _STATE.search(words):
            return True
        is_asked = begun > 0 and _asks_whether(said)
        return is_asked and any(message.calls for message in self.messages)

    @property
    def _said(self) -> str:
        return self.messages[self._find_beginning()].text

    def _find_beginning(self) -> int:
        places = range(len(self.messages) - 1, -1, -1)
        said = (at for at in places if self.messages[at].role == "user" and self.messages[at].text)
        return next(said, 0)


def _asks_whether(text: str) -> bool:
    questions = (line.rpartition("?")[0] for line in text.splitlines())
    return any(_TOLD.search(question) for question in questions)
