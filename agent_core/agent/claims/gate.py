"""Hold back the end of a growing answer that may claim an effect."""

import re

from agent_core.agent.claims.clearing import clears
from agent_core.agent.claims.course import Course
from agent_core.agent.claims.judge import LONGEST
from agent_core.agent.claims.sentences import split

LONGEST_CONFIRMATION = 240
"""Characters of an answer that only confirms a wish; a longer one says something of its own."""
_OPENS = re.compile(
    r"\b(?:i|we|you|your|ich|wir|du|dein\w*|ihre?|habe?|hab['’]s|he|te|je"
    r"|j['’]\w*|ho|ti|vou|ik|c['’]est)\b"
    r"|\b(?:done|saved|noted|set|sorted|scheduled|booked|cancel+ed|deleted|removed|consider|expect"
    r"|reminder|alarm|timer|message|mail|e-?mail|memo|has been|have been|all"
    r"|it['’]s|that['’]s|attached"
    r"|\w*erinnerung|wecker|termin|nachricht|notiert|gespeichert|erledigt|fertig|wurden?|ist|alles"
    r"|anotado|guardado|hecho|listo|fatto|genoteerd|geregeld|klaar)\b",
    re.IGNORECASE,
)
"""Words with which a claim begins. The stream waits at them until the sentence is complete."""
_SAFE = re.compile(
    r"^\W*(?:i (?:can|could|would|think|don['’]t|do not|am|hope|see|suggest|recommend|guess|wonder"
    r"|know|understand|need|want)|i['’]m (?:sorry|not|afraid|sure)|if|you (?:can"
    r"|could|may|should|might)"
    r"|ich (?:kann|könnte|würde|denke|glaube|weiß|verstehe|finde|empfehle)|wenn|falls"
    r"|du (?:kannst|könntest|solltest)|would|shall|do you|what|how|why|where|when|which|who)\b",
    re.IGNORECASE,
)
"""Beginnings of sentences that claim nothing, whatever follows in most of them."""
_FENCE = re.compile(r"^[ \t>]*(?:```|~~~)")


class Gate:
    """Lets the text of one answer pass as far as the turn's course allows.

    Claims that the course covers pass. While a wish is unmet, the beginning waits until a sentence
    clears it, or until the answer is too long to be a confirmation.
    """

    def __init__(self, course: Course | None, *, reads_wishes: bool = False) -> None:
        """No course opens the gate: everything passes."""
        self._course = None if course is None or course.is_anything else course
        self._wish = self._course.find_unmet_wish() if self._course and reads_wishes else ""
        self._begun: str | None = "" if self._wish else None
        """The beginning that waits because of an unmet wish; None if none waits."""
        self._is_cleared = False
        """True once a sentence has said that the wish is not met, or asked about it."""
        self._line = ""
        """The line that grows."""
        self._shown = 0
        """Characters of that line that have passed."""
        self._held = ""
        """What waits for the decision, from a claim on."""
        self._judged = 0
        """Characters of that line that are judged; the line is cut there."""
        self._is_code = False

    def grow(self, delta: str) -> str:
        """Take more of the answer; return what may be shown now."""
        if self._course is None:
            return delta
        if self._begun is not None:
            delta = self._wait(delta)
        return "".join(map(self._take, delta.splitlines(keepends=True)))

    def release(self) -> str:
        """Return all that waits, because the answer is honest or its calls follow."""
        left = self._line[self._shown :] + self._held + (self._begun or "")
        self._line, self._shown, self._held, self._begun = "", 0, "", None
        return left

    def _wait(self, delta: str) -> str:
        """Take more of a beginning that may confirm an unmet wish; return it once it does not."""
        begun = (self._begun or "") + delta
        self._is_cleared = any(one.is_whole and clears(one, self._wish) for one in split(begun))
        if not self._is_cleared and len(begun) <= LONGEST_CONFIRMATION:
            self._begun = begun
            return ""
        self._begun = None
        return begun

    def _take(self, piece: str) -> str:
        """Take a piece of one line."""
        if self._held:
            self._held += piece
            return ""
        self._line += piece
        return self._pass(is_whole=piece.endswith("\n"))

    def _pass(self, *, is_whole: bool) -> str:
        """Return the part of the growing line that may be shown now."""
        end = self._find_end(is_whole=is_whole)
        shown = self._line[self._shown : end]
        self._shown = max(self._shown, end)
        if is_whole and not self._held:
            if _FENCE.match(self._line):
                self._is_code = not self._is_code
            self._line, self._shown = "", 0
        elif self._judged and not self._held:
            self._line = self._line[self._judged :]
            self._shown -= self._judged
        return shown

    def _find_end(self, *, is_whole: bool) -> int:
        self._judged = 0
        if self._is_code or _FENCE.match(self._line) or not _OPENS.search(self._line, self._shown):
            return len(self._line)
        for one in split(self._line):
            is_long = one.end - one.start > LONGEST  # or each piece would read all of it again
            if one.is_whole or is_whole or is_long:
                self._judged = one.end if is_long else one.start
                if self._course and self._course.is_unfounded(one, is_cleared=self._is_cleared):
                    first = max(one.start, self._shown)
                    self._held = self._line[first:]
                    self._line = self._line[:first]
                    return first
            elif _OPENS.search(one.words) and not _SAFE.match(one.words):
                return max(one.start, self._shown)
        return len(self._line)
