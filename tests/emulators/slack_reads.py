"""Reads of the bot: histories, threads, channels and their members, people."""

from tests.emulators.slack_shapes import Json, Refusal, SlackMessage, required, truth, whole
from tests.emulators.slack_world import Channel, World

_KINDS = {"public_channel": "channel", "private_channel": "group", "im": "im", "mpim": "mpim"}


def history(world: World, parameters: Json) -> Json:
    """conversations.history: newest first, without the answers in threads. Raises `Refusal`."""
    channel = world.place(parameters, writes=False)
    found = [
        message
        for message in reversed(channel.messages.values())
        if message.thread_ts in (None, message.ts) or message.is_broadcast
    ]
    return _page(world, parameters, _between(found, parameters), most=999, default=100)


def replies(world: World, parameters: Json) -> Json:
    """conversations.replies: the root, then its answers, oldest first. Raises `Refusal`."""
    channel = world.place(parameters, writes=False)
    ts = required(parameters, "ts")
    root = channel.messages.get(ts)
    if root is not None and root.thread_ts not in (None, ts):
        root = channel.messages.get(root.thread_ts or "")
    answers = world.replies(channel, root.ts if root is not None else ts)
    if root is None and not answers:
        raise Refusal("thread_not_found")
    found = _between(answers, parameters)
    if root is not None:
        found.insert(0, root)
    return _page(world, parameters, found, most=1000, default=1000)


def info(world: World, parameters: Json) -> Json:
    """conversations.info. Raises `Refusal`."""
    channel = world.channels.get(str(parameters.get("channel") or ""))
    if channel is None:
        raise Refusal("channel_not_found")
    about = describe(world, channel)
    if truth(parameters, "include_num_members"):
        about["num_members"] = len(channel.members)
    return {"channel": about}


def members(world: World, parameters: Json) -> Json:
    """conversations.members, the bot among them. Raises `Refusal`."""
    channel = world.place(parameters, writes=False)
    ids, more = _cut(parameters, channel.members, most=1000, default=100)
    return {"members": ids, "response_metadata": {"next_cursor": more}}


def own_channels(world: World, parameters: Json) -> Json:
    """users.conversations: where the bot is. Raises `Refusal`."""
    kinds = [
        _KINDS.get(k.strip()) for k in str(parameters.get("types") or "public_channel").split(",")
    ]
    if None in kinds:
        raise Refusal("invalid_types")
    found = [
        describe(world, channel)
        for channel in world.channels.values()
        if channel.kind in kinds
        and world.app.bot_user_id in channel.members
        and not (truth(parameters, "exclude_archived") and channel.is_archived)
    ]
    page, more = _cut(parameters, found, most=1000, default=100)
    return {"channels": page, "response_metadata": {"next_cursor": more}}


def user(world: World, parameters: Json) -> Json:
    """users.info. Raises `Refusal`."""
    about = world.users.get(str(parameters.get("user") or ""))
    if about is None:
        raise Refusal("user_not_found")
    if not truth(parameters, "include_locale"):
        about = {key: value for key, value in about.items() if key != "locale"}
    return {"user": about}


def auth(world: World, _: Json) -> Json:
    """auth.test."""
    app = world.app
    return {
        "url": "https://workspace.slack.com/",
        "team": app.team_name,
        "user": app.bot_name,
        "team_id": app.team_id,
        "user_id": app.bot_user_id,
        "bot_id": app.bot_id,
        "is_enterprise_install": False,
    }


def bot(world: World, parameters: Json) -> Json:
    """bots.info. Raises `Refusal`."""
    app = world.app
    if parameters.get("bot") not in (None, "", app.bot_id):
        raise Refusal("bot_not_found")
    about = {"id": app.bot_id, "app_id": app.app_id, "user_id": app.bot_user_id}
    return {"bot": about | {"name": app.bot_name, "deleted": False}}


def describe(world: World, channel: Channel) -> Json:
    """A channel as the Web API shows it."""
    is_member = world.app.bot_user_id in channel.members
    about: Json = {
        "id": channel.id,
        "created": 1_700_000_000,
        "is_archived": channel.is_archived,
        "is_im": channel.kind == "im",
        "is_mpim": channel.kind == "mpim",
        "is_channel": channel.kind == "channel",
        "is_group": channel.kind == "group",
        "is_private": channel.kind != "channel",
        "context_team_id": world.app.team_id,
    }
    if channel.kind == "im":
        return about | {"user": channel.members[0], "is_open": True}
    about |= {"name": channel.name, "is_member": is_member, "topic": {"value": ""}}
    founder = next((one for one in channel.members if one != world.app.bot_user_id), None)
    return about | ({"creator": founder} if founder else {})


def _between(found: list[SlackMessage], parameters: Json) -> list[SlackMessage]:
    """Exclude the ends of a time span, unless `inclusive` includes them."""
    oldest, latest = str(parameters.get("oldest") or "0"), str(parameters.get("latest") or "")
    keeps = truth(parameters, "inclusive")
    low, high = _number(oldest), _number(latest) if latest else None

    def fits(message: SlackMessage) -> bool:
        ts = _number(message.ts)
        after = ts > low or (keeps and ts == low)
        return after and (high is None or ts < high or (keeps and ts == high))

    return [message for message in found if fits(message)]


def _number(ts: str) -> tuple[int, int]:
    """Return a ts in a comparable form. Raises `Refusal`."""
    seconds, _, rest = ts.partition(".")
    try:
        return int(seconds), int((rest or "0").ljust(6, "0")[:6])
    except ValueError:
        raise Refusal("invalid_ts_latest") from None


def _page(
    world: World, parameters: Json, found: list[SlackMessage], *, most: int, default: int
) -> Json:
    page, more = _cut(parameters, found, most=most, default=default)
    with_metadata = truth(parameters, "include_all_metadata")
    for message in page:
        world.age(message)
    shown = [world.shown(message, with_metadata=with_metadata) for message in page]
    answer: Json = {"messages": shown, "has_more": bool(more), "pin_count": 0}
    if more:
        answer["response_metadata"] = {"next_cursor": more}
    return answer


def _cut(parameters: Json, found: list, *, most: int, default: int) -> tuple[list, str]:
    """Return one page and the next cursor, empty at the end. Raises `Refusal`."""
    limit = whole(parameters, "limit", default)
    if not 1 <= limit <= most:
        raise Refusal("invalid_limit")
    cursor = str(parameters.get("cursor") or "")
    begin = 0
    if cursor:
        kind, _, place = cursor.partition("-")
        if kind != "next" or not place.isdecimal():
            raise Refusal("invalid_cursor")
        begin = int(place)
    end = begin + limit
    return found[begin:end], f"next-{end}" if end < len(found) else ""
