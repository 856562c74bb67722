"""A request for approval: shows the exact call, and is bound to it by a hash."""

import hashlib
import json
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from agent_core.ids import CallId, ConversationId, PersonId, SessionId, TurnId
from agent_core.tools.policy.contract import Action, ActionKind
from agent_core.tools.policy.paths import LISTED
from agent_core.transcript import IGNORED, UntrustedSource

LONGEST_SHOWN = 6000
"""Characters of a call that a person can be expected to read before they allow it."""
_LONGEST_TARGET = 2000
"""Characters of one target in a list of what a call can reach."""
_LONGEST_REPEATED = 120
"""Characters of a target that the call itself shows, too."""
_MOST_MARKS = 2
"""Combining marks on one letter; no language has more on many letters."""
_NOT_COMPARED = re.compile(r"[\s'\"\\]")
USE_WITHIN = 600_000
"""Milliseconds after the answer within which an approved call must begin."""

_BLANK = (
    rf"[{IGNORED}\u2800\U00016fe4\U0001d159]"
    r"(?<![\u2190-\u27ff\u2900-\u3299\U0001f000-\U0001faff]\ufe0f)"
)
"""The characters that fonts draw as nothing, except the one that makes a symbol an emoji."""

CallRefusal = Literal["no", "interrupted", "late", "unreachable", "used", "changed"]
"""The reason why a call was not allowed: refused, interrupted by another message, no answer in
time, nobody to ask, an approval that was used up or has expired, or an approval of a different
call.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalRequest:
    """A call that a person has to allow.

    `shown` is the whole call as the person reads it. `shapes` is empty if only this single call can
    be allowed. With `is_for_owner`, an owner decides in a direct chat. With `is_tainted`, the
    person is asked because of untrusted words, and `sources` names their origins. With `is_over`,
    the turn has fetched as many addresses of untrusted pages as it may without a question.
    """

    person_id: PersonId
    conversation_id: ConversationId
    turn_id: TurnId
    call_id: CallId
    tool: str
    arguments: str
    actions: tuple[Action, ...]
    asked: tuple[Action, ...]
    shown: str
    shapes: tuple[str, ...] = ()
    is_for_owner: bool = False
    is_tainted: bool = False
    is_over: bool = False
    sources: tuple[UntrustedSource, ...] = ()
    session_id: SessionId | None = None

    @property
    def is_walled(self) -> bool:
        """True if a list of hosts bounds all that is asked, so that it can be allowed for good."""
        return all(one.place == LISTED for one in self.asked)

    @property
    def digest(self) -> str:
        """The SHA-256 that binds an approval to this call of this person."""
        fields = [
            *(self.person_id, self.conversation_id, self.turn_id, self.call_id, self.tool),
            self.arguments,
            [[one.kind, one.target, one.place, one.is_outward] for one in self.actions],
        ]
        return hashlib.sha256(_canonical(fields).encode("utf-8", "backslashreplace")).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """The answer to a request. `refusal` is "" if it is allowed; `why` is the person's text."""

    refusal: CallRefusal | Literal[""] = ""
    why: str = ""


class Approver(Protocol):
    """Asks people to allow calls."""

    async def approve(self, request: ApprovalRequest) -> Decision:
        """Ask the person who may decide, and wait.

        Each call asks only once: an answer given to an earlier process counts, for exactly this
        request. Raises `StoreError`, and `QuestionPending` if the process stops meanwhile.
        """

    async def use(self, request: ApprovalRequest) -> bool:
        """Use up the approval of a request; False if it was already used or has expired.

        Raises `StoreError`.
        """


def _canonical(value: object) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=True, separators=(",", ":"))


def canonicalize(arguments: Mapping[str, object]) -> str:
    """Return arguments as JSON text; equal arguments give equal text."""
    return _canonical(arguments)


def show_call(tool: str, arguments: Mapping[str, object]) -> str:
    """Return a whole call as a person reads it; hidden characters are made visible."""
    command = arguments.get("command")
    if isinstance(command, str):
        arguments = {**arguments, "command": _keep_order(command)}
        if len(arguments) == 1:
            return reveal(_keep_order(command))
    lines = [tool]
    for name, value in arguments.items():
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        shown = reveal(text)
        lines.append(f"{name}: {shown}" if "\n" not in shown else f"{name}:\n{shown}")
    return "\n".join(lines)


def reveal(text: str) -> str:
    """Escape the characters that a reader can't see, so that the person sees exactly what runs."""
    marked = re.sub(_BLANK, lambda found: _spell(found[0]), text)
    if not marked.isascii():
        marked = _limit_marks(marked)
    return "".join(one if one in "\n\t" or one.isprintable() else _spell(one) for one in marked)


def _limit_marks(text: str) -> str:
    """Escape combining marks beyond the usual number, which would cover the lines around them."""
    shown, marks = list[str](), 0
    for one in text:
        marks = marks + 1 if unicodedata.category(one) in ("Mn", "Me") else 0
        shown.append(_spell(one) if marks > _MOST_MARKS else one)
    return "".join(shown)


def _keep_order(command: str) -> str:
    """Escape letters written from right to left: apps would show a command's words out of order."""
    return "".join(
        _spell(one) if unicodedata.bidirectional(one) in ("R", "AL", "AN") else one
        for one in command
    )


def _spell(character: str) -> str:
    return character.encode("unicode_escape").decode()


def list_reach(actions: Sequence[Action], shown: str = "") -> list[tuple[ActionKind, str, str]]:
    """List kind, target and place of actions in order, without repeats; shorten long targets.

    `shown` is the call as the person reads it. A target that is the whole call is "".
    """
    bare = _NOT_COMPARED.sub("", shown)
    return list(dict.fromkeys((one.kind, _name_target(one, bare), one.place) for one in actions))


def _name_target(action: Action, call: str) -> str:
    """Return a target as a person reads it beside the call, which has it in full."""
    target = reveal(action.target).replace("\n", r"\n")
    bare = _NOT_COMPARED.sub("", reveal(action.target))
    is_servers = action.place.startswith("mcp:") and action.kind != "send"
    if call and (bare == call or is_servers):
        return ""  # a server's tool gets all arguments of the call, and nothing else
    if len(target) > _LONGEST_REPEATED and bare in call:
        half = _LONGEST_REPEATED // 2
        return f"{target[:half]} … {target[-half:]}"
    return target if len(target) <= _LONGEST_TARGET else f"{target[:_LONGEST_TARGET]}…"
