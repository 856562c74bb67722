"""Ask an owner for approval in their direct chat, with the full change shown."""

import difflib
import re
from collections.abc import Sequence

from agent_core.localization import Text
from agent_core.safe_names import name_member
from agent_core.state.conversations import questions
from agent_core.state.conversations.questions import Choice
from agent_core.state.engine.database import Connection, Database
from agent_core.state.jobs import job_runs
from agent_core.state.memory.ledger import Change
from agent_core.state.people import owners, people
from agent_core.tools.contract import ToolContext
from agent_core.tools.user_questions import Answer, UserPrompt, UserPrompter

PATIENCE = 660.0
"""Seconds that a tool call may take while it waits for an owner."""

_YES, _NO = "approve", "refuse"
_APPROVE, _REFUSE = Text("Approve"), Text("Refuse")
_JOB_OF = Text("A reminder by {name}")
_SOMEONE = Text("Someone")
_FENCE = re.compile("`+")


class Approval:
    """Asks owners on behalf of tool calls; without a `prompter` every request is refused."""

    def __init__(self, database: Database, prompter: UserPrompter | None = None) -> None:
        self._database = database
        self._prompter = prompter

    async def is_owner_present(self, context: ToolContext) -> bool:
        """True if an owner asks in person; an owner's job run does not count.

        Raises `StoreError`.
        """

        def look(connection: Connection) -> bool:
            person = people.find(connection, person_id=context.person_id)
            return bool(person and person.is_owner) and not _is_job(connection, context)

        return await self._database.read(look)

    async def ask(self, context: ToolContext, wish: Text, shown: str) -> str:
        """Ask an owner and wait. Returns the reason for a refusal, or "" if approved.

        `wish` continues the sentence after the asker's name; `shown` follows it verbatim. A call
        asks only once, and the approval covers exactly the text shown. Raises `StoreError` and
        `QuestionPending`.
        """
        if self._prompter is None:
            return "no owner is available to approve it"
        name = await self._database.read(_name, context)
        inquiry = UserPrompt(
            person_id=context.person_id,
            turn_id=context.turn_id,
            call_id=context.call_id,
            kind="approval",
            text=f"{wish(name=name)}\n{fence(shown)}",
            choices=(
                Choice(key=_YES, label=_APPROVE(), style="good"),
                Choice(key=_NO, label=_REFUSE(), style="danger"),
            ),
            is_for_owner=True,
            sources=context.sources,
        )
        answer = await self._prompter.ask(inquiry)
        asked = await self._database.read(
            questions.find_of_call, turn_id=context.turn_id, call_id=context.call_id
        )
        # An earlier process may have asked about another change.
        if asked and not asked.text.startswith(inquiry.text):
            return "the change differs from the one that an owner was shown; ask again"
        return _explain(answer)

    async def find_approver(self, context: ToolContext) -> str:
        """Name the owner who approved a call. Raises `StoreError`."""
        person = await self._database.read(
            owners.find_approver, turn_id=context.turn_id, call_id=context.call_id
        )
        return f"{person.name} (person {person.id})" if person else "an owner"


def _name(connection: Connection, context: ToolContext) -> str:
    """Name the asker; the name begins a sentence."""
    person = people.find(connection, person_id=context.person_id)
    name = name_member(person.id, person.name) if person else _SOMEONE()
    if _is_job(connection, context):
        return _JOB_OF(name=name)
    return name


def _is_job(connection: Connection, context: ToolContext) -> bool:
    return job_runs.find_of_turn(connection, turn_id=context.turn_id) is not None


def _explain(answer: Choice | Answer) -> str:
    if isinstance(answer, Choice):
        return "" if answer.key == _YES else "an owner refused it"
    if answer == "interrupted":
        return "the person sent another message before an owner answered; read it first"
    if answer == "late":
        return "no owner answered in time"
    return "an owner must approve it, and no owner can be reached in a direct chat"


def fence(text: str) -> str:
    """Wrap a text in a code block whose fence is longer than any run of backticks in it."""
    longest = max((len(run) for run in _FENCE.findall(text)), default=0)
    marks = "`" * max(3, longest + 1)
    return f"{marks}\n{text.rstrip(chr(10))}\n{marks}"


_HEADS = {
    "user": Text("What I know about you:"),
    "memory": Text("My notes:"),
    "team": Text("Notes for everyone here:"),
    "archive": Text("The archive:"),
}
_BLOCK = Text("The block “{name}”:")


def name_list(target: str) -> str:
    """Return the line above a change: the list that it changes, as its person calls it."""
    head = _HEADS.get(target)
    return head() if head else _BLOCK(name=target.removeprefix("block:"))


def show_changes(changes: Sequence[Change]) -> str:
    """Format changes of a list as removed (`-`) and added (`+`) lines."""
    lines: list[str] = []
    for change in changes:
        for sign, entry in (("-", change.before), ("+", change.after)):
            if entry is not None:
                lines += [f"{sign} {line}" for line in entry.split("\n")]
    return "\n".join(lines)


def show_difference(before: str, after: str, names: tuple[str, str]) -> str:
    """Format the difference of two texts as a unified diff with one line of context."""
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), *names, lineterm="", n=1)
    return "\n".join(lines)
