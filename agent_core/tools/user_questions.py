"""Asking the person in the middle of a turn: for a choice, or for leave to do something."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

from agent_core.errors import ToolArgumentError
from agent_core.ids import CallId, PersonId, TurnId
from agent_core.state.conversations.questions import Choice
from agent_core.tools.contract import Effect, ToolContext, ToolResult
from agent_core.transcript import ToolSpec

MOST_OPTIONS = 6
_LONGEST_OPTION = 60
_LONGEST_QUESTION = 1500

Answer = Literal["interrupted", "late", "unreachable"]
"""Why there is no choice: the person wrote something else instead, or nothing in time, or nobody
whom it is for can be asked."""


class QuestionPending(Exception):
    """The house goes out while a question is open: its turn is taken up with it again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UserPrompt:
    """What a tool call wants to know of its person. The same call asks once only.

    One that `is_for_owner` goes to an owner, in a direct talk of theirs, whoever the person is.
    """

    person_id: PersonId
    turn_id: TurnId
    call_id: CallId
    kind: Literal["choice", "approval"]
    text: str
    choices: tuple[Choice, ...]
    is_for_owner: bool = False


class UserPrompter(Protocol):
    """Whoever can ask people, while a turn waits."""

    async def ask(self, inquiry: UserPrompt) -> Choice | Answer:
        """Ask and wait, for minutes; the answer given to an earlier process counts.

        Raises `StoreError`, and `QuestionPending` when the house goes out meanwhile. Cancelling
        leaves the question open.
        """


@runtime_checkable
class NeedsApproval(Protocol):
    """Tools that do nothing before the person has allowed this very call."""

    def describe(self, arguments: Mapping[str, object]) -> str:
        """What the call would do, exactly, as the person who may allow it reads it."""


_SPEC = ToolSpec(
    name="ask",
    description=(
        "Ask this person to choose between a few options, shown as buttons, and wait. Only when"
        " you can't go on sensibly without it."
    ),
    schema=json.dumps(
        {
            "type": "object",
            "properties": {
                "question": {"type": "string"},
                "options": {
                    "type": "array",
                    "items": {"type": "string"},
                    "minItems": 2,
                    "maxItems": MOST_OPTIONS,
                },
            },
            "required": ["question", "options"],
            "additionalProperties": False,
        },
        separators=(",", ":"),
    ),
)


class AskTool:
    """The `ask` tool. It waits longer than other tools may: `patience`, in seconds."""

    spec = _SPEC
    effect: Effect = "idempotent"
    is_cheap = True
    patience = 660.0

    def __init__(self, prompter: UserPrompter) -> None:
        self._prompter = prompter

    async def run(self, arguments: Mapping[str, object], context: ToolContext) -> ToolResult:
        """Ask, and tell what was chosen. Raises `ToolArgumentError`, `StoreError`, `QuestionPending`."""
        question, options = _read(arguments)
        answer = await self._prompter.ask(
            UserPrompt(
                person_id=context.person_id,
                turn_id=context.turn_id,
                call_id=context.call_id,
                kind="choice",
                text=question,
                choices=tuple(
                    Choice(key=f"o{number}", label=option)
                    for number, option in enumerate(options, start=1)
                ),
            )
        )
        if isinstance(answer, Choice):
            return ToolResult(text=f"They chose: {answer.label}")
        return ToolResult(text=describe_no_answer(answer))


def describe_no_answer(answer: Answer) -> str:
    """Why there is no choice, as the model reads it."""
    if answer == "interrupted":
        return "They did not choose, but wrote something else: read it before you go on."
    if answer == "unreachable":
        return "Nobody whom it is for can be asked now."
    return "No answer came. Go on without it if you can, or say what you are waiting for."


def _read(arguments: Mapping[str, object]) -> tuple[str, list[str]]:
    question, options = arguments.get("question"), arguments.get("options")
    if not isinstance(question, str) or not question.strip():
        raise ToolArgumentError("`question` is empty")
    if len(question) > _LONGEST_QUESTION:
        raise ToolArgumentError(f"`question` is longer than {_LONGEST_QUESTION} characters")
    if not isinstance(options, list):
        raise ToolArgumentError("`options` must be a list of strings")
    labels = [" ".join(str(option).split()) for option in options]
    if not all(0 < len(label) <= _LONGEST_OPTION for label in labels):
        raise ToolArgumentError(f"each option needs 1 to {_LONGEST_OPTION} characters")
    if len({label.casefold() for label in labels}) != len(labels):
        raise ToolArgumentError("two options say the same")
    return question, labels
