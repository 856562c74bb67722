"""What can go wrong in the core.

CoreError
├── StoreError             the database can't do what it was asked
│   ├── StoreBusy          another process owns this home
│   ├── StoreFull          the disk is full; nothing was written
│   ├── StoreDamaged       a check of the file or of a row failed
│   └── StoreTooNew        a newer version of Talaria wrote this database
├── ModelError             a model call gave no whole answer
│   ├── ModelBusy          overloaded, rate limited or unreachable; try again
│   ├── ModelCut           the answer broke off while it streamed; try again
│   ├── ModelRejected      the request itself was refused; a repeat would be too
│   ├── ModelOverflow      the input is longer than the model can read
│   ├── ModelUnknown       the provider has no model of this name
│   └── ModelDenied        the key is wrong, has no access, or is out of credit
├── OutsideError           an outside memory did not do what it was asked
│   ├── OutsideAway        unreachable, slow, overloaded or not letting us in; try again
│   ├── OutsideBroken      it failed over this one request; a repeat may, too
│   ├── OutsideRefused     the request itself was refused; a repeat would be too
│   └── OutsideLacking     this server has no such function
├── SkillMissing           there is no skill of that name
├── SkillBroken            a skill can't be read
├── SkillStays             a skill is not moved or written back: it is needed, or has changed
├── EmbeddingFailed        an embedding model gave nothing for a text
├── QuotaExceeded          what may be spent in a day is spent
├── StillAtWork            something of a person's is under way: try again in a moment
├── LastOwner              the house would have no owner any more
└── ToolArgumentError      the model called a tool in a way it can't run
"""


class CoreError(Exception):
    """Root of the core's errors. The text is a plain sentence."""


class StoreError(CoreError):
    """The database can't do what it was asked."""


class StoreBusy(StoreError):
    """Another process owns this home; the text names its process id."""


class StoreFull(StoreError):
    """The disk is full. The transaction was rolled back whole."""


class StoreDamaged(StoreError):
    """The file or a row does not hold what was written to it."""


class StoreTooNew(StoreError):
    """The database has a schema version that this program does not know."""


class ModelError(CoreError):
    """A model call that gave no whole answer."""


class ModelBusy(ModelError):
    """The provider could not be reached, is overloaded or limits the rate."""

    def __init__(self, message: str, *, retry_after: float | None = None) -> None:
        """`retry_after` is in seconds, where the provider gave one."""
        super().__init__(message)
        self.retry_after = retry_after


class ModelInterrupted(ModelError):
    """The stream ended before the answer did."""


class ModelRejected(ModelError):
    """The provider refuses this request as it stands."""


class ModelOverflow(ModelError):
    """The input does not fit the model's window."""


class ModelUnknown(ModelError):
    """The provider has no model of this name."""


class ModelDenied(ModelError):
    """The key is wrong, lacks access or credit."""


class ExternalMemoryError(CoreError):
    """An outside memory did not do what it was asked."""


class ExternalMemoryUnavailable(ExternalMemoryError):
    """It could not be reached, is slow, overloaded, or does not let us in."""

    def __init__(self, message: str, *, retry_after: float | None = None) -> None:
        """`retry_after` is in seconds, where the provider gave one."""
        super().__init__(message)
        self.retry_after = retry_after


class ExternalMemoryBroken(ExternalMemoryError):
    """It failed over a request; others may fare better."""


class ExternalMemoryRefused(ExternalMemoryError):
    """It refuses this request as it stands."""


class ExternalMemoryUnsupported(ExternalMemoryError):
    """This server has no such function: it is older, or set up without it."""


class SkillMissing(CoreError):
    """There is no skill of that name; the text says where it went, if that is known."""


class SkillBroken(CoreError):
    """A skill can't be read; the text says what is wrong with it."""


class SkillConflict(CoreError):
    """A skill is not moved or written back; the text says why, as a sentence."""


class EmbeddingFailed(CoreError):
    """An embedding model gave nothing for a text."""


class QuotaExceeded(CoreError):
    """A model call was not made: a ceiling of the day has no room for it."""

    def __init__(
        self, message: str, *, subject: str, unit: str, limit: int, resets_at: int
    ) -> None:
        """`subject` is "person" or "deployment"; `limit` is in micro-dollars or tokens, as `unit`
        ("money" or "tokens") says; `resets_at` is in milliseconds since the epoch, UTC.
        """
        super().__init__(message)
        self.subject = subject
        self.unit = unit
        self.limit = limit
        self.resets_at = resets_at


class WorkInProgress(CoreError):
    """Something of a person's is under way: it can be done in a moment, not now."""


class LastOwner(CoreError):
    """The house would have no owner any more."""


class ToolArgumentError(CoreError):
    """Arguments that a tool can't run with; the text tells the model what to change."""
