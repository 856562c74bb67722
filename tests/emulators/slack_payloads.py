"""Payloads for an app, in Slack's shapes: events, clicks, commands, shortcuts."""

import time

from tests.emulators.slack_shapes import Json, SlackMessage
from tests.emulators.slack_world import App, Channel, World

_TOKEN = "emulated-verification-token"


def event_callback(app: App, event: Json, event_id: str) -> Json:
    """An event in its envelope."""
    return {
        "token": _TOKEN,
        "team_id": app.team_id,
        "context_team_id": app.team_id,
        "context_enterprise_id": None,
        "api_app_id": app.app_id,
        "event": event,
        "type": "event_callback",
        "event_id": event_id,
        "event_time": int(time.time()),
        "authorizations": [
            {
                "enterprise_id": None,
                "team_id": app.team_id,
                "user_id": app.bot_user_id,
                "is_bot": True,
                "is_enterprise_install": False,
            }
        ],
        "is_ext_shared_channel": False,
        "event_context": f"4-{event_id}",
    }


def mention_of(event: Json) -> Json:
    """Return the second event of a mention: the same ts, without a channel type."""
    left_out = ("channel_type", "parent_user_id", "subtype")
    kept = {key: value for key, value in event.items() if key not in left_out}
    return kept | {"type": "app_mention"}


def command(world: World, channel: Channel, user: str, text: str, response_url: str) -> Json:
    """`/talaria <text>`."""
    return {
        "token": _TOKEN,
        "team_id": world.app.team_id,
        "team_domain": "workspace",
        "channel_id": channel.id,
        "channel_name": "directmessage" if channel.kind == "im" else channel.name,
        "user_id": user,
        "user_name": world.users[user]["name"],
        "command": f"/{world.app.bot_name}",
        "text": text,
        "api_app_id": world.app.app_id,
        "is_enterprise_install": "false",
        "response_url": response_url,
        "trigger_id": world.next_id("trigger"),
    }


def click(world: World, message: SlackMessage, user: str, action: Json, response_url: str) -> Json:
    """A press on an element of a message."""
    channel = world.channels[message.channel]
    is_ephemeral = message.ts not in channel.messages
    container: Json = {
        "type": "message",
        "message_ts": message.ts,
        "channel_id": channel.id,
        "is_ephemeral": is_ephemeral,
    }
    if message.thread_ts is not None:
        container["thread_ts"] = message.thread_ts
    payload = _interaction(world, "block_actions", user) | {
        "container": container,
        "channel": _named(channel),
        "state": {"values": {}},
        "response_url": response_url,
        "actions": [action],
    }
    return payload if is_ephemeral else payload | {"message": world.shown(message)}


def home_click(world: World, user: str, action: Json) -> Json:
    """A press on an element of a person's home."""
    view = world.views[user]
    return _interaction(world, "block_actions", user) | {
        "container": {"type": "view", "view_id": view["id"]},
        "view": view,
        "actions": [action],
    }


def shortcut(
    world: World, message: SlackMessage, user: str, callback_id: str, response_url: str
) -> Json:
    """A message shortcut."""
    return _interaction(world, "message_action", user) | {
        "callback_id": callback_id,
        "action_ts": world.next_ts(),
        "message_ts": message.ts,
        "response_url": response_url,
        "channel": _named(world.channels[message.channel]),
        "message": world.shown(message),
    }


def action_of(element: Json, action_ts: str, option: str | None = None) -> Json:
    """Return the payload of a pressed element; `option` is the chosen value."""
    about = {key: element[key] for key in ("action_id", "block_id", "type")}
    about["action_ts"] = action_ts
    if element["type"] == "button":
        return about | {key: element[key] for key in ("text", "value", "style") if key in element}
    groups = element.get("option_groups") or [{"options": element.get("options", [])}]
    for group in groups:
        for choice in group["options"]:
            if choice["value"] == option:
                return about | {"selected_option": choice}
    raise LookupError(f"{element['action_id']} has no option {option!r}")


def _interaction(world: World, kind: str, user: str) -> Json:
    name = world.users[user]["name"]
    return {
        "type": kind,
        "token": _TOKEN,
        "api_app_id": world.app.app_id,
        "team": {"id": world.app.team_id, "domain": "workspace"},
        "user": {"id": user, "username": name, "name": name, "team_id": world.app.team_id},
        "enterprise": None,
        "is_enterprise_install": False,
        "trigger_id": world.next_id("trigger"),
    }


def _named(channel: Channel) -> Json:
    return {"id": channel.id, "name": "directmessage" if channel.kind == "im" else channel.name}
