"""The words of an answer as people read them: no calls, thoughts or facts are among them."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeGuard

from agent_core.agent.loop.echoes import EchoFilter, strip_echoes
from agent_core.ids import CallId
from agent_core.models.contract import ModelAnswer, ModelRequest
from agent_core.models.written import WrittenText
from agent_core.transcript import Message, Part, TextPart, ToolCallPart


class AnswerWords:
    """Filters one answer of any server: what the model wrote as a call is a call."""

    def __init__(self, request: ModelRequest) -> None:
        self._written = WrittenText(request)
        self._echoes = EchoFilter()
        self._fed: list[str] = []

    def feed(self, piece: str) -> str:
        """Add a piece; return what can be shown now."""
        self._fed.append(piece)
        return self._written.feed(self._echoes.feed(piece))

    def finish(self, answer: ModelAnswer) -> tuple[str, ModelAnswer]:
        """Return the rest to show, and the whole answer without what is not shown."""
        shown = self._written.feed(self._echoes.finish())
        may_call = answer.stop in ("end", "tools") and not answer.message.calls
        shown += self._written.finish(may_call=may_call)
        parts = [
            replace(part, text=strip_echoes(part.text)) if isinstance(part, TextPart) else part
            for part in answer.message.parts
        ]
        if self._written.calls:
            others = [part for part in parts if not isinstance(part, TextPart)]
            parts, answer = [*others, *self._list_parts()], replace(answer, stop="tools")
        elif "".join(self._fed) == answer.message.text:  # else the provider has left words out
            parts = _put_words(parts, self._written.text)
        kept = [part for part in parts if not isinstance(part, TextPart) or part.text]
        return shown, replace(answer, message=Message(role="assistant", parts=tuple(kept)))

    def _list_parts(self) -> list[Part]:
        words = TextPart(text=self._written.text)
        calls = [
            ToolCallPart(call_id=CallId(f"call_{place}"), name=call.name, arguments=call.arguments)
            for place, call in enumerate(self._written.calls)
        ]
        return [words, *calls]


def _is_words(part: Part) -> TypeGuard[TextPart]:
    return isinstance(part, TextPart)


def _put_words(parts: Sequence[Part], words: str) -> list[Part]:
    """Return the parts with these words in the place of the first ones."""
    first = next((part for part in parts if _is_words(part)), None)
    kept = [part for part in parts if part is first or not _is_words(part)]
    return [
        replace(part, text=words) if part is first and _is_words(part) else part for part in kept
    ]
