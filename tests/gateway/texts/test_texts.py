"""Texts for people: complete in every language, and all on one page for review."""

import re
from collections.abc import Iterator
from pathlib import Path

import polib
import pytest

from gateway.commands.catalog import make_menu
from gateway.texts import skills
from tools import texts

_MOST_WORDS = 20
_FORBIDDEN = re.compile(
    r"\b(the house|turn \{|request id|by itself|is told|any more\)|mended|owed|afresh)\b"
)
_COMMAND_IN_CODE = re.compile(rf"`/(?:{'|'.join(entry.name for entry in make_menu())})\b(?!/)")
"""Where people type commands differently, only those outside of code are written so."""


@pytest.mark.slow
def test_the_catalogues_are_complete_and_the_page_is_current() -> None:
    assert texts.list_outdated(fix=False) == []


@pytest.mark.parametrize("between", ["", " ", "\n"])
def test_a_translation_that_says_everything_twice_is_refused(between: str) -> None:
    once = "Ich habe {n} Notizen. Sende /memory."
    catalogue = polib.POFile()
    catalogue.append(polib.POEntry(msgid="I have {n} notes. Send /memory.", msgstr=once))
    assert list(texts.list_faults("de", catalogue)) == []
    catalogue[0].msgstr = f"{once}{between}{once}"
    (fault,) = texts.list_faults("de", catalogue)
    assert "twice" in fault


def test_every_text_is_short_and_plain() -> None:
    assert [fault for one in texts.find_sentences() for fault in _find_faults(one)] == []


def test_a_summary_fits_into_a_menu_in_every_language() -> None:
    summaries = [one for one in texts.find_sentences() if one.is_summary]
    assert summaries
    for one in summaries:
        assert one.english[0].isupper()
        for language in texts.LANGUAGES:
            assert len(texts.render(one, language, None)) <= texts.MOST_SUMMARY, one


def _find_faults(sentence: texts.Sentence) -> Iterator[str]:
    if found := _FORBIDDEN.search(sentence.english):
        yield f"{found[0]!r} in {sentence.english!r}"
    if found := _COMMAND_IN_CODE.search(sentence.english):
        yield f"{found[0]!r} in {sentence.english!r}"
    for line in sentence.english.split("\n"):
        for part in re.split(r"(?<=[.?!:;])\s", line):
            if len(part.split()) > _MOST_WORDS and "/settings" not in part:
                yield f"more than {_MOST_WORDS} words: {part!r}"


def test_every_bundled_skill_has_a_sentence_for_people() -> None:
    folder = Path(__file__).parents[3] / "skills_bundled"
    bundled = {path.parent.name for path in folder.glob("*/SKILL.md")}
    assert {name for name in bundled if skills.summarize_bundled(name)} == bundled
    assert skills.summarize_bundled("my-own") is None
