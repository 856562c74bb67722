"""Classifies Slack's events: finds those that concern a conversation, and their ids; pure."""

import json
import re
from collections.abc import Callable, Container
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from adapters.ids import EventId
from adapters.slack.places import is_im, is_ts, mark_of
from adapters.slack.read_mrkdwn import mentions_in
from adapters.toolkit.text import Json, inside, parts, text_in, words_in

Kind = Literal[
    "message",
    "edit",
    "command",
    "press",
    "reaction",
    "shortcut",
    "home",
    "stop",
    "presence",
    "unreadable",
]

BUTTON = "t:"
"""The prefix of our buttons' action ids; the button's key follows."""
SHORTCUT = "ask_about_message"

_MESSAGES = (None, "file_share", "me_message", "thread_broadcast")
"""Subtypes of messages that a person writes."""
_SLACKBOT = "USLACKBOT"
_ID = re.compile(r"[A-Za-z0-9]{1,40}")
_ABOUT_A_MESSAGE = (
    *("user", "text", "ts", "thread_ts", "parent_user_id", "channel", "subtype", "team"),
    *("latest_reply", "username"),
)
_ABOUT_A_FILE = (
    *("id", "name", "title", "mimetype", "size", "mode", "subtype", "file_access"),
    *("url_private", "url_private_download", "is_external"),
)
_ABOUT_A_SHARE = (
    *("text", "fallback", "author_name", "author_id", "ts", "is_share", "is_msg_unfurl"),
)
_ABOUT_A_COMMAND = ("user_id", "user_name", "channel_id", "channel_name", "text", "response_url")


@dataclass(frozen=True, slots=True, kw_only=True)
class BotIdentity:
    """The bot's identity and its kind of app. Every conversation with an agent is a thread."""

    user_id: str
    bot_id: str
    team_id: str
    is_agent: bool = False
    app_id: str = ""
    """The app's id; empty if Slack does not name it."""
    name: str = ""
    scopes: frozenset[str] = frozenset()
    """The permissions of the app; empty if Slack does not name them."""


Threads = Container[tuple[str, str]]
"""Channels and threads where messages address the bot without a mention."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """A person's profile in the workspace."""

    name: str
    username: str = ""
    language: str = ""
    time_zone: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SlackEvent:
    """An action of a person, reduced to what parsing needs."""

    kind: Kind
    event_id: EventId
    event: Json
    user: str
    channel: str = ""
    ts: str = ""
    """The time of the message, if Slack names it; it sorts as text."""
    thread: str | None = None
    """The message's thread or, in a conversation with an agent, the thread that it starts."""
    is_ours: bool = False
    """Every message in the thread addresses the bot, see `places.mark_of`."""

    @property
    def mark(self) -> str:
        """The name of the read position; empty for events without one."""
        if self.kind != "message":
            return ""
        return mark_of(self.channel, self.thread, is_ours=self.is_ours)


def sort_event(body: Any, me: BotIdentity, ours: Threads) -> SlackEvent | None:
    """Classify a request; None if it concerns no conversation of this workspace.

    An app can be installed in several workspaces, whose requests all carry the same signature.
    Raises `ValueError` on a request that cannot be parsed.
    """
    if not isinstance(body, dict):
        raise ValueError("a request is no object")
    kind = "command" if "command" in body else body.get("type")
    if kind not in ("command", "event_callback", "block_actions", "message_action"):
        return None
    if me.team_id not in _teams(body):
        return None
    match kind:
        case "command":
            return _command(body)
        case "event_callback":
            return _event(body, me, ours)
        case "block_actions":
            return _press(body)
        case _:
            return _shortcut(body) if body.get("callback_id") == SHORTCUT else None


def _teams(body: Json) -> set[str]:
    """Return the workspaces that a request belongs to. Raises `ValueError` if it names none."""
    named = {
        words_in(body, "team_id"),
        words_in(body, "context_team_id"),
        words_in(inside(body, "team"), "id"),
        *(words_in(one, "team_id") for one in parts(body, "authorizations")),
    } - {""}
    if not named:
        raise ValueError("a request names no workspace")
    return named


def id_in(source: Json, *keys: str) -> str:
    """Return the id of a user or channel. Raises `ValueError` for anything else."""
    found = text_in(source, *keys)
    if not _ID.fullmatch(found):
        raise ValueError(f'"{keys[0]}" should be an id')
    return found


def unreadable_event(body: Any, fault: str) -> SlackEvent:
    """Wrap an unreadable request as an event that the gateway sets aside."""
    event = {"body": body, "fault": fault}
    return SlackEvent(kind="unreadable", event_id=EventId(""), event=event, user="")


def sort_message(event: Json, me: BotIdentity, ours: Threads, channel: str) -> SlackEvent | None:
    """Classify a message from an event or a history. Raises `ValueError`."""
    user, ts = words_in(event, "user"), words_in(event, "ts")
    is_conversation = event.get("subtype") in _MESSAGES and not event.get("hidden")
    if not is_conversation or not user or event.get("bot_id") or user in (me.user_id, _SLACKBOT):
        return None
    thread = words_in(event, "thread_ts") or None
    if not (is_ts(ts) and is_ts(thread or ts)):
        raise ValueError("a message without a time of Slack")
    if not (_ID.fullmatch(user) and _ID.fullmatch(channel)):
        raise ValueError("a message without a user or a channel")
    is_named = me.user_id in mentions_in(words_in(event, "text"))
    is_root = thread in (None, ts)
    # A message to the bot begins a thread; conversations with an agent are threads, too.
    opens = is_root and (me.is_agent if is_im(channel) else is_named)
    is_answer = not is_root and (
        is_im(channel) or event.get("parent_user_id") == me.user_id or (channel, thread) in ours
    )
    is_kept = opens or is_answer or (is_named and not is_root)
    return SlackEvent(
        kind="message",
        event_id=EventId(f"{me.team_id}/{channel}/{ts}"),
        event=_trim(event) | {"channel": channel},
        user=user,
        channel=channel,
        ts=ts,
        thread=(thread or ts) if is_kept else None,
        is_ours=opens or is_answer,
    )


def is_in_unknown_thread(slack_event: SlackEvent) -> bool:
    """Return True for a message in a thread that is not known to address the bot."""
    event = slack_event.event
    is_answer = event.get("thread_ts") not in (None, event.get("ts"))
    return slack_event.kind in ("message", "edit") and slack_event.thread is None and is_answer


def pack(
    slack_event: SlackEvent, me: BotIdentity, person: Callable[[str], Person | None], facts: Json
) -> str:
    """Pack the event as JSON, with all data that its parsing needs."""
    named = (slack_event.user, *mentions_in(str(slack_event.event.get("text") or "")))
    return json.dumps(
        {
            "bot": {"user_id": me.user_id, "team_id": me.team_id, "is_agent": me.is_agent},
            "kind": slack_event.kind,
            "event": slack_event.event,
            "is_ours": slack_event.is_ours,
            "people": {
                user: asdict(known) for user in named if (known := person(user)) is not None
            },
        }
        | facts
    )


def _event(body: Json, me: BotIdentity, ours: Threads) -> SlackEvent | None:
    event = inside(body, "event")
    event_id = EventId(words_in(body, "event_id"))
    match event.get("type"):
        case "message" if event.get("subtype") == "message_changed":
            return _edit(event, me, ours)
        case "message" | "app_mention":
            found = sort_message(event, me, ours, text_in(event, "channel"))
            return found or _notice_author(event, me)
        case "reaction_added" | "reaction_removed" if event.get("item_user") == me.user_id:
            return _reaction(event, event_id, me)
        case "member_joined_channel" | "reaction_added" | "reaction_removed":
            return _presence(event, me)
        case "app_home_opened" if event.get("tab") == "home":
            user = id_in(event, "user")
            return SlackEvent(kind="home", event_id=event_id, event={"user": user}, user=user)
        case "agent_session_stopped" if (user := id_in(event, "user", "user_id")) != me.user_id:
            channel = id_in(event, "channel", "channel_id")
            thread = words_in(event, "thread_ts") or None
            about = {"channel": channel, "thread_ts": thread, "user": user}
            return SlackEvent(
                kind="stop", event_id=event_id, event=about, user=user, channel=channel
            )
        case _:
            return None


def _reaction(event: Json, event_id: EventId, me: BotIdentity) -> SlackEvent | None:
    """Classify a reaction to a message of the bot."""
    user, item = id_in(event, "user"), inside(event, "item")
    if user == me.user_id or item.get("type") != "message":
        return None
    channel = id_in(item, "channel")
    about: Json = {"user": user, "channel": channel, "ts": text_in(item, "ts")}
    about |= {"name": text_in(event, "reaction"), "is_on": event.get("type") == "reaction_added"}
    return SlackEvent(
        kind="reaction",
        event_id=event_id,
        event=about,
        user=user,
        channel=channel,
        ts=text_in(event, "event_ts"),
    )


def _presence(event: Json, me: BotIdentity) -> SlackEvent | None:
    """Classify a join or a reaction; one event for each person and channel is enough."""
    item = inside(event, "item")
    if event.get("type") != "member_joined_channel" and "channel" not in item:
        return None  # a reaction to a file
    user = id_in(event, "user")
    channel = id_in(item if "channel" in item else event, "channel")
    return None if user == me.user_id else _make_presence(channel, user)


def _notice_author(event: Json, me: BotIdentity) -> SlackEvent | None:
    """Notice who caused a message of a channel that no person wrote, such as another program."""
    author, channel = words_in(event, "user", "bot_id"), text_in(event, "channel")
    is_ours = author == me.user_id or words_in(event, "bot_id") == me.bot_id
    if is_ours or author == _SLACKBOT or is_im(channel) or not _ID.fullmatch(author):
        return None
    return _make_presence(channel, author)


def _make_presence(channel: str, user: str) -> SlackEvent:
    return SlackEvent(
        kind="presence",
        event_id=EventId(f"presence/{channel}/{user}"),
        event={"user": user, "channel": channel},
        user=user,
        channel=channel,
    )


def _edit(event: Json, me: BotIdentity, ours: Threads) -> SlackEvent | None:
    """Classify an edit; Slack also reports one when it unfurls a link."""
    channel, message = text_in(event, "channel"), inside(event, "message")
    edited_at = words_in(inside(message, "edited"), "ts")
    words = words_in(message, "text")
    if not edited_at or words == inside(event, "previous_message").get("text"):
        return None
    found = sort_message(message, me, ours, channel)
    if found is None:
        return None
    event_id = EventId(f"{found.event_id}/{edited_at}")
    return replace(found, kind="edit", event_id=event_id, ts=edited_at)


def _command(body: Json) -> SlackEvent:
    return SlackEvent(
        kind="command",
        event_id=EventId(f"command/{text_in(body, 'trigger_id')}"),
        event={key: body[key] for key in _ABOUT_A_COMMAND if key in body},
        user=id_in(body, "user_id"),
        channel=id_in(body, "channel_id"),
    )


def _press(body: Json) -> SlackEvent | None:
    action = next(iter(parts(body, "actions")), {})
    if not words_in(action, "action_id").startswith(BUTTON):
        return None
    user = inside(body, "user")
    container, message = inside(body, "container"), inside(body, "message")
    user_id, pressed_at = id_in(user, "id"), text_in(action, "action_ts")
    return SlackEvent(
        kind="press",
        event_id=EventId(f"press/{user_id}/{action['action_id']}/{pressed_at}"),
        event={
            "user": user_id,
            "user_name": words_in(user, "username", "name"),
            "action_id": action["action_id"],
            "at": pressed_at,
            "is_home": container.get("type") == "view",
            "is_ephemeral": bool(container.get("is_ephemeral")),
            "channel": words_in(inside(body, "channel"), "id"),
            "ts": words_in(container, "message_ts"),
            "thread_ts": container.get("thread_ts") or message.get("thread_ts"),
            "response_url": words_in(body, "response_url"),
        },
        user=user_id,
        ts=pressed_at,
    )


def _shortcut(body: Json) -> SlackEvent:
    user, message = inside(body, "user"), inside(body, "message")
    user_id, channel = id_in(user, "id"), id_in(inside(body, "channel"), "id")
    return SlackEvent(
        kind="shortcut",
        event_id=EventId(f"shortcut/{text_in(body, 'trigger_id', 'action_ts')}"),
        event={
            "user": user_id,
            "user_name": words_in(user, "username", "name"),
            "channel": channel,
            "at": words_in(body, "action_ts"),
            "response_url": words_in(body, "response_url"),
            "message": _trim(message),
            "text": words_in(message, "text"),
        },
        user=user_id,
        channel=channel,
    )


def _trim(message: Json) -> Json:
    """Drop a message's redundant fields, such as the blocks that Slack built from it."""
    kept = {key: message[key] for key in _ABOUT_A_MESSAGE if message.get(key) is not None}
    for key, fields in (("files", _ABOUT_A_FILE), ("attachments", _ABOUT_A_SHARE)):
        found = [{k: one[k] for k in fields if k in one} for one in parts(message, key)]
        if found:
            kept[key] = found
    return kept
