"""Ask the person in the middle of a turn, for a choice or an approval."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

from agent_core.errors import ToolArgumentError
from agent_core.ids import CallId, PersonId, TurnId
from agent_core.state.conversations.questions import Choice
from agent_core.tools.contract import Declaration, Effect, ToolContext, ToolResult
from agent_core.tools.policy.approval_requests import Approver
from agent_core.tools.schemas import make_schema
from agent_core.transcript import ToolSpec, UntrustedSource

MOST_OPTIONS = 6
_LONGEST_OPTION = 60
_LONGEST_QUESTION = 1500

Answer = Literal["interrupted", "late", "unreachable"]
"""Reason why there is no choice: the person wrote something else, nobody answered in time, or
nobody can be asked.
"""


PromptKind = Literal["choice", "approval", "words"]
"""A choice from options, a yes or no, or free text."""
WORDS = "words"
"""The key of an answer in free text; the label holds the text."""


class QuestionPending(Exception):
    """The process stops while a question is open; the next process continues the turn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UserPrompt:
    """A question of one tool call; repeats of the call don't ask again.

    `words` is answered by the person's next message, or by a button. With `is_for_owner`, an owner
    is asked in a direct conversation, whoever the person is. `sources` are the untrusted sources
    that the model had read; the question ends with their names.
    """

    person_id: PersonId
    turn_id: TurnId
    call_id: CallId
    kind: PromptKind
    text: str
    choices: tuple[Choice, ...]
    is_for_owner: bool = False
    sources: tuple[UntrustedSource, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """A change that a tool call would make, and that waits for a person's yes.

    `tool` and `arguments` are the call as the model wrote it, and `shown` describes its effect.
    `sources` are the untrusted sources that the model had read.
    """

    person_id: PersonId
    turn_id: TurnId
    call_id: CallId
    tool: str
    arguments: str
    shown: str
    sources: tuple[UntrustedSource, ...]


class UserPrompter(Approver, Protocol):
    """Asks people questions, also for approval: during a turn, or after it has ended."""

    async def ask(self, prompt: UserPrompt) -> Choice | Answer:
        """Ask, and wait minutes if necessary; an answer given to an earlier process counts.

        Free text is returned as the choice `WORDS`. Raises `StoreError`, and `QuestionPending` if
        the process stops meanwhile. Cancelling leaves the question open.
        """

    async def propose(self, proposal: Proposal) -> bool:
        """Store a proposal, once per call; the person is asked when the turn ends.

        Returns False if the turn has too many proposals already. Raises `StoreError`.
        """


@runtime_checkable
class NeedsApproval(Protocol):
    """A tool whose calls need the person's approval."""

    def describe(self, arguments: Mapping[str, object]) -> str:
        """The exact effect of the call, for the person who approves it."""


_SPEC = ToolSpec(
    name="ask",
    description=(
        "Show this person a question with buttons, and wait for their choice. Only if you can't go"
        " on without it, for a choice between options that you know. For a time, a name or anything"
        " else, ask in your answer. Never ask them what they"
        ' asked you. Example: {"question": "Which list?", "options": ["Shopping", "Work"]}'
    ),
    schema=make_schema(
        ("question", "options"),
        question={"type": "string"},
        options={
            "type": "array",
            "items": {"type": "string"},
            "minItems": 2,
            "maxItems": MOST_OPTIONS,
        },
    ),
)


class AskTool:
    """The `ask` tool. Its time limit is longer than other tools': `patience`, in seconds."""

    spec = _SPEC
    effect: Effect = "idempotent"
    declaration = Declaration(
        cost="free", time_limit=660.0, waits_for_person=True, has_receipts=True
    )

    def __init__(self, prompter: UserPrompter) -> None:
        self._prompter = prompter

    async def run(self, arguments: Mapping[str, object], context: ToolContext) -> ToolResult:
        """Ask the person. Raises `ToolArgumentError`, `StoreError`, `QuestionPending`."""
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
    """The reason why there is no choice, for the model."""
    if answer == "interrupted":
        return (
            "They did not choose, but wrote something else: read it before you go on. If you don't"
            " see it, it comes after this answer: end here, shortly."
        )
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
