"""Slack's Web API through its SDK; maps the SDK's errors."""

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Self

import aiohttp
from slack_sdk.errors import (
    SlackApiError,
    SlackClientConfigurationError,
    SlackClientError,
    SlackClientNotConnectedError,
    SlackTokenRotationError,
)
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from adapters.errors import AdapterError, AdapterStopped, RateLimited, Rejected, Unreachable, Unsure
from adapters.slack.errors import MissingScope, Unsupported, read_refusal, read_status
from adapters.slack.events import BotIdentity, Person
from adapters.slack.settings import SlackSettings
from adapters.toolkit.http import CONNECT_TIMEOUT, make_connector, name_mishap, read_wait
from adapters.toolkit.text import Json, inside, parts, text_in, words_in

_ANSWER_TIMEOUT = 30.0
_CONNECTIONS = 32
_DEFAULT_WAIT = 30.0
"""Seconds to wait on a 429 that names no time."""
_PAGE = 200
"""Messages per page; Slack recommends at most 200 (docs: conversations.history)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SlackPlace:
    """A channel and, optionally, a thread in it."""

    channel: str
    thread: str | None = None


class Api:
    """The calls that Talaria makes. Every method raises `AdapterError` and has a timeout."""

    def __init__(self, settings: SlackSettings) -> None:
        self._settings = settings
        self._session: aiohttp.ClientSession | None = None
        # A request is never repeated here: only the caller knows whether that is safe.
        self.web = AsyncWebClient(
            token=settings.bot_token, base_url=settings.base_url, retry_handlers=[]
        )
        self.web.proxy = None  # the SDK does not support NO_PROXY

    async def __aenter__(self) -> Self:
        self._session = self.web.session = aiohttp.ClientSession(
            connector=make_connector(_CONNECTIONS),
            timeout=aiohttp.ClientTimeout(total=_ANSWER_TIMEOUT, connect=CONNECT_TIMEOUT),
            cookie_jar=aiohttp.DummyCookieJar(),
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._session is not None:
            session, self._session, self.web.session = self._session, None, None
            await session.close()

    @property
    def session(self) -> aiohttp.ClientSession:
        """The session for sockets and files. Raises `Unreachable` outside a run."""
        if self._session is None:
            raise Unreachable("Slack is not connected yet, or not any more.")
        return self._session

    @contextmanager
    def client(
        self,
        *,
        lost: type[AdapterError] = Unreachable,
        variable: str = "SLACK_BOT_TOKEN",
    ) -> Iterator[AsyncWebClient]:
        """Yield the SDK's client and map its errors.

        `lost` is raised when a request got no clear answer: its meaning depends on whether the
        call
        may be repeated.
        """
        _ = self.session
        try:
            yield self.web
        except SlackClientError as error:
            raise translate(error, lost=lost, variable=variable) from error
        except (aiohttp.ClientError, TimeoutError, ValueError) as error:
            raise name_mishap(error, "Slack", lost=lost) from error

    async def fetch_me(self) -> BotIdentity:
        """Fetch the bot's identity. This is the first call, so it also verifies the token."""
        try:
            with self.client() as web:
                found = await web.auth_test()
                answer = read(found)
                me = BotIdentity(
                    user_id=text_in(answer, "user_id"),
                    bot_id=words_in(answer, "bot_id"),
                    team_id=text_in(answer, "team_id"),
                    name=words_in(answer, "user"),
                    scopes=_read_scopes(found.headers),
                )
        except MissingScope as error:
            raise AdapterStopped(str(error)) from error
        return replace(me, is_agent=await self._is_agent(), app_id=await self._find_app(me.bot_id))

    async def _find_app(self, bot_id: str) -> str:
        """Return the app's id, or "" without the scope users:read. Raises the errors that end a
        start.
        """
        try:
            with self.client() as web:
                return words_in(inside(read(await web.bots_info(bot=bot_id)), "bot"), "app_id")
        except (Unreachable, RateLimited, AdapterStopped):
            raise
        except AdapterError:
            return ""

    async def _is_agent(self) -> bool:
        """Return whether the app is declared an agent.

        Asks about a channel that does not exist: Slack rejects other apps before it looks for the
        channel.
        """
        try:
            with self.client() as web:
                await web.agents_sessions_setStatus(
                    channel_id="D00000000", thread_ts="1000000000.000000", status="active"
                )
        except (Unreachable, RateLimited, AdapterStopped):
            raise
        except Rejected:
            return False
        except AdapterError:  # only the channel is missing: the app may use the method
            return True
        return True

    async def open_socket(self) -> str:
        """Return the address of a new websocket."""
        try:
            with self.client(variable="SLACK_APP_TOKEN") as web:
                token = self._settings.app_token
                return text_in(read(await web.apps_connections_open(app_token=token)), "url")
        except MissingScope as error:
            raise AdapterStopped(
                "The token in SLACK_APP_TOKEN lacks the scope connections:write. Make a new one "
                "with it under Basic Information, App-Level Tokens, and start again."
            ) from error
        except Unsupported as error:
            raise AdapterStopped(
                f"Slack opens no websocket for this app ({error}) Turn Socket Mode on at the "
                "app's page, see that SLACK_APP_TOKEN begins with xapp-, and start again."
            ) from error

    async def post(self, place: SlackPlace, body: Json) -> str:
        """Send a message and return its ts."""
        with self.client(lost=Unsure) as web:
            answer = await web.chat_postMessage(
                channel=place.channel,
                thread_ts=place.thread,
                unfurl_links=False,
                unfurl_media=False,
                **body,
            )
            return text_in(read(answer), "ts")

    async def update(self, channel: str, ts: str, body: Json) -> None:
        """Replace a message's content. Disables link previews too, a parameter that the SDK
        lacks.
        """
        with self.client() as web:
            await web.chat_update(
                channel=channel, ts=ts, unfurl_links=False, unfurl_media=False, **body
            )

    async def delete(self, channel: str, ts: str) -> None:
        """Delete a message."""
        with self.client() as web:
            await web.chat_delete(channel=channel, ts=ts)

    async def publish(self, user: str, view: Json) -> None:
        """Publish a person's App Home."""
        with self.client() as web:
            await web.views_publish(user_id=user, view=view)

    async def react(self, channel: str, ts: str, name: str, *, is_on: bool) -> None:
        """Add or remove a reaction; idempotent."""
        with self.client() as web:
            try:
                if is_on:
                    await web.reactions_add(channel=channel, timestamp=ts, name=name)
                else:
                    await web.reactions_remove(channel=channel, timestamp=ts, name=name)
            except SlackApiError as error:
                if _code(error) not in ("already_reacted", "no_reaction"):
                    raise

    async def answer(self, url: str, body: Json) -> None:
        """Post to the response URL of a command or a press."""
        with self.client(lost=Unsure):
            try:
                async with self.session.post(url, json=body) as response:
                    said = (await response.text())[:200]
            except aiohttp.InvalidURL as error:
                raise Rejected("The ticket is no address.") from error
        if response.status == 429 or "ratelimited" in said:
            raise _limited(response.headers)
        if response.status >= 500:
            raise read_status(response.status, Unsure)
        if response.status != 200 or "error" in said:
            over = "expired_url" if response.status in (404, 410) else ""
            code = next((c for c in ("expired_url", "used_url") if c in said), over)
            raise read_refusal(code, variable="SLACK_BOT_TOKEN", unwell=Unsure)

    async def pages(
        self,
        place: SlackPlace,
        *,
        after: str = "0",
        with_metadata: bool = False,
        is_patient: bool = False,
    ) -> AsyncIterator[list[Json]]:
        """Yield pages of messages after `after`, in no reliable order.

        A channel yields everything except replies in threads; a thread yields its root and replies.
        With `is_patient`, waits during rate-limit pauses: a long read that restarts after each
        pause would never finish if Slack allows few requests.
        """
        cursor: str | None = None
        asked: dict[str, Any] = {"channel": place.channel, "oldest": after, "limit": _PAGE}
        asked["include_all_metadata"] = with_metadata
        while True:
            try:
                with self.client() as web:
                    if place.thread is None:
                        answer = await web.conversations_history(**asked, cursor=cursor)
                    else:
                        answer = await web.conversations_replies(
                            **asked, ts=place.thread, cursor=cursor
                        )
                    page = read(answer)
                    messages = [one for one in page.get("messages") or () if isinstance(one, dict)]
                    cursor = words_in(inside(page, "response_metadata"), "next_cursor")
            except RateLimited as error:
                if not is_patient:
                    raise
                await asyncio.sleep(error.retry_after)
                continue
            yield messages
            if not cursor:
                return

    async def fetch_places(self) -> list[str]:
        """List the channels and direct chats that the bot is in, at most a thousand."""
        with self.client() as web:
            answer = await web.users_conversations(
                types="im,mpim,public_channel,private_channel", exclude_archived=True, limit=999
            )
            return [text_in(place, "id") for place in parts(read(answer), "channels")]

    async def fetch_person(self, user: str) -> Person:
        """Fetch a person's profile."""
        with self.client() as web:
            about = inside(read(await web.users_info(user=user, include_locale=True)), "user")
            profile = inside(about, "profile")
            name = (
                words_in(profile, "display_name")
                or words_in(profile, "real_name")
                or words_in(about, "real_name")
            )
            return Person(
                name=name,
                username=words_in(about, "name"),
                language=words_in(about, "locale"),
                time_zone=words_in(about, "tz"),
            )

    async def fetch_room(self, channel: str) -> Json:
        """Fetch a channel's details with its number of members."""
        with self.client() as web:
            answer = await web.conversations_info(channel=channel, include_num_members=True)
            return inside(read(answer), "channel")

    async def count_members(self, channel: str) -> int:
        """Count a channel's members, including the bot."""
        count, cursor = 0, None
        while cursor != "":
            with self.client() as web:
                answer = await web.conversations_members(channel=channel, limit=1000, cursor=cursor)
                page = read(answer)
                members = page.get("members")
                count += len(members) if isinstance(members, list) else 0
                cursor = words_in(inside(page, "response_metadata"), "next_cursor")
        return count

    async def start_stream(self, place: SlackPlace, chunks: Sequence[Json], to: Json) -> str:
        """Start a streamed message and return its ts. `to` names the reader in a channel."""
        with self.client(lost=Unsure) as web:
            answer = await web.chat_startStream(
                channel=place.channel,
                thread_ts=place.thread or "",
                chunks=[*chunks],
                task_display_mode="timeline",
                **to,
            )
            return text_in(read(answer), "ts")

    async def grow_stream(self, channel: str, ts: str, chunks: Sequence[Json]) -> None:
        """Append to a streamed message; not idempotent."""
        with self.client(lost=Unsure) as web:
            await web.chat_appendStream(channel=channel, ts=ts, chunks=[*chunks])

    async def stop_stream(
        self, channel: str, ts: str, chunks: Sequence[Json] = (), **ending: Any
    ) -> None:
        """Append the rest and end the stream. `ending` holds metadata and blocks."""
        with self.client(lost=Unsure) as web:
            await web.chat_stopStream(channel=channel, ts=ts, chunks=[*chunks] or None, **ending)


def _read_scopes(headers: Mapping[str, str]) -> frozenset[str]:
    """Return the scopes of a token; the SDK's header names may be in upper or lower case."""
    granted = {name.lower(): value for name, value in headers.items()}.get("x-oauth-scopes", "")
    return frozenset(one.strip() for one in granted.split(",") if one.strip())


def read(answer: AsyncSlackResponse) -> Json:
    """Return the JSON object of an answer."""
    return answer.data if isinstance(answer.data, dict) else {}


def translate(
    error: SlackClientError,
    *,
    lost: type[AdapterError],
    variable: str = "SLACK_BOT_TOKEN",
) -> AdapterError:
    """Map an SDK error to a platform error; see `Api.client`."""
    match error:
        case SlackApiError():
            return _read_answer(error, lost=lost, variable=variable)
        case SlackClientNotConnectedError():
            return Unreachable("Slack is not connected.")
        case SlackTokenRotationError() | SlackClientConfigurationError():
            return AdapterStopped(f"Slack's client can't work with these settings: {error}.")
        case _:  # a request that the SDK itself rejects
            return Rejected(f"Slack's client refuses this: {type(error).__name__}.")


def _read_answer(error: SlackApiError, *, lost: type[AdapterError], variable: str) -> AdapterError:
    answer = error.response
    status = int(getattr(answer, "status_code", 0) or getattr(answer, "status", 0))
    code = _code(error)
    if status == 429 or code in ("ratelimited", "rate_limited"):
        return _limited(answer.headers)
    if not code:
        return read_status(status, lost)
    needed = str(answer.data.get("needed") or "")
    return read_refusal(code, needed=needed, variable=variable, unwell=lost)


def _limited(headers: Mapping[str, str]) -> RateLimited:
    seconds = read_wait(str(headers.get("Retry-After", "")), default=_DEFAULT_WAIT)
    return RateLimited(f"Slack asks to wait for {seconds:g} s.", retry_after=seconds)


def _code(error: SlackApiError) -> str:
    data = getattr(error.response, "data", None)
    return str(data.get("error") or "") if isinstance(data, dict) else ""
