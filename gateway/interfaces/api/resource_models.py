"""The bodies of the API's resources. Times are milliseconds since the epoch, UTC."""

from pydantic import BaseModel


class AccountModel(BaseModel):
    """An account of the person."""

    platform: str
    display_name: str


class PersonModel(BaseModel):
    """The person of the token."""

    name: str
    role: str
    time_zone: str | None
    language: str | None
    accounts: list[AccountModel]


class TurnModel(BaseModel):
    """A turn and how it ended."""

    id: int
    platform: str
    state: str
    reason: str
    started_at: int
    ended_at: int | None


class TurnPage(BaseModel):
    """Turns, newest first. `next` is the `before` of the next page."""

    turns: list[TurnModel]
    next: int | None


class StepModel(BaseModel):
    """A tool call; `outcome` is None while it is unknown."""

    tool: str
    outcome: str | None
    is_error: bool


class TurnDetail(TurnModel):
    """A turn with its words, its steps and its cost."""

    request: str
    answer: str
    steps: list[StepModel]
    calls: int
    input_tokens: int
    output_tokens: int
    micro_dollars: int


class MemoryModel(BaseModel):
    """The memory of the person, as in USER.md and MEMORY.md."""

    user: list[str]
    memory: list[str]


class ChangeModel(BaseModel):
    """A change of memory with its author and its evidence."""

    id: int
    target: str
    operation: str
    before: str | None
    after: str | None
    actor: str
    evidence: str
    at: int


class LedgerModel(BaseModel):
    """The newest changes of memory."""

    changes: list[ChangeModel]


class JobModel(BaseModel):
    """A job."""

    id: int
    kind: str
    title: str
    timing: str
    zone: str
    state: str
    next_at: int | None


class JobList(BaseModel):
    """The jobs of the person."""

    jobs: list[JobModel]


class RunModel(BaseModel):
    """A run of a job."""

    id: int
    slot: str
    state: str
    reason: str
    due_at: int
    started_at: int | None
    ended_at: int | None


class RunList(BaseModel):
    """The newest runs of a job."""

    runs: list[RunModel]


class UsageLineModel(BaseModel):
    """The model calls of one purpose to one model."""

    purpose: str
    model: str
    calls: int
    input_tokens: int
    output_tokens: int
    micro_dollars: int


class UsageModel(BaseModel):
    """Usage since a moment."""

    since: int
    lines: list[UsageLineModel]
