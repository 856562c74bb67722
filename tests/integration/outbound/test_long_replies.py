"""Long command replies arrive completely, however short the platform's messages are."""

from pathlib import Path

from tests.integration.shared_harness import shared_harness

MANY = [f"entry {number} " + "y" * 40 for number in range(30)]


async def test_a_long_list_is_split_into_messages_that_fit(tmp_path: Path) -> None:
    async with shared_harness(tmp_path) as here:
        await here.says("ann", "hello")
        here.remember("ann", *MANY)
        chat = here.harness.chat
        before = len(chat.shown)
        await here.says("ann", "/memory")
        parts = chat.shown[before:]
        assert len(parts) > 1
        assert all(len(part.text) <= chat.limit for part in parts)
        listed = "".join(part.text for part in parts)
        assert [entry for entry in MANY if entry not in listed] == []
        assert [part.is_silent for part in parts] == [False] + [True] * (len(parts) - 1)


async def test_the_buttons_of_a_long_answer_are_below_its_end(tmp_path: Path) -> None:
    async with shared_harness(tmp_path) as here:
        await here.says("ann", "hello")
        chat = here.harness.chat
        for turn in range(9):
            here.remember("ann", "word " * 55 + str(turn))
            number = await here.number_of("ann", "word " * 55 + str(turn))
        before = len(chat.shown)
        await here.says("ann", f"/why {number}")
        *head, last = chat.shown[before:]
        assert head
        assert [part.labels for part in head] == [[]] * len(head)
        assert last.labels == ["Undo"]
        assert all(len(part.text) <= chat.limit for part in (*head, last))
        await chat.press("Undo", user="ann", name="ann", chat="ann")
        await here.harness.at_rest()
        assert chat.shown[-1].text.startswith("↩ Taken back. ")
