"""The contract of actions: the effects of a call, in the terms that rules and people use."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

from agent_core.tools.contract import ToolContext

ActionKind = Literal[
    "read", "write", "delete", "run", "fetch", "send", "install", "spend", "change", "use"
]
"""Read or write files, delete them, run a program, fetch from the network, send something to
others, install software, spend money, change Talaria's stored state, or use a secret of the owner.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """An effect of a call.

    `target` is exactly the thing that the action affects: a path, a URL, a program with its
    arguments, a recipient. `place` is its location: `workspace`, a host, an MCP server, a chat.
    `is_outward` means that data may leave this machine for somebody other than the person.
    `within` is the whole text of the command line in which a command stands, with its folder.
    """

    kind: ActionKind
    target: str
    place: str
    is_outward: bool = False
    within: str = ""


@runtime_checkable
class DeclaresActions(Protocol):
    """A tool whose calls are judged by the policy before they run."""

    def list_actions(
        self, arguments: Mapping[str, object], context: ToolContext
    ) -> Sequence[Action]:
        """Return every effect that a call may have; change nothing, and never wait.

        Declare an unknown effect as the worst possible one. Raises `ToolArgumentError` for
        arguments that can't be read.
        """
