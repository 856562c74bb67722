"""Control an emulated Slack in its own process: POST JSON to /_test/<call>.

Every call is a method of `SlackEmulator` by its name, with its arguments as an object. Its
result comes back as JSON. Also: `get {name}`, `set {name, value}`. A refusal is 409 with the
error's name.
"""

import argparse
import asyncio
import dataclasses
import inspect
import json
import signal
from collections.abc import Callable
from typing import Any

import uvloop
from aiohttp import web

from tests.emulators.slack_delivery import NobodyListens

_CALLS = frozenset(
    {"archives", "channel", "commands", "deletes", "dm", "drop_sockets", "edits", "ephemerals"}
    | {"fail", "home", "invites_bot", "clear_faults", "messages", "mute_sockets", "opens_home"}
    | {"post_event", "presses", "presses_home", "reacts", "redeliver", "refuse_sockets"}
    | {"removes_bot", "says", "send_disconnect", "shortcut", "status", "stops_session", "texts"}
    | {"unacked", "user"}
)
_VALUES = frozenset(
    {"acks", "after_seconds", "app_token", "base_url", "bot_token", "bot_user_id", "calls"}
    | {"can_stream", "connections_opened", "holds_seconds", "is_agent", "is_assistant"}
    | {"redelivers_unacked", "signing_secret", "sockets", "team_id"}
)


async def serve_control(slack: Any, request: web.Request) -> web.Response:
    """Answer one call of a test in another process."""
    call = request.match_info["call"]
    arguments = await request.json() if request.can_read_body else {}
    if call in ("get", "set"):
        if arguments["name"] not in _VALUES:
            raise web.HTTPNotFound
        if call == "set":
            setattr(slack, arguments["name"], arguments["value"])
        return _answer(getattr(slack, arguments["name"]))
    if call not in _CALLS:
        raise web.HTTPNotFound
    try:
        result = getattr(slack, call)(**arguments)
        if inspect.isawaitable(result):
            result = await result
    except (LookupError, NobodyListens) as refusal:
        about = {"error": type(refusal).__name__, "text": str(refusal)}
        return web.json_response(about, status=409)
    return _answer(result)


def _answer(result: Any) -> web.Response:
    return web.json_response(result, dumps=lambda value: json.dumps(value, default=_plain))


def _plain(value: Any) -> Any:
    """Return a dataclass as an object, with the text its message shows."""
    shown = {"shown": value.shown} if hasattr(value, "shown") else {}
    return dataclasses.asdict(value) | shown


async def _stand(make: Callable[..., Any], port: int) -> None:
    ended = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, ended.set)
    async with make(port=port) as slack:
        print(f"ready {slack.port}", flush=True)
        await ended.wait()


def stand_alone(make: Callable[..., Any]) -> None:
    """Run as a process until SIGTERM; the first line of output is `ready PORT`."""
    parser = argparse.ArgumentParser(prog="tests.emulators.slack")
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one and prints it")
    uvloop.run(_stand(make, parser.parse_args().port))
