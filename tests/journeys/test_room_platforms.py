"""Rooms on Discord and Slack: answered in place, a conversation each, nothing private shown."""

import re

from gateway.texts import rooms
from tests.emulators.telegram_cast import ANNA, BEN
from tests.journeys.accounts import texts
from tests.journeys.identities import own
from tests.journeys.platforms import both
from tests.journeys.rooms import Room, make_room
from tests.journeys.stage import Stage, call, calls, facts, heard, results, system_of

SECRET = "Is to be promoted"


@both
async def test_only_a_mention_is_answered_and_in_its_place(
    deployment: Stage, platform: str
) -> None:
    room = make_room(deployment, platform)
    async with deployment.open() as harness:
        await room.anna.says("good morning all", room=room.id, mentions=False)
        asked = await room.ben.says("is anybody there?", room=room.id)
        await harness.until(lambda: room.ben.seen(room.id))
        await harness.at_rest()
        (answer,) = room.ben.seen(room.id)
        assert answer.text == "echo: is anybody there?"
        assert asked in (answer.answers, answer.thread)
        shown = facts(deployment.turns[-1])
        assert "others can read along" in shown
        assert "kitchen" not in shown, "anybody in a room may give it a title"
        assert len(deployment.turns) == 1


@both
async def test_people_in_a_room_have_own_conversations_without_private_memory(
    deployment: Stage, platform: str
) -> None:
    room = make_room(deployment, platform)
    async with deployment.open() as harness:
        deployment.plan(
            calls(call("memory", action="add", target="user", text=SECRET)), "Congratulations!"
        )
        await harness.hears(room.anna, "the promotion is a secret")
        deployment.plan(calls(call("recall", query="promotion"), call("memory", action="add")))
        deployment.plan("Nothing new.")
        asked = await room.anna.says("what is new?", room=room.id)
        await harness.until(lambda: "Nothing new." in texts(room.anna, room.id))
        first, answered = deployment.turns[-2:]
        assert SECRET not in system_of(first)
        assert "promot" not in str(first["messages"])
        assert "Nothing found" in results(answered)[0]
        assert "settings" not in [tool["name"] for tool in first["tools"]]

        await harness.hears(room.anna, "and then?", room=room.id, reply_to=asked)
        assert "the promotion is a secret" not in heard(deployment.turns[-1])
        await harness.hears(room.ben, "and for me?", room=room.id, reply_to=asked)
        assert heard(deployment.turns[-1]) == ["and for me?"]
        assert SECRET not in str(deployment.turns[-1])


@both
async def test_a_room_can_share_one_conversation_or_be_silenced(
    deployment: Stage, platform: str
) -> None:
    room = make_room(deployment, platform)
    async with deployment.open() as harness:
        await own(harness, room.anna)
        refused = await harness.hears(room.ben, "/room off", room=room.id)
        assert refused == rooms.ONLY_OWNER_SETS()
        assert "(/room room)" in await harness.hears(room.anna, "/room room", room=room.id)
        root = await room.anna.says("the code word is plum", room=room.id)
        await harness.until(lambda: "echo: the code word is plum" in texts(room.anna, room.id))
        await harness.at_rest()
        await harness.hears(room.ben, "which word?", room=room.id, thread=_under(room, root))
        assert heard(deployment.turns[-1]) == ["the code word is plum", "which word?"]
        assert len(set(re.findall(r"From: \S+", str(deployment.turns[-1]["messages"])))) == 2

        await harness.hears(room.anna, "/room off", room=room.id)
        turns = len(deployment.turns)
        assert await harness.hears(room.ben, "hello?", room=room.id) == ""
        assert await harness.hears(room.anna, "hello?", room=room.id) == ""
        assert await harness.hears(room.ben, "/status", room=room.id) == ""
        assert len(deployment.turns) == turns
        assert await harness.hears(room.anna, "/room person", room=room.id)
        assert await harness.hears(room.ben, "hello again", room=room.id) == "echo: hello again"


def _under(room: Room, root: str) -> str | None:
    """Return the thread for answers: Slack rooms answer in threads."""
    return root if room.anna.platform == "slack" else None


@both
async def test_a_shared_memory_is_visible_in_the_room_until_unshared(
    deployment: Stage, platform: str
) -> None:
    room = make_room(deployment, platform)
    async with deployment.open() as harness:
        for fact in (SECRET, "Likes short answers"):
            deployment.plan(calls(call("memory", action="add", target="user", text=fact)), "Noted.")
            await harness.hears(room.anna, "remember")
        listed = await harness.hears(room.anna, "/memory")
        line = next(line for line in listed.splitlines() if "short answers" in line)
        number = line.strip("- •").split(":")[0]
        assert "private" in line

        reported = await harness.hears(room.anna, f"/share {number}", room=room.id)
        assert reported == rooms.SHARED_HERE(number=int(number))
        assert "kitchen" in await harness.hears(room.anna, "/memory")
        await harness.hears(room.anna, "what is new?", room=room.id)
        assert "Likes short answers" in system_of(deployment.turns[-1])
        assert SECRET not in system_of(deployment.turns[-1])
        await harness.hears(room.ben, "and for me?", room=room.id)
        assert "short answers" not in system_of(deployment.turns[-1])

        await harness.hears(room.anna, f"/share {number} private", room=room.id)
        await harness.hears(room.anna, "what is newer?", room=room.id)
        assert "Likes short answers" not in system_of(deployment.turns[-1])


@both
async def test_a_private_room_ends_when_another_person_joins(
    deployment: Stage, platform: str
) -> None:
    room = make_room(deployment, platform, ANNA)
    async with deployment.open() as harness:
        await harness.hears(room.anna, "That's private")
        await harness.hears(room.anna, "/room full", room=room.id)
        await harness.press(room.anna, "Yes, continue here", room.id)
        await harness.hears(room.anna, "here too", room=room.id)
        assert heard(deployment.turns[-1]) == ["That's private", "here too"]
        if platform == "discord":
            await deployment.discord.joins(
                BEN, deployment.discord.world.channels[int(room.id)].guild_id or 0
            )
        else:
            deployment.slack.world.channels[room.id].members.append(room.ben.user_id)
        await harness.hears(room.anna, "and now?", room=room.id)
        assert "That's private" not in heard(deployment.turns[-1])
        assert (
            "Everyone has a separate conversation with me here (/room person)"
            in await harness.hears(room.anna, "/room", room=room.id)
        )


@both
async def test_a_style_preference_applies_in_rooms(deployment: Stage, platform: str) -> None:
    room, style = make_room(deployment, platform), "Wants to be called Annie"
    async with deployment.open() as harness:
        entry = {"action": "add", "target": "user", "text": style, "for_anyone": True}
        deployment.plan(calls(call("memory", **entry)), "Annie it is.")
        await harness.hears(room.anna, "call me Annie")
        await harness.hears(room.anna, "hello", room=room.id)
        assert style in system_of(deployment.turns[-1])
        await harness.hears(room.ben, "hello", room=room.id)
        assert style not in system_of(deployment.turns[-1])
        await harness.hears(room.anna, "/memory forget 2")
        await harness.hears(room.anna, "hello again", room=room.id)
        assert style not in system_of(deployment.turns[-1])


@both
async def test_a_rooms_memory_applies_to_everyone_there(deployment: Stage, platform: str) -> None:
    room = make_room(deployment, platform)
    async with deployment.open() as harness:
        deployment.plan(calls(call("memory", action="add", text="Dinner is at eight")), "Noted.")
        await harness.hears(room.anna, "dinner is at eight", room=room.id)
        await harness.hears(room.ben, "when is dinner?", room=room.id)
        assert "Dinner is at eight" in system_of(deployment.turns[-1])
        await harness.hears(room.ben, "hello")
        assert "Dinner is at eight" not in system_of(deployment.turns[-1])


@both
async def test_personal_settings_change_but_are_not_shown_in_a_room(
    deployment: Stage, platform: str
) -> None:
    room = make_room(deployment, platform)
    async with deployment.open() as harness:
        for command in ("/settings", "/home"):
            reported = await harness.hears(room.anna, command, room=room.id)
            assert reported == rooms.ONLY_IN_DIRECT()
        reported = await harness.hears(room.anna, "/memory", room=room.id)
        assert reported.startswith("I haven't saved anything about this group yet.")
        said = await harness.hears(room.anna, "/settings quiet_hours 23:00-06:00", room=room.id)
        assert said == "Done."
        assert not any(one.labels for one in room.anna.seen(room.id))
        assert "23:00-06:00" in await harness.hears(room.anna, "/settings")
        assert "Quiet hours: none" in await harness.hears(room.ben, "/settings")
