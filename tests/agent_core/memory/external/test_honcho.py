"""Honcho by its real SDK: what it is told, what it gives, and how its failings are read."""

from collections.abc import AsyncIterator
from typing import Literal

import pytest
from honcho.http import exceptions as sdk

from agent_core.errors import (
    ExternalMemoryBroken,
    ExternalMemoryError,
    ExternalMemoryRefused,
    ExternalMemoryUnavailable,
)
from agent_core.memory.contract import (
    EntryDigest,
    Exchange,
    ExternalMessage,
    ExternalPersonId,
    ExternalSessionId,
    MemoryProvider,
    MemorySnapshot,
)
from agent_core.memory.external.honcho import create
from agent_core.memory.external.honcho.client import translate
from tests.emulators.honcho import HonchoEmulator

ANN = ExternalPersonId("person-ann")
BOB = ExternalPersonId("person-bob")


@pytest.fixture
async def server() -> AsyncIterator[HonchoEmulator]:
    async with HonchoEmulator() as emulator:
        yield emulator


@pytest.fixture
async def honcho(server: HonchoEmulator) -> AsyncIterator[MemoryProvider]:
    provider = connect(server)
    await provider.start()
    yield provider
    await provider.close()


def connect(server: HonchoEmulator, **options: str) -> MemoryProvider:
    return create({"base_url": server.url, "workspace": "house", **options})


def exchange(
    *texts: str, who: ExternalPersonId = ANN, session_id: str = "talk-1", is_repeat: bool = False
) -> Exchange:
    said = tuple(
        ExternalMessage(
            key=f"message-{text}", is_ours=index % 2 == 1, text=text, at=1_700_000_000_000
        )
        for index, text in enumerate(texts)
    )
    session = ExternalSessionId(session_id)
    return Exchange(who=who, session_id=session, said=said, is_repeat=is_repeat)


def notes(
    *texts: str, kept: dict[EntryDigest, str] | None = None, is_repeat: bool = False
) -> MemorySnapshot:
    entries = {EntryDigest(f"d-{text}"): text for text in texts}
    return MemorySnapshot(who=ANN, entries=entries, kept=kept or {}, is_repeat=is_repeat)


async def test_a_turn_is_told_by_both_and_only_the_person_is_observed(
    server: HonchoEmulator, honcho: MemoryProvider
) -> None:
    await honcho.add_exchange(exchange("I live in Lisbon", "Noted."))
    session = server.sessions["talk-1"]
    assert [(one["peer_id"], one["content"]) for one in session.messages] == [
        (ANN, "I live in Lisbon"),
        ("talaria", "Noted."),
    ]
    assert session.messages[0]["created_at"].startswith("2023-11-14T22:13:20")
    assert session.peers[ANN]["observe_me"] is True
    assert session.peers["talaria"]["observe_me"] is False
    await honcho.add_exchange(exchange("And you?", "Here."))
    assert server.calls["sessions"] == 1, "a session that is known is not made again"


async def test_a_repeat_adds_only_what_is_not_there(
    server: HonchoEmulator, honcho: MemoryProvider
) -> None:
    await honcho.add_exchange(exchange("one", "two"))
    await honcho.add_exchange(exchange("one", "two", "three", is_repeat=True))
    assert server.said == ["one", "two", "three"]


async def test_long_words_and_many_messages_keep_within_what_the_server_takes(
    server: HonchoEmulator, honcho: MemoryProvider
) -> None:
    await honcho.add_exchange(exchange("x" * 60_000, *map(str, range(250))))
    assert len(server.said) == 251
    assert len(server.said[0]) == 24_000


async def test_memory_stands_there_as_it_stands_here(
    server: HonchoEmulator, honcho: MemoryProvider
) -> None:
    kept = await honcho.sync_entries(notes("Likes tea", "Has a dog"))
    assert server.concluded() == ["Likes tea", "Has a dog"]
    kept = await honcho.sync_entries(notes("Likes tea", "Has a cat", kept=dict(kept)))
    assert server.concluded() == ["Likes tea", "Has a cat"]
    assert await honcho.sync_entries(notes(kept=dict(kept))) == {}
    assert server.concluded() == []


async def test_memory_that_was_told_before_a_kill_is_not_told_twice(
    server: HonchoEmulator, honcho: MemoryProvider
) -> None:
    first = await honcho.sync_entries(notes("Likes tea"))
    again = await honcho.sync_entries(notes("Likes tea", "Has a dog", is_repeat=True))
    assert await honcho.sync_entries(notes("Likes tea", "Has a dog")) == again
    assert server.concluded() == ["Likes tea", "Has a dog"]
    assert again[EntryDigest("d-Likes tea")] == first[EntryDigest("d-Likes tea")]


async def test_what_it_makes_of_somebody_is_theirs_alone(honcho: MemoryProvider) -> None:
    assert await honcho.recall(ANN) == ""
    await honcho.add_exchange(exchange("I live in Lisbon"))
    await honcho.add_exchange(exchange("I live in Rome", who=BOB, session_id="talk-2"))
    assert await honcho.recall(ANN) == "I live in Lisbon"


async def test_a_question_is_asked_of_its_person(
    server: HonchoEmulator, honcho: MemoryProvider
) -> None:
    (tool,) = honcho.tools
    assert tool.spec.name == "ask_memory"
    assert await tool.run(ANN, {"question": "Tea?"}) == "of person-ann: Tea?"
    assert server.questions == [(ANN, "Tea?")]


@pytest.mark.slow
async def test_who_is_erased_leaves_a_bare_peer_and_others_stay_whole(
    server: HonchoEmulator, honcho: MemoryProvider
) -> None:
    for number in range(120):
        await honcho.add_exchange(exchange(f"ann {number}", session_id=f"talk-{number}"))
    await honcho.add_exchange(exchange("bob", who=BOB, session_id="talk-bob"))
    await honcho.sync_entries(notes(*(f"entry {number}" for number in range(130))))
    await honcho.delete_person(ANN)
    assert server.said == ["bob"]
    assert server.concluded() == []
    assert server.cards[ANN] == []
    assert await honcho.recall(ANN) == ""
    await honcho.delete_person(ANN)
    await honcho.delete_person(ExternalPersonId("person-nobody"))


async def test_a_dropped_conversation_is_gone_and_one_that_was_never_there_is_no_error(
    server: HonchoEmulator, honcho: MemoryProvider
) -> None:
    await honcho.add_exchange(exchange("words"))
    await honcho.delete_session(ExternalSessionId("talk-1"))
    await honcho.delete_session(ExternalSessionId("talk-1"))
    assert server.said == []


@pytest.mark.parametrize("route", ["representation", "conclusions/list"])
async def test_a_function_that_an_older_server_does_not_have_is_asked_for_once(
    server: HonchoEmulator, honcho: MemoryProvider, route: str
) -> None:
    server.missing |= {"representation", "conclusions", "conclusions/list"}
    await honcho.add_exchange(exchange("words"))
    for _ in range(3):
        assert await honcho.recall(ANN) == ""
        assert await honcho.sync_entries(notes("Likes tea")) == {}
    assert server.calls[route] == 1
    assert honcho.missing_functions == {"representation", "conclusions"}
    await honcho.delete_person(ANN)
    assert server.said == []


async def test_a_server_of_another_api_is_away_with_a_sentence(server: HonchoEmulator) -> None:
    server.missing.add("workspaces")
    provider = connect(server)
    with pytest.raises(ExternalMemoryUnavailable, match="no API version"):
        await provider.start()
    await provider.close()


async def test_a_wrong_key_is_away_with_a_sentence(server: HonchoEmulator) -> None:
    server.key = "right"
    provider = connect(server, api_key="wrong")
    with pytest.raises(ExternalMemoryUnavailable, match="HONCHO_API_KEY"):
        await provider.start()
    await provider.close()


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        (429, ExternalMemoryUnavailable),
        (503, ExternalMemoryUnavailable),
        ("cut", ExternalMemoryUnavailable),
        (500, ExternalMemoryBroken),
        (422, ExternalMemoryRefused),
        (400, ExternalMemoryRefused),
    ],
)
async def test_each_failing_is_one_of_ours_and_nothing_is_tried_twice(
    server: HonchoEmulator,
    honcho: MemoryProvider,
    fault: int,
    kind: type[ExternalMemoryError],
) -> None:
    server.retry_after = "7"
    server.faults = lambda route, body: fault if route == "messages" else None
    with pytest.raises(kind) as caught:
        await honcho.add_exchange(exchange("words"))
    assert server.calls["messages"] == 1
    if fault == 429:
        assert isinstance(caught.value, ExternalMemoryUnavailable)
        assert caught.value.retry_after == 7


@pytest.mark.parametrize("fault", ["garbage", "html"])
async def test_an_answer_of_another_form_is_a_failing_like_others(
    server: HonchoEmulator, honcho: MemoryProvider, fault: Literal["garbage", "html"]
) -> None:
    server.faults = lambda route, body: fault
    (tool,) = honcho.tools
    for work in (
        honcho.start(),
        honcho.recall(ANN),
        honcho.add_exchange(exchange("words", is_repeat=True)),
        honcho.sync_entries(notes("Likes tea")),
        honcho.delete_person(ANN),
        tool.run(ANN, {"question": "Tea?"}),
    ):
        with pytest.raises((ExternalMemoryBroken, ExternalMemoryUnavailable)) as caught:
            await work
        assert "words" not in str(caught.value)


def test_every_error_of_the_sdk_is_one_of_ours() -> None:
    kinds = [
        kind
        for kind in vars(sdk).values()
        if isinstance(kind, type) and issubclass(kind, sdk.HonchoError)
    ]
    assert len(kinds) > 9
    for kind in kinds:
        error = kind("m", status=418) if kind is sdk.APIError else kind("m")
        assert isinstance(translate(error), ExternalMemoryError), kind


async def test_without_a_workspace_it_is_not_made() -> None:
    with pytest.raises(ValueError, match="workspace"):
        create({"workspace": ""})
