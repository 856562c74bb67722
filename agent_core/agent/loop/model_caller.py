"""Gets one whole answer: tries again when a provider fails, then asks the other model."""

import logging
import random
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, replace

from agent_core.agent.loop.contract import LoopDeps, TurnInput
from agent_core.errors import ModelBusy, ModelCut, ModelError, ModelOverflow
from agent_core.models.contract import ModelAnswer, ModelRequest, TextDelta
from agent_core.transcript import Message

_LONGEST_BACKOFF = 30.0
_LONGEST_WAIT = 60.0
"""Seconds. A provider that asks for more than this is as good as gone for this turn."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class TextDiscarded:
    """Whatever text was streamed no longer stands: the call is made again."""


class ModelCaller:
    """Makes the model calls of one turn.

    Once it has gone over to the fallback it stays there: going back would wait for the
    same failures before every step.
    """

    def __init__(self, deps: LoopDeps, *, is_late: Callable[[], bool]) -> None:
        """`is_late` tells that the turn's time is up, and that no failure is worth a wait."""
        policy = deps.policy
        self._deps = deps
        self._models = [name for name in (policy.model, policy.fallback) if name]
        self._cheap = policy.cheap
        self._is_late = is_late
        self._tries = 0
        self.used_cheap_model = False
        """The last call went to the cheap model, because a ceiling is near."""

    @property
    def model(self) -> str:
        """The model that the next call is made to, if no ceiling is near."""
        return self._models[0]

    async def draft(self, turn_input: TurnInput, messages: tuple[Message, ...]) -> ModelRequest:
        """The request of a call with these messages. Raises `StoreError`."""
        return ModelRequest(
            model=self.model,
            system=turn_input.system,
            tools=turn_input.tools,
            messages=messages,
            max_output_tokens=self._deps.policy.max_output_tokens,
            images=await self._deps.load_images(messages),
        )

    async def call(
        self, turn_input: TurnInput, drafted: ModelRequest
    ) -> AsyncGenerator[TextDelta | TextDiscarded | ModelAnswer, None]:
        """Stream the answer to a drafted request; it comes last.

        Raises any `ModelError`, `QuotaExceeded`, and `StoreError` where the store can't be read.
        """
        self._tries = 0
        while True:
            is_as_drafted = drafted.model == self.model
            wish = drafted if is_as_drafted else replace(drafted, model=self.model)
            reserved = await self._deps.reserve(wish, cheap=self._cheap)
            request, self.used_cheap_model = reserved.request, reserved.used_cheap_model
            asked = self._deps.fingerprints.take(
                turn_input.conversation_id, turn_input.prompt_hash, request
            )
            stream = self._deps.model.stream(request)
            streamed = 0
            try:
                async for piece in stream:
                    if isinstance(piece, ModelAnswer):
                        reserved.finalize(piece.model, piece.usage)
                        yield replace(piece, asked=asked)
                        return
                    streamed += len(piece.text)
                    yield piece
                raise ModelCut("the stream ended before the answer did")
            except ModelError as error:
                pause = self._plan(error)
                _log.warning(
                    "turn %d: %s failed (%s), next is %s in %.1f s",
                    turn_input.turn_id,
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

    def _plan(self, error: ModelError) -> float:
        """Seconds until the next try; raises the error again where none is of use."""
        if self._is_late() or (isinstance(error, ModelOverflow) and not self.used_cheap_model):
            raise error
        asked = error.retry_after or 0.0 if isinstance(error, ModelBusy) else 0.0
        is_passing = isinstance(error, ModelBusy | ModelCut) and asked <= _LONGEST_WAIT
        if is_passing and self._tries < self._deps.policy.retries:
            backoff = min(2.0**self._tries, _LONGEST_BACKOFF)
            self._tries += 1
            # jitter, so that turns which failed together don't come back together
            return max(asked, backoff * random.uniform(0.5, 1.0))  # noqa: S311
        if self.used_cheap_model:  # the model that was wished for may still answer
            self._cheap, self._tries = "", 0
            return 0.0
        if len(self._models) == 1:
            raise error
        del self._models[0]
        self._tries = 0
        return 0.0
