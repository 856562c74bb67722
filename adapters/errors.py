"""What can go wrong at the door of a platform.

AdapterError
├── Unreachable        the request surely had no effect; try again later
├── Unsure             the request may have had its effect; look before trying again
├── RateLimited        the platform asks to wait `retry_after` seconds, in this chat only
├── Rejected           this message as it stands will never be taken; the chat is fine
├── MessageGone        the message to be edited is no longer there, or can't be edited
├── ChatGone           nobody can be reached in this chat any more (blocked, kicked, deleted)
└── AdapterStopped     this platform can't go on until a person changes something
"""


class AdapterError(Exception):
    """Root of this wing's errors. The text is a plain sentence for the log."""


class Unreachable(AdapterError):
    """The platform could not be reached, or said it is unwell; nothing was applied."""


class Unsure(AdapterError):
    """The request left, no answer came: it may or may not have been applied."""


class RateLimited(AdapterError):
    """The platform asks for a pause in one chat."""

    def __init__(self, message: str, *, retry_after: float) -> None:
        """`retry_after` is in seconds, as the platform gave it."""
        super().__init__(message)
        self.retry_after = retry_after


class Rejected(AdapterError):
    """The platform refuses this very message; a repeat would be refused too."""


class MessageGone(AdapterError):
    """The message to edit was deleted or has become uneditable."""


class ChatGone(AdapterError):
    """The chat was deleted, the bot was blocked or removed from it."""


class AdapterStopped(AdapterError):
    """A wrong token, a second poller, a missing permission: only a person can mend it.

    The text says what is wrong and what to do, in words for the person who runs Talaria.
    """
