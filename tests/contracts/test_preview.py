"""What a platform would show of a text is told before anything is sent."""

from adapters.abilities import CanPreview
from tests.contracts.long_text import LONG
from tests.contracts.rig import Rig
from tests.contracts.speech import able


async def test_a_short_text_is_one_message_with_its_words(resting: Rig) -> None:
    (shown,) = able(resting, CanPreview).preview("**Digest**\n\nThree things & *one* more.")
    for words in ("Digest", "Three things", "one", "more."):
        assert words in shown


async def test_a_long_text_is_told_in_the_messages_that_it_is_cut_into(resting: Rig) -> None:
    adapter = able(resting, CanPreview)
    shown = adapter.preview(LONG)
    assert len(shown) == len(resting.adapter.split(LONG))
    assert "".join(shown).count("print(") == 600
    assert shown[-1].endswith("The end.")


async def test_looking_at_a_text_changes_nothing(resting: Rig) -> None:
    adapter = able(resting, CanPreview)
    assert adapter.preview(LONG) == adapter.preview(LONG)
