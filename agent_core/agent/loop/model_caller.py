"""Make one model call, with a fallback model if need be."""

import asyncio
import logging
import re
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import replace

from agent_core.agent.compaction.left_out import show
from agent_core.agent.loop.answer_words import AnswerWords
from agent_core.agent.loop.contract import Journal, LoadImages, Reserve
from agent_core.agent.loop.display import Display
from agent_core.agent.loop.messages import describe_failure
from agent_core.agent.turn import Turn
from agent_core.errors import (
    ModelBusy,
    ModelDeclined,
    ModelDenied,
    ModelError,
    ModelInterrupted,
    ModelOverflow,
    ModelRejected,
    ModelUnknown,
)
from agent_core.events import Host, ModelFault
from agent_core.models.contract import LoadsModels, Model, ModelAnswer, ModelRequest
from agent_core.models.fingerprints import Fingerprints
from agent_core.models.router import ModelPolicy
from agent_core.tools.secret_scan import SecretMask
from agent_core.transcript import STAND_IN, Message, Part, TextPart, repair_message

_LOADING_SECONDS = 10.0
"""Seconds without an answer after which a person reads that the model is loading."""
_NUMBERS = re.compile(r"\d+|'[^']*'|\"[^\"]*\"|`[^`]*`")
_COMPARED = 120
"""Characters of a refusal, without numbers and quotes, that tell it from others."""
_MOST_REPORTED = 200

_log = logging.getLogger(__name__)


class ModelCaller:
    """Makes the model calls of one turn, and shows each answer while it arrives.

    A call goes to each model at most once. After a switch to a fallback model, later calls stay
    there: switching back would wait for the same failure before every step.
    """

    def __init__(
        self,
        turn: Turn,
        *,
        model: Model,
        policy: ModelPolicy,
        mask: SecretMask,
        journal: Journal,
        host: Host,
        display: Display,
        load_images: LoadImages,
        reserve: Reserve,
        fingerprints: Fingerprints,
        faulty: set[str],
        is_late: Callable[[], bool],
    ) -> None:
        """`is_late` returns True once the turn's time is up; then no other model is tried."""
        self._turn = turn
        self._provider = model
        self._mask = mask
        self._journal = journal
        self._host = host
        self._display = display
        self._load_images = load_images
        self._reserve = reserve
        self._fingerprints = fingerprints
        self._faulty = faulty
        self._max_output_tokens = policy.max_output_tokens
        self._models = tuple(dict.fromkeys((policy.model, *policy.fallbacks)))
        self._cheap = policy.cheap
        self._is_late = is_late
        own = turn.messages[-turn.own_count :] if turn.own_count else ()
        self._has_answered = any(message.role == "assistant" for message in own)
        self.model = policy.model
        """The model of the next call, unless a quota is nearly exhausted."""
        self.used_cheap_model = False
        """True if the last call went to the cheap model, because a quota is nearly exhausted."""

    def start_over(self) -> bool:
        """Call the first model again, which may be back; return False if it is called already."""
        was_first = self.model == self._models[0]
        self.model = self._models[0]
        return not was_first

    def show(self, messages: Sequence[Message]) -> tuple[Message, ...]:
        """Return the messages of a conversation as requests to this model show them."""
        return show(messages, by_stand_in=self._provider.provider == STAND_IN)

    async def build_request(self, messages: tuple[Message, ...]) -> ModelRequest:
        """Build the request for a call with these messages. Raises `StoreError`."""
        messages = self.show(messages)
        wishes, limit = self._turn.wishes, self._max_output_tokens
        return ModelRequest(
            model=self.model,
            system=self._turn.prompt.system,
            tools=self._turn.prompt.tools,
            messages=messages,
            max_output_tokens=min(limit, wishes.most_tokens or limit),
            images=await self._load_images(messages),
            response_schema=wishes.response_schema,
            sampling=wishes.sampling,
            tool_choice="" if self._has_answered else wishes.tool_choice,
            has_client_tools=bool(wishes.tools),
        )

    async def call(self, wanted: ModelRequest) -> ModelAnswer:
        """Return the answer to a request, which the journal has noted.

        Raises any `ModelError`, `QuotaExceeded`, and `StoreError`.
        """
        failures: dict[str, ModelError] = {}
        while True:
            if wanted.model != self.model:
                wanted = replace(wanted, model=self.model)
            reserved = await self._reserve(wanted, cheap=self._cheap)
            request, self.used_cheap_model = reserved.request, reserved.used_cheap_model
            stream = self._provider.stream(request)
            loading = self._plan_loading(request.model)
            streamed, words = 0, AnswerWords(request)
            try:
                async for piece in stream:
                    if loading:
                        loading.cancel()
                    if isinstance(piece, ModelAnswer):
                        cost = reserved.finalize(piece.model, piece.usage)
                        self._faulty.discard(request.model)
                        rest, answer = words.finish(piece)
                        await self._display.append(rest)
                        return self._note(replace(answer, micro_dollars=cost), request)
                    streamed += len(piece.text)
                    await self._display.append(words.feed(piece.text))
                raise ModelInterrupted("the stream ended before the answer did")
            except ModelError as error:
                failure = error
                _log.warning("turn %d: %s failed: %s", self._turn.id, request.model, error)
            finally:
                if loading:
                    loading.cancel()
                reserved.close(streamed=streamed)
                if isinstance(stream, AsyncGenerator):
                    await stream.aclose()
            await self._report(request.model, failure)
            self._choose_next(failure, failures)
            await self._display.discard()

    def _plan_loading(self, model: str) -> asyncio.TimerHandle | None:
        """Plan to show that a model is being loaded; None if it has answered before."""
        if not isinstance(self._provider, LoadsModels) or self._provider.is_loaded(model):
            return None
        loop = asyncio.get_running_loop()
        return loop.call_later(_LOADING_SECONDS, self._host.show_loading)

    def _note(self, answer: ModelAnswer, request: ModelRequest) -> ModelAnswer:
        """Note an answer as it is stored and sent back: repaired, and without secrets."""
        if answer.shape:
            request = replace(request, shape=answer.shape)
        fingerprint = self._fingerprints.take(
            self._turn.conversation.id, self._turn.prompt.hash, request
        )
        message = repair_message(self._hide_secrets(answer.message))
        self._has_answered = True
        answer = replace(answer, message=message, fingerprint=fingerprint)
        self._journal.note_answer(answer)
        return answer

    def _hide_secrets(self, message: Message) -> Message:
        """Hide secrets in the words of an answer, before it is stored and sent back."""
        parts = tuple(self._hide_in_part(part) for part in message.parts)
        return message if parts == message.parts else replace(message, parts=parts)

    def _hide_in_part(self, part: Part) -> Part:
        if not isinstance(part, TextPart):
            return part
        text = self._mask.hide(part.text)
        return part if text == part.text else replace(part, text=text)

    async def _report(self, model: str, failure: ModelError) -> None:
        """Report a fault that only an owner can fix, the first time that any turn meets it."""
        if isinstance(failure, ModelDenied | ModelUnknown) and model not in self._faulty:
            self._faulty.add(model)
            await self._host.note_fault(
                ModelFault(model=model, reason=describe_failure(failure), detail=str(failure))
            )

    async def report_refusal(self, failure: ModelError) -> None:
        """Report to the owners, once in the provider's words, that a turn ended with a refusal."""
        if not isinstance(failure, ModelRejected):
            return
        is_declined = isinstance(failure, ModelDeclined)
        what = "" if is_declined else _NUMBERS.sub("", str(failure))[:_COMPARED]
        seen = f"{self.model} {is_declined} {what}"
        if seen in self._faulty or len(self._faulty) >= _MOST_REPORTED:
            return
        self._faulty.add(seen)
        reason = "model_declined" if is_declined else "model_rejected"
        await self._host.note_fault(
            ModelFault(model=self.model, reason=reason, detail=str(failure))
        )

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
