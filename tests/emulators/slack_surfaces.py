"""What an app shows besides messages: statuses, the home tab, reactions."""

import re
import secrets

from tests.emulators.slack_blocks import VIEW_BLOCKS, BadBlocks, check
from tests.emulators.slack_shapes import Json, Refusal, SlackMessage, required
from tests.emulators.slack_world import World

_SESSION_STATUSES = ("active", "processing", "suspended", "closed")
_TITLE_LIMIT = 200
_EMOJI = re.compile(r"[a-z0-9_+'-]+(?:::skin-tone-[2-6])?")


def set_session(world: World, parameters: Json) -> Json:
    """agents.sessions.setStatus; the first call creates the session. Raises `Refusal`."""
    key = _thread_of(world, parameters)
    status = required(parameters, "status")
    if status not in _SESSION_STATUSES:
        raise Refusal("invalid_arguments", "[ERROR] status must be one of the lifecycle statuses")
    title = str(parameters.get("title") or "")
    if len(title) > _TITLE_LIMIT:
        raise Refusal("invalid_arguments", "[ERROR] title is too long")
    initiator = parameters.get("initiator_user_id")
    if initiator and initiator not in world.channels[key[0]].members:
        raise Refusal("user_not_found")
    session = world.sessions.setdefault(key, {"title": title, "initiator_user_id": initiator})
    session["status"] = status
    return {"status": status, "agent_status": status, "title": session["title"]}


def set_assistant(world: World, parameters: Json) -> Json:
    """assistant.threads.setStatus; cleared once the bot writes there. Raises `Refusal`."""
    key = _thread_of(world, parameters)
    if len(parameters.get("loading_messages") or []) > 10:
        raise Refusal("invalid_arguments", "[ERROR] no more than 10 loading_messages")
    world.assistant[key] = str(parameters.get("status") or "")
    return {}


def _thread_of(world: World, parameters: Json) -> tuple[str, str]:
    required(parameters, "channel_id")
    channel = world.place(parameters, "channel_id")
    thread_ts = world.thread_in(channel, parameters)
    if thread_ts is None:
        raise Refusal("invalid_thread_ts")
    return channel.id, thread_ts


def publish(world: World, parameters: Json) -> Json:
    """views.publish. Raises `Refusal`."""
    user = required(parameters, "user_id")
    view = parameters.get("view")
    if user not in world.users:
        raise Refusal("user_not_found")
    if not isinstance(view, dict) or view.get("type") != "home":
        raise Refusal("invalid_arguments", "[ERROR] view must be a home")
    known = world.views.get(user)
    if parameters.get("hash") and known is not None and parameters["hash"] != known["hash"]:
        raise Refusal("hash_conflict")
    try:
        blocks = check(view.get("blocks"), limit=VIEW_BLOCKS)
    except BadBlocks as bad:
        raise Refusal("invalid_arguments", f"[ERROR] {bad}") from None
    if len(str(view.get("private_metadata") or "")) > 3000:
        raise Refusal("invalid_arguments", "[ERROR] private_metadata is too long")
    world.views[user] = view | {
        "id": known["id"] if known is not None else world.next_id("V"),
        "team_id": world.app.team_id,
        "app_id": world.app.app_id,
        "bot_id": world.app.bot_id,
        "blocks": blocks,
        "hash": f"{world.next_ts()}.{secrets.token_hex(4)}",
        "state": {"values": {}},
    }
    return {"view": world.views[user]}


def react(world: World, parameters: Json) -> Json:
    """reactions.add. Raises `Refusal`."""
    message, reaction = _reaction(world, parameters)
    if reaction in message.reactions:
        raise Refusal("already_reacted")
    message.reactions.append(reaction)
    return {}


def unreact(world: World, parameters: Json) -> Json:
    """reactions.remove. Raises `Refusal`."""
    message, reaction = _reaction(world, parameters)
    if reaction not in message.reactions:
        raise Refusal("no_reaction")
    message.reactions.remove(reaction)
    return {}


def _reaction(world: World, parameters: Json) -> tuple[SlackMessage, tuple[str, str]]:
    channel = world.place(parameters)
    name = str(parameters.get("name") or "")
    if _EMOJI.fullmatch(name) is None:
        raise Refusal("invalid_name")
    message = channel.messages.get(str(parameters.get("timestamp") or ""))
    if message is None:
        raise Refusal("message_not_found")
    return message, (name, world.app.bot_user_id)
