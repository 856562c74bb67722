"""The page Files: one's own workspace, with the walls that tools have."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest

from tests.fakes.chat import FakeChat
from tests.fakes.model import FakeModel
from tests.integration.interfaces.api_setup import OLGA, make_token
from tests.integration.interfaces.console_setup import browse_as
from tests.integration.served import served


@pytest.fixture
def place(home: Path) -> Path:
    """Olga's workspace, with a file, a folder, and links that lead out of it."""
    folder = home / "workspaces" / "olga"
    (folder / "notes").mkdir(parents=True)
    (folder / "list.txt").write_text("tea")
    (folder / "notes" / "a b.md").write_text("# Hi")
    other = home / "workspaces" / "zebrana"
    other.mkdir(parents=True)
    (other / "secret.txt").write_text("bluefishfile")
    (folder / "out").symlink_to(other / "secret.txt")
    (folder / "away").symlink_to(other)
    (folder / "inner").symlink_to(folder / "list.txt")
    with (home / "config.toml").open("a") as config:
        config.write('[tools]\nbackend = "local"\n')
    return folder


@pytest.fixture
async def session(home: Path, place: Path) -> AsyncIterator[aiohttp.ClientSession]:
    del place  # it is made before the gateway starts
    chat = FakeChat()
    async with (
        served(home, adapters={"fake": chat}, model=FakeModel()) as running,
        browse_as(running, chat, OLGA) as opened,
    ):
        yield opened


async def get(session: aiohttp.ClientSession, page: str, **query: str) -> tuple[int, str]:
    async with session.get(page, params=query) as answer:
        return answer.status, await answer.text()


async def test_a_program_lists_reads_and_adds_files_of_its_own_person(
    home: Path, place: Path
) -> None:
    async with served(home, adapters={"fake": FakeChat()}, model=FakeModel()) as running:
        token = await make_token(home, "olga", "manage")
        head = {"Authorization": f"Bearer {token}"}
        origin = running.address.origin()
        async with aiohttp.ClientSession(origin, headers=head) as api:
            async with api.get("/api/files") as answer:
                files = (await answer.json())["files"]
            assert [(one["name"], one["is_folder"]) for one in files] == [
                ("notes", True),
                ("list.txt", False),
            ]
            async with api.get("/api/files/content", params={"path": "notes/a b.md"}) as answer:
                assert (answer.status, await answer.text()) == (200, "# Hi")
            for path in ("out", "../zebrana/secret.txt", "none.txt", "/etc/passwd"):
                async with api.get("/api/files/content", params={"path": path}) as answer:
                    assert answer.status == 409, path
                    assert "bluefish" not in await answer.text()
            for expected in ("list (2).txt", "list (3).txt"):
                async with api.post(
                    "/api/files", params={"path": "list.txt"}, data=b"milk"
                ) as answer:
                    assert (answer.status, await answer.json()) == (201, {"path": expected})
            assert (place / "list.txt").read_text() == "tea"
            assert (place / "list (2).txt").read_bytes() == b"milk"
        reader = {"Authorization": f"Bearer {await make_token(home, 'olga', 'api')}"}
        async with (
            aiohttp.ClientSession(origin, headers=reader) as api,
            api.post("/api/files", params={"path": "x.txt"}, data=b"x") as answer,
        ):
            assert answer.status == 403


async def test_files_are_listed_opened_and_saved_but_never_shown(
    session: aiohttp.ClientSession,
) -> None:
    status, text = await get(session, "/workspace")
    assert (status, "list.txt" in text, "notes/" in text) == (200, True, True)
    assert [name for name in ("out", "away", "inner", "secret") if f">{name}<" in text] == []
    status, text = await get(session, "/workspace", **{"in": "notes"})
    assert (status, "a b.md" in text) == (200, True)
    async with session.get("/workspace/file", params={"path": "notes/a b.md"}) as answer:
        assert (answer.status, await answer.text()) == (200, "# Hi")
        assert answer.headers["Content-Disposition"].startswith("attachment")
        assert answer.headers["Content-Type"] == "application/octet-stream"


@pytest.mark.parametrize(
    "path",
    [
        "out",
        "inner",
        "away/secret.txt",
        "../zebrana/secret.txt",
        "notes/../../zebrana/secret.txt",
        "/etc/passwd",
        "notes",
        "nothing.txt",
        "x" * 5000,
    ],
)
async def test_no_path_and_no_link_leads_out(session: aiohttp.ClientSession, path: str) -> None:
    status, text = await get(session, "/workspace/file", path=path)
    assert (status, "bluefishfile" in text, "root:" in text) == (409, False, False)
    assert (await get(session, "/workspace", **{"in": f"{path}/.."}))[0] in (200, 409)
    listed = await get(session, "/workspace", **{"in": path.rpartition("/")[0] or "away"})
    assert "secret.txt" not in listed[1]


async def test_an_added_file_replaces_none_and_stays_inside(
    session: aiohttp.ClientSession, place: Path
) -> None:
    async def add(name: str, folder: str, data: bytes) -> int:
        query = {"in": folder, "name": name}
        async with session.post("/workspace/add", params=query, data=data) as answer:
            return answer.status

    assert await add("list.txt", "", b"milk") == 201
    assert (place / "list.txt").read_text() == "tea"
    assert (place / "list (2).txt").read_text() == "milk"
    assert await add("../../zebrana/x.txt", "", b"x") == 201
    assert (place / "x.txt").read_text() == "x", "only the name counts"
    assert not (place.parent / "zebrana" / "x.txt").exists()
    for name, folder in (("y.txt", "../zebrana"), ("y.txt", "away"), ("", ""), ("..", "")):
        assert await add(name, folder, b"y") == 422, (name, folder)
    assert sorted(one.name for one in (place.parent / "zebrana").iterdir()) == ["secret.txt"]
    evil = {"Origin": "http://evil.example"}
    async with session.post("/workspace/add", params={"name": "z"}, headers=evil) as answer:
        assert answer.status == 403


async def test_files_of_one_name_that_come_at_once_are_all_kept(
    session: aiohttp.ClientSession, place: Path
) -> None:
    async def add(data: bytes) -> None:
        async with session.post("/workspace/add", params={"name": "x.png"}, data=data) as answer:
            assert answer.status == 201

    given = [b"1", b"2", b"3", b"4"]
    await asyncio.gather(*map(add, given))
    names = ["x.png", *(f"x ({number}).png" for number in range(2, 5))]
    assert sorted((place / name).read_bytes() for name in names) == given
