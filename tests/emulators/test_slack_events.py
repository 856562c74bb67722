"""The emulated Slack sends events to a real Bolt app over real websockets."""

import contextlib

import aiohttp
import pytest
from slack_sdk.webhook.async_client import AsyncWebhookClient

from tests.emulators.slack import NobodyListens, SlackEmulator
from tests.emulators.slack_cast import ANNA, BEN, client, listening
from tests.patience import PATIENCE


async def test_direct_messages_arrive_once_and_are_acknowledged(
    slack: SlackEmulator,
) -> None:
    async with listening(slack) as app:
        ts = await slack.says(ANNA, "hello & <welcome>, see https://example.org/?a=1&b=2")
        (body,) = await app.bodies_of(1)
        await slack.wait_for(lambda: not slack.unacked())
    event = body["event"]
    assert (event["type"], event["channel_type"], event["ts"]) == ("message", "im", ts)
    assert event["channel"] == slack.dm(ANNA)
    assert event["user"] == slack.user(ANNA)
    assert event["text"].startswith("hello &amp; &lt;welcome&gt;")
    assert "<https://example.org/?a=1&amp;b=2>" in event["text"]
    assert app.retries == [("0", "")]
    assert body["authorizations"][0]["user_id"] == slack.bot_user_id


async def test_a_mention_is_two_events_with_one_ts(slack: SlackEmulator) -> None:
    room = slack.channel("general", [ANNA, BEN])
    async with listening(slack) as app:
        ts = await slack.says(ANNA, "what is up?", channel=room, mention=True)
        bodies = await app.bodies_of(2)
    assert sorted(body["event"]["type"] for body in bodies) == ["app_mention", "message"]
    assert {body["event"]["ts"] for body in bodies} == {ts}
    assert len({body["event_id"] for body in bodies}) == 2
    assert all(slack.bot_user_id in body["event"]["text"] for body in bodies)


async def test_a_mention_in_a_direct_chat_is_one_event(slack: SlackEmulator) -> None:
    async with listening(slack) as app:
        await slack.says(ANNA, "hello", mention=True)
        await slack.says(ANNA, "again")
        bodies = await app.bodies_of(2)
        await slack.wait_for(lambda: not slack.unacked())
    assert [body["event"]["type"] for body in bodies] == ["message", "message"]


async def test_a_room_without_the_bot_sends_no_events(slack: SlackEmulator) -> None:
    room = slack.channel("general", [ANNA])
    slack.removes_bot(room)
    await slack.says(ANNA, "a secret", channel=room, mention=True)
    async with listening(slack) as app:
        await slack.says(ANNA, "hello")
        bodies = await app.bodies_of(2)
    assert [body["event"]["type"] for body in bodies] == ["channel_left", "message"]
    assert bodies[1]["event"]["channel"] == slack.dm(ANNA)


async def test_edits_and_deletions_have_the_previous_message(slack: SlackEmulator) -> None:
    async with listening(slack) as app:
        ts = await slack.says(ANNA, "first")
        await slack.edits(slack.dm(ANNA), ts, "second")
        await slack.deletes(slack.dm(ANNA), ts)
        await app.bodies_of(3)
    by_subtype = {event.get("subtype"): event for event in app.events}
    assert by_subtype["message_changed"]["message"]["text"] == "second"
    assert by_subtype["message_changed"]["previous_message"]["text"] == "first"
    assert by_subtype["message_deleted"]["deleted_ts"] == ts


async def test_bolt_ignores_events_of_its_own_bot(
    slack: SlackEmulator,
) -> None:
    async with listening(slack) as app:
        posted = await app.web.chat_postMessage(channel=slack.dm(ANNA), text="hi")
        await app.web.chat_update(channel=slack.dm(ANNA), ts=posted["ts"], text="hello")
        await app.web.chat_delete(channel=slack.dm(ANNA), ts=posted["ts"])
        await slack.wait_for(lambda: len(slack.acks) == 3)
        assert slack.unacked() == []
        assert app.bodies == []


async def test_an_invalid_ack_is_an_error_for_the_person(slack: SlackEmulator) -> None:
    async with listening(slack) as app:
        app.says_nothing = True
        await slack.commands(ANNA, "status")
        await slack.wait_for(lambda: slack.acks)
        await slack.says(ANNA, "hello")
        await app.bodies_of(2)
    assert slack.acks[0].payload == {"text": " "}
    assert slack.ephemerals(ANNA) == []


async def test_an_unacknowledged_event_is_sent_three_more_times(slack: SlackEmulator) -> None:
    slack.after_seconds = 0.05
    async with listening(slack) as app:
        app.refuses = True
        await slack.says(ANNA, "one")
        await app.bodies_of(4)
        assert app.retries == [("0", ""), ("1", "timeout"), ("2", "timeout"), ("3", "timeout")]
        await slack.says(ANNA, "two")
        bodies = await app.bodies_of(8)
        assert len(slack.unacked()) == 2
    assert [body["event"]["text"] for body in bodies] == ["one"] * 4 + ["two"] * 4
    assert len({body["event_id"] for body in bodies}) == 2


async def test_all_events_can_be_redelivered_also_with_new_ids(slack: SlackEmulator) -> None:
    async with listening(slack) as app:
        await slack.says(ANNA, "one")
        await slack.says(BEN, "two")
        await app.bodies_of(2)
        await slack.redeliver()
        await app.bodies_of(4)
        await slack.redeliver(with_new_event_id=True)
        bodies = await app.bodies_of(6)
    assert len({body["event_id"] for body in bodies}) == 4
    assert len({body["event"]["ts"] for body in bodies}) == 2
    assert [number for number, _ in app.retries] == ["0", "0", "1", "1", "1", "1"]


async def test_each_event_goes_to_one_of_several_sockets(slack: SlackEmulator) -> None:
    web = client(slack)
    async with contextlib.AsyncExitStack() as stack:
        session = await stack.enter_async_context(aiohttp.ClientSession())
        sockets = []
        for number in (1, 2):
            opened = await web.apps_connections_open(app_token=slack.app_token)
            sockets.append(await stack.enter_async_context(session.ws_connect(opened["url"])))
            assert (await sockets[-1].receive_json())["num_connections"] == number
        for number in range(4):
            await slack.says(ANNA, f"message {number}")
        heard = [
            [
                (await ws.receive_json(timeout=PATIENCE))["payload"]["event"]["text"]
                for _ in range(2)
            ]
            for ws in sockets
        ]
        assert sorted(heard) == [["message 0", "message 2"], ["message 1", "message 3"]]


async def test_events_without_a_connection_wait_or_are_lost(slack: SlackEmulator) -> None:
    await slack.says(ANNA, "kept")
    async with listening(slack) as app:
        await app.bodies_of(1)
    await slack.wait_for(lambda: slack.sockets == 0)
    slack.holds_seconds = 0
    await slack.says(ANNA, "lost")
    async with listening(slack) as app:
        await slack.says(ANNA, "heard")
        await app.bodies_of(1)
    assert [event["text"] for event in app.events] == ["heard"]


async def test_a_dropped_socket_reconnects_without_loss(slack: SlackEmulator) -> None:
    slack.after_seconds = 0.2
    async with listening(slack) as app:
        await slack.drop_sockets()
        await slack.says(ANNA, "hello")
        await app.bodies_of(1, timeout=PATIENCE)
        assert slack.connections_opened == 2


async def test_a_client_told_to_disconnect_reconnects(slack: SlackEmulator) -> None:
    async with listening(slack) as app:
        await slack.send_disconnect("refresh_requested")
        await slack.wait_for(lambda: slack.connections_opened == 2)
        await slack.says(ANNA, "hello")
        await app.bodies_of(1)


async def test_a_half_open_socket_loses_events_until_they_are_repeated(
    slack: SlackEmulator,
) -> None:
    slack.after_seconds = 0.2
    async with listening(slack) as deaf:
        slack.mute_sockets()
        async with listening(slack) as app:
            for text in ("one", "two"):
                await slack.says(ANNA, text)
            await app.bodies_of(2)
        assert sorted(event["text"] for event in app.events) == ["one", "two"]
        assert sorted(reason for _, reason in app.retries) == ["", "timeout"]
        assert deaf.bodies == []


async def test_a_command_is_answered_in_its_ack_and_by_its_response_url(
    slack: SlackEmulator,
) -> None:
    room = slack.channel("general", [ANNA])
    async with listening(slack) as app:
        envelope = await slack.commands(ANNA, "status now", channel=room)
        (body,) = await app.bodies_of(1)
        await slack.wait_for(lambda: slack.ephemerals(ANNA))
    assert (body["command"], body["text"]) == ("/talaria", "status now")
    assert slack.acks[0].envelope_id == envelope
    reply = AsyncWebhookClient(body["response_url"])
    for _ in range(4):
        assert (await reply.send(text="later")).status_code == 200
    assert (await reply.send(text="too much")).status_code == 404
    assert [m.shown for m in slack.ephemerals(ANNA)] == ["You said status now.", *["later"] * 4]
    assert slack.ephemerals(BEN) == []
    assert slack.texts(room) == []


async def test_an_unhandled_command_shows_the_person_an_error(slack: SlackEmulator) -> None:
    with pytest.raises(NobodyListens):
        await slack.commands(ANNA, "status")
    assert slack.unacked() == []


async def test_a_press_has_the_button_and_its_message(slack: SlackEmulator) -> None:
    button = {
        "type": "button",
        "action_id": "approve:7",
        "value": "yes",
        "text": {"type": "plain_text", "text": "Approve"},
    }
    section = {"type": "section", "text": {"type": "mrkdwn", "text": "May I?"}}
    async with listening(slack) as app:
        slack.world.reports_own = False
        posted = await app.web.chat_postMessage(
            channel=slack.dm(ANNA),
            text="May I?",
            blocks=[section, {"type": "actions", "elements": [button]}],
        )
        with pytest.raises(LookupError):
            await slack.presses(ANNA, slack.dm(ANNA), posted["ts"], "no such thing")
        await slack.presses(ANNA, slack.dm(ANNA), posted["ts"], "approve:7")
        (body,) = await app.bodies_of(1)
        await slack.wait_for(lambda: not slack.unacked())
        (action,) = body["actions"]
        assert (action["action_id"], action["value"]) == ("approve:7", "yes")
        assert body["container"]["message_ts"] == body["message"]["ts"] == posted["ts"]


async def test_a_shortcut_and_the_home_reach_the_app(slack: SlackEmulator) -> None:
    async with listening(slack) as app:
        ts = await slack.says(ANNA, "what is this?")
        await slack.shortcut(ANNA, slack.dm(ANNA), ts)
        await slack.opens_home(ANNA)
        bodies = await app.bodies_of(3)
        await slack.wait_for(lambda: not slack.unacked())
    kinds = {body.get("callback_id") or body["event"]["type"] for body in bodies}
    assert kinds == {"message", "ask_about_message", "app_home_opened"}


async def test_message_files_need_the_token(slack: SlackEmulator) -> None:
    async with listening(slack) as app:
        await slack.says(ANNA, "read this", files=[("a note.txt", b"hello", "text/plain")])
        (body,) = await app.bodies_of(1)
    assert body["event"]["subtype"] == "file_share"
    (file,) = body["event"]["files"]
    assert (file["name"], file["size"], file["mimetype"]) == ("a note.txt", 5, "text/plain")
