"""Sentences on tools: what each is for, what it does while it runs, and switching them."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

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


@dataclass(frozen=True, slots=True, kw_only=True)
class _ToolTexts:
    """Tells people the purpose of a tool, and names its steps while it runs."""

    purpose: Text
    step: Text | None = None


_TOOLS = {
    "archive": _ToolTexts(purpose=Text("stores and searches longer notes")),
    "ask": _ToolTexts(
        purpose=Text("asks you a question with buttons"), step=Text("Waiting for an answer")
    ),
    "ask_memory": _ToolTexts(purpose=Text("asks the external memory about you")),
    "delegate_task": _ToolTexts(
        purpose=Text("delegates parts of a task to helpers"), step=Text("Helpers are working")
    ),
    "execute_code": _ToolTexts(
        purpose=Text("runs Python code that calls other tools"), step=Text("Running code")
    ),
    "group_titles": _ToolTexts(purpose=Text("reads the titles of groups")),
    "memory": _ToolTexts(purpose=Text("changes what I remember"), step=Text("Updating memory")),
    "message_agent": _ToolTexts(purpose=Text("sends messages and questions to named agents")),
    "patch": _ToolTexts(
        purpose=Text("edits a file in your workspace"), step=Text("Changing a file")
    ),
    "process": _ToolTexts(purpose=Text("manages background commands")),
    "propose_identity": _ToolTexts(purpose=Text("proposes a change to my character to an owner")),
    "read_file": _ToolTexts(
        purpose=Text("reads a file in your workspace"), step=Text("Reading a file")
    ),
    "recall": _ToolTexts(
        purpose=Text("searches earlier conversations"), step=Text("Searching conversations")
    ),
    "schedule": _ToolTexts(
        purpose=Text("creates and changes reminders and jobs"), step=Text("Managing jobs")
    ),
    "search_files": _ToolTexts(
        purpose=Text("searches files in your workspace"), step=Text("Searching files")
    ),
    "send_file": _ToolTexts(
        purpose=Text("sends a file with an answer"), step=Text("Writing a file")
    ),
    "send_message": _ToolTexts(
        purpose=Text("sends a message to another of your chats"), step=Text("Sending a message")
    ),
    "settings": _ToolTexts(purpose=Text("changes your settings"), step=Text("Changing settings")),
    "skill_manage": _ToolTexts(purpose=Text("writes and changes skills for an owner")),
    "skill_view": _ToolTexts(purpose=Text("reads a skill: how some work is done")),
    "skills_search": _ToolTexts(purpose=Text("searches the skills")),
    "terminal": _ToolTexts(
        purpose=Text("runs commands in your workspace, in a sandbox"),
        step=Text("Running a command"),
    ),
    "todo": _ToolTexts(purpose=Text("keeps a plan for longer tasks"), step=Text("Planning")),
    "web_fetch": _ToolTexts(purpose=Text("reads a web page")),
    "web_search": _ToolTexts(purpose=Text("searches the web")),
    "write_file": _ToolTexts(
        purpose=Text("creates or replaces a file in your workspace"), step=Text("Writing a file")
    ),
}
_OTHER_STEP = Text("Using {name}")


def describe_step(name: str) -> str:
    """Return the title of a tool's step."""
    known = _TOOLS.get(name)
    return known.step() if known and known.step else _OTHER_STEP(name=name)


def describe_tools(specs: Sequence[ToolSpec], off: Collection[str], *, has_servers: bool) -> str:
    """List tools with their purpose; that of a plug-in's tool is its own first sentence."""
    known = {spec.name for spec in specs}
    lines = [_describe(spec, is_off=spec.name in off) for spec in specs]
    lines += [_LINE_OFF(name=name, purpose="").rstrip() for name in off if name not in known]
    text = _LIST(lines="\n".join(lines))
    return f"{text}\n\n{_SERVERS()}" if has_servers else text


def _describe(spec: ToolSpec, *, is_off: bool) -> str:
    known = _TOOLS.get(spec.name)
    said = known.purpose() if known else spec.description.partition(". ")[0].rstrip(".")
    return (_LINE_OFF if is_off else _LINE)(name=spec.name, purpose=said)
