"""Sentences about tests of skills, and about skills that go badly."""

from collections.abc import Sequence

from agent_core.localization import Text
from agent_core.skills.decline import Decline
from agent_core.skills.evaluation.record import Run

_COUNTS = Text(
    "With it, {done} of {count} of your earlier requests came out right; without it, {number} did."
)
_PASSED = Text("The skill {name} passed its test, so I use it on my own from now on. {counts}")
_FAILED = Text(
    "The skill {name} failed its test, so it stays a draft. {counts} You can still start it with"
    " /{name}."
)
_ROLLED_BACK = Text(
    "I returned the skill {name} to version {number}, because the newer one failed its test."
    " {counts} An owner can take this back with `talaria skills undo {id}`."
)
_WENT_BADLY = Text(
    "I returned the skill {name} to version {number}, because {count} of {total} uses of the newer"
    " one went badly. An owner can take this back with `talaria skills undo {id}`."
)
_DRAFT_AGAIN = Text(
    "The skill {name} is a draft again, because {count} of {total} uses went badly. You can still"
    " start it with /{name}. An owner can take this back with `talaria skills undo {id}`."
)


def describe_passed(name: str, runs: Sequence[Run]) -> str:
    """Tell that a draft passed its test."""
    return _PASSED(name=name, counts=_count(runs))


def describe_failed(name: str, runs: Sequence[Run]) -> str:
    """Tell that a draft failed its test."""
    return _FAILED(name=name, counts=_count(runs))


def describe_rolled_back(name: str, version: int, runs: Sequence[Run], row: int) -> str:
    """Tell that a text failed its test, and which version the skill has again."""
    return _ROLLED_BACK(name=name, number=version, counts=_count(runs), id=row)


def describe_decline(done: Decline) -> str:
    """Tell what was done about a skill that goes badly, and why."""
    sentence = _WENT_BADLY if done.version else _DRAFT_AGAIN
    return sentence(
        name=done.name,
        number=done.version,
        count=done.bad,
        total=done.good + done.bad,
        id=done.row.id,
    )


def _count(runs: Sequence[Run]) -> str:
    good = [run.arm for run in runs if run.passed]
    count = len({run.case for run in runs})
    return _COUNTS(done=good.count("with"), number=good.count("without"), count=count)
