"""The ranking of skills: fields, pairs, topics in two languages, parts of words, and meaning."""

from collections.abc import Sequence
from importlib.resources import files

import pytest

from agent_core.skills.tools.directory import SkillIndex

TEXTS = [
    ("plant-doctor", "Finds out why a plant suffers.", "Look at pests, water and light."),
    ("invoice-maker", "Creates invoices with VAT.", "Ask for the customer and the hours."),
    ("nginx-logs", "Analyses access logs.", "Count the errors 502 and 504."),
    ("sleep-log", "Keeps a log of sleep.", "Note the hours, and ask for the reasons."),
    ("tidy", "Tidies up.", "Plants, invoices and logs are not what this is for."),
]


def first(query: str) -> str:
    found = SkillIndex(TEXTS).rank(query)
    return TEXTS[found[0]][0] if found else ""


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("my rose has yellow leaves", "plant-doctor"),
        ("meine Pflanzen lassen die Blätter hängen", "plant-doctor"),
        ("bitte schreib eine Rechnung", "invoice-maker"),
        ("eine Rechnungsvorlage", "invoice-maker"),
        ("I slept badly", "sleep-log"),
        ("what are all these 502 about?", "nginx-logs"),
        ("invoice-maker", "invoice-maker"),
        ("can you please help me with something?", ""),
        ("kannst du mir bitte mal zeigen", ""),
        ("", ""),
    ],
)
def test_a_skill_is_found_by_words_of_its_topic(query: str, name: str) -> None:
    assert first(query) == name


def test_a_description_weighs_more_than_a_text() -> None:
    assert [TEXTS[number][0] for number in SkillIndex(TEXTS).rank("invoices")] == [
        "invoice-maker",
        "tidy",
    ]


def test_a_weak_hit_in_a_text_alone_is_left_out() -> None:
    index = SkillIndex(TEXTS)
    assert [TEXTS[number][0] for number in index.rank("reasons")] == ["sleep-log"]
    assert index.rank("reasons", 0.8) == []
    assert index.rank("invoices", 0.8) == [1]


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("the cello sounds wrong", "violin"),
        ("mein Klavier klingt schief", "violin"),
        ("das Schiff ist zu langsam", "boat-trim"),
        ("hello", ""),
        ("good morning", ""),
        ("thanks, that was great", ""),
    ],
)
def test_a_skill_is_found_by_its_meaning_without_a_common_word(query: str, name: str) -> None:
    texts = [("boat-trim", "Trims the sails of a boat.", ""), ("violin", "Tunes a violin.", "")]
    found = [texts[number][0] for number in SkillIndex(texts).rank(query)]
    assert found == ([name] if name else [])


def rank(texts: Sequence[tuple[str, str, str]], query: str) -> list[str]:
    return [texts[number][0] for number in SkillIndex(texts).rank(query)]


def test_words_side_by_side_in_a_request_count_more_side_by_side_in_a_skill() -> None:
    query = "walk on the river bank"
    apart, beside = "Bank, gravel, river.", "Gravel, river, bank."
    assert rank([("x-1", apart, ""), ("x-2", beside, "")], query) == ["x-2", "x-1"]
    assert rank([("x-1", "Same.", apart), ("x-2", "Same.", beside)], query) == ["x-2", "x-1"]
    first = "Gravel. " * 400  # pairs count at the start of a text only
    texts = [("x-1", "Same.", first + apart), ("x-2", "Same.", first + beside)]
    assert rank(texts, query) == ["x-1", "x-2"]


def test_a_word_that_is_frequent_in_general_counts_less() -> None:
    texts = [("x-1", "Same.", "Nobody."), ("x-2", "Same.", "Gaskets.")]
    assert rank(texts, "nobody, gaskets") == ["x-2", "x-1"]


def test_a_word_that_others_only_mention_in_their_texts_stays_rare() -> None:
    others = [(f"other-{letter}", "Different.", "A gasket.") for letter in "abcdefgh"]
    texts = [("gasket", "Cuts it.", ""), ("zinc", "Coats it.", ""), ("zinc-too", "Coats it.", "")]
    assert rank([*texts, *others], "gasket zinc")[0] == "gasket"


def test_a_skill_whose_name_is_a_word_of_asking_is_found_by_it() -> None:
    assert SkillIndex([("help", "Lists what is there.", "")]).rank("help") == [0]


@pytest.mark.parametrize(("pasted", "name"), [(3_000, "invoice-maker"), (300_000, "")])
def test_a_request_is_read_up_to_a_length(pasted: int, name: str) -> None:
    assert first(f"{'- ' * (pasted // 2)}an invoice") == name


def test_no_skills_are_no_error() -> None:
    assert SkillIndex([]).rank("anything") == []


def test_every_line_of_the_table_relates_words() -> None:
    table = files("agent_core.skills.tools").joinpath("topics.txt").read_text(encoding="utf-8")
    for line in table.splitlines():
        words = line.split()
        assert len(words) == len(set(words)) > 1, line
