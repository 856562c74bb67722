"""Indicators of a running answer: messages that grow by Slack's streaming API, and a status."""

import contextlib
import logging
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from adapters.errors import AdapterError, MessageGone, RateLimited, Rejected, Unreachable, Unsure
from adapters.messages import OutboundMessage, Step
from adapters.slack.api import Api, SlackPlace
from adapters.slack.errors import Unsupported
from adapters.slack.places import is_im
from adapters.slack.render import actions_of, metadata_of, step_chunks, text_chunks, words_of
from adapters.toolkit.caches import BoundedDict
from adapters.toolkit.text import Json

_log = logging.getLogger(__name__)

_TRIES = 3
"""Refusals in a row after which the workspace counts as having no streaming."""


@dataclass(slots=True, kw_only=True)
class _Stream:
    """The shown part of a message.

    After an append without an answer, the message is replaced as a whole: appending is not
    idempotent.
    """

    text: str
    steps: dict[str, Step] = field(default_factory=dict)
    is_doubtful: bool = False


class Streams:
    """The streams of this process; those of earlier processes are stopped."""

    def __init__(self, api: Api, *, is_on: bool) -> None:
        self._api = api
        self._open: BoundedDict[tuple[str, str], _Stream] = BoundedDict()
        self._refusals = 0 if is_on else _TRIES

    @property
    def is_on(self) -> bool:
        """Whether the workspace seems to support streaming."""
        return self._refusals < _TRIES

    def suits(self, message: OutboundMessage, place: SlackPlace) -> bool:
        """Return True if a message can start as a stream: if it begins an answer in a thread."""
        has_room = message.is_live and not message.buttons and message.file is None
        return self.is_on and has_room and place.thread is not None

    async def begin(
        self, message: OutboundMessage, place: SlackPlace, *, reader: str | None, team: str
    ) -> str | None:
        """Start a stream and return its ts; None if Slack refuses and nothing was sent.

        In a channel, Slack requires the person that the answer is for. Raises `AdapterError`.
        """
        to: Json = {}
        if not is_im(place.channel):
            if reader is None:
                return None
            to = {"recipient_user_id": reader, "recipient_team_id": team}
        words = words_of(message.text)
        chunks = [*step_chunks(message.steps, {}), *text_chunks(words)]
        try:
            ts = await self._api.start_stream(place, chunks, to)
        except Unsupported:
            self._refusals = _TRIES
            return None
        except RateLimited:  # 20 streams a minute over all people; posts have their own limit
            return None
        except (Rejected, MessageGone):
            self._refusals += 1
            return None
        self._refusals = 0
        steps = {step.key: step for step in message.steps}
        self._open.put((place.channel, ts), _Stream(text=words, steps=steps))
        return ts

    async def carry(self, message: OutboundMessage, channel: str, ts: str) -> bool:
        """Bring a stream up to date; return False if the message must be replaced as a whole.

        Raises `AdapterError`; the call may be repeated.
        """
        stream = self._open.get((channel, ts))
        if stream is None:
            return False
        # Compare the text as it is sent: a mention of a whole channel could arrive in two halves.
        words = words_of(message.text)
        grows = words.startswith(stream.text)
        if stream.is_doubtful or not grows or (message.is_live and message.buttons):
            await self.stop(channel, ts)
            return False
        steps = message.steps if message.is_live else _ended(stream.steps)
        chunks = step_chunks(steps, stream.steps)
        chunks += text_chunks(words[len(stream.text) :])
        try:
            if not message.is_live:
                ending: Json = {"metadata": metadata_of(message)}
                if message.buttons:
                    ending["blocks"] = actions_of(message.buttons)
                await self._api.stop_stream(channel, ts, chunks, **ending)
                self._open.drop((channel, ts))
            elif chunks:
                await self._api.grow_stream(channel, ts, chunks)
        except (MessageGone, Rejected):
            self._open.drop((channel, ts))
            return False
        except Unsure:
            stream.is_doubtful = True
            raise
        stream.text = words
        stream.steps |= {step.key: step for step in message.steps}
        return True

    async def stop(self, channel: str, ts: str) -> None:
        """End a stream as it is; an ended stream is no error. Raises `AdapterError`.

        The call may be repeated, so without an answer it raises `Unreachable`, never `Unsure`.
        """
        try:
            with contextlib.suppress(MessageGone, Rejected):
                await self._api.stop_stream(channel, ts)
        except Unsure as error:
            raise Unreachable(str(error)) from error
        self._open.drop((channel, ts))

    async def end(self, channel: str, ts: str) -> None:
        """End a stream of this process, if it is one. Raises `AdapterError`."""
        if (channel, ts) in self._open:
            await self.stop(channel, ts)


def _ended(steps: Mapping[str, Step]) -> tuple[Step, ...]:
    """Mark running steps as done for the last append, because Slack keeps showing them."""
    return tuple(replace(step, state="done") for step in steps.values() if step.state == "running")


Status = Literal["active", "processing", "suspended"]

_THINKING = "is thinking…"


class StatusIndicator:
    """The indicators in threads. The app's kind is determined once."""

    def __init__(self, api: Api) -> None:
        self._api = api
        self._is_agent = False
        self._is_assistant = True
        self._shown: BoundedDict[SlackPlace, Status] = BoundedDict()

    def greet(self, *, is_agent: bool) -> None:
        """Set the app's kind; if it is no agent, the older assistant API is tried."""
        self._is_agent, self._is_assistant = is_agent, not is_agent

    async def work(self, place: SlackPlace) -> None:
        """Show that an answer is in progress. Raises `AdapterError`."""
        if place.thread is None:
            return
        if self._is_agent:
            await self._set(place, "processing")
        elif self._is_assistant:
            try:
                with self._api.client() as web:
                    await web.assistant_threads_setStatus(
                        channel_id=place.channel, thread_ts=place.thread, status=_THINKING
                    )
            except Unsupported:
                self._is_assistant = False
            except Rejected as error:  # this kind of thread has no status
                _log.debug("slack shows no sign in %s: %s", place.channel, error)
            else:
                self._shown.put(place, "processing")

    async def finalize(self, place: SlackPlace, *, asks: bool, was_edit: bool) -> None:
        """Clear the indicator after the last words or a question. Never fails: the message was
        sent.

        An agent's status stays until it changes, even across processes; an assistant's disappears
        with each new message.
        """
        if place.thread is None:
            return
        try:
            if self._is_agent:
                wanted: Status = "suspended" if asks else "active"
                if self._shown.get(place) != wanted:
                    await self._set(place, wanted)
            elif place in self._shown:
                self._shown.drop(place)
                if was_edit:
                    with self._api.client() as web:
                        await web.assistant_threads_setStatus(
                            channel_id=place.channel, thread_ts=place.thread, status=""
                        )
        except AdapterError as error:
            _log.info("the indicator in %s on Slack could not be changed: %s", place.channel, error)

    async def _set(self, place: SlackPlace, status: Status) -> None:
        try:
            with self._api.client() as web:
                await web.agents_sessions_setStatus(
                    channel_id=place.channel, thread_ts=place.thread, status=status
                )
        except Rejected as error:
            _log.debug("slack shows no session in %s: %s", place.channel, error)
        self._shown.put(place, status)
