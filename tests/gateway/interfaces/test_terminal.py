"""The terminal's side of the console's socket, and what a typed number stands for."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
from prompt_toolkit.formatted_text import fragment_list_to_text

from adapters.console.adapter import ConsoleAdapter
from adapters.console.settings import ConsoleSettings
from adapters.ids import Address, PlatformMessageId
from adapters.messages import Button, ButtonPress, OutboundMessage
from gateway.interfaces.terminal.choices import Offer, mark_choices, write_choices
from gateway.interfaces.terminal.socket_client import Choice, ConsoleLink, Gone, Line, News, Shown
from tests.fakes.inlet import FakeInlet
from tests.patience import PATIENCE

HERE = Address(chat_id="local", is_direct=True)
ASKED = OutboundMessage(
    address=HERE,
    text="Which\x1b[2J?",
    key="k1",
    buttons=(Button(key="r:1", label="Red\x1b[1m\n  or so"), Button(key="b:1", label="Blue")),
)

RED, BLUE = (Choice(key=label, label=label, style="plain") for label in ("Red", "Blue"))


def shown(name: str, *choices: Choice, text: str = "x") -> Shown:
    return Shown(id=name, text=text, is_live=False, choices=choices)


def test_a_number_stands_for_a_button_of_the_newest_message_only() -> None:
    offer = Offer()
    assert offer.find("1") is None
    offer.take(shown("a", RED, BLUE), is_new=True)
    assert [offer.find(typed) for typed in ("1", "2", "3", "0", "-1", "01", "1.", "²")] == [
        *(RED, BLUE),
        *(None,) * 6,
    ]
    offer.take(shown("a", BLUE), is_new=False)
    assert (offer.message_id, offer.find("1"), offer.find("2")) == ("a", BLUE, None)
    offer.take(shown("b"), is_new=True)
    assert offer.find("1") is None


def test_what_becomes_of_an_older_message_changes_nothing_about_the_numbers() -> None:
    offer = Offer()
    offer.take(shown("old", RED), is_new=True)
    offer.take(shown("new", BLUE), is_new=True)
    offer.take(shown("old"), is_new=False)
    offer.drop("old")
    assert offer.find("1") == BLUE
    offer.drop("new")
    assert offer.find("1") is None


def test_the_buttons_of_a_message_stand_in_a_line_whatever_their_labels() -> None:
    odd = Choice(key="o", label="[bold]Odd[/]", style="good")
    assert (
        fragment_list_to_text(write_choices(mark_choices(shown("a", RED, odd))))
        == "1\xa0Red · 2\xa0[bold]Odd[/]"
    )


def test_below_a_numbered_list_a_number_means_the_thing_in_the_list() -> None:
    four = Choice(key="c:jobs:4", label="call Ada", style="plain")
    seven = Choice(key="c:jobs:7", label="weather", style="plain")
    every = Choice(key="c:jobs", label="All reminders", style="plain")
    listed = "Your reminders:\n\n- **weather** (7): daily\n- **call Ada** (4): Mon 30 Nov, 8:00"
    offer = Offer()
    offer.take(shown("a", seven, four, every, text=listed), is_new=True)
    assert [offer.find(typed) for typed in ("4", "7", "a", "1")] == [four, seven, every, None]
    written = write_choices(mark_choices(shown("a", seven, four, every, text=listed)))
    assert fragment_list_to_text(written) == "7\xa0weather · 4\xa0call Ada · a\xa0All reminders"


def test_buttons_below_numbers_of_other_things_have_letters() -> None:
    undo = Choice(key="c:undo:2", label="Undo", style="plain")
    offer = Offer()
    offer.take(shown("a", RED, undo, text="Two ways:\n\n1. red\n2. blue"), is_new=True)
    assert [offer.find(typed) for typed in ("1", "2", "a", "b")] == [None, None, RED, undo]
    twice = (
        Choice(key="c:jobs:4", label="x", style="plain"),
        Choice(key="c:jobs:4", label="y", style="plain"),
    )
    offer.take(shown("b", *twice, text="4. this"), is_new=True)
    assert [offer.find(typed) for typed in ("4", "a", "b")] == [None, *twice]


class Wire:
    """A console adapter and a terminal that is connected to it."""

    def __init__(self, path: Path) -> None:
        self.inlet = FakeInlet()
        self.adapter = ConsoleAdapter(ConsoleSettings(socket=path))
        self.link = ConsoleLink(path, self._hear, shows_buttons=True)
        self.news: asyncio.Queue[News] = asyncio.Queue()

    async def _hear(self, news: News) -> None:
        self.news.put_nowait(news)


@pytest.fixture
async def wire(tmp_path: Path) -> AsyncIterator[Wire]:
    wire = Wire(tmp_path / "console.sock")
    lives = [asyncio.create_task(wire.adapter.run(wire.inlet))]
    async with asyncio.timeout(PATIENCE):
        while wire.adapter.health().state != "connected":
            await asyncio.sleep(0)
        lives.append(asyncio.create_task(wire.link.run()))
        assert await wire.news.get() == Line(is_up=True)
        while not wire.inlet.noticed:
            await asyncio.sleep(0)
        yield wire
    for life in lives:
        life.cancel()
    await asyncio.gather(*lives, return_exceptions=True)


async def test_shown_text_has_no_terminal_control_codes(
    wire: Wire,
) -> None:
    await wire.adapter.send(ASKED)
    news = await wire.news.get()
    assert isinstance(news, Shown)
    assert news.text == "Which[2J?"
    assert [choice.label for choice in news.choices] == ["Red[1m or so", "Blue"]


async def test_a_press_is_repeated_until_the_gateway_has_stored_it(wire: Wire) -> None:
    wire.inlet.refusals = 1
    asked = await wire.adapter.send(ASKED)
    await wire.link.press(asked, "b:1")
    (event,) = wire.inlet.taken.values()
    found = wire.adapter.receive(event)
    assert isinstance(found, ButtonPress)
    assert (found.message_id, found.key) == (asked, "b:1")


async def test_a_deletion_is_shown_and_acknowledged(wire: Wire) -> None:
    status = replace(ASKED, text="Searching…", buttons=(), is_live=True, is_silent=True)
    message_id = await wire.adapter.send(status)
    await wire.adapter.delete(HERE, message_id)
    await wire.adapter.delete(HERE, PlatformMessageId("never there"))
    assert isinstance(await wire.news.get(), Shown)
    assert await wire.news.get() == Gone(id="k1")
    assert await wire.news.get() == Gone(id="never there")


async def test_eyes_on_a_message_are_nothing_to_a_terminal(wire: Wire) -> None:
    await wire.adapter.react(HERE, PlatformMessageId("m1"), seen=True)
    await wire.adapter.send(ASKED)
    assert isinstance(await wire.news.get(), Shown)
