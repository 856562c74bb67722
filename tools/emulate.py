"""Emulate a chat platform, to try Talaria by hand: `python -m tools.emulate telegram`.

It prints the variables that lead Talaria to the emulator, and the address of its controls. A POST
to a name there calls the method of that name: `curl ADDRESS/says -d '{"number": 1, "text":
"hello"}'` lets a person on Discord write. `curl ADDRESS` lists the names. The methods are those of
`tests/emulators` and `bench/population.py`; `python -m tests.emulators.anthropic` emulates a model.
"""

import argparse
import asyncio
import inspect
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, is_dataclass

from aiohttp import web

from bench.population import POPULATIONS

_HELP = """POST to a name below, with its arguments as JSON, to write and to read the answers:
curl ADDRESS/says -d '{"number": 1, "text": "hello"}'
On Telegram, "number" is "user_id"; on WhatsApp, it is "person", such as "16505550001".
"messages" shows what the bot answered, or "list_texts" on WhatsApp and Signal.
"""


@asynccontextmanager
async def emulate(platform: str, port: int = 0) -> AsyncIterator[tuple[str, Mapping[str, str]]]:
    """Serve a platform and its controls; yield their address, and Talaria's variables."""
    async with POPULATIONS[platform]() as people:
        methods = {
            name: method
            for place in (people, people.api)
            for name, method in inspect.getmembers(place, inspect.ismethod)
            if not name.startswith("_")
        }

        async def call(request: web.Request) -> web.Response:
            name = request.match_info["method"]
            method = methods.get(name)
            if method is None:
                return web.Response(status=404, text=f"The emulator has no method {name}.\n")
            try:
                found = method(**json.loads(await request.read() or "{}"))
                if inspect.isawaitable(found):
                    found = await found
            except (AssertionError, LookupError, TypeError, ValueError) as error:
                said = f"{type(error).__name__}: {error}"
                return web.Response(status=400, text=f"{name} can't be called so: {said}\n")
            return web.json_response(text=json.dumps(found, default=_write) + "\n")

        async def explain(_: web.Request) -> web.Response:
            lines = [f"{name}{inspect.signature(one)}" for name, one in sorted(methods.items())]
            return web.Response(text="\n".join((_HELP, *lines, "")))

        application = web.Application()
        application.router.add_get("/", explain)
        application.router.add_post("/{method:[a-z][a-z_]*}", call)
        runner = web.AppRunner(application)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", port).start()
        try:
            yield f"http://127.0.0.1:{runner.addresses[0][1]}", people.environ()
        finally:
            await runner.cleanup()


def _write(value: object) -> object:
    return asdict(value) if is_dataclass(value) and not isinstance(value, type) else str(value)


async def _serve(platform: str, port: int) -> None:
    async with emulate(platform, port) as (address, environ):
        print("\n".join(f"export {name}={value}" for name, value in environ.items()))
        print(f"# controls: {address}", flush=True)
        await asyncio.Event().wait()


def main(arguments: Sequence[str] | None = None) -> None:
    """Serve until Ctrl-C."""
    parser = argparse.ArgumentParser(prog="emulate", description=__doc__.splitlines()[0])
    parser.add_argument("platform", choices=tuple(POPULATIONS))
    parser.add_argument("--port", type=int, default=0, help="port of the controls")
    given = parser.parse_args(arguments)
    try:
        asyncio.run(_serve(given.platform, given.port))
    except KeyboardInterrupt:
        return


if __name__ == "__main__":
    main()
