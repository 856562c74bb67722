"""Sentences about MCP servers, for owners."""

from collections.abc import Sequence

from agent_core.localization import Plural, Text, join_list
from agent_core.tools.mcp.forms import Field, Form, PageLink
from agent_core.tools.mcp.hub import ServerReport
from agent_core.tools.mcp.offers import name_command
from agent_core.tools.mcp.pins import Judged
from agent_core.transcript import flatten

ACCEPT, RETRY, SHOW = Text("Accept"), Text("Try again"), Text("Show {name}")
NO_SERVERS = Text("No MCP server is set up. `talaria mcp add` adds one.")
UNKNOWN_SERVER = Text("There's no MCP server called “{name}”. /mcp lists them.")
ACCEPTED = Text("Accepted. I can now use the tools of “{name}”.")
ACCEPTED_AS_BEFORE = Text("For the tools of “{name}”, what was accepted before counts again.")
OUTDATED = Text("The tools of “{name}” have changed in the meantime. Please review them again.")
RETRYING = Text("I'm reconnecting to “{name}”.")
USAGE = Text("Send /mcp to see every server, or /mcp NAME to see the tools of one.")
ONLY_DIRECT = Text(
    "That command comes from another service, and works only in our direct conversation. Send it"
    " to me there."
)
FOLLOW_PROMPT = Text(
    "Follow the prompt “{prompt}” of the MCP server “{name}”. Get it with `{name}__get_prompt` and"
    " these words: {words}"
)
_PROMPTS = Text("  Commands: {names}")
SIGN_IN = Text("Sign in")
_STATES = {
    "ready": Text("{name}: connected"),
    "starting": Text("{name}: connecting"),
    "waiting": Text("{name}: not connected"),
}
_SIGN_IN_NEEDED = Text("{name}: not connected. /connections gives you a link to sign in.")
_OWN_ACCOUNTS = Plural(
    "{name}: each person uses their own account; {n:,} is connected",
    "{name}: each person uses their own account; {n:,} are connected",
)
_SHARED_ACCOUNT = Text("  Everyone here uses one account.")
_STATE_DETAILS = Text("  Details: “{details}”")
_FAULT = Text("I couldn't read the list of servers, so nothing has changed. Details: “{reason}”")
_TOOLS = Plural("{n:,} tool in use", "{n:,} tools in use")
_FRESH = Plural("{n:,} new tool needs your approval", "{n:,} new tools need your approval")
_CHANGED = Plural("{n:,} changed tool is off", "{n:,} changed tools are off")
_FAULTY = Plural("{n:,} tool can't be used", "{n:,} tools can't be used")
_LEFT_OUT = Plural(
    "{n:,} tool is left out, because there are too many",
    "{n:,} tools are left out, because there are too many",
)
_MORE_TOOLS = Plural("{n:,} more", "{n:,} more")
_TOOL = Text("- {name}: {description}")
_TOOL_STATES = {
    "fresh": Text("- {name} (new): {description}"),
    "changed": Text("- {name} (changed, off): {description}"),
    "faulty": Text("- {name} (can't be used; details: “{reason}”)"),
}
_UNTRUSTED = Text(
    "The server wrote these descriptions. Accept its tools only if you trust the server."
)
_NOTICE = Text(
    "The MCP server “{name}” offers tools that need your approval: {tools}. /mcp shows them."
)
_NOTICE_CHANGED = Text(
    "The MCP server “{name}” has changed these tools, so I've turned them off: {tools}. /mcp"
    " shows them."
)
OPEN, GIVE_ANSWER, DECLINE = Text("I'll open it"), Text("Answer it"), Text("Don't answer")
YES, NO = Text("Yes"), Text("No")
_FORM = Text("The service “{name}” asks: {message}\n\nIt wants to know: {fields}")
_YES_OR_NO = Text("The service “{name}” asks: {message}")
_FORM_CARE = Text("Your answers go to the service “{name}”. Never send it a password.")
_LINK = Text(
    "The service “{name}” asks you to open a page on {host}: {message}\n"
    "\n"
    "{url}\n"
    "\n"
    "Open it only if you expected this."
)
_FIELD = Text("The service “{name}” asks for: {label}")
_WRITE = {
    "text": Text("Write your answer."),
    "number": Text("Write a number."),
    "integer": Text("Write a whole number."),
}
_SKIP, _DEFAULT = Text("Leave out"), Text("Keep {value}")
_MOST_NAMED = 5
_BUTTON = 30
_SHORT, _WHOLE = 160, 1000
"""Characters of the description of an accepted tool, and of one that waits."""


def describe_servers(reports: Sequence[ServerReport], fault: str) -> str:
    """List all servers with their states."""
    lines = [line for one in reports for line in _describe_server(one)]
    if fault:
        lines.append(_FAULT(reason=fault))
    return "\n".join(lines) or NO_SERVERS()


def describe_tools(report: ServerReport) -> str:
    """List the tools of one server, with the whole descriptions of those that wait."""
    judged = report.judged
    lines = _describe_server(report)
    for tool in report.listing.tools:
        state = report.pins.judge(tool)
        if state == "usable":
            lines.append(_TOOL(name=tool.name, description=_cut(tool.description, _SHORT)))
        elif state == "faulty":
            lines.append(_TOOL_STATES["faulty"](name=tool.name, reason=tool.fault))
        else:
            shown = _cut(tool.description, _WHOLE)
            lines.append(_TOOL_STATES[state](name=tool.name, description=shown))
    return "\n".join(lines if judged.is_complete else [*lines, "", _UNTRUSTED()])


def describe_form(form: Form) -> str:
    """Say what a server wants to know, and who gets to know it."""
    message = _cut(form.message, _WHOLE)
    if not form.fields:
        return _YES_OR_NO(name=form.server, message=message)
    fields = join_list([_cut(field.label, _SHORT) for field in form.fields])
    asked = _FORM(name=form.server, message=message, fields=fields)
    return f"{asked}\n\n{_FORM_CARE(name=form.server)}"


def describe_field(form: Form, field: Field) -> str:
    """Ask for one value."""
    asked = _FIELD(name=form.server, label=_cut(field.label, _SHORT))
    return asked if field.options else f"{asked}\n{_WRITE[field.kind]()}"


def describe_skip(field: Field) -> str:
    """Return the label of the button that leaves a value out."""
    if field.default is None:
        return _SKIP()
    shown = next((one.label for one in field.options if one.value == field.default), "")
    if isinstance(field.default, bool):
        shown = YES() if field.default else NO()
    value = shown or flatten(str(field.default), _BUTTON)
    return _DEFAULT(value=value)


def describe_link(link: PageLink) -> str:
    """Show the page that a server wants the person to open, with its whole address."""
    message = _cut(link.message, _WHOLE)
    return _LINK(name=link.server, host=f"`{link.host}`", message=message, url=link.url)


def describe_waiting(server: str, judged: Judged) -> str:
    """Tell an owner once that tools of a server wait."""
    notice = _NOTICE_CHANGED if judged.changed else _NOTICE
    names = list(judged.changed or judged.fresh)
    left = len(names) - _MOST_NAMED
    shown = [*names[:_MOST_NAMED], *([_MORE_TOOLS(left)] if left > 0 else [])]
    return notice(name=server, tools=join_list(shown))


def _describe_server(report: ServerReport) -> list[str]:
    judged = report.judged
    counts = (
        (_TOOLS, len(judged.usable)),
        (_FRESH, len(judged.fresh)),
        (_CHANGED, len(judged.changed)),
        (_FAULTY, len(judged.faulty)),
        (_LEFT_OUT, report.listing.left_out),
    )
    told = ", ".join(text(count) for text, count in counts if count)
    lines = [_describe_state(report), *([f"  {told}"] if told else [])]
    name, prompts = report.server.name, report.listing.prompts
    if report.server.is_shared:
        lines.append(_SHARED_ACCOUNT())
    if prompts:
        lines.append(_PROMPTS(names=", ".join(f"/{name_command(name, one)}" for one in prompts)))
    return lines


def _describe_state(report: ServerReport) -> str:
    name = report.server.name
    if report.server.has_own_accounts:
        return _OWN_ACCOUNTS(report.signed_in, name=name)
    if report.state != "waiting" or not report.fault:
        return _STATES[report.state](name=name)
    if report.needs_sign_in:
        return _SIGN_IN_NEEDED(name=name)
    details = _STATE_DETAILS(details=f"{name} {report.fault}.")
    return f"{_STATES['waiting'](name=name)}\n{details}"


def _cut(text: str, most: int) -> str:
    """Return the words of a server as code, in which no link and no mark-up works."""
    short = text if len(text) <= most else f"{text[: most - 1]}…"
    safe = short.replace("`", "'")
    return f"`{safe}`"
