"""Sentences in the reader's language."""

import asyncio
from datetime import datetime

import pytest

from agent_core.localization import (
    Plural,
    Text,
    choose_language,
    find_language,
    format_moment,
    format_number,
    format_size,
    join_list,
    use_language,
)

_INVALID = Text("That code is invalid, expired or already used. Ask for a new one.")
_NOTES = Plural("**Archive: {n:,} note**", "**Archive: {n:,} notes**")


def test_a_sentence_is_in_the_language_in_use() -> None:
    assert _INVALID() == "That code is invalid, expired or already used. Ask for a new one."
    with use_language("de"):
        assert _INVALID().startswith("Dieser Code ist falsch")
        with use_language("en"):
            assert _INVALID().startswith("That code")
        assert _INVALID().startswith("Dieser Code ist falsch")
    assert find_language() == "en"


@pytest.mark.parametrize(
    ("language", "count", "shown"),
    [
        ("en", 1, "**Archive: 1 note**"),
        ("en", 1234, "**Archive: 1,234 notes**"),
        ("de", 1, "**Archiv: 1 Notiz**"),
        ("de", 0, "**Archiv: 0 Notizen**"),
        ("de", 1234, "**Archiv: 1.234 Notizen**"),
    ],
)
def test_a_plural_follows_the_language(language: str, count: int, shown: str) -> None:
    with use_language(language):
        assert _NOTES(count) == shown


def test_a_sentence_without_a_translation_stays_english() -> None:
    with use_language("de"):
        assert Text("Nobody translated {what}.")(what="this") == "Nobody translated this."


@pytest.mark.parametrize(
    ("tags", "language"),
    [
        (("de",), "de"),
        (("de-AT",), "de"),
        (("DE_ch",), "de"),
        (("fr", "de"), "de"),
        ((None, "de"), "de"),
        (("", None), "en"),
        (("fr",), "en"),
        ((), "en"),
    ],
)
def test_the_first_language_with_a_catalogue_is_chosen(
    tags: tuple[str | None, ...], language: str
) -> None:
    assert choose_language(*tags) == language


async def test_a_task_has_the_language_of_whoever_started_it() -> None:
    async def find() -> str:
        await asyncio.sleep(0)
        return find_language()

    with use_language("de"):
        task = asyncio.create_task(find())
    assert await task == "de"
    assert find_language() == "en"


def test_lists_dates_and_sizes_follow_the_language() -> None:
    moment = datetime(2026, 11, 23, 8, 5)
    assert join_list([]) == ""
    assert join_list(["a"]) == "a"
    assert join_list(["a", "b", "c"]) == "a, b, and c"
    assert format_moment(moment) == "Mon 2026-11-23 08:05"
    assert format_size(2_500_000) == "2.5 MB"
    assert format_number(0.876, ".0%") == "88%"
    with use_language("de"):
        assert join_list(["a", "b", "c"]) == "a, b und c"
        assert format_moment(moment) == "Mo 23.11.2026 08:05"
        assert format_size(2_500_000) == "2,5 MB"
        assert format_size(25_000_000) == "25 MB"
        assert format_number(0.876, ".0%") == "88\N{NO-BREAK SPACE}%"
