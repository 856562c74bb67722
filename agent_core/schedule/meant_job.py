"""Find the job that a call names, and judge whether the person means it."""

import re
from collections.abc import Sequence

from agent_core.errors import ToolArgumentError
from agent_core.ids import JobId
from agent_core.localization import Text
from agent_core.schedule.confirmations import NO, Confirmation
from agent_core.shared_words import list_content, share_word
from agent_core.state.conversations.questions import Choice
from agent_core.state.jobs.jobs import Job
from agent_core.transcript import quote

_MOST = 5
_LABEL = 50
_ALL = frozenset(("all", "both", "everything", "alles", "beide", "sämtliche"))
"""Words that mean each of the jobs, and name none."""
_WHICH, _NONE = Text("Which one do you mean?"), Text("None of these")


def find_named(words: str, seen: Sequence[Job]) -> JobId:
    """Return the number of the only job with words of its title or text.

    Raises `ToolArgumentError` with the jobs that there are.
    """
    exact = [job for job in seen if job.title.strip().casefold() == words.strip().casefold()]
    fitting = exact or [job for job in seen if _fits(job, words)]
    if len(fitting) == 1:
        return fitting[0].id
    listed = "; ".join(f"{job.id}. {quote(job.title, _LABEL)}" for job in fitting or seen)
    count = "several jobs fit" if fitting else "no job fits"
    raise ToolArgumentError(f"{count} {quote(words, _LABEL)}; there are: {listed or 'none'}")


def is_meant(job: Job, others: Sequence[Job], said: str, before: str, *, is_sure: bool) -> bool:
    """Return whether a request fits a job; a model may have named a wrong number.

    `said` are the person's words in the turn. `before` are the words of both sides before it, to
    which "that one" refers; they count only if the request itself names none of the jobs. With
    `is_sure`, a request that names something else than any job fits, too.
    """
    names_nothing = all(word.isdigit() or word in _ALL for word in list_content(said))
    if names_nothing or _fits(job, said):
        return True
    if any(_fits(other, said) for other in others if other.id != job.id):
        return False
    number = rf"(?<![\d:.]){job.id}(?![\d:]|[.]\d)"
    return is_sure or re.search(number, said) is not None or _fits(job, before)


def ask_which(job: Job, others: Sequence[Job], said: str) -> Confirmation:
    """Ask which job is meant; the keys are the numbers of the jobs, or `NO` for none of them."""
    likely = sorted(others, key=lambda one: (not _fits(one, said), one.id != job.id))
    choices = [Choice(key=str(one.id), label=_name(one)) for one in likely[:_MOST]]
    return Confirmation(text=_WHICH(), choices=(*choices, Choice(key=NO, label=_NONE())))


def read_choice(choice: Choice) -> JobId | None:
    """Return the number of the chosen job; None for none of them."""
    return None if choice.key == NO else JobId(int(choice.key))


def _fits(job: Job, words: str) -> bool:
    return share_word(f"{job.title} {job.body}", words)


def _name(job: Job) -> str:
    return job.title if len(job.title) <= _LABEL else f"{job.title[: _LABEL - 1]}…"
