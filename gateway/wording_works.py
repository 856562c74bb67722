"""What the record says of the house's own jobs: how the outside memory fares."""

from datetime import UTC, datetime

from agent_core.mirror.outside import Sync

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
