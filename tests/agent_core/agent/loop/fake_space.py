"""A context window that answers as planned."""

from collections.abc import Callable

from agent_core.agent.budget import Budget
from agent_core.errors import ModelOverflow
from agent_core.models.contract import ModelRequest, Usage
from agent_core.transcript import Message, user_message
from tests.fakes.limits import UnboundedWindow

SHORT = user_message("what was said, in short")
Answer = tuple[Message, ...] | ModelOverflow | None


class FakeSpace(UnboundedWindow):
    """Answers as planned; once that is used up, everything fits."""

    def __init__(self, *plan: Answer | Callable[[ModelRequest], Answer]) -> None:
        self.plan = list(plan)
        self.asked: list[tuple[int, bool]] = []
        self.learned: list[tuple[str, Usage]] = []

    async def fit(
        self, request: ModelRequest, budget: Budget, *, is_refused: bool = False
    ) -> tuple[Message, ...] | None:
        self.asked.append((len(request.messages), is_refused))
        answer = self.plan.pop(0) if self.plan else None
        if callable(answer):
            answer = answer(request)
        if isinstance(answer, ModelOverflow):
            raise answer
        return answer

    def learn(self, model: str, taken: Usage) -> None:
        self.learned.append((model, taken))
