"""Ask people what MCP servers want to know, as questions of Talaria."""

from agent_core.ids import CallId
from agent_core.state.conversations.questions import Choice
from agent_core.tools.contract import ToolContext
from agent_core.tools.mcp.forms import Field, Form, FormAnswer, FormValue, PageLink
from agent_core.tools.user_questions import (
    WORDS,
    Answer,
    PromptKind,
    QuestionPending,
    UserPrompt,
    UserPrompter,
)
from gateway.texts import mcp as texts

_YES, _NO, _SKIP = "form_yes", "form_no", "form_skip"
_MOST_TRIES = 3
"""Times that a person is asked for one value, if their answers are invalid."""


class ServerForms:
    """Asks the person of a call: first whether they want to answer at all, then field by field.

    Every question is stored, like those of the `ask` tool.
    """

    def __init__(self, prompter: UserPrompter) -> None:
        self._prompter = prompter

    async def ask(self, question: Form | PageLink, context: ToolContext, number: int) -> FormAnswer:
        """Ask the person of a call; see `FormAsker`. Raises `StoreError`."""
        asked = _Asking(self._prompter, context, number)
        try:
            if isinstance(question, PageLink):
                return await asked.offer(texts.describe_link(question), texts.OPEN())
            answer = await asked.offer(texts.describe_form(question), texts.GIVE_ANSWER())
            if answer.action != "accept":
                return answer
            return await asked.fill_in(question)
        except QuestionPending:
            return FormAnswer(action="cancel")  # the MCP server ends with this process


class _Asking:
    """The questions of one form."""

    def __init__(self, prompter: UserPrompter, context: ToolContext, number: int) -> None:
        self._prompter = prompter
        self._context = context
        self._name = f"{context.call_id}:form{number}"
        self._count = 0

    async def offer(self, text: str, yes: str) -> FormAnswer:
        """Ask whether the person wants to answer."""
        said = await self._ask(
            "approval",
            text,
            Choice(key=_YES, label=yes, style="good"),
            Choice(key=_NO, label=texts.DECLINE(), style="danger"),
        )
        if not isinstance(said, Choice):
            return FormAnswer(action="cancel")
        return FormAnswer(action="accept" if said.key == _YES else "decline")

    async def fill_in(self, form: Form) -> FormAnswer:
        """Ask for every field in turn."""
        content: dict[str, FormValue] = {}
        for field in form.fields:
            for _ in range(_MOST_TRIES):
                said = await self._ask_field(form, field)
                if not isinstance(said, Choice):
                    return FormAnswer(action="cancel")
                if said.key == _NO:
                    return FormAnswer(action="decline")
                try:
                    value = _read(field, said)
                except ValueError:
                    continue
                if value is not None:
                    content[field.name] = value
                break
            else:
                return FormAnswer(action="cancel")
        return FormAnswer(action="accept", content=content)

    async def _ask_field(self, form: Form, field: Field) -> Choice | Answer:
        options = [
            Choice(key=f"form_{number}", label=_label(field, number))
            for number in range(len(field.options))
        ]
        if field.default is not None or not field.is_required:
            options.append(Choice(key=_SKIP, label=texts.describe_skip(field)))
        options.append(Choice(key=_NO, label=texts.DECLINE(), style="danger"))
        kind: PromptKind = "approval" if field.options else "words"
        return await self._ask(kind, texts.describe_field(form, field), *options)

    async def _ask(self, kind: PromptKind, text: str, *choices: Choice) -> Choice | Answer:
        self._count += 1
        context = self._context
        prompt = UserPrompt(
            person_id=context.person_id,
            turn_id=context.turn_id,
            call_id=CallId(f"{self._name}.{self._count}"),
            kind=kind,
            text=text,
            choices=choices,
            sources=context.sources,
        )
        return await self._prompter.ask(prompt)


def _label(field: Field, number: int) -> str:
    option = field.options[number]
    if isinstance(option.value, bool):
        return texts.YES() if option.value else texts.NO()
    return option.label


def _read(field: Field, said: Choice) -> FormValue | None:
    """Return the value of an answer, None for one that is left out. Raises `ValueError`."""
    if said.key == _SKIP:
        return field.default
    if said.key == WORDS:
        return field.read(said.label)
    return field.options[int(said.key.removeprefix("form_"))].value
