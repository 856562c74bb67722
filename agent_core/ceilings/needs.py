"""What a model call may come to, at the least and at the most; learns how long requests are."""

import math
from dataclasses import replace

from agent_core.ceilings.till import Need
from agent_core.models.contract import ModelRequest, Usage
from agent_core.models.estimate import estimate_input
from agent_core.models.prices import Prices

_MOST_RATIO = 4.0
"""Of the tokens of a request to their estimate: Chinese has about a token a character."""
_RATIO_KEPT = 0.95
"""What is left of a ratio that was seen after each call that shows a lower one."""

Wish = tuple[ModelRequest, Need]
"""A call, and what it may come to."""


class Needs:
    """Estimates for all models; what each took corrects those to come."""

    def __init__(self, prices: Prices) -> None:
        self._prices = prices
        self._ratios: dict[str, float] = {}

    def measure(self, request: ModelRequest) -> Wish:
        """The call with the model that is wished for."""
        sent, most = estimate_input(request), request.max_output_tokens
        return request, self._need(request.model, sent, most)

    def list_all(self, wish: Wish, cheap: str) -> list[Wish]:
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

    def _need(self, model: str, sent: int, written: int) -> Need:
        read = math.ceil(sent * self._ratios.get(model, 1.0))
        low = self._prices.cost(model, Usage(cache_read_tokens=sent))
        high = self._prices.cost(model, Usage(cache_write_tokens=read, output_tokens=written))
        if low is None or high is None:
            return Need(sent=sent, unit="tokens", least=sent, most=read + written)
        return Need(sent=sent, unit="money", least=low, most=high)
