"""The emulated Discord as its own process, controlled over HTTP."""

import argparse
import asyncio
import base64
import dataclasses
import inspect
import signal
from typing import Any

import uvloop
from aiohttp import web

from tests.emulators.discord_shapes import Sent

CALLS = {
    *("user", "other_bot", "dm", "guild", "role", "channel", "forum", "thread"),
    *("says", "edits", "deletes", "reacts", "unfurls", "notes", "joins", "presses", "commands"),
    *(
        "texts",
        "messages",
        "message",
        "ephemerals",
        "reactions",
        "typings",
        "interactions",
        "calls",
    ),
    *("identifies", "resumes", "heartbeats", "live_sessions", "limit_refusals", "synced_commands"),
    *(
        "fail",
        "clear_faults",
        "limits",
        "kick",
        "block",
        "lock",
        "delete_channel",
        "without_intents",
    ),
    *("drop_gateway", "reconnect_gateway", "close_next_with", "lose_session", "mute_gateway"),
    *("user_id", "application_id"),
}
"""What other processes may call, under the emulator's own names."""


class Control:
    """POST JSON to /_test/<call>: the call's arguments by name, and under "args" those without.

    What a call returns comes back as JSON; a file is {"name", "data" (base64), "content_type"}.
    What it would raise in a test is answered as 500.
    """

    def __init__(self, emulator: Any) -> None:
        self._emulator = emulator

    async def serve(self, request: web.Request) -> web.Response:
        """Answer one call."""
        name = request.match_info["call"]
        if name not in CALLS:
            raise web.HTTPNotFound
        arguments = await request.json() if request.can_read_body else {}
        if "files" in arguments:
            arguments["files"] = [
                Sent(**one | {"data": base64.b64decode(one["data"])}) for one in arguments["files"]
            ]
        found = getattr(self._emulator, name)
        if callable(found):
            found = found(*arguments.pop("args", []), **arguments)
        if inspect.isawaitable(found):
            found = await found
        return web.json_response(_plain(found))


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    if isinstance(value, list):
        return [_plain(one) for one in value]
    return value


async def _stand(kind: Any, token: str | None, port: int) -> None:
    ended = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, ended.set)
    given = {} if token is None else {"token": token}
    async with kind(port=port, **given) as api:
        print(f"ready {api.port}", flush=True)
        await ended.wait()


def main(kind: Any) -> None:
    """Run as a process until SIGTERM; the first line of output is `ready PORT`."""
    parser = argparse.ArgumentParser(prog="tests.emulators.discord")
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one and prints it")
    parser.add_argument("--token")
    given = parser.parse_args()
    uvloop.run(_stand(kind, given.token, given.port))
