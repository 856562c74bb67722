"""Words that were deleted: pages say so, and show no mark of the storage."""

import pytest

from agent_core.localization import use_language
from agent_core.state.lifecycle.redact import ERASED, FORGOTTEN
from gateway.texts.privacy import show_words


@pytest.mark.parametrize("mark", [FORGOTTEN, ERASED])
def test_a_mark_of_the_storage_is_shown_as_a_sentence(mark: str) -> None:
    assert show_words(mark) == "(These words were deleted.)"
    with use_language("de"):
        assert show_words(mark) == "(Diese Worte wurden gelöscht.)"


def test_other_words_are_shown_as_they_are() -> None:
    assert show_words("a [forgotten] umbrella") == "a [forgotten] umbrella"
