"""The services that the inbound router needs."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from agent_core.ids import PersonId
from agent_core.state.engine.database import Database
from agent_core.state.people.people import Person
from gateway.commands.registry import SlashCommand
from gateway.outbound.questions import Questions
from gateway.people.identity import Identity
from gateway.people.linking import Linking
from gateway.people.onboarding import Onboarding
from gateway.people.room_consent import RoomConsent
from gateway.people.rooms import Rooms
from gateway.queued_message import QueuedMessage
from gateway.turns.attachment_stage import AttachmentStage
from gateway.turns.lanes import Lanes


@dataclass(frozen=True, slots=True, kw_only=True)
class RouterDeps:
    """The services that events are handed to."""

    database: Database
    identity: Identity
    rooms: Rooms
    consent: RoomConsent
    linking: Linking
    onboarding: Onboarding
    questions: Questions
    lanes: Lanes
    attachments: AttachmentStage
    zone_of: Callable[[Person], str]
    """Returns the IANA time zone of a person."""
    hear: Callable[[QueuedMessage], Awaitable[None]]
    """Starts the jobs that wait for a message. Raises `StoreError`."""
    find_command: Callable[[str, PersonId | None], Awaitable[SlashCommand | None]]
    """Returns a command that comes and goes: the prompt of an MCP server, or a skill.

    Without a person, prompts that only one person's account sees are not found.
    """
    prepare_model: Callable[[], None]
    """Loads what the first model call needs, in the background; called when a call is likely."""
    wake_jobs: Callable[[], None]
    """Called after a write that may make a job due earlier."""
