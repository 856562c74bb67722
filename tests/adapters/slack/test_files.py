"""Attachments are downloaded up to a limit, and only Slack gets the token."""

import pytest
from aiohttp import web

from adapters.errors import NotPermitted, Rejected, Unreachable
from adapters.messages import Attachment
from tests.adapters.slack.rig import ANNA, Rig, read, running
from tests.emulators import slack_faults as faults
from tests.emulators.slack import SlackEmulator, SlackFile
from tests.fakes.inlet import FakeInlet

PNG = SlackFile(name="cat.png", content=b"\x89PNG" + b"x" * 100_000, mimetype="image/png")


async def attached(slack: SlackEmulator, inlet: FakeInlet, file: SlackFile) -> Attachment:
    await slack.says(ANNA, "look", files=[file])
    (event,) = await inlet.receives(1)
    (attachment,) = read(event).attachments
    return attachment


async def test_a_file_is_fetched_whole_or_not_at_all(rig: Rig) -> None:
    attachment = await attached(rig.slack, rig.inlet, PNG)
    assert (attachment.kind, attachment.media_type) == ("image", "image/png")
    size = len(PNG.content)
    assert await rig.adapter.fetch(attachment, most_bytes=size) == PNG.content
    unsized = Attachment(kind="image", file_id=attachment.file_id, name="cat.png")
    for one in (attachment, unsized):
        with pytest.raises(Rejected, match=r"cat.png is larger"):
            await rig.adapter.fetch(one, most_bytes=size - 1)


async def test_a_login_page_is_not_taken_for_the_file(slack: SlackEmulator) -> None:
    async with running(slack, bot_token=slack.bot_token) as rig:
        attachment = await attached(slack, rig.inlet, PNG)
        object.__setattr__(slack.world.app, "bot_token", "xoxb-another")
        with pytest.raises(NotPermitted, match="files:read"):
            await rig.adapter.fetch(attachment, most_bytes=1_000_000)
        object.__setattr__(slack.world.app, "bot_token", slack.bot_token)


async def test_a_file_without_details_is_looked_up(rig: Rig) -> None:
    await attached(rig.slack, rig.inlet, PNG)
    (file_id,) = rig.slack.world.contents
    found = await rig.adapter.fetch(Attachment(kind="image", file_id=file_id), most_bytes=1_000_000)
    assert found == PNG.content


async def test_a_missing_or_external_file_is_refused(rig: Rig) -> None:
    attachment = await attached(rig.slack, rig.inlet, PNG)
    rig.slack.world.contents.clear()
    with pytest.raises(Rejected, match="no longer there"):
        await rig.adapter.fetch(attachment, most_bytes=1_000_000)
    with pytest.raises(Rejected, match="does not lie in Slack"):
        await rig.adapter.fetch(Attachment(kind="other", file_id=""), most_bytes=1)


async def test_only_slack_gets_the_token(slack: SlackEmulator) -> None:
    asked: list[str] = []

    async def serve(request: web.Request) -> web.Response:
        asked.append(request.headers.get("Authorization", ""))
        return web.Response(text="gotcha")

    application = web.Application()
    application.router.add_get("/{rest:.*}", serve)
    runner = web.AppRunner(application)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        port = runner.addresses[0][1]
        async with running(slack) as rig:
            for url in (
                f"http://127.0.0.1:{port}/x",
                "https://evilslack.com/x",
                "http://files.slack.com/x",
                "file:///etc/passwd",
            ):
                with pytest.raises(Rejected, match="does not lie in Slack"):
                    await rig.adapter.fetch(Attachment(kind="other", file_id=url), most_bytes=100)
    finally:
        await runner.cleanup()
    assert asked == []


async def test_a_download_that_fails_can_be_tried_again(rig: Rig) -> None:
    attachment = await attached(rig.slack, rig.inlet, PNG)
    rig.slack.fail("download", kind=faults.UNWELL)
    with pytest.raises(Unreachable):
        await rig.adapter.fetch(attachment, most_bytes=1_000_000)
    assert await rig.adapter.fetch(attachment, most_bytes=1_000_000) == PNG.content
