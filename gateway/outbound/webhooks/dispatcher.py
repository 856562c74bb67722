"""Send the deliveries of webhooks: signed, one at a time for each webhook, until accepted."""

import asyncio
import logging
import random
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, partial

from agent_core.errors import StoreError
from agent_core.ids import PersonId
from agent_core.models.http import parse_retry_after
from agent_core.state.engine.database import Connection, Database
from agent_core.state.queues.outbox import OutboxRow
from agent_core.state.webhooks import deliveries, webhooks
from agent_core.state.webhooks.deliveries import Delivery
from agent_core.state.webhooks.webhooks import Webhook
from agent_core.tools.readers.faults import FetchFailed
from agent_core.tools.web.fetching import Fetcher, FetchRequest
from gateway.fairness import Workers
from gateway.outbound.webhooks.events import EventGatherer
from gateway.outbound.webhooks.signatures import sign

LOOK = 1.0
"""Seconds between two looks for events, while there are active webhooks."""
_PAUSES = (5, 300, 1800, 7200, 18_000, 36_000, 36_000)
"""Seconds after each failed attempt, 28 hours together: the schedule of Svix
(https://docs.svix.com/retries), whose makers edit the specification."""
_JITTER = 0.2
"""Largest random share added to a pause, so that failed webhooks don't all retry at once."""
_LONGEST_WAIT = 24 * 3600.0
"""Seconds that a receiver may ask to wait."""
_AT_ONCE = 8
"""Requests at one time, of different webhooks."""
_FAULT_PAUSE = 300_000
"""Milliseconds that a webhook rests after an error of this program."""
_GONE = 410
_GONE_REASON = "its receiver answers that it is gone for good (status 410)"

_log = logging.getLogger(__name__)

Tell = Callable[[Connection, Webhook, int], Sequence[OutboxRow]]
"""Tells a person in the caller's transaction that their webhook ended; the number is the time in
milliseconds.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookTimings:
    """Timings that tests change."""

    look: float = LOOK
    seconds: float = 15.0
    """Timeout for the answer to one request; Svix waits as long."""
    pace: float = 1.0
    """Factor of the pauses after failed attempts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Outcome:
    """The result of an attempt; `reason` is "" if it was accepted, `wait` is in seconds."""

    status: int | None = None
    reason: str = ""
    wait: float = 0.0


class WebhookDispatcher:
    """Sends the deliveries of everyone's webhooks. It rests while there is no active webhook."""

    def __init__(
        self,
        *,
        group: asyncio.TaskGroup,
        database: Database,
        allow_hosts: Sequence[str],
        is_admitted: Callable[[Connection, PersonId], bool],
        tell: Tell,
        enqueue: Callable[[Sequence[OutboxRow]], None],
        now: Callable[[], int],
        timings: WebhookTimings,
    ) -> None:
        """`allow_hosts` are the hosts that may have an address of the local network.

        `is_admitted` returns whether a person may talk to the assistant; nothing is sent for
        others.
        """
        self._database = database
        self._allow_hosts = allow_hosts
        self._is_admitted = is_admitted
        self._tell = tell
        self._enqueue = enqueue
        self._now = now
        self._timings = timings
        self._gatherer = EventGatherer(database, is_admitted, now)
        self._workers = Workers(group, self._serve, self._rest)
        self._places = asyncio.Semaphore(_AT_ONCE)
        self._due = asyncio.Event()

    @cached_property
    def _fetcher(self) -> Fetcher:
        """The client for requests; it is imported and made for the first of them."""
        return Fetcher(allow_hosts=self._allow_hosts, seconds=self._timings.seconds)

    def wake(self) -> None:
        """Look at once, after a write that adds or resumes a webhook, or renews a delivery."""
        self._due.set()

    async def run(self) -> None:
        """Gather and send until cancelled."""
        while True:
            self._due.clear()
            pause: float | None = self._timings.look
            try:
                has_any, due = await self._gatherer.gather()
                pause = pause if has_any else None
                for webhook in due:
                    if not self._workers.is_busy(webhook.id):
                        self._workers.put(webhook.id, webhook)
            except StoreError as error:
                _log.error("webhooks wait for the store: %s", error)
                pause = self._database.retry_pause
            with suppress(TimeoutError):
                async with asyncio.timeout(pause):
                    await self._due.wait()

    async def _serve(self, _: int, queue: deque[Webhook]) -> None:
        """Send what is due for a webhook until nothing is, or an attempt fails."""
        webhook = queue[0]
        try:
            async with self._places:
                while await self._send_next(webhook):
                    pass
        except StoreError as error:
            _log.error("webhook %d waits for the store: %s", webhook.id, error)
        queue.popleft()

    async def _rest(self, _: int, webhook: Webhook, error: Exception) -> None:
        """Let a webhook rest after an unexpected error."""
        due_at = self._now() + _FAULT_PAUSE
        await self._database.write(
            "webhooks.rest",
            webhooks.note_result,
            webhook=webhook,
            failures=webhook.failures,
            due_at=due_at,
        )

    async def _send_next(self, webhook: Webhook) -> bool:
        """Send the next due delivery; return whether there was one and its receiver accepted it."""
        found = await self._database.read(partial(self._find_due, webhook=webhook))
        if found is None:
            return False
        current, delivery = found
        outcome = await self._attempt(current, delivery)
        record = partial(self._record, webhook=current, delivery=delivery, outcome=outcome)
        self._enqueue(
            await self._database.retry_while_unavailable(
                lambda: self._database.write("webhooks.result", record), "a webhook"
            )
        )
        return not outcome.reason

    def _find_due(
        self, connection: Connection, webhook: Webhook
    ) -> tuple[Webhook, Delivery] | None:
        now = self._now()
        current = webhooks.find(connection, person_id=webhook.person_id, webhook_id=webhook.id)
        if current is None or current.state != "active" or current.due_at > now:
            return None
        if not self._is_admitted(connection, current.person_id):
            return None
        delivery = deliveries.find_due(connection, webhook=current, now=now)
        return (current, delivery) if delivery else None

    async def _attempt(self, webhook: Webhook, delivery: Delivery) -> _Outcome:
        """Make one request, and judge the answer."""
        body, now = delivery.payload.encode(), self._now()
        headers = {
            "Content-Type": "application/json",
            **sign(webhook.list_secrets(now), delivery.event_id, body, now),
        }
        try:
            reply = await self._fetcher.send(
                FetchRequest(url=webhook.url, headers=headers, body=body)
            )
        except FetchFailed as error:
            return _Outcome(reason=str(error))
        if 200 <= reply.status < 300:
            return _Outcome(status=reply.status)
        reason = f"it answers with status {reply.status}"
        if 300 <= reply.status < 400:
            reason = f"it redirects (status {reply.status}), and redirects are not followed"
        wait = parse_retry_after(reply.retry_after, now / 1000) or 0.0
        return _Outcome(status=reply.status, reason=reason, wait=min(wait, _LONGEST_WAIT))

    def _record(
        self, connection: Connection, webhook: Webhook, delivery: Delivery, outcome: _Outcome
    ) -> Sequence[OutboxRow]:
        """Record an attempt; return the messages that tell the person that their webhook ended."""
        now = self._now()
        if not outcome.reason:
            status = outcome.status or 0
            deliveries.mark_sent(connection, delivery_id=delivery.id, status=status, now=now)
            if webhook.failures or webhook.due_at:
                webhooks.note_result(connection, webhook=webhook, failures=0, due_at=0)
            return []
        spread = self._timings.pace * (1 + random.random() * _JITTER)  # noqa: S311 - no secret
        own, all_ = (
            _find_due_at(now, failures, spread, outcome.wait)
            for failures in (delivery.attempts + 1, webhook.failures + 1)
        )
        deliveries.mark_failed(
            connection,
            delivery_id=delivery.id,
            status=outcome.status,
            reason=outcome.reason,
            due_at=own or now,
        )
        current = webhooks.find(connection, person_id=webhook.person_id, webhook_id=webhook.id)
        if current is None or current.state != "active":
            return []
        if outcome.status == _GONE or all_ is None:
            reason = _GONE_REASON if outcome.status == _GONE else outcome.reason
            webhooks.set_state(connection, webhook=webhook, state="dead", reason=reason)
            return self._tell(connection, replace(webhook, reason=reason), now)
        if own is None:
            deliveries.give_up(connection, delivery_id=delivery.id, now=now)
        webhooks.note_result(
            connection, webhook=webhook, failures=webhook.failures + 1, due_at=all_
        )
        return []


def _find_due_at(now: int, failures: int, spread: float, wait: float) -> int | None:
    """Return when the next attempt is due after so many failures; None after the last one."""
    if failures > len(_PAUSES):
        return None
    return now + round(1000 * max(_PAUSES[failures - 1] * spread, wait))
