"""Find the job that a call names, and judge whether the person means it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from agent_core.errors import ToolArgumentError
from agent_core.ids import JobId
from agent_core.localization import Text
from agent_core.schedule.confirmations import NO, Confirmation
from agent_core.shared_words import list_content, share_word
from agent_core.state.conversations.questions import Choice
from agent_core.state.jobs.jobs import Job
from agent_core.transcript import flatten, quote

_MOST = 5
_LABEL = 50
_ALL = frozenset(("all", "both", "everything", "alles", "beide", "sämtliche"))
"""Words that mean each of the jobs, and name none."""
_BARE_ORDER = re.compile(
    r"(?:(?:please|bitte|ok|okay|hey|can you|could you|kannst du|könntest du)[ ,]+)*"
    r"(?:cancel|delete|remove|drop|stop|pause|lösche?|streiche?|entferne?|pausiere?)"
    r"(?P<names>(?: [\w'’-]+){1,6})[.!?]*",
    re.IGNORECASE,
)
"""An order that says nothing but what is to go."""
_WORD = re.compile(r"\w+")
_TIMES = """
morning noon afternoon evening night monday tuesday wednesday thursday friday saturday sunday
morgen mittag nachmittag abend nacht montag dienstag mittwoch donnerstag freitag samstag sonntag
"""
_PARTS = frozenset(_TIMES.split())
"""Words for times, which tell one title from another: the morning run from the evening run."""
_WHICH, _NONE = Text("Which one do you mean?"), Text("None of these")
_NO_SUCH = Text("There is no reminder “{words}”. Do you mean one of these?")


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedJobs:
    """The jobs that words may name. `is_sure` if they name all of the words, and are one."""

    jobs: tuple[Job, ...]
    is_sure: bool


def find_named(words: str, seen: Sequence[Job]) -> NamedJobs:
    """Find the jobs that have the words as their title, all of them, or else some of them.

    Raises `ToolArgumentError` with the jobs that there are, if none has any of the words.
    """
    exact = [job for job in seen if job.title.strip().casefold() == words.strip().casefold()]
    found = exact or [job for job in seen if _has_all(job, words)]
    fitting = found or [job for job in seen if _fits(job, words)]
    if not fitting:
        listed = list_titles(seen) or "none"
        raise ToolArgumentError(f"no job fits {quote(words, _LABEL)}; there are: {listed}")
    return NamedJobs(jobs=tuple(fitting), is_sure=len(found) == 1)


def list_titles(found: Sequence[Job]) -> str:
    """List the numbers and titles of jobs, for the model."""
    return "; ".join(f"{job.id}. {quote(job.title, _LABEL)}" for job in found)


def is_meant(job: Job, others: Sequence[Job], said: str, before: str, *, is_sure: bool) -> bool:
    """Return whether a request fits a job; a model may have named a wrong number.

    `said` are the person's words in the turn. `before` are the words of both sides before it, to
    which "that one" refers; they count only if the request itself names none of the jobs. With
    `is_sure`, a request that names something else than any job fits, too. Otherwise, a bare order
    such as "cancel pay rent" fits only a job with all of its words.
    """
    named = _list_names(said)
    if not named:
        return True
    if _fits(job, said):
        bare = None if is_sure else _BARE_ORDER.fullmatch(said.strip())
        return not bare or _has_all(job, bare["names"]) or _has_number(job, said)
    if any(_fits(other, said) for other in others if other.id != job.id):
        return False
    return is_sure or _has_number(job, said) or _fits(job, before)


def ask_which(job: Job, others: Sequence[Job], said: str) -> Confirmation:
    """Ask which job is meant; the keys are the numbers of the jobs, or `NO` for none of them."""
    likely = sorted(others, key=lambda one: (not _fits(one, said), one.id != job.id))
    choices = [Choice(key=str(one.id), label=_name(one)) for one in likely[:_MOST]]
    return Confirmation(text=_WHICH(), choices=(*choices, Choice(key=NO, label=_NONE())))


def ask_near(words: str, found: NamedJobs) -> Confirmation:
    """Ask which of several jobs is meant, or whether one that only resembles the words is."""
    choices = [Choice(key=str(one.id), label=_name(one)) for one in found.jobs[:_MOST]]
    has_all = all(_has_all(one, words) for one in found.jobs)
    text = _WHICH() if has_all else _NO_SUCH(words=flatten(words, _LABEL))
    return Confirmation(text=text, choices=(*choices, Choice(key=NO, label=_NONE())))


def read_choice(choice: Choice) -> JobId | None:
    """Return the number of the chosen job; None for none of them."""
    return None if choice.key == NO else JobId(int(choice.key))


def _fits(job: Job, words: str) -> bool:
    return share_word(f"{job.title} {job.body}", words)


def _has_all(job: Job, words: str) -> bool:
    """Return whether a job has each word that names something, and no other part of the day."""
    named = _list_names(words)
    parts, own = (_PARTS & set(_WORD.findall(one.casefold())) for one in (words, job.title))
    is_other = own and not parts <= own
    return bool(named) and not is_other and all(_fits(job, word) for word in named)


def _list_names(words: str) -> list[str]:
    return [word for word in list_content(words) if not word.isdigit() and word not in _ALL]


def _has_number(job: Job, said: str) -> bool:
    return re.search(rf"(?<![\d:.]){job.id}(?![\d:]|[.]\d)", said) is not None


def _name(job: Job) -> str:
    return job.title if len(job.title) <= _LABEL else f"{job.title[: _LABEL - 1]}…"
