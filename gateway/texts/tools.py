"""Sentences about the tools that the assistant may use."""

from collections.abc import Sequence

from agent_core.localization import Text
from agent_core.transcript import ToolSpec

_TOOLS = Text("Here I can use these tools:\n\n{lines}")
_LINE = Text("- `{name}` {purpose}")
_PURPOSES = {
    "archive": Text("keeps longer notes, and finds them again"),
    "ask": Text("asks you to choose, with buttons"),
    "ask_memory": Text("asks the external memory about you"),
    "memory": Text("changes what I remember"),
    "patch": Text("changes a part of a file in your workspace"),
    "propose_identity": Text("proposes a change of who I am to an owner"),
    "read_file": Text("reads a file in your workspace"),
    "recall": Text("searches earlier conversations"),
    "schedule": Text("makes and changes reminders and jobs"),
    "search_files": Text("searches the files in your workspace"),
    "send_file": Text("sends a file with an answer"),
    "settings": Text("changes your settings"),
    "terminal": Text("runs commands in your workspace, in a sandbox without network"),
    "write_file": Text("creates or replaces a file in your workspace"),
}


def describe_tools(specs: Sequence[ToolSpec]) -> str:
    """List tools with their purpose; that of a plug-in's tool is its own first sentence."""
    return _TOOLS(lines="\n".join(map(_describe, specs)))


def _describe(spec: ToolSpec) -> str:
    purpose = _PURPOSES.get(spec.name)
    said = purpose() if purpose else spec.description.partition(". ")[0].rstrip(".")
    return _LINE(name=spec.name, purpose=said)
