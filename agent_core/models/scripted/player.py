"""Play a script of answers and failures."""

import asyncio
import json
from collections import deque
from collections.abc import AsyncGenerator, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from agent_core.errors import (
    ModelBusy,
    ModelDenied,
    ModelError,
    ModelInterrupted,
    ModelOverflow,
    ModelRejected,
    ModelUnknown,
)
from agent_core.ids import CallId
from agent_core.models.contract import (
    Model,
    ModelAnswer,
    ModelRequest,
    StopReason,
    TextDelta,
    Usage,
)
from agent_core.models.options import read_seconds, refuse_unknown
from agent_core.models.scripted.stand_in import PROVIDER, StandInModel
from agent_core.models.token_estimate import estimate_usage
from agent_core.transcript import Message, Part, TextPart, ToolCallPart

_FAILURES: dict[str, type[ModelError]] = {
    "busy": ModelBusy,
    "cut": ModelInterrupted,
    "rejected": ModelRejected,
    "overflow": ModelOverflow,
    "unknown": ModelUnknown,
    "denied": ModelDenied,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A tool call to make. `arguments` is JSON text; an empty `call_id` is filled in."""

    name: str
    arguments: str = "{}"
    call_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A call of the model.

    The text streams in `pieces`, with `delay` seconds before each. An empty `stop` means `tools`
    with calls and `end` without. With `fail` (busy, cut, rejected, overflow, unknown, denied) the
    call raises that error after the text; `retry_after`, in seconds, applies to busy.
    """

    text: str = ""
    calls: tuple[Call, ...] = ()
    stop: StopReason | None = None
    refusal: str = ""
    pieces: int = 1
    delay: float = 0.0
    usage: Usage | None = None
    fail: str = ""
    retry_after: float | None = None

    def __post_init__(self) -> None:
        if self.fail and self.fail not in _FAILURES:
            raise ValueError(f'a step fails as "{self.fail}"; it can as {", ".join(_FAILURES)}')
        if self.stop is not None and self.stop not in get_args(StopReason):
            raise ValueError(f'a step stops with "{self.stop}", which is no reason to stop')


class ScriptedModel:
    """Answers calls with the script's steps; `requests` keeps every request."""

    provider = PROVIDER

    def __init__(self, script: Iterable[Step]) -> None:
        self._steps = deque(script)
        self.requests: list[ModelRequest] = []
        self.is_closed = False

    async def stream(self, request: ModelRequest) -> AsyncGenerator[TextDelta | ModelAnswer, None]:
        """Play the next step; see the contract. Raises `ModelRejected` after the last one."""
        self.requests.append(request)
        if not self._steps:
            raise ModelRejected("The script has no step left.")
        step = self._steps.popleft()
        for piece in _cut(step.text, step.pieces):
            await asyncio.sleep(step.delay)
            yield TextDelta(text=piece)
        if not step.text:
            await asyncio.sleep(step.delay)
        if step.fail == "busy":
            raise ModelBusy("The script says: busy.", retry_after=step.retry_after)
        if step.fail:
            raise _FAILURES[step.fail](f"The script says: {step.fail}.")
        yield _answer(request, step, number=len(self.requests))

    async def check(self, model: str) -> None:
        """Accept any name."""

    async def close(self) -> None:
        """Do nothing."""
        self.is_closed = True


def read_script(text: str) -> list[Step]:
    """Parse a script from JSON text: a list of steps with the fields of `Step`.

    A call's arguments are an object, or text to be sent unchanged. Raises `ValueError` with a
    sentence that names the step.
    """
    try:
        found = json.loads(text)
    except ValueError as error:
        raise ValueError(f"The script is no JSON: {error}.") from error
    if not isinstance(found, list):
        raise ValueError("The script is not a list of steps.")
    steps = []
    for number, fields in enumerate(found, start=1):
        try:
            steps.append(_read_step(fields))
        except (TypeError, ValueError) as error:
            raise ValueError(f"Step {number} of the script can't be played: {error}.") from error
    return steps


def _read_step(fields: dict[str, Any]) -> Step:
    values = dict(fields)
    calls = [dict(call) for call in values.pop("calls", ())]
    for call in calls:
        arguments = call.get("arguments", {})
        call["arguments"] = arguments if isinstance(arguments, str) else json.dumps(arguments)
    usage = values.pop("usage", None)
    return Step(
        calls=tuple(Call(**call) for call in calls),
        usage=Usage(**usage) if usage is not None else None,
        **values,
    )


def _answer(request: ModelRequest, step: Step, *, number: int) -> ModelAnswer:
    stop: StopReason = step.stop or ("tools" if step.calls else "end")
    parts: list[Part] = [TextPart(text=step.text)] if step.text else []
    if stop == "tools":
        parts += [
            ToolCallPart(
                call_id=CallId(call.call_id or f"call_{number}_{place}"),
                name=call.name,
                arguments=call.arguments,
            )
            for place, call in enumerate(step.calls, start=1)
        ]
    message = Message(role="assistant", parts=tuple(parts))
    return ModelAnswer(
        message=message,
        stop=stop,
        usage=step.usage or estimate_usage(request, message),
        model=request.model,
        refusal=step.refusal,
    )


def _cut(text: str, pieces: int) -> list[str]:
    size = max(1, -(-len(text) // max(1, pieces)))
    return [text[start : start + size] for start in range(0, len(text), size)]


def create(options: Mapping[str, str]) -> Model:
    """Create the provider.

    Options: `script`, the path of a JSON file to play; without it the stand-in answers, and counts
    with `delay` seconds between numbers (0.4). Raises `ValueError` with a sentence.
    """
    refuse_unknown(options, ("script", "delay"), PROVIDER)
    path = options.get("script", "")
    if not path:
        return StandInModel(delay=read_seconds(options, "delay", 0.4))
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeError) as error:
        raise ValueError(f'The script "{path}" can\'t be read: {error}.') from error
    return ScriptedModel(read_script(text))
