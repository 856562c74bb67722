"""Running turns that wait for the answer to a question."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from agent_core.ids import QuestionId, TurnId
from agent_core.state.conversations.questions import Question
from agent_core.tools.user_questions import QuestionPending


class PendingAnswers:
    """Running turns that wait for the answer to a question."""

    def __init__(self) -> None:
        self.is_open = True
        self._futures: dict[QuestionId, asyncio.Future[str]] = {}
        self._turns: dict[QuestionId, TurnId] = {}

    @contextmanager
    def expect(self, question: Question) -> Iterator[asyncio.Future[str]]:
        """Return a future for the key of the chosen answer, or for "interrupted".

        It raises `QuestionPending` once the gateway shuts down.
        """
        future = asyncio.get_running_loop().create_future()
        self._futures[question.id] = future
        if question.turn_id is not None:
            self._turns[question.id] = question.turn_id
        try:
            yield future
        finally:
            del self._futures[question.id]
            self._turns.pop(question.id, None)

    def resolve(self, question_id: QuestionId, key: str) -> None:
        """Pass the key of a choice to the turn that waits for it, if one does."""
        future = self._futures.get(question_id)
        if future and not future.done():
            future.set_result(key)

    def interrupt(self, turn_id: TurnId) -> None:
        """Stop every wait of a turn, because its person has written something else."""
        for question_id, owner in self._turns.items():
            if owner == turn_id:
                self.resolve(question_id, "interrupted")

    def is_awaited(self, turn_id: TurnId) -> bool:
        """Return whether a turn waits."""
        return any(
            owner == turn_id and not self._futures[question_id].done()
            for question_id, owner in self._turns.items()
        )

    def count_turns(self) -> int:
        """Count the turns that wait."""
        waiting = (key for key, future in self._futures.items() if not future.done())
        return len({self._turns[key] for key in waiting if key in self._turns})

    def close(self) -> None:
        """End every wait with `QuestionPending`, and allow no more; the questions stay open."""
        self.is_open = False
        for future in self._futures.values():
            if not future.done():
                future.set_exception(QuestionPending())
