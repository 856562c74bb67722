"""The tasks of background work: reviews, skills and judgements, with the product's own prompts.

Their answers pass the product's own checks, such as the gate of a review.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from agent_core.agent.review.claim_check import Claim, find_basis, find_fault
from agent_core.agent.review.judgement import Answer, Case, Look, make_judge_request, read_opinions
from agent_core.agent.review.material import make_request, read_claims
from agent_core.agent.review.reflection import Pair, Trace, make_reflection_request
from agent_core.agent.review.reflection import read_lesson as read_reflection
from agent_core.agent.review.work_lessons import ShownWork, WorkTurn
from agent_core.agent.review.work_lessons import read_lesson as read_lesson_of_work
from agent_core.fitness.card import Area
from agent_core.fitness.checks import Check
from agent_core.fitness.tasks import FitnessTask
from agent_core.ids import MessageId, TurnId
from agent_core.models.arguments import read_object
from agent_core.models.contract import ModelAnswer, ModelRequest
from agent_core.skills.curation.merging import make_merge_request
from agent_core.skills.curation.tidying import KnownEntry, make_tidy_request
from agent_core.state.queues.reviews import Said

_DAY = 86_400_000
_NOON = 1_772_798_400_000
"""2026-03-06 12:00 UTC, in milliseconds since the epoch."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """The answer passes a check of the product; `find` returns why not, "" if it does."""

    find: Callable[[ModelAnswer], str]

    def find_fault(self, answer: ModelAnswer) -> str:
        """See `Check`."""
        return self.find(answer)


def _converse(*lines: str) -> tuple[Said, ...]:
    """Make a conversation; lines that begin with `>` are the assistant's."""
    return tuple(
        Said(
            id=MessageId(number),
            turn_id=TurnId((number + 1) // 2),
            is_own=not line.startswith(">"),
            text=line.removeprefix("> "),
            created_at=_NOON + number * 60_000,
        )
        for number, line in enumerate(lines, 1)
    )


def _review(name: str, said: Sequence[Said], *words: str) -> FitnessTask:
    """Make a review that keeps one fact with these words, and no other; nothing without words."""

    def find(answer: ModelAnswer) -> str:
        claims, unreadable = read_claims(answer.message.calls)
        if unreadable:
            return "a call can't be read"
        own = {one.id: one.text for one in said if one.is_own}
        for claim in claims:
            fault = find_fault(claim, ()) or (None if find_basis(claim, own) else "unproved")
            if fault:
                return f"the gate refuses it: {fault}"
        if not words:
            return "it keeps what it should not" if claims else ""
        kept = " ".join(claim.text.casefold() for claim in claims)
        missing = [word for word in words if word not in kept]
        return f"it does not keep {missing[0]}" if missing else ""

    return _make(name, "review", make_request("", said, ()), Judged(find=find))


def _judge(
    name: str, said: Sequence[Said], text: str, answer: Answer, look: Look = "state"
) -> FitnessTask:
    """Make a look at one note about the first message, which finds this answer."""
    claim = Claim(target="user", text=text, quote=said[0].text, message_id=said[0].id)
    cases = (Case(number=0, claim=claim),)

    def find(given: ModelAnswer) -> str:
        opinions = read_opinions(given.message.calls, cases, look)
        if opinions is None:
            return "the product does not believe this judge"
        return "" if opinions[0].answer == answer else f"it says {opinions[0].answer}"

    return _make(name, "judge", make_judge_request("", said, cases, look, "UTC"), Judged(find=find))


_WORK = ShownWork(
    turns={
        TurnId(7): WorkTurn(
            text='[turn 7] person: "Make a table of this month\'s invoice and check the sum."\n'
            'read_file "{\\"path\\": \\"invoices/2026-02.csv\\"}" went well\n'
            'run "{\\"command\\": \\"python sum.py invoices/2026-02.csv\\"}" failed: no column'
            " amount\n"
            'run "{\\"command\\": \\"python sum.py --column betrag invoices/2026-02.csv\\"}" went'
            " well\n"
            'write_file "{\\"path\\": \\"invoices/2026-02.md\\"}" went well',
            successes=3,
        )
    },
    may_create=True,
)
_CHAT_WORK = ShownWork(
    turns={
        TurnId(3): WorkTurn(
            text='[turn 3] person: "What is the weather, and is the shop open?"\n'
            'search_web "{\\"query\\": \\"weather Graz\\"}" went well\n'
            'search_web "{\\"query\\": \\"shop hours\\"}" went well\n'
            'search_web "{\\"query\\": \\"holidays\\"}" went well',
            successes=3,
        )
    },
    may_create=True,
)
_NEUTRAL = _converse("Please go on.", "> It is done.")


def _work(name: str, work: ShownWork, *, teaches: bool, asked: str = "") -> FitnessTask:
    """Make a review of work, which does or does not teach something."""

    def find(answer: ModelAnswer) -> str:
        lesson = read_lesson_of_work(answer.message.calls, work, ())
        if not teaches:
            return "it draws a lesson from nothing" if answer.message.calls else ""
        if lesson is None:
            return "there is no lesson that the product takes"
        return "" if asked in lesson.text.casefold() else f"the lesson lacks {asked}"

    return _make(name, "skills", make_request("", _NEUTRAL, (), work), Judged(find=find))


def _reflect(name: str, first: str, second: str, word: str) -> FitnessTask:
    """Make a reflection on what went wrong twice; the note has a word."""
    pair = Pair(
        first=Trace(turn_id=TurnId(1), text=first),
        second=Trace(turn_id=TurnId(2), text=second),
        skills={},
    )

    def find(answer: ModelAnswer) -> str:
        lesson = read_reflection(answer.message.calls, pair, ())
        if lesson is None:
            return "there is no note that the product takes"
        return "" if word in lesson.text.casefold() else f"the note lacks {word}"

    return _make(name, "judge", make_reflection_request("", pair), Judged(find=find))


def _merge(name: str, skills: dict[str, str], wanted: frozenset[str]) -> FitnessTask:
    """Make a look at skills that proposes to merge the wanted ones; none without any."""

    def find(answer: ModelAnswer) -> str:
        given = [read_object(call.arguments) or {} for call in answer.message.calls]
        groups = [frozenset(one["skills"]) for one in given if isinstance(one.get("skills"), list)]
        if len(groups) != len(given):
            return "a call can't be read"
        return "" if groups == ([wanted] if wanted else []) else "it merges the wrong skills"

    return _make(name, "judge", make_merge_request("", skills), Judged(find=find))


def _tidy(name: str, entries: Sequence[str], removed: Sequence[int]) -> FitnessTask:
    """Make a look at a memory that proposes to remove these entries, and no others."""
    known = [
        KnownEntry(target="user", text=text, at=_NOON - (20 - place) * _DAY)
        for place, text in enumerate(entries)
    ]
    request = make_tidy_request("", known, {"user": 4000})

    def find(answer: ModelAnswer) -> str:
        given = [read_object(call.arguments) or {} for call in answer.message.calls]
        found = sorted(
            one for each in given for one in each.get("remove") or () if type(one) is int
        )
        return "" if found == sorted(removed) else f"it removes {found or 'nothing'}"

    return _make(name, "judge", request, Judged(find=find))


def _make(name: str, area: Area, request: ModelRequest, check: Check) -> FitnessTask:
    return FitnessTask(name=name, area=area, request=request, checks=(check,))


def _skill(name: str, description: str, body: str) -> str:
    return f"---\nname: {name}\ndescription: {description}\n---\n{body}\n"


_TABLES = {
    "csv-to-table": _skill("csv-to-table", "Turn a CSV file into a table.", "Read it. Use pipes."),
    "table-from-csv": _skill("table-from-csv", "Make a table of a CSV file.", "Read it. Add rows."),
}
_APART = {
    "bread": _skill("bread", "Bake rye bread.", "Mix flour and water. Wait twelve hours. Bake."),
    "invoices": _skill("invoices", "Check an invoice.", "Sum the column amount. Compare."),
}

BACKGROUND_TASKS: tuple[FitnessTask, ...] = (
    _review("review-fact", _converse("I moved to Graz in May.", "> Welcome to Graz!"), "graz"),
    _review("review-nothing", _converse("What is the boiling point of water?", "> 100 °C.")),
    _review(
        "review-german",
        _converse("Ich bin Vegetarierin.", "> Gut zu wissen. Was kochst du?"),
        "vegetarierin",
    ),
    _review("review-passing", _converse("I am tired today.", "> Rest a little.")),
    _review(
        "review-wish",
        _converse("I prefer short answers.", "> All right, I keep it short."),
        "short answers",
    ),
    _review(
        "review-quoted",
        _converse('Translate: "I hate my job and live in Rome."', "> Ich hasse meinen Job."),
    ),
    _judge(
        "judge-stated",
        _converse("Meat is not for me, I live on vegetables.", "> Noted."),
        "Vegetarian",
        "yes",
    ),
    _judge(
        "judge-supposed",
        _converse("Say I lived in Rome, what would rent cost?", "> About 900."),
        "Lives in Rome",
        "no",
    ),
    _judge(
        "judge-taken-back",
        _converse("I'm a vegan now.", "> Good.", "April fools!"),
        "Is vegan",
        "no",
        "object",
    ),
    _work("skills-create", _WORK, teaches=True, asked="betrag"),
    _work("skills-nothing", _CHAT_WORK, teaches=False),
    _work("skills-small-talk", ShownWork(turns=_CHAT_WORK.turns), teaches=False),
    _work("skills-note", ShownWork(turns=_WORK.turns), teaches=True, asked="betrag"),
    _reflect(
        "judge-reflection",
        'person: "Write dates like 6.3.2026."\nassistant: "It is on 03/06/2026."\n'
        'person: "No, write dates like 6.3.2026!"',
        'person: "When is Easter?"\nassistant: "On 04/05/2026."\n'
        'person: "No, write dates like 6.3.2026!"',
        "date",
    ),
    _merge("judge-merge", _TABLES, frozenset(_TABLES)),
    _merge("judge-keep-apart", _APART, frozenset()),
    _tidy(
        "judge-duplicate",
        (
            "Lives in Graz.",
            "Has a green bike.",
            "Is allergic to nuts.",
            "Lives in Graz, in the Annenstraße.",
            "Plays the cello.",
        ),
        (0,),
    ),
)
