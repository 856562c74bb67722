"""The steps of a turn, as its status line shows them."""

from collections.abc import Sequence

from adapters.messages import Step, StepState
from agent_core.localization import Text

_TOOLS = {
    "ask": Text("Waiting for an answer"),
    "delegate_task": Text("Helpers are working"),
    "execute_code": Text("Running code"),
    "memory": Text("Updating memory"),
    "patch": Text("Changing a file"),
    "read_file": Text("Reading a file"),
    "recall": Text("Searching conversations"),
    "schedule": Text("Managing jobs"),
    "search_files": Text("Searching files"),
    "send_file": Text("Writing a file"),
    "send_message": Text("Sending a message"),
    "settings": Text("Changing settings"),
    "terminal": Text("Running a command"),
    "todo": Text("Planning"),
    "write_file": Text("Writing a file"),
}
_OTHER_TOOL = Text("Using {name}")
HELPERS = Text("Helpers are working: {done} of {total} done")
_STEP_INDICATORS: dict[StepState, str] = {"running": "⏳", "done": "✓", "failed": "✗"}
_STEP = Text("{sign} {title}… ({seconds} s)")
_PLAN = Text("{number} of {total}: {title}")
_PLAN_DONE = Text("All {total} steps are done")
_PLAN_TITLE = 80
"""Characters of a step that fit into a status line."""


def describe_tool(name: str) -> str:
    """Return the title of a tool's step."""
    return _TOOLS[name]() if name in _TOOLS else _OTHER_TOOL(name=name)


def describe_steps(steps: Sequence[Step], seconds: int, *, is_whole: bool) -> str:
    """Describe the running step of a turn; with `is_whole`, list all its steps."""
    if is_whole:
        return "\n".join(f"{_STEP_INDICATORS[step.state]} {step.title}" for step in steps)
    if not steps:
        return ""
    running = [step for step in steps if step.state == "running"]
    title = (running or list(steps))[-1].title
    return _STEP(sign=_STEP_INDICATORS["running"], title=title, seconds=seconds)


def describe_progress(note: str) -> str:
    """Return the title of a step that reports its progress."""
    return note if len(note) <= _PLAN_TITLE else f"{note[: _PLAN_TITLE - 1]}…"


def describe_plan(number: int, total: int, title: str) -> str:
    """Describe the step of a plan at hand; "" without a plan."""
    if not title:
        return _PLAN_DONE(total=total) if total else ""
    short = title if len(title) <= _PLAN_TITLE else f"{title[: _PLAN_TITLE - 1]}…"
    return _PLAN(number=number, total=total, title=short)
