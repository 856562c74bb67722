"""Owners read once a day which permission a platform lacks."""

from pathlib import Path

from gateway.people.owner_notices import Notices
from tests.integration.shared_harness import shared_harness

REASON = "The app lacks the permission files:read. Add it on the app's page."
DAY = 24 * 3600 * 1000


async def test_a_missing_permission_is_told_to_owners_once_a_day(tmp_path: Path) -> None:
    async with shared_harness(tmp_path) as here:
        await here.says("ann", "hello")
        await here.says("cleo", "hello")
        await here.make_owner("cleo")
        gateway, shown = here.harness.gateway, here.harness.chat.shown
        notices = Notices(gateway.database, gateway.dispatcher)
        for later, count in ((0, 1), (1, 1), (DAY, 2)):
            await notices.notify_missing_permission(lambda at=later: 10 + at, "slack", REASON)
            await here.harness.at_rest()
            found = [one.chat_id for one in shown if REASON in one.text]
            assert found == ["cleo"] * count
