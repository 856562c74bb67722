"""The text of an answer: what earlier messages show of it, how its turn ended, and notes."""

from collections.abc import Iterable, Mapping, Sequence

from agent_core.agent import UNKNOWN_OUTCOME, ActiveTurn
from agent_core.agent.quotas import day_of
from agent_core.errors import AgentBroken
from agent_core.events import TurnEnded
from agent_core.ids import CallId, TurnId
from agent_core.state.conversations import turns
from agent_core.state.engine import meta
from agent_core.state.engine.database import Connection
from agent_core.tools import unwrap
from agent_core.transcript import ToolCallPart, flatten
from gateway.texts import general, usage
from gateway.texts.tools import agents
from gateway.texts.tools.interrupted import describe_interrupted
from gateway.texts.tools.steps import describe_tool
from gateway.texts.usage import Reader

_LONGEST_ACTION = 120
"""Characters of the arguments that name an interrupted call."""


def cut_broken(text: str) -> str:
    """Return a text that broke off anywhere up to its last whole word.

    The next message continues it, and no word may be divided between the two.
    """
    words = text.strip().rsplit(maxsplit=1)
    return words[0].rstrip() if len(words) > 1 else text.strip()


def leave_out_sent(connection: Connection, turn_id: TurnId, text: str) -> str:
    """Return an answer without the parts that earlier messages of its turn hold already."""
    return leave_out(text, turns.list_bodies(connection, turn_id=turn_id)) or text


def leave_out(text: str, sent: Iterable[str]) -> str:
    """Return a text without the `sent` texts that it begins with, one after the other."""
    for body in sent:
        rest = text.removeprefix(body)
        if text.startswith(body) and rest[:1] in ("", " ", "\n"):
            text = rest.removeprefix(" ").lstrip("\n")
    return text


class SentTexts:
    """Texts of a turn's finished messages, which its live message does not repeat."""

    def __init__(self, texts: Iterable[str]) -> None:
        """`texts` are those of an earlier process, oldest first."""
        self._texts = [*texts]
        self._is_from_start = True
        """The growing text begins with the turn's first answer, not behind these texts."""

    def begin_again(self) -> None:
        """Note that the text grows from the turn's first answer again."""
        self._is_from_start = True

    def add(self, text: str, *, is_behind: bool) -> None:
        """Add a text; `is_behind` if the next one grows on from it, not from the start."""
        self._texts.append(text)
        if is_behind:
            self._is_from_start = False

    def leave_out(self, text: str) -> str:
        """Return what these texts do not show yet of a growing text."""
        if not self._is_from_start:
            return text
        left = leave_out(text, self._texts)
        return "" if any(sent.startswith(left) for sent in self._texts) else left


def describe_refusal(error: Exception) -> str:
    """Return the sentence on messages that no turn could begin with."""
    if isinstance(error, AgentBroken):
        return agents.describe_broken(error)
    return general.describe_not_started()


def describe_ending(ended: TurnEnded, tools: Sequence[str], reader: Reader) -> str:
    """Return the text of an answer, with a note on how its turn ended."""
    if ended.ending == "answered":
        return general.note_cut(ended.text, ended.reason) if ended.reason else ended.text
    if ended.ending == "stopped":
        return general.describe_stop(ended.text, tools)
    if ended.quota:
        return usage.describe_limit(ended.quota, ended.text, reader)
    if ended.ending == "exhausted":
        return general.describe_limit(ended.reason, ended.text)
    if ended.ending == "refused":
        note = general.describe_refusal(ended.reason)
    else:
        detail = ended.detail if reader.is_owner else ""
        note = general.describe_failure(ended.reason, detail=detail)
    return f"{ended.text}\n\n{note}" if ended.text else note


def note_cheap_model(
    connection: Connection, ended: TurnEnded, active: ActiveTurn, reader: Reader
) -> str:
    """Return the note for the first answer of a day that the cheap model gave; else ""."""
    if not ended.used_cheap_model:
        return ""
    key, day = f"thrift:{active.person.id}", str(day_of(reader.now, reader.zone).start)
    if meta.get(connection, key=key) == day:
        return ""
    meta.put(connection, key=key, value=day)
    return f"\n\n{usage.CHEAP_MODEL()}"


def note_interrupted(connection: Connection, active: ActiveTurn) -> str:
    """Return the note on calls whose outcome a crash left unknown; "" without any.

    Written with the end of the turn, in one transaction, so that the person reads it once.
    """
    if active.prepared:  # this process began the turn, so no crash lies within it
        return ""
    made = {call.call_id: unwrap(call) for message in active.messages for call in message.calls}
    note = list_interrupted(connection, active.id, made)
    return f"\n\n{note}" if note else ""


def list_interrupted(
    connection: Connection, turn_id: TurnId, made: Mapping[CallId, ToolCallPart]
) -> str:
    """Describe a turn's calls of unknown outcome, with the arguments of those that are known."""
    actions = []
    for step in turns.list_steps(connection, turn_id=turn_id):
        if step.is_error and (step.outcome or "").startswith(UNKNOWN_OUTCOME):
            call = made.get(step.call_id)
            arguments = flatten(call.arguments, _LONGEST_ACTION).replace("`", "'") if call else ""
            title = describe_tool(step.name)
            actions.append(f"{title} `{arguments}`" if arguments else title)
    return describe_interrupted(actions)
