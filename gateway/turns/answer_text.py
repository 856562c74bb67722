"""The text of an answer: what earlier messages show of it, how its turn ended, and notes."""

import re
from collections.abc import Iterable, Mapping, Sequence

from adapters.toolkit.split_long_messages import close_code
from agent_core.agent.claims.deeds import read_deeds
from agent_core.agent.loop.messages import UNKNOWN_OUTCOME
from agent_core.agent.quotas.balance import day_of
from agent_core.agent.turn import ActiveTurn
from agent_core.errors import AgentBroken
from agent_core.events import TurnEnded
from agent_core.ids import CallId, TurnId
from agent_core.state.conversations import questions, turns
from agent_core.state.conversations.turns import Step
from agent_core.state.engine import meta
from agent_core.state.engine.database import Connection
from agent_core.tools.gate import was_kept_back
from agent_core.tools.selection.catalog import unwrap
from agent_core.tools.toolbox import Toolbox
from agent_core.transcript import Receipt, ToolCallPart, flatten
from gateway.texts import agents, general, usage
from gateway.texts.tools import describe_step
from gateway.texts.turns import describe_interrupted
from gateway.texts.usage import UsageReader

_LONGEST_ACTION = 120
"""Characters of the arguments that name an interrupted call."""
_WORD = re.compile(r"\S+")
_MARKS = re.compile(r">*(?:(?:`{3,}|~{3,})\S*)?")
_FENCE = re.compile(r"^(?:[ \t>]|[-*+] |\d+[.)] )*(?:`{3,}|~{3,}).*$", re.MULTILINE)
_CLOSER = re.compile(r"\s*>*[ \t]*(?:`{3,}|~{3,})[ \t]*(?=\n|$)")
_PARAGRAPH_END = re.compile(r"[ \t]*\n[ \t]*\n|\s*$")


def leave_out(text: str, sent: Iterable[str]) -> str:
    """Return a text without the beginning that the `sent` texts show, one after the other.

    After a paragraph, a sent text may differ: it showed an answer, and then the words before a
    call. A code block that is shown in part is not left out.
    """
    words, count = _list_words(text), 0
    for body in sent:
        count += _count_shown(text, words[count:], body)
    if not count:
        return text
    end = words[count - 1].end()
    fences = [*_FENCE.finditer(text, 0, end)]
    if len(fences) % 2:
        closer = _CLOSER.match(text, end)
        if closer is None:
            return text[fences[-1].start() :]
        end = closer.end()
    return text[end:].removeprefix(" ").lstrip("\n")


def _count_shown(text: str, words: Sequence[re.Match[str]], body: str) -> int:
    """Return how many words of a text, from the first on, a message shows."""
    shown = [word[0] for word in _list_words(body)]
    pairs = enumerate(zip(words, shown, strict=False))
    count = next((n for n, (word, other) in pairs if word[0] != other), min(len(words), len(shown)))
    if count < len(shown):
        while count and not _PARAGRAPH_END.match(text, words[count - 1].end()):
            count -= 1
    return count


def _list_words(text: str) -> list[re.Match[str]]:
    """List the words of a text, without the marks that a split code block gets in each part."""
    return [word for word in _WORD.finditer(text) if not _MARKS.fullmatch(word[0])]


class SentTexts:
    """Texts of a turn's finished messages, which its live message does not repeat."""

    def __init__(self, texts: Iterable[str]) -> None:
        """`texts` are those of an earlier process, oldest first."""
        self._texts = [*texts]
        self._is_from_start = True
        """True if the growing text begins with the turn's first answer, and not after these texts.
        """

    def begin_again(self) -> None:
        """Note that the text grows from the turn's first answer again."""
        self._is_from_start = True

    def add(self, text: str, *, is_behind: bool) -> None:
        """Add a text. With `is_behind`, the next text grows on from here, not from the start."""
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
    return general.NOT_STARTED()


def list_done(connection: Connection, active: ActiveTurn, ended: TurnEnded) -> list[str]:
    """Name the calls of a stopped turn that are done; one that waits or changed nothing is not.

    One that was broken off counts, if it can't be taken back: some of it may have happened.
    """
    if ended.ending != "stopped":
        return []
    steps = turns.list_steps(connection, turn_id=active.id)
    return [
        step.name
        for step in steps
        if _is_done(step, active.toolbox) or _is_broken_off(connection, active, step)
    ]


def _is_broken_off(connection: Connection, active: ActiveTurn, step: Step) -> bool:
    """Return whether a call was at work when it ended, and did not wait for a person."""
    if step.outcome is not None or active.toolbox.effect(step.name) != "unsafe":
        return False
    asked = questions.find_of_call(connection, turn_id=active.id, call_id=step.call_id)
    return asked is None or asked.state == "answered"


def _is_done(step: Step, toolbox: Toolbox) -> bool:
    """Return whether a call has read something, or changed what it should."""
    if step.outcome is None or step.is_error or was_kept_back(step.name, step.outcome):
        return False
    return toolbox.effect(step.name) == "read" or bool(read_deeds([step], toolbox))


def list_receipts(
    connection: Connection, active: ActiveTurn, tools: Sequence[str]
) -> tuple[Receipt, ...]:
    """List what the calls of a turn have changed, in their order; `tools` are their names."""
    if not tools:
        return ()
    steps = turns.list_steps(connection, turn_id=active.id)
    return tuple(receipt for step in steps for receipt in step.receipts)


def restore_receipts(connection: Connection, turn_id: TurnId, text: str) -> str:
    """Return an answer of the transcript with the lines below it that the chat has."""
    steps = turns.list_steps(connection, turn_id=turn_id)
    return add_receipts(text, [one for step in steps for one in step.receipts])


def add_receipts(text: str, receipts: Sequence[Receipt]) -> str:
    """Return the text of an answer with a line for each change below it."""
    lines = dict.fromkeys(receipt.text for receipt in receipts if receipt.text)
    return "\n\n".join(filter(None, (text, "\n".join(lines))))


def describe_ending(ended: TurnEnded, tools: Sequence[str], reader: UsageReader) -> str:
    """Return the text of an answer, with a note on how its turn ended. More notes may follow."""
    text = close_code(ended.text)
    if ended.ending == "answered":
        return general.note_cut(text, ended.reason) if ended.reason else text
    if ended.ending == "stopped":
        return general.describe_stop(text, tools)
    if ended.quota:
        return usage.describe_limit(ended.quota, text, reader)
    if ended.ending == "exhausted":
        return general.describe_limit(ended.reason, text)
    if ended.ending == "refused":
        note = general.describe_refusal(ended.reason)
    else:
        detail = ended.detail if reader.is_owner else ""
        note = general.describe_failure(ended.reason, detail=detail)
    return f"{text}\n\n{note}" if text else note


def note_cheap_model(
    connection: Connection, ended: TurnEnded, active: ActiveTurn, reader: UsageReader
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
    if active.prepared:  # this process began the turn, so it saw no crash
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
            title = describe_step(step.name)
            actions.append(f"{title} `{arguments}`" if arguments else title)
    return describe_interrupted(actions)
