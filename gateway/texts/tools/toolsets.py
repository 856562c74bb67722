"""Sentences on the tools of a conversation, and on switching them on and off."""

from collections.abc import Collection, Sequence

from agent_core.localization import Text
from agent_core.transcript import ToolSpec

_LIST = Text("Here I can use these tools:\n\n{lines}")
_LINE = Text("- `{name}` {purpose}")
_LINE_OFF = Text("- `{name}` (off) {purpose}")
_SERVERS = Text("For a tool of an MCP server, write `/tools off` and its name.")
UNKNOWN = Text("There is no tool {name} here. /tools lists all of them.")
NEAREST = Text("There is no tool {name} here. Did you mean {nearest}?")
USAGE = Text("Write /tools, or `/tools off` or `/tools on` with the name of a tool.")
ONLY_OWNER = Text("Only an owner can switch tools on or off in a group or channel.")
SWITCHED_OFF = Text("I no longer use `{name}` here.")
TOO_MANY = Text("Too many tools are off here. Switch some on first; /tools lists them.")
SWITCHED_ON = Text("I can use `{name}` here again.")
_PURPOSES = {
    "archive": Text("keeps longer notes, and finds them again"),
    "ask": Text("asks you to choose, with buttons"),
    "ask_memory": Text("asks the external memory about you"),
    "delegate_task": Text("lets helpers work on parts of a task"),
    "execute_code": Text("runs Python code that uses other tools"),
    "memory": Text("changes what I remember"),
    "message_agent": Text("writes to named agents, and asks them"),
    "patch": Text("changes a part of a file in your workspace"),
    "process": Text("handles commands that run in the background"),
    "propose_identity": Text("proposes a change of who I am to an owner"),
    "read_file": Text("reads a file in your workspace"),
    "recall": Text("searches earlier conversations"),
    "schedule": Text("makes and changes reminders and jobs"),
    "search_files": Text("searches the files in your workspace"),
    "send_file": Text("sends a file with an answer"),
    "send_message": Text("writes to another chat of yours"),
    "settings": Text("changes your settings"),
    "terminal": Text("runs commands in your workspace, in a sandbox"),
    "todo": Text("keeps a plan of long work"),
    "web_fetch": Text("reads a page of the web"),
    "web_search": Text("searches the web"),
    "write_file": Text("creates or replaces a file in your workspace"),
}


def describe_tools(specs: Sequence[ToolSpec], off: Collection[str], *, has_servers: bool) -> str:
    """List tools with their purpose; that of a plug-in's tool is its own first sentence."""
    known = {spec.name for spec in specs}
    lines = [_describe(spec, is_off=spec.name in off) for spec in specs]
    lines += [_LINE_OFF(name=name, purpose="").rstrip() for name in off if name not in known]
    text = _LIST(lines="\n".join(lines))
    return f"{text}\n\n{_SERVERS()}" if has_servers else text


def _describe(spec: ToolSpec, *, is_off: bool) -> str:
    purpose = _PURPOSES.get(spec.name)
    said = purpose() if purpose else spec.description.partition(". ")[0].rstrip(".")
    return (_LINE_OFF if is_off else _LINE)(name=spec.name, purpose=said)
