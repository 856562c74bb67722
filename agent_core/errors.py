"""Errors of the core.

CoreError
├── StoreError             the database refuses an operation
│   ├── StoreBusy          another process uses this home
│   ├── StoreFull          the disk is full; nothing was written
│   ├── StoreDamaged       a check of the file or of a row failed
│   ├── StoreVanished      somebody deleted, replaced or changed the file while it was open
│   └── StoreTooNew        a newer version of Talaria wrote this database
├── ModelError             a model call gave no complete answer
│   ├── ModelBusy          overloaded or rate limited; try again
│   │   └── ModelUnreachable  no answer at all; try again
│   ├── ModelInterrupted   the answer stopped while it streamed; try again
│   ├── ModelRejected      this request was refused; repeating it would fail, too
│   │   ├── ModelDeclined     a content filter refused it
│   │   └── ModelUnsupported  its form was refused, whatever it says
│   ├── ModelOverflow      the input is longer than the model can read
│   ├── ModelUnknown       the provider has no model of this name
│   │   └── ModelMisplaced     no model server answers at the configured address
│   └── ModelDenied        the key is wrong, has no access, or is out of credit
├── ExternalMemoryError          an external memory refused an operation
│   ├── ExternalMemoryUnavailable  unreachable, slow, overloaded or unauthorized; try again
│   ├── ExternalMemoryBroken       only this request failed; repeating it may fail, too
│   ├── ExternalMemoryRefused      this request was refused; repeating it would fail, too
│   └── ExternalMemoryUnsupported  this server lacks the function
├── SkillMissing           there is no skill of that name
├── SkillBroken            a skill can't be read
├── SkillConflict          a skill is needed or has changed, so it can't be moved or restored
├── AgentBroken            there is no such named agent, or its files are wrong
├── QuotaExceeded          a daily quota is used up
├── BackendUnavailable     commands can't run now: a part is missing or lost
│   └── BackendCrowded     other commands of the workspace use up its processes
├── WorkspaceError         a file or folder of a workspace can't be used
├── WorkInProgress         a person's work is running: try again in a moment
├── LastOwner              the operation would remove the last owner
└── ToolArgumentError      the model called a tool with invalid arguments
"""

import shlex
import sys
from dataclasses import dataclass
from importlib.util import find_spec


class CoreError(Exception):
    """Root of the core's errors. The text is a plain sentence."""


class StoreError(CoreError):
    """The database refuses an operation."""


class StoreBusy(StoreError):
    """Another process uses this home; the text names its process id."""


class StoreFull(StoreError):
    """The disk is full. The transaction was rolled back."""


class StoreDamaged(StoreError):
    """The file or a row is damaged."""


class StoreVanished(StoreError):
    """The files of an open database were deleted, replaced or changed by somebody else."""

    def __init__(self, message: str, *, is_readable: bool) -> None:
        """`is_readable`: the open connections still read everything that was stored."""
        super().__init__(message)
        self.is_readable = is_readable


class StoreTooNew(StoreError):
    """The database has a schema version that this program does not know."""


class ModelError(CoreError):
    """A model call gave no complete answer."""


class ModelBusy(ModelError):
    """The provider is overloaded or limits the rate."""

    def __init__(self, message: str, *, retry_after: float | None = None) -> None:
        """`retry_after` is in seconds, if the provider gave one."""
        super().__init__(message)
        self.retry_after = retry_after


class ModelInUse(ModelBusy):
    """The server of this machine answers people now; a background call has to come again."""

    def __init__(self, retry_after: float) -> None:
        """`retry_after` is in seconds."""
        super().__init__("the model server answers people first", retry_after=retry_after)


class ModelUnreachable(ModelBusy):
    """The provider gives no answer."""


class ModelInterrupted(ModelError):
    """The stream ended before the answer did."""


class ModelRejected(ModelError):
    """The provider refuses this request as it stands."""


class ModelDeclined(ModelRejected):
    """A content filter of the provider refuses something in this request."""


class ModelUnsupported(ModelRejected):
    """The provider takes no request of this form: a parameter or a tool, not what was said."""


class ModelOverflow(ModelError):
    """The input does not fit the model's window."""


class ModelUnknown(ModelError):
    """The provider has no model of this name."""


class ModelMisplaced(ModelUnknown):
    """No model server answers at the configured address; the text names one that does."""


class ModelDenied(ModelError):
    """The key is wrong, or lacks access or credit."""


class ExternalMemoryError(CoreError):
    """An external memory refused an operation."""


class ExternalMemoryUnavailable(ExternalMemoryError):
    """The server is unreachable, slow, overloaded, or denies access."""

    def __init__(self, message: str, *, retry_after: float | None = None) -> None:
        """`retry_after` is in seconds, if the provider gave one."""
        super().__init__(message)
        self.retry_after = retry_after


class ExternalMemoryBroken(ExternalMemoryError):
    """A request failed; others may succeed."""


class ExternalMemoryRefused(ExternalMemoryError):
    """The server refuses this request as it stands."""


class ExternalMemoryUnsupported(ExternalMemoryError):
    """The server lacks the function: it is older, or configured without it."""


class SkillMissing(CoreError):
    """There is no skill of that name; if its new place or state is known, the text names it."""


class SkillBroken(CoreError):
    """A skill can't be read; the text says why."""


class SkillConflict(CoreError):
    """A skill can't be moved or restored; the text says why, as a sentence."""


class AgentRefused(CoreError):
    """A change of a named agent or a team is refused; the text is a clause that says why."""


class AgentBroken(CoreError):
    """A named agent does not exist, or its files are wrong; the text is part of a sentence."""


class AgentMissing(AgentBroken):
    """There is no named agent of that name. `near` is a similar name, or ""."""

    def __init__(self, name: str, near: str) -> None:
        """Compose the text from the names."""
        super().__init__(f"there is no agent {name}" + (f" (did you mean {near}?)" if near else ""))
        self.name = name
        self.near = near


@dataclass(frozen=True, slots=True, kw_only=True)
class ReachedQuota:
    """The daily quota that has no room for a call.

    `subject` is "person" or "deployment". `unit` is "money" or "tokens"; `limit` is in
    micro-dollars for money, else in tokens. `resets_at` is in milliseconds since the epoch, UTC.
    """

    subject: str
    unit: str
    limit: int
    resets_at: int


class QuotaExceeded(CoreError):
    """A model call was not made, because a daily quota has no room for it."""

    def __init__(self, message: str, quota: ReachedQuota) -> None:
        super().__init__(message)
        self.quota = quota


class BackendUnavailable(CoreError):
    """An execution backend can't run anything now; the text gives the reason and a remedy."""


class BackendCrowded(BackendUnavailable):
    """Other commands of a workspace use up the processes that it may have."""


class WorkspaceError(CoreError):
    """A file or folder of a workspace can't be used as asked; the text says why."""


class DiskFull(WorkspaceError):
    """The disk of the workspaces is full, which no person's own files explain."""


class WorkInProgress(CoreError):
    """A person's work is running; the operation is possible in a moment."""


class LastOwner(CoreError):
    """The operation would remove the last owner."""


class ToolArgumentError(CoreError):
    """A tool can't run with these arguments; the text tells the model what to change."""


def name_installation(extra: str) -> str:
    """Return the command that installs an extra into the environment of this process.

    An environment made by `uv tool` has no pip, so that uv installs into it from outside.
    """
    python, wanted = shlex.quote(sys.executable), f"'talaria[{extra}]'"
    if find_spec("pip"):
        return f"{python} -m pip install {wanted}"
    return f"uv pip install --python {python} {wanted}"
