"""Requests and answers of the operations on jobs. Quick to import."""

from dataclasses import dataclass, field
from typing import Literal

from agent_core.ids import JobId
from agent_core.schedule.job_fields import JobFields

JobVerb = Literal["pause", "resume", "run", "delete", "restore", "undo"]
NO_NUMBER = "Give the number of a job; `talaria jobs` lists all jobs."
NO_COMMAND = "Put the command and its arguments after --script."


@dataclass(frozen=True, slots=True, kw_only=True)
class ListJobs:
    """Asks for the jobs of everyone, of one person, or of the system."""

    person: str | None = None
    system: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PickJob:
    """Names a job."""

    id: JobId = field(metadata={"refusal": NO_NUMBER})


@dataclass(frozen=True, slots=True, kw_only=True)
class ActOnJob(PickJob):
    """Names a job to pause, resume, run, delete or restore, or whose last change to undo.

    Repeats of a run with the same `key`, or a double press of a button (`is_press`), run it once.
    An undo may name a `version`; None is the last one.
    """

    key: str | None = None
    is_press: bool = False
    version: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AddJob(JobFields):
    """Describes a new job of a person. Repeats with the same `key` add it once.

    `when` is the time in words, such as "every monday at 19:00". A script has `words` and no text.
    """

    person: str
    when: str | None = None
    words: tuple[str, ...] | None = field(default=None, metadata={"refusal": NO_COMMAND})
    key: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeJob(JobFields):
    """Describes a change of a job. A `kind` must be that of the job; a script has `words`.

    `when` is the new time in words, as for a new job.
    """

    id: JobId = field(metadata={"refusal": NO_NUMBER})
    when: str | None = None
    words: tuple[str, ...] | None = field(default=None, metadata={"refusal": NO_COMMAND})


@dataclass(frozen=True, slots=True, kw_only=True)
class JobOutline:
    """A job in short. `meaning` and `coming` describe its schedule and its next runs.

    `ways` are sentences about its targets and options. Only system jobs have a `last` run.
    """

    id: JobId
    person: str | None
    room: str | None
    kind: str
    title: str
    meaning: str
    coming: str
    next_at: int | None
    zone: str
    ways: tuple[str, ...]
    state: str
    reason: str
    last: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedJob:
    """Shows a new job before it exists: its schedule in words, and its next times in ms UTC.

    `quiet` says what becomes of it in quiet hours or on days off; "" if none are near.
    """

    meaning: str
    times: tuple[int, ...]
    zone: str
    quiet: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedJobs:
    """The jobs that were asked for."""

    jobs: tuple[JobOutline, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownJob(JobOutline):
    """A job with its text, or its command as it would be typed, and lines about its runs."""

    does: str
    runs: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedJob(JobOutline):
    """A job after a change; `note` names the jobs that wait for it in vain."""

    note: str = ""
    address: str = ""
    """Its new web address, if it was asked for one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultFile:
    """A file of a job's result, with its size in bytes."""

    name: str
    media_type: str
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PlatformPreview:
    """A job's result as a platform would show it."""

    name: str
    messages: tuple[str, ...]
    files: tuple[ResultFile, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class JobPreview(JobOutline):
    """A job with its latest result, or a sample, on each platform."""

    is_sample: bool
    platforms: tuple[PlatformPreview, ...]
