"""Sentences about what jobs did: that they were late, failed, or were held back."""

from collections.abc import Sequence

from agent_core.schedule.misfires import MOST_COUNTED

LONGEST_REASON = 300
BROKEN_TALK = "the talk that it was held in is damaged in my database."


def title_body(title: str, body: str) -> str:
    """What a job made, below its name, so that a notification says what it is."""
    return f"**{title}**\n\n{body}" if body else f"**{title}**"


def describe_left_out(count: int, name: str) -> str:
    """The line between the ends of what is too long to be told; `name` is of the file with it."""
    return f"_({count:,} characters are left out here; {name} holds all of it.)_"


def note_late(due: str, missed: int) -> str:
    """The line below what was made late. `due` is when its slot was, as its reader's clock says."""
    return f"\n\n_This was due {due}.{_count_missed(missed)}_"


def describe_skipped(title: str, missed: int, due_next: str) -> str:
    """A job passed over what it missed."""
    times = "Once" if missed == 1 else f"{_number(missed)} times"
    return (
        f"{times} **{title}** was due while I was not running, and was left out, as it is set to."
        f" Next: {due_next}."
    )


def describe_failure(title: str, job_id: int, reason: str, next_at: str) -> str:
    """The first failure of a job; the following ones are not told. `next_at` is "" if it was to
    run just once.
    """
    if not next_at:
        return (
            f"**{title}** (job {job_id}) did not work: {_shorten(reason)} It was to be done just"
            " once: ask me again if you still want it."
        )
    return (
        f"**{title}** (job {job_id}) did not work: {_shorten(reason)} I go on trying at its times,"
        f" and tell you when it works again. Next: {next_at}. See /jobs."
    )


def describe_pause(title: str, job_id: int, failures: int, reason: str) -> str:
    """A job was paused because it fails all the time."""
    return (
        f"**{title}** (job {job_id}) failed {failures} times in a row, so I have paused it. Last:"
        f" {_shorten(reason)} Once that is mended, /jobs resume {job_id} starts it again."
    )


def describe_unfit(title: str, job_id: int, reason: str) -> str:
    """A job was paused because nobody knows when it is to run."""
    return (
        f"I have paused **{title}** (job {job_id}), for I can't tell when it is to run:"
        f" {_shorten(reason)} Change its times, and /jobs resume {job_id} starts it again."
    )


def describe_recovery(failures: int) -> str:
    """The line below the first success after failures."""
    times = "once" if failures == 1 else f"{failures} times"
    return f"\n\n_This works again; it had failed {times}._"


def describe_spent(title: str, reason: str, next_at: str) -> str:
    """Nothing more may be spent today. `next_at` is "" if the job was to run just once."""
    coming = "It goes on tomorrow. See /jobs." if next_at else "Ask me again if you still want it."
    return f"**{title}** was not done: {_shorten(reason)} {coming}"


def describe_damaged(job_id: int) -> str:
    """What a job was to do can't be read any more."""
    return (
        f"Job {job_id} is damaged in my database, so I have paused it and do nothing of it. Drop it"
        f" with /jobs drop {job_id} and ask me for it again, or have the owner restore a backup."
    )


def describe_lost(count: int) -> tuple[str, str]:
    """Of what was held back some can't be read any more, as (title, body)."""
    things = "A message that I had" if count == 1 else f"{count} messages that I had"
    return (
        "Lost",
        f"{things} held back for you can't be read any more: the database is damaged there.",
    )


def join_held(words: Sequence[tuple[str, str]]) -> str:
    """What was held back, as (title, body), in one message."""
    if len(words) <= 1:
        return "".join(body for _, body in words)
    names = "\n".join(f"- {title}" for title, _ in words)
    bodies = "\n\n———\n\n".join(body for _, body in words)
    return f"**While it was quiet, {len(words)} things came:**\n{names}\n\n{bodies}"


def _count_missed(missed: int) -> str:
    if not missed:
        return ""
    times = "once more" if missed == 1 else f"{_number(missed)} times more"
    return f" Before that it was missed {times}, while I was not running."


def _number(missed: int) -> str:
    return f"more than {MOST_COUNTED - 1}" if missed >= MOST_COUNTED - 1 else str(missed)


def _shorten(reason: str) -> str:
    line = " ".join(reason.split())
    line = line if len(line) <= LONGEST_REASON else f"{line[: LONGEST_REASON - 1]}…"
    return line if line.endswith((".", "!", "?", "…")) else f"{line}."
