"""What the emulated Discord stores: messages, and answers to interactions."""

from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]
EPHEMERAL, LOADING, SUPPRESS_EMBEDS, COMPONENTS_V2 = 1 << 6, 1 << 7, 1 << 2, 1 << 15
SETTABLE = SUPPRESS_EMBEDS | 1 << 12 | COMPONENTS_V2
"""Bits of a message's flags; those a plain message may be sent with (1 << 12: silent)."""

IS_VOICE = 1 << 13
"""The flag of voice messages."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """A file to attach."""

    name: str
    data: bytes
    content_type: str = "application/octet-stream"
    description: str | None = None


@dataclass(kw_only=True)
class Message:
    """A message, with every text it has had."""

    id: int
    channel_id: int
    author_id: int
    content: str
    nonce: str | None = None
    reference: int | None = None
    """The message that it replies to."""
    components: list[Json] = field(default_factory=list)
    attachments: list[Json] = field(default_factory=list)
    embeds: list[Json] = field(default_factory=list)
    flags: int = 0
    allowed_mentions: Json | None = None
    """As the bot sent it; None if omitted."""
    mentions: list[int] = field(default_factory=list)
    """Who is pinged by it."""
    mention_roles: list[int] = field(default_factory=list)
    mention_everyone: bool = False
    reactions: dict[str, list[int]] = field(default_factory=dict)
    """Who reacted, by emoji, in order."""
    history: list[str] = field(default_factory=list)
    edited_at: float | None = None
    interaction: Json | None = None
    """`interaction_metadata`, if it answers one."""
    system_type: int | None = None
    """Type of a system message: 6 a pin, 7 a join, 18 a new thread."""

    @property
    def type(self) -> int:
        """As Discord numbers kinds of messages."""
        if self.system_type is not None:
            return self.system_type
        if self.interaction is not None:
            return 20
        return 0 if self.reference is None else 19

    @property
    def is_ephemeral(self) -> bool:
        """Only one person sees it, and no history lists it."""
        return bool(self.flags & EPHEMERAL)

    @property
    def is_loading(self) -> bool:
        """`... is thinking`: deferred and not filled in yet."""
        return bool(self.flags & LOADING)

    def buttons(self) -> dict[str, Json]:
        """Its components to press or choose from, by custom id."""
        found: dict[str, Json] = {}
        rows = list(self.components)
        while rows:
            part = rows.pop(0)
            rows += part.get("components", [])
            if "custom_id" in part and not part.get("disabled"):
                found[part["custom_id"]] = part
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One response of the bot to an interaction."""

    kind: str
    """callback, follow_up, edit, delete."""
    type: int | None = None
    """Of a callback: 4 message, 5 deferred message, 6 deferred update, 7 update, 9 modal."""
    flags: int = 0
    content: str | None = None
    components: tuple[Json, ...] = ()
    after: float
    """Seconds since the interaction."""
    message_id: int | None = None


@dataclass(kw_only=True)
class Interaction:
    """A slash command or button press, and its answers."""

    id: int
    token: str
    kind: str
    """command or component."""
    user_id: int
    channel_id: int
    name: str
    """Of the command, or the custom id."""
    message_id: int | None = None
    """The message with the button."""
    at: float
    """On the emulator's monotonic clock."""
    original_id: int | None = None
    """The message that `@original` is."""
    answers: list[Answer] = field(default_factory=list)

    @property
    def type(self) -> int | None:
        """How it was called back, if it was."""
        return next((a.type for a in self.answers if a.kind == "callback"), None)
