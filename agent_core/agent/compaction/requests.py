"""The values that a compaction is asked for with, and its outcome."""

from collections.abc import Collection
from dataclasses import dataclass

from agent_core.ids import PersonId, SessionId, TurnId
from agent_core.state.conversations.compactions import Compaction, CompactionReason
from agent_core.state.conversations.usage import ModelCall
from agent_core.transcript import Message


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionTarget:
    """The session to compact, its owner, the payer, and the session's running turn, if any."""

    session_id: SessionId
    owner_id: PersonId
    payer_id: PersonId
    turn_id: TurnId | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionRequest:
    """The reason and the extent of a compaction.

    `tokens` is the measured length of the whole request, `estimated` its plain estimate, and
    `threshold` the length to get below. `keep` is the length to aim at if cost is the only reason:
    then the newest turns stay whole. Above `limit`, messages are left out even without a summary;
    None leaves nothing out. `may_summarize` allows model calls. With `fills_gap`, only messages
    that an earlier compaction left out are summarized. `shown` are the keys of the images in the
    request; `hint` is what the person wants kept.
    """

    reason: CompactionReason
    tokens: int
    estimated: int
    threshold: int
    keep: int | None = None
    limit: int | None = None
    may_summarize: bool = True
    fills_gap: bool = False
    shown: Collection[str] = ()
    hint: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionResult:
    """The outcome of a compaction; if it gains nothing, `compaction` is None.

    `messages` is the conversation as calls see it now, and `paid` the usage of the calls.
    `summary_failed` means that a model was asked for a summary and returned none.
    """

    compaction: Compaction | None
    messages: tuple[Message, ...]
    paid: tuple[ModelCall, ...]
    summary_failed: bool
