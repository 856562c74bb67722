"""Make one model call, with retries, a fallback model and a reservation of its cost."""

import logging
import random
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, replace

from agent_core.agent.loop.contract import LoopDeps, TurnInput
from agent_core.errors import ModelBusy, ModelError, ModelInterrupted, ModelOverflow
from agent_core.models import ModelAnswer, ModelRequest, TextDelta
from agent_core.transcript import Message

_LONGEST_BACKOFF = 30.0
_LONGEST_WAIT = 60.0
"""Seconds. A provider that asks for a longer pause counts as unavailable for this turn."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class TextDiscarded:
    """The text streamed so far is void: the call is made again."""


class ModelCaller:
    """Makes the model calls of one turn.

    After it switched to the fallback model it stays there: switching back would wait for the same
    failures before every step.
    """

    def __init__(self, deps: LoopDeps, *, is_late: Callable[[], bool]) -> None:
        """`is_late` returns True once the turn's time is up and no retry is worth a wait."""
        policy = deps.policy
        self._deps = deps
        self._models = [name for name in (policy.model, policy.fallback) if name]
        self._cheap = policy.cheap
        self._is_late = is_late
        self._tries = 0
        self.used_cheap_model = False
        """True if the last call went to the cheap model, because a quota is nearly exhausted."""

    @property
    def model(self) -> str:
        """The model of the next call, unless a quota is nearly exhausted."""
        return self._models[0]

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
    ) -> AsyncGenerator[TextDelta | TextDiscarded | ModelAnswer, None]:
        """Stream the answer to a request; the whole answer comes last.

        Raises any `ModelError`, `QuotaExceeded`, and `StoreError`.
        """
        self._tries = 0
        while True:
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
                        yield replace(piece, fingerprint=fingerprint)
                        return
                    streamed += len(piece.text)
                    yield piece
                raise ModelInterrupted("the stream ended before the answer did")
            except ModelError as error:
                pause = self._plan_retry(error)
                _log.warning(
                    "turn %d: %s failed (%s); calling %s in %.1f s",
                    turn.turn_id,
                    request.model,
                    error,
                    self._models[0],
                    pause,
                )
            finally:
                reserved.close(streamed=streamed)
                if isinstance(stream, AsyncGenerator):
                    await stream.aclose()
            yield TextDiscarded()
            await self._deps.wait(pause)

    def _plan_retry(self, error: ModelError) -> float:
        """Seconds until the next try; raises the error if another try is of no use."""
        if self._is_late() or (isinstance(error, ModelOverflow) and not self.used_cheap_model):
            raise error
        asked = error.retry_after or 0.0 if isinstance(error, ModelBusy) else 0.0
        is_passing = isinstance(error, ModelBusy | ModelInterrupted) and asked <= _LONGEST_WAIT
        if is_passing and self._tries < self._deps.policy.retries:
            backoff = min(2.0**self._tries, _LONGEST_BACKOFF)
            self._tries += 1
            # Jitter keeps turns that failed together from retrying together.
            return max(asked, backoff * random.uniform(0.5, 1.0))  # noqa: S311
        if self.used_cheap_model:  # the wanted model may still answer
            self._cheap, self._tries = "", 0
            return 0.0
        if len(self._models) == 1:
            raise error
        del self._models[0]
        self._tries = 0
        return 0.0
