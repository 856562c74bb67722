"""A reply to the greeting is read if it says nothing but a city, a language and quiet hours."""

from collections.abc import Mapping

from agent_core.ids import PersonId
from agent_core.spoken_settings import read_introduction, read_settings
from agent_core.state.people.people import Person
from agent_core.tools.clock import read_days
from agent_core.tools.settings_tool import apply_setting, describe_hours, list_values
from tests.agent_core.tools.said_settings_corpus import ACTS, MENTIONS
from tests.tables import check_each

VIENNA, NIGHT = "Europe/Vienna", "22:00-07:00"
READ = (
    ("Vienna", VIENNA, None, ""),
    ("wien", VIENNA, None, ""),
    ("Vienna, quiet 22-7", VIENNA, None, NIGHT),
    ("vienna quiet 22-7", VIENNA, None, NIGHT),
    ("Vienna. Quiet hours from 10 pm to 7 am.", VIENNA, None, NIGHT),
    ("22-7, Vienna", VIENNA, None, NIGHT),
    ("quiet 22-7 in Vienna", VIENNA, None, NIGHT),
    ("I'm in Vienna, 22-7", VIENNA, None, NIGHT),
    ("I live in Vienna and please no messages between 22 and 7", VIENNA, None, NIGHT),
    ("I’m in Vienna, speak German to me", VIENNA, "de", ""),
    ("German please, Vienna, quiet at night", VIENNA, "de", NIGHT),
    ("Vienna, German, 22:00-7:00", VIENNA, "de", NIGHT),
    ("My city is Vienna. My language is German.", VIENNA, "de", ""),
    ("No, I live in New York", "America/New_York", None, ""),
    ("that's wrong, Lisbon", "Europe/Lisbon", None, ""),
    ("UTC+2, quiet 22-7", "Etc/GMT-2", None, NIGHT),
    ("don't disturb me from 10pm to 7am", None, None, NIGHT),
    ("English", None, "en", ""),
    ("in French please", None, "fr", ""),
    ("Vienna & English", VIENNA, "en", ""),
    ("Vienna\nGerman\n22-7", VIENNA, "de", NIGHT),
    ("hi! Vienna, thanks", VIENNA, None, ""),
    ("10pm-7am.", None, None, NIGHT),
    ("Ich wohne in Wien", VIENNA, None, ""),
    ("Wien, Ruhe 22-7", VIENNA, None, NIGHT),
    ("Wien, Ruhe von 22 bis 7 Uhr", VIENNA, None, NIGHT),
    ("wien, deutsch, ruhezeit 22-7", VIENNA, "de", NIGHT),
    ("Ich bin in Wien und möchte von 22 Uhr bis 7 Uhr keine Nachrichten", VIENNA, None, NIGHT),
    ("Ich wohne in Wien, sprich Deutsch mit mir, nachts Ruhe", VIENNA, "de", NIGHT),
    ("Stimmt nicht, Berlin", "Europe/Berlin", None, ""),
    ("Nein, ich lebe in Zürich", "Europe/Zurich", None, ""),
    ("zwischen 22 und 7 bitte nicht stören", None, None, NIGHT),
    ("bitte auf Englisch", None, "en", ""),
    ("Auf Deutsch bitte, ich bin in Graz", VIENNA, "de", ""),
    ("Nachts bitte still, Wien", VIENNA, None, NIGHT),
    ("Meine Stadt ist Wien", VIENNA, None, ""),
)
NOT_READ = (
    *(
        "hello",
        "hi there",
        "nice",
        "ok thanks",
        "",
        "no",
        "quiet please",
        "Ruhe!",
        "22",
        "at night",
    ),
    *("What's the weather in Vienna?", "Vienna?", "I don't live in Vienna", "nicht in Wien"),
    *(
        "Remind me in Vienna to call Ada",
        "Berlin or Vienna",
        "Vienna and Berlin",
        "German and French",
    ),
    *("Translate this to German", "I met Ann in Vienna", "Ich war letzte Woche in Wien"),
    *("My flight to Vienna leaves at 22-7", "Wien ist schön", "do not write to Vienna"),
    *(
        "from Vienna to Berlin",
        "Wann fährt der Zug nach Wien",
        "call me between 10 and 12 about Ann",
    ),
    *("Schreib mir von 8 bis 20 Uhr", "You can write to me from 8 to 22", "I'm here from 9 to 17"),
    *("Wien, du kannst mir zwischen 8 und 20 Uhr schreiben", "Ich bin von 9 bis 17 Uhr hier"),
    "I live in Vienna. " * 12,
)


def read_asked(words: str) -> Mapping[str, str]:
    return {one.name: one.value for one in read_settings(words, is_asked=True)}


def apply(given: Mapping[str, str]) -> Person:
    person = Person(id=PersonId(1), slug="", name="", role="member", time_zone=None)
    for name, value in given.items():
        person = apply_setting(person, name, value)
    return person


def test_a_city_a_language_and_hours_are_read_in_any_order() -> None:
    def check(row: tuple[str, str | None, str | None, str]) -> None:
        words, zone, language, hours = row
        person = apply(read_asked(words))
        assert (person.time_zone, person.language, describe_hours(person)) == (
            zone,
            language,
            hours,
        )

    check_each(READ, check)


def test_whatever_says_something_else_is_left_alone() -> None:
    def check(words: str) -> None:
        assert read_asked(words) == {}

    check_each(NOT_READ, check)


def test_a_wish_in_a_sentence_of_its_own_is_read() -> None:
    def check(row: tuple[str, str, str]) -> None:
        words, name, value = row
        (said,) = read_settings(words)
        person, days = apply({}), ()
        if said.name == "days_off":
            days = read_days(said.value)
        else:
            person = apply({said.name: said.value})
        assert (said.name, list_values(person, days)[name]) == (name, value)

    check_each(ACTS, check)


def test_a_sentence_that_mentions_a_setting_sets_none() -> None:
    def check(words: str) -> None:
        assert read_settings(words) == ()

    check_each(MENTIONS, check)


def test_two_wishes_in_one_sentence_are_both_read() -> None:
    said = read_settings("I live in Vienna and please speak German")
    assert [(one.name, one.value) for one in said] == [
        ("time_zone", "Vienna"),
        ("language", "German"),
    ]


INTRODUCED = (
    ("hi! I live in Lisbon, call me Nan", "call me Nan", "Lisbon"),
    ("Lisbon, and call me nan please", "call me nan", "Lisbon"),
    ("Please call me Nan. I live in Lisbon.", "call me Nan", "Lisbon"),
    ("ich wohne in Graz, nenn mich Nan", "nenn mich Nan", "Graz"),
    ("Hallo, ich heiße Nan Müller und wohne in Graz", "ich heiße Nan Müller", "Graz"),
    ("I'm in Lisbon, call me later", "", ""),
    ("I'm in Lisbon, call me if it rains", "", ""),
    ("I live in Lisbon, my name is Nan and I hate rain", "", ""),
    ("Call me Nan", "", ""),
    ("I live in Lisbon", "", ""),
)


def test_a_name_beside_settings_is_an_introduction_and_nothing_else_is() -> None:
    def check(row: tuple[str, str, str]) -> None:
        words, clause, city = row
        told = read_introduction(words)
        assert (told.clause if told else "") == clause
        assert [one.value for one in told.settings] == [city] if told else not city

    check_each(INTRODUCED, check)
