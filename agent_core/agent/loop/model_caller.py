"""Make one model call, with a fallback model if need be; plan the waits while no model answers."""

import logging
import random
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, replace

from agent_core.agent.loop.contract import LoopDeps, TurnInput
from agent_core.agent.loop.messages import describe_failure
from agent_core.errors import (
    ModelBusy,
    ModelDenied,
    ModelError,
    ModelInterrupted,
    ModelOverflow,
    ModelUnknown,
)
from agent_core.events import ModelFault, ModelOutage
from agent_core.models.contract import ModelAnswer, ModelRequest, TextDelta
from agent_core.transcript import Message, Part, TextPart

_log = logging.getLogger(__name__)

_LONGEST_PAUSE = 60.0
"""The most seconds between two tries. A turn continues at most this long after an outage."""
_LONGEST_FAULT_PAUSE = 300.0
"""The most seconds between two tries while a fault lasts that an owner has to fix."""
_JUMP = 2000
"""Milliseconds by which the time of day has to differ from the clock to count as a jump."""
_FAULT_PATIENCE = 86_400.0
"""Seconds that a turn waits for an owner, who may be asleep."""


@dataclass(frozen=True, slots=True)
class TextDiscarded:
    """The text streamed so far is void: the call is made again."""


class ModelCaller:
    """Makes the model calls of one turn.

    A call goes to each model at most once. After a switch to a fallback model, later calls stay
    there: switching back would wait for the same failure before every step.
    """

    def __init__(self, deps: LoopDeps, *, is_late: Callable[[], bool]) -> None:
        """`is_late` returns True once the turn's time is up; then no other model is tried."""
        policy = deps.policy
        self._deps = deps
        self._models = tuple(dict.fromkeys((policy.model, *policy.fallbacks)))
        self._cheap = policy.cheap
        self._is_late = is_late
        self.model = policy.model
        """The model of the next call, unless a quota is nearly exhausted."""
        self.used_cheap_model = False
        """True if the last call went to the cheap model, because a quota is nearly exhausted."""

    def start_over(self) -> bool:
        """Call the first model again, which may be back; return False if it is called already."""
        was_first = self.model == self._models[0]
        self.model = self._models[0]
        return not was_first

    async def build_request(self, turn: TurnInput, messages: tuple[Message, ...]) -> ModelRequest:
        """Build the request for a call with these messages. Raises `StoreError`."""
        return ModelRequest(
            model=self.model,
            system=turn.system,
            tools=turn.tools,
            messages=messages,
            max_output_tokens=self._deps.policy.max_output_tokens,
            images=await self._deps.load_images(messages),
        )

    async def call(
        self, turn: TurnInput, wanted: ModelRequest
    ) -> AsyncGenerator[TextDelta | TextDiscarded | ModelFault | ModelAnswer, None]:
        """Stream the answer to a request; the whole answer comes last.

        Raises any `ModelError`, `QuotaExceeded`, and `StoreError`.
        """
        failures: dict[str, ModelError] = {}
        while True:
            if wanted.model != self.model:
                wanted = replace(wanted, model=self.model)
            reserved = await self._deps.reserve(wanted, cheap=self._cheap)
            request, self.used_cheap_model = reserved.request, reserved.used_cheap_model
            fingerprint = self._deps.fingerprints.take(
                turn.conversation_id, turn.prompt_hash, request
            )
            stream = self._deps.model.stream(request)
            streamed = 0
            try:
                async for piece in stream:
                    if isinstance(piece, ModelAnswer):
                        reserved.finalize(piece.model, piece.usage)
                        self._deps.faulty.discard(request.model)
                        message = self._hide_secrets(piece.message)
                        yield replace(piece, message=message, fingerprint=fingerprint)
                        return
                    streamed += len(piece.text)
                    yield piece
                raise ModelInterrupted("the stream ended before the answer did")
            except ModelError as error:
                failure = error
                _log.warning("turn %d: %s failed: %s", turn.turn_id, request.model, error)
            finally:
                reserved.close(streamed=streamed)
                if isinstance(stream, AsyncGenerator):
                    await stream.aclose()
            if self._is_news(request.model, failure):
                yield ModelFault(
                    model=request.model, reason=describe_failure(failure), detail=str(failure)
                )
            self._choose_next(failure, failures)
            yield TextDiscarded()

    def _hide_secrets(self, message: Message) -> Message:
        """Hide secrets in the words of an answer, before it is stored and sent back."""
        parts = tuple(self._hide_in_part(part) for part in message.parts)
        return message if parts == message.parts else replace(message, parts=parts)

    def _hide_in_part(self, part: Part) -> Part:
        if not isinstance(part, TextPart):
            return part
        text = self._deps.toolbox.mask.hide(part.text)
        return part if text == part.text else replace(part, text=text)

    def _is_news(self, model: str, failure: ModelError) -> bool:
        """Return True the first time that any turn meets a fault that only an owner can fix."""
        if not isinstance(failure, ModelDenied | ModelUnknown) or model in self._deps.faulty:
            return False
        self._deps.faulty.add(model)
        return True

    def _choose_next(self, failure: ModelError, failures: dict[str, ModelError]) -> None:
        """Choose the model of the next try; raises if no model may help.

        `failures` collects the failures by model. Raises the failure that is most likely to pass.
        """
        if self._is_late():
            raise failure
        if self.used_cheap_model:  # the wanted model may still answer
            self._cheap = ""
            return
        if isinstance(failure, ModelOverflow) and self.model == self._models[0]:
            raise failure
        failures[self.model] = failure
        untried = [name for name in self._models if name not in failures]
        if not untried:
            self.model = min(failures, key=lambda name: _rank(failures[name]))
            raise failures[self.model]
        self.model = untried[0]


def _rank(failure: ModelError) -> int:
    """Return 0 for a failure that passes, 1 for one that a shorter transcript may end, 2 for one
    that an owner can fix, 3 for any other.
    """
    if isinstance(failure, ModelBusy | ModelInterrupted):
        return 0
    if isinstance(failure, ModelOverflow):
        return 1
    return 2 if isinstance(failure, ModelDenied | ModelUnknown) else 3


class Outage:
    """The current outage of one turn: its beginning, and the failed tries since then."""

    def __init__(
        self, *, patience: float | None, since: int | None, clock: Callable[[], float]
    ) -> None:
        """`patience` is in seconds, None for a turn that never waits; `since` is the beginning of
        an outage that still lasts, in milliseconds since the epoch, or None. `clock` returns
        monotonic seconds, so that no jump of the time ends the patience.
        """
        self._patience = patience
        self._clock = clock
        self._began: float | None = None
        """The beginning of the outage on `clock`; None before the first failed try."""
        self._tries = 0
        self.since = since
        self.is_recorded = False
        """True once this process has recorded the outage, so that no crash counts meanwhile."""

    def end(self) -> None:
        """Note that a model has answered."""
        self.since, self._began, self._tries, self.is_recorded = None, None, 0, False

    def plan(self, error: ModelError, now: int) -> tuple[ModelOutage, float] | None:
        """Plan the wait after a failed try: the event to show, and the seconds of the pause.

        Returns None if another try is useless, or the patience is over.
        """
        if self._patience is None:
            return None
        is_fault = isinstance(error, ModelDenied | ModelUnknown)
        if not is_fault and not isinstance(error, ModelBusy | ModelInterrupted):
            return None
        self.since = now if self.since is None else self.since
        patience = max(self._patience, _FAULT_PATIENCE) if is_fault else self._patience
        if self._began is None:  # an earlier process may have waited, too
            self._began = self._clock() - max(now - self.since, 0) / 1000
        left = patience - (self._clock() - self._began)
        if left <= 0:
            return None
        longest = _LONGEST_FAULT_PAUSE if is_fault else _LONGEST_PAUSE
        pause = min(2.0**self._tries, longest)
        self._tries += 1
        asked = error.retry_after or 0.0 if isinstance(error, ModelBusy) else 0.0
        # Jitter keeps turns that failed together from trying again together.
        seconds = max(asked, pause * random.uniform(0.5, 1.0))  # noqa: S311
        until = self.since + round(patience * 1000)
        if abs(now + left * 1000 - until) > _JUMP:
            until = now + round(left * 1000)
        shown = ModelOutage(reason=describe_failure(error), since=self.since, until=until)
        return shown, min(seconds, left)
