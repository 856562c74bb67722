"""The HTTP server: access, the page and its limits, and the console's WebSocket."""

import asyncio
import hashlib
import json
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import uuid
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from adapters.contract import Health
from adapters.toolkit.listener import MOST_CONNECTIONS
from gateway.interfaces.http.gate import Gate, load_token
from tests.architecture.source import ROOT
from tests.fakes.chat import FakeChat
from tests.integration.clock import Clock
from tests.integration.interfaces.console_setup import Line
from tests.integration.processes import talaria_beside
from tests.integration.served import Served, served
from tests.patience import PATIENCE
from tests.tables import await_each

STATIC = ROOT / "gateway" / "interfaces" / "http" / "static"
TEMPLATES = ROOT / "gateway" / "interfaces" / "pages" / "templates"


@pytest.fixture
async def harness(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Served]:
    async with served(tmp_path_factory.mktemp("h") / "home") as harness:
        yield harness


@pytest.fixture
async def browser() -> AsyncIterator[aiohttp.ClientSession]:
    # A browser keeps cookies of an address; aiohttp's jar does so only when told.
    async with aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as session:
        yield session


async def status(browser: aiohttp.ClientSession, harness: Served, path: str, **headers: str) -> int:
    url = harness.address.with_path(path)
    async with browser.get(url, headers=headers, allow_redirects=False) as response:
        return response.status


async def test_health_needs_no_token(harness: Served, browser: aiohttp.ClientSession) -> None:
    async with browser.get(harness.address / "health") as response:
        report = await response.json()
    assert (response.status, report["status"], report["problems"]) == (200, "ok", [])
    assert report["platforms"]["console"]["state"] == "connected"
    assert report["store"] == {"state": "ok", "detail": ""}
    assert (report["owed"], report["undelivered"], report["turns_running"]) == (0, 0, 0)


async def test_everything_else_needs_the_token(
    harness: Served, browser: aiohttp.ClientSession
) -> None:
    async def check(path: str) -> None:
        cookie = f"talaria_{harness.address.port}=wrong"
        assert await status(browser, harness, path) == 401
        assert await status(browser, harness, path, Authorization="Bearer wrong") == 401
        assert await status(browser, harness, path, Cookie=cookie) == 401

    paths = ["/", "/console.js", "/console", "/nothing", "/control/people.list"]
    await await_each(paths, check)


async def test_foreign_origins_are_refused_even_with_the_token(
    harness: Served, browser: aiohttp.ClientSession
) -> None:
    async def check(headers: dict[str, str]) -> None:
        allowed = {"Authorization": f"Bearer {harness.token}"}
        for path in ("/", "/health"):
            assert await status(browser, harness, path, **allowed) == 200
            assert await status(browser, harness, path, **allowed, **headers) == 403

    rows = [
        {"Host": "evil.example"},
        {"Host": "127.0.0.1:1"},
        {"Host": "127.0.0.1"},
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
    ]
    await await_each(rows, check)


async def test_the_printed_address_becomes_a_cookie_and_leaves_the_address_bar(
    harness: Served, browser: aiohttp.ClientSession
) -> None:
    async with browser.get(harness.page, allow_redirects=False) as response:
        assert (response.status, response.headers["Location"]) == (303, "/")
        cookie = response.headers["Set-Cookie"]
    assert cookie.startswith(f"talaria_{harness.address.port}=")
    assert harness.token not in cookie
    for attribute in ("HttpOnly", "SameSite=strict", "Path=/", "Max-Age=43200"):
        assert attribute in cookie
    assert await status(browser, harness, "/") == 200


async def test_a_wrong_token_in_the_address_sets_no_cookie(
    harness: Served, browser: aiohttp.ClientSession
) -> None:
    async with browser.get(harness.page.with_query(token="x"), allow_redirects=False) as response:
        assert response.status == 401
        assert "Set-Cookie" not in response.headers


def secret_of(browser: aiohttp.ClientSession, harness: Served) -> str:
    """The secret that the browser holds."""
    return browser.cookie_jar.filter_cookies(harness.address)[
        f"talaria_{harness.address.port}"
    ].value


async def log_in(browser: aiohttp.ClientSession, harness: Served) -> str:
    async with browser.get(harness.page) as response:
        assert response.status == 200
    return secret_of(browser, harness)


async def test_the_database_holds_no_secret_of_a_login(
    harness: Served, browser: aiohttp.ClientSession
) -> None:
    secret = await log_in(browser, harness)
    database = harness.gateway.settings.home / "state.db"
    held = database.read_bytes() + database.with_name("state.db-wal").read_bytes()
    assert hashlib.sha256(secret.encode()).hexdigest().encode() in held
    assert secret.encode() not in held
    assert harness.token.encode() not in held


async def test_each_login_has_a_secret_of_its_own(
    harness: Served, browser: aiohttp.ClientSession
) -> None:
    first, second = await log_in(browser, harness), await log_in(browser, harness)
    assert first != second
    assert harness.token not in (first, second)


async def test_a_login_ends_after_half_a_day(tmp_path_factory: pytest.TempPathFactory) -> None:
    clock = Clock(2026, 11, 20, 12, 0)
    async with (
        served(tmp_path_factory.mktemp("h") / "home", now=clock) as harness,
        aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as browser,
    ):
        secret = await log_in(browser, harness)
        cookie = f"talaria_{harness.address.port}={secret}"
        clock.pass_unseen(hours=12, seconds=-1)
        assert await status(browser, harness, "/", Cookie=cookie) == 200
        clock.pass_unseen(seconds=1)
        assert await status(browser, harness, "/", Cookie=cookie) == 401


async def test_logging_out_ends_the_login_of_this_browser_alone(
    harness: Served, browser: aiohttp.ClientSession
) -> None:
    other = await log_in(browser, harness)
    secret = await log_in(browser, harness)
    async with browser.post(harness.address / "logout") as response:
        assert response.status == 204
    cookie = f"talaria_{harness.address.port}"
    assert await status(browser, harness, "/", Cookie=f"{cookie}={secret}") == 401
    assert await status(browser, harness, "/", Cookie=f"{cookie}={other}") == 200
    async with browser.post(
        harness.address / "logout", headers={"Origin": "http://127.0.0.1:1"}
    ) as response:
        assert response.status == 403


async def test_ending_all_logins_closes_the_open_pages(
    harness: Served, browser: aiohttp.ClientSession
) -> None:
    await log_in(browser, harness)
    home = harness.gateway.settings.home
    async with browser.ws_connect(harness.address / "console") as page:
        listed = await talaria_beside(home, "logins", "list")
        assert listed.out.startswith("printed address: since ")
        ended = await talaria_beside(home, "logins", "end")
        assert ended.out.startswith("1 logged out.")
        async with asyncio.timeout(PATIENCE):
            while (await page.receive()).type is not aiohttp.WSMsgType.CLOSED:
                pass
    assert await status(browser, harness, "/") == 401
    assert (await talaria_beside(home, "logins", "list")).out == "No browser is logged in.\n"


async def test_the_page_may_load_only_its_own_parts(
    harness: Served, browser: aiohttp.ClientSession
) -> None:
    async with browser.get(harness.page) as response:
        page = await response.text()
    policy = response.headers["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'; script-src 'self';")
    assert "unsafe" not in policy
    assert response.headers["Cache-Control"] == "no-store"
    assert response.headers["Referrer-Policy"] == "same-origin"
    assert harness.token not in page
    kinds = {"/console.css": "text/css", "/console.js": "text/javascript"}
    imported = {"/choices.js": "text/javascript", "/markdown.js": "text/javascript"}
    kinds |= {"/icon.svg": "image/svg+xml"} | imported
    for path, kind in kinds.items():
        assert path in page or path in imported
        async with browser.get(harness.address.with_path(path)) as part:
            assert (part.status, part.content_type) == (200, kind)
            assert part.headers["X-Content-Type-Options"] == "nosniff"


def test_the_page_never_makes_markup_of_text_and_names_no_other_host() -> None:
    texts = {path.name: path.read_text() for path in (*STATIC.iterdir(), TEMPLATES / "chat.html")}
    assert {"chat.html", "console.css", "console.js", "choices.js", "markdown.js"} <= set(texts)
    for name, text in texts.items():
        for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("):
            assert word not in text, name
        hosts = set(re.findall(r"\b(?:https?|wss?)://([\w.-]+)", text))
        assert hosts <= {"www.w3.org"}, name  # the SVG namespace, which is never opened
    assert not re.search(r"\s(?:style|on\w+)=", texts["chat.html"])


async def test_the_page_uses_its_websocket(harness: Served, browser: aiohttp.ClientSession) -> None:
    await browser.get(harness.page)
    origin = str(harness.address.origin())
    async with browser.ws_connect(harness.address / "console", origin=origin) as websocket:
        line = Line(websocket)
        await line.write(type="hello")
        name = uuid.uuid4().hex
        await line.write(type="message", id=name, text="hello\nthere")
        await line.write(type="message", id=name, text="hello\nthere")
        assert (await line.hear("ack"))["id"] == name
        answer = await line.hear("message")
        assert "hello" in answer["text"]
        assert answer["live"] is False
        second = uuid.uuid4().hex
        await line.write(type="message", id=second, text="/whoami")
        assert "owner" in (await line.hear("message"))["text"]


async def test_a_button_is_pressed_through_the_websocket_and_only_with_the_token(
    harness: Served, browser: aiohttp.ClientSession
) -> None:
    foreign = {"Authorization": f"Bearer {harness.token}", "Origin": "https://evil.example"}
    for headers, code in (({}, 401), (foreign, 403)):
        with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
            await browser.ws_connect(harness.address / "console", headers=headers)
        assert refused.value.status == code
    await browser.get(harness.page)
    async with browser.ws_connect(harness.address / "console") as websocket:
        line = Line(websocket)
        await line.write(type="hello", buttons=True)
        await line.write(type="message", id="m1", text="/settings")
        shown = await line.hear("message")
        night = next(one for one in shown["buttons"] if "22:00" in one["label"])
        await line.write(type="press", id="p1", message=shown["id"], key=night["key"])
        changed = await line.hear("edit")
        assert changed["id"] == shown["id"]
        assert "Quiet hours: 22:00-07:00" in changed["text"]
        assert changed["buttons"] != shown["buttons"]


async def test_a_line_break_in_a_frame_makes_no_second_line(
    harness: Served, browser: aiohttp.ClientSession
) -> None:
    await browser.get(harness.page)
    async with browser.ws_connect(harness.address / "console") as websocket:
        line = Line(websocket)
        await websocket.send_str('{"type":\n"hello"}\n{"type": "message"')
        assert "JSON" in (await line.hear("error"))["text"]
        await line.write(type="message", id="1", text="/whoami")
        assert (await line.hear("ack"))["id"] == "1"


async def test_the_websocket_is_closed_when_the_gateway_closes(
    tmp_path_factory: pytest.TempPathFactory, browser: aiohttp.ClientSession
) -> None:
    async with served(tmp_path_factory.mktemp("h")) as harness:
        await browser.get(harness.page)
        websocket = await browser.ws_connect(harness.address / "console")
    async with asyncio.timeout(PATIENCE):
        message = await websocket.receive()
    assert message.type in (aiohttp.WSMsgType.CLOSE, aiohttp.WSMsgType.CLOSED)


async def test_a_page_that_leaves_gives_its_place_back(
    harness: Served, browser: aiohttp.ClientSession
) -> None:
    await browser.get(harness.page)
    for _ in range(MOST_CONNECTIONS + 5):
        async with browser.ws_connect(harness.address / "console"):
            pass
    assert await status(browser, harness, "/") == 200


async def test_a_signal_stays_with_the_program(harness: Served) -> None:
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL  # uvicorn would take it


async def test_a_port_in_use_is_one_plain_sentence(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        ran = await talaria_beside(tmp_path / "home", "run", TALARIA_HTTP__PORT=str(port))
    sentence = (
        f"The console page can't listen on 127.0.0.1 port {port}: Address already in use."
        " Set TALARIA_HTTP__PORT to a free one."
    )
    assert (ran.code, ran.err.strip().splitlines()[-1]) == (2, sentence)


@pytest.mark.thorough
@pytest.mark.process
def test_a_start_loads_a_server_for_a_port_and_no_api_before_it_is_asked() -> None:
    program = (
        "import sys; from gateway.interfaces import subcommands; subcommands.load_run('run');"
        " print(sorted({'fastapi', 'starlette', 'uvicorn'} & set(sys.modules)));"
        " import gateway.interfaces.http.server; print('fastapi' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.split() == ["[]", "False"]


async def test_a_body_that_is_too_large_is_refused(
    harness: Served, browser: aiohttp.ClientSession
) -> None:
    url = harness.address / "hooks" / "unknown"
    async with browser.post(url, data=b"x" * 65_536) as response:
        assert response.status == 404
    async with browser.post(url, data=b"x" * 65_537) as response:
        assert (response.status, await response.text()) == (413, "The request is too large.\n")


BEGUN = ("/hooks/unknown", "/login", "/v1/chat/completions", "/v1/responses")
"""Addresses that read a body before they know who sends it."""


async def begin(harness: Served, path: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Send a request whose body does not end."""
    address = harness.address
    assert address.host
    assert address.port
    head = f"POST {path} HTTP/1.1\r\nHost: {address.host}:{address.port}\r\nContent-Length: 9\r\n"
    kind = "json" if path.startswith("/v1/") else "x-www-form-urlencoded"
    reader, writer = await asyncio.open_connection(address.host, address.port)
    writer.write(f"{head}Content-Type: application/{kind}\r\n\r\n{{".encode())
    await writer.drain()
    return reader, writer


async def test_a_body_that_does_not_arrive_in_time_is_refused(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:

    async def check(path: str) -> None:
        reader, writer = await begin(harness, path)
        assert (await reader.read()).startswith(b"HTTP/1.1 408")
        writer.close()

    async with served(tmp_path / "home", body_seconds=0.2) as harness, asyncio.timeout(PATIENCE):
        await await_each(BEGUN, check)
    assert not [record for record in caplog.records if record.exc_info]


async def test_a_client_that_leaves_within_a_body_leaves_no_traceback(
    harness: Served, browser: aiohttp.ClientSession, caplog: pytest.LogCaptureFixture
) -> None:
    for path in BEGUN:
        _, writer = await begin(harness, path)
        async with browser.get(harness.address / "health"):
            writer.close()  # the server has read the head by now
        await writer.wait_closed()
    async with browser.get(harness.address / "health") as response:
        assert response.status == 200
    assert not [record for record in caplog.records if record.exc_info]


class Unwell(FakeChat):
    """A platform that lost its connection."""

    def health(self) -> Health:
        return Health(state="disconnected", detail="no route", alive_at=time.monotonic() - 60)


async def test_health_names_the_failing_platform(
    tmp_path_factory: pytest.TempPathFactory, browser: aiohttp.ClientSession
) -> None:
    async with (
        served(tmp_path_factory.mktemp("h"), adapters={"fake": Unwell()}) as harness,
        browser.get(harness.address / "health") as response,
    ):
        report: Mapping[str, Any] = await response.json()
    assert (response.status, report["status"]) == (503, "failing")
    assert report["problems"] == ["fake is disconnected: no route"]
    assert 59 < report["platforms"]["fake"]["seconds_since_alive"] < 90


@pytest.mark.parametrize(
    ("bind", "host", "is_known"),
    [
        ("127.0.0.1", "localhost:8765", True),
        ("127.0.0.1", "LOCALHOST:8765", True),
        ("127.0.0.1", "[::1]:8765", True),
        ("127.0.0.1", "127.0.0.2:8765", True),
        ("127.0.0.1", "10.0.0.7:8765", False),
        ("127.0.0.1", "localhost.evil.example:8765", False),
        ("127.0.0.1", "evil@localhost:8765", False),
        ("127.0.0.1", "localhost:8765/x", False),
        ("127.0.0.1", "localhost:port", False),
        ("127.0.0.1", "[::1:8765", False),
        ("127.0.0.1", "", False),
        ("localhost", "localhost:8765", True),
        ("10.0.0.7", "10.0.0.7:8765", True),
        ("10.0.0.7", "10.0.0.8:8765", False),
        ("0.0.0.0", "10.0.0.8:8765", True),
        ("0.0.0.0", "evil.example:8765", False),
        ("::", "[2001:db8::1]:8765", True),
    ],
)
def test_hosts_that_the_gate_knows(bind: str, host: str, is_known: bool) -> None:
    gate = Gate(bind=bind, port=8765, token="t")
    assert gate.knows_host([host]) is is_known
    assert gate.knows_origin([f"http://{host}"]) is is_known
    assert not gate.knows_origin([f"https://{host}"])
    assert not gate.knows_host([host, host])


def test_port_80_may_be_omitted() -> None:
    assert Gate(bind="127.0.0.1", port=80, token="t").knows_host(["localhost"])
    assert not Gate(bind="127.0.0.1", port=8765, token="t").knows_host(["localhost"])


def test_a_token_is_made_once_and_replaced_if_damaged(tmp_path: Path) -> None:
    path = tmp_path / "http_token"
    token = load_token(path)
    assert load_token(path) == token
    assert path.stat().st_mode & 0o777 == 0o600
    path.chmod(0o644)
    assert load_token(path) == token
    assert path.stat().st_mode & 0o777 == 0o600
    path.write_bytes(b"\xff short")
    assert load_token(path) != token
    assert load_token(path) == load_token(path)


async def test_a_request_without_a_host_is_foreign(harness: Served) -> None:
    port = harness.address.port
    assert port

    def ask() -> bytes:
        with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
            connection.sendall(b"GET /health HTTP/1.0\r\n\r\n")
            return connection.recv(4096)

    assert b" 403 " in (await asyncio.to_thread(ask)).splitlines()[0]


DOM = """
class Node {
  constructor(name) { this.name = name; this.children = []; this.dataset = {}; }
  append(...parts) { this.children.push(...parts); }
  appendChild(child) { this.children.push(child); return child; }
  set textContent(text) { this.children = [text]; }
}
globalThis.document = {
  createElement: (name) => new Node(name), createDocumentFragment: () => new Node(""),
};
const escape = (text) => text.replace(/[&<>]/g, (c) => `&#${c.charCodeAt(0)};`);
const write = (node) => {
  if (typeof node === "string") return escape(node);
  const inner = node.children.map(write).join("");
  const link = node.href ? ` ${node.href}` : "";
  const number = node.value ? ` value=${node.value}` : "";
  return node.name ? `<${node.name}${link}${number}>${inner}</${node.name}>` : inner;
};
const { render } = await import(process.argv[1]);
let given = "";
for await (const block of process.stdin) given += block;
console.log(JSON.stringify(JSON.parse(given).map((text) => write(render(text)))));
"""

RENDERED = {
    "plain": "<p>plain</p>",
    "two\nlines": "<p>two<br></br>lines</p>",
    "<script>alert(1)</script>": "<p>&#60;script&#62;alert(1)&#60;/script&#62;</p>",
    "[x](javascript:alert(1))": "<p>x (javascript:alert(1))</p>",
    "[x](JaVaScRiPt:1)": "<p>x (JaVaScRiPt:1)</p>",
    "[x](data:text/html,1)": "<p>x (data:text/html,1)</p>",
    "[a *b*](https://e.org/)": "<p><a https://e.org/>a <em>b</em></a></p>",
    "see https://e.org/a_(b).": "<p>see <a https://e.org/a_(b)>https://e.org/a_(b)</a>.</p>",
    "**b** *i* ~~d~~ `c<`": "<p><strong>b</strong> <em>i</em> <del>d</del> <code>c&#60;</code></p>",
    "snake_case_name and 2 * 3 * 4": "<p>snake_case_name and 2 * 3 * 4</p>",
    r"\*not\*": "<p>*not*</p>",
    "**open": "<p>**open</p>",
    "# h\ntext": "<h3>h</h3><p>text</p>",
    "```py\n<b>\n```\nx": "<div><pre><code>&#60;b&#62;</code></pre></div><p>x</p>",
    "```\nnever closed": "<div><pre><code>never closed</code></pre></div>",
    "- a\n  - b\n- c": "<ul><li>a<ul><li>b</li></ul></li><li>c</li></ul>",
    "1. a\n1. b": "<ol><li>a</li><li>b</li></ol>",
    "5. a\n8. b\n6. c": "<ol><li value=5>a</li><li value=8>b</li><li value=6>c</li></ol>",
    "> q\n> r": "<blockquote><p>q<br></br>r</p></blockquote>",
    "|a|b|\n|-|-|\n|1|`x`|": (
        "<div><table><thead><tr><th>a</th><th>b</th></tr></thead>"
        "<tbody><tr><td>1</td><td><code>x</code></td></tr></tbody></table></div>"
    ),
    "---": "<hr></hr>",
    "": "",
}


@pytest.mark.skipif(not shutil.which("node"), reason="node runs the page's own renderer")
def test_markdown_on_the_page() -> None:
    deep = ["> " * 500 + "x", "- " * 500 + "x", "*a **b `c _d [e](f " * 5000, "\n" * 50_000]
    done = subprocess.run(
        ["node", "--input-type=module", "-e", DOM, str(STATIC / "markdown.js")],
        input=json.dumps([*RENDERED, *deep]),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.stderr == ""
    written = json.loads(done.stdout)
    assert dict(zip(RENDERED, written, strict=False)) == RENDERED
    assert len(written) == len(RENDERED) + len(deep)
