"""Sentences on the tools of a conversation, and on switching them on and off."""

from collections.abc import Collection, Sequence

from agent_core.localization import Text
from agent_core.transcript import ToolSpec

_LIST = Text("I can use these tools here:\n\n{lines}")
_LINE = Text("- `{name}` {purpose}")
_LINE_OFF = Text("- `{name}` (off) {purpose}")
_SERVERS = Text("To turn off a tool of an MCP server, send /tools off NAME.")
UNKNOWN = Text("There's no tool called {name} here. /tools lists them.")
NEAREST = Text("There's no tool called {name} here. Did you mean {nearest}?")
USAGE = Text("Send /tools, /tools off NAME or /tools on NAME.")
ONLY_OWNER = Text("Only an owner can turn tools on or off in a group or channel.")
SWITCHED_OFF = Text("I've turned off `{name}` here.")
TOO_MANY = Text("Too many tools are off here. Turn some on first; /tools lists them.")
SWITCHED_ON = Text("I've turned `{name}` back on here.")
_PURPOSES = {
    "archive": Text("stores and searches longer notes"),
    "ask": Text("asks you a question with buttons"),
    "ask_memory": Text("asks the external memory about you"),
    "delegate_task": Text("delegates parts of a task to helpers"),
    "execute_code": Text("runs Python code that calls other tools"),
    "group_titles": Text("reads the titles of groups"),
    "memory": Text("changes what I remember"),
    "message_agent": Text("sends messages and questions to named agents"),
    "patch": Text("edits a file in your workspace"),
    "process": Text("manages background commands"),
    "propose_identity": Text("proposes a change to my character to an owner"),
    "read_file": Text("reads a file in your workspace"),
    "recall": Text("searches earlier conversations"),
    "schedule": Text("creates and changes reminders and jobs"),
    "search_files": Text("searches files in your workspace"),
    "send_file": Text("sends a file with an answer"),
    "send_message": Text("sends a message to another of your chats"),
    "settings": Text("changes your settings"),
    "skill_manage": Text("writes and changes skills for an owner"),
    "skill_view": Text("reads a skill: how some work is done"),
    "skills_search": Text("searches the skills"),
    "terminal": Text("runs commands in your workspace, in a sandbox"),
    "todo": Text("keeps a plan for longer tasks"),
    "web_fetch": Text("reads a web page"),
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
