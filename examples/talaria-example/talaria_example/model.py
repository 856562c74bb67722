"""A model provider: repeats what a person says."""

from collections.abc import AsyncGenerator, Mapping

from agent_core.models.contract import Model, ModelAnswer, ModelRequest, TextDelta, Usage
from agent_core.transcript import Message, TextPart

TALARIA_API = 1


class ParrotModel:
    """Answers with the last words of the person; the tokens are words."""

    provider = "parrot"

    async def stream(self, request: ModelRequest) -> AsyncGenerator[TextDelta | ModelAnswer, None]:
        """Answer in one piece."""
        text = f"Parrot: {request.messages[-1].text}"
        yield TextDelta(text=text)
        yield ModelAnswer(
            message=Message(role="assistant", parts=(TextPart(text=text),)),
            stop="end",
            usage=Usage(input_tokens=len(request.system.split()), output_tokens=len(text.split())),
            model=request.model,
        )

    async def check(self, model: str) -> None:
        """Accept any name."""

    async def close(self) -> None:
        """Do nothing: there is no connection."""


def create(options: Mapping[str, str]) -> Model:
    """Create the model; it has no options."""
    return ParrotModel()
