"""Sentences on tools: what each is for, what it does while it runs, and switching them."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from agent_core.localization import Text
from agent_core.transcript import ToolSpec

_LIST = Text("Here I can:\n\n{lines}")
_PRESS = Text("Choose a tool to turn it off, or on again.")
_LINE = Text("- {purpose}")
_LINE_OFF = Text("- {purpose} (off)")
_NO_PICTURES = Text(
    "I can't make pictures from a description here, because no model for that is set up. An"
    " owner can set one up (`images.model`)."
)
_SERVERS = Text(
    "/mcp shows the tools of other services. To turn one off, send /tools off and its name."
)
UNKNOWN = Text("There's no tool called “{name}” here. I have these: {names}.")
NEAREST = Text("There's no tool called “{name}” here. Did you mean “{nearest}”?")
USAGE = Text(
    "Send /tools to see my tools. /tools off NAME turns one off here, and /tools on NAME"
    " turns it on again."
)
ONLY_OWNER = Text("Only an owner can turn tools on or off in a group or channel.")
SWITCHED_OFF = Text("Turned off here: {purpose}.")
TOO_MANY = Text("Too many tools are off here. Turn some on first.")
SWITCHED_ON = Text("Turned back on here: {purpose}.")
TOOLS = Text("What I can do")
ABOUT_TOOLS = Text(
    "This is for our direct conversations; a group has its own list. A change takes effect at once."
)
TURN_ON, TURN_OFF = Text("Turn on: {name}"), Text("Turn off: {name}")
OF_SERVER = Text("Tools of {name}")
GONE = Text("Turned off, and not available now")


@dataclass(frozen=True, slots=True, kw_only=True)
class _ToolTexts:
    """Tells people the purpose of a tool after "I can", and names its steps while it runs."""

    purpose: Text
    step: Text | None = None


_TOOLS = {
    "archive": _ToolTexts(purpose=Text("store and search longer notes")),
    "ask": _ToolTexts(
        purpose=Text("ask you a question with buttons"), step=Text("Waiting for an answer")
    ),
    "ask_memory": _ToolTexts(purpose=Text("look up what the external memory knows about you")),
    "chart": _ToolTexts(purpose=Text("draw charts"), step=Text("Drawing a chart")),
    "delegate_task": _ToolTexts(
        purpose=Text("give parts of a task to helpers"), step=Text("Helpers are working")
    ),
    "execute_code": _ToolTexts(
        purpose=Text("run Python code that calls other tools"), step=Text("Running code")
    ),
    "group_titles": _ToolTexts(purpose=Text("read the names of groups")),
    "image_generate": _ToolTexts(
        purpose=Text("make pictures from a description"), step=Text("Making a picture")
    ),
    "manage_agents": _ToolTexts(purpose=Text("make and change agents and teams for an owner")),
    "manage_jobs": _ToolTexts(
        purpose=Text("list, change and delete reminders"), step=Text("Managing reminders")
    ),
    "memory": _ToolTexts(purpose=Text("change what I remember"), step=Text("Updating memory")),
    "message_agent": _ToolTexts(purpose=Text("send messages and questions to other agents")),
    "patch": _ToolTexts(
        purpose=Text("edit a file in your workspace"), step=Text("Changing a file")
    ),
    "process": _ToolTexts(purpose=Text("manage commands that run in the background")),
    "propose_identity": _ToolTexts(purpose=Text("suggest to an owner how to change my character")),
    "read_file": _ToolTexts(
        purpose=Text("read a file in your workspace"), step=Text("Reading a file")
    ),
    "recall": _ToolTexts(
        purpose=Text("search earlier conversations"), step=Text("Searching conversations")
    ),
    "schedule_job": _ToolTexts(
        purpose=Text("plan work that I do later or regularly"), step=Text("Managing reminders")
    ),
    "remind": _ToolTexts(purpose=Text("set reminders"), step=Text("Setting a reminder")),
    "search_files": _ToolTexts(
        purpose=Text("search the files in your workspace"), step=Text("Searching files")
    ),
    "send_file": _ToolTexts(
        purpose=Text("send a file with an answer"), step=Text("Writing a file")
    ),
    "send_message": _ToolTexts(
        purpose=Text("send a message to another of your chats"), step=Text("Sending a message")
    ),
    "settings": _ToolTexts(purpose=Text("change your settings"), step=Text("Changing settings")),
    "skill_manage": _ToolTexts(purpose=Text("write and change skills, if an owner asks")),
    "skill_view": _ToolTexts(purpose=Text("read a skill: how some work is done")),
    "skills_search": _ToolTexts(purpose=Text("search the skills")),
    "terminal": _ToolTexts(
        purpose=Text("run commands in your workspace, in a sandbox"),
        step=Text("Running a command"),
    ),
    "todo": _ToolTexts(purpose=Text("keep a plan for longer tasks"), step=Text("Planning")),
    "web_fetch": _ToolTexts(purpose=Text("read a web page")),
    "web_search": _ToolTexts(purpose=Text("search the web")),
    "write_file": _ToolTexts(
        purpose=Text("create or replace a file in your workspace"), step=Text("Writing a file")
    ),
}
_PICTURES = "image_generate"
_OTHER_STEP = Text("Using {name}")


def describe_step(name: str) -> str:
    """Return the title of a tool's step."""
    known = _TOOLS.get(name)
    return known.step() if known and known.step else _OTHER_STEP(name=name)


def describe_tools(
    specs: Sequence[ToolSpec], off: Collection[str], *, has_servers: bool, has_buttons: bool
) -> str:
    """List tools with their purpose; that of a plug-in's tool is its own first sentence."""
    known = {spec.name for spec in specs}
    lines = [_describe(spec, is_off=spec.name in off) for spec in specs]
    lines += [_LINE_OFF(purpose=f"`{name}`") for name in off if name not in known]
    text = _LIST(lines="\n".join(lines))
    if has_buttons:
        text = f"{text}\n\n{_PRESS()}"
    if _PICTURES not in {*known, *off}:
        text = f"{text}\n\n{_NO_PICTURES()}"
    return f"{text}\n\n{_SERVERS()}" if has_servers else text


def name_purpose(spec: ToolSpec) -> str:
    """Return the end of a sentence that begins with "I can"; other tools have only their own."""
    known = _TOOLS.get(spec.name)
    return known.purpose() if known else spec.description.partition(". ")[0].rstrip(".")


def find_purpose(name: str, specs: Sequence[ToolSpec] = ()) -> str:
    """Return what the tool of a name is for; one that is not there has only its name."""
    known, found = _TOOLS.get(name), next((spec for spec in specs if spec.name == name), None)
    purpose = name_purpose(found) if found else known.purpose() if known else ""
    return purpose or f"`{name}`"


def _describe(spec: ToolSpec, *, is_off: bool) -> str:
    return (_LINE_OFF if is_off else _LINE)(purpose=name_purpose(spec))
