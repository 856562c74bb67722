"""The second question of a review: what its turns teach about doing this kind of work.

A review shows the tool calls of turns that read no words of others, but never the results. So a
lesson about work can't repeat a page, a file or a mail. Code decides what a lesson may become: a
draft, which counts only once its tests pass, or a proposal that waits for the person.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from agent_core.agent.review.claim_check import (
    find_flaw_of_guess,
    find_flaw_of_skill,
    keep_own_words,
)
from agent_core.agent.review.record import Lesson
from agent_core.ids import PersonId, TurnId
from agent_core.models.arguments import read_object
from agent_core.state.conversations import messages
from agent_core.state.engine.database import Connection
from agent_core.state.queues import reviews
from agent_core.state.queues.reviews import Called
from agent_core.tools.schemas import make_schema
from agent_core.transcript import ToolCallPart, ToolSpec, flatten, quote

WORK = "work"
"""The doubt of a lesson about work: no words of the person prove it."""
LEAST_STEPS = 3
"""The fewest successful tool calls of a turn that a new skill comes from; fewer are no recurring
work.
"""
_MOST_TURNS = 20
_LONGEST_REQUEST = 300
_LONGEST_CALL = 240
"""The most characters of a call's arguments, and of its error."""
_LONGEST_WORK = 12_000
"""The most characters of all shown turns, and of all shown skills."""
_LONGEST_DESCRIPTION = 300
_LONGEST_BODY = 6_000
_DESCRIPTION = "description: "

QUESTION = """\

Then ask yourself what the work below teaches about doing this kind of work. "nothing" is the usual
answer here, too. At most one call of these:
- `create` writes a skill for work that will come back and took several steps to get right. `turn`
  is the number of the turn that shows it, `description` says when to use the skill, and `body` says
  what to do, step by step. Name no person, no secret and nothing that holds only once.
- `patch` corrects a skill below: `old` copies a passage that stands in it once, `text` replaces it.
- `note` is one short rule for next time: what to do, never what is impossible.
"""


def _spec(name: str, description: str, fields: Sequence[str]) -> ToolSpec:
    properties = {one: {"type": "integer" if one == "turn" else "string"} for one in fields}
    return ToolSpec(name=name, description=description, schema=make_schema(fields, **properties))


_CREATE = _spec("create", "Write a new skill.", ("name", "description", "body", "turn"))
_PATCH = _spec("patch", "Propose a change of a skill's text.", ("name", "old", "text", "turn"))
_NOTE = _spec("note", "Propose a rule for next time.", ("text", "turn"))
LESSON_TOOLS = frozenset(one.name for one in (_CREATE, _PATCH, _NOTE))


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkTurn:
    """A turn as it is shown, and the number of its successful tool calls."""

    text: str
    successes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownWork:
    """The turns that show work, by number, and the agent's own skills that they read, by name.

    `may_create` is true only for an owner, because everyone uses the skills.
    """

    turns: Mapping[TurnId, WorkTurn] = field(default_factory=dict)
    skills: Mapping[str, str] = field(default_factory=dict)
    may_create: bool = False

    @property
    def tools(self) -> tuple[ToolSpec, ...]:
        """The tools of the question; none if there is nothing to ask about."""
        if not self.turns:
            return ()
        create = (_CREATE,) if self.may_create else ()
        return (*create, *((_PATCH,) if self.skills else ()), _NOTE)


NOTHING = ShownWork()


def find_work(
    connection: Connection,
    *,
    person_id: PersonId,
    after: TurnId,
    until: TurnId,
    own: frozenset[str] | None,
) -> ShownWork:
    """Find the work in a person's turns. `own` are the agent's skills; None if the person is no
    owner.
    """
    called: dict[TurnId, list[Called]] = {}
    for one in reviews.list_called(
        connection, person_id=person_id, after=after, until=until, limit=_MOST_TURNS
    ):
        called.setdefault(one.turn_id, []).append(one)
    if sum(map(len, called.values())) < LEAST_STEPS:
        return NOTHING
    shown: dict[TurnId, WorkTurn] = {}
    left = _LONGEST_WORK
    for turn_id in sorted(called, reverse=True):
        said = messages.request_of_turn(connection, turn_id=turn_id, person_id=person_id)
        if not said.strip():
            continue  # its words were deleted by /forget
        text = _show(turn_id, said, called[turn_id])
        left -= len(text)
        if left < 0:
            break
        successes = sum(not one.is_error for one in called[turn_id])
        shown[turn_id] = WorkTurn(text=text, successes=successes)
    texts = reviews.list_read_skills(connection, turn_ids=list(shown)) if own else {}
    return ShownWork(
        turns=shown,
        skills=_choose_skills({name: texts[name] for name in texts if name in (own or ())}),
        may_create=own is not None,
    )


def describe_work(work: ShownWork) -> str:
    """Show the turns and the skills to the model."""
    turns = "\n".join(work.turns[one].text for one in sorted(work.turns))
    skills = [f"Skill {name}: {quote(text, len(text))}" for name, text in work.skills.items()]
    return "\n\n".join((f"<work>\n{turns}\n</work>", *skills))


def read_lesson(
    calls: Sequence[ToolCallPart], work: ShownWork, known: Sequence[str]
) -> Lesson | None:
    """Return the first lesson of an answer that may be kept or proposed; None for none."""
    found = (_read(call, work, known) for call in calls if call.name in LESSON_TOOLS)
    return next((one for one in found if one), None)


def find_turn(lesson: Lesson, work: ShownWork) -> TurnId:
    """Return the turn that a lesson comes from."""
    return next(one for one, turn in work.turns.items() if turn.text == lesson.traces[0])


def _read(call: ToolCallPart, work: ShownWork, known: Sequence[str]) -> Lesson | None:
    given = read_object(call.arguments) or {}
    number = given.pop("turn", None)
    turn = work.turns.get(TurnId(number)) if type(number) is int else None
    if turn is None or not all(isinstance(one, str) for one in given.values()):
        return None
    name, text, old = (str(given.get(one, "")) for one in ("name", "text", "old"))
    if call.name == _NOTE.name:
        text = " ".join(text.split())
        flaw = find_flaw_of_guess(text, known)
        return None if flaw else Lesson(skill="", old="", text=text, traces=(turn.text,))
    if call.name == _CREATE.name:
        if not work.may_create or turn.successes < LEAST_STEPS:
            return None
        old, text = "", _compose(name, given.get("description", ""), given.get("body", ""))
    elif (whole := work.skills.get(name)) is None or whole.count(old) != 1 or old in ("", text):
        return None
    flawed = not text or find_flaw_of_skill(text)
    return None if flawed else Lesson(skill=name, old=old, text=text, traces=(turn.text,))


def _compose(name: str, description: str, body: str) -> str:
    """Return the text of a skill; "" if a part of it is missing or too long.

    The model writes no front matter: it could name tools or settings there.
    """
    line = " ".join(description.split())
    if not (line and body.strip()) or len(line) > _LONGEST_DESCRIPTION or len(body) > _LONGEST_BODY:
        return ""
    head = f"---\nname: {name}\n{_DESCRIPTION}{json.dumps(line, ensure_ascii=False)}\n---\n"
    return f"{head}\n{body.strip()}\n"


def read_description(text: str) -> str:
    """Return the description of a skill that a review wrote."""
    found = (line for line in text.splitlines() if line.startswith(_DESCRIPTION))
    return str(json.loads(next(found).removeprefix(_DESCRIPTION)))


def _show(turn_id: TurnId, said: str, called: Sequence[Called]) -> str:
    """Show a turn: the person's request in their own words, and each call with its outcome."""
    lines = [f"[turn {turn_id}] person: {quote(keep_own_words(said), _LONGEST_REQUEST)}"]
    for one in called:
        end = f"failed: {flatten(one.outcome, _LONGEST_CALL)}" if one.is_error else "went well"
        lines.append(f"{one.name} {quote(one.arguments, _LONGEST_CALL)} {end}")
    return "\n".join(lines).replace("</", "<\\/")


def _choose_skills(texts: Mapping[str, str]) -> dict[str, str]:
    """Choose the skills that fit whole; a skill that is cut can't be patched."""
    chosen: dict[str, str] = {}
    left = _LONGEST_WORK
    for name in sorted(texts, key=lambda one: len(texts[one])):
        left -= len(texts[name])
        if left < 0:
            break
        chosen[name] = texts[name]
    return chosen
