"""A small faithful Discord on loopback: REST, gateway, and strings to pull for tests.

In a test: `async with DiscordEmulator() as api:`.
"""

from collections.abc import Callable, Sequence
from typing import Any, Self, TypeVar

from tests.emulators.discord_faults import Kind
from tests.emulators.discord_shapes import Interaction, Message, Sent

TOKEN = "MTAwMDAwMDAwMDAwMDAwMDAx.Gemul8.ated-token-of-a-bot-for-tests-only-xxx"
T = TypeVar("T")


class DiscordEmulator:
    """One bot account behind a server with both doors of Discord on one port."""

    interactions: list[Interaction]
    calls: list[tuple[str, str]]
    """Method and path (behind /api/v10) of every REST call."""
    identifies: int
    resumes: int
    nonce_window: float
    """Seconds in which a repeated nonce gives the first message."""
    interaction_deadline: float
    """Seconds within which an interaction has to be called back."""
    heartbeat_interval: float
    """Seconds, told in HELLO."""

    def __init__(self, *, token: str = TOKEN, port: int = 0) -> None:
        raise NotImplementedError

    async def __aenter__(self) -> Self:
        raise NotImplementedError

    async def __aexit__(self, *_: object) -> None:
        raise NotImplementedError

    async def start(self) -> None:
        raise NotImplementedError

    async def stop(self) -> None:
        raise NotImplementedError

    @property
    def token(self) -> str:
        raise NotImplementedError

    @property
    def user_id(self) -> int:
        """The bot."""
        raise NotImplementedError

    @property
    def application_id(self) -> int:
        raise NotImplementedError

    @property
    def api_base_url(self) -> str:
        raise NotImplementedError

    @property
    def gateway_url(self) -> str:
        raise NotImplementedError

    @property
    def live_sessions(self) -> int:
        raise NotImplementedError

    def user(self, number: int) -> int:
        """A person's snowflake, made on first use; the same in every run."""
        raise NotImplementedError

    def dm(self, number: int) -> int:
        """The id of the direct channel with that person."""
        raise NotImplementedError

    def guild(self, name: str = "Guild", members: Sequence[int] = ()) -> int:
        """A server with the bot and these people (their numbers)."""
        raise NotImplementedError

    def role(self, guild_id: int) -> int:
        """The bot's own role in a server."""
        raise NotImplementedError

    def channel(self, guild_id: int, name: str = "general") -> int:
        raise NotImplementedError

    def forum(self, guild_id: int, name: str = "forum") -> int:
        raise NotImplementedError

    async def thread(
        self, channel_id: int, name: str, number: int, *, text: str | None = None
    ) -> int:
        """A person opens a thread; in a forum a post, whose first message is the text or name."""
        raise NotImplementedError

    async def says(
        self,
        number: int,
        text: str,
        *,
        channel: int | None = None,
        reply_to: int | None = None,
        mentions: Sequence[int] = (),
        files: Sequence[Sent] = (),
        role_mention: bool = False,
    ) -> int:
        """A person writes, in their direct channel or another; returns the message's id.

        Mentions are snowflakes; those the text does not carry are put in front of it.
        """
        raise NotImplementedError

    async def edits(self, message_id: int, text: str) -> None:
        raise NotImplementedError

    async def deletes(self, message_id: int) -> None:
        raise NotImplementedError

    async def presses(
        self, number: int, message_id: int, custom_id: str, *, values: Sequence[str] = ()
    ) -> int:
        """A person presses a button; returns the interaction's id. `KeyError`: no such button."""
        raise NotImplementedError

    async def commands(
        self,
        number: int,
        name: str,
        *,
        channel: int | None = None,
        options: dict[str, str] | None = None,
        is_user_install: bool = False,
    ) -> int:
        """A person uses a slash command; returns the interaction's id."""
        raise NotImplementedError

    def texts(self, channel: int) -> list[str]:
        """What the bot's visible messages say now, in order."""
        raise NotImplementedError

    def messages(self, channel: int, *, author: int | None = None) -> list[Message]:
        """The visible messages of the bot, or of another author, in order."""
        raise NotImplementedError

    def message(self, message_id: int) -> Message:
        raise NotImplementedError

    def reactions(self, message_id: int) -> list[str]:
        """The bot's."""
        raise NotImplementedError

    def typings(self, channel: int) -> int:
        raise NotImplementedError

    def interaction(self, interaction_id: int) -> Interaction:
        raise NotImplementedError

    def synced_commands(self) -> list[dict[str, Any]]:
        """The application's global slash commands."""
        raise NotImplementedError

    def fail(self, route: str, *, kind: Kind, times: int = 1, **detail: Any) -> None:
        """Let the next calls of a route fail; names of routes and details: `discord_faults`."""
        raise NotImplementedError

    def mend(self) -> None:
        """Forget the faults that have not happened yet."""
        raise NotImplementedError

    def limits(self, is_on: bool, *, is_global: bool = False) -> None:
        """Five calls per five seconds a bucket, and fifty a second for everything."""
        raise NotImplementedError

    def kick(self, guild_id: int) -> None:
        raise NotImplementedError

    def block(self, number: int) -> None:
        raise NotImplementedError

    def delete_channel(self, channel: int) -> None:
        raise NotImplementedError

    def without_intents(self, *names: str) -> None:
        """Portal switches that are off: message_content, members, presences. None: all on."""
        raise NotImplementedError

    async def drop_gateway(self, code: int = 1006) -> None:
        """Close the live connections; 1006 breaks them. The session can be resumed."""
        raise NotImplementedError

    async def reconnect_gateway(self) -> None:
        """Ask the client to reconnect (op 7)."""
        raise NotImplementedError

    def close_next_with(self, code: int, times: int = 1) -> None:
        """The next IDENTIFY or RESUME is answered by closing with this code."""
        raise NotImplementedError

    def lose_session(self) -> None:
        """The next RESUME gets INVALID_SESSION that cannot be resumed."""
        raise NotImplementedError

    def mute_gateway(self) -> None:
        """The live connections stay open and nothing comes out of them any more."""
        raise NotImplementedError

    async def wait_for(self, predicate: Callable[[], T], timeout: float = 5.0) -> T:
        """Return what the predicate says once that is true. Raises `TimeoutError`."""
        raise NotImplementedError
