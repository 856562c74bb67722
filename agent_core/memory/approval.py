"""Asks an owner for what only owners may do: in their direct talk, with all that would change."""

import difflib
import re
from collections.abc import Sequence

from agent_core.state.conversations import questions
from agent_core.state.conversations.questions import Choice
from agent_core.state.engine.database import Connection, Database
from agent_core.state.jobs import job_runs
from agent_core.state.memory.ledger import Change
from agent_core.state.people import owners, people
from agent_core.tools.contract import ToolContext
from agent_core.tools.untrusted_text import flatten
from agent_core.tools.user_questions import Answer, UserPrompt, UserPrompter

PATIENCE = 660.0
"""Seconds that a call may take which waits for an owner."""

_YES = Choice(key="approve", label="Approve", style="good")
_NO = Choice(key="refuse", label="Refuse", style="danger")
_LONGEST_NAME = 80
_FENCE = re.compile("`+")


class Approval:
    """Asks owners on behalf of tool calls; without an `prompter` nobody can be asked."""

    def __init__(self, database: Database, prompter: UserPrompter | None = None) -> None:
        self._database = database
        self._prompter = prompter

    async def is_owner_present(self, context: ToolContext) -> bool:
        """True if whoever asks runs this house, and is there: the run of a job came by itself.

        Raises `StoreError`.
        """

        def look(connection: Connection) -> bool:
            person = people.find(connection, person_id=context.person_id)
            return bool(person and person.is_owner) and not _is_job(connection, context)

        return await self._database.read(look)

    async def ask(self, context: ToolContext, wish: str, shown: str) -> str:
        """Ask an owner, and wait; why it may not be done, or nothing if it may.

        `wish` goes on after the asker's name, `shown` is put below it as it is. The same call
        asks once only, and leave holds for just what was shown then. Raises `StoreError` and
        `QuestionPending`.
        """
        if self._prompter is None:
            return "nobody is there who could approve it"
        name = await self._database.read(lambda c: _name(c, context))
        inquiry = UserPrompt(
            person_id=context.person_id,
            turn_id=context.turn_id,
            call_id=context.call_id,
            kind="approval",
            text=f"{name} {wish}\n{fence(shown)}",
            choices=(_YES, _NO),
            is_for_owner=True,
        )
        answer = await self._prompter.ask(inquiry)
        asked = await self._database.read(
            lambda c: questions.find_of_call(c, turn_id=context.turn_id, call_id=context.call_id)
        )
        if asked and asked.text != inquiry.text:  # by an earlier process
            return "what it would change is not what an owner was shown; ask for it again"
        return _explain(answer)

    async def find_approver(self, context: ToolContext) -> str:
        """Who has allowed a call, by name. Raises `StoreError`."""
        person = await self._database.read(
            lambda c: owners.find_approver(c, turn_id=context.turn_id, call_id=context.call_id)
        )
        return f"{person.name} (person {person.id})" if person else "an owner"


def _name(connection: Connection, context: ToolContext) -> str:
    """Who wants something, as the beginning of a sentence."""
    person = people.find(connection, person_id=context.person_id)
    name = flatten(person.name, _LONGEST_NAME) if person else "somebody"
    if _is_job(connection, context):
        return f"A job of {name}"
    return name if person else "Somebody"


def _is_job(connection: Connection, context: ToolContext) -> bool:
    return job_runs.find_of_turn(connection, turn_id=context.turn_id) is not None


def _explain(answer: Choice | Answer) -> str:
    if isinstance(answer, Choice):
        return "" if answer.key == _YES.key else "an owner refused it"
    if answer == "interrupted":
        return "the person wrote something else before an owner answered; read it first"
    if answer == "late":
        return "no owner answered in time"
    return "an owner has to approve it, and none can be reached in a direct talk"


def fence(text: str) -> str:
    """A block of code that shows a text as it is, whatever it holds."""
    longest = max((len(run) for run in _FENCE.findall(text)), default=0)
    marks = "`" * max(3, longest + 1)
    return f"{marks}\n{text.rstrip(chr(10))}\n{marks}"


def show_changes(changes: Sequence[Change]) -> str:
    """Changes of a list, as lines that go and lines that come."""
    lines: list[str] = []
    for change in changes:
        for sign, entry in (("-", change.before), ("+", change.after)):
            if entry is not None:
                lines += [f"{sign} {line}" for line in entry.split("\n")]
    return "\n".join(lines)


def show_difference(before: str, after: str, names: tuple[str, str]) -> str:
    """Two texts as people compare them: what goes and what comes, with a line around it."""
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), *names, lineterm="", n=1)
    return "\n".join(lines)
