"""Control a real, headless Chromium over its DevTools protocol."""

import asyncio
import base64
import itertools
import json
import re
import shutil
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import aiohttp

from tests.patience import PATIENCE

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
_MOUSE = ",".join(
    (
        "primaryHoverType=2",
        "availableHoverTypes=2",
        "primaryPointerType=4",
        "availablePointerTypes=4",
    )
)
_FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--no-first-run",
    "--hide-scrollbars",
    # Pretend to have a mouse, which a machine without a screen lacks.
    f"--blink-settings={_MOUSE}",
    # A microphone that beeps, and a person who allows it.
    "--use-fake-device-for-media-stream",
    "--use-fake-ui-for-media-stream",
    "--remote-debugging-port=0",
)
_POLL = 0.02


class Tab:
    """A tab of the browser."""

    def __init__(self, browser: "Browser", session: str) -> None:
        self._browser = browser
        self._session = session

    async def call(self, method: str, **params: object) -> dict[str, Any]:
        return await self._browser.call(method, params, self._session)

    async def open(self, address: str) -> None:
        await self.call("Page.navigate", url=address)

    async def run(self, script: str) -> Any:
        """Return the value of an expression in the page."""
        done = await self.call(
            "Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True
        )
        assert "exceptionDetails" not in done, done["exceptionDetails"]
        return done["result"].get("value")

    async def wait_for(self, script: str) -> None:
        """Wait until an expression is true."""
        try:
            async with asyncio.timeout(PATIENCE):
                while not await self.run(f"Boolean({script})"):
                    await asyncio.sleep(_POLL)
        except TimeoutError:
            text = await self.run("document.body.innerText")
            raise AssertionError(f"{script} never came true; the page shows:\n{text}") from None

    async def write(self, text: str) -> None:
        """Type into the focused element."""
        await self.call("Input.insertText", text=text)

    async def press(self, key: str) -> None:
        codes = {"Enter": 13, "Tab": 9, "Escape": 27, "ArrowUp": 38, "ArrowDown": 40}
        fields = {"key": key, "code": key, "windowsVirtualKeyCode": codes[key]}
        text = {"text": "\r"} if key == "Enter" else {}
        await self.call("Input.dispatchKeyEvent", type="keyDown", **fields, **text)
        await self.call("Input.dispatchKeyEvent", type="keyUp", **fields)

    async def choose_files(self, selector: str, *paths: Path) -> None:
        root = await self.call("DOM.getDocument")
        found = await self.call(
            "DOM.querySelector", nodeId=root["root"]["nodeId"], selector=selector
        )
        await self.call(
            "DOM.setFileInputFiles", nodeId=found["nodeId"], files=[str(path) for path in paths]
        )

    async def look(self, *, width: int, height: int, is_dark: bool = False) -> None:
        """Set the page's size and colour scheme."""
        await self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=2,
            mobile=width < 500,
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if is_dark else "light"}
        await self.call("Emulation.setEmulatedMedia", features=[scheme])
        await self.call("Emulation.setTouchEmulationEnabled", enabled=width < 500)

    async def hide(self, *, is_hidden: bool = True) -> None:
        """Minimize the window of this tab, or show it again."""
        window = await self.call("Browser.getWindowForTarget")
        bounds = {"windowState": "minimized" if is_hidden else "normal"}
        await self.call("Browser.setWindowBounds", windowId=window["windowId"], bounds=bounds)
        await self.wait_for(f"document.hidden === {str(is_hidden).lower()}")

    async def take_picture(self, path: Path) -> None:
        taken = await self.call("Page.captureScreenshot", format="png")
        await asyncio.to_thread(path.write_bytes, base64.b64decode(taken["data"]))


class Browser:
    """A running browser, controlled over its web socket."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self.context = ""
        """Id of the browser context that has the cookies, storage and permissions of the tabs."""
        self._socket = socket
        self._numbers = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[dict[str, Any]]] = {}

    async def listen(self) -> None:
        async for message in self._socket:
            heard = json.loads(message.data)
            waiting = self._waiting.pop(heard.get("id", 0), None)
            if waiting and not waiting.done():
                waiting.set_result(heard)

    async def call(
        self, method: str, params: dict[str, Any], session: str | None = None
    ) -> dict[str, Any]:
        number = next(self._numbers)
        waiting = self._waiting[number] = asyncio.get_running_loop().create_future()
        fields: dict[str, Any] = {"id": number, "method": method, "params": params}
        await self._socket.send_json(fields | ({"sessionId": session} if session else {}))
        async with asyncio.timeout(PATIENCE):
            answer = await waiting
        assert "error" not in answer, answer
        return dict(answer["result"])

    async def grant(self, permission: str, setting: str = "granted") -> None:
        """Let every page use something, such as the clipboard, without a question, or never."""
        named = {"clipboardReadWrite": "clipboard-read"}.get(permission, permission)
        await self.call(
            "Browser.setPermission",
            {
                "permission": {"name": named},
                "setting": setting,
                "browserContextId": self.context,
            },
        )

    async def open_tab(self, language: str = "en") -> Tab:
        """Open a tab in its own window, because a hidden tab does not paint."""
        made = await self.call(
            "Target.createTarget",
            {"url": "about:blank", "newWindow": True, "browserContextId": self.context},
        )
        attached = await self.call(
            "Target.attachToTarget", {"targetId": made["targetId"], "flatten": True}
        )
        tab = Tab(self, attached["sessionId"])
        await tab.call("Page.enable")
        agent = await tab.run("navigator.userAgent")
        await tab.call("Emulation.setUserAgentOverride", userAgent=agent, acceptLanguage=language)
        return tab


@asynccontextmanager
async def chromium(profile: Path) -> AsyncIterator[Browser]:
    """Start a browser with an empty profile, and connect to it."""
    with start_chromium(profile) as address:
        async with connect(address) as browser:
            yield browser


@contextmanager
def start_chromium(profile: Path) -> Iterator[str]:
    """Start a browser with an empty profile. Yields the address of its protocol."""
    assert CHROMIUM
    with subprocess.Popen(
        [CHROMIUM, *_FLAGS, f"--user-data-dir={profile}", "about:blank"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
    ) as process:
        try:
            yield _read_address(process)
        finally:
            process.terminate()
            process.wait()


@asynccontextmanager
async def connect(address: str) -> AsyncIterator[Browser]:
    """Connect to a running browser. Its tabs share no storage with those of other connections."""
    async with (
        aiohttp.ClientSession() as session,
        session.ws_connect(address, max_msg_size=0) as socket,
    ):
        browser = Browser(socket)
        listening = asyncio.create_task(browser.listen())
        try:
            made = await browser.call("Target.createBrowserContext", {"disposeOnDetach": True})
            browser.context = made["browserContextId"]
            yield browser
        finally:
            listening.cancel()
            await asyncio.gather(listening, return_exceptions=True)


def _read_address(process: subprocess.Popen[bytes]) -> str:
    assert process.stderr
    for line in process.stderr:
        if found := re.search(rb"DevTools listening on (ws://\S+)", line):
            return found[1].decode()
    raise AssertionError("the browser did not start")
