"""What is said of the house's own jobs: how the outside memory fares, and what did not work."""

from datetime import UTC, datetime

from agent_core.mirror.outside import Sync

_LONGEST_REASON = 300
NO_OUTSIDE = "there is no outside memory"


def describe_sync(sync: Sync, now: int) -> str:
    """What came of a look at the outside memory. Pure; `now` in milliseconds."""
    report = sync.report
    how = "answers" if report.state == "ok" else f"does not answer ({report.detail or 'not yet'})"
    told = [f"{report.name} {how}", f"{sync.told:,} told since the last look"]
    if sync.revived:
        told.append(f"{sync.revived:,} taken up again")
    if report.owed and sync.oldest_at is not None:
        since = datetime.fromtimestamp(min(sync.oldest_at, now) / 1000, UTC)
        told.append(f"{report.owed:,} still owed, the oldest since {since:%Y-%m-%d %H:%M} UTC")
    else:
        told.append("nothing is owed")
    if report.dead:
        told.append(f"{report.dead:,} set aside, the log says why")
    return "; ".join(told)


def describe_failure(title: str, job_id: int, reason: str) -> str:
    """To the owners: one of the house's own jobs did not work; the next failures are not told."""
    short = reason if len(reason) <= _LONGEST_REASON else f"{reason[: _LONGEST_REASON - 1]}…"
    return (
        f"**{title}** did not work: {short.rstrip('.')}. I go on trying at its times, and tell you"
        f" when it works again. `talaria jobs show {job_id}` tells more."
    )


def describe_recovery(title: str, failures: int) -> str:
    """To the owners: one of the house's own jobs works again."""
    times = "once" if failures == 1 else f"{failures} times"
    return f"**{title}** works again; it had failed {times}."
