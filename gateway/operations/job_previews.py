"""The preview of a job: its latest result, or a sample, on each platform."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from adapters.abilities import CanPreview, CanSendFiles
from adapters.contract import ChatAdapter
from agent_core.ids import TurnId
from agent_core.state.conversations import files, messages
from agent_core.state.engine.database import Connection
from agent_core.state.jobs import job_runs
from agent_core.state.jobs.jobs import Job
from gateway.errors import Declined
from gateway.jobs.outcomes import SILENCE
from gateway.operations.contract import Operation, OperationContext
from gateway.operations.job_types import JobPreview, PickJob, PlatformPreview, ResultFile
from gateway.operations.jobs import find_any, outline
from gateway.operations.wire import typed
from gateway.people.admission import API_PLATFORM
from gateway.texts import general
from gateway.texts import jobs as jobs_texts
from gateway.texts.job_results import sign_body, title_body

_LOOKED_THROUGH = 30
"""The newest runs that are searched for a result."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Result:
    """The result of a job: text and files; before the first run, a sample."""

    text: str
    files: tuple[ResultFile, ...] = ()
    is_sample: bool = False


async def preview(context: OperationContext, asked: PickJob) -> JobPreview:
    """Preview a job's latest result, or a sample of it, on each platform. Raises `Declined`."""

    def look(connection: Connection) -> tuple[JobPreview, _Result]:
        job = find_any(connection, asked.id)
        made = _find_made(connection, job)
        sample = made.is_sample
        return outline(connection, job, JobPreview, is_sample=sample, platforms=()), made

    outlined, made = await context.database.read(look)
    shown = context.scheduling.load_platforms()
    platforms = [
        _preview(name, adapter, made)
        for name, adapter in sorted(shown.items())
        if name != API_PLATFORM
    ]
    return replace(outlined, platforms=tuple(platforms))


def _find_made(connection: Connection, job: Job) -> _Result:
    """Return a job's latest result, or a sample. Raises `Declined` for a system job."""
    if job.kind == "message":
        return _Result(text=job.body)
    if job.person_id is None:
        raise Declined(f"Job {job.id} is a system job: it sends nothing.")
    for run in job_runs.list_of_job(connection, job_id=job.id, limit=_LOOKED_THROUGH):
        turn = job_runs.find_turn(connection, run_id=run.id)
        if run.state != "done" or turn is None:
            continue
        words = messages.answer_of_turn(connection, turn_id=turn[0], person_id=job.person_id)
        given = tuple(_list_files(connection, turn[0]))
        if given or words.strip() not in ("", SILENCE):
            words = "" if words.strip() == SILENCE else words
            # A command's output was recorded as it was sent, with the title.
            text = sign_body(job.title, job.id, words) if job.kind == "prompt" else words
            return _Result(text=text, files=given)
    sample = jobs_texts.describe_sample(job)
    if job.kind == "script":
        return _Result(text=title_body(job.title, sample), is_sample=True)
    return _Result(text=sign_body(job.title, job.id, sample), is_sample=True)


def _list_files(connection: Connection, turn_id: TurnId) -> Iterator[ResultFile]:
    for file in files.list_of_turn(connection, turn_id=turn_id):
        stored = files.find(connection, key=file.key)
        if stored:
            yield ResultFile(name=file.name, media_type=stored.media_type, size=len(stored.data))


def _preview(name: str, adapter: ChatAdapter, made: _Result) -> PlatformPreview:
    """Return the messages as a platform would show them, and their files."""
    text, given = made.text, list(made.files)
    if given and not isinstance(adapter, CanSendFiles):
        names = general.describe_unsent_files([file.name for file in given])
        text, given = f"{text}\n\n{names}", []
    parts = adapter.preview(text) if isinstance(adapter, CanPreview) else list(adapter.split(text))
    return PlatformPreview(name=name, messages=tuple(parts), files=tuple(given))


OPERATIONS: Mapping[str, Operation] = {"jobs.preview": typed(preview)}
