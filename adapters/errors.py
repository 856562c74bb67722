"""Errors of chat platforms; each adapter maps its SDK's errors to these.

AdapterError
├── Unreachable        the request had no effect; try again later
├── Unsure             the request may have had its effect; look before trying again
├── RateLimited        the platform asks to wait `retry_after` seconds, in this chat only
├── Rejected           the platform never accepts this message; the chat still works
│   ├── FileTooLarge   a file to download is larger than the limit
│   └── NotPermitted   the app lacks a permission, which an owner can add
├── MessageGone        the message to edit no longer exists or can no longer be edited
│   └── MessageLocked  it exists, but can't be edited or deleted
├── ChatGone           nobody can be reached in this chat (blocked, removed, deleted)
│   ├── ChatMoved      the platform gave the chat a new id
│   └── ChatWaits      nothing may be sent until the person writes again
└── AdapterStopped     the platform cannot continue until a person changes something
    ├── NotLinked      the account has to be linked first; see `CanLink`
    └── NoProgram      a program beside Talaria, such as signal-cli, does not run or is too old
"""


class AdapterError(Exception):
    """The root of all platform errors. The text is a plain sentence for the log."""


class Unreachable(AdapterError):
    """The platform could not be reached or reported an outage; nothing was applied."""


class Unsure(AdapterError):
    """The request was sent but not answered: it may or may not have been applied."""


class RateLimited(AdapterError):
    """The platform asks for a pause in one chat."""

    def __init__(self, message: str, *, retry_after: float) -> None:
        """Take `retry_after` in seconds, as the platform sent it."""
        super().__init__(message)
        self.retry_after = retry_after


class Rejected(AdapterError):
    """The platform refuses this message; a repeat would be refused too."""


class FileTooLarge(Rejected):
    """A file to download is larger than the caller or the platform allows."""

    def __init__(self, message: str, *, most_bytes: int) -> None:
        """Take the limit in bytes."""
        super().__init__(message)
        self.most_bytes = most_bytes


class NotPermitted(Rejected):
    """The app lacks a permission; the text says which, and how an owner adds it."""


class MessageGone(AdapterError):
    """The message to edit was deleted or can no longer be edited."""


class MessageLocked(MessageGone):
    """The message still exists, but the platform refuses this change: an edit or a deletion."""


class ChatGone(AdapterError):
    """The chat was deleted, or the bot was blocked or removed."""


class ChatMoved(ChatGone):
    """The platform gave the chat a new id, such as a group that became a supergroup."""

    def __init__(self, message: str, *, chat_id: str) -> None:
        """Take the new id of the chat."""
        super().__init__(message)
        self.chat_id = chat_id


class ChatWaits(ChatGone):
    """The chat takes no message until the person writes there again; then it takes all of them."""

    REASON = "Nothing may be sent here until the person writes again."

    def __init__(self) -> None:
        """Give the reason by which the gateway knows what waits."""
        super().__init__(self.REASON)


class AdapterStopped(AdapterError):
    """A wrong token, a second poller, a missing permission: only a person can fix it.

    The text says what is wrong and what to do, for the person who runs Talaria.
    """


class NotLinked(AdapterStopped):
    """The platform does not know the account yet; the setup can link it."""


class NoProgram(AdapterStopped):
    """A program that the platform needs beside Talaria does not answer, or is too old."""
