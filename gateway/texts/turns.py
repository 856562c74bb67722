"""Sentences about turns: their steps, what a restart interrupted, and their pages."""

from collections.abc import Mapping, Sequence

from adapters.messages import Step, StepState
from agent_core.agent.replay.context_report import PromptSource
from agent_core.localization import Plural, Text
from agent_core.state.conversations.transcripts import WaitKind

ATTEMPTS = Text("Attempts")
NOT_JUDGED = Text("Only an answer that was made with a skill can be judged.")
WAITS: Mapping[WaitKind, Text] = {
    "queue": Text("Waited for its turn"),
    "approval": Text("Waited for an approval"),
    "answer": Text("Waited for an answer"),
    "model": Text("Waited for the model, and tried again"),
}
FORK = Text("Continue in a copy from here")
FORK_OF = Text("Copy: {title}")
ORIGIN = Text("Earlier messages, in the original conversation")
REMOVE_FORK = Text("Remove this conversation")
IS_REMOVED = Text(
    "This conversation is removed: lists and search leave it out. It is still stored, so you "
    "can bring it back. To delete its words for good, use /forget."
)
BRING_IT_BACK = Text("Bring it back")
BRING_BACK_NAMED = Text("Bring it back: {title}")
REMOVED_FORKS = Text("Removed conversations")
REMOVED_FIRST = Text("this conversation is removed. Bring it back first.")
NO_FORK = Text("only a copy of a conversation can be removed.")
STILL_RUNNING = Text("the answer isn't complete yet. Wait for it, then remove the conversation.")
STILL_ANSWERING = Text("the answer isn't complete yet. Wait for it, then copy the conversation.")
BY_SOURCE = Text("What the model read, by source")
UNKNOWN = Text("There is no turn with the number {number}.")
NO_MODEL = Text("No model was used for that: a job sent its message.")
NO_PROMPT = Text("The prompt of that turn was deleted or altered.")
NO_PROMPT_NOW = Text(
    "Without Talaria's own settings, I can't say what the model would read for that today."
)
REPLAY_OF = Text("What the model read")
ABOUT_SOURCES = Text(
    "By the end of this request, the model had read about this much, in tokens. Four tokens"
    " are about three words."
)
SOURCE, SHARE = Text("Source"), Text("Share")
SOURCES: Mapping[PromptSource, Text] = {
    "identity": Text("Instructions"),
    "memory": Text("Memory"),
    "files": Text("Context files"),
    "tools": Text("Tools"),
    "summary": Text("Summary of older messages"),
    "talk": Text("Messages"),
    "outputs": Text("Tool results"),
}
ALL_CALLS = Plural(
    "{n:,} model call read {read:,} tokens, {cached:,} of them from a cache.",
    "{n:,} model calls read {read:,} tokens, {cached:,} of them from a cache.",
)
REPLAY = Text("Comparison")
ABOUT_REPLAY = Text(
    "From what I stored, I put together what the model got, and compare it with what was sent"
    " then. I repeat no action."
)
VERDICTS: Mapping[str, Text] = {
    "identical": Text("No difference: the model got exactly this."),
    "differs": Text("The rebuilt model call {number} differs from what was sent."),
    "fewer": Text(
        "I can't rebuild model call {number} from what is stored, so the comparison ends there."
    ),
    "not_noted": Text(
        "I can't compare model call {number}, because nothing was stored to compare it with."
    ),
}
RESUMED = Text(
    "A crash interrupted this request. The comparison runs without that crash, so the crash"
    " may be the reason for a difference."
)
MEMORY_OF_NOW = Text("With what I remember now")
SAME_PROMPT = Text("Today, the model would read the same.")
OTHER_PROMPT = Text("Today, the model would read something else:")
NOTHING_TO_REPLAY = Text(
    "There is nothing to compare: no model answered, or what it read was deleted."
)


HELPERS = Text("Helpers are working: {done} of {total} done")
_STEP_INDICATORS: dict[StepState, str] = {"running": "⏳", "done": "✓", "failed": "✗"}
_STEP = Text("{sign} {title}… ({seconds} s)")
_THINKING = Text("Thinking")
"""What a turn does between its steps: the model decides what comes next."""
_PLAN = Text("{number} of {total}: {title}")
_PLAN_DONE = Plural("The only step is done", "All {n} steps are done")
_PLAN_TITLE = 80
"""Characters of a step that fit into a status line."""

_DOUBT = Text(
    "I was restarted during this step and don't know whether it took effect, so please"
    " check: {action}"
)
_MORE = Plural("The same is true of {n:,} more step.", "The same is true of {n:,} more steps.")
_MOST_NAMED = 3


def describe_steps(steps: Sequence[Step], seconds: int, *, is_whole: bool) -> str:
    """Describe the running step of a turn; with `is_whole`, list all its steps."""
    if is_whole:
        return "\n".join(f"{_STEP_INDICATORS[step.state]} {step.title}" for step in steps)
    if not steps:
        return ""
    running = [step for step in steps if step.state == "running"]
    title = running[-1].title if running else _THINKING()
    return _STEP(sign=_STEP_INDICATORS["running"], title=title, seconds=seconds)


def describe_progress(note: str) -> str:
    """Return the title of a step that reports its progress."""
    return note if len(note) <= _PLAN_TITLE else f"{note[: _PLAN_TITLE - 1]}…"


def describe_plan(number: int, total: int, title: str) -> str:
    """Describe the step of a plan at hand; "" without a plan."""
    if not title:
        return _PLAN_DONE(total) if total else ""
    short = title if len(title) <= _PLAN_TITLE else f"{title[: _PLAN_TITLE - 1]}…"
    return _PLAN(number=number, total=total, title=short)


def describe_interrupted(actions: Sequence[str]) -> str:
    """Name the steps whose outcome is unknown; "" without any."""
    lines = [_DOUBT(action=action) for action in actions[:_MOST_NAMED]]
    if len(actions) > _MOST_NAMED:
        lines.append(_MORE(n=len(actions) - _MOST_NAMED))
    return "\n".join(lines)
