"""The contract of operations: their context, arguments and answers."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from agent_core.state.people import deeds, people
from agent_core.state.people.deeds import NewDeed
from gateway.errors import Declined, Mistaken
from gateway.texts import general

if TYPE_CHECKING:
    from adapters.contract import ChatAdapter
    from agent_core.agent.id_allocator import IdAllocator
    from agent_core.agent.named.editor import AgentEditor
    from agent_core.agent.prompt.prompt_cache import PromptCache
    from agent_core.memory.store import MemoryStore
    from agent_core.models.contract import Model, ModelAnswer
    from agent_core.models.profiles import Profiles
    from agent_core.schedule.almanac import CalendarReader
    from agent_core.schedule.job_editor import JobRules
    from agent_core.state.engine.database import Connection, Database
    from agent_core.state.people.deeds import Doer
    from agent_core.state.people.people import Account, Person
    from agent_core.state.queues.outbox import OutboxRow
    from gateway.background.home_skills import HomeSkills
    from gateway.operations.tools_types import ToolOffer
    from gateway.outbound.webhooks.rules import WebhookRules
    from gateway.people.data_erase import DataErase
    from gateway.people.data_export import DataExport
    from gateway.people.data_forget import DataForget
    from gateway.people.data_requests import DataRequest
    from gateway.people.merging import AccountMerging

Answer = Mapping[str, Any]
"""Values that JSON can hold."""

_MOST_LISTED = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class SchedulingContext:
    """The scheduling context: the time zones of people, and the limits of jobs."""

    zone_of: Callable[["Person"], str]
    rules: "JobRules"
    wake: Callable[[], None]
    """Called after a write that may make a job due earlier."""
    load_platforms: "Callable[[], Mapping[str, ChatAdapter]]"
    """Returns the enabled platforms by name. Raises `StartError`."""
    hooks: str
    """The address of webhooks without their secret; "" without an HTTP server."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CalledModel:
    """The configured models, for operations that call one."""

    model: "Model"
    name: str
    """The main model's name."""
    price: "Callable[[ModelAnswer], ModelAnswer]"
    """Returns an answer with its cost, if the price is known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PreferenceContext:
    """Lists what people may choose: the models by name, and spoken answers if a program speaks."""

    models: Sequence[str]
    can_speak: bool


class OperationContext(Protocol):
    """The services of operations: a running gateway's, or those of a home without one.

    A home's services are made when an operation first uses them, so that a list appears at once.
    Making them may read the settings, which raises `StartError`.
    """

    @property
    def database(self) -> "Database":
        """The open database."""

    @property
    def actor(self) -> str:
        """The author of the changes: `house` for the command line, `person` otherwise."""

    @property
    def doer(self) -> "Doer | None":
        """The person whose deeds `/undo` takes back; None for the command line."""

    @property
    def agents(self) -> "AgentEditor":
        """The named agents and teams, and what changes them."""

    @property
    def load_ids(self) -> "Callable[[], Awaitable[IdAllocator]]":
        """Returns what numbers turns and sessions, also those of running chats."""

    @property
    def memory(self) -> "MemoryStore":
        """The memory store; it serialises all changes."""

    @property
    def exports(self) -> "DataExport":
        """Exports of people's data."""

    @property
    def erasing(self) -> "DataErase":
        """Erasure of people."""

    @property
    def forgetting(self) -> "DataForget":
        """Removal of words."""

    def put_request(
        self, connection: "Connection", request: "DataRequest", occasion: str, /
    ) -> None:
        """Store a confirmed data request in the transaction; a running gateway carries it out."""

    @property
    def merging(self) -> "AccountMerging":
        """Links and unlinks accounts."""

    def is_admitted(self, account: "Account") -> bool:
        """Return whether an account may talk in its own right, and not only as a linked one."""

    @property
    def scheduling(self) -> SchedulingContext:
        """The time zone, limits and addresses of jobs."""

    @property
    def preferences(self) -> PreferenceContext:
        """Return what people may choose in their settings."""

    @property
    def calendars(self) -> "CalendarReader":
        """Reads the calendars of days off that jobs name."""

    @property
    def skills(self) -> "HomeSkills":
        """The skills of the home directory."""

    @property
    def tools(self) -> "ToolOffer":
        """The tools of direct conversations."""

    @property
    def pages(self) -> str:
        """The address of the console's pages; "" without an HTTP server."""

    @property
    def webhooks(self) -> "WebhookRules":
        """The limits of webhooks."""

    @property
    def prompt_cache(self) -> "PromptCache | None":
        """Builds a conversation's current prompt; None without settings."""

    async def open_profiles(self) -> "Profiles":
        """Return what is known of models."""

    def call_models(self, profiles: "Profiles") -> "AbstractAsyncContextManager[CalledModel]":
        """Open the models, which note in `profiles` what they learn. Raises `StartError`."""

    def now(self) -> int:
        """Return the time, in milliseconds UTC."""

    def enqueue(self, rows: "Sequence[OutboxRow]", /) -> None:
        """Deliver new outbox rows, if a gateway runs."""

    def forget_known(self) -> None:
        """Drop caches after people or their memory have changed."""

    def wake_webhooks(self) -> None:
        """Wake the webhooks after a write that gives them something to send."""


Operation = Callable[[OperationContext, Answer], Awaitable[Answer]]
"""Performs one operation. Raises `Declined` with a sentence, and `StoreError`."""


def note_deed(
    context: OperationContext,
    connection: "Connection",
    *,
    undo: str,
    redo: str,
    did: str,
) -> None:
    """Record what a person did by an operation, for `/undo`; see `Deed`.

    A form that takes back the newest deed, such as Undo on a page, does no new one.
    """
    if context.doer:
        deed = NewDeed(undo=undo, redo=redo, did=did)
        deeds.record(connection, context.doer, deed, pressed=(redo,), now=context.now())


def check_limit(limit: int) -> int:
    """Return a requested number of rows. Raises `Declined` if it is out of bounds."""
    if not 1 <= limit <= _MOST_LISTED:
        raise Declined(general.LIMIT_WRONG(most=_MOST_LISTED))
    return limit


def find_person(connection: "Connection", name: str) -> "Person":
    """Return the person with a folder name, or the only one with this name; upper case is equal.

    Raises `Mistaken`.
    """
    wanted = name.strip().casefold()
    if found := people.find_by_slug(connection, slug=wanted):
        return found
    everybody = people.list_all(connection)
    for person in everybody:
        if person.slug.casefold() == wanted:
            return person
    named = [person for person in everybody if person.name.casefold() == wanted]
    if len(named) == 1:
        return named[0]
    if named:
        folders = ", ".join(person.slug for person in named)
        raise Mistaken(general.SEVERAL_PEOPLE(name=name, names=folders))
    raise Mistaken(general.NO_PERSON(name=name))
