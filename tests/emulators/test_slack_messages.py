"""Messages of the real Slack SDK that the emulated Slack accepts or refuses."""

from typing import Any

import pytest
from slack_sdk.web.async_client import AsyncWebClient

from tests.emulators.slack import SlackEmulator
from tests.emulators.slack_cast import ANNA, BEN, refusal

NOTE = {"event_type": "talaria", "event_payload": {"outbox": "17"}}


def section(text: str) -> dict[str, Any]:
    return {"type": "section", "text": {"type": "mrkdwn", "text": text}}


def actions(**button: Any) -> dict[str, Any]:
    text = {"type": "plain_text", "text": button.pop("label", "Yes")}
    return {"type": "actions", "elements": [{"type": "button", "text": text, **button}]}


async def test_the_bot_knows_who_it_is(slack: SlackEmulator, web: AsyncWebClient) -> None:
    who = await web.auth_test()
    assert (who["user_id"], who["bot_id"]) == (slack.bot_user_id, slack.bot_id)
    assert await refusal(AsyncWebClient(token="xoxb-no", base_url=slack.base_url).auth_test()) == (
        "invalid_auth"
    )
    assert await refusal(web.apps_connections_open(app_token=slack.bot_token)) == (
        "not_allowed_token_type"
    )
    assert await refusal(web.api_call("chat.fly")) == "unknown_method"


async def test_a_message_is_shown_where_and_as_posted(
    slack: SlackEmulator, web: AsyncWebClient
) -> None:
    room = slack.channel("general", [ANNA])
    asked = await slack.says(ANNA, "well?", channel=room, mention=True)
    posted = await web.chat_postMessage(
        channel=room,
        thread_ts=asked,
        markdown_text="**Well** enough",
        metadata=NOTE,
        unfurl_links=False,
        unfurl_media=False,
    )
    message = slack.messages(room)[-1]
    assert (message.ts, message.thread_ts, message.bot) == (posted["ts"], asked, slack.bot_id)
    assert (message.metadata, message.unfurl_links, message.unfurl_media) == (NOTE, False, False)
    assert slack.texts(room) == slack.texts(room, asked) == ["**Well** enough"]
    assert slack.texts(room, posted["ts"]) == []


async def test_a_user_id_stands_for_the_direct_conversation(
    slack: SlackEmulator, web: AsyncWebClient
) -> None:
    posted = await web.chat_postMessage(channel=slack.user(ANNA), text="hi")
    assert posted["channel"] == slack.dm(ANNA)


async def test_markdown_excludes_other_text_and_has_a_limit(
    slack: SlackEmulator, web: AsyncWebClient
) -> None:
    here = slack.dm(ANNA)
    both = web.chat_postMessage(channel=here, markdown_text="a", text="b")
    assert await refusal(both) == "markdown_text_conflict"
    long = web.chat_postMessage(channel=here, markdown_text="x" * 12_001)
    assert await refusal(long) == "msg_too_long"
    block = {"type": "markdown", "text": "x" * 12_001}
    assert await refusal(web.chat_postMessage(channel=here, text="x", blocks=[block])) == (
        "invalid_blocks"
    )
    await web.chat_postMessage(channel=here, markdown_text="x" * 12_000)
    assert await refusal(web.api_call("chat.postMessage", json={"channel": here})) == "no_text"


@pytest.mark.parametrize(
    "block",
    [
        section(""),
        section("x" * 3001),
        actions(label="x" * 76),
        actions(action_id="x" * 256),
        actions(value="x" * 2001),
        actions(style="loud"),
        {"type": "carousel"},
        {"type": "actions", "elements": []},
        {"type": "actions", "elements": actions(action_id="same")["elements"] * 2},
        {"type": "header", "text": {"type": "mrkdwn", "text": "no"}},
    ],
)
async def test_an_invalid_block_is_refused(
    slack: SlackEmulator, web: AsyncWebClient, block: dict[str, Any]
) -> None:
    posting = web.chat_postMessage(channel=slack.dm(ANNA), text="x", blocks=[block])
    assert await refusal(posting) == "invalid_blocks"


async def test_fifty_blocks_are_shown_and_fifty_one_are_not(
    slack: SlackEmulator, web: AsyncWebClient
) -> None:
    here = slack.dm(ANNA)
    await web.chat_postMessage(channel=here, text="x", blocks=[section("&lt;line&gt;")] * 50)
    assert slack.texts(here) == ["\n".join(["<line>"] * 50)]
    many = web.chat_postMessage(channel=here, text="x", blocks=[section("line")] * 51)
    assert await refusal(many) == "invalid_blocks"
    long = web.chat_postMessage(channel=here, text="x", blocks=[section("x" * 3000)] * 5)
    assert await refusal(long) == "msg_blocks_too_long"


async def test_an_update_keeps_omitted_fields(slack: SlackEmulator, web: AsyncWebClient) -> None:
    here = slack.dm(ANNA)
    ts = (await web.chat_postMessage(channel=here, text="May I?", metadata=NOTE))["ts"]
    blocks = [section("May I?"), actions(action_id="yes")]
    await web.chat_update(channel=here, ts=ts, text="May I?", blocks=blocks)
    assert slack.messages(here)[0].buttons == {"yes": "Yes"}
    await web.chat_update(channel=here, ts=ts, text="Yes, you may.")
    assert slack.texts(here) == ["May I?"]
    await web.chat_update(channel=here, ts=ts, text="Yes, you may.", blocks=[])
    message = slack.messages(here)[0]
    assert (message.shown, message.buttons, message.metadata) == ("Yes, you may.", {}, NOTE)
    await web.chat_update(channel=here, ts=ts, markdown_text="**Yes**")
    assert slack.texts(here) == ["**Yes**"]


async def test_only_own_messages_can_be_changed_or_deleted(
    slack: SlackEmulator, web: AsyncWebClient
) -> None:
    here = slack.dm(ANNA)
    theirs = await slack.says(ANNA, "mine")
    assert await refusal(web.chat_update(channel=here, ts=theirs, text="no")) == (
        "cant_update_message"
    )
    assert await refusal(web.chat_delete(channel=here, ts=theirs)) == "cant_delete_message"
    own = (await web.chat_postMessage(channel=here, text="oops"))["ts"]
    await web.chat_delete(channel=here, ts=own)
    assert slack.texts(here) == []
    assert await refusal(web.chat_delete(channel=here, ts=own)) == "message_not_found"


async def test_a_channel_can_be_closed_to_the_bot(
    slack: SlackEmulator, web: AsyncWebClient
) -> None:
    room, private = slack.channel("general"), slack.channel("few", kind="group")
    slack.archives(room)
    assert await refusal(web.chat_postMessage(channel=room, text="x")) == "is_archived"
    slack.removes_bot(room)
    slack.removes_bot(private)
    assert await refusal(web.chat_postMessage(channel=room, text="x")) == "not_in_channel"
    assert await refusal(web.chat_postMessage(channel=private, text="x")) == "channel_not_found"
    slack.channel("other")
    lost = web.chat_postMessage(channel=slack.channel("other"), text="x", thread_ts="1.000001")
    assert await refusal(lost) == "thread_not_found"


async def test_histories_are_read_in_pages_within_a_span_with_metadata_on_demand(
    slack: SlackEmulator, web: AsyncWebClient
) -> None:
    here = slack.dm(ANNA)
    times = [await slack.says(ANNA, f"message {number}") for number in range(5)]
    answer = await web.chat_postMessage(channel=here, thread_ts=times[0], text="a", metadata=NOTE)
    page = await web.conversations_history(channel=here, limit=2)
    assert [m["ts"] for m in page["messages"]] == [times[4], times[3]]
    assert page["has_more"]
    cursor = page["response_metadata"]["next_cursor"]
    page = await web.conversations_history(channel=here, limit=3, cursor=cursor)
    assert [m["ts"] for m in page["messages"]] == [times[2], times[1], times[0]]
    assert not page["has_more"]
    assert page["messages"][-1]["reply_count"] == 1
    span: dict[str, Any] = {"channel": here, "oldest": times[1], "latest": times[3]}
    page = await web.conversations_history(**span)
    assert [m["ts"] for m in page["messages"]] == [times[2]]
    page = await web.conversations_history(**span, inclusive=True)
    assert [m["ts"] for m in page["messages"]] == [times[3], times[2], times[1]]
    thread = await web.conversations_replies(channel=here, ts=times[0])
    assert [m["ts"] for m in thread["messages"]] == [times[0], answer["ts"]]
    assert "metadata" not in thread["messages"][1]
    thread = await web.conversations_replies(channel=here, ts=times[0], include_all_metadata=True)
    assert thread["messages"][1]["metadata"] == NOTE
    assert await refusal(web.conversations_replies(channel=here, ts="1.000001")) == (
        "thread_not_found"
    )


async def test_rooms_and_people_are_described(slack: SlackEmulator, web: AsyncWebClient) -> None:
    room = slack.channel("general", [ANNA, BEN])
    dialogue = slack.dm(ANNA)
    slack.user(ANNA, real_name="Anna K", tz="Asia/Tokyo", locale="ja-JP")
    about = (await web.conversations_info(channel=room, include_num_members=True))["channel"]
    assert (about["name"], about["num_members"], about["is_im"]) == ("general", 3, False)
    assert "num_members" not in (await web.conversations_info(channel=room))["channel"]
    members = await web.conversations_members(channel=room, limit=2)
    assert members["response_metadata"]["next_cursor"]
    assert set(members["members"]) < {slack.bot_user_id, slack.user(ANNA), slack.user(BEN)}
    (im,) = (await web.users_conversations(types="im"))["channels"]
    assert (im["id"], im["user"], im["is_im"]) == (dialogue, slack.user(ANNA), True)
    user = (await web.users_info(user=slack.user(ANNA), include_locale=True))["user"]
    assert (user["real_name"], user["tz"], user["locale"]) == ("Anna K", "Asia/Tokyo", "ja-JP")
    assert await refusal(web.users_info(user="U404")) == "user_not_found"


async def test_a_reaction_is_added_once(slack: SlackEmulator, web: AsyncWebClient) -> None:
    ts = await slack.says(ANNA, "hello")
    seen = {"channel": slack.dm(ANNA), "timestamp": ts, "name": "eyes"}
    await web.reactions_add(**seen)
    assert await refusal(web.reactions_add(**seen)) == "already_reacted"
    assert slack.messages(slack.dm(ANNA))[0].reactions == [("eyes", slack.bot_user_id)]
    await web.reactions_remove(**seen)
    assert await refusal(web.reactions_remove(**seen)) == "no_reaction"


async def test_a_home_is_published_for_a_person(slack: SlackEmulator, web: AsyncWebClient) -> None:
    assert slack.home(ANNA) is None
    await web.views_publish(
        user_id=slack.user(ANNA), view={"type": "home", "blocks": [section("All is well.")]}
    )
    home = slack.home(ANNA)
    assert home is not None
    assert home["blocks"][0]["text"]["text"] == "All is well."
    wrong = web.views_publish(user_id=slack.user(ANNA), view={"type": "home", "blocks": [{}]})
    assert await refusal(wrong) == "invalid_arguments"
