"""Keeps every test on this machine: no foreign socket, no foreign host name, no developer's key."""

import faulthandler
import gc
import ipaddress
import os
import platform
import shutil
import signal
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from zlib import crc32

import pytest
from hypothesis import settings

from agent_core.models.local.servers import USUAL_PORTS
from tests.chaos import Chaos

FOREIGN_PREFIXES = (
    "TALARIA_",
    "GITHUB_",
    "TELEGRAM_",
    "DISCORD_",
    "SLACK_",
    "ANTHROPIC_",
    "OPENAI_",
    "HONCHO_",
    "LANGUAGE",
    "LC_",
    "BRAVE_",
    "TAVILY_",
    "DDGS_",
)
GATEWAY_FOLDERS = {"contracts", "faults", "integration", "journeys"}
"""Folders whose tests start whole gateways, and many of them processes."""
COSTLY = ("process", "slow")
"""Marks of tests of which `make test` runs one row."""
PROCESS_FIXTURES = {"run_script", "start_script"}
PROXIES = {"http_proxy", "https_proxy", "all_proxy", "ws_proxy", "wss_proxy"}

_MEMORY = Path("/dev/shm")
"""A memory-backed folder on Linux."""
_ROOM_NEEDED = 1 << 30
"""Free bytes required; a whole run was seen to hold several hundred million at once."""

_LAST_WAIT = 60.0
"""Seconds for the end of a run after its last test."""

_contacts: list[tuple[object, ...]] = []
_foreign_contacts: list[str] = []
_started_processes: list[str] = []


def _forget_the_developer() -> None:
    """Remove real keys, proxies, language and time zone from the environment of the tests."""
    for name in list(os.environ):
        if name.startswith(FOREIGN_PREFIXES) or name.lower() in PROXIES:
            del os.environ[name]
    os.environ |= {"LANG": "C.UTF-8", "TZ": "UTC", "TALARIA_MODEL__FIND_LOCAL": "false"}
    time.tzset()


def _hear_interrupts() -> None:
    """Take interrupts, and let started processes take them.

    A shell ignores them for what it starts in the background, and children inherit that.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _compile_once() -> None:
    """Let the hundreds of started interpreters share compiled bytecode."""
    sys.dont_write_bytecode = False
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


def _trust_nobody() -> None:
    """Let TLS trust no authority: no test meets one, and each client would read 140 of them."""
    os.environ.pop("SSL_CERT_FILE", None)
    os.environ["SSL_CERT_DIR"] = str(Path(__file__).parent)


def _write_to_memory() -> None:
    """Keep temporary homes in memory.

    A new home waits for the disk about twenty times. Tests kill processes, never the machine, so
    memory is as durable. A temporary folder that the developer names takes precedence.
    """
    if {"PYTEST_DEBUG_TEMPROOT", "TMPDIR"} & os.environ.keys():
        return
    if os.access(_MEMORY, os.W_OK) and shutil.disk_usage(_MEMORY).free >= _ROOM_NEEDED:
        os.environ["PYTEST_DEBUG_TEMPROOT"] = str(_MEMORY)


def _is_numeric(host: str) -> bool:
    try:
        ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return False
    return True


def _is_loopback(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    return _is_numeric(host) and ipaddress.ip_address(host.partition("%")[0]).is_loopback


def _text(host: object) -> str:
    return host.decode("ascii", "replace") if isinstance(host, bytes) else str(host)


def _stop(contact: str) -> None:
    """Record the contact and fail. `Failed` is no `Exception`, so no bulkhead or retry swallows
    it.
    """
    _foreign_contacts.append(contact)
    raise pytest.fail.Exception(
        f"tests speak to loopback only: {contact} was stopped; use an emulator on 127.0.0.1"
    )


def _watch(event: str, arguments: tuple[object, ...]) -> None:
    """Audit hook for CPython's sockets; uvloop's own are not visible to it."""
    if event == "subprocess.Popen":
        _started_processes.append(str(arguments[0]))
    if not event.startswith("socket."):
        return
    if event in ("socket.connect", "socket.sendto", "socket.sendmsg"):
        address = arguments[1]
        if isinstance(address, tuple):
            _contacts.append(address)
        if isinstance(address, tuple) and address[1] in USUAL_PORTS:
            _stop(f"{event.removeprefix('socket.')} to a developer's model server")
        if isinstance(address, tuple) and not _is_loopback(_text(address[0])):
            _stop(f"{event.removeprefix('socket.')} to {_text(address[0])} port {address[1]}")
    elif event in ("socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr"):
        host = arguments[0]
        if host is not None and host not in ("", b""):
            name = _text(host)
            if not _is_numeric(name) and not _is_loopback(name):
                _stop(f"a look-up of {name}")


gc.disable()  # until all is collected, and all of it stays
_forget_the_developer()
_hear_interrupts()
_compile_once()
_trust_nobody()
_write_to_memory()
_ = platform.uname().processor  # OpenAI's SDK asks for it, and Python starts `uname` the first time
sys.addaudithook(_watch)
# A shared machine stalls for longer than any deadline: timings belong to the benchmarks.
settings.register_profile("talaria", deadline=None, max_examples=30)
# For `make test`, which tries the same examples on each machine; the others look for new ones.
settings.register_profile("few", deadline=None, max_examples=10, derandomize=True)
settings.register_profile("long", deadline=None, max_examples=500)  # for `make faults`
settings.load_profile("talaria")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--chaos", metavar="SEED", help="delay everything at random: tests/chaos.py")


def pytest_configure(config: pytest.Config) -> None:
    """Slow the machine down if asked to."""
    if seed := config.getoption("--chaos"):
        config.pluginmanager.register(Chaos(seed), "chaos")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark tests that start a whole gateway or processes, try many examples, or kill Talaria."""
    for item in items:
        folder = item.path.relative_to(config.rootpath).parts[1]
        fixtures = getattr(item, "fixturenames", ())
        if folder in GATEWAY_FOLDERS or PROCESS_FIXTURES.intersection(fixtures):
            item.add_marker(pytest.mark.process)
        if folder == "faults":
            item.add_marker(pytest.mark.thorough)
        if getattr(getattr(item, "obj", None), "is_hypothesis_test", False):
            item.add_marker(pytest.mark.slow)
            item.add_marker(pytest.mark.examples)
    _leave_out_repetitions(items)


def _leave_out_repetitions(items: list[pytest.Item]) -> None:
    """Mark as thorough all rows but one of costly tests, and all journeys of a file but the first.

    The name of a test decides which row `make test` runs, so that each platform has its turn.
    """
    rows: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        if item.get_closest_marker("thorough") is None:
            rows[item.nodeid.partition("[")[0]].append(item)
    begun: set[Path] = set()
    for name, same in rows.items():
        path = same[0].path
        is_repetition = "journeys" in path.parts and path in begun
        is_costly = "contracts" not in path.parts and any(map(same[0].get_closest_marker, COSTLY))
        kept = crc32(name.encode()) % len(same)
        for number, item in enumerate(same):
            if is_repetition or (is_costly and number != kept):
                item.add_marker(pytest.mark.thorough)
        begun.add(path)


def pytest_collection_finish() -> None:
    """Freeze the collected objects: about a million live until the end of the run."""
    gc.freeze()
    gc.set_threshold(20_000, 20, 100)
    gc.enable()


@pytest.fixture
def contacts() -> list[tuple[object, ...]]:
    """The internet addresses that this test's sockets were pointed at, so far."""
    return _contacts


@pytest.fixture
def foreign_contacts() -> Iterator[list[str]]:
    """The contacts stopped so far, for the one test that provokes them."""
    yield _foreign_contacts
    _foreign_contacts.clear()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup() -> None:
    """Forget what earlier tests did."""
    _contacts.clear()
    _foreign_contacts.clear()
    _started_processes.clear()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Iterator[None]:
    """Fail a test that made a foreign contact, even where something swallowed the exception.

    Fail one that starts a process without the `process` mark, too, to keep `test-fast` fast.
    """
    yield
    stopped, _foreign_contacts[:] = "; ".join(_foreign_contacts), []
    assert not stopped, f"tests speak to loopback only: {stopped} was stopped"
    if item.get_closest_marker("process") is None:
        assert not _started_processes, "mark this test with @pytest.mark.process"


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish() -> None:
    """Collect once what is left; pytest would do it ten times, each among a million objects."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(trylast=True)
def pytest_unconfigure() -> None:
    """Show the stacks and end if a thread stays.

    A failed test may leave a database open, whose thread would keep the run from ending for ever.
    """
    faulthandler.dump_traceback_later(_LAST_WAIT, exit=True, file=sys.__stderr__)
