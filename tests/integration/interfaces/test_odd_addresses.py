"""No number and no text in the address of a page or of the API is a fault of the server."""

import re
from collections.abc import Iterator
from urllib.parse import quote

import aiohttp
import pytest
from yarl import URL

from gateway.interfaces.pages.routes import _VIEWS
from tests.architecture.source import ROOT
from tests.integration.interfaces.api_setup import OLGA, Setup, make_token
from tests.integration.interfaces.console_setup import browse_as

NUMBERS = ("9" * 19, "9" * 5000, "-1", "-" + "9" * 30, "1e400", "NaN", "0x10", "", "1_0", " 7")
TEXTS = ("٣", "²", "%00", "%ED%A0%80", "%FF", "a%0D%0Ab", "..%2F..", "💥" * 300, "a" * 5000)
VALUES = (*NUMBERS, *(one if "%" in one else quote(one) for one in TEXTS))
_ASKED = re.compile(r'(?:read_number\(|query_params\.get\(|query\.get\(|asked\.get\()"(\w+)"')


def list_names() -> list[str]:
    """The query parameters that the pages read."""
    folder = ROOT / "gateway" / "interfaces"
    found = (name for path in folder.rglob("*.py") for name in _ASKED.findall(path.read_text()))
    # "look" searches this machine for model servers.
    return sorted({*found, "when", "month", "day", "in", "path"} - {"look"})


def list_addresses(path: str, names: list[str]) -> Iterator[str]:
    """A path with each odd value in the place of each parameter, and in each query."""
    parameters = re.findall(r"\{[^}]+\}", path)
    plain = re.sub(r"\{[^}]+\}", "1", path)
    for value in VALUES:
        for parameter in parameters:
            yield re.sub(r"\{[^}]+\}", "1", path.replace(parameter, value))
        yield f"{plain}?" + "&".join(f"{name}={value}" for name in names)


async def find_faults(
    session: aiohttp.ClientSession, origin: str, paths: list[str], names: list[str]
) -> list[str]:
    faults = []
    for path in paths:
        for address in list_addresses(path, names):
            async with session.get(URL(f"{origin}{address}", encoded=True)) as answer:
                if answer.status >= 500:
                    faults.append(f"{answer.status} {address[:60]}")
    return faults


@pytest.mark.thorough
async def test_no_address_of_a_page_is_a_fault(setup: Setup) -> None:
    origin = str(setup.served.address.origin())
    async with browse_as(setup.served, setup.chat, OLGA) as session:
        paths = [*_VIEWS, "/history", "/files/{key}", "/start", "/data/export"]
        assert await find_faults(session, origin, paths, list_names()) == []


@pytest.mark.thorough
async def test_no_address_of_the_api_is_a_fault(setup: Setup) -> None:
    origin = str(setup.served.address.origin())
    token = await make_token(setup.home, "olga", "manage", "fuzz")
    head = {"Authorization": f"Bearer {token}"}
    async with aiohttp.ClientSession(headers=head) as session:
        async with session.get(f"{origin}/api/openapi.json") as answer:
            assert answer.status == 200
            described = await answer.json()
        paths = [path for path, verbs in described["paths"].items() if "get" in verbs]
        names = {
            one["name"]
            for path in paths
            for one in described["paths"][path]["get"].get("parameters", ())
            if one["in"] == "query"
        }
        assert len(paths) > 10
        assert await find_faults(session, origin, paths, sorted(names)) == []
