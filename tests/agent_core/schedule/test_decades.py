"""Ten years of slots at once; `python -m bench --only schedule-slots` does it for all zones."""

from zoneinfo import ZoneInfo

import pytest

from tests.agent_core.schedule import decades

YEARS = range(2026, 2036)


@pytest.mark.slow
@pytest.mark.parametrize("text", ["30 2 * * *", "0 8 * * 1", "*/7 2 * * 0"])
@pytest.mark.parametrize("name", ["Europe/Berlin", "Australia/Lord_Howe"])
def test_ten_years_of_slots_are_what_cron_does(text: str, name: str) -> None:
    deferred = decades.hold(text, ZoneInfo(name), YEARS, decades.whole(YEARS))
    assert (deferred.doubled, deferred.missing) == (0, 0)
    assert deferred.slots >= 521


def test_zones_whose_clocks_show_the_same_are_walked_once() -> None:
    names = ["Europe/Berlin", "Europe/Paris", "UTC", "Etc/UTC", "Africa/Cairo"]
    assert decades.group_zones(names, YEARS) == [
        ["Africa/Cairo"],
        ["Etc/UTC", "UTC"],
        ["Europe/Berlin", "Europe/Paris"],
    ]
