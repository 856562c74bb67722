"""Model calls in the background, within the payer's quotas."""

import asyncio
import logging
import uuid
from collections.abc import Awaitable, Callable
from contextlib import aclosing, suppress
from dataclasses import dataclass, replace

from agent_core.agent.quotas.reservations import Quotas
from agent_core.errors import (
    CoreError,
    ModelBusy,
    ModelDenied,
    ModelError,
    ModelInterrupted,
    ModelInUse,
    ModelRejected,
    ModelUnknown,
)
from agent_core.ids import PersonId
from agent_core.models.contract import Batches, Model, ModelAnswer, ModelRequest

_log = logging.getLogger(__name__)
_POLL = 60_000
"""Milliseconds between two checks of a batch."""
_LONGEST = 24 * 3_600_000
"""Milliseconds after which a batch is abandoned; the provider has the same limit."""
_NO_BATCH = (ModelRejected, ModelDenied, ModelUnknown)
"""Errors after which a batch never gets an answer. The direct call then answers or says why not."""


class AnswerPending(CoreError):
    """There is no answer yet, of a batch or of a busy server of this machine; come again after
    `wait` milliseconds.
    """

    def __init__(self, wait: int = _POLL) -> None:
        super().__init__(f"there is no answer yet; look again in {wait} ms")
        self.wait = wait


@dataclass(frozen=True, slots=True, kw_only=True)
class Ticket:
    """A request that was submitted as a batch, or may have been.

    `step` is the caller's name of the call. `since` is its beginning, in milliseconds since the
    epoch. `batch_id` is "" until the provider is known to have the batch.
    """

    step: str
    mark: str
    since: int
    batch_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tickets:
    """Keeps the ticket of one call.

    `known` is the ticket of an earlier attempt. `save` stores a ticket before its request is sent,
    so that no request is submitted twice.
    """

    step: str
    known: Ticket | None
    save: Callable[[Ticket], Awaitable[None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class BackgroundModel:
    """The model that background work calls, normally the cheap one, and the quotas for its calls.

    With `is_batched`, requests go through the provider's batches if it offers them.
    """

    model: Model
    name: str
    quotas: Quotas
    is_batched: bool = False

    async def ask(
        self,
        person_id: PersonId,
        request: ModelRequest,
        tickets: Tickets,
        now: int,
    ) -> ModelAnswer:
        """Return the answer; one of a batch costs half.

        If a batch fails, expires or takes longer than a day, makes the call directly. Raises
        `AnswerPending`, `ModelError`, `QuotaExceeded` and `StoreError`.
        """
        if isinstance(self.model, Batches) and (self.is_batched or tickets.known):
            ticket = tickets.known or Ticket(step=tickets.step, mark=uuid.uuid4().hex, since=now)
            try:
                answer = await self._ask_batch(self.model, person_id, request, tickets, ticket, now)
            except ModelBusy:
                if now - ticket.since <= _LONGEST:
                    raise AnswerPending from None
                answer = None
            except _NO_BATCH as error:
                _log.info("a direct call follows a batch: %s", error)
                answer = None
            if answer:
                cost = self.quotas.prices.cost(answer.model, answer.usage)
                return replace(answer, micro_dollars=_halve(cost))
        return await call_in_background(self.model, self.quotas, person_id, request)

    async def _ask_batch(
        self,
        model: Batches,
        person_id: PersonId,
        request: ModelRequest,
        tickets: Tickets,
        ticket: Ticket,
        now: int,
    ) -> ModelAnswer | None:
        """Submit a request, or collect its answer; None if the call must be made directly."""
        batch_id: str | None = ticket.batch_id
        if batch_id:
            answer = await model.collect(request.model, batch_id, ticket.mark)
            if answer is None and now - ticket.since > _LONGEST:
                with suppress(ModelError):
                    await model.cancel(request.model, batch_id)
                return None
            if answer is None:
                raise AnswerPending
            return answer
        if tickets.known:  # after a crash or an error, the batch may have arrived
            batch_id = await model.find_batch(request.model, ticket.mark, ticket.since)
        if not batch_id:
            reserved = await self.quotas.reserve(person_id, request, is_background=True)
            reserved.close()  # only a check: the cost is known at the batch's end
            await tickets.save(ticket)
            batch_id = await model.submit(request, ticket.mark)
        if not batch_id:
            return None
        await tickets.save(replace(ticket, batch_id=batch_id))
        raise AnswerPending


def _halve(cost: int | None) -> int | None:
    """Return the price of a batch: half of the usual cost, rounded up."""
    return None if cost is None else -(-cost // 2)


async def call_in_background(
    model: Model,
    quotas: Quotas,
    person_id: PersonId,
    request: ModelRequest,
    *,
    is_awaited: bool = False,
) -> ModelAnswer:
    """Make one call without showing it, within the payer's quotas.

    `is_awaited` means that somebody waits for what needs it. Raises `AnswerPending` if a server of
    this machine answers people first, `ModelError`, `QuotaExceeded` and `StoreError`.
    """
    request = replace(request, is_background=not is_awaited)
    reserved = await quotas.reserve(person_id, request, is_background=True)
    streamed = 0
    answer = None
    try:
        async with aclosing(model.stream(request)) as pieces:
            async for piece in pieces:
                if isinstance(piece, ModelAnswer):
                    cost = reserved.finalize(piece.model, piece.usage)
                    answer = replace(piece, micro_dollars=cost)
                    break
                streamed += len(piece.text)
    except ModelInUse as error:
        raise AnswerPending(round((error.retry_after or 0.0) * 1000) or _POLL) from error
    except asyncio.CancelledError:
        if answer:  # the caller can't record the cost
            quotas.record_broken(person_id, answer.model, answer.usage)
        raise
    finally:
        reserved.close(streamed=streamed)
    if answer is None:
        raise ModelInterrupted("the stream ended before the answer did")
    return answer
