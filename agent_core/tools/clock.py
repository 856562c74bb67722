"""A moment as it stands on a person's own clock."""

import logging
from datetime import UTC, datetime
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

_log = logging.getLogger(__name__)


def local_time(now: int, zone: str) -> datetime:
    """Milliseconds since the epoch in an IANA zone; in UTC, with a warning, if it is unknown."""
    moment = datetime.fromtimestamp(now / 1000, UTC)
    try:
        return moment.astimezone(ZoneInfo(zone))
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        _log.warning("time zone %r is unknown, UTC is used: %s", zone, error)
        return moment
