"""The bytes behind the pictures of a talk, and pictures in a running turn."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from agent_core.agent.caches import ImageCache
from agent_core.models.images import MOST_IMAGES
from agent_core.state.conversations import files
from agent_core.state.engine.database import Database
from agent_core.transcript import ImagePart, Message, user_message
from tests.agent_core.agent.loop.rig import Rig
from tests.fakes.model import ask, call, say
from tests.fakes.tool import FakeTool


async def keep(database: Database, data: bytes) -> ImagePart:
    key = await database.write(
        "keep", lambda c: files.store(c, data=data, media_type="image/png", now=1)
    )
    return ImagePart(file_key=key, media_type="image/png", size=len(data))


async def forget(database: Database) -> None:
    await database.write("forget", lambda c: c.execute("DELETE FROM files").rowcount)


def shows(*parts: ImagePart) -> Message:
    return user_message("look", parts=parts)


async def test_pictures_are_given_by_their_keys(database: Database) -> None:
    one, two = await keep(database, b"1"), await keep(database, b"22")
    shown = await ImageCache(database).load_images([shows(one), shows(two)])
    assert shown == {one.file_key: b"1", two.file_key: b"22"}


async def test_only_those_that_a_request_shows_are_read(database: Database) -> None:
    parts = [await keep(database, bytes([number])) for number in range(MOST_IMAGES + 1)]
    assert len(await ImageCache(database).load_images([shows(*parts)])) == MOST_IMAGES // 2


async def test_what_is_gone_or_damaged_is_left_out(database: Database) -> None:
    good, bad = await keep(database, b"good"), await keep(database, b"bad")
    await database.write(
        "damage",
        lambda c: (
            c.execute("UPDATE files SET data = X'00' WHERE key = ?", (bad.file_key,)).rowcount
        ),
    )
    gone = ImagePart(file_key="gone", media_type="image/png", size=1)
    assert await ImageCache(database).load_images([shows(good, bad, gone)]) == {
        good.file_key: b"good"
    }


async def test_the_last_ones_are_kept_at_hand_and_no_more_than_may_be(database: Database) -> None:
    first, second = await keep(database, b"x" * 60), await keep(database, b"y" * 60)
    pictures = ImageCache(database, most_weight=100)
    await pictures.load_images([shows(first)])
    await pictures.load_images([shows(second)])
    await forget(database)
    assert await pictures.load_images([shows(second)]) == {second.file_key: b"y" * 60}
    assert await pictures.load_images([shows(first)]) == {}


async def test_every_request_of_a_turn_shows_its_pictures_also_those_of_steers() -> None:
    first = ImagePart(file_key="a", media_type="image/png", size=1)
    late = ImagePart(file_key="b", media_type="image/png", size=1)

    async def load_images(messages: Sequence[Message]) -> Mapping[str, bytes]:
        return {part.file_key: b"!" for message in messages for part in message.images}

    rig = Rig(ask(call("look")), say("done"), tools=[FakeTool("look")])
    rig.load_images = load_images
    turn = shows(first)
    rig.host.speak("and this", parts=(late,))
    await rig.run([turn])
    requests = [replace(one, messages=()) for one in rig.model.requests]
    assert [dict(one.images) for one in requests] == [{"a": b"!", "b": b"!"}] * 2
    assert rig.model.requests[0].messages[-1].parts[-1] == late
