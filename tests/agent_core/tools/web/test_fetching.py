"""No address leads into the gateway: what is refused is never connected to."""

import asyncio
import gzip
import zlib
from collections.abc import AsyncIterator, Sequence

import pytest

from agent_core.tools.network.addresses import ForbiddenAddress, check_address, check_url
from agent_core.tools.network.lookup import Resolve
from agent_core.tools.readers.faults import FetchFailed
from agent_core.tools.web import fetching
from agent_core.tools.web.fetching import MOST_BYTES, Fetcher, FetchRequest
from tests.agent_core.tools.conftest import Listener
from tests.agent_core.tools.network.forms import FORMS, PATHS, resolve
from tests.emulators.sources import Served, Sources
from tests.tables import await_each

HERE = ("127.0.0.1", "name.test")
Contacts = list[tuple[object, ...]]


def test_the_forms_are_many_and_say_nothing_twice() -> None:
    assert len(set(FORMS)) == len(FORMS) >= 120


async def test_nothing_that_leads_inside_is_connected_to(
    listener: Listener, contacts: Contacts
) -> None:
    async def check(form: str) -> None:
        contacts.clear()
        url = form.replace("{port}", str(listener.port))
        with pytest.raises(FetchFailed):
            await Fetcher(resolve=resolve).fetch(FetchRequest(url=url))
        assert contacts == []
        assert listener.count == 0

    await await_each(FORMS, check)


async def test_no_redirect_leads_inside(
    web: Sources, listener: Listener, contacts: Contacts
) -> None:
    async def start(host: str, port: int) -> Sequence[str]:
        return ["127.0.0.1"] if host == "start.test" else await resolve(host, port)

    async def check(form: str) -> None:
        contacts.clear()
        target = form.replace("{port}", str(listener.port))
        # What no header can carry is sent as it would arrive.
        sent = target.replace("\n", "").encode("utf-8", "replace").decode("latin-1")
        first = web.move("/first", "/second").replace("127.0.0.1", "start.test")
        web.move("/second", sent)
        with pytest.raises(FetchFailed):
            await Fetcher(resolve=start, allow_hosts=["start.test"]).fetch(FetchRequest(url=first))
        assert contacts == [("127.0.0.1", web.port)] * 2
        assert listener.count == 0

    await await_each([form for form in FORMS if form not in PATHS], check)


@pytest.mark.parametrize(
    "address",
    ["93.184.216.34", "1.1.1.1", "172.32.0.1", "100.128.0.1", "::ffff:1.1.1.1", "2606:4700::1111"],
)
def test_the_open_internet_is_open(address: str) -> None:
    check_address(address)


@pytest.mark.parametrize("url", ["https://example.org", "http://example.org:8080/a?b=c@d#e"])
def test_plain_addresses_are_tried(url: str) -> None:
    assert check_url(url).hostname == "example.org"


def test_an_address_says_why_it_is_refused() -> None:
    with pytest.raises(ForbiddenAddress, match=r"10\.0\.0\.1 is not a public address"):
        check_address("10.0.0.1")


async def test_a_name_is_looked_up_once_and_connected_to_as_checked(web: Sources) -> None:
    asked: list[str] = []

    async def rebind(host: str, port: int) -> Sequence[str]:
        asked.append(host)
        return ["127.0.0.1"] if len(asked) == 1 else ["127.0.0.2"]

    web.serve("/", "here")
    page = await Fetcher(allow_hosts=HERE, resolve=rebind).fetch(
        FetchRequest(url=f"http://name.test:{web.port}/")
    )
    assert page.body == b"here"
    assert asked == ["name.test"]


async def test_every_redirect_is_checked_anew(web: Sources, contacts: Contacts) -> None:
    for number, target in enumerate(("http://127.0.0.1/", "//10.0.0.1/", "file:///etc/passwd")):
        web.move(f"/{number}", target)
        with pytest.raises(FetchFailed):
            await Fetcher().fetch(FetchRequest(url=f"{web.url}/{number}", is_trusted=True))
    assert contacts == [("127.0.0.1", web.port)] * 3


async def test_only_a_listed_host_leads_to_a_listed_host_inside(
    web: Sources, contacts: Contacts
) -> None:
    fetcher = Fetcher(allow_hosts=["nas.lan", "cloud.lan"], resolve=resolving("127.0.0.1"))
    web.serve("/inside", "here")
    first = web.move("/first", f"http://cloud.lan:{web.port}/inside")
    outside = FetchRequest(url=first.replace("127.0.0.1", "page.test"), is_trusted=True)
    with pytest.raises(FetchFailed, match="not a public address"):
        await fetcher.fetch(outside)
    assert contacts == [("127.0.0.1", web.port)]
    inside = FetchRequest(url=first.replace("127.0.0.1", "nas.lan"))
    assert (await fetcher.fetch(inside)).body == b"here"


async def test_so_many_redirects_are_followed_and_no_more(web: Sources) -> None:
    for number in range(7):
        web.move(f"/{number}", f"/{number + 1}", status=307)
    web.serve("/7", "end")
    fetcher = Fetcher(allow_hosts=HERE)
    assert (await fetcher.fetch(FetchRequest(url=f"{web.url}/2"))).body == b"end"
    with pytest.raises(FetchFailed, match="more than 5 times"):
        await fetcher.fetch(FetchRequest(url=f"{web.url}/1"))


async def test_own_headers_are_shown_to_no_other_address(web: Sources) -> None:
    url = web.move("/a", "/b")
    with pytest.raises(FetchFailed, match="redirects"):
        await Fetcher(allow_hosts=HERE).fetch(FetchRequest(url=url, headers={"Authorization": "x"}))
    assert [path for path, _ in web.asked] == ["/a"]


def resolving(address: str) -> Resolve:
    """Every name leads to one address."""

    async def resolve(host: str, port: int) -> Sequence[str]:
        return [address]

    return resolve


@pytest.mark.parametrize("listed", ["cloud.lan", "Cloud.LAN.", "cloud.lan:{port}"])
@pytest.mark.parametrize("asked", ["cloud.lan", "CLOUD.lan", "cloud.lan."])
async def test_a_host_that_an_owner_listed_may_be_inside(
    web: Sources, listed: str, asked: str
) -> None:
    web.serve("/", "here")
    fetcher = Fetcher(allow_hosts=[listed.format(port=web.port)], resolve=resolving("127.0.0.1"))
    page = await fetcher.fetch(FetchRequest(url=f"http://{asked}:{web.port}/"))
    assert page.body == b"here"


@pytest.mark.parametrize(
    "url",
    [
        "http://other.lan:{port}/",
        "http://127.0.0.1:{port}/",
        "http://a.cloud.lan:{port}/",
        "http://cloud.lan.example:{port}/",
        "http://cloud.lan:1/",
        "http://cloud.lan/",
        "http://cloud.lan:{port}@127.0.0.1:{port}/",
    ],
)
async def test_a_listed_host_opens_no_other_host_and_no_other_port(
    web: Sources, contacts: Contacts, url: str
) -> None:
    fetcher = Fetcher(
        allow_hosts=[f"cloud.lan:{web.port}", "nas.lan:80"], resolve=resolving("127.0.0.1")
    )
    with pytest.raises(FetchFailed):
        await fetcher.fetch(FetchRequest(url=url.format(port=web.port)))
    assert contacts == []


async def test_a_listed_host_sends_nobody_on_to_another_one_inside(
    web: Sources, contacts: Contacts
) -> None:
    url = web.move("/", f"http://other.lan:{web.port}/secret").replace("127.0.0.1", "cloud.lan")
    fetcher = Fetcher(allow_hosts=["cloud.lan"], resolve=resolving("127.0.0.1"))
    with pytest.raises(FetchFailed, match=r"127\.0\.0\.1 is not a public address"):
        await fetcher.fetch(FetchRequest(url=url))
    assert contacts == [("127.0.0.1", web.port)]


async def test_a_trusted_server_may_be_anywhere(web: Sources) -> None:
    url = web.serve("/a", "in here")
    page = await Fetcher().fetch(FetchRequest(url=url, is_trusted=True))
    assert page.body == b"in here"


@pytest.mark.parametrize("encoding", ["gzip", "deflate"])
async def test_what_is_packed_is_unpacked(web: Sources, encoding: str) -> None:
    body = b"hello " * 50_000
    packed = gzip.compress(body) if encoding == "gzip" else zlib.compress(body)
    web.pages["/"] = Served(body=packed, headers={"Content-Encoding": encoding})
    page = await Fetcher(allow_hosts=HERE).fetch(FetchRequest(url=web.url))
    assert page.body == body


@pytest.mark.slow
@pytest.mark.parametrize(
    ("size", "encoding"), [(MOST_BYTES + 1, ""), (200_000_000, "gzip")], ids=["long", "bomb"]
)
async def test_too_much_is_not_read(web: Sources, size: int, encoding: str) -> None:
    body, headers = bytes(size), {"Content-Encoding": encoding}
    if encoding:
        web.pages["/"] = Served(body=gzip.compress(body, 1), headers=headers)
    else:
        web.pages["/"] = Served(body=body)
    with pytest.raises(FetchFailed, match="larger than 3 MB"):
        await Fetcher(allow_hosts=HERE).fetch(FetchRequest(url=web.url))


@pytest.mark.parametrize("encoding", ["br", "zstd", "gzip, gzip"])
async def test_what_is_packed_otherwise_is_refused(web: Sources, encoding: str) -> None:
    web.pages["/"] = Served(body=b"x", headers={"Content-Encoding": encoding})
    with pytest.raises(FetchFailed, match="not requested"):
        await Fetcher(allow_hosts=HERE).fetch(FetchRequest(url=web.url))


async def test_broken_packing_and_an_absent_page_are_told(web: Sources) -> None:
    web.pages["/"] = Served(body=b"no gzip", headers={"Content-Encoding": "gzip"})
    fetcher = Fetcher(allow_hosts=HERE)
    with pytest.raises(FetchFailed, match="encoding is broken"):
        await fetcher.fetch(FetchRequest(url=web.url))
    with pytest.raises(FetchFailed, match="status 404"):
        await fetcher.fetch(FetchRequest(url=f"{web.url}/gone"))


@pytest.fixture
async def silent() -> AsyncIterator[int]:
    """A port on which somebody listens who never answers."""
    stop = asyncio.Event()

    async def wait(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await stop.wait()
        writer.close()

    server = await asyncio.start_server(wait, "127.0.0.1", 0)
    yield server.sockets[0].getsockname()[1]
    stop.set()
    server.close()


async def test_a_server_that_never_answers_is_given_up(silent: int) -> None:
    fetcher = Fetcher(allow_hosts=HERE, seconds=0.1)
    with pytest.raises(FetchFailed, match=r"longer than 0\.1 s"):
        await fetcher.fetch(FetchRequest(url=f"http://127.0.0.1:{silent}/"))
    assert fetching.SECONDS == 15.0
