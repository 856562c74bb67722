"""Reserves money and tokens of the day for model calls, and settles what they took."""

import asyncio
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from agent_core.agent.quotas.balance import (
    Balance,
    CostEstimate,
    DailyLimit,
    QuotaDay,
    Unit,
    day_of,
)
from agent_core.errors import QuotaExceeded, StoreError
from agent_core.ids import PersonId
from agent_core.models.catalog import Prices, bill, estimate_input
from agent_core.models.contract import ModelRequest, Usage
from agent_core.state.conversations import usage
from agent_core.state.conversations.usage import Charged, Spent
from agent_core.state.engine.database import Connection, Database
from agent_core.state.people import people

_MOST_RATIO = 4.0
"""Of the tokens of a request to their estimate: Chinese has about a token a character."""
_RATIO_KEPT = 0.95
"""What is left of a ratio that was seen after each call that shows a lower one."""

PricedRequest = tuple[ModelRequest, CostEstimate]
"""A call, and what it may come to."""


class CostEstimator:
    """Estimates for all models; what each took corrects those to come."""

    def __init__(self, prices: Prices) -> None:
        self._prices = prices
        self._ratios: dict[str, float] = {}

    def measure(self, request: ModelRequest) -> PricedRequest:
        """The call with the model that is wished for."""
        sent, most = estimate_input(request), request.max_output_tokens
        return request, self._need(request.model, sent, most)

    def list_all(self, wish: PricedRequest, cheap: str) -> list[PricedRequest]:
        """The call with each model that may be asked, the one that is wished for first."""
        request, need = wish
        if not cheap or cheap == request.model:
            return [wish]
        cheaper = self._need(cheap, need.sent, request.max_output_tokens)
        return [wish, (replace(request, model=cheap), cheaper)]

    def learn(self, model: str, estimated: int, taken: int) -> None:
        """A request of so many estimated tokens was `taken` tokens long."""
        seen = min(taken / estimated, _MOST_RATIO) if estimated else 1.0
        self._ratios[model] = max(1.0, seen, self._ratios.get(model, 1.0) * _RATIO_KEPT)

    def _need(self, model: str, sent: int, written: int) -> CostEstimate:
        read = math.ceil(sent * self._ratios.get(model, 1.0))
        low = self._prices.cost(model, Usage(cache_read_tokens=sent))
        high = self._prices.cost(model, Usage(cache_write_tokens=read, output_tokens=written))
        if low is None or high is None:
            return CostEstimate(sent=sent, unit="tokens", least=sent, most=read + written)
        return CostEstimate(sent=sent, unit="money", least=low, most=high)


_FRESH = 60_000
"""Milliseconds for which what was read stands; accounts are joined and clocks set rarely."""
_LONGEST_WAIT = 60.0
"""Seconds for which a call waits while others have reserved what is left of a day."""
_CHARACTERS = 4
"""Of a token, about, in an answer that broke off."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotaRules:
    """The ceilings of a house. `cheap_from` is the percentage from which the cheap model
    answers and background work stops; `zone` is that of the house, and of people without one.
    """

    person: DailyLimit
    house: DailyLimit
    cheap_from: int
    zone: str


class Reservation:
    """What is set aside for one call. Settle it or close it, always."""

    def __init__(
        self,
        quotas: "Quotas",
        person_id: PersonId,
        balances: tuple[Balance, Balance],
        wish: tuple[ModelRequest, CostEstimate],
        *,
        used_cheap_model: bool,
    ) -> None:
        self.request, need = wish
        """What to ask: what was wished for, or the same of the cheap model."""
        self.used_cheap_model = used_cheap_model
        """True where the cheap model answers because a ceiling is near."""
        self._person_id = person_id
        self._balances = balances
        self._need = need
        self._quotas = quotas
        self._is_open = True
        for balance in balances:
            balance.reserved[need.unit] += need.most

    def finalize(self, model: str, spent: Usage) -> None:
        """The call took this; `model` is the name that answered."""
        tokens = spent.input_tokens + spent.cache_read_tokens + spent.cache_write_tokens
        self._quotas.needs.learn(self.request.model, self._need.sent, tokens)
        cost = self._quotas.prices.cost(model, spent)
        if cost is None:
            self._close("tokens", tokens + spent.output_tokens)
        else:
            self._close("money", cost)

    def close(self, *, streamed: int = 0) -> None:
        """Give back what was not settled.

        A call of which `streamed` characters came before it broke off was begun and is
        billed by its provider: the least that it can have cost is spent, and gets its row.
        """
        if not (self._is_open and streamed):
            self._close(self._need.unit, 0)
            return
        taken = Usage(
            cache_read_tokens=self._need.sent,
            output_tokens=-(-streamed // _CHARACTERS),
        )
        self._quotas.record_broken(self._person_id, self.request.model, taken)
        self.finalize(self.request.model, taken)

    def _close(self, unit: Unit, amount: int) -> None:
        if not self._is_open:
            return
        self._is_open = False
        for balance in self._balances:
            balance.reserved[self._need.unit] -= self._need.most
            balance.spent[unit] += amount
        self._quotas.notify_waiters()


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotaStatus:
    """How a person stands today, or everybody together."""

    day: QuotaDay
    spent: Charged
    limit: DailyLimit


class Quotas:
    """Keeps the tills of everybody. One for a process; reservations end with it."""

    def __init__(
        self,
        *,
        rules: QuotaRules,
        prices: Prices,
        database: Database,
        now: Callable[[], int],
        max_wait: float = _LONGEST_WAIT,
    ) -> None:
        """`max_wait` is how long a call waits for what others have reserved, in seconds."""
        self.rules = rules
        self.prices = prices
        self._database = database
        self._now = now
        self._house = Balance("deployment", rules.house)
        self._people: dict[PersonId, Balance] = {}
        self._read_at: dict[PersonId, int] = {}
        self._opening = asyncio.Lock()
        self.needs = CostEstimator(prices)
        self._patience = max_wait
        self._changed = asyncio.Event()
        self._broken: list[tuple[PersonId, Spent, int]] = []
        """Rows of calls that broke off, written before the next call is made."""

    async def reserve(
        self,
        person_id: PersonId,
        request: ModelRequest,
        *,
        cheap: str = "",
        is_background: bool = False,
    ) -> Reservation:
        """Set aside what a call may take, before it is made.

        Near a ceiling the model `cheap` is chosen instead; background work is refused there.
        While others have reserved what is left, it waits. Raises `QuotaExceeded`, `StoreError`.
        """
        await self._write_broken()
        wish = self.needs.measure(request)
        until = asyncio.get_running_loop().time() + self._patience
        while True:
            balances = await self._open(person_id)
            changed = self._changed
            found = self._choose(balances, wish, cheap, is_background=is_background)
            if not isinstance(found, _Refusal):
                used_cheap_model = found is not wish
                return Reservation(
                    self, person_id, balances, found, used_cheap_model=used_cheap_model
                )
            if not found.may_wait:
                raise found.quota
            try:
                async with asyncio.timeout_at(until):
                    await changed.wait()
            except TimeoutError:
                raise found.quota from None

    async def look(self, person_id: PersonId) -> tuple[QuotaStatus, QuotaStatus]:
        """How a person stands today, and everybody together. Raises `StoreError`."""
        await self._write_broken()
        person, house = await self._open(person_id)
        return _standing(person), _standing(house)

    def record_broken(self, person_id: PersonId, model: str, taken: Usage) -> None:
        """A call broke off that is billed all the same: it gets a row."""
        spent = bill(model, taken, "broken", self.prices.cost)
        self._broken.append((person_id, spent, self._now()))

    async def _write_broken(self) -> None:
        rows, self._broken = self._broken, []
        if not rows:
            return

        def work(connection: Connection) -> None:
            for person_id, spent, at in rows:
                usage.insert(connection, spent, person_id=person_id, turn_id=None, now=at)

        try:
            await self._database.write("ceilings.broken", work)
        except StoreError:
            self._broken += rows
            raise

    def notify_waiters(self) -> None:
        """Something was given back: those who wait look again."""
        self._changed.set()
        self._changed = asyncio.Event()

    def _choose(
        self,
        balances: tuple[Balance, Balance],
        wished: PricedRequest,
        cheap: str,
        *,
        is_background: bool,
    ) -> "PricedRequest | _Refusal":
        """What there is room for, or why there is none. Nothing is awaited until it is taken."""
        need = wished[1]
        near = [balance for balance in balances if balance.is_near(need, self.rules.cheap_from)]
        if near and is_background:
            return _Refusal(quota=_explain(near, need), may_wait=False)
        if not near and all(balance.judge(need) == "room" for balance in balances):
            return wished  # as nearly always: what the cheap model would take is not asked
        wishes = self.needs.list_all(wished, cheap)
        may_wait, tight = False, near
        for wish in wishes[::-1] if near else wishes:
            need = wish[1]
            verdicts = {balance: balance.judge(need) for balance in balances}
            tight = [balance for balance, verdict in verdicts.items() if verdict != "room"]
            if not tight:
                return wish
            may_wait = may_wait or "shut" not in verdicts.values()
        quota = _explain(tight, need)
        return _Refusal(quota=quota, may_wait=may_wait and not is_background)

    async def _open(self, person_id: PersonId) -> tuple[Balance, Balance]:
        """The tills of a person and of the house, of today. Raises `StoreError`."""
        now, zone, house = self._now(), self.rules.zone, self._house
        if not house.day.start <= now < house.day.end:
            await self._open_house(now)
        person = self._people.setdefault(person_id, Balance("person", self.rules.person))
        age = now - self._read_at.get(person_id, now - _FRESH)
        if 0 <= age < _FRESH and now < person.day.end:
            return person, house

        def look(connection: Connection) -> tuple[QuotaDay, Charged]:
            known = people.find(connection, person_id=person_id)
            day = day_of(now, (known and known.time_zone) or zone, person.day)
            return day, usage.charged_since(connection, person_id=person_id, since=day.start)

        day, spent = await self._database.read(look)
        person.load(day, [spent])
        self._read_at[person_id] = now
        return person, house

    async def _open_house(self, now: int) -> None:
        """Sum up the day once, however many ask: that takes tens of milliseconds in a big house."""
        async with self._opening:
            day = day_of(now, self.rules.zone, self._house.day)
            if day != self._house.day:
                rows = await self._database.read(
                    lambda c: usage.charged_by_person(c, since=day.start)
                )
                self._house.load(day, [charged for _, _, charged in rows])


@dataclass(frozen=True, slots=True)
class _Refusal:
    """Why a call has to wait, or can't be made today."""

    quota: QuotaExceeded
    may_wait: bool


def _explain(balances: Sequence[Balance], need: CostEstimate) -> QuotaExceeded:
    """Of ceilings that leave no room, the one that does so longest."""
    balance = max(balances, key=lambda balance: balance.day.end)
    limit = balance.limit.amount(need.unit)
    return QuotaExceeded(
        f"the {need.unit} of the {balance.subject} for today: {balance.spent[need.unit]} of {limit} spent",
        subject=balance.subject,
        unit=need.unit,
        limit=limit,
        resets_at=balance.day.end,
    )


def _standing(balance: Balance) -> QuotaStatus:
    spent = Charged(micro_dollars=balance.spent["money"], unpriced_tokens=balance.spent["tokens"])
    return QuotaStatus(day=balance.day, spent=spent, limit=balance.limit)
