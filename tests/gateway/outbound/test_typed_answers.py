"""Which choice a typed yes or no stands for, and when it stands for none."""

from agent_core.state.conversations.questions import Choice
from gateway.outbound.command_buttons import read_bare_answer, read_command, stand_for
from gateway.outbound.typed_answers import find_meant
from gateway.texts import general
from tests.tables import check_each


def test_a_yes_or_a_no_stands_for_the_one_choice_that_it_can_mean() -> None:
    def check(row: tuple[str, str | None, str | None]) -> None:
        labels, *meant = row
        keys = dict(enumerate(labels.split(" | ")))
        choices = tuple(Choice(key=f"o{place}", label=label) for place, label in keys.items())
        found = [find_meant(choices, is_yes=is_yes) for is_yes in (True, False)]
        assert [key and keys[int(key[1:])] for key in found] == meant

    check_each(
        (
            ("Yes, delete | No, keep", "Yes, delete", "No, keep"),
            ("No, keep | Yes, delete", "Yes, delete", "No, keep"),
            ("Ja, löschen | Nein, behalten", "Ja, löschen", "Nein, behalten"),
            ("Delete | No", "Delete", "No"),
            ("Yes | Later", "Yes", "Later"),
            ("Delete them | Cancel", "Delete them", "Cancel"),
            ("Send it | Don't send it", "Send it", "Don't send it"),
            ("Senden | Nicht senden", "Senden", "Nicht senden"),
            ("Yes, all | Yes, some | No", None, "No"),
            ("Yes | Red | Blue", "Yes", None),
            ("Red | Blue", None, None),
            ("Cancel the trip | Move the trip", None, None),
            ("Sure thing Bar | Nordsee", None, None),
            ("None of these | Yesterday", None, None),
        ),
        check,
    )


def test_the_keys_of_our_own_questions_decide_before_their_labels() -> None:
    later = tuple(
        Choice(key=key, label=label)
        for key, label in (("yes", "Yes, then too"), ("later", "Yes, but afterwards"), ("no", "No"))
    )
    assert (find_meant(later, is_yes=True), find_meant(later, is_yes=False)) == ("yes", "no")
    erase = (Choice(key="entries", label="Delete"), Choice(key="none", label="Nothing"))
    assert (find_meant(erase, is_yes=True), find_meant(erase, is_yes=False)) == ("entries", "none")


def test_bare_words_are_a_yes_or_a_no_in_any_language_and_nothing_else_is() -> None:
    def check(row: tuple[str, bool | None]) -> None:
        words, means = row
        assert general.read_yes_or_no(words) is means

    check_each(
        (
            *((words, True) for words in ("Yes!", "yep", "OK", "sure, do it", "Yes, please.")),
            *((words, True) for words in ("ja", "Ja, klar", "mach das", "Ja bitte!", "gerne")),
            *((words, False) for words in ("no", "No, thanks", "nope", "don’t", "never mind")),
            *((words, False) for words in ("nein", "Nein danke", "bitte nicht", "lass es")),
            *((words, None) for words in ("", "hm", "yes and no", "yes, but later", "now")),
            *((words, None) for words in ("ja, aber morgen", "yesterday", "thanks", "okay?")),
        ),
        check,
    )


def test_a_command_button_says_yes_only_if_its_question_means_it_so() -> None:
    undo = stand_for("undo 5", "Undo", says_yes=True)
    keep = stand_for("jobs 5", "No", says_yes=False)
    other = stand_for("jobs", "All reminders")
    assert [read_command(one.key) for one in (undo, keep, other)] == ["/undo 5", "/jobs 5", "/jobs"]
    assert read_bare_answer((other, undo, keep), is_yes=True) == "/undo 5"
    assert read_bare_answer((other, undo, keep), is_yes=False) == "/jobs 5"
    assert read_bare_answer((undo,), is_yes=False) == ""
    assert read_bare_answer((other,), is_yes=True) is None
    assert read_bare_answer((), is_yes=False) is None
