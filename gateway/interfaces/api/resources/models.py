"""The bodies of the API's resources. Times are milliseconds since the epoch, UTC."""

from typing import TYPE_CHECKING, get_type_hints

from pydantic import BaseModel, create_model

from agent_core.schedule.job_fields import DECLARATIONS
from agent_core.state.jobs.jobs import Options


class AccountModel(BaseModel):
    """An account of the person."""

    platform: str
    display_name: str


class PersonModel(BaseModel):
    """A person; `slug` names them in commands and folders."""

    slug: str
    name: str
    role: str
    time_zone: str | None
    language: str | None
    accounts: list[AccountModel]


class PersonList(BaseModel):
    """A page of those who may talk to this Talaria, the newest first."""

    people: list[PersonModel]
    next: int | None


class ConversationModel(BaseModel):
    """A conversation; `title` comes from its newest session. Only a fork can be removed."""

    id: int
    title: str
    is_direct: bool
    created_at: int
    last_at: int | None
    is_fork: bool
    removed_at: int | None


class ConversationPage(BaseModel):
    """Conversations, newest first. `next` is the `before` of the next page."""

    conversations: list[ConversationModel]
    next: int | None


class MessageModel(BaseModel):
    """A message of the person or of the assistant; `role` is `user` or `assistant`."""

    id: int
    turn_id: int
    role: str
    text: str
    platform: str
    created_at: int


class MessagePage(BaseModel):
    """Messages, newest first. `next` is the `before` of the next page."""

    messages: list[MessageModel]
    next: int | None


class SentMessage(BaseModel):
    """A message over the API. `state` is `waiting`, `failed`, or the state of its turn."""

    id: str
    state: str
    turn_id: int | None
    answer: str | None


class HitModel(BaseModel):
    """A message that was found, with the words around the match."""

    id: int
    role: str
    platform: str
    said_at: int
    text: str
    score: float


class RecallModel(BaseModel):
    """The best hits, and the number of messages with a word of the query."""

    hits: list[HitModel]
    count: int


class TurnModel(BaseModel):
    """A turn and how it ended."""

    id: int
    conversation_id: int
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


class FileModel(BaseModel):
    """A file that a turn made."""

    number: int
    name: str


class TurnDetail(TurnModel):
    """A turn with its words, steps and cost; `micro_dollars` is null if no price is known."""

    request: str
    answer: str
    steps: list[StepModel]
    files: list[FileModel]
    calls: int
    input_tokens: int
    output_tokens: int
    micro_dollars: int | None


class MemoryModel(BaseModel):
    """The memory of the person, as in USER.md and MEMORY.md."""

    user: list[str]
    memory: list[str]


class ChangeModel(BaseModel):
    """A change of memory, its author and its evidence; `undoes` is the change that it reverts."""

    id: int
    target: str
    operation: str
    before: str | None
    after: str | None
    actor: str
    evidence: str
    undoes: int | None
    at: int


class LedgerModel(BaseModel):
    """Changes of memory, newest first. `next` is the `before` of the next page."""

    changes: list[ChangeModel]
    next: int | None


class ArchiveModel(BaseModel):
    """A note of the archive."""

    id: int
    text: str
    tags: list[str]
    created_at: int
    updated_at: int


class ArchivePage(BaseModel):
    """Notes, newest or best first. `next` is the `offset` of the next page."""

    entries: list[ArchiveModel]
    next: int | None


class BlockModel(BaseModel):
    """A shared list that the person sees."""

    name: str
    description: str
    is_read_only: bool
    entries: list[str]


class BlockList(BaseModel):
    """The shared lists that the person sees."""

    blocks: list[BlockModel]


class ChoiceModel(BaseModel):
    """A possible answer."""

    key: str
    label: str


class QuestionModel(BaseModel):
    """An open question to the person."""

    id: int
    turn_id: int | None
    kind: str
    text: str
    platform: str
    choices: list[ChoiceModel]
    expires_at: int


class QuestionList(BaseModel):
    """The questions that wait for the person's answer, newest first."""

    questions: list[QuestionModel]


class UndoneModel(BaseModel):
    """The id of the change that undoes another one."""

    id: int


class ApprovalModel(BaseModel):
    """A permission for tool calls, which then need no question."""

    id: int
    scope: str
    allows: str
    created_at: int


class ApprovalList(BaseModel):
    """The approvals of the person, oldest first."""

    approvals: list[ApprovalModel]


class WorkspaceFile(BaseModel):
    """A file or a folder of a workspace; `changed_at` is in milliseconds UTC."""

    name: str
    is_folder: bool
    size: int
    changed_at: int


class WorkspaceFolder(BaseModel):
    """A folder of a workspace: folders first, by name."""

    files: list[WorkspaceFile]


class AddedFile(BaseModel):
    """Says where a new file is; another file may have had its name."""

    path: str


class SkillModel(BaseModel):
    """A skill; `origin` is where it is stored."""

    name: str
    origin: str
    description: str


class SkillDetail(SkillModel):
    """A skill with its text."""

    body: str


class SkillList(BaseModel):
    """The skills that can be used."""

    skills: list[SkillModel]


class JobModel(BaseModel):
    """A job."""

    id: int
    kind: str
    title: str
    timing: str
    zone: str
    state: str
    next_at: int | None


if TYPE_CHECKING:
    _JobWithOptions = JobModel
else:  # the options that a request may set, as they are stored
    _JobWithOptions = create_model(
        "_JobWithOptions",
        __base__=JobModel,
        **{
            one.option.name: (get_type_hints(Options)[one.option.name], ...)
            for one in DECLARATIONS
            if one.option and one.api is not None
        },
    )


class JobDetail(_JobWithOptions):
    """A job with its words or command; `reason` says why it is paused."""

    body: str
    reason: str


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
    """The model calls of one purpose to one model; `micro_dollars` is null if no price is known."""

    purpose: str
    model: str
    calls: int
    input_tokens: int
    output_tokens: int
    micro_dollars: int | None


class UsageModel(BaseModel):
    """Usage since a moment."""

    since: int
    lines: list[UsageLineModel]
