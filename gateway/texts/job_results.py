"""Sentences about runs of jobs: the events that start them, results, failures, delays, lists."""

from collections.abc import Sequence
from itertools import groupby

from agent_core.localization import Plural, Text, join_list
from agent_core.schedule.descriptions import show_moment
from agent_core.schedule.job_editor import ASKED
from agent_core.schedule.misfires import MOST_COUNTED
from agent_core.schedule.wall_clock import find_zone
from agent_core.state.jobs.job_runs import CROWDED, GATED, MERGED, MISSED, Run, RunState

BROKEN_CONVERSATION = Text("The job's conversation is damaged in my storage.")
LOST_RUN = Text("My record of this run is damaged.")
INTERRUPTED_TURN = Text("I was interrupted while working on it.")
INTERRUPTED_SCRIPT = Text("I was stopped while its command ran.")
UNEXPECTED = Text("An unexpected error occurred. The log has the details.")
NO_OWNER = Text("The person to whom the job belonged was deleted.")
NO_TARGET = Text("I have nowhere to send it. Send /sethome in the chat that should get it.")
NO_ROOM = Text(
    "Nobody has talked to me yet in the group that should get it. Say hello to me there first."
)
NO_TASK = Text("This version has no system task named {name}.")
_LIMIT_REACHED = Text("Its runs have used today's limit of ${amount:,.2f}.")
NO_PRICE = Text(
    "I don't know the price of {model}. So I can't keep the job's daily limit in dollars."
)
_NO_SKILL = Text("I couldn't use the skill {name}. Details in English: “{fault}.”")
_NO_GATE = Text("I couldn't check whether it should run. Details in English: “{fault}.”")
SCRIPT_SLOW = Text("Its command took longer than {seconds} s, so I stopped it.")
SCRIPT_LOUD = Text("Its command wrote more than {most:,} bytes, so I stopped it.")
SCRIPT_UNSTARTED = Text("I couldn't start {name}. Details in English: “{fault}.”")
SCRIPT_INVALID = Text("Its command line contains an invalid character.")
_SCRIPT_FAILED = Text("Its command ended with status {status}.")

_SIGNED = Text("_{title} (job {job_id})_")
LEFT_OUT = Text("_({count:,} characters are left out here; {name} has all of them.)_")
_MEANT_FOR = Text("_This was meant for “{title}”, where I can't write any more._")
_MEANT_ELSEWHERE = Text("_This was meant for a group where I can't write any more._")
_DUE = Text("_This was due {due}._")
_DUE_OFTEN = Text("_This was due {count} times, from {due} to {due_next}._")
_DUE_VERY_OFTEN = Text("_This was due more than {count} times, from {due} to {due_next}._")
_MOST_DUE = 4
"""Due times in one line; of more, the first and the last are shown."""
_SKIPPED = Plural(
    "I skipped {n} run of **{title}** that was due while I was off. Next: {due_next}.",
    "I skipped {n} runs of **{title}** that were due while I was off. Next: {due_next}.",
)
_SKIPPED_MANY = Text(
    "I skipped more than {count} runs of **{title}** that were due while I was off. Next:"
    " {due_next}."
)
_FAILED_ONCE = Text(
    "**{title}** (job {job_id}) failed: {reason} It was due only once, so ask me again if you still"
    " want it."
)
_FAILED = Text(
    "**{title}** (job {job_id}) failed: {reason} I'll try again {next_at} and tell you when it"
    " works. /jobs shows your jobs."
)
_PAUSED = Plural(
    "I've paused **{title}** (job {job_id}), because it failed {n} time in a row. The last reason:"
    " {reason} Fix that, then use /jobs resume {job_id}.",
    "I've paused **{title}** (job {job_id}), because it failed {n} times in a row. The last reason:"
    " {reason} Fix that, then use /jobs resume {job_id}.",
)
_UNFIT = Text(
    "I've paused **{title}** (job {job_id}), because its schedule doesn't work. Change the"
    " schedule, then use /jobs resume {job_id}. Details in English: “{reason}”"
)
_RECOVERED = Plural(
    "_This works again after {n} failure._", "_This works again after {n} failures._"
)
_SPENT = Text("**{title}** didn't run: {reason} I'll try again tomorrow. /jobs shows your jobs.")
_OUTAGE = Text(
    "**{title}** didn't run: the model hasn't answered for too long. I'll try again {next_at}."
)
_OUTAGE_ONCE = Text(
    "**{title}** didn't run: the model hasn't answered for too long. Ask me again if you still"
    " want it."
)
_SPENT_ONCE = Text("**{title}** didn't run: {reason} Ask me again if you still want it.")
DAMAGED = Text(
    "Job {job_id} is damaged in my storage, so I've paused it. Delete it with /jobs drop"
    " {job_id}, or ask an owner to restore a backup."
)
_LOST_TITLE = Text("Lost")
_LOST = Plural(
    "I lost {n} message that I was keeping for you, because my storage is damaged.",
    "I lost {n} messages that I was keeping for you, because my storage is damaged.",
)
_DEFERRED = Plural(
    "**During your quiet time, {n} message arrived:**",
    "**During your quiet time, {n} messages arrived:**",
)
_CHART_MISSING = Text(
    "This comes without a chart, because charts need the extra `talaria[charts]`. The owner can"
    " install it."
)
_LONGEST_REASON = 300
ENDED = {
    "done": Text("Job {number} “{title}” is done."),
    "failed": Text("Job {number} “{title}” failed."),
}
HEARD_MESSAGE = Text("{name} wrote: {words}")
FEED_ITEM = Text("New: {title}")
ARRIVED_FILE = Text("A file arrived: {name} ({size:,} bytes)")
NEXT_EVENT = Text("when it happens again")
CALLED = Text("Its web address was called.")
TOO_OFTEN = Text(
    "**{title}** was started more than {count} times in an hour, so I skip further events of this"
    " hour. /jobs shows your jobs."
)
_FEED_FAILS = Text(
    "**{title}** (job {number}) hasn't been able to read its feed for a day. I keep trying. Details"
    " in English: “{reason}.”"
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
    "dropped": Text("the job was deleted"),
    "paused": Text("the job was paused"),
    "stopped": Text("somebody stopped it"),
    CROWDED: Text("too many events in an hour"),
    GATED: Text("its condition wasn't met"),
    "model_busy": Text("the model was overloaded"),
    "model_cut": Text("the model's answers broke off"),
    "model_unreachable": Text("the model couldn't be reached"),
    "model_denied": Text("the model's provider rejected the key"),
    "model_unknown": Text("the provider doesn't have the model"),
    "model_misplaced": Text("no model server answers at its address"),
}
"""Reasons that are stored as codes; any other is a sentence in the language of the person."""
_RUN_MISSED = Text("{run}; missed before it: {count}")
_RUNS_MISSED = Plural("{due}: missed", "{due} to {due_next}: missed {n} times")
_RUNS_MERGED = Plural(
    "{due}: merged into the next run", "{due} to {due_next}: merged into the next run"
)
_LONGEST_IN_LIST, _MOST_RUNS = 200, 5


def title_body(title: str, body: str) -> str:
    """Put a job's title above the output of its command, so that a notification shows it."""
    return f"**{title}**\n\n{body}" if body else f"**{title}**"


def sign_body(title: str, job_id: int, body: str) -> str:
    """Put a job's name below its answer, whose own first line is the notification."""
    return f"{body}\n\n{_SIGNED(title=title, job_id=job_id)}" if body else f"**{title}**"


def note_due(due: Sequence[str]) -> str:
    """Note below a result the times at which it was due, on the reader's clock."""
    if len(due) <= _MOST_DUE:
        note = _DUE(due=join_list(due))
    else:
        is_more = len(due) >= MOST_COUNTED
        count = MOST_COUNTED - 1 if is_more else len(due)
        sentence = _DUE_VERY_OFTEN if is_more else _DUE_OFTEN
        note = sentence(count=count, due=due[0], due_next=due[-1])
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
    return (_SPENT if next_at else _SPENT_ONCE)(title=title, reason=_end_reason(reason))


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
    names = "\n".join(f"- {title}" for title, _ in messages)
    bodies = "\n\n———\n\n".join(body for _, body in messages)
    return f"{_DEFERRED(len(messages))}\n{names}\n\n{bodies}"


def _end_reason(reason: str) -> str:
    line = shorten(" ".join(reason.split()), _LONGEST_REASON)
    return line if line.endswith((".", "!", "?", "…", "”", "“")) else f"{line}."


def describe_limit(micro_dollars: int) -> str:
    """Say that the runs of a job have reached its daily limit."""
    return _LIMIT_REACHED(amount=micro_dollars / 1_000_000)


def describe_skill_fault(name: str, fault: str) -> str:
    """Say that a job can't use one of its skills; `fault` is a clause in English."""
    return _NO_SKILL(name=name, fault=fault.rstrip("."))


def describe_gate_fault(fault: str) -> str:
    """Say that the gate of a job can't be checked; `fault` is a clause in English."""
    return _NO_GATE(fault=fault.rstrip("."))


def describe_script_failure(status: int, output: str) -> str:
    """Say that a command failed; `output` is the end of its error output."""
    return f"{_SCRIPT_FAILED(status=status)} {output}".rstrip()


def describe_feed_failure(title: str, number: int, reason: str) -> str:
    """Report a feed that could not be read for a day."""
    return _FEED_FAILS(title=title, number=number, reason=reason.rstrip("."))


def describe_runs(runs: Sequence[Run], reader: str) -> list[str]:
    """Describe the newest runs, newest first; those that were left out in a row share a line."""
    zone = find_zone(reader)
    lines: list[str] = []
    for reason, group in groupby(runs, key=_find_left_out):
        found = list(group)
        if not reason:
            lines += [describe_run(run, reader) for run in found]
            continue
        due, due_next = (show_moment(one.slot_at, zone) for one in (found[-1], found[0]))
        sentence = _RUNS_MISSED if reason == MISSED else _RUNS_MERGED
        lines.append(sentence(len(found), due=due, due_next=due_next))
    return lines[:_MOST_RUNS]


def _find_left_out(run: Run) -> str:
    return run.reason if run.state == "skipped" and run.reason in (MISSED, MERGED) else ""


def name_run_state(state: RunState) -> str:
    """Return the state of a run in words."""
    return _RUN_STATES[state]()


def describe_run(run: Run, reader: str) -> str:
    """Describe the result of one run."""
    zone = find_zone(reader)
    state = name_run_state(run.state)
    if run.state == "waiting" and run.attempts:
        state = _RUN_AGAIN(moment=show_moment(run.due_at, zone))
    sentence = _RUN_ASKED if run.slot.startswith(ASKED) else _RUN
    shown = sentence(due=show_moment(run.slot_at, zone), state=state)
    known = _RUN_REASONS.get(run.reason)
    words = known() if known else " ".join(run.reason.split())
    reason = shorten(words, _LONGEST_IN_LIST).rstrip(".")
    if reason and (run.state not in ("waiting", "running") or run.attempts):
        shown = _RUN_REASON(run=shown, reason=reason)
    return _RUN_MISSED(run=shown, count=run.missed) if run.missed else shown


def shorten(text: str, most: int) -> str:
    """Return at most this many characters of a text, with … for those left out."""
    return text if len(text) <= most else f"{text[: most - 1]}…"
