"""Reserve the cost of model calls against daily quotas, before they are made."""

import asyncio
import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace

from agent_core.agent.quotas.balance import (
    Balance,
    CostEstimate,
    DailyLimit,
    QuotaDay,
    Unit,
    day_of,
)
from agent_core.errors import QuotaExceeded, ReachedQuota, StoreError
from agent_core.execution.subprocesses.spawning import finish
from agent_core.ids import PersonId
from agent_core.models.catalog import Prices
from agent_core.models.contract import ModelRequest, Usage
from agent_core.models.token_estimate import estimate_input
from agent_core.state.conversations import usage
from agent_core.state.conversations.usage import ModelCall, QuotaUsage
from agent_core.state.engine.database import Connection, Database
from agent_core.state.people import people

_MOST_RATIO = 4.0
"""Upper bound of real to estimated tokens: Chinese has about one token per character."""
_RATIO_KEPT = 0.95
"""The part of a learned ratio that each call with a lower ratio keeps."""

PricedRequest = tuple[ModelRequest, CostEstimate]
"""A request and its estimated cost."""


class CostEstimator:
    """Estimates costs by model, corrected by the usage of earlier calls."""

    def __init__(self, prices: Prices) -> None:
        self._prices = prices
        self._ratios: dict[str, float] = {}

    def measure(self, request: ModelRequest) -> PricedRequest:
        """Estimate a request's cost with its own model."""
        sent, most = estimate_input(request), request.max_output_tokens
        return request, self._estimate(request.model, sent, most)

    def list_options(self, priced: PricedRequest, cheap: str) -> list[PricedRequest]:
        """The request with each model that may be called, the wanted one first."""
        request, cost = priced
        if not cheap or cheap == request.model:
            return [priced]
        cheaper = self._estimate(cheap, cost.sent, request.max_output_tokens)
        return [priced, (replace(request, model=cheap), cheaper)]

    def learn(self, model: str, estimated: int, taken: int) -> None:
        """Record that a request with this estimate had `taken` tokens."""
        seen = min(taken / estimated, _MOST_RATIO) if estimated else 1.0
        self._ratios[model] = max(1.0, seen, self._ratios.get(model, 1.0) * _RATIO_KEPT)

    def _estimate(self, model: str, sent: int, written: int) -> CostEstimate:
        read = math.ceil(sent * self._ratios.get(model, 1.0))
        price = self._prices.find(model)
        if price is None:
            return CostEstimate(sent=sent, unit="tokens", least=sent, most=read + written)
        low = self._prices.charge(price, Usage(cache_read_tokens=sent))
        high = self._prices.charge(price, Usage(cache_write_tokens=read, output_tokens=written))
        return CostEstimate(sent=sent, unit="money", least=low, most=high)


_TRUSTED_MS = 60_000
"""Milliseconds for which a loaded balance is used: merges and clock changes, which alter it, are
rare.
"""
_LONGEST_WAIT = 60.0
"""Seconds that a call waits for the reservations of others."""
_CHARACTERS_PER_TOKEN = 4
"""Approximate characters per token of an interrupted answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotaRules:
    """The deployment's quotas.

    From `cheap_from` percent on, the cheap model answers and background work stops. `zone` applies
    to the deployment, and to people without a time zone of their own.
    """

    person: DailyLimit
    deployment: DailyLimit
    cheap_from: int
    zone: str


class QuotaReservation:
    """The amount set aside for one call. Always finalize or close the reservation."""

    def __init__(
        self,
        quotas: "Quotas",
        person_id: PersonId,
        balances: tuple[Balance, Balance],
        priced: tuple[ModelRequest, CostEstimate],
        *,
        used_cheap_model: bool,
    ) -> None:
        self.request, cost = priced
        """The request to send: the wanted one, or the same request for the cheap model."""
        self.used_cheap_model = used_cheap_model
        """True if the cheap model answers because a quota is nearly exhausted."""
        self._person_id = person_id
        self._balances = balances
        self._estimate = cost
        self._quotas = quotas
        self._is_open = True
        for balance in balances:
            balance.reserved[cost.unit] += cost.most

    def finalize(self, model: str, spent: Usage) -> int | None:
        """Replace the reserved amount by the call's usage; `model` is the model that answered.

        Returns the cost in micro-dollars, None without a known price.
        """
        self._quotas.estimator.learn(self.request.model, self._estimate.sent, spent.read_tokens)
        cost = self._quotas.prices.cost(model, spent)
        if cost is None:
            self._close("tokens", spent.total_tokens)
        else:
            self._close("money", cost)
        return cost

    def close(self, *, streamed: int = 0) -> None:
        """Release the amount if it was not finalized.

        The provider bills a call that broke off after `streamed` characters, so its least possible
        cost is spent and recorded.
        """
        if not (self._is_open and streamed):
            self._close(self._estimate.unit, 0)
            return
        taken = Usage(
            cache_read_tokens=self._estimate.sent,
            output_tokens=-(-streamed // _CHARACTERS_PER_TOKEN),
        )
        self._quotas.record_broken(self._person_id, self.request.model, taken)
        self.finalize(self.request.model, taken)

    def _close(self, unit: Unit, amount: int) -> None:
        if not self._is_open:
            return
        self._is_open = False
        for balance in self._balances:
            balance.reserved[self._estimate.unit] -= self._estimate.most
            balance.spent[unit] += amount
        self._quotas.notify_waiters()


class PriceReservation:
    """The fixed price of one paid call that is no model call. Close it when the call is over."""

    def __init__(
        self, quotas: "Quotas", balances: tuple[Balance, Balance], micro_dollars: int
    ) -> None:
        self._quotas = quotas
        self._balances = balances
        self._amount = micro_dollars
        self.day_start = balances[0].day.start
        """The start of the person's day, in milliseconds since the epoch, UTC."""
        for balance in balances:
            balance.reserved["money"] += micro_dollars

    def close(self, *, is_spent: bool) -> None:
        """Release the price, or count it as spent."""
        for balance in self._balances:
            balance.reserved["money"] -= self._amount
            balance.spent["money"] += self._amount if is_spent else 0
        self._quotas.notify_waiters()


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotaStatus:
    """Today's balance of a person or of the deployment."""

    day: QuotaDay
    spent: QuotaUsage
    limit: DailyLimit


class Quotas:
    """The balances of everyone; one object per process, which holds the reservations."""

    def __init__(
        self,
        *,
        rules: QuotaRules,
        prices: Prices,
        database: Database,
        now: Callable[[], int],
        max_wait: float = _LONGEST_WAIT,
    ) -> None:
        """`max_wait` is how long a call waits for the reservations of others, in seconds."""
        self.rules = rules
        self.prices = prices
        self._database = database
        self._now = now
        self._deployment = Balance("deployment", rules.deployment)
        self._people: dict[PersonId, Balance] = {}
        self._loaded_at: dict[PersonId, int] = {}
        self._opening = asyncio.Lock()
        self.estimator = CostEstimator(prices)
        self._max_wait = max_wait
        self._changed = asyncio.Event()
        self._broken: list[tuple[PersonId, ModelCall, int]] = []
        """Usage of calls that broke off, written before the next call or at the end."""

    async def reserve(
        self,
        person_id: PersonId,
        request: ModelRequest,
        *,
        cheap: str = "",
        is_background: bool = False,
    ) -> QuotaReservation:
        """Set aside the most that a call may cost.

        Chooses the model `cheap` if a quota is nearly exhausted, and refuses background work then.
        Waits while other calls have reserved the rest. Raises `QuotaExceeded` and `StoreError`.
        """
        await self.write_broken()
        priced = self.estimator.measure(request)
        until = asyncio.get_running_loop().time() + self._max_wait
        while True:
            balances = await self._open(person_id)
            changed = self._changed
            found = self._choose(balances, priced, cheap, is_background=is_background)
            if not isinstance(found, _Refusal):
                used_cheap_model = found is not priced
                return QuotaReservation(
                    self, person_id, balances, found, used_cheap_model=used_cheap_model
                )
            if not found.may_wait:
                raise found.error
            try:
                async with asyncio.timeout_at(until):
                    await changed.wait()
            except TimeoutError:
                raise found.error from None

    async def reserve_price(self, person_id: PersonId, micro_dollars: int) -> PriceReservation:
        """Set aside a fixed price. Raises `QuotaExceeded`, without waiting, and `StoreError`."""
        await self.write_broken()
        balances = await self._open(person_id)
        cost = CostEstimate(sent=0, unit="money", least=micro_dollars, most=micro_dollars)
        if tight := [balance for balance in balances if balance.judge(cost) != "available"]:
            raise _explain(tight, cost)
        return PriceReservation(self, balances, micro_dollars)

    async def status(self, person_id: PersonId) -> tuple[QuotaStatus, QuotaStatus]:
        """Today's status of a person and of the deployment. Raises `StoreError`."""
        await self.write_broken()
        person, deployment = await self._open(person_id)
        return _status(person), _status(deployment)

    async def find_deployment_status(self) -> QuotaStatus:
        """Find today's status of the deployment. Raises `StoreError`."""
        if not self._deployment.day.start <= (now := self._now()) < self._deployment.day.end:
            await self._load_deployment(now)
        return _status(self._deployment)

    def record_broken(self, person_id: PersonId, model: str, taken: Usage) -> None:
        """Record the usage of a call that broke off, because it is billed anyway."""
        cost = self.prices.cost(model, taken)
        spent = ModelCall(purpose="broken", model=model, **asdict(taken), micro_dollars=cost)
        self._broken.append((person_id, spent, self._now()))

    async def write_broken(self) -> None:
        """Write the usage of calls that broke off. Raises `StoreError`."""
        if self._broken:
            await finish(self._write_broken())

    async def _write_broken(self) -> None:
        rows, self._broken = self._broken, []

        def work(connection: Connection) -> None:
            for person_id, spent, at in rows:
                usage.insert(connection, spent, person_id=person_id, turn_id=None, now=at)

        try:
            await self._database.write("quotas.broken", work)
        except StoreError:
            self._broken += rows
            raise

    def notify_waiters(self) -> None:
        """Wake the calls that wait, because a reservation was released."""
        self._changed.set()
        self._changed = asyncio.Event()

    def _choose(
        self,
        balances: tuple[Balance, Balance],
        wanted: PricedRequest,
        cheap: str,
        *,
        is_background: bool,
    ) -> "PricedRequest | _Refusal":
        """Choose a request that fits, or explain the refusal. It never awaits, so that no other
        call can reserve in between.
        """
        cost = wanted[1]
        near = [balance for balance in balances if balance.is_near(cost, self.rules.cheap_from)]
        if near and is_background:
            return _Refusal(error=_explain(near, cost), may_wait=False)
        if not near and all(balance.judge(cost) == "available" for balance in balances):
            return wanted  # the usual case: skip the estimate for the cheap model
        options = self.estimator.list_options(wanted, cheap)
        may_wait, tight = False, near
        for priced in options[::-1] if near else options:
            cost = priced[1]
            verdicts = {balance: balance.judge(cost) for balance in balances}
            tight = [balance for balance, verdict in verdicts.items() if verdict != "available"]
            if not tight:
                return priced
            may_wait = may_wait or "exhausted" not in verdicts.values()
        error = _explain(tight, cost)
        return _Refusal(error=error, may_wait=may_wait and not is_background)

    async def _open(self, person_id: PersonId) -> tuple[Balance, Balance]:
        """Today's balances of a person and of the deployment. Raises `StoreError`."""
        now, zone, deployment = self._now(), self.rules.zone, self._deployment
        if not deployment.day.start <= now < deployment.day.end:
            await self._load_deployment(now)
        person = self._people.setdefault(person_id, Balance("person", self.rules.person))
        age = now - self._loaded_at.get(person_id, now - _TRUSTED_MS)
        if 0 <= age < _TRUSTED_MS and now < person.day.end:
            return person, deployment

        def look(connection: Connection) -> tuple[QuotaDay, QuotaUsage]:
            known = people.find(connection, person_id=person_id)
            day = day_of(now, (known and known.time_zone) or zone, person.day)
            spent = usage.charged_since(
                connection, person_id=person_id, since=day.start, until=day.end
            )
            return day, spent

        day, spent = await self._database.read(look)
        person.load(day, [spent])
        self._loaded_at[person_id] = now
        return person, deployment

    async def _load_deployment(self, now: int) -> None:
        """Load the deployment's day once for all waiting calls: with many people, that takes tens
        of milliseconds.
        """
        async with self._opening:
            day = day_of(now, self.rules.zone, self._deployment.day)
            if day != self._deployment.day:
                rows = await self._database.read(
                    usage.charged_by_person, since=day.start, until=day.end
                )
                self._deployment.load(day, [charged for _, _, charged in rows])


@dataclass(frozen=True, slots=True)
class _Refusal:
    """The error to raise, and whether waiting may help."""

    error: QuotaExceeded
    may_wait: bool


def _explain(balances: Sequence[Balance], cost: CostEstimate) -> QuotaExceeded:
    """The error of the exhausted quota that resets last."""
    balance = max(balances, key=lambda balance: balance.day.end)
    limit = balance.limit.amount(cost.unit)
    spent = balance.spent[cost.unit]
    return QuotaExceeded(
        f"the {balance.subject} has spent {spent} of {limit} {cost.unit} for today",
        ReachedQuota(
            subject=balance.subject, unit=cost.unit, limit=limit, resets_at=balance.day.end
        ),
    )


def _status(balance: Balance) -> QuotaStatus:
    spent = QuotaUsage(
        micro_dollars=balance.spent["money"], unpriced_tokens=balance.spent["tokens"]
    )
    return QuotaStatus(day=balance.day, spent=spent, limit=balance.limit)
