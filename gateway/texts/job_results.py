"""Sentences about runs of jobs: the events that start them, results, failures, delays, lists."""

from collections.abc import Sequence
from itertools import groupby

from agent_core.localization import Plural, Text
from agent_core.schedule.job_editor import ASKED
from agent_core.schedule.misfires import MOST_COUNTED
from agent_core.state.jobs.job_runs import (
    ACKNOWLEDGED,
    CROWDED,
    GATED,
    MERGED,
    MISSED,
    PUT_OFF,
    SKIPPED_NEXT,
    UNWANTED,
    Run,
    RunState,
)
from agent_core.tools.clock import ReaderClock

BROKEN_CONVERSATION = Text(
    "I can't read the conversation of this reminder: it is damaged in my storage. Set the"
    " reminder up again, or ask an owner to restore a backup."
)
LOST_RUN = Text("My record of this reminder is damaged.")
INTERRUPTED_TURN = Text("I was interrupted while working on this reminder.")
INTERRUPTED_SCRIPT = Text("I was switched off while the reminder's command ran.")
UNEXPECTED = Text(
    "Something unexpected went wrong. The owner finds the reason with `talaria logs`."
)
NO_OWNER = Text("The person this reminder belonged to has been removed.")
NO_TARGET = Text(
    "I have nowhere to send this reminder. Send /sethome in the chat that should get it."
)
NO_ROOM = Text(
    "Nobody has talked to me yet in the group that should get this reminder. Say hello to me"
    " there first."
)
NO_TASK = Text("This version of Talaria has no system task named {name}.")
_LIMIT_REACHED = Text("The reminder has used up its ${amount:,.2f} for today.")
NO_PRICE = Text(
    "I don't know the price of {model}, so I can't check this reminder's daily limit in"
    " dollars. Remove that limit, or choose another model for the reminder."
)
_NO_SKILL = Text("I couldn't use the skill “{name}”. Details: “{fault}.”")
_NO_GATE = Text("I couldn't check the reminder's condition. Details: “{fault}.”")
SCRIPT_SLOW = Text("The reminder's command took longer than {seconds} s, so I stopped it.")
SCRIPT_LOUD = Text("The reminder's command wrote more than {most:,} bytes, so I stopped it.")
SCRIPT_UNSTARTED = Text("I couldn't start the command “{name}”. Details: “{fault}.”")
SCRIPT_INVALID = Text(
    "The reminder's command contains an invalid character, so I didn't run it. An owner can"
    " correct it with `talaria jobs change`."
)
_SCRIPT_FAILED = Text("The reminder's command failed with status {status}.")

_SIGNED = Text("_{title}_")
LEFT_OUT = Text("_({count:,} characters are left out here; {name} has all of them.)_")
_MEANT_FOR = Text("_This was meant for “{title}”, where I can't write any more._")
_MEANT_ELSEWHERE = Text("_This was meant for a group where I can't write any more._")
_DUE = Text("_This was due {due}._")
_DUE_OFTEN = Text("_This was due {count} times, from {due} to {due_next}._")
_DUE_VERY_OFTEN = Text("_This was due more than {count} times, from {due} to {due_next}._")
_MOST_DUE = 4
"""Due times in one line; of more, the first and the last are shown."""
_SKIPPED = Plural(
    "**{title}** was due once while I was switched off, and I left it out. Next: {due_next}.",
    "**{title}** was due {n} times while I was switched off, and I left it out. Next: {due_next}.",
)
_SKIPPED_MANY = Text(
    "**{title}** was due more than {count} times while I was switched off, and I left it out."
    " Next: {due_next}."
)
_FAILED_ONCE = Text(
    "**{title}** failed: {reason} It was due only once, so ask me again if you still want it."
)
_FAILED = Text(
    "**{title}** failed: {reason} Next try: {next_at}. I'll tell you when it works."
    " /reminders shows your reminders."
)
_PAUSED = Plural(
    "I've paused **{title}**, because it failed. The reason: {reason} Fix that, then use"
    " /reminders resume {job_id}.",
    "I've paused **{title}**, because it failed {n} times in a row. The last reason:"
    " {reason} Fix that, then use /reminders resume {job_id}.",
)
_UNFIT = Text(
    "I've paused **{title}**, because its schedule doesn't work. Change the schedule,"
    " then use /reminders resume {job_id}. Details: “{reason}”"
)
_RECOVERED = Plural(
    "_After {n} failure, this works again._", "_After {n} failures, this works again._"
)
_SPENT = Text(
    "**{title}** didn't come: {reason} Next try: {next_at}. /reminders shows your reminders."
)
_OUTAGE = Text(
    "**{title}** didn't come: the model hasn't answered for a long time. Next try: {next_at}."
)
_OUTAGE_ONCE = Text(
    "**{title}** didn't come: the model hasn't answered for a long time. Ask me again if you still"
    " want it."
)
_SPENT_ONCE = Text("**{title}** didn't come: {reason} Ask me again if you still want it.")
DAMAGED = Text(
    "Reminder {job_id} is damaged in my storage, so I've paused it. Delete it with"
    " /reminders delete {job_id}, or ask an owner to restore a backup."
)
_LOST_TITLE = Text("Lost")
_LOST = Plural(
    "{n} message to you is lost, because my storage is damaged. /reminders shows what is"
    " still planned.",
    "{n} messages to you are lost, because my storage is damaged. /reminders shows what"
    " is still planned.",
)
_DEFERRED = Plural(
    "**During your quiet time, {n} message arrived:**",
    "**During your quiet time, {n} messages arrived:**",
)
_CHART_MISSING = Text(
    "The chart is missing here, because charts need the extra package `talaria[charts]`."
    " The owner can install it."
)
_LONGEST_REASON = 300
ENDED = {
    "done": Text("Reminder {number} “{title}” is done."),
    "failed": Text("Reminder {number} “{title}” failed."),
}
HEARD_MESSAGE = Text("{name} wrote: {words}")
FEED_ITEM = Text("New: {title}")
ARRIVED_FILE = Text("A file arrived: {name} ({size:,} bytes)")
NEXT_EVENT = Text("when it happens again")
CALLED = Text("The reminder's web address was called.")
TOO_OFTEN = Text(
    "**{title}** was started {count} times within an hour, so I don't start it again for"
    " now. /reminders shows your reminders."
)
_FEED_FAILS = Text(
    "I haven't been able to read the feed of **{title}** for a day. I'll keep trying."
    " Details: “{reason}.”"
)

_RUN = Text("{due}: {state}")
_RUN_ASKED = Text("{due}, on request: {state}")
_RUN_STATES: dict[RunState, Text] = {
    "waiting": Text("about to start"),
    "running": Text("running"),
    "done": Text("done"),
    "failed": Text("failed"),
    "skipped": Text("skipped"),
}
_RUN_AGAIN = Text("failed; next try {moment}")
_RUN_REASON = Text("{run} ({reason})")
_RUN_REASONS = {
    "dropped": Text("the reminder was deleted"),
    "paused": Text("the reminder was paused"),
    "stopped": Text("somebody stopped it"),
    ACKNOWLEDGED: Text("marked as done"),
    PUT_OFF: Text("put off"),
    SKIPPED_NEXT: Text("the next one was left out"),
    UNWANTED: Text("as asked"),
    CROWDED: Text("too many events in an hour"),
    GATED: Text("its condition wasn't met"),
    "model_busy": Text("the model was overloaded"),
    "model_cut": Text("the model's answers broke off"),
    "model_unreachable": Text("the model couldn't be reached"),
    "model_denied": Text("the model's provider rejected the key"),
    "model_unknown": Text("the provider doesn't offer the model"),
    "model_misplaced": Text("no model answers at the address that is set"),
}
"""Reasons that are stored as codes; any other is a sentence in the language of the person."""
_RUN_MISSED = Text("{run}; missed before that: {count}")
_RUNS_MISSED = Plural("{due}: missed", "{due} to {due_next}: missed {n} times")
_RUNS_MERGED = Plural(
    "{due}: came together with the next one", "{due} to {due_next}: came together with the next one"
)
_LONGEST_IN_LIST, _MOST_RUNS = 200, 5


def title_body(title: str, body: str) -> str:
    """Put a job's title above the output of its command, so that a notification shows it."""
    return f"**{title}**\n\n{body}" if body else f"**{title}**"


def sign_body(title: str, job_id: int, body: str) -> str:
    """Put a job's name below its answer, whose own first line is the notification."""
    return f"{body}\n\n{_SIGNED(title=title, job_id=job_id)}" if body else f"**{title}**"


def note_due(due: Sequence[int], clock: ReaderClock) -> str:
    """Note below a result the times at which it was due, on the reader's clock."""
    if len(due) <= _MOST_DUE:
        note = _DUE(due=clock.list_moments(due))
    else:
        is_more = len(due) >= MOST_COUNTED
        count = MOST_COUNTED - 1 if is_more else len(due)
        sentence = _DUE_VERY_OFTEN if is_more else _DUE_OFTEN
        note = sentence(count=count, due=clock.show(due[0]), due_next=clock.show(due[-1]))
    return f"\n\n{note}"


def note_place(title: str, body: str) -> str:
    """Say above a text for which group it was meant; `title` is "" if unknown."""
    note = _MEANT_FOR(title=shorten(title, _LONGEST_IN_LIST)) if title else _MEANT_ELSEWHERE()
    return f"{note}\n\n{body}"


def note_missing_chart() -> str:
    """Note below a result that it asked for a chart and charts are not installed."""
    return f"\n\n{_CHART_MISSING()}"


def describe_skipped(title: str, missed: int, due_next: str) -> str:
    """Say that a job skipped the runs it missed."""
    if missed >= MOST_COUNTED - 1:
        return _SKIPPED_MANY(count=MOST_COUNTED - 1, title=title, due_next=due_next)
    return _SKIPPED(missed, title=title, due_next=due_next)


def describe_failure(title: str, job_id: int, reason: str, next_at: str) -> str:
    """Report the first failure of a job; `next_at` is "" if it was due only once."""
    sentence = _FAILED if next_at else _FAILED_ONCE
    return sentence(title=title, job_id=job_id, reason=_end_reason(reason), next_at=next_at)


def describe_pause(title: str, job_id: int, failures: int, reason: str) -> str:
    """Say that a job was paused after several failures."""
    return _PAUSED(failures, title=title, job_id=job_id, reason=_end_reason(reason))


def describe_unfit(title: str, job_id: int, reason: str) -> str:
    """Say that a job was paused because its next time is unknown."""
    return _UNFIT(title=title, job_id=job_id, reason=_end_reason(reason))


def describe_recovery(failures: int) -> str:
    """Note below the first success after failures."""
    return f"\n\n{_RECOVERED(failures)}"


def describe_spent(title: str, reason: str, next_at: str) -> str:
    """Say that a daily limit stopped a job; `next_at` is "" if it was due only once."""
    sentence = _SPENT if next_at else _SPENT_ONCE
    return sentence(title=title, reason=_end_reason(reason), next_at=next_at)


def describe_outage(title: str, reason: str, next_at: str) -> str:
    """Say that no model answered a job for as long as it waits; `next_at` as in `describe_spent`.

    `reason` is the code of the last failure, for the record of the run only.
    """
    return (_OUTAGE if next_at else _OUTAGE_ONCE)(title=title, next_at=next_at)


def describe_lost(count: int) -> tuple[str, str]:
    """Say that deferred messages can't be read, as (title, body)."""
    return _LOST_TITLE(), _LOST(count)


def join_deferred(messages: Sequence[tuple[str, str]]) -> str:
    """Join deferred messages, as (title, body), into one; repeats are merged already."""
    if len(messages) <= 1:
        return "".join(body for _, body in messages)
    head = _DEFERRED(len(messages))
    if all("\n" not in body for _, body in messages):  # each says in its one line what it is
        return "\n\n".join([head, *(body for _, body in messages)])
    names = "\n".join(f"- {title}" for title, _ in messages)
    bodies = "\n\n———\n\n".join(body for _, body in messages)
    return f"{head}\n{names}\n\n{bodies}"


def _end_reason(reason: str) -> str:
    line = shorten(" ".join(reason.split()), _LONGEST_REASON)
    return line if line.endswith((".", "!", "?", "…", "”", "“")) else f"{line}."


def describe_limit(micro_dollars: int) -> str:
    """Say that the runs of a job have reached its daily limit."""
    return _LIMIT_REACHED(amount=micro_dollars / 1_000_000)


def describe_skill_fault(name: str, fault: str) -> str:
    """Say that a job can't use one of its skills; `fault` is a clause in English."""
    return _NO_SKILL(name=name, fault=fault)


def describe_gate_fault(fault: str) -> str:
    """Say that the gate of a job can't be checked; `fault` is a clause in English."""
    return _NO_GATE(fault=fault)


def describe_script_failure(status: int, output: str) -> str:
    """Say that a command failed; `output` is the end of its error output."""
    return f"{_SCRIPT_FAILED(status=status)} {output}".rstrip()


def describe_feed_failure(title: str, number: int, reason: str) -> str:
    """Report a feed that could not be read for a day."""
    return _FEED_FAILS(title=title, number=number, reason=reason)


def describe_runs(runs: Sequence[Run], clock: ReaderClock) -> list[str]:
    """Describe the newest runs, newest first; those that were left out in a row share a line."""
    lines: list[str] = []
    for reason, group in groupby(runs, key=_find_left_out):
        found = list(group)
        if not reason:
            lines += [describe_run(run, clock) for run in found]
            continue
        due, due_next = (clock.show(one.slot_at) for one in (found[-1], found[0]))
        sentence = _RUNS_MISSED if reason == MISSED else _RUNS_MERGED
        lines.append(sentence(len(found), due=due, due_next=due_next))
    return lines[:_MOST_RUNS]


def _find_left_out(run: Run) -> str:
    return run.reason if run.state == "skipped" and run.reason in (MISSED, MERGED) else ""


def name_run_state(state: RunState) -> str:
    """Return the state of a run in words."""
    return _RUN_STATES[state]()


def describe_run(run: Run, clock: ReaderClock) -> str:
    """Describe the result of one run."""
    state = name_run_state(run.state)
    if run.state == "waiting" and run.attempts:
        state = _RUN_AGAIN(moment=clock.show(run.due_at))
    sentence = _RUN_ASKED if run.slot.startswith(ASKED) else _RUN
    shown = sentence(due=clock.show(run.slot_at), state=state)
    known = _RUN_REASONS.get(run.reason)
    words = known() if known else " ".join(run.reason.split())
    reason = shorten(words, _LONGEST_IN_LIST).rstrip(".")
    if reason and (run.state not in ("waiting", "running") or run.attempts):
        shown = _RUN_REASON(run=shown, reason=reason)
    return _RUN_MISSED(run=shown, count=run.missed) if run.missed else shown


def shorten(text: str, most: int) -> str:
    """Return at most this many characters of a text, with … for those left out."""
    return text if len(text) <= most else f"{text[: most - 1]}…"
