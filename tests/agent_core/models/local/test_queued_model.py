"""One request at a time: people first, background calls that give way, and a warm prefix."""

import asyncio
from collections.abc import AsyncGenerator, Coroutine
from dataclasses import replace
from typing import TypeVar

import pytest

from agent_core.errors import ModelInUse, ModelRejected
from agent_core.models.contract import ModelAnswer, ModelRequest, TextDelta, Usage, make_question
from agent_core.models.local.queued_model import QUIET, QueuedModel
from agent_core.transcript import Message, TextPart, user_message
from tests.virtual_time import run_in_virtual_time

T = TypeVar("T")


class OneSlot:
    """A server with one slot, which answers in `takes` seconds and remembers its last request."""

    provider = "one slot"

    def __init__(self, takes: float = 10.0) -> None:
        self.takes = takes
        self.running = 0
        self.most = 0
        self.left = 0
        """Calls that were left before their end."""
        self.asked: list[ModelRequest] = []
        self.fails = False
        self.cached: list[float] = []
        """For each request, the share of its words that the slot still held."""
        self._held = ""

    async def stream(self, request: ModelRequest) -> AsyncGenerator[TextDelta | ModelAnswer, None]:
        self.asked.append(request)
        self.running += 1
        self.most = max(self.most, self.running)
        is_whole = False
        try:
            await asyncio.sleep(self.takes / 2)
            if self.fails:
                raise ModelRejected("no")
            self._read(request)
            yield TextDelta(text="so")
            await asyncio.sleep(self.takes / 2)
            is_whole = True
            message = Message(role="assistant", parts=(TextPart(text=f"to {words(request)}"),))
            yield ModelAnswer(message=message, stop="end", usage=Usage(), model=request.model)
        finally:
            self.running -= 1
            self.left += not is_whole

    def _read(self, request: ModelRequest) -> None:
        texts = [request.system, *(message.text for message in request.messages)]
        whole = "\n".join(texts)
        same = 0
        while same < min(len(whole), len(self._held)) and whole[same] == self._held[same]:
            same += 1
        self.cached.append(same / len(whole))
        self._held = whole

    async def check(self, model: str) -> None:
        """Pass."""

    async def close(self) -> None:
        """Close nothing."""


def words(request: ModelRequest) -> str:
    return request.messages[-1].text


def said(text: str, *, before: tuple[Message, ...] = ()) -> ModelRequest:
    return ModelRequest(
        model="m",
        system="rules " * 500,
        tools=(),
        messages=(*before, user_message(text)),
        max_output_tokens=100,
    )


def chore(text: str = "name it") -> ModelRequest:
    question = make_question("m", "you name talks " * 300, text, most_tokens=10)
    return replace(question, is_background=True)


async def ask(model: QueuedModel, request: ModelRequest) -> ModelAnswer:
    *_, last = [piece async for piece in model.stream(request)]
    assert isinstance(last, ModelAnswer)
    return last


def timed(work: Coroutine[object, object, T]) -> tuple[T, float]:
    async def run() -> tuple[T, float]:
        found = await work
        return found, asyncio.get_running_loop().time()

    return run_in_virtual_time(run())


def test_requests_wait_for_each_other_in_their_order() -> None:
    server = OneSlot()

    async def work() -> list[ModelAnswer]:
        model = QueuedModel(server)
        return await asyncio.gather(*(ask(model, said(str(n))) for n in range(5)))

    answers, took = timed(work())
    assert [one.message.text for one in answers] == [f"to {n}" for n in range(5)]
    assert [words(one) for one in server.asked] == list("01234")
    assert (server.most, took) == (1, 50.0)


def test_a_server_may_get_more_at_once() -> None:
    server = OneSlot()

    async def work() -> None:
        model = QueuedModel(server, at_once=3)
        await asyncio.gather(*(ask(model, said(str(n))) for n in range(6)))

    _, took = timed(work())
    assert (server.most, took) == (3, 20.0)


def test_background_calls_wait_until_nobody_has_written_for_a_while() -> None:
    server = OneSlot()

    async def work() -> None:
        model = QueuedModel(server)
        await ask(model, said("hello"))
        with pytest.raises(ModelInUse) as early:
            await ask(model, chore())
        assert early.value.retry_after == QUIET
        await asyncio.sleep(QUIET)
        assert (await ask(model, chore())).message.text == "to name it"

    timed(work())
    assert len(server.asked) == 2, "the early call has not reached the server"


def test_a_background_call_gives_way_at_once() -> None:
    server = OneSlot()

    async def work() -> float:
        model = QueuedModel(server)
        background = asyncio.create_task(ask(model, chore()))
        await asyncio.sleep(7)  # it streams
        answer = await ask(model, said("hello"))
        assert answer.message.text == "to hello"
        with pytest.raises(ModelInUse):
            await background
        return asyncio.get_running_loop().time()

    ended, _ = timed(work())
    assert ended == 17.0, "nobody has waited for the background call"
    assert (server.most, server.left) == (1, 1)


def test_only_one_background_call_runs_and_a_cancelled_one_is_just_cancelled() -> None:
    server = OneSlot()

    async def work() -> None:
        model = QueuedModel(server)
        first = asyncio.create_task(ask(model, chore("1")))
        await asyncio.sleep(1)
        with pytest.raises(ModelInUse):
            await ask(model, chore("2"))
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first
        assert (await ask(model, chore("3"))).message.text == "to 3"

    timed(work())


def test_somebody_who_gives_up_leaves_the_place_to_others() -> None:
    server = OneSlot()

    async def work() -> None:
        model = QueuedModel(server)
        running, waiting, last = (
            asyncio.create_task(ask(model, said(text))) for text in ("a", "b", "c")
        )
        await asyncio.sleep(1)
        waiting.cancel()
        running.cancel()
        await asyncio.gather(running, waiting, return_exceptions=True)
        assert (await last).message.text == "to c"

    _, took = timed(work())
    assert took == 11.0
    assert [words(one) for one in server.asked] == ["a", "c"]


def test_the_newest_conversation_is_read_again_after_background_calls() -> None:
    """Each message of a conversation finds all but its own words read, although a background call
    comes after each.
    """
    server = OneSlot(takes=1)

    async def work() -> list[float]:
        model = QueuedModel(server)
        keeper = asyncio.create_task(model.keep_warm(None))
        messages: tuple[Message, ...] = ()
        shares = []
        for number in range(20):
            request = said(f"message {number}", before=messages)
            answer = await ask(model, request)
            shares.append(server.cached[-1])
            messages = (*request.messages, answer.message)
            await asyncio.sleep(QUIET)
            await ask(model, chore(f"review {number}"))
            await asyncio.sleep(QUIET)
        keeper.cancel()
        return shares

    shares, _ = timed(work())
    assert min(shares[1:]) > 0.99


def test_the_server_reads_the_beginning_before_anybody_writes() -> None:
    server = OneSlot()

    async def work() -> None:
        model = QueuedModel(server)
        first = replace(said("x"), messages=())
        keeper = asyncio.create_task(model.keep_warm(first))
        assert not model.is_loaded("m")
        await asyncio.sleep(20)
        assert model.is_loaded("m")
        await ask(model, said("hello"))
        keeper.cancel()

    timed(work())
    assert [one.max_output_tokens for one in server.asked] == [1, 100]
    assert server.cached[1] > 0.99


def test_warming_gives_way_and_its_errors_harm_nobody() -> None:
    server = OneSlot()

    async def work() -> None:
        model = QueuedModel(server)
        keeper = asyncio.create_task(model.keep_warm(said("x")))
        await asyncio.sleep(5)
        assert server.running == 1
        assert (await ask(model, said("hello"))).message.text == "to hello"
        server.fails = True
        await asyncio.sleep(QUIET)
        with pytest.raises(ModelRejected):
            await ask(model, chore())
        await asyncio.sleep(QUIET)
        assert not keeper.done()
        model.forget()
        server.fails = False
        await ask(model, chore())
        count = len(server.asked)
        await asyncio.sleep(QUIET)
        assert len(server.asked) == count, "a forgotten conversation is not read again"
        keeper.cancel()

    timed(work())
    assert server.most == 1
