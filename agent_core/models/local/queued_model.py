"""One request at a time to a model server of this machine, people first.

A local server has little memory for what it has read: with every other request it forgets the
beginning that the next message needs. With two slots, one once gave the other's answers. So
requests wait for each other; background calls wait until nobody writes, and give way at once.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace

from agent_core.errors import ModelError, ModelInterrupted, ModelInUse
from agent_core.models.contract import HasProfiles, Model, ModelAnswer, ModelRequest, TextDelta
from agent_core.models.profiles import ModelProfile
from agent_core.transcript import user_message

QUIET = 30.0
"""Seconds without a person's request after which background calls may begin."""
_REST = 3.0
"""Seconds after a background call until the server reads the conversation again: often, another
background call follows, and would make it forget that once more.
"""
_SAID = "."
"""What stands in the place of a person's next words, which nobody knows yet."""


class QueuedModel:
    """A `Model` that makes one request at a time to its server."""

    def __init__(
        self,
        model: Model,
        *,
        at_once: int = 1,
        quiet: float = QUIET,
    ) -> None:
        """`at_once` is the number of requests that the server gets at once; `quiet` in seconds."""
        self._model = model
        self._places = asyncio.Semaphore(at_once)  # first come, first served
        self._quiet = quiet
        self._people = 0
        """Requests for which somebody waits, also those that wait for their place."""
        self._last = float("-inf")
        """When the last of them ended."""
        self._background: set[asyncio.Timeout] = set()
        """The running background calls, which can be made to expire."""
        self._answered: set[str] = set()
        """The models that have answered, so that they are loaded."""
        self._newest: ModelRequest | None = None
        """The newest conversation, as its next request will begin."""
        self._is_displaced = asyncio.Event()
        """Set once the server may have forgotten what it read of the newest conversation."""

    @property
    def provider(self) -> str:
        """The name of the provider's package."""
        return self._model.provider

    def profile(self, model: str) -> ModelProfile:
        """Return what is known of a model; see the contract."""
        if isinstance(self._model, HasProfiles):
            return self._model.profile(model)
        return ModelProfile(server="", model=model)

    async def check(self, model: str) -> None:
        """Verify the model with its server; see the contract."""
        await self._model.check(model)

    async def close(self) -> None:
        """Close connections."""
        await self._model.close()

    def is_loaded(self, model: str) -> bool:
        """Return whether a model has answered already; before, its server may be loading it."""
        return model in self._answered

    async def stream(self, request: ModelRequest) -> AsyncGenerator[TextDelta | ModelAnswer, None]:
        """Make the call once the server is free; see the contract.

        A background call raises `ModelInUse` unless nobody has written for a while, and as soon as
        somebody does.
        """
        if request.is_background:
            answer = await self._ask_in_background(request)
            self._is_displaced.set()
            yield answer
            return
        async with self._take_for_people(), aclosing(self._model.stream(request)) as pieces:
            async for piece in pieces:
                if isinstance(piece, ModelAnswer):
                    self._note(request, piece)
                yield piece

    def forget(self) -> None:
        """Forget the newest conversation, because personal data was removed."""
        self._newest = None

    async def keep_warm(self, first: ModelRequest | None) -> None:
        """Let the server read the newest conversation again whenever it may have forgotten it.

        `first` is read before anybody writes; None if there is none. Runs until cancelled.
        """
        self._newest = self._newest or first
        if first:
            self._is_displaced.set()
        while True:
            await self._is_displaced.wait()
            await asyncio.sleep(min(_REST, self._quiet))
            if self._background or self._people:
                continue
            self._is_displaced.clear()
            await self._warm()

    async def _warm(self) -> None:
        """Let the server read the newest conversation, if nobody needs it; errors don't matter."""
        newest = self._newest
        if newest is None:
            return
        request = replace(
            newest,
            messages=(*newest.messages, user_message(_SAID)),
            max_output_tokens=1,  # nobody reads it
            is_background=True,
        )
        try:
            await self._ask_in_background(request)
        except ModelInUse:
            self._is_displaced.set()
        except ModelError:
            return  # whoever writes next will be told

    def _note(self, request: ModelRequest, answer: ModelAnswer) -> None:
        self._answered.add(request.model)
        if request.caches_messages:
            said = () if answer.message.calls else (answer.message,)
            self._newest = replace(request, messages=(*request.messages, *said))
            self._is_displaced.clear()
        else:
            self._is_displaced.set()

    @asynccontextmanager
    async def _take_for_people(self) -> AsyncIterator[None]:
        """Take a place, and let background calls end at once."""
        self._people += 1
        try:
            for call in self._background:
                if not call.expired():
                    call.reschedule(_now())
            async with self._places:
                yield
        finally:
            self._people -= 1
            self._last = _now()

    async def _ask_in_background(self, request: ModelRequest) -> ModelAnswer:
        """Make the call if nobody writes. Raises `ModelInUse`, also as soon as somebody does."""
        wait = self._quiet if self._people else self._last + self._quiet - _now()
        if wait > 0 or self._background:
            raise ModelInUse(max(wait, 1.0))
        try:
            async with asyncio.timeout(None) as call:
                self._background.add(call)
                async with self._places, aclosing(self._model.stream(request)) as pieces:
                    async for piece in pieces:
                        if isinstance(piece, ModelAnswer):
                            self._answered.add(request.model)
                            return piece
        except TimeoutError as error:
            if not call.expired():
                raise
            raise ModelInUse(self._quiet) from error
        finally:
            self._background.discard(call)
        raise ModelInterrupted("the stream ended before the answer did")


def _now() -> float:
    return asyncio.get_running_loop().time()
