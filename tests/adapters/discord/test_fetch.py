"""Attachments are downloaded up to a limit, even after their address expired."""

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest
from aiohttp import web

from adapters.errors import Rejected, Unreachable
from adapters.messages import Attachment
from tests.adapters.discord.rig import ANNA, Rig
from tests.emulators.discord_shapes import Sent

DATA = b"0123456789" * 100


async def attached(rig: Rig) -> tuple[Attachment, int]:
    """What Anna attached to a message, and the message."""
    sent = Sent(name="notes.txt", data=DATA, content_type="text/plain")
    message_id = await rig.api.says(ANNA, "look", files=[sent])
    (found,) = (await rig.hears()).attachments
    return found, message_id


async def test_an_expired_address_is_renewed(rig: Rig) -> None:
    found, _ = await attached(rig)
    path = found.file_id.split(str(rig.api.port), 1)[1].partition("?")[0]
    old = replace(found, file_id=found.file_id.replace(path, "/attachments/old"))
    assert await rig.adapter.fetch(old, most_bytes=2000) == DATA


async def test_a_missing_file_is_reported(rig: Rig) -> None:
    found, message_id = await attached(rig)
    rig.api.wire.files.clear()
    with pytest.raises(Rejected, match="no longer on Discord"):
        await rig.adapter.fetch(found, most_bytes=2000)
    await rig.api.deletes(message_id)
    with pytest.raises(Rejected, match="no longer on Discord"):
        await rig.adapter.fetch(found, most_bytes=2000)


async def test_a_missing_or_wrong_size_is_noticed_while_reading(rig: Rig) -> None:
    found, _ = await attached(rig)
    for size in (None, 1):
        with pytest.raises(Rejected, match="larger than"):
            await rig.adapter.fetch(replace(found, size=size), most_bytes=len(DATA) - 1)
    assert await rig.adapter.fetch(found, most_bytes=len(DATA)) == DATA


@pytest.fixture
async def endless() -> AsyncIterator[str]:
    """A server whose file never ends and has no length."""

    async def serve(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        while True:
            await response.write(b"x" * 65_536)

    application = web.Application()
    application.router.add_get("/file", serve)
    runner = web.AppRunner(application, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    yield f"http://127.0.0.1:{runner.addresses[0][1]}/file"
    await runner.cleanup()


async def test_a_file_without_end_is_not_read_to_its_end(rig: Rig, endless: str) -> None:
    endless_file = Attachment(kind="document", file_id=f"1/2/3/{endless}")
    with pytest.raises(Rejected, match=r"larger than 0\.954 MB"):
        await rig.adapter.fetch(endless_file, most_bytes=1_000_000)


@pytest.mark.parametrize(
    "file_id", ["", "1/2/3", "1/2/3/https://example.org/x", "1/2/3/file:///etc/passwd"]
)
async def test_files_come_from_discord_alone(rig: Rig, file_id: str) -> None:
    with pytest.raises(Rejected):
        await rig.adapter.fetch(Attachment(kind="document", file_id=file_id), most_bytes=10)


async def test_an_outage_is_no_missing_file(rig: Rig) -> None:
    found, _ = await attached(rig)
    await rig.api.stop()
    with pytest.raises(Unreachable):
        await rig.adapter.fetch(found, most_bytes=2000)
    await rig.api.start()
