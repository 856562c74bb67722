"""The ranking of skills: fields, topics in two languages, parts of long words, and meaning."""

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


def test_a_skill_whose_name_is_a_word_of_asking_is_found_by_it() -> None:
    assert SkillIndex([("help", "Lists what is there.", "")]).rank("help") == [0]


def test_no_skills_are_no_error() -> None:
    assert SkillIndex([]).rank("anything") == []


def test_every_line_of_the_table_relates_words() -> None:
    table = files("agent_core.skills.tools").joinpath("topics.txt").read_text(encoding="utf-8")
    for line in table.splitlines():
        words = line.split()
        assert len(words) == len(set(words)) > 1, line
