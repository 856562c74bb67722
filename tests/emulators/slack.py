"""A small faithful Slack on loopback: Web API, Socket Mode, files; with strings to pull for tests.

In a test: `async with SlackEmulator() as slack:`.
"""

from typing import Any, Self

from tests.emulators.slack_faults import FaultKind


class SlackEmulator:
    """One workspace with one app in it. Users are named by small numbers, made on first use."""

    bot_token: str
    app_token: str
    signing_secret: str
    team_id: str
    bot_user_id: str
    bot_id: str
    app_id: str
    is_agent: bool
    is_assistant: bool
    can_stream: bool
    redelivers_unacked: bool
    after_seconds: float
    acks: list[Any]
    calls: list[tuple[str, dict[str, Any]]]
    connections_opened: int

    async def __aenter__(self) -> Self:
        raise NotImplementedError

    async def __aexit__(self, *_: object) -> None:
        raise NotImplementedError

    async def start(self) -> None:
        raise NotImplementedError

    async def stop(self) -> None:
        raise NotImplementedError

    @property
    def base_url(self) -> str:
        raise NotImplementedError

    @property
    def sockets(self) -> int:
        raise NotImplementedError

    def user(self, number: int) -> str:
        raise NotImplementedError

    def dm(self, number: int) -> str:
        raise NotImplementedError

    def channel(self, name: str = "general", members: tuple[int, ...] = ()) -> str:
        raise NotImplementedError

    async def says(
        self,
        number: int,
        text: str,
        *,
        channel: str | None = None,
        thread_ts: str | None = None,
        mention: bool = False,
        files: tuple[Any, ...] = (),
    ) -> str:
        raise NotImplementedError

    async def edits(self, channel: str, ts: str, text: str) -> None:
        raise NotImplementedError

    async def deletes(self, channel: str, ts: str) -> None:
        raise NotImplementedError

    async def presses(self, number: int, channel: str, ts: str, action_id: str) -> None:
        raise NotImplementedError

    async def commands(self, number: int, text: str, *, channel: str | None = None) -> str:
        raise NotImplementedError

    async def shortcut(self, number: int, channel: str, ts: str) -> None:
        raise NotImplementedError

    async def opens_home(self, number: int) -> None:
        raise NotImplementedError

    async def stops_session(self, number: int, channel: str, thread_ts: str) -> None:
        raise NotImplementedError

    def texts(self, channel: str, thread_ts: str | None = None) -> list[str]:
        raise NotImplementedError

    def messages(self, channel: str) -> list[Any]:
        raise NotImplementedError

    def home(self, number: int) -> dict[str, Any] | None:
        raise NotImplementedError

    def status(self, channel: str, thread_ts: str) -> str:
        raise NotImplementedError

    def ephemerals(self, number: int) -> list[Any]:
        raise NotImplementedError

    def unacked(self) -> list[str]:
        raise NotImplementedError

    async def redeliver(self, times: int = 1, *, with_new_event_id: bool = False) -> None:
        raise NotImplementedError

    def fail(self, method: str, *, kind: FaultKind, times: int = 1, **detail: Any) -> None:
        raise NotImplementedError

    async def drop_sockets(self) -> None:
        raise NotImplementedError

    def refuse_sockets(self, reason: str | None) -> None:
        raise NotImplementedError

    async def send_disconnect(self, reason: str = "refresh_requested") -> None:
        raise NotImplementedError

    def mute_sockets(self) -> None:
        raise NotImplementedError

    async def post_event(self, url: str | None) -> None:
        raise NotImplementedError
