"""An approval is never used twice, never for another request, and never after its expiry."""

import asyncio
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_core.ids import SessionId
from agent_core.state.conversations import approvals
from agent_core.state.conversations.approvals import NewApproval
from agent_core.state.engine.database import Database
from tests.agent_core.state.conversations.approval_requests import ANA, BEN, REQUESTS, make_people
from tests.databases import open_database

_LASTS = 100

Step = tuple[str, int]


STEPS = st.lists(
    st.tuples(st.sampled_from(("allow", "use", "use", "restart", "wait")), st.integers(0, 7)),
    min_size=4,
    max_size=25,
)


def test_requests_that_differ_have_different_hashes() -> None:
    assert len({request.digest for request in REQUESTS}) == len(REQUESTS)


@pytest.mark.slow
@given(STEPS)
def test_an_approval_counts_once_for_its_own_request_and_in_time(steps: list[Step]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(_play(Path(folder) / "state.db", steps))


async def _play(path: Path, steps: list[Step]) -> None:
    database = await Database.open(path)
    await database.write("people", make_people)
    now, allowed, over = 1000, dict[str, int](), set[str]()
    for verb, number in steps:
        request = REQUESTS[number]
        digest = request.digest
        if verb == "restart":
            await database.close()
            database = await Database.open(path)
        elif verb == "wait":
            now += 40
        elif verb == "allow":
            new = NewApproval(
                person_id=request.person_id,
                decided_by=ANA,
                scope="once",
                subject=digest,
                expires_at=now + _LASTS,
            )
            at = now
            await database.write("allow", lambda c, n=new, t=at: approvals.insert(c, n, now=t))
            if digest not in allowed or allowed[digest] <= now:
                allowed[digest] = now + _LASTS
                over.discard(digest)
        else:
            at, owner = now, request.person_id
            used = await database.write(
                "use",
                lambda c, p=owner, d=digest, t=at: approvals.use(c, person_id=p, digest=d, now=t),
            )
            assert used == (digest not in over and allowed.get(digest, 0) > now)
            if used:
                over.add(digest)
    await database.close()


async def test_a_session_and_a_shape_count_for_their_person_only(tmp_path: Path) -> None:
    database = await open_database(tmp_path / "state.db")
    try:
        await database.write("people", make_people)
        new = NewApproval(person_id=ANA, decided_by=ANA, scope="always", subject="[1]")
        await database.write("a", lambda c: approvals.insert(c, new, now=1))
        for person_id, found in ((ANA, {"[1]": False}), (BEN, {})):
            assert (
                await database.read(
                    lambda c, p=person_id: approvals.find_shapes(
                        c, person_id=p, session_id=SessionId(9)
                    )
                )
                == found
            )
        (listed,) = await database.read(lambda c: approvals.list_of(c, person_id=ANA))
        for person_id, shape in ((BEN, ""), (ANA, "[1]"), (ANA, "")):
            assert (
                await database.write(
                    "revoke",
                    lambda c, p=person_id: approvals.revoke(c, person_id=p, approval_id=listed.id),
                )
                == shape
            )
    finally:
        await database.close()
