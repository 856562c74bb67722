"""A number of dozens or thousands of digits names nothing, in every command that takes one."""

from pathlib import Path

from gateway.texts import general
from tests.integration.memory.noter import Noter
from tests.integration.shared_harness import shared_harness

LINES = (
    *("memory {}", "memory forget {}", "memory change {} x", "share {}", "share {} private"),
    *("undo {}", "undo files {}", "undo deed {}", "undo back {}", "undo skill {}"),
    *("why {}", "why archive {}", "profile {}", "profile forget {}", "profile change {} x"),
    *("learned restore {}", "jobs {}", "jobs drop {}", "jobs sent {} done", "approvals {}"),
    *("approvals revoke {}", "resume {}", "sessions {}", "restore {}", "retry {}", "accounts {}"),
    *("memory archive {}", "model job {} default", "branch {}", "curator {}", "delete {}"),
    *("unlink {}", "team change desk rounds {}"),
)


async def test_a_number_that_no_row_can_have_names_nothing(tmp_path: Path) -> None:
    async with shared_harness(tmp_path, Noter()) as here:
        await here.says("cleo", "hello")
        await here.make_owner("cleo")
        failed = []
        for line in LINES:
            for digits in (20, 4_400):
                said = await here.says("cleo", "/" + line.format("9" * digits))
                if general.INTERNAL_ERROR() in said:
                    failed.append((line, digits))
        assert not failed
